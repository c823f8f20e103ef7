"""What every sink promises, as checks that take a bench: a sink under test, and the store behind it.

`check_sink` runs those that need no more than a sink and a way to read its store. A bench of one's own can say more
(faults of a service, what leaves the process) and gets more checks:

    @pytest.mark.parametrize("check", checks_for(MyBench), ids=lambda check: check.__name__)
    def test_contract(check, ...): check(MyBench(...))
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from assay.errors import Cause, Undelivered
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, ScoreError, Span, Verdict
from assay.sinks import Receipt, Sink
from assay.testing.assertions import expect, raised, same

ANSWER = "Paris has 2.1 million inhabitants. The number of the owner is 4929-1234."
PASSAGE = "Paris, the capital, has 2.1 million inhabitants."
QUESTION = "How many people live in Paris, and who asks is Ada Lovelace?"
REASON = "The passage names the very number of Paris."
MESSAGE = "the judge said: Ada Lovelace would know"
SECRET_NUMBER = "4929-1234"  # noqa: S105  a card's, not a password

#: No piece of these may leave where texts are hidden.
TEXTS = (ANSWER, PASSAGE, QUESTION, REASON, MESSAGE)
WORDS = ("Paris", "million", "inhabitants", "Lovelace", "4929", "very number", "would know", "raw reply")


def exchange(ids: Mapping[str, str], id: str = "sample-1", value: float = 0.5) -> ScoredSample:
    """Make a scored sample: a measured score with evidence, one of another metric, and one without a measurement.

    Args:
        ids: Ids of the sample's origin.
        id: Id of the sample.
        value: Value of its faithfulness, in [0, 1].

    Returns:
        The sample with its scores: faithfulness, hallucination and context_recall (timeout).
    """
    first, second = ANSWER.index("The"), len(ANSWER)
    verdicts = (
        Verdict(
            label="supported",
            probability=0.93,
            claim=Claim(text=ANSWER[: first - 1], span=Span(0, first - 1)),
            evidence=(Evidence(passage=0, span=Span(0, len(PASSAGE)), text=PASSAGE),),
            reason=REASON,
        ),
        Verdict(label="not_mentioned", claim=Claim(text=ANSWER[first:], span=Span(first, second))),
    )
    return ScoredSample(
        sample=Sample(
            id=id,
            question=QUESTION,
            answer=ANSWER,
            contexts=(Context(text=PASSAGE, id="c1"),),
            ids=ids,
            metadata={"ended": 1_772_366_400.0, "user": "Ada Lovelace"},
        ),
        scores={
            "faithfulness": Score(
                metric="faithfulness",
                value=value,
                verdicts={"answer/contexts": verdicts},
                parts={"supported": 1.0, "claims": 2.0},
                judge="judge-a",
            ),
            "hallucination": Score(metric="hallucination", value=0.0, direction="lower", judge="judge-a"),
            "context_recall": Score(
                metric="context_recall",
                error=ScoreError(cause=Cause.TIMEOUT, message=MESSAGE, raw="raw reply"),
                judge="judge-a",
            ),
        },
    )


@dataclass
class StoredScore:
    """One score as the store has it.

    Attributes:
        name: Label of the metric.
        value: The value; None where there is no measurement.
        cause: Why there is no measurement; None where there is one.
        id: Id of the score in the store.
        explanation: Explanation of the score.
        evidence: Evidence of the score, as JSON values.
    """

    name: str
    value: float | None
    cause: str | None
    id: str | None = None
    explanation: str | None = None
    evidence: list[dict[str, Any]] = field(default_factory=list)


class Bench(ABC):
    """A sink and its store, for `checks_for`.

    The class attributes say what the store can do. Checks that need anything else are left out.

    Attributes:
        upserts: Whether the same id twice is one score.
        confirms: Whether a write that went well counts as confirmed.
        masks: Whether the sink takes `mask`.
        faults: Ways in which the store may fail, as names that `fault` takes. Empty: the store is no remote service.
        readable: Whether the sink reads back what it wrote.
        ids: What a sample needs in `ids` to have a place in the store.
        secrets: Texts that must never be seen in logs and errors.
    """

    upserts: ClassVar[bool] = True
    readable: ClassVar[bool] = True
    confirms: bool = True
    masks: ClassVar[bool] = True
    #: the sink tells a refusal from trouble that may pass, and sees a queue's limit
    faults: ClassVar[Collection[str]] = ()
    ids: Mapping[str, str] = MappingProxyType({})
    secrets: ClassVar[Collection[str]] = ()

    @abstractmethod
    def sink(self, **options: Any) -> Sink:
        """Make the sink under test.

        Args:
            **options: Options of the sink besides the usual ones, such as `mask`.

        Returns:
            The sink.
        """

    @abstractmethod
    def stored_scores(self) -> list[StoredScore]:
        """List the scores that the store has now.

        Returns:
            All scores.
        """

    @abstractmethod
    def wire(self) -> bytes:
        """Collect the bytes that left the process.

        Returns:
            All of them.
        """

    def fault(self, *names: str) -> None:
        """Make the next writes fail.

        Args:
            *names: Names of `faults`, one for each of the next writes.
        """
        raise NotImplementedError

    def tries(self) -> int:
        """Count the writes that came to the store, whatever became of them.

        Returns:
            The number of writes.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Take the store down."""
        raise NotImplementedError

    def next_day(self) -> None:  # noqa: B027  most stores ask no clock of their own
        """Let the store's clock go on by a day."""

    def problems(self) -> list[str]:
        """List what the real service would not have taken.

        Returns:
            One text for each problem; empty: none.
        """
        return []

    def key(self, id: str) -> str:
        """Convert the id of a sample of these checks to one that the store takes.

        Args:
            id: The id.

        Returns:
            The same id, unless a subclass changes it.
        """
        return id

    def scored(self, id: str = "sample-1", value: float = 0.5) -> ScoredSample:
        """Make a scored sample with the ids of this store. See `exchange`.

        Args:
            id: Id of the sample, before `key`.
            value: Value of its faithfulness, in [0, 1].

        Returns:
            The sample with its scores.
        """
        return exchange(self.ids, self.key(id), value)

    def one(self, name: str) -> StoredScore:
        """Look up the one score of a name in the store.

        Args:
            name: Label of the metric.

        Returns:
            The score.

        Raises:
            AssertionError: There is none, or more than one.
        """
        found = [held for held in self.stored_scores() if held.name == name]
        expect(len(found) == 1, f"expected one score {name!r} in the store, found {found}")
        return found[0]


Check = Callable[[Bench], None]


def checks_for(bench: type[Bench]) -> list[Check]:
    """Select the checks that apply to a store.

    Args:
        bench: The sink and its store.

    Returns:
        Functions that take a bench.
    """
    found = list(ALWAYS)
    found += REMOTE if bench.faults else []
    found += [check for fault, check in BY_FAULT.items() if fault in bench.faults]
    found += [check_forgotten_is_undelivered] if bench.readable and "forget" in bench.faults else []
    found += [check_same_write_is_one_score, check_new_value_replaces] if bench.upserts else [check_same_write_same_id]
    found += [check_mask, check_failing_mask] if bench.masks else []
    return found


# ---- always ----


def check_values_arrive(bench: Bench) -> None:
    sink = bench.sink()
    expect(isinstance(sink, Sink), f"a sink has the methods write and close; {type(sink).__name__} has not")
    receipt = sink.write(bench.scored())
    if receipt is not None or bench.confirms:
        same(receipt, Receipt(sent=3, confirmed=3 if bench.confirms else 0), "the receipt of a write of three scores")
    sink.close()
    same((bench.one("faithfulness").value, bench.one("faithfulness").cause), (0.5, None), "value and cause of a score")
    same(bench.one("hallucination").value, 0.0, "the value of a score of 0.0")
    same(len(bench.stored_scores()), 3, "scores in the store")
    _no_problems(bench)


def check_skipped_is_no_number(bench: Bench) -> None:
    _write(bench, bench.scored())
    error = bench.one("context_recall")
    same((error.value, error.cause), (None, "timeout"), "value and cause of a skipped score")
    _no_problems(bench)


def check_evidence_arrives(bench: Bench) -> None:
    _write(bench, bench.scored())
    held = bench.one("faithfulness")
    by_label = {one["label"]: one for one in held.evidence}
    same(set(by_label), {"supported", "not_mentioned"}, "labels of the evidence")
    same(by_label["supported"].get("claim"), "Paris has 2.1 million inhabitants.", "the claim in the evidence")
    same(by_label["supported"]["quotes"][0]["text"], PASSAGE, "the quote in the evidence")
    if held.explanation is not None:
        expect("0.500" in held.explanation, f"the explanation does not tell the value: {held.explanation!r}")


def check_many_claims_stay_within_limits(bench: Bench) -> None:
    """300 claims of 400 characters make 120,000 characters: more than stores take as metadata of one score."""
    claims = [Claim(text=f"{n:04d} " + "x" * 395, span=Span(0, 400)) for n in range(300)]
    verdicts = tuple(Verdict(label="supported", claim=claim) for claim in claims)
    score = Score(metric="faithfulness", value=1.0, verdicts={"answer/contexts": verdicts}, judge="judge-a")
    sample = Sample(id=bench.key("long"), question="?", answer="!", contexts=(), ids=bench.ids)
    _write(bench, ScoredSample(sample=sample, scores={"faithfulness": score}))
    held = bench.one("faithfulness")
    same(held.value, 1.0, "the value of a score with much evidence")
    if held.explanation is not None:  # else the store is our own, and keeps all
        expect(len(held.explanation) <= 4_000, f"an explanation of {len(held.explanation)} characters; 4,000 at most")
        size = len(json.dumps(held.evidence))
        expect(size <= 20_000, f"evidence of {size} characters; 20,000 at most")
    expect(held.evidence, "no evidence was kept of a score that has much")
    _no_problems(bench)


def check_texts_can_be_left_out(bench: Bench) -> None:
    _write(bench, bench.scored(), texts=False)
    same(bench.one("faithfulness").value, 0.5, "the value without texts")
    same(bench.one("context_recall").cause, "timeout", "the cause without texts")
    _is_free_of(bench.wire(), *TEXTS, *WORDS)


def check_closing_twice_is_fine(bench: Bench) -> None:
    sink = bench.sink()
    sink.write(bench.scored())
    sink.close()
    sink.close()
    same(len(bench.stored_scores()), 3, "scores in the store after closing twice")


def check_works_after_fork(bench: Bench) -> None:
    """The parent has written, so that its clients are open; the child writes another sample, and so does the parent."""
    sink = bench.sink()
    sink.write(bench.scored("parent"))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            receipt = sink.write(_other(bench, "child"))
            fine = receipt == Receipt(sent=1, confirmed=1 if bench.confirms else 0)
            status = 0 if fine or (receipt is None and not bench.confirms) else 2
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    same(status, 0, "exit of the child that wrote after a fork (1: the write raised, see stderr; 2: a wrong receipt)")
    sink.write(_other(bench, "parent-again"))
    sink.close()
    names = sorted(held.name for held in bench.stored_scores())
    expected = ["child", "context_recall", "faithfulness", "hallucination", "parent-again"]
    same(names, expected, "scores in the store after a fork")


# ---- the same write again ----


def check_same_write_is_one_score(bench: Bench) -> None:
    """Five writes, by as many sinks, over a change of date."""
    for _ in range(5):
        _write(bench, bench.scored())
        bench.next_day()
    names = sorted(held.name for held in bench.stored_scores())
    same(names, ["context_recall", "faithfulness", "hallucination"], "scores after five equal writes")
    _no_problems(bench)


def check_new_value_replaces(bench: Bench) -> None:
    _write(bench, bench.scored(value=0.5))
    bench.next_day()
    _write(bench, bench.scored(value=0.25))
    same(bench.one("faithfulness").value, 0.25, "the value after it was written anew")


def check_same_write_same_id(bench: Bench) -> None:
    """Where a store only appends, the ids tell that two are one."""
    for _ in range(5):
        _write(bench, bench.scored())
        bench.next_day()
    ids = {(held.name, held.id) for held in bench.stored_scores()}
    names = sorted(name for name, _ in ids)
    same(names, ["context_recall", "faithfulness", "hallucination"], "different ids of five equal writes")


# ---- hidden texts ----


def check_mask(bench: Bench) -> None:
    def mask(text: str) -> str:
        return text.replace(SECRET_NUMBER, "[number]").replace("Ada Lovelace", "[name]")

    _write(bench, bench.scored(), mask=mask)
    _is_free_of(bench.wire(), SECRET_NUMBER, "Ada Lovelace")
    expect("[number]" in json.dumps(bench.one("faithfulness").evidence), "the evidence was not masked")
    expect(b"[name]" in bench.wire(), "the other texts were not masked")


def check_failing_mask(bench: Bench) -> None:
    """A mask that fails lets nothing through, and its own message does not either."""

    def mask(text: str) -> str:
        raise RuntimeError(text)

    sink = bench.sink(mask=mask)
    error = raised(lambda: sink.write(bench.scored()), Exception, "a write whose mask fails")
    expect("mask" in str(error), "the error of a mask that fails does not name the mask")
    sink.close()
    same(bench.stored_scores(), [], "what the store has after a mask failed")
    _is_free_of("".join(traceback.format_exception(error)).encode(), *TEXTS)


# ---- trouble ----


def check_down_is_undelivered(bench: Bench) -> None:
    bench.stop()
    _loses(bench, {"faithfulness", "hallucination", "context_recall"}, attempts=2)


def check_nothing_has_no_place_without_ids(bench: Bench) -> None:
    """A sample that the store cannot place is skipped and counted; sinks that place all samples write it."""
    sink = bench.sink()
    receipt = sink.write(exchange({}, bench.key("sample-1")))
    sink.close()
    if receipt is None:  # a sink without receipts takes all
        receipt = Receipt(sent=3)
    counts = (receipt.sent, receipt.skipped)
    expect(counts in ((0, 3), (3, 0)), f"three scores without ids are either sent or skipped, not {receipt}")
    same(len(bench.stored_scores()), receipt.sent, "scores in the store of a sample without ids")


def check_dry_run_sends_nothing(bench: Bench) -> None:
    told: list[str] = []
    sink = bench.sink(dry_run=lambda target, annotations: told.extend(one.name for one in annotations))
    same(sink.write(bench.scored()), Receipt(skipped=3), "the receipt of a dry run")
    sink.close()
    same(told, ["faithfulness", "hallucination", "context_recall"], "what a dry run tells")
    same(bench.stored_scores(), [], "what the store has after a dry run")
    same(bench.tries(), 0, "requests of a dry run")


def check_delay(bench: Bench) -> None:
    bench.fault("delay")
    check_values_arrive(bench)


def check_dropped_then_fine(bench: Bench) -> None:
    bench.fault("drop")
    check_values_arrive(bench)


def check_limited_then_fine(bench: Bench) -> None:
    bench.fault("limited")
    check_values_arrive(bench)


def check_broken_then_fine(bench: Bench) -> None:
    bench.fault("broken", "broken")
    check_values_arrive(bench)


def check_lost_reply_makes_no_second(bench: Bench) -> None:
    """The store has it, the sink does not know, and sends it again."""
    bench.fault("lose_reply")
    sink = bench.sink()
    sink.write(bench.scored())
    sink.close()
    same(len({(held.name, held.id) for held in bench.stored_scores()}), 3, "different scores after a lost reply")
    expect(len(bench.stored_scores()) == 3 or not bench.upserts, "a lost reply left a second score")


def check_dropped_for_good_is_undelivered(bench: Bench) -> None:
    bench.fault(*["drop"] * 100)
    _loses(bench, {"faithfulness", "hallucination", "context_recall"}, attempts=2)


def check_refused_is_not_tried_again(bench: Bench) -> None:
    bench.fault(*["reject"] * 100)
    before = bench.tries()
    _loses(bench, {"faithfulness", "hallucination", "context_recall"}, patience=20.0)
    tries = bench.tries() - before
    expect(tries in (1, 3), f"a refusal was tried {tries} times; once for all scores, or once for each, is right")


def check_forgotten_is_undelivered(bench: Bench) -> None:
    """The store says that it took them, and has none."""
    bench.fault(*["forget"] * 100)
    _loses(bench, {"faithfulness", "hallucination", "context_recall"})


def _loses(bench: Bench, names: set[str], **options: Any) -> None:
    """The write lists what was lost by name, and says no secret: neither in the error nor in any log."""
    heard: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(self.format(record))

    listener, root = Listener(), logging.getLogger()
    level = root.level
    root.addHandler(listener)
    root.setLevel(logging.DEBUG)
    sink = bench.sink(**{"patience": 0.5, **options})
    try:
        error = raised(lambda: sink.write(bench.scored()), Undelivered, "a write that cannot arrive")
        sink.close()
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    same(set(error.scores), names, "the scores that the error names as lost")
    same(bench.stored_scores(), [], "what the store has after a write that failed")
    expect(all(name in str(error) for name in names), f"the error does not name the scores: {error}")
    said = "".join(traceback.format_exception(error))
    for secret in bench.secrets:
        expect(secret not in said, "the error tells a secret")
        expect(not any(secret in line for line in heard), "a log line tells a secret")
    _is_free_of(said.encode(), *TEXTS)


def _write(bench: Bench, scored: ScoredSample, **options: Any) -> None:
    sink = bench.sink(**options)
    sink.write(scored)
    sink.close()


def _no_problems(bench: Bench) -> None:
    same(bench.problems(), [], "what the service would not have taken")


def _other(bench: Bench, name: str) -> ScoredSample:
    scored = bench.scored(name)
    return ScoredSample(sample=scored.sample, scores={name: Score(metric=name, value=1.0, judge="judge-a")})


def _is_free_of(data: bytes, *texts: str) -> None:
    for text in texts:
        for form in (text.encode(), json.dumps(text)[1:-1].encode()):
            expect(form not in data, f"{text!r} left where texts are hidden")


ALWAYS: list[Check] = [
    check_values_arrive,
    check_skipped_is_no_number,
    check_evidence_arrives,
    check_many_claims_stay_within_limits,
    check_texts_can_be_left_out,
    check_closing_twice_is_fine,
    check_works_after_fork,
    check_nothing_has_no_place_without_ids,
]
REMOTE: list[Check] = [check_down_is_undelivered, check_dry_run_sends_nothing]
BY_FAULT: dict[str, Check] = {
    "delay": check_delay,
    "drop": check_dropped_then_fine,
    "drop_for_good": check_dropped_for_good_is_undelivered,
    "limited": check_limited_then_fine,
    "broken": check_broken_then_fine,
    "lose_reply": check_lost_reply_makes_no_second,
    "reject": check_refused_is_not_tried_again,
}
ALL_FAULTS = frozenset({*BY_FAULT, "forget"})
