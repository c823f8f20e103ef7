"""A metric as a plain function: what its parameters mean, and what it may return."""

from __future__ import annotations

import asyncio
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Sample, Score, evaluate
from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation.score_sample import score_sample
from assay.judges.base import BaseJudge
from assay.judges.protocol import Answer
from assay.metrics import Metric, metric
from assay.prompts import JudgePrompt, Question, RatingResult
from assay.records import Context, ScoreError, Turn, Usage, Verdict

SAMPLE = Sample(
    question="Where is Ulm?",
    contexts=(Context(text="Ulm lies on the Danube."), Context(text="Ulm is old.")),
    answer="On the Danube.",
    reference="In Germany.",
    reference_contexts=(Context(text="Germany has Ulm."),),
    history=(Turn(question="Hello?", answer="Hi."),),
    metadata={"user": 7},
    id="ulm",
)


class Asked(BaseJudge):
    """Answers every `Question` by a rule, and counts."""

    budgeted = True

    def __init__(self, rule: Any = True) -> None:
        self.rule = rule if callable(rule) else lambda question: rule
        self.asked: list[Question] = []

    fingerprint = "asked"

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked += prompts  # type: ignore[arg-type]
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: Any) -> Answer:
        said = self.rule(prompt.question)
        if isinstance(said, JudgeFailure):
            return Answer(failure=said, usage=Usage(calls=1))
        return Answer(judgement=prompt.apply_rule(self.rule), usage=Usage(calls=1))


@metric
def short(answer: str) -> bool:
    """Whether the answer is short."""
    return len(answer) < 20


@metric
async def polite(answer: str, judge: Any) -> Verdict:
    return await judge.find(Question("Is the tone of the ANSWER polite?", {"ANSWER": answer}))


async def value_of(made: Metric, sample: Sample = SAMPLE, judge: BaseJudge | None = None) -> Any:
    scored = await score_sample(sample, [made], judge or Asked())
    score = scored.scores[made.label]
    return score.value if score.error is None else (score.error.cause, score.error.message)


def returning(value: Any, **options: Any) -> Metric:
    @metric(name="mine", **options)
    def mine() -> Any:
        return value

    return mine


def test_the_decorated_function_is_a_metric_and_still_a_function() -> None:
    assert (short.label, short.needs, short.direction) == ("short", ("answer",), "higher")
    assert short("tiny") is True
    assert short.__doc__ == "Whether the answer is short."
    assert repr(short) == "metric(short)"
    assert pickle.loads(pickle.dumps(short)) is short
    assert {short: 1}[short] == 1


def test_functions_and_names_go_together(judge, tmp_path):
    rows = [{"question": "q", "contexts": ["Rome is old."], "answer": "Rome is old."}]
    result = evaluate(rows, [short, "faithfulness"], judge, store=tmp_path)
    assert {name: summary.mean for name, summary in result.metrics.items()} == {"short": 1.0, "faithfulness": 1.0}


async def test_parameters_are_given_what_their_names_say() -> None:
    seen = {}

    @metric
    def everything(sample, question, contexts, answer, reference, reference_contexts, history, metadata, id, judge):
        seen.update(locals())
        return 1

    assert await value_of(everything) == 1.0
    assert everything.needs == ("question", "contexts", "answer", "reference", "reference_contexts")
    assert seen["sample"] is SAMPLE
    assert seen["contexts"] == ("Ulm lies on the Danube.", "Ulm is old.")
    assert seen["reference_contexts"] == ("Germany has Ulm.",)
    assert (seen["question"], seen["answer"], seen["reference"]) == ("Where is Ulm?", "On the Danube.", "In Germany.")
    assert (seen["history"], seen["metadata"], seen["id"]) == (SAMPLE.history, {"user": 7}, "ulm")


async def test_what_a_function_needs_and_a_sample_lacks_is_said_without_calling_it() -> None:
    @metric
    def compared(answer: str, reference: str) -> float:
        raise AssertionError("called")

    assert await value_of(compared, Sample(answer="a")) == (
        Cause.MISSING_INPUT,
        "compared needs 'reference', which is missing",
    )
    assert (await value_of(compared, Sample(answer=" ", reference="r")))[0] == Cause.NO_CLAIMS


async def test_a_parameter_with_a_default_is_optional() -> None:
    @metric
    def compared(answer: str, reference: str = "none", limit: int = 3) -> bool:
        return reference == "none" and limit == 3

    assert compared.needs == ("answer",)
    assert await value_of(compared, Sample(answer="a")) == 1.0
    assert await value_of(compared, Sample(answer="a", reference="r")) == 0.0


async def test_needs_can_be_given() -> None:
    @metric(needs=())
    def found_anything(contexts: tuple[str, ...] | None) -> bool:
        return bool(contexts)

    assert await value_of(found_anything, Sample(contexts=())) == 0.0
    assert await value_of(found_anything, Sample()) == 0.0
    assert await value_of(found_anything) == 1.0


@pytest.mark.parametrize(
    ("returned", "value"),
    [(True, 1.0), (False, 0.0), (0, 0.0), (1, 1.0), (0.25, 0.25), (np.float32(0.5), 0.5), (np.True_, 1.0),
     (np.array(0.5), 0.5), (Verdict(label="yes"), 1.0), (Verdict(label="not_mentioned"), 0.0),
     (Score(metric="x", value=0.75), 0.75), (RatingResult(level=1), 1.0)],
)  # fmt: skip
async def test_what_comes_back_is_the_value(returned: Any, value: float) -> None:
    assert await value_of(returning(returned)) == value


async def test_a_score_takes_the_name_of_its_metric() -> None:
    scored = await score_sample(SAMPLE, [returning(Score(metric="x", value=2.0, high=5.0))], Asked())
    assert (scored.scores["mine"].metric, scored.scores["mine"].high) == ("mine", 5.0)


async def test_a_level_is_a_value_in_the_range_of_its_metric() -> None:
    level = RatingResult(level=4, expected=3.75, reason="Nearly all of it.")
    scored = await score_sample(SAMPLE, [returning(level, low=1, high=5)], Asked())
    score = scored.scores["mine"]
    assert (score.value, score.parts, score.texts) == (3.75, {"level": 4.0}, {"reason": ("Nearly all of it.",)})


async def test_a_reason_in_place_of_a_number() -> None:
    reason = ScoreError(cause=Cause.NOT_APPLICABLE, message="no numbers to compare")
    assert await value_of(returning(reason)) == (Cause.NOT_APPLICABLE, "no numbers to compare")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, r"mine returned nothing \(None\); expected a number"),
        ("0.5", "mine returned str '0.5'; expected a number"),
        ([1], "mine returned list"),
        ({"score": 1}, "mine returned dict"),
        (math.nan, "mine returned NaN, which is no number"),
        (np.nan, "mine returned NaN"),
        (1.5, "mine returned 1.5, outside its range 0 to 1; give it low= and high="),
        (math.inf, "outside its range"),
        (10**400, "outside its range"),
        (1j, "mine returned complex"),
        (np.array([1.0]), "mine returned ndarray"),
        (Verdict(label="formal"), "of no question that it asked"),
    ],
)
async def test_anything_else_is_a_bug_with_a_name(returned: Any, message: str) -> None:
    import re

    cause, said = await value_of(returning(returned))
    assert cause == Cause.BUG
    assert re.search(message, said)


async def test_an_exception_is_a_bug_with_a_name() -> None:
    @metric
    def broken(answer: str) -> float:
        raise ZeroDivisionError("division by zero")

    assert await value_of(broken) == (Cause.BUG, "broken raised ZeroDivisionError: division by zero")


@given(st.floats(allow_nan=False), st.floats(-10, 0), st.floats(1, 10))
def test_a_number_is_a_value_within_the_range_and_nowhere_else(number: float, low: float, high: float) -> None:
    found = asyncio.run(value_of(returning(number, low=low, high=high)))
    assert found == number if low <= number <= high else found[0] == Cause.BUG


# ---- asking the judge ----


async def test_a_question_in_one_line() -> None:
    judge = Asked(lambda question: "polite" in question)
    scored = await score_sample(SAMPLE, [polite], judge)
    score = scored.scores["polite"]
    assert (score.value, score.judge, score.usage.calls) == (1.0, "asked", 1)
    assert [verdict.label for verdict in score.verdicts["polite"]] == ["yes"]
    assert judge.asked == [Question("Is the tone of the ANSWER polite?", {"ANSWER": "On the Danube."})]


async def test_labels_of_ones_own_count_by_the_first() -> None:
    @metric
    async def formal(answer: str, judge: Any) -> Verdict:
        labels = {"Very formal": "as in a letter", "casual": "as among friends", "rude": ""}
        return await judge.find(Question("What tone has the ANSWER?", {"ANSWER": answer}, labels=labels))

    assert await value_of(formal, judge=Asked("very formal")) == 1.0
    assert await value_of(formal, judge=Asked("casual")) == 0.0
    assert await value_of(formal, judge=Asked("rude")) == 0.0


async def test_a_failed_question_is_skipped_for_its_reason() -> None:
    failing = Asked(lambda question: JudgeFailure(Cause.TIMEOUT, "too slow"))
    assert await value_of(polite, judge=failing) == (Cause.TIMEOUT, "too slow")


def test_an_own_question_is_cached_and_explained(tmp_path):
    rows = [{"id": "a", "answer": "Thank you!"}]
    first = evaluate(rows, [polite], judge := Asked(), store=tmp_path)
    again = evaluate(rows, [polite], Asked(), store=tmp_path)
    assert (len(judge.asked), again.cache_hits, again.usage.calls) == (1, 1, 0)
    text = str(first.explain("a"))
    assert "polite = 1.000" in text
    assert "yes" in text.splitlines()[-1]


async def test_a_reason_is_shown_by_explain(tmp_path):
    class Reasoned(Asked):
        def _one(self, prompt: Any) -> Answer:
            return Answer(judgement=Verdict(label="no", reason="It insults the reader."))

    result = evaluate([{"id": "a", "answer": "Idiot."}], [polite], Reasoned(), store=tmp_path)
    assert "It insults the reader." in str(result.explain("a"))


async def test_the_judge_that_cannot_is_not_asked_where_the_metric_says_what_it_asks() -> None:
    class Unable(Asked):
        def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure:
            return JudgeFailure(Cause.JUDGE_CANNOT, f"cannot {prompt.name}")

    @metric(asks=(Question,))
    async def mine(answer: str, judge: Any) -> Verdict:
        raise AssertionError("called")

    assert await value_of(mine, judge=Unable()) == (Cause.JUDGE_CANNOT, "cannot question")


# ---- what cannot be a metric ----


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: metric(lambda answer: 1), "a function without a name needs metric"),
        (lambda: metric(3), "expected a function, got 3"),  # type: ignore[call-overload]
        (lambda: metric(Score), "expected a function"),
        (lambda: metric(short), "expected a function"),
        (lambda: metric(name="m")(lambda anwser: 1), "parameter 'anwser' is none of .*did you mean 'answer'"),
        (lambda: metric(name="m")(lambda answer, /: 1), "parameter 'answer'"),
        (lambda: metric(name="m", direction="up")(lambda: 1), "direction: expected 'higher' or 'lower'"),  # type: ignore[call-overload]
        (lambda: metric(name="m", low=1.0)(lambda: 1), "low below high"),
        (lambda: metric(name="m", needs=["anwser"])(lambda: 1), "needs: expected fields of .*'anwser'"),
    ],
)
def test_what_cannot_be_a_metric_says_why(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_function_without_sample_fields_is_refused_before_the_judge_is_asked(judge, tmp_path):
    with pytest.raises(InputError, match=r"len\(\): parameter 'obj' cannot be passed by name"):
        evaluate([{"answer": "a"}], [len], judge, store=tmp_path)


# ---- metrics as classes, with as little as can be ----


class WordCount(Metric):
    """No name, no needs, no asks; a plain number."""

    async def measure(self, sample: Sample, judge: Any) -> float:
        return len((sample.answer or "").split()) / 10


async def test_a_class_needs_no_more_than_measure() -> None:
    assert (WordCount().label, WordCount().needs, WordCount().asks) == ("word_count", (), ())
    assert await value_of(WordCount()) == 0.3
    assert await value_of(WordCount(), Sample(answer="word " * 11)) == (
        Cause.BUG,
        "word_count returned 1.1, outside its range 0 to 1; give it low= and high=",
    )


def test_functions_score_live_traffic() -> None:
    from assay import LiveScorer
    from assay.sinks import MemorySink

    sink = MemorySink()
    live = LiveScorer([short, polite], Asked(), sinks=[sink])
    live.submit(SAMPLE)
    assert live.flush(30)
    live.close()
    assert [scored.values for scored in sink.written] == [{"short": 1.0, "polite": 1.0}]
