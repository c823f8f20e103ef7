"""Which rows of a run a page lists, and in which order: all of it stands in the address."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

import numpy as np

from assay.errors import InputError
from assay.view.open_store import OpenRun
from assay.view.row_order import RowOrder

ORDERS = ("data", "worst", "best")
_LONGEST = 2_000  # characters of a value
_MOST_CONDITIONS = 10
_OF_ONE_ID = 1_000  # rows

Parameters = Mapping[str, list[str]]

#: Before values of parameters that are percent-encoded once more: what cannot be seen would not survive a form.
_ENCODED = "percent:"


def field_value(text: str) -> str:
    """A value as forms and addresses carry it; `read_value` reads it back, whatever characters it has."""
    if text.isprintable() and not text.startswith(_ENCODED):
        return text
    return _ENCODED + quote(text, safe="", errors="replace")


def read_value(text: str) -> str:
    """What `field_value` wrote, and any other text as it is."""
    return unquote(text.removeprefix(_ENCODED)) if text.startswith(_ENCODED) else text


def address(path: str, pairs: Iterable[tuple[str, str]]) -> str:
    """An address with these parameters."""
    return f"{path}?{urlencode([(name, field_value(value)) for name, value in pairs])}"


def one(given: Parameters, name: str) -> str | None:
    """The value of a parameter; None where there is none. Raises InputError for several, and for a long one."""
    found = given.get(name, [])
    if len(found) > 1:
        raise InputError(f"{name}: expected one value, got {len(found)}")
    if found and len(found[0]) > _LONGEST:
        raise InputError(f"{name}: expected at most {_LONGEST} characters, got {len(found[0])}")
    return found[0] if found and found[0] != "" else None


def required(given: Parameters, name: str) -> str:
    """The value of a parameter. Raises InputError where there is none."""
    found = one(given, name)
    if found is None:
        raise InputError(f"{name}: expected a value in the address, got none")
    return found


def _number(given: Parameters, name: str) -> float | None:
    text = one(given, name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InputError(f"{name}: expected a number, got {text[:60]!r}")
    return value


@dataclass(frozen=True, slots=True)
class RowQuery:
    """The rows of a run that are listed.

    Attributes:
        run: Name of the run, or of a window of it.
        metric: The metric of `below`, `above`, `missing` and the order; None: none of these.
        below, above: Only rows with a value below, or above, this.
        missing: Only rows without a value for this cause.
        label: Only failed rows with this root cause.
        theme: Only failed rows of the theme with these terms.
        where: Slice key and value, all of which have to hold.
        id: Only rows with this id.
        order: "data", or by the metric "worst" or "best" first.
    """

    run: str
    metric: str | None = None
    below: float | None = None
    above: float | None = None
    missing: str | None = None
    label: str | None = None
    theme: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    id: str | None = None
    order: str = "data"

    @classmethod
    def parse(cls, given: Parameters) -> RowQuery:
        """Read the parameters of an address. Raises InputError."""
        order = one(given, "order") or "data"
        if order not in ORDERS:
            raise InputError(f"order: expected {', '.join(ORDERS)}; got {order!r}")
        pairs = [*given.get("where", []), *_pair_of_fields(given)]
        conditions = dict.fromkeys(_condition(text) for text in pairs if text)
        if len(conditions) > _MOST_CONDITIONS:
            raise InputError(f"where: expected at most {_MOST_CONDITIONS} conditions, got {len(conditions)}")
        found = cls(
            required(given, "run"), one(given, "metric"), _number(given, "below"), _number(given, "above"),
            one(given, "missing"), one(given, "label"), one(given, "theme"), tuple(conditions), one(given, "id"), order,
        )  # fmt: skip
        if found.metric is None and (found.order != "data" or (found.below, found.above, found.missing) != (None,) * 3):
            raise InputError("metric: a threshold, a cause of missing values and an order need a metric; got none")
        return found

    def parameters(self) -> list[tuple[str, str]]:
        """The parameters of its address, without those that say nothing."""
        found: list[tuple[str, str]] = [("run", self.run)]
        for name in ("metric", "below", "above", "missing", "label", "theme", "id"):
            value = getattr(self, name)
            if value is not None:
                found.append((name, repr(value) if isinstance(value, float) else value))
        found += [("where", f"{key}={value}") for key, value in self.where]
        return found if self.order == "data" else [*found, ("order", self.order)]

    def link(self, path: str, **more: str) -> str:
        """An address with these rows."""
        return address(path, [*self.parameters(), *more.items()])

    def rows(self, run: OpenRun) -> RowOrder:
        """Find the rows. Raises InputError for a metric, a column or a cause that the run has not."""
        numbers = run.numbers
        mask = np.ones(len(numbers), dtype=bool)
        for condition in self._conditions(run):
            mask &= condition
        return RowOrder(numbers, mask, self._values(run))

    def _values(self, run: OpenRun) -> np.ndarray:
        if self.metric is None or self.order == "data":
            return np.zeros(len(run.numbers))
        values = run.scores(self.metric).values
        lowest_first = (self.order == "worst") == (run.result.metrics[self.metric].direction == "higher")
        found: np.ndarray = np.where(np.isnan(values), np.inf, values if lowest_first else -values)
        return found

    def _conditions(self, run: OpenRun) -> Iterator[np.ndarray]:
        if self.metric is not None:
            scores = run.scores(self.metric)
            with np.errstate(invalid="ignore"):  # NaN is no value, and on no side of a threshold
                if self.below is not None:
                    yield scores.values < self.below
                if self.above is not None:
                    yield scores.values > self.above
            if self.missing is not None:
                known = self.missing in scores.causes[1:]
                yield scores.codes == (scores.causes.index(self.missing) if known else -9)
        for key, value in self.where:
            codes, values = run.column(key)
            yield codes == (values.index(value) if value in values else -9)
        if self.label is not None or self.theme is not None:
            yield np.isin(run.numbers, self._failed(run))
        if self.id is not None:
            store, stored = run.result.store, run.result.stored_run
            sql = f"SELECT number FROM rows WHERE run = ? AND id = ? ORDER BY number + 0 LIMIT {_OF_ONE_ID}"
            yield np.isin(run.numbers, [int(number) for (number,) in store.query(sql, stored, self.id)])

    def _failed(self, run: OpenRun) -> list[int]:
        """The numbers of the failed rows of a cause and a theme."""
        causes = run.causes(themes=self.theme is not None)
        if causes is None:
            raise InputError("label: no metric of this run says by itself which rows failed")
        rows = {number for number, cause in causes.per_row.items() if self.label in (None, cause.label)}
        if self.theme is not None:
            rows &= {row for theme in causes.themes if " ".join(theme.terms) == self.theme for row in theme.rows}
        return sorted(rows)


def _condition(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals or len(text) > _LONGEST:
        raise InputError(f"where: expected KEY=VALUE, got {text[:60]!r}")
    return key, value


def _pair_of_fields(given: Parameters) -> list[str]:
    """The condition that a form gives in two fields."""
    key, value = one(given, "key"), one(given, "value")
    return [] if key is None or value is None else [f"{key}={value}"]
