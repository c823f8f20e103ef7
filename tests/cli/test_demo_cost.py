"""Everything but scoring in `assay demo` is cheap, and the first score does not wait for the last."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pty")

from assay.data.demo import answers
from assay.evaluation.evaluate import evaluate
from assay.judges.embedded.judge import EmbeddedJudge
from tests.benchmarks.bench_demo import CPU_TARGET, demo


@pytest.mark.long
def test_all_but_scoring_costs_few_seconds_of_cpu(tmp_path: Path) -> None:
    evaluate(answers(), store=tmp_path / ".assay")
    assert demo(tmp_path).cpu <= CPU_TARGET


def test_rows_of_the_embedded_judge_finish_one_after_the_other(tmp_path: Path) -> None:
    """All 16 in flight once finished together: the first after the time of all of them."""
    rows = [{"id": str(n), "question": f"Q{n}?", "contexts": [f"Town {n} is old."], "answer": f"Town {n} is old."}
            for n in range(6)]  # fmt: skip
    judged: list[list[str]] = []
    done: list[str] = []

    class Counting(EmbeddedJudge):
        async def answer(self, prompts):  # type: ignore[no-untyped-def]
            judged.append(list(done))
            return await super().answer(prompts)

    evaluate(rows, "faithfulness", Counting(), store=None, on_score=lambda scored: done.append(str(scored.sample.id)))
    assert done == [str(n) for n in range(6)]
    # claims and support of each row: what is asked about a row is asked when the rows before it are done
    assert [len(before) for before in judged] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
