"""A guard decides within its deadline, whatever the judge does, and says what it decided and why."""

from __future__ import annotations

import asyncio
import gc
import itertools
import math
import multiprocessing
import pickle
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._util import loop_threads as loops
from assay.errors import Cause, InputError
from assay.judges.base import BaseJudge
from assay.judges.embedded.judge import EmbeddedJudge
from assay.judges.protocol import Answer, Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live.guards import Guard, GuardBlocked, GuardDecision, guard
from assay.live.guards.verdict import misses, outcome_of
from assay.metrics.base import Metric
from assay.records import Context, Sample, Score, ScoreError

PASS: dict[str, Any] = {"on_timeout": "pass", "on_error": "pass", "on_skipped": "pass"}
PASSAGE = "Cats purr when they are calm. The Eiffel Tower was built in 1889."
LONG = 3600.0


def sample(answer: str | None = "Cats purr when they are calm.", **fields: Any) -> Sample:
    return Sample(question="Why do cats purr?", contexts=(Context(text=PASSAGE),), answer=answer, **fields)


class Misbehaving(BaseJudge):
    """Does what it is told, on the guard's own thread."""

    durable = False
    fingerprint = "misbehaving"

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act
        self.cancelled = threading.Event()

    async def answer(self, prompts: Sequence[Any]) -> Sequence[Answer]:
        try:
            result = self.act()
            if asyncio.iscoroutine(result):
                await result
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return await ScriptedJudge(support=lambda claim, passage: "supported").answer(prompts)


@dataclass(frozen=True)
class Fixed(Metric):
    """A value that stands in the answer: "0.3 0.9" gives `first` 0.3 and `second` 0.9; "hang" never ends."""

    name: ClassVar[str] = "fixed"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()
    place: int = 0

    @property
    def label(self) -> str:
        return ("first", "second")[self.place]

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        word = (sample.answer or "").split()[self.place]
        if word == "hang":
            await asyncio.sleep(LONG)
        if word == "break":
            raise LookupError("no such thing")
        if word == "none":
            return self.skip(Cause.NOT_APPLICABLE, "nothing to see")
        return self.make_score(float(word))


@dataclass(frozen=True)
class FixedLower(Fixed):
    direction: ClassVar[Any] = "lower"


@pytest.fixture
def make() -> Iterator[Callable[..., Guard]]:
    made: list[Guard] = []

    def one(metrics: Any = "faithfulness", judge: Any = None, **options: Any) -> Guard:
        judge = judge or ScriptedJudge(support=lambda claim, passage: "supported")
        made.append(guard(metrics, judge, **{**PASS, **options}))
        return made[-1]

    yield one
    for each in made:
        each.close()


# -- what it decides -------------------------------------------------------------------------------------------------


def test_embedded_judge_lets_the_supported_answer_pass_and_blocks_the_other() -> None:
    careful = guard(threshold=0.8, deadline=60, fallback="I did not find that.", **PASS)
    good = careful.check(sample("Cats purr when they are calm."))
    bad = careful.check(sample("Cats purr when they are calm. Dogs were tamed by Napoleon in 1802."))
    assert (good.allowed, good.outcome, good.failed) == (True, "passed", ())
    assert re.fullmatch(
        r"passed: faithfulness = 1\.000 \(mean_probability 0\.9\d+\), at least 0\.8 wanted", good.headline
    )
    # one of two claims is supported: 1/2 is below 0.8
    assert (bad.allowed, bad.outcome, bad.failed) == (False, "blocked", ("faithfulness",))
    assert bad.headline.startswith("blocked: faithfulness = 0.500 (mean_probability 0.")
    assert "Dogs were tamed by Napoleon in 1802." in bad.reason
    assert bad.scored is not None
    assert bad.scored.values == {"faithfulness": 0.5}
    assert careful.replacement(bad) == "I did not find that."
    careful.close()


@pytest.mark.parametrize(
    ("metric", "value", "allowed"),
    [
        (Fixed(), "0.6", True),
        (Fixed(), "0.5", True),  # equal to the threshold keeps it
        (Fixed(), "0.4", False),
        (FixedLower(), "0.4", True),
        (FixedLower(), "0.5", True),
        (FixedLower(), "0.6", False),
    ],
)
def test_threshold_goes_by_the_direction_of_the_metric(make: Any, metric: Metric, value: str, allowed: bool) -> None:
    decision = make(metric, threshold=0.5).check(sample(value))
    assert (decision.allowed, decision.outcome) == (allowed, "passed" if allowed else "blocked")
    assert ("at most 0.5 wanted" in decision.reason) == (metric.direction == "lower")


def test_hallucination_blocks_above_its_threshold(make: Any) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if "calm" in claim else "not_mentioned")
    decision = make("hallucination", judge, threshold=0.4).check(sample("Cats are calm. Dogs bark."))
    # one of two claims is not supported: 1/2 is above 0.4
    assert decision.headline == "blocked: hallucination = 0.500, at most 0.4 wanted"


@pytest.mark.short_cases(2)
@pytest.mark.parametrize(
    ("answer", "outcome", "failed"),
    [
        ("0.9 0.9", "passed", ()),
        ("0.9 0.1", "blocked", ("second",)),
        ("0.1 0.1", "blocked", ("first", "second")),
        ("0.9 hang", "timeout", ()),
        ("0.1 hang", "blocked", ("first",)),  # what is measured and bad decides, whatever becomes of the other
        ("0.9 none", "skipped", ()),
        ("0.1 none", "blocked", ("first",)),
        ("0.9 break", "error", ()),
        ("none break", "error", ()),
        ("none hang", "timeout", ()),
        ("break hang", "timeout", ()),
    ],
)
def test_several_metrics(make: Any, answer: str, outcome: str, failed: tuple[str, ...]) -> None:
    both = make([Fixed(), Fixed(place=1)], threshold={"first": 0.5, "second": 0.3}, deadline=1.0)
    decision = both.check(sample(answer))
    assert (decision.outcome, decision.failed) == (outcome, failed)
    assert decision.allowed == (outcome != "blocked")
    assert decision.scored is not None
    assert set(decision.scored.scores) == {"first", "second"}


CASES = {
    "hang": ("timeout", "on_timeout"),
    "none": ("skipped", "on_skipped"),
    "break": ("error", "on_error"),
    "0.9": ("passed", None),
    "0.1": ("blocked", None),
}


@pytest.mark.parametrize("answer", CASES)
@pytest.mark.parametrize(("on_timeout", "on_error", "on_skipped"), [*itertools.product(("pass", "block"), repeat=3)])
def test_the_outcome_is_as_stated(make: Any, answer: str, on_timeout: str, on_error: str, on_skipped: str) -> None:
    outcome, setting = CASES[answer]
    stated = {"on_timeout": on_timeout, "on_error": on_error, "on_skipped": on_skipped}
    one = make(Fixed(), deadline=0.3 if answer == "hang" else 60, **stated)
    decision = one.check(sample(answer))
    settings = {**stated, None: "pass" if outcome == "passed" else "block"}
    assert (decision.outcome, decision.allowed) == (outcome, settings[setting] == "pass")
    assert decision.headline.startswith(outcome)
    if setting is not None:
        assert decision.headline.endswith(
            f"{'let pass' if settings[setting] == 'pass' else 'blocked'}, as {setting} says"
        )
    assert getattr(one.health(), outcome) == 1
    assert one.health().allowed == decision.allowed


@pytest.mark.parametrize(
    ("one", "cause"),
    [
        (sample("I don't know."), Cause.NO_CLAIMS),
        (sample(None), Cause.MISSING_INPUT),
        (Sample(question="q", answer="a", contexts=()), Cause.NO_CONTEXT),
        (sample("Cats purr.", language="pl"), Cause.LANGUAGE),
        (sample("Cats purr.", status="abandoned"), Cause.PARTIAL),
    ],
)
def test_what_cannot_be_measured_is_skipped_with_its_cause(make: Any, one: Sample, cause: Cause) -> None:
    careful = make(judge=EmbeddedJudge(), deadline=60, on_skipped="block")
    decision = careful.check(one)
    assert (decision.outcome, decision.allowed) == ("skipped", False)
    assert careful.health().causes == {cause.value: 1}
    assert f"({cause.value})" in decision.reason


# -- judges that misbehave -------------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_a_judge_that_raises_is_an_error_and_the_guard_goes_on(make: Any, error: BaseException) -> None:
    judge = Misbehaving(raising(error))
    one = make(judge=judge, deadline=30)
    assert one.check(sample()).outcome == "error"
    judge.act = lambda: None
    assert one.check(sample()).outcome == "passed"


async def test_a_judge_that_hangs_is_cancelled_at_the_deadline(make: Any) -> None:
    judge = Misbehaving(lambda: asyncio.sleep(LONG))
    one = make(judge=judge, deadline=0.2)
    decision = await one.acheck(sample())
    assert decision.outcome == "timeout"
    assert 0.2 <= decision.seconds < LONG
    assert judge.cancelled.wait(20)
    assert (one.health().late, one.health().pending) == (1, 0)


def test_a_judge_that_will_not_be_cancelled_holds_up_nobody(make: Any) -> None:
    free = threading.Event()

    async def stubborn() -> None:
        while not free.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    judge = Misbehaving(stubborn)
    one = make(judge=judge, deadline=1.0)
    assert one.check(sample()).outcome == "timeout"
    judge.act = lambda: None
    assert one.check(sample("Another answer.")).outcome == "passed"
    free.set()


@pytest.mark.long
def test_a_judge_that_blocks_the_thread_is_left_behind(make: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(loops, "STUCK_AFTER", 0.1)
    free = threading.Event()
    judge = Misbehaving(free.wait)
    one = make(judge=judge, deadline=1.0)
    try:
        # the first finds the loop free and takes its thread; the second finds it silent, and gives it up
        assert [one.check(sample(f"Answer {n}.")).outcome for n in range(2)] == ["timeout"] * 2
        judge.act = lambda: None
        assert one.check(sample("Answer 3.")).outcome == "passed"
        assert one.health().stuck == 1
    finally:
        free.set()


def test_only_so_many_threads_are_left_behind(make: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(loops, "STUCK_AFTER", 0.02)
    monkeypatch.setattr(loops, "LEFT_BEHIND", 2)
    free = threading.Event()
    one = make(judge=Misbehaving(free.wait), deadline=0.1)
    before = threading.active_count()
    try:
        assert {one.check(sample(f"Answer {n}.")).outcome for n in range(10)} == {"timeout"}
        assert one.health().stuck == 2
        assert threading.active_count() <= before + 3
    finally:
        free.set()


def test_no_thread_to_be_had_is_an_error_not_an_exception(make: Any, monkeypatch: Any) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    one = make()
    monkeypatch.setattr(threading.Thread, "start", start)
    decision = one.check(sample())
    assert (decision.outcome, decision.allowed, decision.scored) == ("error", True, None)
    assert one.health().errors == {"RuntimeError": 1}
    assert not one.warm_up()


def test_a_bug_of_ours_is_an_error_not_an_exception(make: Any, monkeypatch: Any) -> None:
    one = make(on_error="block")
    monkeypatch.setattr("assay.live.guards.threshold_guard.outcome_of", lambda *_: 1 / 0)
    decision = one.check(sample())
    assert (decision.outcome, decision.allowed) == ("error", False)
    assert decision.headline == "error: the guard failed (ZeroDivisionError); blocked, as on_error says"


# -- threads, loops, processes ---------------------------------------------------------------------------------------


def answer_of(number: int) -> tuple[str, str]:
    return [("0.9", "passed"), ("0.1", "blocked"), ("none", "skipped"), ("break", "error")][number % 4]


def test_fifty_threads_at_once(make: Any) -> None:
    one = make(Fixed(), deadline=60)
    together = threading.Barrier(50)

    def ask(number: int) -> str:
        together.wait()
        return str(one.check(sample(answer_of(number)[0], id=str(number))).outcome)

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, range(50))) == [answer_of(number)[1] for number in range(50)]
    health = one.health()
    # 50 = 13 + 13 + 12 + 12
    assert (health.checks, health.passed, health.blocked, health.skipped, health.error) == (50, 13, 13, 12, 12)
    assert (health.pending, health.late) == (0, 0)


async def test_fifty_tasks_at_once_with_the_embedded_judge(make: Any) -> None:
    one = make(judge=EmbeddedJudge(), threshold=1.0, deadline=60)

    def asked(number: int) -> Sample:
        passage = f"Cat number {number} purrs when it is calm."
        answer = passage if number % 2 == 0 else f"Dogs were tamed by Napoleon in {number}."
        return Sample(question="Why do cats purr?", contexts=(Context(text=passage),), answer=answer)

    decisions = await asyncio.gather(*(one.acheck(asked(number)) for number in range(50)))
    assert [decision.outcome for decision in decisions] == ["passed", "blocked"] * 25


async def test_the_callers_loop_stays_free(make: Any) -> None:
    asked, free = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def wait_for_the_host() -> None:
        asked.set()
        done = asyncio.run_coroutine_threadsafe(free.wait(), loop)
        await asyncio.wrap_future(done)

    one = make(judge=Misbehaving(wait_for_the_host), deadline=60)
    task = asyncio.create_task(one.acheck(sample()))
    await asyncio.to_thread(asked.wait)
    assert not task.done()
    free.set()
    assert (await task).outcome == "passed"


async def test_sync_check_inside_a_running_loop(make: Any) -> None:
    assert make(Fixed()).check(sample("0.9")).outcome == "passed"


def test_one_guard_serves_many_loops(make: Any) -> None:
    one = make(Fixed())
    assert [asyncio.run(one.acheck(sample("0.9"))).outcome for _ in range(3)] == ["passed"] * 3


async def test_a_cancelled_caller_withdraws(make: Any) -> None:
    started = threading.Event()

    async def hang() -> None:
        started.set()
        await asyncio.sleep(LONG)

    judge = Misbehaving(hang)
    one = make(judge=judge, deadline=60)
    task = asyncio.create_task(one.acheck(sample()))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(judge.cancelled.wait, 20)
    health = one.health()
    assert (health.checks, health.withdrawn, health.pending, health.late) == (1, 1, 0, 0)


WHOSE: ContextVar[str] = ContextVar("whose", default="nobody's")


def test_the_judge_does_not_run_in_the_requests_context(make: Any) -> None:
    seen: list[str] = []
    one = make(judge=Misbehaving(lambda: seen.append(WHOSE.get())), deadline=60)
    token = WHOSE.set("the request's")
    try:
        assert one.check(sample()).allowed
    finally:
        WHOSE.reset(token)
    assert set(seen) == {"nobody's"}


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork_the_child_has_a_guard_of_its_own(make: Any) -> None:
    one = make(Fixed(), deadline=30)
    assert one.check(sample("0.9")).outcome == "passed"
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()

    def child() -> None:
        outcomes = [one.check(sample(answer)).outcome for answer in ("0.9", "0.1")]
        results.put((outcomes, one.health().checks))

    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert results.get() == (["passed", "blocked"], 2)
    # and the parent's goes on as before
    assert one.check(sample("0.1")).outcome == "blocked"
    assert one.health().checks == 2


def threads_of_guards() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "assay-guard"}


def test_closed_and_forgotten_guards_leave_no_thread() -> None:
    before = threads_of_guards()
    closed, forgotten = guard(Fixed(), ScriptedJudge(), **PASS), guard(Fixed(), ScriptedJudge(), **PASS)
    assert closed.check(sample("0.9")).allowed
    assert forgotten.check(sample("0.9")).allowed
    mine = threads_of_guards() - before
    assert len(mine) == 2
    closed.close()
    decision = closed.check(sample("0.9"))
    assert (decision.outcome, decision.reason.splitlines()[1]) == ("error", "RuntimeError: the guard is closed")
    gone = weakref.ref(forgotten)
    del forgotten
    gc.collect()
    assert gone() is None
    for thread in mine:
        thread.join(20)
        assert not thread.is_alive()


# -- what is around a decision ---------------------------------------------------------------------------------------


def test_fallbacks(make: Any) -> None:
    blocked = make(Fixed(), fallback=lambda decision: f"no: {decision.failed[0]}")
    decision = blocked.check(sample("0.1"))
    assert blocked.replacement(decision) == "no: first"
    with pytest.raises(GuardBlocked, match=r"^blocked: first = 0\.100, at least 0\.5 wanted$") as caught:
        make(Fixed()).replacement(decision)
    assert caught.value.decision is decision
    assert pickle.loads(pickle.dumps(caught.value)).decision == decision


def test_a_fallback_that_raises_does_not_let_the_answer_out(make: Any) -> None:
    broken = make(Fixed(), fallback=lambda decision: 1 / 0)
    with pytest.raises(GuardBlocked) as caught:
        broken.replacement(broken.check(sample("0.1")))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert broken.health().errors == {"ZeroDivisionError": 1}


def test_every_decision_is_told(make: Any) -> None:
    told: list[GuardDecision] = []
    one = make(Fixed(), on_decision=told.append)
    assert [one.check(sample("0.9")), one.check(sample("0.1"))] == told


def test_a_listener_that_raises_harms_nobody(make: Any) -> None:
    one = make(Fixed(), on_decision=lambda decision: 1 / 0)
    assert one.check(sample("0.9")).outcome == "passed"
    assert one.health().errors == {"ZeroDivisionError": 1}


def test_a_decision_survives_json(make: Any) -> None:
    decision = make(Fixed()).check(sample("0.1"))
    assert GuardDecision.from_dict(decision.to_dict()) == decision


def test_warm_up_says_whether_the_judge_answers(make: Any) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    ready, broken = make(judge=judge), make(judge=Misbehaving(raising(ValueError("no"))))
    assert ready.warm_up()
    assert not broken.warm_up()
    assert not make(judge=Misbehaving(lambda: asyncio.sleep(LONG))).warm_up(timeout=0.1)
    assert judge.asked["support"] == 1
    assert ready.health().checks == 0


def test_equal_questions_are_judged_once(make: Any) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    one = make(judge=judge)
    assert one.check(sample()).outcome == one.check(sample()).outcome == "passed"
    assert judge.asked["support"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "fathfulness"}, "did you mean 'faithfulness'"),
        ({"metrics": "answer_relevancy", "judge": EmbeddedJudge()}, "can never score 'answer_relevancy'"),
        ({"judge": "gpt"}, "judge: expected"),
        ({"threshold": 1.5}, "threshold: expected a number from 0 to 1 for 'faithfulness', got 1.5"),
        ({"threshold": math.nan}, "threshold: expected a number"),
        ({"threshold": True}, "threshold: expected a number"),
        ({"threshold": "0.5"}, "threshold: expected a number"),
        ({"threshold": {"hallucination": 0.5}}, "threshold: there is no metric 'hallucination' here"),
        ({"threshold": {}}, "threshold: none is given for 'faithfulness'"),
        ({"deadline": 0}, "deadline: expected a positive number of seconds, got 0"),
        ({"deadline": math.inf}, "deadline: expected"),
        ({"deadline": None}, "deadline: expected"),
        ({"on_timeout": "raise"}, "on_timeout: expected 'pass' or 'block', got 'raise'"),
        ({"on_error": True}, "on_error: expected"),
        ({"on_skipped": None}, "on_skipped: expected"),
        ({"fallback": 3}, "fallback: expected a text"),
        ({"fallback": asyncio.sleep}, "fallback: expected a plain function"),
        ({"on_decision": "print"}, "on_decision: expected a function"),
    ],
)
def test_wrong_arguments_are_named(make: Any, options: dict[str, Any], message: str) -> None:
    options = {"judge": ScriptedJudge(support=lambda claim, passage: "supported"), **options}
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        make(**options)


@pytest.mark.parametrize("left_out", [("on_timeout",), ("on_error",), ("on_skipped",), tuple(PASS)])
def test_what_a_guard_does_without_a_score_has_no_default(left_out: tuple[str, ...]) -> None:
    said = {name: setting for name, setting in PASS.items() if name not in left_out}
    with pytest.raises(InputError, match="'pass' or 'block'") as caught:
        guard("faithfulness", ScriptedJudge(), **said)
    assert [name for name in PASS if f"{name}=" in str(caught.value)] == [*left_out]


def test_wrong_samples_are_named(make: Any) -> None:
    with pytest.raises(InputError, match="sample: expected a Sample, got dict"):
        make(Fixed()).check({"answer": "a"})


# -- the arithmetic --------------------------------------------------------------------------------------------------

values = st.floats(0, 1)
scores = st.dictionaries(
    st.sampled_from("abcd"),
    st.builds(
        lambda value, cause, lower: Score(
            metric="m",
            value=value,
            error=None if value is not None else ScoreError(cause=cause, message="m"),
            direction="lower" if lower else "higher",
        ),
        st.none() | values,
        st.sampled_from(Cause),
        st.booleans(),
    ),
    min_size=1,
)


@given(values, values)
def test_a_value_misses_on_one_side_only(value: float, threshold: float) -> None:
    higher = misses(Score(metric="m", value=value), threshold)
    lower = misses(Score(metric="m", value=value, direction="lower"), threshold)
    assert not (higher and lower)
    assert (higher or lower) == (value != threshold)


@given(scores, values)
def test_nothing_passes_without_a_measurement(found: dict[str, Score], threshold: float) -> None:
    outcome, failed = outcome_of(found, dict.fromkeys(found, threshold))
    assert (outcome == "passed") == (
        all(score.value is not None for score in found.values())
        and not any(misses(score, threshold) for score in found.values())
    )
    assert (outcome == "blocked") == bool(failed)
    assert all(found[name].value is not None for name in failed)


@pytest.mark.parametrize("metric", ["deepeval:faithfulness@original", "ragchecker:faithfulness@original"])
def test_a_value_by_convention_is_no_measurement_to_a_guard(make: Callable[..., Guard], metric: str) -> None:
    """Of an answer without claims the one says 1, the other 0: neither lets it pass or blocks it."""
    judge = ScriptedJudge(claims=lambda text: (), support=lambda claim, passage: "supported")
    decision = make(metric, judge, threshold=0.5).check(sample("I do not know."))
    assert decision.outcome == "skipped"
    assert "by convention" in decision.reason
