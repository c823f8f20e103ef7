"""The result of an evaluation: a table of means, and every row with its evidence, read from the store when asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from assay._util.csv_rows import write_table
from assay._util.output_files import output_file
from assay._util.tabular import ResultRows, Tabular, frame_of
from assay._util.terminal import pluralize, shortened
from assay.errors import Cause, InputError, printable
from assay.evaluation.completeness import UNSCORED, RunEnd, incomplete_reasons, rows_not_reached, run_end_in
from assay.evaluation.exported_rows import lost_rows, missing_rows
from assay.evaluation.groups import cluster_of, grouped_by
from assay.evaluation.overview import Overview, OverviewFacts
from assay.evaluation.quote_counts import QuoteCounts
from assay.evaluation.stored_figures import FIGURES, StoredFigures
from assay.evaluation.summary import Summary
from assay.judges.budget.budget import Prices, dollars_of
from assay.records import BY_CONVENTION, ScoredSample, Usage
from assay.sinks.writing import Deliveries
from assay.store.digests import RowDigests
from assay.store.live_counts import read_counts
from assay.store.rows import Row, flat_record
from assay.store.store import Store
from assay.store.windows import UTC_NAME, Window, parse_window, resolve_run

if TYPE_CHECKING:
    import pandas

    from assay.evaluation.display.explanation import Explanation
    from assay.store.columns import MetricScores, RunColumns


#: Rows of a run that are all read when it is loaded, to see whether they are damaged.
CHECKED = 20_000


@dataclass(frozen=True, slots=True)
class MetricError(Tabular):
    """One metric without a value on one row, and the reason.

    Attributes:
        number: Number of the row, from 1; None for a row that is missing from the store.
        id: Id of the row, if it has one.
        metric: Label of the metric.
        cause: Value of a `Cause`.
        message: The reason in words.
        raw: The judge's own reply, where there was one.
    """

    _columns, _noun = "row=number id metric cause message raw", "error"

    number: int | None
    id: str | None
    metric: str
    cause: str
    message: str
    raw: str | None

    def __str__(self) -> str:
        named = "" if self.id is None else f" ({self.id})"
        row = "a row" if self.number is None else f"row {self.number}"
        return printable(f"{row}{named}: {self.metric} not scored ({self.cause}): {self.message}")

    def __repr__(self) -> str:
        return shortened(f"<MetricError {self}>", 160)


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Some rows of a stored run: those of a window, and with values of slice keys."""

    run: str
    window: Window | None = None
    where: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        name = self.run if self.window is None else f"{self.run}@{self.window.text}"
        conditions = ", ".join(f"{key}={value}" for key, value in self.where.items())
        return f"{name} ({conditions})" if conditions else name


def _conditions(where: Mapping[str, Any]) -> dict[str, str]:
    """The conditions as slice keys are compared: texts as they are, other values as JSON. Raises InputError."""
    if not isinstance(where, Mapping) or not all(isinstance(key, str) for key in where):
        raise InputError(
            f"where: expected slice keys with their values, such as {{'version': '1.4'}}, got {where!r:.60}"
        )
    try:
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in where.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"where: expected texts, numbers or booleans as values: {error}") from None


@dataclass(slots=True)
class Result:
    """One run: its summaries, and access to its rows. Rows stay in the store, so that a result does not grow with them.

    Attributes:
        run: Name of the run.
        store: Store that has the rows.
        judge: Name and version of the judge.
        metrics: Label of a metric -> its summary.
        parameters: Label of a metric -> the metric with its parameters, in words.
        rows: Number of rows that are scored and can be read.
        usage: Calls and tokens of the judge in this run.
        metric_usage: Label of a metric -> calls and tokens that its rows took in this run. What two metrics share
            counts at the first that asked.
        prices: Prices that the tokens were paid at. None: not known.
        cache_hits: Judgements that came from the cache.
        seconds: Duration of the run.
        stopped: Why the run did not finish; None for a run that did.
        ended: What ended it before its last row: "sequential" (its own gate was decided), "budget", "limit" (a
            deadline) or "interrupted". None for a run that finished.
        deliveries: Name of a sink -> what became of the scores there.
        notes: Sentences that a reader of the figures should know.
        note: The note that the run was started with.
        data: Name of the data: a file as it was named, or a kind of object.
        started: Start, in seconds since 1970.
        cluster: Column of the clusters, where intervals take them into account: see `cluster_by`.
        expected: Rows of the data, where the number was known at the start.
        unreadable: Rows in the store that cannot be read.
        missing: Rows that were saved and are not in the store any more.
        pruned: Rows that were deleted to make the store smaller.
        altered: Whether the rows that can be read are not the ones that were saved.
        quotes: How many verdicts quote the passages, and how many of them what is not there.
        overview: Grounded answers, answered questions and retrieval that found it, as shares of rows.
        default_metrics: Whether no metrics were named, so that the overview leads the table of means.
        damaged_rows: Numbers of the rows that cannot be read, where all rows were read to know it.
        selection: The window and the conditions that its rows meet; None: all rows of the run.
        skipped: Cause -> samples of a live run that were heard in the window and have no row.
        effective_n: How many rows of one weight say as much (Kish), where rows were sampled at different rates; None
            where all have one weight.
    """

    run: str
    store: Store
    judge: str
    metrics: dict[str, Summary] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    usage: Usage = field(default_factory=Usage)
    metric_usage: dict[str, Usage] = field(default_factory=dict)
    prices: Prices | None = None
    cache_hits: int = 0
    seconds: float = 0.0
    stopped: str | None = None
    ended: RunEnd | None = None
    deliveries: dict[str, Deliveries] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    note: str | None = None
    data: str | None = None
    started: float | None = None
    cluster: str | None = None
    expected: int | None = None
    unreadable: int = 0
    missing: int = 0
    pruned: int = 0
    altered: bool = False
    quotes: QuoteCounts = field(default_factory=QuoteCounts)
    overview: Overview = field(default_factory=Overview)
    default_metrics: bool = False
    damaged_rows: tuple[int, ...] = ()
    selection: RowSelection | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    effective_n: float | None = None
    _columns: RunColumns | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def load(
        cls,
        run: str = "last",
        store: Store | str | Path = ".assay",
        *,
        check: bool | None = None,
        where: Mapping[str, str] | None = None,
        timezone: str = UTC_NAME,
    ) -> Result:
        """Load a run from a store, also one that is damaged or did not finish: see `incomplete`.

        Args:
            run: Name of the run, or "last". With a window of time: "live/shop@7d", "live/shop@14d..7d",
                "live/shop@2026-11-01..2026-11-08", "live/shop@yesterday" (see `assay.store.windows.parse_window`).
            store: The store, its folder or its database URL.
            check: Whether to read all rows to find out if they are the ones that were saved. None: for runs of at most
                20,000 rows. Lost rows are found in any case.
            where: Only rows with these values of slice keys: {"version": "1.4"}.
            timezone: IANA name of the time zone of days in windows.

        Returns:
            The run, with the summaries of its rows.

        Raises:
            InputError: There is no such run, no row has one of the slice keys, or the window cannot be read.
        """
        store = store if isinstance(store, Store) else Store(store)
        named, text = resolve_run(run, store.has_run)
        named = store.run_id(named)
        info = store.get_run(named)
        selection = None
        if text is not None or where:
            window = None if text is None else parse_window(text, time.time(), timezone)
            selection = RowSelection(named, window, _conditions(where or {}))
        name = named if selection is None else str(selection)
        result = cls(
            name, store, info["judge"], selection=selection, stopped=info.get("stopped"), ended=run_end_in(info)
        )
        result.usage = Usage.from_dict(info["usage"]) if info.get("usage") else Usage()
        result.metric_usage = {name: Usage.from_dict(one) for name, one in info.get("metric_usage", {}).items()}
        result.prices = Prices(**info["prices"]) if info.get("prices") else None
        result.cache_hits, result.seconds = info.get("cache_hits", 0), info.get("seconds", 0.0)
        result.parameters = info.get("parameters", {})
        result.deliveries = {name: Deliveries.from_dict(found) for name, found in info.get("deliveries", {}).items()}
        result.notes = list(info.get("notes", ()))
        result.note, result.data, result.expected = info.get("note"), info.get("data"), info.get("expected")
        result.started, result.default_metrics = store.run_started(named), info.get("default_metrics", False)
        result.damaged_rows = result._unreadable_rows() if result._reads_all(check) else ()
        result._take_figures(info)
        result.count_missing()
        return result

    @property
    def stored_run(self) -> str:
        """Name of the run in the store: `run` without a window and conditions."""
        return self.run if self.selection is None else self.selection.run

    def _reads_all(self, check: bool | None) -> bool:
        """Whether all rows are read to see if they are damaged."""
        return self.store.row_counts(self.stored_run).stored <= CHECKED if check is None else check

    def _unreadable_rows(self) -> tuple[int, ...]:
        """The numbers of rows that cannot be read. Notes whether those that can be are the ones that were saved."""
        counts = self.store.row_counts(self.stored_run)  # before the rows: those written meanwhile are not lost
        digests = RowDigests()
        for row in self.store.row_bodies(self.stored_run):
            digests.add(*row)
        if digests.value == counts.digest:
            return ()
        unreadable = tuple(self.store.unreadable(self.stored_run))
        whole = not unreadable and not counts.missing and not counts.pruned  # else it is known that rows are damaged
        # of a run that grows meanwhile nobody knows which rows were read
        now = self.store.row_counts(self.stored_run)
        self.altered = whole and counts.digest is not None and counts.digest == now.digest
        return unreadable

    def _take_figures(self, info: Mapping[str, Any]) -> None:
        counts = self.store.row_counts(self.stored_run)
        whole = not self.damaged_rows and not counts.missing and not counts.pruned and not self.altered
        figures = None
        if whole and self.selection is None and counts.stored > CHECKED:  # else it is as quick to compute them
            figures = StoredFigures.from_info(info, counts.stored, counts.digest)
        if figures is None:
            columns = self.score_columns()
            figures = StoredFigures.of(columns)
            self.altered = self.altered or (whole and counts.stored <= CHECKED and columns.is_altered())
            self.effective_n = figures.effective_n
        self._show_figures(figures, info)
        lost = max(0, counts.stored - self.rows) if self.selection is None else 0
        self.unreadable, self.missing, self.pruned = lost, counts.missing, counts.pruned
        if self.selection is not None:
            self._count_selection()

    def _count_selection(self) -> None:
        """What is known of a window: samples that were heard and have no row; the whole run's end is not its own."""
        assert self.selection is not None
        self.expected, self.usage, self.cache_hits, self.seconds = None, Usage(), 0, 0.0
        self.metric_usage = {}
        window = self.selection.window
        if window is None:
            return
        self.skipped = read_counts(self.store, self.stored_run, window.since, window.until)
        heard = self.rows + sum(self.skipped.values())
        counts = [f"scored {self.rows:,}", *(f"{cause} {n:,}" for cause, n in self.skipped.items())]
        if not self.selection.where:  # what has no row has no slice keys
            self.notes = [f"{window}: heard {heard:,}: {', '.join(counts)}", *self.notes]

    def _show_figures(self, figures: StoredFigures, info: Mapping[str, Any]) -> None:
        known = info.get("summaries", {})
        named = {name: Summary.empty(name, known.get(name)) for name in info["metrics"]}
        self.rows, self.metrics = figures.rows, named | figures.metrics
        self.overview, self.quotes = figures.overview, figures.quotes

    def select(self, where: Mapping[str, str]) -> Result:
        """Select rows by slice keys.

        Args:
            where: Slice key -> value, all of which have to hold.

        Returns:
            The rows as a result of their own, with its notes.

        Raises:
            InputError: No row has one of the slice keys.
        """
        window = None if self.selection is None else self.selection.window
        before = {} if self.selection is None else self.selection.where
        found = replace(self, selection=RowSelection(self.stored_run, window, {**before, **_conditions(where)}))
        found.run = str(found.selection)
        found._take_figures(self.store.get_run(self.stored_run))
        found.count_missing()
        return found

    def score_columns(self) -> RunColumns:
        """Read the scores of the run as arrays, without texts. They are read once: a live run goes on meanwhile.

        Returns:
            The columns of the rows that can be read, in the order of the data.
        """
        if self._columns is None:
            self._columns = self._read_columns()
        return self._columns

    def _read_columns(self) -> RunColumns:
        from assay.store.columns import RunColumns

        if self.selection is None:
            return RunColumns(self.store, self.run, without=self.damaged_rows)
        window, where = self.selection.window, self.selection.where
        since, until = (None, None) if window is None else (window.since, window.until)
        return RunColumns(self.store, self.stored_run, since=since, until=until, where=where, without=self.damaged_rows)

    def save(self) -> None:
        """Store what is known about the run, figures included. Call it when all rows are stored.

        Raises:
            RunReplacedError: The run that was started is not in the store any more.
        """
        figures = StoredFigures(self.rows, self.metrics, self.overview, self.quotes)
        digest = self.store.row_counts(self.run).digest
        info = self.info()
        if self.cluster is None and not any(self.rows_without_scores.values()):  # those would be counted twice
            info[FIGURES] = figures.state(digest)
        self.store.put_run(self.run, info, started=self.started)
        if self.rows > CHECKED:
            self.score_columns().keep_blocks()

    @property
    def complete(self) -> bool:
        """Whether the run finished and all of its rows can be read."""
        return not self.incomplete

    @property
    def lost(self) -> int:
        """Number of rows that belong to the run and cannot be read."""
        return self.unreadable + self.missing + self.pruned

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Reasons why figures over this run are not figures over all of its rows; empty for a complete run."""
        return incomplete_reasons(
            self.rows,
            stopped=self.stopped,
            expected=self.expected,
            unreadable=self.unreadable,
            missing=self.missing,
            pruned=self.pruned,
            altered=self.altered,
        )

    @property
    def unscored(self) -> int:
        """Number of rows of the data that the run did not come to, where the number of all was known at the start."""
        return rows_not_reached(self.ended, self.expected, self.rows + self.lost)

    @property
    def rows_without_scores(self) -> dict[Cause, int]:
        """Cause -> how many rows belong to the run and have no scores that can be read: lost, or not reached."""
        found = {Cause.LOST: self.lost}
        return found if self.ended not in UNSCORED else {**found, UNSCORED[self.ended]: self.unscored}

    def count_missing(self) -> None:
        """Count lost rows, and rows that were not reached, as rows without a value, of every metric; once."""
        for summary in self.metrics.values():
            summary.add_missing(self.rows_without_scores)

    def end(self, ended: RunEnd | None, why: str | None = None) -> None:
        """Set what ended the run.

        Args:
            ended: What it was. None: the run finished.
            why: The same in words; the name of the end where there are none.
        """
        self.ended, self.stopped = ended, why if why is not None else ended

    def add(self, scored: ScoredSample, number: int | None = None, facts: OverviewFacts | None = None) -> None:
        """Add a row to the summaries. The store is not written.

        Args:
            scored: The sample with its scores.
            number: Number of the row, from 1. None: the next one.
            facts: What the overview counts of it, where it is known already.
        """
        self.rows += 1
        self._columns = None
        self.quotes.add(scored)
        together = None if self.cluster is None else cluster_of(scored.sample, self.cluster, self.rows)
        self.overview.add(self.rows if number is None else number, scored, together, facts)
        for name, score in scored.scores.items():
            self.metrics.setdefault(name, Summary(metric=name)).add(score, together)
            if score.usage.calls:
                self.metric_usage[name] = self.metric_usage.get(name, Usage()) + score.usage

    @property
    def dollars(self) -> float | None:
        """What the judge cost in this run, cached input and batches at their own prices. None: not known."""
        return dollars_of(self.usage, self.prices)

    def cluster_by(self, column: str) -> Self:
        """Compute the intervals again with rows that share a value as one cluster.

        Rows of one document, conversation or source are correlated: twenty rows of two documents count as two. A row
        without the column is a cluster of its own.

        Args:
            column: Name of the column: metadata, "language" or "status".

        Returns:
            The same run with other intervals.

        Raises:
            InputError: No row has the column.
        """
        columns = self.score_columns()
        if len(columns) and all(value is None for value in columns.column(column)):
            raise InputError(f"cluster: no row has the column {column!r}")
        figures = StoredFigures.of(columns, column)
        named = {name: Summary(metric=name) for name in self.metrics}
        found = replace(self, metrics=named | figures.metrics, rows=figures.rows, cluster=column)
        found.overview, found.quotes = figures.overview, figures.quotes
        found.count_missing()
        return found

    def info(self) -> dict[str, Any]:
        """Describe the run as the store keeps it.

        Returns:
            JSON values, summaries included.
        """
        return {
            "judge": self.judge,
            "metrics": list(self.metrics),
            "parameters": self.parameters,
            "usage": self.usage.to_dict(),
            "metric_usage": {name: usage.to_dict() for name, usage in self.metric_usage.items()},
            "prices": None if self.prices is None else self.prices.to_dict(),
            "dollars": self.dollars,
            "cache_hits": self.cache_hits,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "ended": self.ended,
            "deliveries": {name: found.to_dict() for name, found in self.deliveries.items()},
            "notes": self.notes,
            "note": self.note,
            "data": self.data,
            "rows": self.rows,
            "expected": self.expected,
            "quotes": self.quotes.to_dict(),
            "default_metrics": self.default_metrics,
            "summaries": {name: summary.to_dict() for name, summary in self.metrics.items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Describe the run as plain JSON values, without its rows: see `to_jsonl` and `to_csv` for these.

        Returns:
            The run, why it is incomplete, and its summaries under `metrics`.
        """
        info = self.info()
        summaries = info.pop("summaries")
        info |= {"complete": self.complete, "incomplete": list(self.incomplete), "lost": self.lost}
        info |= {"cluster": self.cluster, "overview": self.overview.to_dict(), "metrics": summaries}
        return {"run": self.run, "started": self.started, **info}

    def __iter__(self) -> Iterator[ScoredSample]:
        """The scored samples in the order of the data."""
        return (row.scored for row in self.numbered_rows())

    def numbered_rows(self) -> Iterator[Row]:
        """Iterate over the rows with their numbers.

        Returns:
            Rows in the order of the data; the first has the number 1.
        """
        if self.selection is None:
            return self.store.rows(self.run)
        return self.store.rows_of(self.stored_run, self.score_columns().numbers.tolist())

    @property
    def errors(self) -> ResultRows[MetricError]:
        """Every score without a value, row by row. Rows that are lost come last, with the cause `lost`."""
        found = [
            MetricError(row.number, row.scored.sample.id, name, score.error.cause.value, score.error.message,
                    score.error.raw)
            for row in self.store.rows_of(self.stored_run, self.score_columns().without_value())
            for name, score in row.scored.scores.items()
            if score.error is not None
        ]  # fmt: skip
        return ResultRows([*found, *self._lost_errors()], MetricError)

    def brief_errors(self) -> ResultRows[MetricError]:
        """Find every score without a value, without reading the rows.

        Returns:
            As `errors`, without the judge's reply; messages are shortened to 300 characters.
        """
        columns = self.score_columns()
        found: list[tuple[int, int, MetricError]] = []
        lacking: dict[str, MetricScores] = {}
        for name in dict.fromkeys([*self.metrics, *columns.metrics]):  # in the order of the run
            scores = columns.scores(name)
            if len(scores.causes) > 1:
                lacking[name] = scores
        ids = columns.ids() if lacking else []
        for order, (name, scores) in enumerate(lacking.items()):
            for place in (scores.codes > 0).nonzero()[0].tolist():
                cause = scores.causes[scores.codes[place]]
                if cause != BY_CONVENTION:
                    number, said = int(columns.numbers[place]), scores.message(place)
                    found.append((place, order, MetricError(number, ids[place], name, cause, said, None)))
        found.sort(key=lambda one: one[:2])
        return ResultRows([*(one for _, _, one in found), *self._lost_errors()], MetricError)

    def _lost_errors(self) -> list[MetricError]:
        return [
            MetricError(number, None, name, Cause.LOST.value, why, None)
            for number, why in (lost_rows(self) if self.lost else ())
            for name in self.metrics
        ]

    def row(self, row: int | str) -> ScoredSample:
        """Look up one row.

        Args:
            row: Its id, or its number from 1.

        Returns:
            The sample with its scores.

        Raises:
            InputError: There is no such row.
        """
        return self.get_row(row).scored

    def get_row(self, row: int | str) -> Row:
        """Look up one row of the stored run, with its number.

        Args:
            row: Its id, or its number from 1.

        Returns:
            The row.

        Raises:
            InputError: There is no such row.
        """
        return self.store.get_row(self.stored_run, row)

    def explain(self, row: int | str, metric: str | None = None) -> Explanation:
        """Explain the scores of a row: claims, verdicts and quotes. Print it, or show it in a notebook.

        Args:
            row: Id of the row, or its number from 1.
            metric: Label of a metric; None for all.

        Returns:
            The explanation.

        Raises:
            InputError: There is no such row or metric.
        """
        from assay.evaluation.display.explanation import Explanation

        found = self.get_row(row)
        if metric is not None and metric not in found.scored.scores:
            raise InputError(f"metric: {metric!r} is not in this run; it has {', '.join(found.scored.scores)}")
        return Explanation(found, metric)

    @overload
    def worst(self, metric: str) -> Row | None: ...
    @overload
    def worst(self, metric: str, n: int) -> ResultRows[Row]: ...
    def worst(self, metric: str, n: int | None = None) -> Row | ResultRows[Row] | None:
        """Find the rows with the worst values of a metric. Rows without a value are left out.

        Args:
            metric: Label of the metric.
            n: Number of rows, at least 1; None for the worst one alone.

        Returns:
            The worst row, or None where no row has a value; with `n` a sequence, worst first. Of equal values the
            first row in the data counts as worse.

        Raises:
            InputError: The run has no such metric, or `n` is less than 1.
        """
        if metric not in self.metrics:
            raise InputError(f"metric: {metric!r} is not in this run; it has {', '.join(self.metrics)}")
        if n is not None and n < 1:
            raise InputError(f"n: expected at least 1, got {n}")
        numbers = self._worst_numbers(metric, n or 1)
        rows = {row.number: row for row in self.store.rows_of(self.stored_run, numbers)}
        worst = [rows[number] for number in numbers if number in rows]
        if n is not None:
            return ResultRows(worst, Row)
        return worst[0] if worst else None

    def _worst_numbers(self, metric: str, n: int) -> list[int]:
        lowest = self.metrics[metric].direction == "higher"
        if self.selection is None and not self.lost:
            from assay.store.columns import extreme_rows

            return extreme_rows(self.store, self.run, metric, n, lowest=lowest)
        return self.score_columns().worst(metric, n, lowest=lowest)

    def by(self, column: str) -> dict[str, dict[str, Summary]]:
        """Summarize groups of rows: those with the same value in a column.

        Args:
            column: Name of the column: metadata, "language" or "status".

        Returns:
            Value -> label of a metric -> summary; the largest group first. Rows without the column are the group "–".

        Raises:
            InputError: No row has the column.
        """
        return grouped_by(self.score_columns(), column, self.cluster)

    def records(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as flat dicts. Rows that are lost or were not reached come last, without texts.

        Returns:
            Number, id, texts, and for each metric its value and, in `<metric>_error`, the cause where there is none.
            The number of a row that is not in the store is None, and its id begins with "assay:".
        """
        yield from (flat_record(number, scored) for number, scored in self.all_rows())

    def all_rows(self) -> Iterator[tuple[int | None, ScoredSample]]:
        """Iterate over all rows that belong to the run, as exports have them.

        Returns:
            Number and scored sample of each row in the order of the data. Then rows that are lost or were not reached:
            samples without texts, whose scores have the cause, and whose ids are "assay:lost:1" or
            "assay:not_reached:1". Their number is None where it is not known.
        """
        yield from ((row.number, row.scored) for row in self.numbered_rows())
        yield from missing_rows(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert the rows to a DataFrame.

        A value by another system's convention has "by_convention" beside it.

        Returns:
            One line a row; a cell without a value is missing, and `<metric>_error` has the cause.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return frame_of(self.records(), kinds={"row": "Int64", **dict.fromkeys(self.metrics, "Float64")})

    def to_jsonl(self, path: str | Path) -> Path:
        """Write every row with its scores and evidence as one JSON line: see `all_rows`.

        Args:
            path: The file; one that exists is replaced.

        Returns:
            The path.
        """
        with output_file(path) as out:
            for number, scored in self.all_rows():
                line: Mapping[str, Any] = {"row": number, **scored.to_dict()}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        return Path(path)

    def to_bedrock(self, path: str | Path, *, source: str = "assay") -> Path:
        """Write every row with its scores in the format of Amazon Bedrock's evaluation jobs.

        The format has no place for rows that are lost or were not reached.

        Args:
            path: The file; one that exists is replaced.
            source: `knowledgeBaseIdentifier` of rows that have none.

        Returns:
            The path.

        Raises:
            InputError: The format cannot hold a row, such as one without a question; the message names it.
        """
        from assay.data.bedrock.results import write_results

        return write_results(((row.number, row.scored) for row in self.numbered_rows()), path, source=source)

    def to_csv(self, path: str | Path) -> Path:
        """Write one line a row: see `records`.

        Args:
            path: The file; one that exists is replaced.

        Returns:
            The path.
        """
        with output_file(path, newline="") as out:
            write_table(out, self.records(), self.columns)
        return Path(path)

    @property
    def columns(self) -> list[str]:
        """Names of the columns in `records`."""
        cells = [name for metric in self.metrics for name in (metric, f"{metric}_error")]
        return ["row", "id", "question", "contexts", "answer", "reference", *cells]

    def __str__(self) -> str:
        from assay.evaluation.display.table import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return shortened(
            printable(f"<Result {self.run}: {pluralize(self.rows, 'row')}, {', '.join(self.metrics)}>"), 160
        )

    def _repr_html_(self) -> str:
        from assay.evaluation.display.notebook import as_html

        return as_html(self)
