"""The result of an evaluation: a table of means, and every row with its evidence, read from the store when asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, MissingExtra
from assay.installing import install_package
from assay.records import ScoredSample, Usage
from assay.sinks.writing import Deliveries
from assay.store import Row, Store
from assay.summary import Summary

if TYPE_CHECKING:
    import pandas

    from assay.report.explanation import Explanation


@dataclass(frozen=True, slots=True)
class Failure:
    """One metric that has no value on one row, and why. `raw` is the judge's own reply where there was one."""

    number: int
    id: str | None
    metric: str
    cause: str
    message: str
    raw: str | None


@dataclass(slots=True)
class Result:
    """One run. Rows stay in the store; what is here does not grow with them.

    metrics   the summary of each metric, by name
    parameters  each metric with its parameters, in words
    complete  False when the run was stopped before the data ended; `stopped` says by what
    usage     what the judge was asked in this run; `reused` counts findings that cost nothing
    deliveries  what became of the scores in each sink, by its name
    notes     what a reader of the figures should know, one sentence each
    """

    run: str
    store: Store
    judge: str
    metrics: dict[str, Summary] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    usage: Usage = field(default_factory=Usage)
    reused: int = 0
    seconds: float = 0.0
    stopped: str | None = None
    deliveries: dict[str, Deliveries] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, run: str = "last", store: Store | str | Path = ".assay") -> Result:
        """A run from a store. Raises InputError when it is not there."""
        store = store if isinstance(store, Store) else Store(store)
        run = store.run_id(run)
        info = store.get_run(run)
        result = cls(run=run, store=store, judge=info["judge"], stopped=info.get("stopped"))
        result.usage = Usage.from_dict(info["usage"]) if info.get("usage") else Usage()
        result.reused, result.seconds = info.get("reused", 0), info.get("seconds", 0.0)
        result.parameters = info.get("parameters", {})
        result.deliveries = {name: Deliveries.from_dict(found) for name, found in info.get("deliveries", {}).items()}
        result.notes = list(info.get("notes", ()))
        result.metrics = {name: Summary(metric=name) for name in info["metrics"]}
        for row in store.rows(run):
            result.add(row.scored)
        return result

    @property
    def complete(self) -> bool:
        return self.stopped is None

    def add(self, scored: ScoredSample) -> None:
        """Take one more row into the summaries."""
        self.rows += 1
        for name, score in scored.scores.items():
            self.metrics.setdefault(name, Summary(metric=name)).add(score)

    def info(self) -> dict[str, Any]:
        """What the store keeps about this run."""
        return {
            "judge": self.judge,
            "metrics": list(self.metrics),
            "parameters": self.parameters,
            "usage": self.usage.to_dict(),
            "reused": self.reused,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "deliveries": {name: found.to_dict() for name, found in self.deliveries.items()},
            "notes": self.notes,
        }

    def __iter__(self) -> Iterator[ScoredSample]:
        """The scored samples in the order of the data."""
        return (row.scored for row in self.store.rows(self.run))

    def numbered(self) -> Iterator[Row]:
        """The rows with their numbers, from 1, in the order of the data."""
        return self.store.rows(self.run)

    @property
    def failures(self) -> list[Failure]:
        """Every score without a value, row by row."""
        return [
            Failure(row.number, row.scored.sample.id, name, score.unscored.cause.value, score.unscored.message,
                    score.unscored.raw)
            for row in self.numbered()
            for name, score in row.scored.scores.items()
            if score.unscored is not None
        ]  # fmt: skip

    def row(self, row: int | str) -> ScoredSample:
        """One row by its id or its number, from 1. Raises InputError when there is none."""
        return self.store.get_row(self.run, row).scored

    def explain(self, row: int | str, metric: str | None = None) -> Explanation:
        """Why this row got its scores: claims, verdicts, quotes. Print it, or show it in a notebook.

        `row` is an id or a number, from 1. Raises InputError for an unknown row or metric.
        """
        from assay.report.explanation import Explanation

        found = self.store.get_row(self.run, row)
        if metric is not None and metric not in found.scored.scores:
            raise InputError(f"metric: {metric!r} is not in this run; it has {', '.join(found.scored.scores)}")
        return Explanation(found, metric)

    def worst(self, metric: str) -> Row | None:
        """The row with the worst value of a metric; the first of several; None when no row has a value."""
        if metric not in self.metrics:
            raise InputError(f"metric: {metric!r} is not in this run; it has {', '.join(self.metrics)}")
        sign = 1 if self.metrics[metric].direction == "higher" else -1
        worst: tuple[float, Row] | None = None
        for row in self.numbered():
            score = row.scored.scores.get(metric)
            if score is not None and score.value is not None and (worst is None or sign * score.value < worst[0]):
                worst = sign * score.value, row
        return None if worst is None else worst[1]

    def records(self) -> Iterator[dict[str, Any]]:
        """One flat dict per row: number, id, texts, and per metric its value and, where there is none, the cause."""
        for row in self.numbered():
            sample = row.scored.sample
            flat: dict[str, Any] = {
                "row": row.number,
                "id": sample.id,
                "question": sample.question,
                "contexts": None if sample.contexts is None else list(sample.passages),
                "answer": sample.answer,
                "reference": sample.reference,
            }
            for name, score in row.scored.scores.items():
                flat[name] = score.value
                flat[f"{name}_unscored"] = score.unscored.cause.value if score.unscored else None
            yield flat

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a DataFrame; unscored cells are missing, with the cause in `<metric>_unscored`."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtra(f"to_pandas() needs pandas: {install_package('pandas')}") from error
        frame = pandas.DataFrame(self.records())
        return frame.astype({name: "Float64" for name in self.metrics if name in frame}, errors="ignore")

    def to_jsonl(self, path: str | Path) -> Path:
        """Write every row with scores and evidence as one JSON line each. Returns the path."""
        path = Path(path)
        with path.open("w", encoding="utf-8") as out:
            for row in self.numbered():
                line: Mapping[str, Any] = {"row": row.number, **row.scored.to_dict()}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        return path

    def __str__(self) -> str:
        from assay.report.table import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return f"<Result {self.run}: {self.rows} rows, {', '.join(self.metrics)}>"

    def _repr_html_(self) -> str:
        from assay.report.table import as_html

        return as_html(self)
