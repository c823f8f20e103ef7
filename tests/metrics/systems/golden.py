"""What other packages gave on the samples of `tests/differential/worlds`, and the same samples for our metrics."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.systems import named
from assay.records import Context, Sample, Score

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.append(str(DIFFERENTIAL))

import worlds  # noqa: E402

#: How near our numbers must be to the original's.
NEAR = 1e-9
CASES = {case.id: case for case in worlds.cases()}


@cache
def golden(name: str) -> dict[str, Any]:
    """The golden file of a driver."""
    found: dict[str, Any] = json.loads((DIFFERENTIAL / "golden" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def sample_of(case: worlds.Case, **more: Any) -> Sample:
    """The sample that a case describes."""
    return Sample(
        id=case.id,
        question=case.question,
        contexts=tuple(Context(text=text) for text in case.contexts),
        answer=case.answer,
        reference=case.reference or None,
        **more,
    )


def judge_of(case: worlds.Case, **rules: Any) -> ScriptedJudge:
    """A judge that says what the world says; `rules` are added to it."""
    statements = {case.answer: case.said, case.reference: case.known}
    return ScriptedJudge(
        **{
            "claims": lambda text: statements.get(text, ()),
            "support": worlds.label,
            "similarity": worlds.cosine,
            **rules,
        }
    )


def scored(metric: str, case: worlds.Case, judge: Judge | None = None, **more: Any) -> Score:
    """The score of one metric ("ragas:faithfulness@original") on one case."""
    return asyncio.run(named(metric).score(sample_of(case, **more), judge or judge_of(case)))


def agrees(score: Score, expected: float | None) -> None:
    """Hold a score to the original's number; None: the original gave none, or no number."""
    if expected is None:
        assert score.value is None, f"{score}, where the original has no number"
    else:
        assert score.value is not None, f"{score}, where the original gives {expected}"
        assert score.value == pytest.approx(expected, abs=NEAR, rel=0)
