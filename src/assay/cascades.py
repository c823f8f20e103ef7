"""Calibrating a cascade: both judges on some of the user's own rows, and the bands with which they agree often enough.

plan = calibrate("answers.jsonl", "openai:MODEL", agreement=0.95)
plan.save("cascade.json")
evaluate("answers.jsonl", judge="cascade:cascade.json")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.budgets.budget import Budget, Prices
from assay.data import RowError, missing_columns, open_data
from assay.errors import InputError, JudgeFailure
from assay.evaluation import DEFAULT_METRICS, IN_FLIGHT, aevaluate
from assay.inquiries import Inquiry
from assay.judges import BaseJudge, resolve_judge
from assay.judges.asking import together
from assay.judges.base import METER, Answer, Meter
from assay.judges.cache import FindingCache, FindingStore
from assay.judges.cascade.agreement import Chosen, Point, at_least, choose_band, needed
from assay.judges.cascade.items import affirms, in_doubt, route
from assay.judges.cascade.plan import BandPlan, CascadePlan, Saving
from assay.metrics import Metric
from assay.metrics.registry import resolve
from assay.records import Sample, Usage, fingerprint
from assay.store import Store
from assay.sync import run_sync

LIMIT = 300  # rows

#: Options of a judge that a plan may hold; keys and headers never go into a file.
_OPEN = ("base_url", "embedding_model", "window_tokens", "max_questions", "azure_endpoint", "api_version")


def calibrate(data: Any, then: BaseJudge | str, first: BaseJudge | str = "embedded", **options: Any) -> CascadePlan:
    """The plan of a cascade, from the user's own rows. See `acalibrate` for the arguments."""
    return run_sync(lambda: acalibrate(data, then, first, **options))


async def acalibrate(
    data: Any,
    then: BaseJudge | str,
    first: BaseJudge | str = "embedded",
    *,
    agreement: float = 0.95,
    confidence: float = 0.95,
    metrics: Any = None,
    first_options: Mapping[str, Any] | None = None,
    then_options: Mapping[str, Any] | None = None,
    prices: Prices | None = None,
    store: Store | str | Path | None = ".assay",
    column_map: dict[str, str] | None = None,
    limit: int = LIMIT,
    seed: int = 0,
    budget: Budget | None = None,
    concurrency: int = IN_FLIGHT,
    progress: bool | None = None,
) -> CascadePlan:
    """Ask both judges what `metrics` ask of the first `limit` rows, and choose a band for each kind of verdict.

    agreement      share of verdicts on which the cascade is to agree with `then` (supported or not, useful or not)
    confidence     with which that is shown, for each kind by itself
    metrics        None: those of the usual ones that ask for verdicts and that the data allows
    first_options, then_options    options of judges that are given by name (base_url, api_key, ...)
    prices         dollars per million tokens of `then`, to tell what is saved
    store          folder that keeps the findings of both judges: calibrating again costs nothing
    seed           decides which rows order the bands and which test them

    The rows must be like those that the cascade will score. Fewer than some 50 cannot show much; where no band can be
    shown to reach the target, its reason says so and everything goes to `then`. Raises InputError for arguments that
    cannot work and where there was nothing to compare, JudgeFailure when a judge cannot be used at all.
    """
    for name, value in {"agreement": agreement, "confidence": confidence}.items():
        if not 0.0 < value < 1.0:
            raise InputError(f"{name}: expected a share between 0 and 1, got {value!r}")
    judges = {
        "first": resolve_judge(first, **first_options or {}).with_probabilities(),
        "then": resolve_judge(then, **then_options or {}),
    }
    if judges["first"].fingerprint == judges["then"].fingerprint:
        raise InputError("cascade: first and then are the same judge; it always agrees with itself")
    source = open_data(data, column_map=column_map, limit=limit)
    chosen = _chosen(metrics, source.columns)
    read = [row for _, row in source]
    rows: list[Sample] = [row for row in read if not isinstance(row, RowError)]
    if not rows:
        raise InputError("data: none of the rows can be read")
    kept = store if isinstance(store, Store) or store is None else Store(store)
    both = _Both(judges["first"], judges["then"], kept)
    await aevaluate(rows, chosen, both, store=None, budget=budget, concurrency=concurrency, progress=progress)
    if not both.points:
        said = f": {both.trouble}" if both.trouble else ""
        raise InputError(f"cascade: there are no verdicts of both judges to compare ({both.failures} failed){said}")
    bands = {
        kind: _band(points, choose_band(points, agreement, confidence, seed), agreement, confidence)
        for kind, points in sorted(both.points.items())
    }
    return CascadePlan(
        first=judges["first"].fingerprint,
        then=judges["then"].fingerprint,
        target=agreement,
        confidence=confidence,
        rows=len(rows),
        bands=bands,
        saving=_saving(both.asked, bands, prices),
        failures=both.failures,
        unreadable=len(read) - len(rows),
        seed=seed,
        specs={role: name for role, name in (("first", first), ("then", then)) if isinstance(name, str)},
        options={"first": _open(first_options), "then": _open(then_options)},
    )


@dataclass(slots=True)
class _Asked:
    """What was asked together of the second judge: each verdict's kind and first probability, and the cost."""

    verdicts: list[tuple[str, float | None]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


class _Both(BaseJudge):
    """Asks both judges for every verdict, goes on with what the second says, and keeps what both said."""

    durable = False  # the findings go into the store under the names of the two

    def __init__(self, first: BaseJudge, then: BaseJudge, store: FindingStore | None) -> None:
        self._first, self._then = first, then
        self._first_desk, self._then_desk = FindingCache(first, store), FindingCache(then, store)
        self.budgeted = first.budgeted and then.budgeted
        self.points: dict[str, list[Point]] = {}
        self.asked: list[_Asked] = []
        self.failures = 0
        self.trouble: str | None = None

    @property
    def fingerprint(self) -> str:
        return f"calibration/{self._first.fingerprint}/{self._then.fingerprint}"

    @property
    def tells_contradiction(self) -> bool:
        return self._then.tells_contradiction

    def cannot(self, inquiry: type[Inquiry[Any]], language: str = "en") -> JudgeFailure | None:
        if not inquiry.divisible and self._first.cannot(inquiry, language) is None:
            return None
        return self._then.cannot(inquiry, language)

    def groups(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Sequence[Inquiry[Any]]]:
        return self._then.groups(inquiries)

    async def release(self) -> None:
        await self._first.release()
        await self._then.release()

    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        asked = _Asked()
        answers: list[Answer] = await together([self._one(inquiry, asked) for inquiry in inquiries])
        if asked.verdicts:
            self.asked.append(asked)
        return answers

    async def _one(self, inquiry: Inquiry[Any], asked: _Asked) -> Answer:
        meter = Meter()
        METER.set(meter)  # the caller's meter gets the cost with the answer
        to = route(inquiry, self._first, self._then)
        try:
            if to == "first":
                return Answer(finding=await self._first_desk.find(inquiry), usage=meter.usage)
            finding = await self._then_desk.find(inquiry)
            if to == "both":
                asked.usage += meter.usage
                self._compare(inquiry, await self._first_desk.find(inquiry), finding, asked)
            return Answer(finding=finding, usage=meter.usage)
        except JudgeFailure as failure:
            if to == "both":
                self.failures, self.trouble = self.failures + 1, failure.message
            return Answer(failure=failure, usage=meter.usage)

    def _compare(self, inquiry: Inquiry[Any], ours: Any, theirs: Any, asked: _Asked) -> None:
        sample = fingerprint([section.text for section in inquiry.asked.material] if inquiry.asked else [])[:16]
        pairs = zip(inquiry.verdicts(ours), inquiry.verdicts(theirs), strict=True)
        for mine, other in pairs:
            point = Point(sample, mine.probability, affirms(inquiry, mine) == affirms(inquiry, other))
            self.points.setdefault(inquiry.name, []).append(point)
            asked.verdicts.append((inquiry.name, mine.probability))


def _chosen(metrics: Any, columns: frozenset[str]) -> Sequence[Metric]:
    """The metrics that ask for verdicts which can be divided; those given must be such."""
    wanted = resolve(DEFAULT_METRICS if metrics is None else metrics)
    asking = [m for m in wanted if any(inquiry.divisible for inquiry in m.asks)]
    chosen = [m for m in asking if metrics is not None or not missing_columns(columns, (m,))]
    if not chosen:
        present = ", ".join(sorted(columns))
        raise InputError(f"metrics: none asks for verdicts that two judges can be compared by; the data has {present}")
    return chosen


def _band(points: Sequence[Point], found: Chosen, target: float, confidence: float) -> BandPlan:
    low, high = found.band
    reason = None
    if not found.reached and at_least(0, found.effective, confidence) < target:
        reason = (
            f"{found.tested} of {len(points)} verdicts could test a band, as much as {found.effective} independent "
            f"ones; {needed(target, confidence)} independent verdicts or more are needed to show {target:.0%}"
        )
    elif not found.reached:
        reason = f"even where the first judge is surest, agreement on {target:.0%} could not be shown"
    return BandPlan(
        low=low,
        high=high,
        reached=found.reached,
        reason=reason,
        agreement=found.agreement,
        at_least=found.at_least,
        alone=found.alone,
        escalated=sum(in_doubt(point.probability, found.band) for point in points) / len(points),
        verdicts=len(points),
        tested=found.tested,
        effective=found.effective,
    )


def _saving(asked: Sequence[_Asked], bands: Mapping[str, BandPlan], prices: Prices | None) -> Saving:
    alone, cascade = Usage(), Usage()
    calls = 0
    for one in asked:
        doubtful = sum(in_doubt(probability, bands[kind].band) for kind, probability in one.verdicts)
        # nothing was spent where the findings were at hand: then what they cost is unknown
        usage = one.usage if one.usage.calls else Usage(prompt_tokens=None, completion_tokens=None, cached_tokens=None)
        alone += usage
        if doubtful:
            calls += 1
            cascade += _scaled(usage, doubtful / len(one.verdicts))
    known = _tokens(alone) is not None
    return Saving(
        calls_alone=len(asked),
        calls=calls,
        tokens_alone=_tokens(alone),
        tokens=_tokens(cascade) if known else None,
        dollars_alone=_dollars(alone, prices),
        dollars=_dollars(cascade, prices) if known else None,
    )


def _scaled(usage: Usage, share: float) -> Usage:
    """The usage of a request with this share of its verdicts: the prompt whole, of the reply the share."""
    written = usage.completion_tokens
    return Usage(
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=None if written is None else round(written * share),
        cached_tokens=usage.cached_tokens,
    )


def _tokens(usage: Usage) -> int | None:
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


def _dollars(usage: Usage, prices: Prices | None) -> float | None:
    if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return prices.of(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0) / 1e9


def _open(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options that may stand in a file. An address with a user, a password or a query may not."""
    known = {name: value for name, value in (options or {}).items() if name in _OPEN and value is not None}
    for name in ("base_url", "azure_endpoint"):
        parts = urlsplit(known.get(name, ""))
        if parts.username or parts.password or parts.query:
            known.pop(name)
    return known
