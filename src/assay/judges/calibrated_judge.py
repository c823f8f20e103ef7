"""A judge with probabilities and thresholds calibrated on labels: `assay judge align --write` makes the calibration.

    judge = calibrate_judge("embedded", "calibration.json")
    evaluate("answers.jsonl", judge=judge)

It asks the judge beneath and maps what that says, so judgements that the store has of that judge are used again. Its
fingerprint is another one: runs with and without a calibration do not compare, and their judgements do not mix.
"""

from __future__ import annotations

import asyncio
import bisect
import math
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from assay._util.output_files import write_json
from assay._util.permissions import read_json
from assay.errors import InputError, JudgeFailure
from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.cache import JudgementCache
from assay.judges.cascade.items import kind_of
from assay.judges.protocol import METER, Answer, Host, JudgementStore, Meter
from assay.judges.thresholds import Threshold
from assay.prompts import JudgePrompt
from assay.records import Cell, Record, Verdict, fingerprint

FORMAT = 2
_MAPS = 1  # what maps mean, part of the name of a calibrated judge
#: What a kind's verdict says where it does not affirm, and the judge's own word for it was the affirming one.
DENIALS = {"support": "not_mentioned", "usefulness": "not_useful", "useful_sentences": "not_useful",
           "directness": "indirect", "criterion": "no"}  # fmt: skip
NEAR = 1e-4  # as in assay.stats.calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityMap(Record):
    """What a judge's probability comes to, rising, and from where on the verdict affirms.

    Attributes:
        slope, intercept: Platt's, over logits; or.
        points: (probability, what it comes to), joined by lines, level beyond the ends.
        threshold: Of the mapped probability, in [0, 1].
        labels: How many it was fitted to.
    """

    slope: float | None = None
    intercept: float = 0.0
    points: tuple[tuple[float, float], ...] = ()
    threshold: float = 0.5
    labels: int = 0

    def __post_init__(self) -> None:
        numbers = [self.intercept, self.threshold, *([] if self.slope is None else [self.slope])]
        numbers += [one for point in self.points for one in point]
        if not all(map(math.isfinite, numbers)) or not 0.0 <= self.threshold <= 1.0:
            raise InputError("calibration: expected finite numbers, and a threshold from 0 to 1")
        if (self.slope is None) == (not self.points) or (self.slope is not None and self.slope <= 0.0):
            raise InputError("calibration: expected a slope above 0, or points")
        if any(b[0] <= a[0] or b[1] < a[1] for a, b in zip(self.points, self.points[1:], strict=False)):
            raise InputError("calibration: expected points that rise")
        if any(not 0.0 <= one <= 1.0 for point in self.points for one in point):
            raise InputError("calibration: expected points from 0 to 1")

    def __call__(self, probability: float) -> float:
        if self.slope is not None:
            inside = min(1.0 - NEAR, max(NEAR, probability))
            z = self.slope * math.log(inside / (1.0 - inside)) + self.intercept
            return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, z))))
        n = bisect.bisect_right(self.points, probability, key=lambda point: point[0])
        if n == 0 or n == len(self.points):
            return self.points[max(0, n - 1)][1]
        (x, y), (u, v) = self.points[n - 1], self.points[n]
        return y + (v - y) * (probability - x) / (u - x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Record):
    """The maps of one judge by the kind of prompt (support, usefulness, ...), and thresholds of metrics.

    Attributes:
        judge: The fingerprint that it holds for, and for no other.
        made: The day, as 2026-01-31.
        thresholds: Values of metrics from which on people say yes of a whole sample; for gates.
        without: Metrics that have labels and no threshold, and why.
        note: Where the labels are from.
    """

    judge: str
    made: str
    maps: Mapping[str, ProbabilityMap] = field(default_factory=dict)
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None
    format: int = FORMAT

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The calibration in this file. Raises InputError, naming the file, where there is none."""
        where, data = f"calibration: {str(path)!r}", read_json(path, "calibration")
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError(
                f"{where} is no calibration of this version of assay; `assay judge align --write` makes one"
            )
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None


CalibrationSpec: TypeAlias = "Calibration | str | Path"


def calibrate_judge(judge: JudgeSpec, calibration: CalibrationSpec) -> CalibratedJudge:
    """Apply a calibration to a judge.

    Args:
        judge: The judge, its name, or a framework's model: see `resolve_judge`.
        calibration: The calibration, or the path of its file.

    Returns:
        A judge with the probabilities and labels of the calibration.

    Raises:
        InputError: The file has no calibration, or the calibration maps no probabilities. The calibration is of another
            judge, or the judge already has one.
    """
    from assay.judges.resolve import resolve_judge

    return CalibratedJudge(resolve_judge(judge), calibration)


class CalibratedJudge(BaseJudge):
    """A judge whose verdicts have the probabilities and labels of a calibration. See `calibrate_judge`.

    A verdict without a probability stays as it is, and so do prompts of kinds that have no map. One that is affirmed
    no more becomes the denial of its kind; of claims, `not_mentioned`.
    """

    def __init__(self, judge: BaseJudge, calibration: CalibrationSpec, store: JudgementStore | None = None) -> None:
        self.calibration = calibration if isinstance(calibration, Calibration) else Calibration.load(calibration)
        self.judge = judge
        if isinstance(judge, CalibratedJudge):
            raise InputError("calibration: this judge has one already; calibrate the judge beneath")
        if judge.fingerprint != self.calibration.judge:
            raise InputError(
                f"calibration: it was made for {self.calibration.judge}, this judge is {judge.fingerprint}; align "
                "labels with this judge's own verdicts (assay judge align --write)"
            )
        if not self.calibration.maps:
            raise InputError("calibration: it maps no probabilities; it has thresholds of metrics alone")
        self._store = store
        self._beneath: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, JudgementCache] = (
            weakref.WeakKeyDictionary()
        )
        self.free = judge.free
        self.budgeted, self.sees, self.samples_at_once = judge.budgeted, judge.sees, judge.samples_at_once
        self.rows_in_flight = judge.rows_in_flight
        # with a store the judgements are there under the name of the judge beneath
        self.durable = judge.durable and store is None

    def __repr__(self) -> str:
        return f"CalibratedJudge({self.judge!r}, {sorted(self.calibration.maps)}, made {self.calibration.made})"

    @property
    def _hash(self) -> str:
        maps = {kind: one.to_dict() for kind, one in self.calibration.maps.items()}
        return fingerprint([maps, _MAPS])[:12]

    @property
    def fingerprint(self) -> str:
        return f"{self.judge.fingerprint}#calibrated-{self._hash}"

    @property
    def address(self) -> str:
        return f"{self.judge.address}#calibrated-{self._hash}"

    @property
    def detects_contradiction(self) -> bool:
        return self.judge.detects_contradiction

    def with_store(self, store: JudgementStore) -> BaseJudge:
        """See `BaseJudge.with_store`: what the judge beneath found is kept, and used again, as its own."""
        return CalibratedJudge(self.judge, self.calibration, store)

    def with_probabilities(self) -> BaseJudge:
        return self

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        return self.judge.cannot(prompt, language)

    def add_instructions(self, prompt: JudgePrompt[Any]) -> JudgePrompt[Any]:
        return self.judge.add_instructions(prompt)

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        return self.judge.groups(prompts)

    async def prepare(self) -> None:
        await self.judge.prepare()

    def session_for(self, run: Host) -> AbstractAsyncContextManager[None]:
        return self.judge.session_for(run)

    async def release(self) -> None:
        await self.judge.release()

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """See `BaseJudge.answer`."""
        return await asyncio.gather(*(self._one(prompt) for prompt in prompts))

    async def _one(self, prompt: JudgePrompt[Any]) -> Answer:
        loop = asyncio.get_running_loop()
        if loop not in self._beneath:
            self._beneath[loop] = JudgementCache(self.judge, self._store)
        meter = Meter()
        token = METER.set(meter)
        try:
            judgement = await self._beneath[loop].find(prompt)
        except JudgeFailure as failure:
            return Answer(failure=failure, usage=meter.usage)
        finally:
            METER.reset(token)
        return Answer(judgement=self._mapped(prompt, judgement), usage=meter.usage)

    def _mapped(self, prompt: JudgePrompt[Any], judgement: Any) -> Any:
        kind = kind_of(prompt)
        one = self.calibration.maps.get(kind)
        verdicts = prompt.verdicts(judgement)
        if one is None or not verdicts or kind not in DENIALS:
            return judgement
        yes, no = prompt.labels()[0], DENIALS[kind]
        mapped = tuple(_verdict(verdict, one, yes, no) for verdict in verdicts)
        return mapped[0] if isinstance(judgement, Verdict) else prompt.with_part(judgement, range(len(mapped)), mapped)


def _verdict(verdict: Verdict, one: ProbabilityMap, yes: str, no: str) -> Verdict:
    cells = tuple(_cell(cell, one) for cell in verdict.cells)
    if verdict.probability is None:
        return replace(verdict, cells=cells)
    p = one(verdict.probability)
    return replace(verdict, probability=p, label=_label(verdict.label, p, one, yes, no), cells=cells)


def _cell(cell: Cell, one: ProbabilityMap) -> Cell:
    if cell.probability is None:
        return cell
    p = one(cell.probability)
    label = _label(cell.label, p, one, "supported", "not_mentioned")
    return Cell(label=label, probability=p)  # type: ignore[arg-type]


def _label(label: str, p: float, one: ProbabilityMap, yes: str, no: str) -> str:
    if p >= one.threshold:
        return yes
    return no if label == yes else label
