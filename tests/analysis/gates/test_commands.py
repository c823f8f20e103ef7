"""`assay gate`, `assay score --fail-below` and `--gate`: exit codes, what is printed, what is read of assay.toml."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]
METRIC = "ragas:exact_match"


def rows(right: int, of: int = 10, **more: Any) -> str:
    """Answers of which so many are right."""
    made = [
        {"id": f"r{n}", "question": "?", "answer": "x" if n < right else "y", "reference": "x", **more}
        for n in range(of)
    ]
    return "\n".join(map(json.dumps, made))


@pytest.fixture
def assay(command_line: Run, tmp_path: Path) -> Run:
    """The command line, in a folder with a good run and a bad one."""
    for name, right in (("good", 10), ("bad", 2)):
        Path(f"{name}.jsonl").write_text(rows(right))
        code, _, err = command_line("score", f"{name}.jsonl", "--metrics", METRIC, "--name", name, "--quiet")
        assert code == 0, err
    return command_line


def test_a_limit_passes_fails_or_cannot_be_told(assay: Run) -> None:
    assert assay("gate", "good", "--fail-below", f"{METRIC}=0.8")[0] == 0
    code, out, _ = assay("gate", "bad", "--fail-below", f"{METRIC}=0.8")
    assert (code, out.splitlines()[0]) == (5, f"FAIL: bad breaks {METRIC} at least 0.8")
    Path("gaps.jsonl").write_text(rows(10) + '\n{"id": "gap", "question": "?", "answer": "x"}')
    assay("score", "gaps.jsonl", "--metrics", METRIC, "--name", "gaps", "--quiet")
    code, out, _ = assay("gate", "gaps", "--fail-below", f"{METRIC}=1.0")
    assert (code, "gap: no value" in out and "missing_input: " in out) == (6, True)
    assert assay("gate", "gaps", "--fail-below", f"{METRIC}=1.0", "--allow-inconclusive")[0] == 0
    assert assay("gate", "bad", "--fail-below", f"{METRIC}=0.8", "--allow-inconclusive")[0] == 5


def test_against_a_baseline(assay: Run) -> None:
    code, out, _ = assay("gate", "bad", "--baseline", "good", "--max-drop", f"{METRIC}=0.05")
    assert (code, out.splitlines()[0]) == (
        5,
        f"FAIL: bad against good breaks {METRIC} at most 0.05 worse than the baseline",
    )
    assert "r2: 1.00 -> 0.00" in out
    assert assay("gate", "good", "--baseline", "bad", "--max-drop", f"{METRIC}=0.05")[0] == 0
    assert assay("gate", "good", "--baseline", "bad", "--margin", f"{METRIC}=0.05")[0] == 0
    code, _, err = assay("gate", "good", "--max-drop", f"{METRIC}=0.05")
    assert (code, "holds a run against another; name it with baseline" in err) == (2, True)


def test_a_baseline_from_another_store(assay: Run) -> None:
    assay("score", "good.jsonl", "--metrics", METRIC, "--name", "main", "--store", "kept", "--quiet")
    gate = ("gate", "bad", "--baseline", "main", "--max-drop", f"{METRIC}=0.05")
    code, _, err = assay(*gate)
    assert (code, "run 'main' is not in the store" in err) == (2, True)
    assert assay(*gate, "--baseline-store", "kept")[0] == 5


def test_json_markdown_and_junit_say_the_same(assay: Run) -> None:
    gate = ("gate", "bad", "--fail-below", f"{METRIC}=0.8")
    code, out, _ = assay(*gate, "--json", "--junit", "gate.xml", "--summary", "summary.md")
    found = json.loads(out)
    assert (code, found["verdict"], found["exit_code"], found["rulings"][0]["value"]) == (5, "FAIL", 5, 0.2)
    assert [seen["name"] for seen in found["rulings"][0]["decisive"]] == ["r2", "r3", "r4", "r5", "r6"]
    suite = ET.parse("gate.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "mean 0.200 on 10 rows"
    summary = Path("summary.md").read_text()
    assert summary.startswith("### ❌ assay: FAIL\n\nRun `bad`.\n")
    assert assay(*gate, "--markdown")[1] == summary
    assay(*gate, "--summary", "summary.md")
    assert Path("summary.md").read_text() == summary * 2  # what stood there stays


def test_texts_of_others_stay_texts(assay: Run) -> None:
    Path("hostile.jsonl").write_text(
        json.dumps({"id": "a`b|<script>@all\x1b[31m\nx", "question": "?", "answer": "y", "reference": "x"})
    )
    assay("score", "hostile.jsonl", "--metrics", METRIC, "--name", "h", "--quiet")
    gate = ("gate", "h", "--fail-below", f"{METRIC}=0.8", "--junit", "h.xml")
    _, text, _ = assay(*gate)
    _, markdown, _ = assay(*gate, "--markdown")
    assert "\x1b" not in text + markdown
    assert "- ``a`b|<script>@all\\x1b[31m x`` (row 1): 0.00" in markdown
    assert ET.parse("h.xml").getroot() is not None


@pytest.mark.short_cases(2)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gate", "good"), "there are no rules: there is no configuration; give one, as --fail-below"),
        (("gate", "good", "--fail-below", "faithfulness"), "--fail-below: expected METRIC=NUMBER, as faithfulness=0.8"),
        (("gate", "good", "--fail-below", f"{METRIC}=high"), "--fail-below: expected METRIC=NUMBER"),
        (("gate", "good", "--fail-below", f"{METRIC}=nan"), "--fail-below: expected METRIC=NUMBER"),
        (("gate", "good", "--fail-above", f"{METRIC}=0.5"), "higher is better for this metric; say at_least"),
        (("gate", "good", "--fail-below", f"{METRIC}=80"), "at_least: expected a number from 0 to 1, got 80"),
        (("gate", "good", "--fail-below", "other=0.8"), "the metric 'other' is not in run 'good'"),
        (("gate", "none", "--fail-below", f"{METRIC}=0.8"), "run 'none' is not in the store"),
        (("gate", "good", "--json", "--markdown", "--fail-below", f"{METRIC}=0.8"), "only one of them"),
        (("score", "good.jsonl", "--baseline", "good"), "--baseline: goes with --gate"),
        (("score", "good.jsonl", "--gate"), "there is no configuration"),
        (("score", "good.jsonl", "--metrics", METRIC, "--fail-below", "faithfulness=0.8"), "not among the metrics"),
        (("score", "good.jsonl", "--fail-below", "faithfullness=0.8"), "did you mean 'faithfulness'"),
        (("score",), "data: name a file of answers, or one in the configuration"),
    ],
)
def test_wrong_use_is_named_before_anything_is_scored(assay: Run, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = assay(*arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_scoring_ends_with_what_the_gate_says(assay: Run) -> None:
    score = ("score", "bad.jsonl", "--metrics", METRIC, "--quiet", "--fail-below")
    assert assay(*score, f"{METRIC}=0.1")[0] == 0
    code, out, _ = assay(*score, f"{METRIC}=0.8", "--summary", "s.md")
    assert (code, "mean 0.200 on 10 rows" in out, "FAIL" in Path("s.md").read_text()) == (5, True, True)
    code, out, err = assay(*score, f"{METRIC}=0.8", "--json")
    assert (code, json.loads(out)["rows"], "FAIL: " in err) == (5, 10, True)


CONFIG = """
data = "good.jsonl"
store = "elsewhere"
metrics = ["ragas:exact_match"]
[gates]
baseline = "main"
[gates."ragas:exact_match"]
at_least = 0.8
max_drop = 0.1
"""


def test_what_is_not_given_is_what_the_file_says(assay: Run) -> None:
    Path("assay.toml").write_text(CONFIG)
    code, out, err = assay("score", "--name", "main", "--quiet")
    assert (code, METRIC in out, "configuration assay.toml" in err) == (0, True, True)
    assert Path("elsewhere/assay.db").exists()
    code, out, _ = assay("score", "bad.jsonl", "--name", "now", "--gate", "--quiet")
    assert code == 5
    assert "FAIL: now against main" in out
    assert assay("gate", "now")[0] == 5
    assert assay("gate", "now", "--fail-below", f"{METRIC}=0.1")[0] == 0  # in place of the file's
    assert "now" in assay("runs")[1]
    assert assay("runs", "--store", ".assay")[1].count("good") == 2  # the run, and its data
    assert "2" in assay("worst", METRIC, "-n", "2")[1]


def test_options_win_over_the_file(assay: Run) -> None:
    Path("other.toml").write_text(CONFIG)
    code, out, err = assay("score", "bad.jsonl", "--config", "other.toml", "--store", "mine", "--metrics",
                           "ragas:string_presence", "--quiet")  # fmt: skip
    assert (code, "string_presence" in out, METRIC in out) == (0, True, False), err
    assert (Path("mine/assay.db").exists(), Path("elsewhere").exists()) == (True, False)


def test_a_judge_that_is_named_does_not_get_the_address_of_the_file_s(assay: Run) -> None:
    Path("assay.toml").write_text(
        "[judge]\nname = 'openai:some'\nbase_url = 'http://127.0.0.1:9/v1'\napi_key_env = 'NO_SUCH_KEY'\n"
    )
    score = ("score", "good.jsonl", "--metrics", METRIC, "--quiet")
    code, _, err = assay(*score)
    assert (code, "'NO_SUCH_KEY' is not set" in err) == (2, True)
    assert "its judge is at http://127.0.0.1:9/v1, with the key of NO_SUCH_KEY" in err
    assert assay(*score, "--judge", "embedded")[0] == 0


def test_metrics_of_the_file_keep_their_parameters(assay: Run) -> None:
    Path("assay.toml").write_text(
        'data = "good.jsonl"\n[metrics."ragas:exact_match"]\nprofile = "original"\n[columns]\nquestion = "question"\n'
    )
    code, out, _ = assay("score", "--json", "--quiet")
    assert (code, list(json.loads(out)["metrics"])) == (0, [f"{METRIC}@original"])


def test_a_wrong_file_stops_every_command_that_reads_it(assay: Run) -> None:
    Path("assay.toml").write_text("[gates.faithfulnes]\nat_least = 0.8\n")
    for command in (
        ("score", "good.jsonl"),
        ("gate",),
        ("runs",),
        ("judge", "check"),
        ("store", "clear-cache", "--judges"),
    ):
        code, out, err = assay(*command)
        assert (code, out) == (2, ""), command
        assert "[gates.faithfulnes] line 1: there is no metric 'faithfulnes'; did you mean 'faithfulness'" in err
    assert assay("score", "good.jsonl", "--config", "nowhere.toml")[0] == 2


def test_init_writes_a_file_and_never_over_one(assay: Run) -> None:
    assert assay("init")[0] == 0
    text = Path("assay.toml").read_text()
    code, _, err = assay("init")
    assert (code, "is there already, and stays as it is" in err, Path("assay.toml").read_text()) == (2, True, text)
    assert assay("init", "no/such")[0] == 2


@pytest.mark.long
def test_what_init_writes_runs_as_it_is(assay: Run) -> None:
    assay("init")
    code, out, err = assay("score", "--gate", "--quiet")
    assert (code, "keeps faithfulness at least 0.5" in out) == (0, True), err
    assert assay("gate", "--json")[0] == 0


def test_every_line_of_the_template_that_is_commented_out_may_be_used(tmp_path: Path) -> None:
    from assay.analysis.judges.noise import NoiseReport
    from assay.config import configuration
    from assay.config.template import template

    lines = [
        line.removeprefix("# ") if line.startswith("# [") or (line.startswith("# ") and " = " in line) else line
        for line in template()[0].splitlines()
        if not line.startswith("# Secrets")
    ]
    (tmp_path / "assay.toml").write_text("\n".join(lines).replace('name = "embedded"', 'name = "openai:MODEL"'))
    NoiseReport("embedded", ("a", "b")).save(tmp_path / "noise.json")
    found = configuration(folder=tmp_path)
    assert found is not None
    assert found.gates is not None
    assert {rule.kind for rule in found.gates.gate.rules} == {"at_least", "good_share", "max_drop", "margin"}
    assert found.columns["contexts"] == ("passage 1", "passage 2")
