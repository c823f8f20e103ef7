"""The same data read twice or more by one judge: how far its scores can be trusted to come out the same.

    found = measure("answers.jsonl", "faithfulness", judge="openai:MODEL", readings=2)
    print(found)
    found.save("noise.json")

What an earlier reading found is not known to the next, in memory or in the store; each keeps its own judgements, so
that measuring again asks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from assay._util.output_files import write_json
from assay._util.permissions import read_json
from assay._util.tabular import Tabular
from assay.errors import InputError, printable
from assay.evaluation.display.table import judge_in_words
from assay.evaluation.groups import value_in
from assay.evaluation.result import Result
from assay.records import Sample
from assay.stats.noise import Noise, Readings

if TYPE_CHECKING:
    from assay.data import Rows
    from assay.judges import JudgeSpec
    from assay.metrics.names import MetricSpec

FORMAT = 1


@dataclass(frozen=True, slots=True)
class NoiseReport(Tabular):
    """What readings of the same data differ by.

    Attributes:
        runs: Of each reading, by name.
        metrics: The noise of each metric that has a value in every reading of some row.
    """

    _item_type = Noise

    def _items(self) -> Collection[Noise]:
        return self.metrics.values()

    judge: str
    runs: tuple[str, ...]
    data: str | None = None
    metrics: Mapping[str, Noise] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        metrics = {name: noise.to_dict() for name, noise in self.metrics.items()}
        return {"assay_noise": FORMAT, "judge": self.judge, "runs": list(self.runs), "data": self.data,
                "metrics": metrics}  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write it as JSON, for gates. Returns the path."""
        path = Path(path)
        write_json(path, self.to_dict())
        return path

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What `save` wrote. Raises InputError, naming the file, for what is none."""
        path = Path(path)
        data = read_json(path, "noise")
        if not isinstance(data, dict) or data.get("assay_noise") != FORMAT or not isinstance(data.get("metrics"), dict):
            raise InputError(f"noise: {str(path)!r} is none that `assay judge noise` wrote, of version {FORMAT}")
        try:
            metrics = {str(name): Noise.from_dict(found) for name, found in data["metrics"].items()}
            runs = tuple(map(str, data.get("runs") or ()))
        except (InputError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"noise: {str(path)!r}: {error}") from None
        return cls(str(data.get("judge")), runs, data.get("data"), metrics)

    def __str__(self) -> str:
        found = [str(noise) for noise in self.metrics.values()] or ["no row has a value in every reading"]
        return printable("\n".join([*found, judge_in_words(self.judge)]))


def measure(
    data: Rows,
    metrics: MetricSpec | None = None,
    judge: JudgeSpec = None,
    *,
    readings: int = 2,
    item: str | None = None,
    **options: Any,
) -> NoiseReport:
    """Score the same data `readings` times, and say what part of the spread is the judge's; see `noise_of`.

    `options` are those of `assay.evaluate`. Raises InputError for fewer readings than 2, data that can be read once
    only, and as `evaluate`.
    """
    from assay.evaluation.evaluate import evaluate

    if readings < 2:
        raise InputError(f"readings: expected 2 or more, got {readings}")
    if hasattr(data, "__next__"):
        raise InputError("data: an iterator can be read once only; give a list or a file")
    given = options.pop("note", None)
    results = [
        evaluate(data, metrics, judge, reading=n, note=given or f"reading {n} of {readings}", **options)
        for n in range(1, readings + 1)
    ]
    return noise_of(results, item=item)


def noise_of(results: Sequence[Result], *, item: str | None = None) -> NoiseReport:
    """The noise of runs that are readings of the same data, row by row.

    Raises InputError for fewer than two runs, of different judges or lengths, and a column that no row has.

    Args:
        item: The column that says which rows answer the same question; without one it is rows with the same question,
            earlier turns and reference.
    """
    if len(results) < 2:
        raise InputError(f"noise: expected two readings or more, got {len(results)}")
    first = results[0]
    for other in results[1:]:
        if other.judge != first.judge:
            raise InputError(f"noise: readings are by one judge; {first.run!r} is by {first.judge}, {other.run!r} by "
                             f"{other.judge}")  # fmt: skip
        if other.rows != first.rows:
            raise InputError(f"noise: {first.run!r} has {first.rows} rows, {other.run!r} has {other.rows}")
    found = {name: Readings(name, s.low, s.high, s.direction) for name, s in first.metrics.items()}
    there = item is None or not first.rows
    for rows in zip(*(result.numbered_rows() for result in results), strict=True):
        sample = rows[0].scored.sample
        there = there or value_in(sample, item or "")[0]
        name = _item(sample, item, rows[0].number)
        for metric, kept in found.items():
            scores = [row.scored.scores.get(metric) for row in rows]
            kept.add(name, [score.value if score is not None and score.measured else None for score in scores])
    if not there:
        raise InputError(f"item: no row has the column {item!r}")
    noises = {name: noise for name, kept in found.items() if (noise := kept.noise()) is not None}
    return NoiseReport(first.judge, tuple(result.run for result in results), first.data, noises)


def _item(sample: Sample, column: str | None, number: int) -> str:
    if column is not None:
        there, value = value_in(sample, column)
        return value if there else f"\0{number}"
    if sample.question is None:
        return f"\0{number}"
    return json.dumps([sample.question, [[turn.question, turn.answer] for turn in sample.history], sample.reference])
