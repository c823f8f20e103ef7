"""Files that are cut, damaged, somebody else's or no runs at all: rows that cannot be read count, and errors help."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import Result, ScoredSample
from assay._util import byte_limits
from assay.data.outputs.records import Output, OutputRow
from assay.data.unreadable import UnreadableRow
from assay.errors import AssayError, Cause, InputError
from assay.evaluation.external_runs import open_run
from assay.evaluation.output_runs import run_of_output
from assay.records import Context, Sample, Score, ScoreError
from assay.report.write import report_run

COUNT = 4
ROWS = [
    ScoredSample(
        sample=Sample(id=f"r{n}", question="Why?", answer="Because it is so."),
        scores={"own": Score(metric="own", value=n / COUNT, judge="scripted")},
    )
    for n in range(COUNT)
]
WRITERS: dict[str, Callable[[Result, Path], Path]] = {
    "jsonl": lambda result, path: result.to_jsonl(path.with_suffix(".jsonl")),
    "json": lambda result, path: report_run(result, path.with_suffix(".json")),
    "csv": lambda result, path: result.to_csv(path.with_suffix(".csv")),
    "long": lambda result, path: report_run(result, path.with_suffix(".csv")),
    "parquet": lambda result, path: report_run(result, path.with_suffix(".parquet")),
}


@pytest.fixture(scope="module")
def result() -> Result:
    return run_of_output("one", Output(lambda: (OutputRow(n, row) for n, row in enumerate(ROWS, 1))), folder=None)


@pytest.fixture(scope="module")
def written(result: Result, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("written")
    return {name: write(result, folder / name).read_bytes() for name, write in WRITERS.items()}


def opened(path: Path, content: bytes) -> Result:
    path.write_bytes(content)
    return open_run(path)


def error(path: Path, content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        opened(path, content)
    return str(caught.value)


def test_a_line_that_was_cut_counts_as_a_row_that_cannot_be_read(written: dict[str, bytes], tmp_path: Path) -> None:
    """Wherever the last of four lines is cut: three rows, one unreadable, a coverage of 3 of 4."""
    whole = written["jsonl"]
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for cut in (last + 1, last + 30, len(whole) - 3):
        found = opened(tmp_path / "cut", whole[:cut])
        assert (found.rows, found.unreadable, found.metrics["own"].total) == (COUNT - 1, 1, COUNT)
        assert dict(found.metrics["own"].causes) == {Cause.LOST: 1}
        assert found.incomplete == (f"1 of {COUNT} rows could not be read",)
        assert any("1 row could not be read: line 4" in note for note in found.notes)
    assert opened(tmp_path / "cut", whole[: len(whole) - 1]).complete, "the end of the last line is no part of the row"


def test_a_line_that_is_no_json_keeps_its_place(
    written: dict[str, bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = written["jsonl"].splitlines(keepends=True)
    found = opened(tmp_path / "a", b"".join([lines[0], b"{no json\n", *lines[2:]]))
    assert [row.number for row in found.numbered_rows()] == [1, 3, 4]
    assert [(one.number, one.cause) for one in found.errors] == [(2, "lost")]
    assert not caplog.records, "a note of the run says it"
    first = opened(tmp_path / "a", b"".join([lines[0][:50], b"\n", *lines[1:]]))
    assert (first.rows, first.unreadable) == (COUNT - 1, 1)


def test_half_a_csv_row_and_cells_of_another_kind(written: dict[str, bytes], tmp_path: Path) -> None:
    whole = written["csv"]
    cut = whole[: whole.rstrip(b"\n").rindex(b"0.75")]
    found = opened(tmp_path / "a", cut.rstrip(b","))
    assert (found.rows, found.unreadable, found.metrics["own"].total) == (COUNT - 1, 1, COUNT)
    text = opened(tmp_path / "a", whole.replace(b"0.75", b"high"))
    assert (text.rows, text.unreadable) == (COUNT - 1, 1)
    assert any("column 'own': 'high' is no number" in note for note in text.notes)
    cause = opened(tmp_path / "a", whole.replace(b"0.75,", b",tired"))
    assert any("'tired' is no cause that this assay knows" in note for note in cause.notes)
    opened_quote = opened(tmp_path / "a", whole.replace(b"4,r3,Why?", b'4,r3,"Why?'))
    assert (opened_quote.rows, opened_quote.unreadable) == (COUNT - 1, 1)


@pytest.mark.parametrize("form", WRITERS)
def test_neither_name_nor_gzip_nor_byte_order_mark_matters(
    form: str, written: dict[str, bytes], tmp_path: Path
) -> None:
    content = written[form]
    for name in ("a", "a.html", "a.gz.txt"):
        assert opened(tmp_path / name, content).rows == COUNT
    if form == "parquet":
        assert "unpack it" in error(tmp_path / "a.parquet.gz", gzip.compress(content))
        return
    assert opened(tmp_path / "a.parquet", b"\xef\xbb\xbf" + content).rows == COUNT
    assert opened(tmp_path / "b", gzip.compress(content)).rows == COUNT
    assert opened(tmp_path / "b.csv.gz", gzip.compress(content)).rows == COUNT
    assert "UTF-16" in error(tmp_path / "a.csv", content.decode().encode("utf-16"))


def test_a_gzip_file_that_was_cut_keeps_its_first_rows(tmp_path: Path) -> None:
    rows = (
        ScoredSample(sample=Sample(id=os.urandom(40).hex(), answer="x"), scores=ROWS[0].scores) for _ in range(2000)
    )
    content = "".join(json.dumps(row.to_dict()) + "\n" for row in rows).encode()
    found = opened(tmp_path / "a", gzip.compress(content)[:-20_000])
    assert 1000 < found.rows < 2000
    assert found.unreadable == 1
    assert any("gzip file is damaged" in note or "cannot be read" in note for note in found.notes)


def test_a_line_above_the_limit_counts(
    written: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = written["jsonl"].splitlines(keepends=True)
    monkeypatch.setattr(byte_limits, "ROW", 1 << 20)
    found = opened(tmp_path / "a", lines[0].replace(b"Why?", b"W" * (1 << 21)) + b"".join(lines[1:]))
    assert (found.rows, found.unreadable) == (COUNT - 1, 1)
    assert any("longer than 1 MiB" in note for note in found.notes)


def test_a_newer_schema_says_to_upgrade(written: dict[str, bytes], tmp_path: Path) -> None:
    newer = written["jsonl"].replace(b'"schema": 2', b'"schema": 99')
    assert "no row can be read: line 1: ScoredSample was written by a newer assay" in error(tmp_path / "a", newer)


NO_RUNS = {
    "empty": (b"", "is empty"),
    "white space": (b" \n\n", "no rows"),
    "html": (b"<!DOCTYPE html><html>...", "HTML, a report for people, which is not read back; give the run itself"),
    "junit": (b'<?xml version="1.0"?><testsuites/>', "JUnit XML, a report for CI systems"),
    "xml": (b"<root/>", "XML or HTML"),
    "markdown": (b"### no baseline\n\none", "Markdown, a report for people"),
    "spreadsheet": (b"PK\x03\x04abc", "spreadsheet"),
    "binary": (b"\x89PNG\r\x00\x1a\n\x00\x00", "neither text nor Parquet"),
    "data set as JSON lines": (b'{"question": "Why?", "answer": "So."}\n', "is a data set"),
    "data set as JSON": (b'[{"user_input": "Why?", "response": "So."}]', "assay score"),
    "data set as CSV": (b"question,answer\nWhy?,So.\n", "it has questions or answers, and no scores"),
    "ragas": (b"user_input,response,faithfulness\nWhy?,So.,0.5\n", "looks like results of ragas; prefix its name"),
    "a list of failures": (b"number,id,metric,value,threshold\n1,a,m,0.1,< 0.5\n", "not rows; give the run itself"),
    "a list of errors": (b"number,id,metric,cause,message,raw\n1,a,m,parse,x,\n", "not rows"),
    "means": (b'{"run": "one", "judge": "x", "metrics": {}}', "has the means of a run and none of its rows"),
    "something else": (b"x,y\n1,2\n", "format not recognised. If another tool wrote it, prefix its name, e.g. ragas:"),
    "a number": (b"7", "format not recognised"),
    "a list of numbers": (b"[1, 2]", "format not recognised"),
    "JSON that ends early": (b'{\n "run": "one", "samples": [', "is no JSON"),
    "a run without rows": (b'{"run": "one", "samples": []}', "has no rows"),
    "a header alone": (b"row,id,question,contexts,answer,reference,m,m_error\n", "has no rows"),
}


@pytest.mark.parametrize("kind", NO_RUNS)
def test_what_is_no_run_says_what_to_give(kind: str, tmp_path: Path) -> None:
    content, message = NO_RUNS[kind]
    assert message in error(tmp_path / "file", content)


def test_folders_pipes_and_databases_of_others(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder without a store or a queue"):
        open_run(tmp_path)
    (tmp_path / ".assay").mkdir()
    with pytest.raises(InputError, match=r"give '.*\.assay'"):
        open_run(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        open_run(tmp_path / "pipe")
    assert "format not recognised" in error(tmp_path / "x.db", b"SQLite format 3\x00" + bytes(4000))
    with pytest.raises(InputError, match="there is none in"):
        open_run("nothing", tmp_path / "store")


def test_ranges_of_metrics_that_a_csv_file_does_not_say(tmp_path: Path) -> None:
    content = b"row,id,question,contexts,answer,reference,own,own_error\n1,a,Why?,,So.,,4,\n"
    assert "own: 4 is outside 0 to 1; another scale is stated by --scale own=WORST:BEST" in error(
        tmp_path / "a", content
    )
    found = open_run(tmp_path / "a", scales={"own": (5, 1)})
    assert (found.metrics["own"].direction, found.metrics["own"].mean) == ("lower", 4.0)
    assert not any("scale of own" in note for note in found.notes)
    assert any(
        "the scale of own is not known" in note for note in opened(tmp_path / "a", content.replace(b"4", b"1")).notes
    )


def test_pictures_outside_of_the_folder_are_left_out_and_scores_stay(tmp_path: Path) -> None:
    context = Context(text="a page", image="/etc/hostname.png")
    row = ScoredSample(sample=Sample(id="a", contexts=(context,), answer="x"), scores=ROWS[0].scores)
    found = opened(tmp_path / "a", json.dumps(row.to_dict()).encode())
    (read,) = found
    assert read.sample.contexts == (Context(text="a page"),)
    assert read.values == {"own": 0.0}
    assert any("pictures of 1 row lie outside" in note for note in found.notes)


def test_rows_of_a_table_that_another_tool_sorted_are_one_row(tmp_path: Path) -> None:
    """Two metrics of two rows, sorted by metric: the lines of a row do not follow each other."""
    lines = [f"{n},r{n},{name},0.{n},,0,1,higher,q{n},a" for name in ("m", "n") for n in (1, 2)]
    content = "\n".join(["row,id,metric,value,error,low,high,direction,question,answer", *lines]) + "\n"
    found = opened(tmp_path / "a", content.encode())
    assert [row.scored.values for row in found.numbered_rows()] == [{"m": 0.1, "n": 0.1}, {"m": 0.2, "n": 0.2}]


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_gives_a_run_or_an_error_in_words(
    written: dict[str, bytes], tmp_path: Path, data: st.DataObject
) -> None:
    content = bytearray(written[data.draw(st.sampled_from(sorted(written)))])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["cut", "change", "insert"]))
        if kind == "cut":
            del content[max(1, place) :]
        elif kind == "change":
            content[place] = data.draw(st.integers(0, 255))
        else:
            content[place:place] = data.draw(st.binary(max_size=20))
    try:
        found = opened(tmp_path / "a", bytes(content))
    except AssayError:
        return
    assert found.rows + found.lost > 0
    assert all(len(summary.causes) or summary.scored for summary in found.metrics.values())


def test_a_row_that_is_no_sample_and_no_error_is_never_dropped() -> None:
    bad = [OutputRow(None, UnreadableRow("line 1 is bad")), OutputRow(2, UnreadableRow("line 2 is bad"))]
    gap = ScoredSample(
        sample=Sample(answer="x"),
        scores={"own": Score(metric="own", error=ScoreError(cause=Cause.PARSE, message="no"))},
    )
    found = run_of_output("a", Output(lambda: iter([*bad, OutputRow(None, gap)])), folder=None)
    assert (found.rows, found.unreadable, found.metrics["own"].total) == (1, 2, 3)
    with pytest.raises(InputError, match="no row can be read: line 1 is bad"):
        run_of_output("a", Output(lambda: iter(bad)), folder=None)


WRITING = """
import sys
from assay.records import Sample, Score, ScoredSample
from assay.sinks import JsonlSink
sink, number = JsonlSink(sys.argv[1]), 0
while True:
    scores = {"m": Score(metric="m", value=1.0)}
    sink.write(ScoredSample(sample=Sample(id=str(number), answer="x" * 20_000), scores=scores))
    number += 1
    print(number, flush=True)
"""


def test_what_a_killed_process_wrote_is_a_run(tmp_path: Path) -> None:
    """Each row that was said to be written is there; at most the one that was being written cannot be read."""
    path = tmp_path / "rows.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITING, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(30)]
        process.kill()
    found = open_run(path)
    assert found.rows >= int(said[-1]) == 30
    assert found.unreadable <= 1
