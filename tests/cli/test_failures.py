"""`assay failures`: rows below or above a threshold, of the options, the configuration or the defaults."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from tests.conftest import literal_support

Run = Callable[..., tuple[int, str, str]]

#: Claims supported of all: 2 of 2, 1 of 2, 0 of 1; the last row has no passages.
ANSWERS = ("It is red. It is big.", "It is red. It is old.", "It is old.", None)
FAITHFULNESS = (1.0, 0.5, 0.0)


@pytest.fixture
def assay(command_line: Run, tmp_path: Path) -> Run:
    """The command line, in a folder with the run `one` of faithfulness and hallucination."""
    from assay import evaluate

    rows = [
        {"id": f"r{n}", "question": "What is it?", "answer": answer or "It is red.",
         **({"contexts": ["It is red. It is big."]} if answer is not None else {})}
        for n, answer in enumerate(ANSWERS, 1)
    ]  # fmt: skip
    judge = ScriptedJudge(support=literal_support)
    result = evaluate(rows, "faithfulness,hallucination", judge, store=tmp_path / ".assay", run="one")
    values = [row.scores["faithfulness"].value for row in result]
    assert values == [*FAITHFULNESS, None]
    return command_line


def found(out: str) -> list[tuple[int, str, str, float, str]]:
    return [tuple(one[name] for name in ("number", "id", "metric", "value", "threshold")) for one in json.loads(out)]


def test_rows_below_and_above_a_number_worst_first(assay: Run) -> None:
    code, out, _ = assay("failures", "one", "--below", "faithfulness=0.8", "--json")
    assert code == 0
    assert found(out) == [(3, "r3", "faithfulness", 0.0, "< 0.8"), (2, "r2", "faithfulness", 0.5, "< 0.8")]
    assert found(assay("failures", "one", "--below", "faithfulness=0.5", "--json")[1]) == [
        (3, "r3", "faithfulness", 0.0, "< 0.5")  # 0.5 is not below 0.5
    ]
    assert found(assay("failures", "--above", "faithfulness=0.2", "--json")[1]) == [
        (1, "r1", "faithfulness", 1.0, "> 0.2"), (2, "r2", "faithfulness", 0.5, "> 0.2"),
    ]  # fmt: skip


def test_counts_rows_and_csv(assay: Run) -> None:
    """Of three rows with faithfulness one is below 0.3; both metrics fail rows 2 and 3, row 3 by more."""
    lines = assay("failures", "one", "--below", "faithfulness=0.3")[1].splitlines()
    assert lines[0].split() == ["metric", "threshold", "failed", "rows"]
    assert lines[2].split() == ["faithfulness", "<", "0.3", "1", "of", "3"]
    assert lines[-3:] == ["row 3 (r3): faithfulness 0.000", "", "1 of 1 row shown"]
    (row,) = csv.DictReader(io.StringIO(assay("failures", "one", "--below", "faithfulness=0.3", "--csv")[1]))
    assert row == {"number": "3", "id": "r3", "metric": "faithfulness", "value": "0.0", "threshold": "< 0.3"}
    out = assay("failures", "one", "--above", "hallucination=1")[1]
    assert out == "no row of run one fails: hallucination > 1\n"


def test_a_row_is_one_line_with_its_values(assay: Run) -> None:
    lines = assay("failures", "one")[1].splitlines()
    assert [line.split() for line in lines[2:4]] == [
        ["faithfulness", "<", "0.8", "2", "of", "3"],
        ["hallucination", ">", "0.2", "2", "of", "3"],
    ]
    assert lines[-4:] == [
        "row 3 (r3): faithfulness 0.000, hallucination 1.000",  # 0.8 away from both
        "row 2 (r2): faithfulness 0.500, hallucination 0.500",  # 0.3 away from both
        "",
        "2 of 2 rows shown",
    ]
    assert assay("failures", "one", "-n", "1")[1].splitlines()[-1] == "1 of 2 rows shown; all: -n 2"
    assert assay("failures", "one", "-n", "0")[0] == 2


def test_without_options_the_configuration_and_then_the_defaults(assay: Run, tmp_path: Path) -> None:
    metrics = [(metric, threshold) for _, _, metric, _, threshold in found(assay("failures", "one", "--json")[1])]
    # the defaults of `assay causes`: 0.8 and 0.2, and two rows have an unsupported claim
    assert metrics == [("faithfulness", "< 0.8")] * 2 + [("hallucination", "> 0.2")] * 2
    (tmp_path / "assay.toml").write_text("[gates.faithfulness]\nat_least = 0.3\n")
    assert found(assay("failures", "one", "--json")[1]) == [(3, "r3", "faithfulness", 0.0, "< 0.3")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--below", "nope=0.5"), "--below: 'nope' is not in this run; it has faithfulness, hallucination"),
        (("--above", "faithfulness=5"), "--above: faithfulness: expected 0 to 1, got 5"),
        (("--below", "faithfulness"), "--below: expected METRIC=NUMBER"),
    ],
)
def test_wrong_thresholds_name_the_option(assay: Run, arguments: tuple[str, ...], says: str) -> None:
    code, _, err = assay("failures", "one", *arguments)
    assert (code, says in err) == (2, True), err
