"""A notebook, executed in a real kernel: table, explanation, progress and errors are shown as they should be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

SETUP = """
from assay import ScriptedJudge, evaluate
rows = [{"id": f"r{n}", "question": "Age?", "contexts": ["Rome is old."], "answer": "Rome is old. It is huge."}
        for n in range(5)]
judge = ScriptedJudge(support=lambda claim, passage: "supported" if "old" in claim else "not_mentioned")
"""
CELLS = {
    "setup": SETUP,
    "evaluate": 'result = evaluate(rows, "faithfulness", judge, store="kept", progress=True)',
    "unasked": 'evaluate(rows, "faithfulness", judge, store=None); None',
    "silent": 'evaluate(rows, "faithfulness", judge, store=None, progress=False); None',
    "awaited": 'import assay\nawait assay.aevaluate(rows, "faithfulness", judge, store=None)',
    "str": "print(repr(str(result)))",
    "print": "print(result)",
    "table": "result",
    "explanation": "result.explain(1)",
    "explanation text": "print(str(result.explain(1)))",
    "row": 'result.worst("faithfulness")',
    "rows": 'result.worst("faithfulness", 2)',
    "compared": "assay.compare(result, result)",
    "decision": 'assay.check(assay.Gate([assay.GateRule("faithfulness", "at_least", 0.9)]), result)',
    "causes": "from assay.analysis.diagnosis import find_causes\nfind_causes(result)",
    "frame": 'result.worst("faithfulness", 2).to_pandas()[["row", "faithfulness"]].values.tolist()',
    "report": "assay.show_report(result)",
    "score": 'result.row("r0").scores["faithfulness"]',
    "wrong": 'limit = 3\nevaluate(rows, "nope", judge)',
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each cell showed."""
    folder: Path = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    client = nbclient.NotebookClient(book, timeout=120, allow_errors=True, resources={"metadata": {"path": folder}})
    client.execute()
    return dict(zip(CELLS, ([dict(output) for output in cell.outputs] for cell in book.cells), strict=True))


def plain(output: dict[str, Any]) -> str:
    return str(output.get("text") or output["data"]["text/plain"])


pytestmark = pytest.mark.long


def test_progress_is_one_line_that_is_replaced(outputs: dict[str, list[dict[str, Any]]]) -> None:
    for name in ("evaluate", "unasked"):
        (shown,) = outputs[name]
        assert shown["output_type"] == "display_data"
        assert plain(shown).startswith("5 rows in ")
    assert outputs["silent"] == []
    assert plain(outputs["awaited"][0]).startswith("5 rows in ")


def test_no_cell_warns_of_widgets(outputs: dict[str, list[dict[str, Any]]]) -> None:
    for shown in outputs.values():
        assert not [output for output in shown if output.get("name") == "stderr"]
        assert "ipywidgets" not in str(shown)


def test_texts_are_there_and_nothing_is_shown_beside_them(outputs: dict[str, list[dict[str, Any]]]) -> None:
    (text,) = outputs["str"]
    assert re.search(r"faithfulness ↑ +0\.500 .* 5/5", plain(text))
    (printed,) = outputs["print"]
    assert re.search(r"faithfulness ↑ +0\.500 .* 5/5", plain(printed))
    (explained,) = outputs["explanation text"]
    assert "supported  Rome is old." in plain(explained)


def test_tables_and_explanations_are_shown(outputs: dict[str, list[dict[str, Any]]]) -> None:
    (table,) = outputs["table"]
    html = table["data"]["text/html"]
    assert re.search(r"faithfulness ↑(?:</span>)?</td><td><strong>0\.500</strong></td>", html)
    assert "<td>5/5</td>" in html
    assert "faithfulness ↑" in outputs["awaited"][-1]["data"]["text/html"]
    (explained,) = outputs["explanation"]
    assert "not_mentioned  It is huge." in explained["data"]["text/html"]


def test_other_things_are_short(outputs: dict[str, list[dict[str, Any]]]) -> None:
    assert plain(outputs["row"][0]).splitlines()[0] == "row 1, sample 'r0': Age?"
    assert plain(outputs["score"][0]).startswith("<Score faithfulness = 0.500")


def test_every_result_is_a_table_and_short(outputs: dict[str, list[dict[str, Any]]]) -> None:
    heads = {"row": "verdicts", "rows": "answer", "compared": "pairs", "decision": "because", "causes": "example"}
    for name, column in heads.items():
        (shown,) = outputs[name]
        html, text = shown["data"]["text/html"], plain(shown)
        assert f">{column}</th>" in html, name
        assert "<script" not in html
        assert len(text.splitlines()) <= 20, name
        assert max(map(len, text.splitlines())) <= 160, name
    assert plain(outputs["frame"][0]) == "[[1, 0.5], [2, 0.5]]"


def test_the_report_is_a_frame(outputs: dict[str, list[dict[str, Any]]]) -> None:
    (shown,) = outputs["report"]
    html = shown["data"]["text/html"]
    assert html.startswith('<iframe title="assay report" sandbox="allow-scripts allow-downloads"')
    assert html.count("<") == 2  # of the frame itself: all else is escaped
    assert plain(shown).startswith("<InlineReport of ")


def test_a_wrong_argument_is_one_line_that_names_the_line_of_the_cell(
    outputs: dict[str, list[dict[str, Any]]],
) -> None:
    (error,) = outputs["wrong"]
    assert error["ename"] == "InputError"
    (line,) = error["traceback"]
    assert line.startswith("InputError: metrics: there is no metric 'nope'")
    assert "(line 2 of the cell;" in line
