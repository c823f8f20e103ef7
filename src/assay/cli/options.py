"""What commands have in common: options, the judge that they mean, the columns, the store."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit, urlunsplit

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges import BaseJudge
    from assay.store.store import Store

JUDGE_PANEL = "Judge"
#: The values of --batched-questions, and the words of Python and of the configuration for them.

RunArgument = Annotated[
    str,
    typer.Argument(
        help="Name of the run, or 'last'; also a file with its rows, a queue's folder, STORE#RUN, or ragas:FILE."
    ),
]
MetricsOption = Annotated[str | None, typer.Option(help="Names with commas; see `assay metrics`.")]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="Column of a field, as 'contexts=doc 1'; repeatable, also for one field.",
    ),
]
ScaleOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=WORST:BEST",
        help="What the ends of a metric's scale are, where a result file of another system does not say; repeated.",
    ),
]
StoreOption = Annotated[Path, typer.Option(envvar="ASSAY_STORE", help="Store: a folder or postgresql://...")]

CanariesOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Canary rows: a file with scores, of `assay score DATA --out FILE`.")
]


def named_again(store: str | Path) -> str:
    """The option --store of a hint, for a command that reads this store; empty for the default store.

    A password is left out: it may stand in PGPASSWORD, and never in what is printed.
    """
    from assay.store.tables import is_database, url_of

    if str(store) == ".assay":
        return ""
    if not is_database(store):
        return f" --store {shlex.quote(str(store))}"
    parts = urlsplit(url_of(store))
    user, at, place = parts.netloc.rpartition("@")
    return f" --store {shlex.quote(urlunsplit(parts._replace(netloc=user.partition(':')[0] + at + place)))}"


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]
CsvOption = Annotated[
    str | None,
    typer.Option("--csv", metavar="[FILE]", help="Write rows as CSV, to stdout without FILE."),
]
BedrockOption = Annotated[
    Path | None,
    typer.Option("--bedrock", help="Write every row with its scores as Amazon Bedrock's evaluation jobs do, as JSONL."),
]
SlicesOption = Annotated[
    list[str] | None,
    typer.Option("--slice", metavar="COLUMN", help="Means by values of a column; repeatable."),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Rows whose metadata have this value; repeatable, all must hold."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Rows with one value in this column are correlated: a document, a conversation."
    ),
]
JudgeOption = Annotated[
    str,
    typer.Option(
        help="embedded, or KIND:MODEL with openai, azure, anthropic, gemini, vertex, bedrock, mistral, groq, "
        "openrouter, together, deepseek, ollama, vllm, lmstudio, any-llm, openai-batch, anthropic-batch, decisions, "
        "systemone; local:PATH, cascade:PATH."
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(rich_help_panel=JUDGE_PANEL, help="Address of the judge's endpoint, for example a local server."),
]
KeyOption = Annotated[
    str | None,
    typer.Option(rich_help_panel=JUDGE_PANEL, help="Name of the environment variable that holds the key."),
]
EmbeddingOption = Annotated[
    str | None, typer.Option(rich_help_panel=JUDGE_PANEL, help="Embedding model of the endpoint, for similarity.")
]
WindowOption = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=JUDGE_PANEL,
        help="Context window of the model, in tokens of prompt and reply; some servers cut longer texts silently.",
    ),
]
InstructionsOption = Annotated[
    Path | None,
    typer.Option(
        "--instructions",
        rich_help_panel=JUDGE_PANEL,
        help="TOML or JSON with judge instructions and few-shot examples, by prompt.",
    ),
]
BatchedQuestionsOption = Annotated[
    str | None,
    typer.Option(
        "--batched-questions",
        metavar="yes|no|auto",
        rich_help_panel=JUDGE_PANEL,
        help="Whether an LLM judge gets several questions in one request. auto: where `assay judge batching` found "
        "that the answers agree.",
    ),
]
DiscountOption = Annotated[
    float | None,
    typer.Option(rich_help_panel=JUDGE_PANEL, help="Batch judges: discount of the endpoint, 0.5 for half."),
]
PollOption = Annotated[
    float | None, typer.Option(rich_help_panel=JUDGE_PANEL, help="Batch judges: seconds between two polls.")
]
RowsInFlightOption = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=JUDGE_PANEL,
        help="Batch judges: rows in memory while they wait; more rows fill larger batches.",
    ),
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=JUDGE_PANEL,
        help="A file that `assay judge align --write` made for this judge: its probabilities and thresholds.",
    ),
]


@dataclass(frozen=True)
class JudgeOptions:
    """The options of a command that uses one judge."""

    judge: JudgeOption = "embedded"
    base_url: BaseUrlOption = None
    api_key_env: KeyOption = None
    embedding_model: EmbeddingOption = None
    window_tokens: WindowOption = None
    instructions: InstructionsOption = None
    batched_questions: BatchedQuestionsOption = None
    discount: DiscountOption = None
    poll: PollOption = None
    rows_in_flight: RowsInFlightOption = None
    calibration: CalibrationOption = None

    def resolve(self) -> BaseJudge:
        """The judge that they mean. Raises InputError for options that do not go together."""
        batch = {"discount": self.discount, "poll": self.poll, "rows_in_flight": self.rows_in_flight}
        judge = judge_of(self.judge, self.base_url, self.api_key_env, self.embedding_model, self.window_tokens, batch)
        judge = judge if self.instructions is None else judge.with_instructions(self.instructions)
        judge = judge if self.batched_questions is None else judge.with_batched_questions(self.batched_questions)
        if self.calibration is None:
            return judge
        from assay.judges.calibrated_judge import calibrate_judge

        return calibrate_judge(judge, self.calibration)

    def resolve_if(self, fingerprint: str) -> BaseJudge | None:
        """The judge that they mean, where it is the one with this fingerprint; None where not, or it cannot be had."""
        from assay.errors import JudgeFailure, MissingExtra

        try:
            judge = self.resolve()
            return judge if judge.fingerprint == fingerprint else None
        except (InputError, MissingExtra, JudgeFailure):
            return None


def judge_of(
    judge: str,
    base_url: str | None,
    api_key_env: str | None,
    embedding_model: str | None,
    window_tokens: int | None,
    batch: Mapping[str, Any] | None = None,
) -> BaseJudge:
    """The judge that these options mean, `batch`: those of batch judges. InputError where they do not go together."""
    from assay.judges.resolve import resolve_judge

    given = {name: value for name, value in (batch or {}).items() if value is not None}
    if given and not judge.startswith(("openai-batch:", "anthropic-batch:")):
        named = ", ".join("--" + name.replace("_", "-") for name in given)
        raise InputError(f"{named}: goes with --judge openai-batch:MODEL or anthropic-batch:MODEL")
    options = options_of(judge, base_url, api_key_env, embedding_model, window_tokens)
    resolved = resolve_judge(judge, **options, **given)
    if api_key_env is not None and judge.startswith("cascade:"):
        from assay._util.call_repr import host_of
        from assay.cli.output import say

        say(f"the key of {api_key_env} goes to {host_of(base_url or 'https://api.openai.com')}", aside=True)
    return resolved


def options_of(
    judge: str, base_url: str | None, api_key_env: str | None, embedding_model: str | None, window_tokens: int | None
) -> dict[str, Any]:
    """The options that go to the judge of this name. Raises InputError for those that do not go together."""
    options: dict[str, Any] = {}
    if api_key_env is not None:
        if not os.environ.get(api_key_env):
            raise InputError(f"--api-key-env: the environment variable {api_key_env!r} is not set")
        options["api_key"] = os.environ[api_key_env]
    if base_url is not None:
        options["base_url"] = base_url
    if embedding_model is not None:
        options["embedding_model"] = embedding_model
    if window_tokens is not None:
        options["window_tokens"] = window_tokens
    if options and judge == "embedded":
        given = ", ".join("--" + name.replace("_", "-").replace("api-key", "api-key-env") for name in options)
        raise InputError(f"{given}: goes with --judge openai:MODEL")
    if embedding_model is not None and judge.startswith(("decisions:", "systemone:")):
        raise InputError("--embedding-model: goes with --judge openai:MODEL; a decision endpoint has no embeddings")
    return options


def column_map(columns: list[str] | None) -> dict[str, list[str]] | None:
    """The columns by field, from FIELD=COLUMN; several of one field in their order."""
    if not columns:
        return None
    found: dict[str, list[str]] = {}
    for given in columns:
        field, sign, column = given.partition("=")
        if not (field and sign and column):
            raise InputError(f"--map: expected FIELD=COLUMN, got {given!r}")
        found.setdefault(field, []).append(column)
    return found


def where_of(conditions: list[str] | None) -> dict[str, str]:
    """The conditions of --where: key of the metadata -> value. Raises InputError for what is no KEY=VALUE."""
    found: dict[str, str] = {}
    for given in conditions or ():
        key, sign, value = given.partition("=")
        if not (key and sign):
            raise InputError(f"--where: expected KEY=VALUE, such as user=ann, got {given!r}")
        if found.get(key, value) != value:
            raise InputError(f"--where: {key!r} is given twice, as {found[key]!r} and {value!r}: no row has both")
        found[key] = value
    return found


def opened(store: Path) -> Store:
    """The store in this folder or file. Raises InputError where there is none: looking makes no store."""
    from assay.store.store import Store
    from assay.store.tables import store_may_exist

    if not store_may_exist(store):
        raise InputError(f"store: there is none in {str(store)!r}; name yours with --store, or score something first")
    return Store(store)
