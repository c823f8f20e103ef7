"""A run as Markdown, JUnit XML, CSV and Parquet."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.report.build import report_of
from assay.report.junit import cases_of
from assay.report.markdown import as_markdown, escaped
from assay.report.write import write_report
from tests.report.conftest import HOSTILE, WRONG, Two

COUNTED = ("tests", "failures", "errors")


def test_markdown_says_the_verdict_the_table_and_what_flipped(two: Two):
    """Eight of 40 rows fell by 0.5 each: 2 · 0.5⁸ = 0.0078, the only metric that moved."""
    said = as_markdown(report_of(two.now, two.before))
    lines = said.splitlines()
    assert lines[0] == "### 🔴 worse"
    assert "worse on faithfulness; unchanged on context_precision (40 rows in both)" in lines[2]
    assert next(line for line in lines if line.startswith("| faithfulness")).split(" | ")[4:7] == [
        "0.0078",
        "40",
        "**worse**",
    ]
    flipped = next(line for line in lines if line.startswith("- q0: faithfulness 1.00 → 0.50"))
    assert '"It is 😀 round." (supported) -\\> "It is made of cheese." (not in the passages)' in flipped


def test_without_a_baseline_markdown_names_the_lowest_rows(two: Two):
    said = as_markdown(report_of(two.now))
    assert said.startswith("### ⚪ no baseline")
    assert "- faithfulness: row 1 (0.50), row 2 (0.50)" in said


def test_what_the_data_says_is_neither_markup_nor_a_mention(two: Two):
    said = as_markdown(report_of(two.now, two.before))
    assert "<img" not in said.replace("\\<", "")
    assert "\u202e" not in said
    assert escaped("@octocat see #12 https://x.y www.x.y a_b _c_ | *d* `e` [f](g)") == (
        "&#64;octocat see \\#12 https&#58;//x.y www&#46;x.y a_b \\_c\\_ \\| \\*d\\* \\`e\\` \\[f\\](g)"
    )
    assert escaped("1. one") == "&#49;. one"
    assert escaped("- item\n# head") == "\\- item \\# head"


@given(st.text(max_size=300))
def test_escaped_text_is_one_line_without_bare_marks(text: str):
    said = escaped(text)
    assert "\n" not in said
    assert not re.search(r"(?<!\\)[<>|`*\[\]]", said.replace("\\\\", ""))
    assert not re.search(r"@|&(?!#\d+;)", said)


def junit(path: Path) -> ET.Element:
    root = ET.parse(path).getroot()
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        cases = list(suite)
        found = {tag: sum(one.find(tag) is not None for one in cases) for tag in ("failure", "error", "skipped")}
        assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(found["failure"]))
        assert (suite.get("errors"), suite.get("skipped")) == (str(found["error"]), str(found["skipped"]))
        assert all(one.tag == "testcase" and one.get("classname") and one.get("name") for one in cases)
        assert len({one.get("name") for one in cases}) == len(cases)
    sums = {name: sum(int(suite.get(name) or 0) for suite in root) for name in COUNTED}
    assert {name: int(root.get(name) or 0) for name in COUNTED} == sums
    return root


def test_junit_fails_the_rows_that_got_worse(two: Two, tmp_path: Path):
    root = junit(write_report(report_of(two.now, two.before), tmp_path / "r.xml"))
    suite = root[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("faithfulness", "40", str(WRONG))
    failure = suite[0].find("failure")
    assert failure is not None
    assert failure.get("message") == "0.500 was 1.000 in the baseline"
    assert "\\u202eevil" in (suite[39].get("name") or "")


def test_junit_fails_the_rows_under_a_threshold(two: Two, tmp_path: Path):
    root = junit(write_report(report_of(two.now), tmp_path / "r.xml", {"faithfulness": 0.6}))
    assert root[0].get("failures") == str(WRONG)
    failure = root[0][0].find("failure")
    assert failure is not None
    assert failure.text == "0.500 is below 0.6"
    with pytest.raises(InputError, match="fail-under: 'nope' is not in this run"):
        list(cases_of(report_of(two.now), {"nope": 1.0}))


def test_csv_and_parquet_have_a_line_for_each_sample_and_metric(two: Two, tmp_path: Path):
    report = report_of(two.now, two.before)
    with write_report(report, tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 40 * 2
    first = lines[0]
    assert [first[name] for name in ("row", "id", "metric", "value", "baseline", "difference")] == [
        *("1", "q0", "faithfulness", "0.5", "1.0", "-0.5"),
    ]
    assert lines[-1]["question"] == HOSTILE
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(write_report(report, tmp_path / "r.parquet"))
    assert table.num_rows == 80
    assert table.column("difference")[0].as_py() == -0.5
    assert table.column("id")[-1].as_py() == HOSTILE


@pytest.mark.parametrize("name", ["r", "r.txt", "r.yaml", "html"])
def test_another_suffix_is_refused_with_those_that_there_are(two: Two, tmp_path: Path, name: str):
    with pytest.raises(InputError, match=r"-o: expected a file that ends in \.html, \.md, \.xml, \.csv, \.parquet"):
        write_report(report_of(two.now), tmp_path / name)
    assert not (tmp_path / name).exists()
