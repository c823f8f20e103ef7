"""The scores of a live run as arrays, and the part of them that one value of a column has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from assay.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.store.columns import MetricRange
    from assay.store.store import Store

    Numbers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]


class ScoreColumns(Protocol):
    """Scores of rows: what `assay.store.columns.RunColumns` has."""

    @property
    def numbers(self) -> Numbers:
        """Number of each row."""

    @property
    def times(self) -> Floats:
        """When the sample of each row ended, in seconds since 1970."""

    @property
    def weights(self) -> Floats:
        """One over the sampling rate of each row."""

    @property
    def metrics(self) -> Mapping[str, MetricRange]:
        """Label of a metric -> its range."""

    def values(self, metric: str) -> Floats:
        """Value of each row; NaN where there is none."""

    def column(self, name: str) -> Sequence[str | None]:
        """Value of each row in a column; None where there is none."""


class SelectedColumns:
    """Some rows of `ScoreColumns`.

    Args:
        columns: The scores.
        places: Places of the rows in them.
    """

    def __init__(self, columns: ScoreColumns, places: Places) -> None:
        self._columns = columns
        self._places = places

    @property
    def numbers(self) -> Numbers:
        """Number of each row."""
        return self._columns.numbers[self._places]

    @property
    def times(self) -> Floats:
        """When the sample of each row ended, in seconds since 1970."""
        return self._columns.times[self._places]

    @property
    def weights(self) -> Floats:
        """One over the sampling rate of each row."""
        return self._columns.weights[self._places]

    @property
    def metrics(self) -> Mapping[str, MetricRange]:
        """Label of a metric -> its range."""
        return self._columns.metrics

    def values(self, metric: str) -> Floats:
        """Value of each row; NaN where there is none."""
        return self._columns.values(metric)[self._places]

    def column(self, name: str) -> Sequence[str | None]:
        """Value of each row in a column; None where there is none."""
        found = self._columns.column(name)
        return [found[place] for place in self._places.tolist()]


class CachedColumns:
    """`ScoreColumns` that are read from the store once, for all rules and slices of a check.

    Args:
        columns: The scores.
    """

    def __init__(self, columns: ScoreColumns) -> None:
        self._columns = columns
        self._values: dict[str, Floats] = {}
        self._texts: dict[str, Sequence[str | None]] = {}
        self.numbers = columns.numbers
        self.times = columns.times
        self.weights = columns.weights
        self.metrics = columns.metrics

    def values(self, metric: str) -> Floats:
        """Value of each row; NaN where there is none."""
        if metric not in self._values:
            self._values[metric] = self._columns.values(metric)
        return self._values[metric]

    def column(self, name: str) -> Sequence[str | None]:
        """Value of each row in a column; None where there is none."""
        if name not in self._texts:
            self._texts[name] = self._columns.column(name)
        return self._texts[name]


def rows_where(columns: ScoreColumns, where: Mapping[str, str]) -> ScoreColumns:
    """Select the rows that have these values in these columns.

    Args:
        columns: The scores.
        where: Column -> value. Empty: all rows.

    Returns:
        The scores of those rows.
    """
    import numpy as np

    if not where:
        return columns
    mask = np.ones(len(columns.numbers), dtype=bool)
    for name, value in where.items():
        mask &= np.fromiter((one == value for one in columns.column(name)), dtype=bool, count=mask.size)
    return SelectedColumns(columns, np.flatnonzero(mask))


def rows_since(columns: ScoreColumns, since: float) -> ScoreColumns:
    """Select the rows after a time.

    Args:
        columns: The scores.
        since: The time, in seconds since 1970.

    Returns:
        The scores of those rows.
    """
    import numpy as np

    return SelectedColumns(columns, np.flatnonzero(columns.times > since))


def values_of(columns: ScoreColumns, name: str) -> set[str]:
    """Collect the values of a column.

    Args:
        columns: The scores.
        name: The column.

    Returns:
        The values that rows have.
    """
    return {value for value in columns.column(name) if value is not None}


def slices_of(columns: ScoreColumns, name: str, most: int) -> tuple[dict[str, ScoreColumns], int]:
    """Split the rows by their value in a column.

    Args:
        columns: The scores.
        name: The column. Rows without a value are left out.
        most: The most slices to return: those with the most rows.

    Returns:
        Value -> the scores of its rows, the largest first, and how many values were left out.
    """
    import numpy as np

    places: dict[str, list[int]] = {}
    for place, value in enumerate(columns.column(name)):
        if value is not None:
            places.setdefault(value, []).append(place)
    largest = sorted(places, key=lambda value: (-len(places[value]), value))
    chosen = {value: SelectedColumns(columns, np.array(places[value], dtype=np.intp)) for value in largest[:most]}
    return dict(chosen), max(0, len(largest) - most)


def live_run(store: Store, run: str) -> str:
    """Find a live run by its name, or by that of its application.

    Args:
        store: The store.
        run: "live/shop", or "shop" for short.

    Returns:
        Name of the run.

    Raises:
        InputError: There is no such run.
        StoreError: The store cannot be read.
    """
    for name in (run, f"live/{run}"):
        if store.has_run(name):
            return name
    known = [one.id for one in store.runs()[:5]]
    there = f"; the latest are {', '.join(known)}" if known else "; it holds no runs yet"
    raise InputError(f"run: {run!r} is not in the store {store.name!r}{there}")


def run_columns(store: Store, run: str, since: float | None) -> ScoreColumns:
    """Read the scores of a live run.

    Args:
        store: The store.
        run: Name of the run.
        since: Time from which on rows are read, in seconds since 1970. None: all rows.

    Returns:
        The scores.

    Raises:
        StoreError: The store cannot be read.
    """
    from assay.store.columns import RunColumns

    return RunColumns(store, run, since=since)
