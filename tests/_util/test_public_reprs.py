"""What public objects show of themselves: a short text of one to a few lines, never a dump of all their fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Budget, ScriptedJudge, evaluate, guard
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.records import Context, Sample, Score, ScoredSample, Verdict

LONG = "The first Super Bowl was played on January 15, 1967. " * 40
HOSTILE = "red\x1b[31m\u202eend"


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.setenv("COLUMNS", "110")
    rows = [
        {"id": "a", "question": LONG, "contexts": [LONG] * 5, "answer": LONG, "reference": LONG},
        {"id": "b", "question": HOSTILE, "contexts": ["x"], "answer": HOSTILE},
        {"id": "c", "question": "Q?", "contexts": ["x"]},
    ]
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    return evaluate(rows, "faithfulness", judge, store=tmp_path)


def test_every_public_object_reads_well(result: Result) -> None:
    first = result.store.get_row(result.run, 1)
    scored = first.scored
    score = scored.scores["faithfulness"]
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    decision = guard(
        "faithfulness", judge=judge, threshold=0.5, on_timeout="block", on_error="block", on_skipped="pass"
    ).check(scored.sample)
    things = [
        result, first, scored, score, scored.sample, scored.sample.contexts[0],
        score.verdicts["answer/contexts"][0], result.metrics["faithfulness"], result.errors[0],
        result.explain(1), decision, Budget(calls_per_day=7), result.deliveries, score.usage,
    ]  # fmt: skip
    for thing in things:
        lines = repr(thing).splitlines()
        assert len(lines) <= (4 if thing in (first, scored) else 1), repr(thing)
        assert max(map(len, lines)) <= 160, repr(thing)
    for thing in (result, first, scored, score, scored.sample, result.metrics["faithfulness"], result.errors[0]):
        assert len(str(thing)) <= 1200, str(thing)
        assert "mappingproxy" not in str(thing)
        assert "Verdict(" not in str(thing)


def test_the_texts(result: Result) -> None:
    scored = result.row("c")
    title, _, line = repr(scored).splitlines()
    assert title == "sample 'c': Q?"
    assert line.split()[:3] == ["faithfulness", "missing_input", "faithfulness"]
    assert str(scored).splitlines()[0] == "question: Q?"
    assert str(scored).splitlines()[-1].startswith("  faithfulness: not scored (missing_input): ")
    assert repr(Score(metric="m", value=0.5, parts={"claims": 2.0})) == "<Score m = 0.500 (claims 2)>"
    assert repr(Verdict(label="useful", probability=0.875, passage=0)) == "<Verdict useful (p=0.88) on passage 1>"
    assert repr(Context(text="Rome", id="d1", score=0.5)) == "<Context 'd1' 'Rome', score 0.5>"
    assert repr(Sample(question="Q?", contexts=())) == "<Sample 'Q?' -> no answer, no contexts>"
    assert repr(ScoredSample(sample=Sample(), scores={})) == "sample: no question"
    assert str(result.errors[0]).startswith("row 3 (c): faithfulness not scored (missing_input): ")
    assert str(result.metrics["faithfulness"]) == (
        "faithfulness: mean 1.000 (0.012 to 1.000), 2 of 3 rows scored (missing_input 1)"
    )  # fmt: skip


def test_on_score_print_reads_well(result: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"question": "Q?", "contexts": ["x"], "answer": "It is so."}
    evaluate([row], "faithfulness", ScriptedJudge(support=lambda c, p: "supported"), store=None, on_score=print)
    assert capsys.readouterr().out == "question: Q?\nanswer: It is so.\ncontexts: 1\n  faithfulness = 1.000\n"


def test_texts_of_others_cannot_steer_the_terminal(result: Result) -> None:
    for text in (str(result.row("b")), repr(result.row("b").sample), str(result.store.get_row(result.run, 2))):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_an_error_is_short_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DEBUG", raising=False)
    assert InputError("metrics: none")._render_traceback_() == ["InputError: metrics: none"]
    monkeypatch.setenv("ASSAY_DEBUG", "1")
    with pytest.raises(NotImplementedError):  # IPython then shows the whole
        InputError("metrics: none")._render_traceback_()
