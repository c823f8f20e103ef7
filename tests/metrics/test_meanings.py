"""Every metric of assay's own says in one line what it measures, and which direction is good."""

from __future__ import annotations

import pytest

from assay.metrics.meanings import meaning_of
from assay.metrics.registry import METRICS


@pytest.mark.parametrize("name", METRICS)
def test_each_has_one_line_with_its_direction(name: str) -> None:
    meaning = meaning_of(name)
    assert meaning is not None
    assert meaning.endswith(f"{METRICS[name]().direction.capitalize()} is better.")
    assert "\n" not in meaning
    assert 30 < len(meaning) < 200


def test_it_is_the_first_sentence_of_the_file() -> None:
    assert meaning_of("faithfulness") == (
        "What share of the answer's claims do the retrieved contexts support? Higher is better."
    )


def test_forms_of_a_metric_say_what_they_differ_in() -> None:
    assert "(kind: contradicted)" in str(meaning_of("hallucination_contradicted"))
    assert "(" not in str(meaning_of("hallucination"))


def test_nothing_is_said_of_metrics_of_others() -> None:
    assert meaning_of("ragas:faithfulness") is None
    assert meaning_of("my own") is None
