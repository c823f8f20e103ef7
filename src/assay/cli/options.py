"""What commands have in common: options, the judge that they mean, the columns, the store."""

from __future__ import annotations

import os
import re
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

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

MetricsOption = Annotated[str | None, typer.Option(help="Names, separated by commas; `assay metrics` lists them.")]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="FIELD=COLUMN, where a column has a name of your own; repeated for contexts, several columns are several "
        "passages.",
    ),
]
ScaleOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=WORST:BEST",
        help="What the ends of a metric's scale are, where a result file of another system does not say; repeated.",
    ),
]
StoreOption = Annotated[Path, typer.Option(help="Folder, or postgresql://..., that keeps judgements and runs.")]


def named_again(store: str | Path) -> str:
    """The option that a command which is told has to be given to look into this store; empty for the default's.

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
    typer.Option("--csv", metavar="[FILE]", help="Write a line per row as CSV: to a file, or to stdout without one."),
]
BedrockOption = Annotated[
    Path | None,
    typer.Option("--bedrock", help="Write every row with its scores as Amazon Bedrock's evaluation jobs do, as JSONL."),
]
ByOption = Annotated[str | None, typer.Option(help="Means by the values of this column, too.")]
ClusterOption = Annotated[
    str | None, typer.Option(help="Rows with one value in this column hang together: a document, a conversation.")
]
JudgeOption = Annotated[
    str,
    typer.Option(
        help="'embedded' (offline, no key), 'openai:MODEL', 'openai-batch:MODEL', 'anthropic-batch:MODEL', "
        "'decisions:MODEL', 'systemone:MODEL', 'cascade:PATH', a plan of `assay cascade`, or 'local:PATH', a model on "
        "disk."
    ),
]
BaseUrlOption = Annotated[str | None, typer.Option(help="Address of the judge's endpoint, for example a local server.")]
KeyOption = Annotated[str | None, typer.Option(help="Name of the environment variable that holds the key.")]
EmbeddingOption = Annotated[str | None, typer.Option(help="Embedding model of the endpoint, for similarity.")]
WindowOption = Annotated[
    int | None,
    typer.Option(help="Tokens that the model reads and writes together; some servers cut longer texts silently."),
]
GuidanceOption = Annotated[
    Path | None, typer.Option(help="TOML or JSON: what to tell the judge of single kinds of inquiry, with examples.")
]

AskingOption = Annotated[
    str | None,
    typer.Option(
        help="Whether a judge that writes is asked in one request what belongs together: 'fused', 'separate', or "
        "'auto', where `assay fuse-check` found that it finds the same."
    ),
]

DiscountOption = Annotated[
    float | None, typer.Option(help="Batch judges: what the endpoint takes off the usual price, 0.5 for half.")
]
PollOption = Annotated[float | None, typer.Option(help="Batch judges: seconds between two looks at what is under way.")]
RowsInFlightOption = Annotated[
    int | None, typer.Option(help="Batch judges: rows held while they wait; more fill larger batches and take memory.")
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option(help="A file that `assay align --write` made for this judge: its probabilities and thresholds."),
]


@dataclass(frozen=True)
class JudgeOptions:
    """The options of a command that uses one judge."""

    judge: JudgeOption = "embedded"
    base_url: BaseUrlOption = None
    api_key_env: KeyOption = None
    embedding_model: EmbeddingOption = None
    window_tokens: WindowOption = None
    guidance: GuidanceOption = None
    asking: AskingOption = None
    discount: DiscountOption = None
    poll: PollOption = None
    rows_in_flight: RowsInFlightOption = None
    calibration: CalibrationOption = None

    def resolve(self) -> BaseJudge:
        """The judge that they mean. Raises InputError for options that do not go together."""
        batch = {"discount": self.discount, "poll": self.poll, "rows_in_flight": self.rows_in_flight}
        judge = judge_of(self.judge, self.base_url, self.api_key_env, self.embedding_model, self.window_tokens, batch)
        judge = judge if self.guidance is None else judge.with_guidance(self.guidance)
        judge = judge if self.asking is None else judge.with_asking(self.asking)  # type: ignore[arg-type]  # it checks
        if self.calibration is None:
            return judge
        from assay.judges.calibrated import calibrated

        return calibrated(judge, self.calibration)

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
    from assay.judges.named import resolve_judge

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


def seconds_in(text: str, name: str) -> float:
    """A time in seconds, from 90s, 10m, 1h, 90d or a number of seconds."""
    found = re.fullmatch(r"\s*+(\d++(?:\.\d++)?)\s*+([smhd]?)\s*+", text)
    if found is None:
        raise InputError(f"{name}: expected a time such as 90s, 10m, 1h or 90d, got {text!r}")
    return float(found[1]) * _SECONDS[found[2]]


def opened(store: Path) -> Store:
    """The store in this folder or file. Raises InputError where there is none: looking makes no store."""
    from assay.store.store import Store
    from assay.store.tables import is_there

    if not is_there(store):
        raise InputError(f"store: there is none in {str(store)!r}; name yours with --store, or score something first")
    return Store(store)
