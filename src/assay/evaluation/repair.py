"""Repair a run that has lost rows: they are scored again, from the data that they came from and cached judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from secrets import token_hex
from typing import TYPE_CHECKING

from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay.data import Data, RowError, open_data
from assay.data.columns import ColumnMap
from assay.errors import InputError, StoreError
from assay.evaluation.evaluate import aevaluate
from assay.evaluation.result import Result
from assay.evaluation.score_sample import skipped_sample
from assay.judges.base import BaseJudge
from assay.judges.no_judge import NO_JUDGE
from assay.metrics.base import Metric
from assay.metrics.names import resolve_metrics
from assay.records import Sample, ScoredSample
from assay.store.integrity import check_run
from assay.store.store import Store

if TYPE_CHECKING:
    from assay.data import Rows
    from assay.metrics.names import MetricSpec

#: Of rows that were not lost so many may differ from the data's: beyond that, these are other data.
MOST_DIFFERENT = 0.5
SHOWN = 20  # numbers of rows in a message


@dataclass(frozen=True, slots=True)
class RepairResult(Tabular):
    """What a repair did.

    Attributes:
        rows: Numbers of the rows that were scored again.
        judged: Requests to the judge that it took; what was cached is not asked again.
        result: The run after it.
    """

    _columns = "run=result.run rows judged"

    rows: tuple[int, ...]
    judged: int
    result: Result


async def arepair(
    run: str,
    store: Store,
    data: Rows,
    judge: BaseJudge,
    *,
    metrics: MetricSpec | None = None,
    column_map: ColumnMap | None = None,
    language: str | None = None,
    progress: bool | None = None,
) -> RepairResult:
    """Score the rows that a run has lost again.

    Args:
        run: Name of the run, or "last".
        store: Its store.
        data: The data that the run was scored from.
        judge: The judge that scored it.
        metrics: Its metrics. None: those that the store names, with default parameters.
        column_map: Field -> column, as for the run.
        language: Language of the rows that name none, as for the run.
        progress: Show a bar on stderr. None: if it is a terminal.

    Returns:
        The rows that were scored again, and the run.

    Raises:
        InputError: The data, the judge or the metrics are not those of the run, or the run did not finish.
        StoreError: What is known about the run is damaged: which metrics it had cannot be read.
    """
    run = store.run_id(run)
    info = store.get_run(run)
    if info.get("stopped") is not None:
        raise InputError(f"run {run!r} did not finish; score its data again: what was judged is not asked twice")
    if NO_JUDGE != info["judge"] != judge.fingerprint:
        raise InputError(f"judge: run {run!r} was scored by {info['judge']}, and this is {judge.fingerprint}")
    chosen = _metrics_of(run, info["metrics"], info.get("parameters", {}), metrics)
    lost, strays = _lost_rows(run, store, open_data(data, column_map=column_map, language=language))
    samples = {number: row for number, row in lost.items() if isinstance(row, Sample)}
    scored = [(number, _skipped(row, chosen)) for number, row in lost.items() if isinstance(row, RowError)]
    judged = 0
    if samples:
        part = f"{run[:400]} (repair {token_hex(4)})"  # a name that no run of the user has
        again = await aevaluate(
            [*samples.values()],
            chosen,
            judge,
            store=store,
            run=part,
            language=language,
            progress=progress,
        )
        scored += [(number, row.scored) for number, row in zip(samples, again.numbered_rows(), strict=True)]
        judged = again.usage.calls
        store.delete_run(part)
    store.restore_rows(run, scored, delete=strays)
    return RepairResult(tuple(sorted(lost)), judged, Result.load(run, store))


def _metrics_of(
    run: str, labels: Sequence[str], parameters: dict[str, str], given: MetricSpec | None
) -> tuple[Metric, ...]:
    """The metrics of a run. Raises InputError where names do not say which they were."""
    chosen = resolve_metrics(list(labels) if given is None else given)
    for metric in chosen:
        if parameters.get(metric.label, repr(metric)) != repr(metric):
            raise InputError(f"metrics: run {run!r} has {parameters[metric.label]}, and this is {metric!r}; name it so")
    missing = sorted({*labels} - {metric.label for metric in chosen})
    if missing:
        raise InputError(f"metrics: run {run!r} has also {', '.join(missing)}")
    return chosen


def _lost_rows(run: str, store: Store, data: Data) -> tuple[dict[int, Sample | RowError], list[int]]:
    """The rows of the data that the run has lost, by number, and the numbers that no row of the data has.

    Raises InputError where these are other data.
    """
    damage = check_run(store, run)
    kept = {row.number: row.scored.sample for row in store.rows(run)}
    lost: dict[int, Sample | RowError] = {}
    different: dict[int, Sample] = {}
    known, total = set[int](), 0
    for number, row in data:
        total += 1
        if isinstance(row, Sample):
            known.add(hash(_texts(row)))
        if number not in kept:
            lost[number] = row
        elif isinstance(row, Sample) and _texts(row) != _texts(kept[number]):
            different[number] = row
    saved = damage.rows + damage.missing + damage.pruned
    if total < saved or len(different) > MOST_DIFFERENT * len(kept):
        raise InputError(
            f"data: run {run!r} has {pluralize(saved, 'row')}; here are {total}, of which {len(different)} of "
            f"{len(kept)} differ from the rows that the run still has: these are other data"
        )
    # a row that differs is damaged only where the digest says so, or where it is another row of the data: else the data
    # were edited since, and the run would become one of other data
    edited = [] if damage.altered else [n for n in different if hash(_texts(kept[n])) not in known]
    if edited:
        raise InputError(
            f"data: {pluralize(len(edited), 'row')} ({', '.join(map(str, edited[:SHOWN]))}) differ from the rows that "
            f"run {run!r} has, which are not damaged: these are other data. Score them as a run of their own"
        )
    strays = [number for number in kept if number > total]
    if len(lost) > len(damage.unreadable) + damage.missing + damage.pruned + len(strays):
        raise InputError(
            f"data: {total} rows, and run {run!r} has {saved} of them: which ones cannot be told. Give the data that "
            "it was scored from, without the others"
        )
    return lost | different, strays


def _texts(sample: Sample) -> tuple[object, ...]:
    return sample.id, sample.question, sample.answer, sample.contexts and sample.passages, sample.reference


def _skipped(row: RowError, metrics: Sequence[Metric]) -> ScoredSample:
    return skipped_sample(Sample(id=row.id), metrics, row.cause, row.message)


def lost_in_words(run: str, store: Store) -> str:
    """Which rows of a run cannot come back without its data. Raises StoreError for a run whose facts are damaged."""
    damage = check_run(store, run)
    if damage.info is not None:
        raise StoreError(damage.info)
    facts = []
    if damage.unreadable:
        facts.append(f"cannot be read: {', '.join(map(str, damage.unreadable[:SHOWN]))}")
    if damage.missing or damage.pruned:
        have = {*store.numbers(run)}
        most = damage.rows + damage.missing + damage.pruned
        gone = [*islice((str(number) for number in range(1, most + 1) if number not in have), SHOWN + 1)]
        facts.append(f"gone: {', '.join(gone[:SHOWN])}{' …' if len(gone) > SHOWN else ''}")
    if damage.altered:
        facts.append("some are not the ones that were saved; the data show which")
    return "; ".join(facts)
