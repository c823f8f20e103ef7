"""Values that are no texts, in the evaluators of every tool: no number, no exception, and the same cause in all.

`assay.evaluation.adapters` reads what MLflow, Phoenix, LangSmith, LlamaIndex and LangChain hand over. Each way in gets
the same values in place of the answer, the reference and the contexts.
"""

from __future__ import annotations

import asyncio
import enum
import types
import uuid
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import assay_langchain
import assay_llama_index
import assay_mlflow
import assay_phoenix
import numpy as np
import pandas as pd
import pytest
from assay_langsmith import AssayEvaluator as LangSmithEvaluator
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from assay.judges.scripted_judge import ScriptedJudge

QUESTION = "Why do cats purr?"
PASSAGE = "Cats purr when calm."
#: A row on which each metric is 1: the answer and the reference are the passage.
ROW: dict[str, Any] = {"question": QUESTION, "answer": PASSAGE, "contexts": [PASSAGE], "reference": PASSAGE}
NEEDS = {
    "faithfulness": ("answer", "contexts"),
    "context_recall": ("reference", "contexts"),
    "langchain:exact_match": ("answer", "reference"),
}

# "nan" is supported by the passage "nan", and equals the text "nan": a value that becomes a text scores 1
JUDGE = ScriptedJudge(
    support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
    usefulness=lambda question, passage: True,
)

Outcome = tuple[float | None, str | None]
Score = Callable[[str, Mapping[str, Any]], Outcome]


class Unprintable:
    """An object whose text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Exiting:
    """An object of which every attribute ends the process."""

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(3)


class Closed:
    """An object that cannot even be looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("closed")


class Text(str):
    """A text of a class of its own."""


class Label(str, enum.Enum):  # noqa: UP042  # as people write it: its str() is "Label.SAID"
    """A text that is a member of an enumeration, as structured outputs have them."""

    SAID = PASSAGE


MISSING = {"nan": float("nan"), "None": None, "pd.NA": pd.NA, "pd.NaT": pd.NaT, "np.nan": np.float64("nan")}
MISSING |= {"a decimal that is none": Decimal("NaN"), "one that signals": Decimal("sNaN")}
NO_TEXTS = {
    "an exception": ValueError("timeout"),
    "a dict of a number": {"a": 1},
    "a list": [],
    "a list of a number": [1],
    "an object": object(),
    "bytes": b"x",
    "a float": 3.5,
    "a fraction": Fraction(7, 2),
    "a decimal": Decimal("3.5"),
    "an int": 7,
    "a bool": True,
    "an unprintable": Unprintable(),
    "a class": int,
}
EMPTY: dict[str, Any] = {"an empty dict": {}}
BLANK = {"empty": "", "blank": " "}
TEXTS = {"a text": PASSAGE, "a text of its own class": Text(PASSAGE), "an enumerated text": Label.SAID}

MISSING_CONTEXTS = {"a list of nan": [float("nan")], "a list of None": [None]}
NO_CONTEXTS = {
    "a dict": {},
    "an object": object(),
    "a list of an exception": [ValueError("timeout")],
    "an exception": ValueError("timeout"),
    "a list of an unprintable": [Unprintable()],
    "bytes": b"x",
    "a number": 3.5,
    "a fraction": Fraction(7, 2),
    "a decimal": Decimal("3.5"),
    "a bool": True,
    "an iterator": (passage for passage in [PASSAGE]),
}


def _expected(field: str) -> dict[str, tuple[Any, Outcome]]:
    """Name of a value -> the value in place of this field, and the outcome of a metric that needs the field."""
    if field == "contexts":
        table = [(MISSING | BLANK | MISSING_CONTEXTS, "missing_input"), (NO_CONTEXTS, "bad_row")]
        scored = {"a text": PASSAGE, "texts": [PASSAGE], "an array": np.array([PASSAGE], dtype=object)}
    else:
        # as in `assay.evaluate`: an empty answer states nothing, an empty reference is not there
        blank = "no_claims" if field == "answer" else "missing_input"
        table = [(MISSING | EMPTY, "missing_input"), (NO_TEXTS, "bad_row"), (BLANK, blank)]
        scored = TEXTS
    refused = {name: (value, (None, cause)) for values, cause in table for name, value in values.items()}
    return refused | {name: (value, (1.0, None)) for name, value in scored.items()}


def _mlflow(metric: str, row: Mapping[str, Any]) -> Outcome:
    feedback = assay_mlflow.AssayScorer(metric, JUDGE).run(
        inputs={"question": row["question"]},
        outputs={"answer": row["answer"], "contexts": row["contexts"]},
        expectations={"expected_response": row["reference"]},
    )
    return feedback.value, None if feedback.error is None else feedback.error.error_code


def _phoenix(metric: str, row: Mapping[str, Any]) -> Outcome:
    names = {"question": "input", "answer": "output", "contexts": "context", "reference": "expected"}
    (score,) = assay_phoenix.AssayEvaluator(metric, JUDGE).evaluate({names[name]: row[name] for name in row})
    return score.score, score.metadata.get("assay.cause")


def _run_and_example(row: Mapping[str, Any]) -> tuple[Any, Any]:
    run = types.SimpleNamespace(
        id=uuid.uuid4(),
        inputs={"question": row["question"]},
        outputs={"answer": row["answer"], "contexts": row["contexts"]},
    )
    return run, types.SimpleNamespace(inputs={}, outputs={"reference": row["reference"]})


def _langsmith(metric: str, row: Mapping[str, Any]) -> Outcome:
    (result,) = LangSmithEvaluator(metric, JUDGE).evaluate_run(*_run_and_example(row))["results"]
    return result.score, None if result.value is None else result.value.partition(": ")[2]


def _langchain_run(metric: str, row: Mapping[str, Any]) -> Outcome:
    (result,) = assay_langchain.AssayRunEvaluator(metric, JUDGE).evaluate_run(*_run_and_example(row))["results"]
    return result.score, result.value


def _llama_outcome(result: Any) -> Outcome:
    return result.score, None if result.invalid_reason is None else result.invalid_reason.partition(":")[0]


def _llama_arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "query": row["question"], "response": row["answer"], "contexts": row["contexts"], "reference": row["reference"]
    }  # fmt: skip


def _llama_index(metric: str, row: Mapping[str, Any]) -> Outcome:
    return _llama_outcome(assay_llama_index.AssayEvaluator(metric, JUDGE).evaluate(**_llama_arguments(row)))


def _llama_index_async(metric: str, row: Mapping[str, Any]) -> Outcome:
    evaluator = assay_llama_index.AssayEvaluator(metric, JUDGE)
    return _llama_outcome(asyncio.run(evaluator.aevaluate(**_llama_arguments(row))))


def _llama_index_batch(metric: str, row: Mapping[str, Any]) -> Outcome:
    runner = BatchEvalRunner({metric: assay_llama_index.AssayEvaluator(metric, JUDGE)})
    results = runner.evaluate_response_strs(
        queries=[row["question"]],
        response_strs=[row["answer"]],
        contexts_list=[row["contexts"]],
        reference=[row["reference"]],
    )
    return _llama_outcome(results[metric][0])


def _llama_index_response(metric: str, row: Mapping[str, Any]) -> Outcome:
    response = Response(row["answer"], [NodeWithScore(node=TextNode(text=text)) for text in row["contexts"]])
    evaluator = assay_llama_index.AssayEvaluator(metric, JUDGE)
    return _llama_outcome(evaluator.evaluate_response(row["question"], response, reference=row["reference"]))


def _langchain_strings(metric: str, row: Mapping[str, Any]) -> Outcome:
    found = assay_langchain.AssayStringEvaluator(metric, JUDGE).evaluate_strings(
        prediction=row["answer"], input=row["question"], reference=row["reference"], contexts=row["contexts"]
    )
    return found["score"], found["value"]


def _langchain_function(metric: str, row: Mapping[str, Any]) -> Outcome:
    found = assay_langchain.as_evaluator(metric, JUDGE)(
        inputs={"question": row["question"]},
        outputs={"answer": row["answer"]},
        reference_outputs={"reference": row["reference"]},
        contexts=row["contexts"],
    )
    return found["score"], (found["metadata"].get("error") or {}).get("cause")


def _langchain_loaded(metric: str, row: Mapping[str, Any]) -> Outcome:
    made: Any = assay_langchain.load_evaluator(metric.removeprefix("langchain:"))
    found = made.evaluate_strings(prediction=row["answer"], reference=row["reference"])
    return found["score"], found["value"]


WAYS: dict[str, Score] = {
    "MLflow": _mlflow,
    "Phoenix": _phoenix,
    "LangSmith": _langsmith,
    "LlamaIndex evaluate": _llama_index,
    "LlamaIndex aevaluate": _llama_index_async,
    "LlamaIndex evaluate_response": _llama_index_response,
    "LlamaIndex BatchEvalRunner": _llama_index_batch,
    "LangChain string evaluator": _langchain_strings,
    "LangChain as_evaluator": _langchain_function,
    "LangChain run evaluator": _langchain_run,
    "LangChain load_evaluator": _langchain_loaded,
}
#: The contexts of a response are nodes that the test makes of them, and load_evaluator is given none here.
WITHOUT_CONTEXTS = {"LlamaIndex evaluate_response", "LangChain load_evaluator"}
#: LangChain itself raises for a reference of None that an evaluator requires.
CHECKED_BY_LANGCHAIN = {"LangChain string evaluator", "LangChain load_evaluator"}


def _cases() -> list[Any]:
    return [
        pytest.param(way, metric, field, id=f"{way}-{metric}-{field}")
        for way in WAYS
        for metric, fields in NEEDS.items()
        for field in ("answer", "reference", "contexts")
        # the contexts of a response are its nodes
        if not (field == "contexts" and way == "LlamaIndex evaluate_response")
        if way != "LangChain load_evaluator" or (metric == "langchain:exact_match" and field in fields)
    ]


@pytest.mark.short_cases(20)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("way", "metric", "field"), _cases())
def test_a_value_that_is_no_text_is_never_scored(way: str, metric: str, field: str) -> None:
    score = WAYS[way]
    table = _expected(field)
    if way in CHECKED_BY_LANGCHAIN and field == "reference":
        del table["None"]
    found = {name: score(metric, {**ROW, field: value}) for name, (value, _) in table.items()}
    if field in NEEDS[metric]:
        assert found == {name: outcome for name, (_, outcome) in table.items()}
    else:  # what the metric does not read, spoils nothing
        assert found == dict.fromkeys(table, (1.0, None))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_an_object_that_exits_when_it_is_read_ends_no_evaluation(way: str) -> None:
    assert WAYS[way]("langchain:exact_match", {**ROW, "answer": Exiting()}) == (None, "bad_row")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [Closed, Exiting])
@pytest.mark.parametrize(
    ("way", "field"),
    [(way, "answer") for way in WAYS] + [(way, "contexts") for way in WAYS if way not in WITHOUT_CONTEXTS],
)
def test_an_object_that_cannot_be_looked_at_is_a_bad_row(way: str, kind: type[Any], field: str) -> None:
    assert WAYS[way]("faithfulness", {**ROW, field: kind()}) == (None, "bad_row")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_an_empty_row_of_a_data_frame_has_no_score(way: str) -> None:
    nan = float("nan")
    empty = {"question": QUESTION, "answer": nan, "contexts": [nan], "reference": nan}
    if way == "LlamaIndex evaluate_response":
        empty["contexts"] = []
    metrics = ["langchain:exact_match"] if way == "LangChain load_evaluator" else list(NEEDS)
    for metric in metrics:
        assert WAYS[way](metric, empty) == (None, "missing_input")


@pytest.mark.parametrize(
    ("way", "field", "argument"),
    [
        ("MLflow", "answer", "outputs (the answer)"),
        ("Phoenix", "answer", "output (the answer)"),
        ("LangSmith", "answer", "outputs (the answer)"),
        ("LlamaIndex evaluate", "answer", "response (the answer)"),
        ("LlamaIndex evaluate", "reference", "reference"),
        ("LangChain string evaluator", "answer", "prediction (the answer)"),
        ("LangChain as_evaluator", "reference", "reference_outputs (the reference)"),
    ],
)
def test_the_message_names_argument_and_type(
    way: str, field: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []

    def keep(self: Any, cause: Any, message: str, **more: Any) -> Any:
        messages.append(message)
        return original(self, cause, message, **more)

    from assay.metrics.base import Metric

    original = Metric.skip
    monkeypatch.setattr(Metric, "skip", keep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        WAYS[way]("langchain:exact_match", {**ROW, field: ValueError("a secret text")})
    assert messages == [f"{argument}: expected a text, found ValueError"]


# -- objects of the frameworks stay what they are: texts and passages ----------------------------------------------


@pytest.mark.parametrize("way", ["LlamaIndex evaluate", "LlamaIndex aevaluate", "LlamaIndex BatchEvalRunner"])
@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"question": QueryBundle(QUESTION)}, id="QueryBundle"),
        pytest.param({"answer": ChatMessage(role="assistant", content=PASSAGE)}, id="ChatMessage"),
        pytest.param({"answer": Response(PASSAGE)}, id="Response"),
        pytest.param({"contexts": [NodeWithScore(node=TextNode(text=PASSAGE), score=0.5)]}, id="NodeWithScore"),
        pytest.param({"contexts": [TextNode(text=PASSAGE)]}, id="TextNode"),
        pytest.param({"contexts": {PASSAGE}}, id="set"),
    ],
)
def test_objects_of_llama_index_are_read(way: str, row: dict[str, Any]) -> None:
    assert WAYS[way]("faithfulness", {**ROW, **row}) == (1.0, None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["LangChain string evaluator", "LangChain as_evaluator"])
@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"answer": AIMessage(PASSAGE)}, id="AIMessage"),
        pytest.param({"answer": {"output": PASSAGE}}, id="dict"),
        pytest.param(
            {"answer": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": PASSAGE}]},
            id="messages",
        ),
        pytest.param({"contexts": [Document(page_content=PASSAGE)]}, id="Document"),
        pytest.param({"contexts": PASSAGE}, id="text"),
    ],
)
def test_objects_of_langchain_are_read(way: str, row: dict[str, Any]) -> None:
    assert WAYS[way]("faithfulness", {**ROW, **row}) == (1.0, None)


def test_a_batch_keeps_its_other_rows() -> None:
    runner = BatchEvalRunner(assay_llama_index.evaluators(["faithfulness", "context_recall"], judge=JUDGE), workers=2)
    nan = float("nan")
    results = runner.evaluate_response_strs(
        queries=[QUESTION] * 3,
        response_strs=[PASSAGE, nan, ValueError("timeout")],
        contexts_list=[[PASSAGE], [nan], [PASSAGE]],
        reference=[PASSAGE, nan, PASSAGE],
    )
    assert [_llama_outcome(one) for one in results["faithfulness"]] == [
        (1.0, None),
        (None, "missing_input"),
        (None, "bad_row"),
    ]
    assert [one.score for one in results["context_recall"]] == [1.0, None, 1.0]  # it needs no answer
