"""Functions without `@assay.metric` as metrics."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from assay import ScriptedJudge, evaluate
from assay.errors import Cause, InputError
from assay.metrics.names import resolve_metrics
from assay.prompts import Question

ROWS = [{"question": "Where is Ulm?", "answer": "On the Danube."}]


def short(answer):
    return len(answer) < 5


async def on_topic(answer, judge):
    return await judge.find(Question("Does the ANSWER name a place?", {"ANSWER": answer}))


def optional(answer, reference="none"):
    return reference == "none"


def wrong_return(answer):
    return [answer]


def misspelt(anser):
    return 1.0


def many(*answer):
    return 1.0


def keywords(**answer):
    return 1.0


def positional(answer, /):
    return 1.0


def limited(answer, limit=5):
    return 1.0


def nothing():
    return 1.0


class Checks:
    def has_text(self, answer):
        return bool(answer)

    def __call__(self, answer):
        return 1.0


def score_of(function: Any) -> Any:
    result = evaluate(
        ROWS, metrics=[function], judge=ScriptedJudge(question=lambda *_: "yes"), store=None, progress=False
    )
    (row,) = result
    (score,) = row.scores.values()
    return score


def test_a_plain_function_is_a_metric() -> None:
    score = score_of(short)
    assert (score.metric, score.value) == ("short", 0.0)  # 14 characters are not fewer than 5


def test_one_function_needs_no_list() -> None:
    assert [metric.label for metric in resolve_metrics(short)] == ["short"]


def test_an_async_function_asks_the_judge() -> None:
    assert score_of(on_topic).value == 1.0  # "yes" is the affirmative label


def test_a_method_is_a_metric() -> None:
    score = score_of(Checks().has_text)
    assert (score.metric, score.value) == ("has_text", 1.0)


def test_a_field_with_a_default_is_optional() -> None:
    assert score_of(optional).value == 1.0  # the row has no reference


def test_a_wrong_value_is_skipped_and_names_the_function() -> None:
    error = score_of(wrong_return).error
    assert error.cause is Cause.BUG
    assert "wrong_return returned list" in error.message


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            misspelt,
            r"misspelt\(\): parameter 'anser' is no field of a sample; did you mean 'answer'\?.*question, contexts",
        ),
        (limited, r"limited\(\): parameter 'limit' is no field of a sample; .*question, contexts"),
        (many, r"many\(\): parameter '\*answer' cannot be passed by name"),
        (keywords, r"keywords\(\): parameter '\*\*answer' cannot be passed by name"),
        (positional, r"positional\(\): parameter 'answer' cannot be passed by name"),
        (nothing, r"nothing\(\) has no parameter"),
        (lambda answer: 1.0, r"a lambda has no name; .*assay\.metric\(name="),
        (functools.partial(limited, limit=3), r"functools\.partial.* has no name"),
        (Checks(), r"Checks object.* has no name"),
        (Checks.has_text, r"has_text\(\): parameter 'self' is no field of a sample"),
        (print, r"print\(\): parameter '\*args' cannot be passed by name"),
        (Checks, r"expected names, metrics or functions, got <class"),
        (dict.get, r"get\(\)"),
    ],
)
def test_other_callables_are_refused_before_anything_is_asked(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve_metrics([function])
