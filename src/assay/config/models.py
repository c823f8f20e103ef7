"""The tables of a configuration file as pydantic models: which keys there are, and of what kind their values are.

The description of a field says what is expected in its place; error messages quote it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from assay.config.table import near
from assay.errors import InputError
from assay.judges.protocol import BatchedQuestions
from assay.judges.question_batching import check_batched_questions
from assay.records.field_names import ACCEPTED, field_of
from assay.store.windows import UTC_NAME, resolve_timezone

BATCH_JUDGES = ("openai-batch:", "anthropic-batch:")
_ADDRESS = "expected an address that begins with http:// or https://"


def _tuple(value: object) -> object:
    """One text stands for a list of it. TOML has lists, and records are frozen."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _array(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _path(value: object) -> object:
    return Path(value) if isinstance(value, str) and value.strip() else value


def _check_field(name: str) -> str:
    if name not in ACCEPTED and field_of(name) is None:
        raise ValueError(f"there is no such field{near(name, ACCEPTED)}; there are {', '.join(ACCEPTED)}")
    return name


Text = Annotated[str | None, Field(pattern=r"\S", description="a text")]
Texts = Annotated[
    tuple[Annotated[str, Field(pattern=r"\S")], ...],
    BeforeValidator(_tuple),
    Field(min_length=1, description="a text, or a list of texts"),
]
Number = Annotated[float | None, Field(description="a number")]
Price = Annotated[float, Field(ge=0, description="dollars per million tokens")]
Dollars = Annotated[float | None, Field(gt=0, description="a number of dollars above 0")]
Share = Annotated[float | None, Field(ge=0, le=1, description="a number from 0 to 1")]
Duration = Annotated[str | float, Field(description="a time such as 90s, 10m, 1h or 7d, or a number of seconds")]
Whole = Annotated[int | None, Field(ge=1, description="a whole number of at least 1")]


class Table(BaseModel):
    """A table whose keys are known. A text is no number, and a number no text."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class JudgeSettings(Table):
    """The table [judge]: the judge by its name, and the options that go with it. It never holds a key.

    Attributes:
        name: The judge, as `--judge` names it.
        base_url: The address of its endpoint.
        api_key_env: The environment variable that holds its key.
        embedding_model: The model for embeddings at the same address.
        window_tokens: The tokens that its window holds.
        instructions: The file with judge instructions and few-shot examples.
        batched_questions: Whether questions are batched: "auto", "yes" or "no".
        discount: What is taken off the usual price in batches, from 0 to 1.
        poll: The seconds between two polls of a batch.
        rows_in_flight: The rows held while batches are pending.
    """

    name: Text = None
    base_url: Text = None
    api_key_env: Text = None
    embedding_model: Text = None
    window_tokens: Whole = None
    instructions: Annotated[Path | None, BeforeValidator(_path), Field(description="a text")] = None
    batched_questions: Annotated[BatchedQuestions | None, BeforeValidator(check_batched_questions)] = None
    discount: Annotated[float | None, Field(ge=0, le=1, description="what is taken off the price, from 0 to 1")] = None
    poll: Annotated[float | None, Field(gt=0, description="seconds above 0")] = None
    rows_in_flight: Whole = None

    @field_validator("base_url", "api_key_env", "embedding_model", "window_tokens")
    @classmethod
    def _check_has_address(cls, value: Any, info: ValidationInfo) -> Any:
        if info.data.get("name") in (None, "embedded"):
            raise ValueError("goes with a judge that has an address: name = 'openai:MODEL'")
        return value

    @field_validator("discount", "poll", "rows_in_flight")
    @classmethod
    def _check_batches(cls, value: Any, info: ValidationInfo) -> Any:
        if not (info.data.get("name") or "").startswith(BATCH_JUDGES):
            raise ValueError("goes with a judge that answers in batches: name = 'openai-batch:MODEL'")
        return value

    @field_validator("base_url", mode="before")
    @classmethod
    def _check_address(cls, value: Any) -> Any:
        if not isinstance(value, str) or not value.strip():
            return value
        try:
            parts = urlsplit(value)
            secret = parts.username is not None or parts.password is not None
        except ValueError:
            raise ValueError(_ADDRESS) from None
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(_ADDRESS)
        if secret:
            raise ValueError("secrets do not belong in a file; api_key_env names the variable with the key")
        return value


class PricesTable(Table):
    """The table [budget.prices], or one of [prices]: dollars per million tokens."""

    prompt: Price
    completion: Price
    cached: Price | None = None
    cache_write: Price | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_complete(cls, value: Any) -> Any:
        if isinstance(value, dict) and not {"prompt", "completion"} <= value.keys():
            raise ValueError("give both prompt and completion, in dollars per million tokens")
        return value


class BudgetTable(Table):
    """The table [budget]: what judging may cost in a minute and in a day."""

    prices: PricesTable | None = None
    calls_per_minute: Whole = None
    calls_per_day: Whole = None
    tokens_per_minute: Whole = None
    tokens_per_day: Whole = None
    dollars_per_minute: Dollars = None
    dollars_per_day: Dollars = None
    dollars: Dollars = None

    @field_validator("dollars_per_minute", "dollars_per_day", "dollars")
    @classmethod
    def _check_prices(cls, value: Any, info: ValidationInfo) -> Any:
        if info.data.get("prices", ...) is None:
            raise ValueError("limits in dollars need [budget.prices]")
        return value


class RuleTable(Table):
    """The table of one metric in [gates]: its limits, and what goes with them."""

    at_least: Number = None
    at_most: Number = None
    good_share: Number = None
    max_drop: Number = None
    margin: Number = None
    by: Text = None
    coverage: Share = None
    leave_out: Texts = ()


class GatesTable(Table):
    """The table [gates]: what all rules have in common, and a table for each metric."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, RuleTable] = Field(init=False)

    baseline: Text = None
    confidence: Number = None
    cluster: Text = None
    coverage: Share = None
    leave_out: Texts = ()
    any_judge: Annotated[bool, Field(description="true or false")] = False
    noise: Text = None
    thresholds: Text = None

    @property
    def rules(self) -> dict[str, RuleTable]:
        """The tables of metrics, by the names that the file gives them."""
        return self.__pydantic_extra__


class AlertTable(Table):
    """One of the tables [[alerts]]: what is watched, when an alert opens, and who is told."""

    name: Text = None
    run: Text = None
    metric: Text = None
    window: Duration = "24h"
    below: Number = None
    above: Number = None
    drop: Number = None
    false_alarms: Number = None
    period: Duration = "12w"
    min_rows: Whole = None
    slices: Texts = ()
    where: Annotated[dict[str, str], Field(description="a table of columns, each with a text")] = {}
    cluster: Text = None
    quiet: Duration = 0.0
    to: Texts = ("log",)
    secret_env: Text = None
    include_text: Annotated[bool, Field(description="true or false")] = False
    link: Text = None


class LiveSettings(Table):
    """The table [live]: how live runs are kept, for workers.

    Attributes:
        application: The application of samples that name none.
        keep_text: Whether texts are kept, or scores, causes and ids alone.
        retain_days: The days for which rows are kept.
        retain_gb: The gigabytes that the rows of a live run may take.
        canaries: The file with canary rows.
    """

    application: Text = None
    keep_text: Annotated[bool | None, Field(description="true or false")] = None
    retain_days: Annotated[float | None, Field(gt=0, description="a number of days above 0")] = None
    retain_gb: Annotated[float | None, Field(gt=0, description="a number of gigabytes above 0")] = None
    canaries: Annotated[Path | None, BeforeValidator(_path), Field(description="a text")] = None


def _check_timezone(name: str) -> str:
    try:
        resolve_timezone(name)
    except InputError as error:
        raise ValueError(str(error)) from None
    return name


def _form(value: object) -> str:
    return "tables" if isinstance(value, dict) else "names"


class ConfigTables(Table):
    """A whole file: its keys and tables, each checked on its own."""

    data: Texts = ()
    language: Text = None
    store: Text = None
    columns: dict[Annotated[str, AfterValidator(_check_field)], Texts] = {}
    judge: JudgeSettings = JudgeSettings()
    metrics: Annotated[
        Annotated[Texts, Tag("names")] | Annotated[dict[str, dict[str, Any]], Tag("tables")], Discriminator(_form)
    ] = ()
    budget: BudgetTable = BudgetTable()
    prices: dict[Annotated[str, Field(pattern=r"\S")], PricesTable] = {}
    gates: GatesTable = GatesTable()
    alerts: Annotated[tuple[AlertTable, ...], BeforeValidator(_array), Field(description="tables, [[alerts]]")] = ()
    timezone: Annotated[str, AfterValidator(_check_timezone), Field(description="a text")] = UTC_NAME
    live: LiveSettings = LiveSettings()
