"""A cascade: a cheap judge answers, and what it is not sure of goes to a better one, verdict by verdict.

plan = calibrate("answers.jsonl", then="openai:MODEL", agreement=0.95)     # assay.analysis.judges.calibrate_cascade
judge = CascadeJudge(plan=plan)
evaluate(data, judge=judge)
print(judge.report().text())
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from assay._util.forks import own_lock
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.cascade.items import NOTHING, Band, in_doubt, kind_of, may_escalate, route
from assay.judges.cascade.plan import CascadePlan, name_of
from assay.judges.cascade.report import CascadeReport
from assay.judges.guarded_call import ask_judge
from assay.judges.protocol import Answer, Host
from assay.prompts import JudgePrompt
from assay.records import Usage, fingerprint

#: Raise it when verdicts are divided or joined differently: stored judgements are then asked for anew.
RULES = 1

#: Kinds of prompt that one band is for, where it is not said which.
_KINDS = ("support", "usefulness", "useful_sentences", "criterion", "checklist", "question")


class CascadeJudge(BaseJudge):
    """A cascade: `first` answers, and each verdict that it is in doubt about is decided by `then`.

    Where `first` gives no probability or cannot answer: ratings go to `then`; texts (claims, questions) are `first`'s
    where it writes or splits them, and so is directness, which has no band; what `first` cannot answer, or fails on, is
    `then`'s. A verdict is all of one judge: its cells and quotes come from the judge of its label.

    It detects contradictions where both judges do, or where `then` does and the band of support begins at 0, so that
    nothing that `first` does not support is left to it.

    Args:
        first: A judge or its name ("embedded", "openai:MODEL"). With a plan both may be left out.
        then: The same.
        band: (low, high): verdicts whose probability (of supported, useful, yes) lies from low up to, not including,
            high go to `then`; (0, 1) is all of them, equal ends are none. Or a band for each kind: {"support": (0.1,
            0.9), "usefulness": ...}; a kind without one goes to `then` whole.
        plan: The bands that a calibration chose, or its file, in place of `band`.
        on_failure: What happens when `then` fails on a verdict in doubt: "fail" makes the question fail; "first" takes
            the answer of `first`, does not store it, and counts it in `report`.

    Raises:
        InputError: Arguments do not fit, or the plan was made for other judges.
    """

    def __init__(
        self,
        first: JudgeSpec = None,
        then: JudgeSpec = None,
        *,
        band: Band | Mapping[str, Band] | None = None,
        plan: CascadePlan | str | Path | None = None,
        on_failure: Literal["fail", "first"] = "fail",
    ) -> None:
        if (band is None) == (plan is None):
            raise InputError(
                "cascade: give either band=(low, high) or plan=..., which "
                "assay.analysis.judges.calibrate_cascade.calibrate makes"
            )
        if on_failure not in ("fail", "first"):
            raise InputError(f"on_failure: expected 'fail' or 'first', got {on_failure!r}")
        self.plan = CascadePlan.load(plan) if isinstance(plan, (str, Path)) else plan
        specs = self.plan.specs if self.plan is not None else {"first": "embedded"}
        options = self.plan.options if self.plan is not None else {}
        self.first = _judge(first, "first", specs, options).with_probabilities()
        self.then = _judge(then, "then", specs, options)
        self.bands = _bands(band) if self.plan is None else {name: b.band for name, b in self.plan.bands.items()}
        self.on_failure = on_failure
        self.durable = self.first.durable and self.then.durable
        self.budgeted = self.first.budgeted and self.then.budgeted
        if self.plan is not None:
            self._check(self.plan)
        held = [judge.rows_in_flight for judge in (self.first, self.then) if judge.rows_in_flight is not None]
        self.rows_in_flight = max(held, default=None)
        self.sees = self.then.sees  # what the first cannot be shown goes to the second
        self._told = CascadeReport()
        self._lock = own_lock(self)
        self._fingerprint: str | None = None

    @classmethod
    def of_plan(cls, path: str | Path, **options: Any) -> Self:
        """Make the cascade of a plan.

        Args:
            path: File of the plan.
            options: Further options of its second judge (api_key, ...). A key needs an address from you (`base_url`)
                where the plan names one: a file does not decide where a key goes.

        Returns:
            The judge.

        Raises:
            InputError: The file is no plan, or an option does not fit.
        """
        from assay.judges.resolve import resolve_judge

        plan = CascadePlan.load(path)
        spec = plan.specs.get("then")
        if spec is None:
            raise InputError(f"cascade plan: {str(path)!r} does not say how to make its second judge: pass then=...")
        return cls(plan=plan, then=resolve_judge(spec, **plan.with_options("then", options)))

    def __repr__(self) -> str:
        return f"CascadeJudge({self.first!r}, {self.then!r}, band={self.bands!r})"

    @property
    def fingerprint(self) -> str:
        if self._fingerprint is None:  # loads the models of an embedded judge
            first, then = self.first.fingerprint, self.then.fingerprint
            hashed = fingerprint([RULES, self.first.address, self.then.address, self.bands])[:16]
            self._fingerprint = f"cascade/{name_of(first)}/{name_of(then)}#{hashed}"
        return self._fingerprint

    @property
    def detects_contradiction(self) -> bool:
        low, high = self.bands.get("support", (0.0, 1.0))
        return self.then.detects_contradiction and (self.first.detects_contradiction or low <= 0.0 < high)

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Explain why the cascade does not answer a kind of question.

        Args:
            prompt: The kind of question.
            language: Code of the text's language.

        Returns:
            The failure, with the remedy. None when the cascade answers it. A kind that may go to the second judge must
            be one that the second judge answers.
        """
        if may_escalate(prompt) or self.first.cannot(prompt, language) is not None:
            return self.then.cannot(prompt, language)  # any verdict may come to it
        return None

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Group questions as the second judge does, so that none waits for a call about another sample.

        Args:
            prompts: Questions that came up together.

        Returns:
            The groups.
        """
        return self.then.groups(prompts)

    async def prepare(self) -> None:
        for judge in (self.first, self.then):
            await judge.prepare()

    def session_for(self, run: Host) -> AbstractAsyncContextManager[None]:
        """Open a session of both judges for one run.

        Args:
            run: The run.

        Returns:
            A context manager.
        """
        return self._session(run)

    @asynccontextmanager
    async def _session(self, run: Host) -> AsyncIterator[None]:
        async with self.first.session_for(run), self.then.session_for(run):
            yield

    async def release(self) -> None:
        await self.first.release()
        await self.then.release()

    def report(self) -> CascadeReport:
        """Count which judge decided what since this judge was made, in this process. Cached judgements do not count.

        Returns:
            The counters.
        """
        with self._lock:
            return self._told

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Answer questions: the first judge, then the second where a verdict is in doubt.

        Args:
            prompts: The questions.

        Returns:
            One answer each, in order: a judgement or a failure.
        """
        work = [_CascadeItem(prompt, self._route(prompt)) for prompt in prompts]
        begun = [one for one in work if one.route != "then"]
        for one, answer in zip(begun, await ask_judge(self.first, [one.prompt for one in begun]), strict=True):
            one.take_first(answer, self.bands.get(kind_of(one.prompt), NOTHING))
        asking = [(one, one.second) for one in work if one.second is not None]
        answers = await ask_judge(self.then, [second for _, second in asking])
        for (one, _), answer in zip(asking, answers, strict=True):
            one.take_second(answer, self.on_failure == "first")
        alone = any(self.then.cannot(type(prompt)) is None for prompt in prompts)
        self._tell(work, CascadeReport(calls_alone=int(alone or bool(asking)), calls=int(bool(asking))))
        return [one.answer for one in work]

    def _tell(self, work: Sequence[_CascadeItem], told: CascadeReport) -> None:
        told = sum((one.told() for one in work), told)
        with self._lock:
            self._told += told

    def _route(self, prompt: JudgePrompt[Any]) -> str:
        wanted = route(prompt, self.first, self.then)
        return "then" if wanted == "both" and kind_of(prompt) not in self.bands else wanted

    def _check(self, plan: CascadePlan) -> None:
        for role, judge, known in (("first", self.first, plan.first), ("second", self.then, plan.then)):
            if judge.address != known:
                raise InputError(
                    f"cascade plan: it was made for {known} as {role} judge, this is {judge.address}; calibrate "
                    "again, or take its bands with band=plan.bands if you know that they hold"
                )


@dataclass(slots=True, eq=False)
class _CascadeItem:
    """One prompt on its way through the cascade. `second` is what of it goes to the second judge."""

    prompt: JudgePrompt[Any]
    route: str
    second: JudgePrompt[Any] | None = None
    answer: Answer = field(default_factory=Answer)
    first_usage: Usage = field(default_factory=Usage)
    then_usage: Usage = field(default_factory=Usage)
    doubtful: tuple[int, ...] = ()
    decided: int = 0
    kept: int = 0

    def __post_init__(self) -> None:
        if self.route == "then":
            self.second = self.prompt

    def take_first(self, answer: Answer, band: Band) -> None:
        self.answer, self.first_usage = answer, answer.usage
        if answer.failure is not None:
            self.second = self.prompt
        elif self.route == "both":
            verdicts = self.prompt.verdicts(answer.judgement)
            self.doubtful = tuple(n for n, verdict in enumerate(verdicts) if in_doubt(verdict.probability, band))
            self.decided = len(verdicts) - len(self.doubtful)
            self.second = self.prompt.part(self.doubtful) if self.doubtful else None

    def take_second(self, answer: Answer, first_instead: bool) -> None:
        self.then_usage = answer.usage
        cost = self.first_usage + answer.usage
        if not self.doubtful:
            before = self.answer.failure
            cannot = answer.failure is not None and answer.failure.cause is Cause.JUDGE_CANNOT
            # of a judge that failed and one that cannot, what went wrong with the first says more
            self.answer = Answer(failure=before, usage=cost) if before and cannot else replace(answer, usage=cost)
        elif answer.failure is None:
            judgement = self.prompt.with_part(self.answer.judgement, self.doubtful, answer.judgement)
            self.answer = Answer(judgement=judgement, usage=cost, keep=answer.keep and self.answer.keep)
        elif first_instead:
            self.kept, self.answer = len(self.doubtful), replace(self.answer, usage=cost, keep=False)
        else:
            self.answer = Answer(failure=answer.failure, usage=cost)

    def told(self) -> CascadeReport:
        kind = self.prompt.name
        return CascadeReport(
            decided={kind: self.decided},
            escalated={kind: len(self.doubtful)},
            kept={kind: self.kept},
            passed_on={kind: int(self.second is not None and not self.doubtful)},
            first_usage=self.first_usage,
            then_usage=self.then_usage,
        )


def _judge(
    given: JudgeSpec, role: str, specs: Mapping[str, str], options: Mapping[str, Mapping[str, Any]]
) -> BaseJudge:
    from assay.judges.resolve import resolve_judge

    if given is not None:
        return resolve_judge(given)
    if role not in specs:
        raise InputError(f"cascade: {role}=... is missing: a judge, or its name, for example 'openai:MODEL'")
    return resolve_judge(specs[role], **options.get(role, {}))


def _bands(band: Any) -> dict[str, Band]:
    named = dict(band) if isinstance(band, Mapping) else dict.fromkeys(_KINDS, band)
    unknown = sorted(set(named) - set(_KINDS))
    if unknown or not named:
        raise InputError(f"band: expected a pair or a band for {', '.join(_KINDS)}, got one for {unknown}")
    return {name: _ends(name, one) for name, one in named.items()}


def _ends(name: str, band: Any) -> Band:
    band = getattr(band, "band", band)  # of a plan
    try:
        low, high = (float(end) for end in band)
    except (TypeError, ValueError):
        raise InputError(f"band: expected (low, high) for {name}, got {band!r}") from None
    if not 0.0 <= low <= high <= 1.0:
        raise InputError(f"band: expected 0 <= low <= high <= 1 for {name}, got {band!r}")
    return low, high
