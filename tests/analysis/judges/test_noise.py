"""The same data read twice: no reading knows another's judgements, and each keeps its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay import ScriptedJudge, Store, evaluate
from assay.analysis.judges.noise import NoiseReport, measure, noise_of
from assay.cli.main import app
from assay.errors import InputError
from assay.judges import Answer, BaseJudge

ROWS = [
    {
        "id": f"r{n}",
        "question": f"Q{n // 2}?",
        "contexts": ["It is so."],
        "answer": f"It is {n}.",
        "topic": f"t{n // 4}",
    }
    for n in range(8)
]


class Wavering(ScriptedJudge):
    """Says something else each time that it is asked the same."""

    def __init__(self, durable: bool = False) -> None:
        self.asked: dict[str, int] = {}
        super().__init__(claims=lambda text: [text], support=self.say)
        self.durable = durable

    def say(self, claim: str, passage: str) -> str:
        self.asked[claim] = self.asked.get(claim, 0) + 1
        return "supported" if self.asked[claim] % 2 or claim in ("It is 6.", "It is 7.") else "not_mentioned"


def test_each_reading_asks_the_judge_anew(tmp_path: Path) -> None:
    """Six of eight rows are 1 and then 0: variance 0.5 each, 6·0.5/8 = 0.375."""
    judge = Wavering()
    found = measure(ROWS, "faithfulness", judge, store=tmp_path, progress=False).metrics["faithfulness"]
    assert {judge.asked[str(row["answer"])] for row in ROWS} == {2}
    assert (found.rows, found.readings, found.differ, found.items) == (8, 2, 6, 4)
    assert found.judge == pytest.approx(0.375)
    assert found.means == (1.0, 0.25)
    assert found.generation == 0.0  # answers to a question differ by less than readings do


def test_what_was_read_before_is_not_asked_again_and_no_other_run_sees_it(tmp_path: Path) -> None:
    judge = Wavering(durable=True)
    first = measure(ROWS, "faithfulness", judge, store=tmp_path, progress=False)
    asked = dict(judge.asked)
    again = measure(ROWS, "faithfulness", judge, store=tmp_path, progress=False)
    assert judge.asked == asked
    assert again.metrics == first.metrics
    assert evaluate(ROWS, "faithfulness", judge, store=tmp_path, progress=False).metrics["faithfulness"].mean == 1.0
    assert judge.asked == asked
    third = measure(ROWS, "faithfulness", judge, readings=3, store=tmp_path, progress=False)
    assert {judge.asked[str(row["answer"])] for row in ROWS} == {3}
    assert third.metrics["faithfulness"].means == (1.0, 0.25, 1.0)
    assert [run[2]["note"] for run in Store(tmp_path).runs()][:3] == [f"reading {n} of 3" for n in (3, 2, 1)]


def test_items_by_a_column(tmp_path: Path) -> None:
    found = measure(ROWS, "faithfulness", Wavering(), item="topic", store=tmp_path, progress=False)
    assert found.metrics["faithfulness"].items == 2
    with pytest.raises(InputError, match="item: no row has the column 'tpoic'"):
        measure(ROWS, "faithfulness", Wavering(), item="tpoic", store=tmp_path, progress=False)


def test_it_is_kept_in_a_file_that_gates_read(tmp_path: Path) -> None:
    found = measure(ROWS, "faithfulness", Wavering(), store=tmp_path, progress=False)
    again = NoiseReport.load(found.save(tmp_path / "noise.json"))
    assert again == found
    assert again.metrics["faithfulness"].tolerance(rows=200) == found.metrics["faithfulness"].tolerance(rows=200)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"assay_noise": 2, "metrics": {}}', '{"assay_noise": 1, "metrics": {"m": {}}}',
     '{"assay_noise": 1, "metrics": {"m": 3}}', '{"assay_noise": 1, "metrics": {}, "runs": 3}', "\ud83d"],
)  # fmt: skip
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "noise.json"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=r"noise\.json"):
        NoiseReport.load(file)


def test_readings_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    def run(rows: list[dict[str, Any]], name: str) -> Any:
        judge = ScriptedJudge(claims=lambda text: [text], support=lambda c, p: "supported", name=name)
        return evaluate(rows, "faithfulness", judge, store=tmp_path, progress=False)

    one = run(ROWS, "one")
    with pytest.raises(InputError, match="two readings or more, got 1"):
        noise_of([one])
    with pytest.raises(InputError, match="by one judge"):
        noise_of([one, run(ROWS, "two")])
    with pytest.raises(InputError, match="has 8 rows"):
        noise_of([one, run(ROWS[:3], "one")])
    with pytest.raises(InputError, match="readings: expected 2 or more, got 1"):
        measure(ROWS, "faithfulness", readings=1)
    with pytest.raises(InputError, match="can be read once only"):
        measure(iter(ROWS), "faithfulness")
    with pytest.raises(InputError, match="reading: expected at least 1"):
        evaluate(ROWS, "faithfulness", reading=0)


def test_nothing_scored_is_said(tmp_path: Path) -> None:
    class Broken(BaseJudge):
        fingerprint = "broken"

        async def answer(self, batch: Any) -> list[Answer]:
            raise RuntimeError("no")

    found = measure(ROWS, "faithfulness", Broken(), store=tmp_path, progress=False, stop_after=None)
    assert found.metrics == {}
    assert "no row has a value in every reading" in str(found)


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS[:3]), encoding="utf-8")
    out = tmp_path / "noise.json"
    done = CliRunner().invoke(
        app,
        [
            "judge",
            "noise",
            str(file),
            "--metrics",
            "faithfulness",
            "--store",
            str(tmp_path),
            "--out",
            str(out),
            "--quiet",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "tolerance of a gate, the same answers read anew: 1.000" in done.output
    assert NoiseReport.load(out).metrics["faithfulness"].rows == 3
    wrong = CliRunner().invoke(app, ["judge", "noise", str(file), "--out", str(tmp_path / "no" / "noise.json")])
    assert isinstance(wrong.exception, InputError)
