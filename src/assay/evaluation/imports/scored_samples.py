"""Rows that another system has scored, as scored samples."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from assay._util.normalise import missing, real_number, well_formed
from assay.data import RowError, open_data
from assay.data.images import placed
from assay.errors import Cause, InputError
from assay.evaluation.imports.scales import Scale, Stated, scale_of
from assay.records import Direction, Sample, Score, ScoredSample, ScoreError

_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_NAMED = 3  # rows that are named of those that are left out


@dataclass(frozen=True, slots=True)
class ImportedValue:
    """What a system found of one row by one metric: a number, or a sentence on why there is none.

    Attributes:
        direction: Where the system's own verdict shows it.
    """

    value: float | str
    judge: str | None = None
    direction: Direction | None = None


@dataclass(frozen=True, slots=True)
class ImportedScores:
    """A row of somebody's file, or the sample in it, and what stands there of each metric."""

    row: Mapping[str, Any] | Sample
    given: Mapping[str, ImportedValue] = field(default_factory=dict)


class ImportedRun(NamedTuple):
    """What `assay.evaluation.external_runs` makes a result of."""

    judge: str
    rows: Iterable[ScoredSample]
    notes: tuple[str, ...] = ()


def parse_value(value: object, judge: str | None = None, direction: Direction | None = None) -> ImportedValue:
    """A number as files have it: also as a text, as true or false, as yes or no."""
    if missing(value) or value == "":
        return ImportedValue("there is no value of it", judge, direction)
    word = value.strip().casefold() if isinstance(value, str) else value
    if isinstance(word, str) and word in _WORDS:
        return ImportedValue(_WORDS[word], judge, direction)
    number = real_number(word)
    with suppress(TypeError, ValueError, OverflowError):
        number = float(word) if number is None else number  # type: ignore[arg-type]
    if number is None:
        return ImportedValue(f"{str(value)[:80]!r} is no number", judge, direction)
    if math.isnan(number):
        return ImportedValue("there is no value of it", judge, direction)
    return ImportedValue(number if math.isfinite(number) else f"{number} is no finite number", judge, direction)


def run_of(system: str, file: str, rows: Sequence[ImportedScores], scales: Stated | None) -> ImportedRun:
    """The rows as a run. Metrics whose scale nobody has said are left out, and a note names them.

    Raises InputError where there is no row, none of the metrics has a scale, a stated one is of no metric of the
    file, or a value is outside of its scale.
    """
    if not rows:
        raise InputError(f"{file}: there are no rows with scores of {system}")
    rows = [_printable(row) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row.given))
    found = {name: _scale(system, name, rows, scales or {}) for name in columns}
    known = _unique_names({name: scale for name, scale in found.items() if scale is not None})
    unknown = [name for name in columns if name not in known]
    strange = [name for name in scales or () if name not in columns and all(name != one.name for one in known.values())]
    if strange:
        raise InputError(f"{file}: scales: there is no {strange[0]!r}; there are {_listed(columns)}")
    if not known:
        _refuse(system, file, columns)
    notes = []
    if unknown:
        notes.append(
            f"{file}: not read, since nobody says what is good and what is bad: {_listed(unknown)}; "
            f"--scale {shlex.quote(unknown[0])}=WORST:BEST says it."
        )
    judges = {one.judge for row in rows for name, one in row.given.items() if one.judge and name in known}
    if not judges:
        notes.append(f"{file} does not say which model judged.")
    scored, left = _scored(system, file, rows, known)
    if left:
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        notes.append(f"{file}: left out, since they cannot be read: {'; '.join(left[:_NAMED])}{more}.")
    if not scored:
        raise InputError(f"{file}: no row can be read: {left[0]}")
    return ImportedRun(f"{system}: {', '.join(sorted(judges)) or 'not said'}", scored, tuple(notes))


def _printable(row: ImportedScores) -> ImportedScores:
    """The row, with names of metrics that can be stored and printed: JSON may hold half a character."""
    if all(name == well_formed(name) for name in row.given):
        return row
    return ImportedScores(row.row, {well_formed(name): one for name, one in row.given.items()})


def _refuse(system: str, file: str, columns: Sequence[str]) -> NoReturn:
    if not columns:
        raise InputError(f"{file}: no row has a score of {system}")
    raise InputError(
        f"{file}: nobody says what is good and what is bad of {_listed(columns)}; none is a metric of {system} that "
        f"assay knows. Say the worst and the best value of each, as in --scale {shlex.quote(columns[0])}=0:1"
    )


def _scale(system: str, name: str, rows: Sequence[ImportedScores], scales: Stated) -> Scale | None:
    scale = scale_of(system, name, scales)
    shown = {one.direction for row in rows if (one := row.given.get(name)) is not None} - {None}
    if scale is None or name in scales or scale.name in scales or shown <= {scale.direction}:
        return scale
    if len(shown) > 1:  # thresholds that differ from row to row show nothing
        return scale
    direction: Direction = "lower" if scale.direction == "higher" else "higher"
    return Scale(name, scale.low, scale.high, direction)  # that version's metric is another one than the one we list


def _unique_names(scales: Mapping[str, Scale]) -> dict[str, Scale]:
    """Each under a name of its own: of two columns with the same metric the second keeps the file's name."""
    found: dict[str, Scale] = {}
    taken: set[str] = set()
    for column, scale in scales.items():
        name = column if scale.name in taken else scale.name
        taken.add(name)
        found[column] = Scale(name, scale.low, scale.high, scale.direction)
    return found


def _scored(
    system: str, file: str, rows: Sequence[ImportedScores], scales: Mapping[str, Scale]
) -> tuple[list[ScoredSample], list[str]]:
    """The rows that can be read, and why the others cannot."""
    found, left = [], []
    for number, (graded, sample) in enumerate(zip(rows, _samples(rows), strict=True), 1):
        if isinstance(sample, RowError):
            left.append(sample.message)
            continue
        scores = {
            scale.name: _score(f"{file}: row {number}: {column}", graded.given.get(column), system, column, scale)
            for column, scale in scales.items()
        }
        found.append(ScoredSample(sample=sample, scores=scores))
    return found, left


def _samples(rows: Sequence[ImportedScores]) -> Iterator[Sample | RowError]:
    made = [graded.row for graded in rows if isinstance(graded.row, Sample)]
    if len(made) == len(rows):  # nothing is left to read
        return iter(made)
    found = (sample for _, sample in open_data([graded.row for graded in rows]))
    return (_placed(sample, number) for number, sample in enumerate(found, 1))


def _placed(sample: Sample | RowError, number: int) -> Sample | RowError:
    """The sample, unless it names a picture that data may not name."""
    try:
        return sample if isinstance(sample, RowError) else placed(sample, Path())
    except InputError as error:
        return RowError(number=number, id=sample.id, message=f"row {number}: {error}")


def _score(where: str, one: ImportedValue | None, system: str, column: str, scale: Scale) -> Score:
    if one is None or isinstance(one.value, str):
        message = f"{system}: {'the row has none' if one is None else one.value}"
        gap = ScoreError(cause=Cause.NOT_APPLICABLE, message=message)
        return Score(metric=scale.name, error=gap, low=scale.low, high=scale.high, direction=scale.direction,
                     judge=None if one is None else one.judge)  # fmt: skip
    value = _rounded_into(one.value, scale)
    if not scale.low <= value <= scale.high:
        raise InputError(
            f"{where}: {one.value:g} is outside {scale.low:g} to {scale.high:g}, the scale of {scale.name}; another "
            f"one is stated by --scale {shlex.quote(column)}=WORST:BEST"
        )
    return Score(metric=scale.name, value=value, low=scale.low, high=scale.high, direction=scale.direction,
                 judge=one.judge)  # fmt: skip


def _rounded_into(value: float, scale: Scale) -> float:
    """The end of the scale for what lies beyond it by rounding alone: 1.0000000000000002."""
    nearest = min(max(value, scale.low), scale.high)
    return nearest if abs(value - nearest) <= 1e-9 * (scale.high - scale.low) else value


def _listed(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
