"""What stands around a judge is what that judge is: one that sees is shown pictures in a jury, too."""

from __future__ import annotations

import asyncio

import pytest

import assay
from assay.analysis.judges.calibrate_cascade import calibrate
from assay.errors import InputError
from assay.judges.cache import JudgementCache
from assay.judges.protocol import Judge, sees
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.multimodal.faithfulness import Faithfulness
from assay.metrics.systems import named
from assay.metrics.trulens.jury import Jury
from assay.records import Context, Sample
from tests.metrics.systems.rich import RED

SAMPLE = Sample(question="How long is it?", answer="It is 88 metres long.", contexts=(Context(text="", image=RED),))


@pytest.mark.parametrize("seeing", [True, False])
def test_a_function_is_told_whether_its_judge_sees(seeing: bool) -> None:
    @assay.metric
    def told(answer: str, judge: Judge) -> float:
        return float(sees(judge))

    found = asyncio.run(told.score(SAMPLE, JudgementCache(ScriptedJudge(sees=seeing))))
    assert found.value == float(seeing)


@pytest.mark.long
@pytest.mark.parametrize("seeing", [True, False])
def test_a_jury_shows_the_pictures_to_a_judge_that_sees_and_reads_them_to_others(
    seeing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.metrics.multimodal.base.available", lambda: False)
    jury = Jury(metric=Faithfulness(), votes=2)
    judge = ScriptedJudge(sees=seeing, support=lambda claim, text: "supported")
    found = asyncio.run(jury.score(SAMPLE, JudgementCache(judge)))
    alone = asyncio.run(named("multimodal:faithfulness").score(SAMPLE, JudgementCache(judge)))
    assert (found.value, alone.value) == ((1.0, 1.0) if seeing else (None, None))


def test_a_calibration_shows_the_second_judge_the_pictures_as_the_cascade_will(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is blind: nothing about a picture can be compared, and nothing was read in its place."""
    monkeypatch.setattr("assay.metrics.multimodal.base.available", lambda: False)
    shown: list[str] = []

    def support(claim: str, text: str) -> str:
        shown.append(text)
        return "supported"

    first, then = ScriptedJudge(name="first"), ScriptedJudge(name="then", sees=True, support=support)
    with pytest.raises(InputError, match="no verdicts of both judges"):
        calibrate([SAMPLE], then, first, metrics="multimodal:faithfulness", store=None, progress=False)
    assert shown
