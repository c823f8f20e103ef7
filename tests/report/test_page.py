"""What is in the HTML file: the policy, its rows as they were, and what is said without a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import ScriptedJudge, evaluate
from assay.errors import InputError, MissingExtra
from assay.evaluation.summary import Summary
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, Span, Verdict
from assay.report.build import ReportOptions, report_of
from assay.report.figures import Figures
from assay.report.html.packed_row import Offsets, SharedValues, side_of
from assay.report.html.page import write_page
from assay.report.lines import slices_of
from assay.report.markdown import write_markdown
from tests.report.conftest import HOSTILE, METRICS, Two, judge, row


def unpacked(page: str, name: str) -> Any:
    found = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


@pytest.mark.long
def test_the_policy_names_the_hashes_of_its_style_and_its_script_and_forbids_all_else(file: Path):
    page = file.read_text("utf-8")
    style, script = re.search(r"<style>(.*?)</style>", page, re.S), re.search(r"<script>(.*?)</script>", page, re.S)
    assert style is not None
    assert script is not None
    hashes = [base64.b64encode(hashlib.sha256(one[1].encode()).digest()).decode() for one in (script, style)]
    assert (
        f"default-src &#39;none&#39;; script-src &#39;sha256-{hashes[0]}&#39;; style-src &#39;sha256-{hashes[1]}&#39;; "
        "img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;" in page
    )
    assert page.count("<script>") == 1
    bare = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page, flags=re.S)
    assert not re.search(r"<[^>]*\s(on\w+|style|src)=", bare)


def test_nothing_of_the_data_is_markup(file: Path):
    page = file.read_text("utf-8")
    assert "window.bad=1</script>" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_the_rows_are_all_there_and_each_passage_once(file: Path, two: Two):
    page = file.read_text("utf-8")
    index = unpacked(page, "index-0")
    assert index["number"] == list(range(1, 41))
    assert index["question"] == [one.sample.question for one in two.now]
    assert index["v0"] == [one.scores["faithfulness"].value for one in two.now]
    assert index["b0"][0] == 1.0
    passages = unpacked(page, "body-0")["passages"]
    assert len(passages) == len(set(passages))
    assert set(passages) == {context.text for one in two.now for context in one.sample.contexts or ()}


def test_the_file_is_the_same_when_it_is_written_again(file: Path, two: Two, tmp_path: Path):
    again = write_page(report_of(two.now, two.before, ReportOptions(slices=("topic",))), tmp_path / "again.html")
    assert again.read_bytes() == file.read_bytes()


@given(st.text(max_size=60), st.data())
def test_offsets_are_those_of_utf_16(text: str, data: st.DataObject):
    text = text.encode("utf-16", "replace").decode("utf-16")
    at = data.draw(st.integers(0, len(text)))
    assert Offsets(text)(at) == len(text[:at].encode("utf-16-le")) // 2


def subjects_and_quotes(scored: ScoredSample) -> list[tuple[Any, Any]]:
    """What the verdicts of a metric "m" are on and quote, as the row has it."""
    (reading,) = side_of(scored, scored.sample, ["m"], SharedValues())["readings"]
    return [(one["subject"], one["quotes"]) for one in reading["verdicts"]]


@given(st.text(min_size=1, max_size=40), st.text(max_size=40), st.data())
def test_claims_and_quotes_are_found_again_in_the_packed_row(answer: str, passage: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(answer) - 1))
    end = data.draw(st.integers(start + 1, len(answer)))
    begin = data.draw(st.integers(0, len(passage)))
    stop = data.draw(st.integers(begin, len(passage)))
    sample = Sample(question="Q?", answer=answer, contexts=(Context(text=passage),))
    answer, passage = sample.answer or "", sample.passages[0]
    quote = Evidence(passage=0, span=Span(begin, stop), text=passage[begin:stop])
    verdict = Verdict(label="supported", claim=Claim(text=answer[start:end], span=Span(start, end)), evidence=(quote,))
    scored = ScoredSample(
        sample=sample, scores={"m": Score(metric="m", value=1.0, verdicts={"answer/contexts": (verdict,)})}
    )
    ((subject, (found,)),) = subjects_and_quotes(scored)
    wide = lambda text: text.encode("utf-16-le", "surrogatepass")  # noqa: E731
    assert subject.keys() == {"claim", "place", "start", "end"}
    assert wide(answer)[2 * subject["start"] : 2 * subject["end"]] == wide(verdict.claim.text)
    if quote.text:
        assert found["place"] == 0
        assert wide(passage)[2 * found["start"] : 2 * found["end"]] == wide(quote.text)
    else:
        assert found == {"text": ""}


def test_a_span_that_lies_outside_of_its_text_and_a_quote_that_stands_elsewhere_are_shown_as_texts():
    claim = Claim(text="Far away.", span=Span(90, 99))
    quote = Evidence(passage=7, span=Span(0, 3), text="xyz")
    verdict = Verdict(label="supported", claim=claim, evidence=(quote,))
    sample = Sample(question="Q?", answer="Short.", contexts=())
    scored = ScoredSample(
        sample=sample, scores={"m": Score(metric="m", value=1.0, verdicts={"answer/contexts": (verdict,)})}
    )
    assert subjects_and_quotes(scored) == [({"claim": True, "text": "Far away."}, [{"text": "xyz"}])]


def test_what_several_metrics_read_is_kept_once():
    verdict = Verdict(label="supported", claim=Claim(text="A.", span=Span(0, 2)))
    scores = {name: Score(metric=name, value=1.0, verdicts={"answer/contexts": (verdict,)}) for name in ("a", "b")}
    sample = Sample(question="Q?", answer="A.")
    side = side_of(ScoredSample(sample=sample, scores=scores), sample, ["a", "b"], SharedValues())
    assert len(side["readings"]) == 1
    assert [side["scores"][n]["readings"] for n in (0, 1)] == [[0], [0]]


def run_of(tmp_path: Path, rows: list[dict[str, Any]], name: str = "r", metrics: str = METRICS):
    return evaluate(rows, metrics, judge(), store=tmp_path / "s", run=name)


@pytest.mark.parametrize(
    "rows",
    [[], [row(1)], [{"question": "Q?", "answer": "A.", "contexts": None, "reference": None}] * 3, [row(1), row(1)]],
    ids=["no row", "one row", "nothing scored", "an id twice"],
)
def test_runs_of_few_rows_and_without_a_score_have_a_report(rows: list[dict[str, Any]], tmp_path: Path):
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    result = run_of(tmp_path, rows) if rows else emptied(tmp_path)
    page = write_page(report_of(result), tmp_path / "r.html").read_text("utf-8")
    assert "no baseline" in page
    assert (unpacked(page, "index-0")["number"] if rows else []) == list(range(1, len(rows) + 1))


def emptied(tmp_path: Path):
    """A run whose only row is gone."""
    from assay.evaluation.result import Result

    result = run_of(tmp_path, [row(1)])
    result.store.write(lambda db: db.execute("DELETE FROM rows"))
    return Result.load("r", tmp_path / "s")


def test_a_column_that_no_row_has_and_a_metric_that_is_not_there_are_named(two: Two):
    with pytest.raises(InputError, match="slice: no row has the column 'nope'; there are 'topic'"):
        report_of(two.now, options=ReportOptions(slices=("nope",)))
    with pytest.raises(InputError, match="cluster: no row has the column 'nope'"):
        report_of(two.now, options=ReportOptions(cluster="nope"))
    with pytest.raises(InputError, match="metrics: 'nope' is not in this run; it has faithfulness"):
        report_of(two.now, options=ReportOptions(metrics=["nope"]))


def test_without_the_extra_the_error_names_it(two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import sys

    for name in ("jinja2", "vl_convert"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, name, None)
            with pytest.raises(MissingExtra, match=r"an HTML report needs .*\[report\]"):
                write_page(report_of(two.now), tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_rows_of_one_cluster_are_one_witness(two: Two):
    """40 rows of three topics: the interval is that of three witnesses, and wider."""
    alone = report_of(two.now).figures.of["faithfulness"].summary.interval
    together = report_of(two.now, options=ReportOptions(cluster="topic")).figures.of["faithfulness"].summary.interval
    assert alone is not None
    assert together is not None
    assert together.clusters == 3
    assert together.high - together.low > alone.high - alone.low


def test_the_worst_rows_are_those_farthest_from_the_best_value():
    figures = Figures(Summary(metric="m"), [0.5, 1.0, 0.0, 0.5], [1, 2, 3, 4])
    assert figures.worst(3) == [(3, 0.0), (1, 0.5), (4, 0.5)]
    lower = Figures(Summary(metric="m", direction="lower"), [0.5, 0.0, 1.0], [1, 2, 3])
    assert lower.worst(3) == [(3, 1.0), (1, 0.5)]


def test_root_causes_are_shown_where_they_were_read(two: Two, tmp_path: Path):
    class Cause:
        label, because = "not_retrieved", f"no passage has it {HOSTILE}"

    class Found:
        per_row, shares, failed = {1: Cause()}, {"not_retrieved": 0.75, "not_read": 0.25}, 4

    pytest.importorskip("vl_convert")
    report = report_of(two.now)
    report.causes = Found()
    page = write_page(report, tmp_path / "r.html").read_text("utf-8")
    assert "Of 4 failed rows." in page
    Found.failed = 1
    assert "Of 1 failed row." in write_page(report, tmp_path / "one.html").read_text("utf-8")
    assert "of 1 failed row:" in write_markdown(report, tmp_path / "one.md").read_text("utf-8")
    assert "not retrieved" in page
    assert "75 %" in page
    assert unpacked(page, "index-0")["cause"][:2] == [["not_retrieved", Cause.because], None]


def test_a_run_of_which_no_metric_says_what_failed_has_a_report_without_causes(tmp_path: Path):
    """Context precision has no threshold of its own: there is nothing to find causes of, and all else is shown."""
    pytest.importorskip("vl_convert")
    useful = ScriptedJudge(usefulness=lambda question, passage: False)
    rows = [{"question": "Q?", "contexts": ["C"], "reference": "R"}]
    report = report_of(evaluate(rows, "context_precision", useful, store=tmp_path))
    assert report.causes is None
    assert report.cause_of(1) is None
    page = write_page(report, tmp_path / "r.html").read_text("utf-8")
    assert "no metric of this run says by itself which rows failed" in page


def test_ids_that_look_like_numbers_do_not_lead_to_other_rows(tmp_path: Path):
    """The row with the id "2" is the first: its claims, and not those of row 2, are what flipped in it."""
    judge_of = ScriptedJudge(
        claims=lambda text: [text], support=lambda c, p: "supported" if c == "Yes." else "not_mentioned"
    )
    rows = [{"id": str(2 - n), "question": "Q?", "contexts": ["C"], "answer": "Yes."} for n in range(2)]
    before = evaluate(rows, "faithfulness", judge_of, store=tmp_path, run="a")
    now = evaluate([{**rows[0], "answer": "No."}, rows[1]], "faithfulness", judge_of, store=tmp_path, run="b")
    report = report_of(now, before)
    assert report.pairs == {1: 1, 2: 2}
    (moved,) = report.comparison.metrics["faithfulness"].moved
    assert (moved.name, moved.second_row) == ("2", 1)
    assert [(flip.first_claim, flip.second_claim, flip.second) for flip in moved.flips] == [
        ("Yes.", "No.", "not_mentioned")
    ]


def test_slices_say_where_it_got_worse(tmp_path: Path):
    """Of 40 rows the 20 of the even topic say something in the second run that no passage says."""
    before = run_of(tmp_path, [row(n) for n in range(40)], "before", "faithfulness")
    cheese = [row(n, None if n % 2 else f"Thing {n} is red. It is made of cheese.") for n in range(40)]
    now = run_of(tmp_path, cheese, "now", "faithfulness")
    (slices,) = slices_of(report_of(now, before, ReportOptions(slices=("topic",))))
    assert {group["value"]: group["cells"][0]["verdict"] for group in slices["groups"]} == {"even": "worse", "odd": ""}
