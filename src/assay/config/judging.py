"""The tables [judge], [metrics] and [budget] of a configuration: who judges, what is measured, what it may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.config.table import Section, near
from assay.errors import AssayError
from assay.judges.budget.budget import Budget, Prices
from assay.judges.fusing import checked_asking
from assay.judges.protocol import Asking
from assay.metrics.base import Metric
from assay.metrics.decorator import FunctionMetric
from assay.metrics.labels import LabelledMetric
from assay.metrics.names import resolve

_LIMITS = (
    *("calls_per_minute", "calls_per_day", "tokens_per_minute", "tokens_per_day"),
    *("dollars_per_minute", "dollars_per_day"),
)
_PRICES = ("prompt", "completion", "cached")
_SECRETS = ("api_key", "key", "token", "password", "secret", "headers")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """The judge by its name, and the options that go with it; None where nothing is said. Never a key."""

    name: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    embedding_model: str | None = None
    window_tokens: int | None = None
    guidance: Path | None = None
    asking: Asking | None = None
    discount: float | None = None
    poll: float | None = None
    rows_in_flight: int | None = None


def judge_in(section: Section, folder: Path) -> JudgeSettings:
    """What the table says. Raises InputError for a key that does not belong there, a secret above all."""
    names = [field.name for field in fields(JudgeSettings)]
    for key in section.values:
        if key.casefold() in _SECRETS:
            raise section.error(
                key, "secrets do not belong in a file; api_key_env names the variable that holds the key"
            )
    section.only(names)
    base_url = section.text("base_url")
    if base_url is not None:
        _check_address(section, base_url)
    guidance, name = section.text("guidance"), section.text("name")
    for key in ("base_url", "api_key_env", "embedding_model", "window_tokens"):
        if key in section.values and name in (None, "embedded"):
            raise section.error(key, "goes with a judge that has an address: name = 'openai:MODEL'")
    discount, poll = section.number("discount"), section.number("poll")
    for key in ("discount", "poll", "rows_in_flight"):
        if key in section.values and not (name or "").startswith(("openai-batch:", "anthropic-batch:")):
            raise section.error(key, "goes with a judge that answers in batches: name = 'openai-batch:MODEL'")
    if discount is not None and not 0 <= discount <= 1:
        raise section.error("discount", f"expected what is taken off the price, from 0 to 1, got {discount}")
    if poll is not None and not poll > 0:
        raise section.error("poll", f"expected seconds above 0, got {poll}")
    return JudgeSettings(
        name=name,
        base_url=base_url,
        api_key_env=section.text("api_key_env"),
        embedding_model=section.text("embedding_model"),
        window_tokens=section.whole("window_tokens"),
        guidance=None if guidance is None else folder / guidance,
        asking=_asking(section),
        discount=discount,
        poll=poll,
        rows_in_flight=section.whole("rows_in_flight"),
    )


def _asking(section: Section) -> Asking | None:
    said = section.text("asking")
    try:
        return None if said is None else checked_asking(said)
    except AssayError as error:
        raise section.error("asking", str(error).removeprefix("asking: ")) from None


def _check_address(section: Section, address: str) -> None:
    try:
        parts = urlsplit(address)
        secret = parts.username is not None or parts.password is not None
    except ValueError:
        raise section.error("base_url", "expected an address that begins with http:// or https://") from None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise section.error("base_url", "expected an address that begins with http:// or https://")
    if secret:
        raise section.error("base_url", "secrets do not belong in a file; api_key_env names the variable with the key")


def metrics_in(whole: Section) -> tuple[Metric, ...]:
    """The metrics: a list of names, or a table for each with its parameters. () where nothing is said."""
    said = whole.values.get("metrics")
    if said is None:
        return ()
    if not isinstance(said, dict):
        found = [_metric(whole, "metrics", name) for name in whole.texts("metrics")]
    else:
        table = whole.section("metrics")
        if not said:
            raise whole.error("metrics", "it names no metric; take the table out, or name one")
        found = [_in_table(table, name) for name in said]
    try:
        return resolve(found)
    except AssayError as error:
        raise whole.error("metrics", _without_place(error)) from None


def _in_table(metrics: Section, name: str) -> Metric:
    """The metric of a table, which is called as its metric is, or else says with `of` whose variant it is."""
    section = metrics.section(name)
    of = section.text("of")
    if of is None:
        return _with_parameters(section, _metric(metrics, name, name))
    if not name.strip():
        raise metrics.error(name, "the name of a metric is not blank")
    parameters = replace(section, values={key: value for key, value in section.values.items() if key != "of"})
    return LabelledMetric(_with_parameters(parameters, _metric(section, "of", of)), name)


def metric_by_name(section: Section, key: str) -> Metric:
    """The metric that a key of a table names. Raises InputError with the key and its line."""
    return _metric(section, key, key)


def _metric(section: Section, key: str, name: str) -> Metric:
    if len(name) > 200:
        raise section.error(key, "there is no metric of such a long name")
    try:
        found = resolve(name)
    except AssayError as error:
        raise section.error(key, _without_place(error)) from None
    if len(found) != 1:
        raise section.error(key, f"expected the name of one metric, got {name!r}")
    return found[0]


def _with_parameters(section: Section, metric: Metric) -> Metric:
    known = _parameters(metric)
    for key in section.values:
        if key not in known:
            there = f"it takes {', '.join(known)}" if known else "it takes none"
            raise section.error(key, f"{metric.label} has no such parameter{near(key, known)}; {there}")
        expected = _unlike(getattr(metric, key), section.values[key])
        if expected is not None:
            raise section.error(key, f"expected {expected}, as {getattr(metric, key)!r}")
    try:
        return replace(metric, **_tuples(section.values)) if section.values else metric
    except (AssayError, TypeError, ValueError, AttributeError) as error:
        key = next((key for key in section.values if key in str(error)), next(iter(section.values)))
        raise section.error(key, str(error)) from None


def _parameters(metric: Metric) -> list[str]:
    """What may be said of a metric: its fields, but for one that is a function, or is made of other metrics."""
    made_by_fields = type(metric).__dataclass_params__.init  # type: ignore[attr-defined]
    if isinstance(metric, FunctionMetric) or not made_by_fields:
        return []
    return [field.name for field in fields(metric) if field.init]


def _unlike(default: object, value: object) -> str | None:
    """What kind of value is expected in place of this one, by the default; None where it is of that kind."""
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(default, (int, float)):
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = isinstance(default, float) or isinstance(value, int)
        return None if right and whole else "a whole number" if right else "a number"
    if isinstance(default, str):
        return None if isinstance(value, str) else "a text"
    if isinstance(default, tuple):
        return None if isinstance(value, list) else "a list"
    return None


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, lists as tuples: metrics are frozen, and so are their parameters."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _without_place(error: AssayError) -> str:
    return str(error).removeprefix("metrics: ")


def budget_in(section: Section) -> Budget | None:
    """The budget; None where nothing is said. Raises InputError as `Budget` does, with the key and its line."""
    section.only((*_LIMITS, "prices"))
    if not section.values:
        return None
    table = section.section("prices")
    table.only(_PRICES)
    prices = {key: table.number(key) for key in table.values}
    given = {key: section.number(key) for key in _LIMITS if key in section.values}
    try:
        return Budget(**given, prices=Prices(**prices) if prices else None)  # type: ignore[arg-type]
    except (AssayError, TypeError) as error:
        said = str(error)
        key = next((key for key in given if key in said or ("dollars" in said and "dollars" in key)), None)
        if isinstance(error, TypeError):
            said = "prices: give both prompt and completion, in dollars per million tokens"
        said = said.removeprefix("budget: ").replace("prices=Prices(prompt=..., completion=...)", "[budget.prices]")
        raise section.error(key, said) from None
