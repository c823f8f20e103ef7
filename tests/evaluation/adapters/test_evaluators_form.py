"""`evaluators(...)` is called in the same way in each integration; it returns what the framework wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import assay_langsmith
import assay_llama_index
import pytest
from assay_mlflow import scorers
from assay_phoenix.evaluating import evaluators as phoenix_evaluators
from hypothesis import given
from hypothesis import strategies as st

from assay import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import faithfulness
from assay.metrics.names import join_specs, resolve_metrics

JUDGE = ScriptedJudge(support=lambda claim, passage: "supported", usefulness=lambda question, passage: True)
NAMES = ["faithfulness", "context_relevance"]


def names_of(made: Any) -> list[str]:
    """The metrics of what a function made."""
    if isinstance(made, dict):
        return list(made)
    return [name for one in made for name in getattr(one, "feedback_keys", None) or [one.name]]


FUNCTIONS: list[Callable[..., Any]] = [
    assay_llama_index.evaluators,
    assay_langsmith.evaluators,
    phoenix_evaluators,
    scorers,
]


@pytest.mark.parametrize("make", FUNCTIONS, ids=["llama_index", "langsmith", "phoenix", "mlflow"])
@pytest.mark.parametrize(
    "given",
    [NAMES, [NAMES], [tuple(NAMES)], [", ".join(NAMES)], [faithfulness, NAMES[1]], [[faithfulness], [NAMES[1]]]],
    ids=["names", "a list", "a tuple", "one text", "a metric and a name", "lists"],
)
def test_names_and_lists_mean_the_same(make: Callable[..., Any], given: list[Any]) -> None:
    assert names_of(make(*given, judge=JUDGE)) == NAMES


@pytest.mark.parametrize("make", FUNCTIONS, ids=["llama_index", "langsmith", "phoenix", "mlflow"])
def test_none_is_an_error_that_names_the_argument(make: Callable[..., Any]) -> None:
    for nothing in ((), ([],)):
        with pytest.raises(InputError, match="metrics: none is given"):
            make(*nothing, judge=JUDGE)


@given(
    st.lists(st.sampled_from(["faithfulness", "hallucination", "context_recall"]), unique=True, min_size=1), st.data()
)
def test_any_grouping_of_names_is_the_same(chosen: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(chosen)))
    specs: list[Any] = [*chosen[:cut], chosen[cut:]]
    assert [one.label for one in resolve_metrics(join_specs(specs))] == chosen
