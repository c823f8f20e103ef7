"""Result files of other systems at the command line: compared, gated, reported, shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from tests.evaluation.imports.test_files import HALF, ragas

ROWS = 20


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first file 12 of 20 answers are wrong, in the second none: McNemar's p is 2 / 2 ** 12."""
    monkeypatch.chdir(tmp_path)
    Path("first.csv").write_text(ragas([n >= 12 for n in range(ROWS)]))
    Path("second.csv").write_text(ragas([True] * ROWS))


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


@pytest.mark.usefixtures("files")
def test_two_files_compare_without_a_store() -> None:
    code, out = run("compare", "ragas:first.csv", "ragas:second.csv", "--json", "--scale", "my_tone=2:0")
    found = json.loads(out)
    assert (code, found["pairs"]) == (0, ROWS)
    assert found["metrics"]["ragas:faithfulness"]["verdict"] == "better"
    assert found["metrics"]["my_tone"]["direction"] == "lower"
    assert not Path(".assay").exists()


@pytest.mark.long
@pytest.mark.usefixtures("files")
def test_a_file_is_gated_against_another_and_reported() -> None:
    gate = ("--max-drop", "ragas:faithfulness=0.05")
    assert run("gate", "ragas:second.csv", "--baseline", "ragas:first.csv", *gate)[0] == 0
    assert run("gate", "ragas:first.csv", "--baseline", "ragas:second.csv", *gate)[0] == 5
    code, out = run("report", "ragas:second.csv", "--baseline", "ragas:first.csv", "-o", "r.md")
    assert (code, "better" in out) == (0, True)
    assert "my_tone" in Path("r.md").read_text("utf-8"), "what was left out is said"
    code, out = run("show", "ragas:second.csv", "--baseline", "ragas:first.csv")
    assert (code, " ".join(out.split()).count("--scale my_tone")) == (0, 2), "once for each file"
    assert run("show", "ragas:second.csv", "2")[0] == 0


@pytest.mark.usefixtures("files")
def test_what_cannot_be_compared_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["assay", *arguments])
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code != 0
        return " ".join(str(result.exception).split())

    assert "looks like results of ragas; prefix its name: ragas:first.csv" in said("compare", "first.csv", "second.csv")
    two = ("compare", "ragas:first.csv", "ragas:second.csv")
    assert "--scale my_tone=WORST:BEST" in said(*two, "-m", "my_tone")
    assert "expected NAME=WORST:BEST" in said(*two, "--scale", "my_tone")
    assert "there is no 'nope'" in said(*two, "--scale", "nope=0:1")
    Path("other.csv").write_text(ragas(HALF).replace("bridge", "tower"))
    assert "no row of" in said("compare", "ragas:first.csv", "ragas:other.csv")
