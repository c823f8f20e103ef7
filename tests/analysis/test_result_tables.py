"""Every result that users get in Python is a short table: all its classes, and what their columns say."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from assay import Gate, GateRule, ScriptedJudge, check, compare, compare_runs, evaluate
from assay._util.tabular import ResultRows, Tabular, columns_of
from assay.analysis.diagnosis import find_causes
from assay.analysis.diagnosis.threshold_failures import Threshold, threshold_failures
from assay.analysis.judges.alignment.alignment import align
from assay.analysis.judges.noise import noise_of
from assay.evaluation.result import Result
from assay.evaluation.run_names import runs_of
from assay.live.health import Health
from assay.report.build import report_of
from assay.store.integrity import check_store
from tests._util.test_tabular import HOSTILE, LONG, check_html, check_text

ROOMS = ("analysis", "evaluation", "stats", "store", "live", "judges.cascade", "report")
#: Classes that are no results: what users pass in, and what never leaves assay.
NOT_RESULTS = {
    # passed in, or read to be passed on
    "Annotation", "Application", "Assumptions", "Definition", "Gate", "GateRule", "HostRow", "Label", "Processes",
    "ReportOptions", "RunOptions", "Sampling", "SamplingRule", "Scale", "Shard", "ShardRecipe", "ShardTask",
    "ShardedFiles", "Threshold", "TrendData", "TrendMetric", "Window", "AlertRule", "AlertTarget", "CanaryRows",
    # inside
    "AlertChecker", "CanaryClaim", "Change", "DropReading", "MessageWriter", "ResolvedTarget", "Slot", "SlotState",
    "WindowMean",
    "Block", "Case", "CauseDecision", "CellsOf", "ClaimFacts", "Components", "ConfusionCounts", "Deaths",
    "Facts", "Figure",
    "Figures", "GuardJob", "ImportedScores", "ImportedValue", "Item", "LabelPair", "LabelledClaims", "LabelledPassages",
    "LeasedSample", "LimitEvidence", "Line", "Moments", "One", "Outcome", "PackedPart", "PendingDelivery",
    "Point", "Probe", "ProbeCase", "Readings", "ReportFigures", "Return", "RowPair", "RunItems", "SamplingDecision",
    "SelectedRows", "Session", "Family", "MatchedRows", "RefusalWording", "ClaimEvidence", "Expected", "Side",
    "Answer", "AskOptions", "HttpTarget", "Signature", "MetricScores", "RowColumns", "RowSelection", "RunSample",
    "ErrorGroup", "ReferenceClaim", "RowCount", "StoredFacts", "FoundRows",
    "StoredFigures", "UnscoredRow", "MergedRow",
    "Rank", "MatrixCell", "MatrixRow", "SharedValues", "Statement", "TableView", "Thumbnails", "Transition", "ViewPart",
    # shows itself in a frame
    "InlineReport",
}  # fmt: skip


def classes() -> Iterator[type]:
    """The public dataclasses of the rooms from which users get results."""
    for room in ROOMS:
        package = importlib.import_module(f"assay.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                own = inspect.isclass(value) and value.__module__ == found.name and not name.startswith("_")
                if own and (is_dataclass(value) or issubclass(value, Tabular)):
                    yield value


def test_every_result_shows_itself_and_converts() -> None:
    """A new class of results derives from `Tabular`; another goes into the list above."""
    lacking = [
        one.__name__
        for one in classes()
        if one.__name__ not in NOT_RESULTS and not all(hasattr(one, name) for name in ("_repr_html_", "to_pandas"))
    ]
    assert lacking == []


def test_the_list_names_no_class_that_is_gone_or_shows_itself() -> None:
    plain = {one.__name__ for one in classes() if not issubclass(one, Tabular)}
    assert sorted(NOT_RESULTS - plain - {"Annotation", "TableView"}) == []


@pytest.mark.parametrize("kind", [one for one in classes() if issubclass(one, Tabular)], ids=lambda one: one.__name__)
def test_no_class_shows_the_dump_of_a_dataclass(kind: type[Tabular]) -> None:
    if is_dataclass(kind):
        assert "__create_fn__" not in kind.__repr__.__qualname__
        assert kind.__repr__.__module__ != "dataclasses"
        assert kind.__repr__.__qualname__.split(".")[0] in ("Tabular", kind.__name__)
    paths = columns_of(kind).values()
    known = {one.name for one in fields(kind)} if is_dataclass(kind) else set()
    assert [path for path in paths if not (path.split(".")[0] in known or hasattr(kind, path.split(".")[0]))] == [] or (
        kind._record is not Tabular._record
    )


ROW = {"question": "When did it open?", "contexts": ["It opened in 1931."], "topic": "bridges"}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Result]:
    """Two runs of four rows: 1, 1, 1, 1 and 0, 0, 1 and no answer."""
    store = tmp_path_factory.mktemp("store")
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if "1931" in claim else "not_mentioned")
    right, wrong = "It opened in 1931.", "It opened in 1964."
    runs = []
    for answers in ((right,) * 4, (wrong, wrong, right, None)):
        rows = [ROW | {"id": f"r{n}"} | ({"answer": a} if a else {}) for n, a in enumerate(answers, 1)]
        runs.append(evaluate(rows, "faithfulness", judge, store=store, progress=False))
    return runs[0], runs[1]


def results(first: Result, second: Result) -> dict[str, Any]:
    """One of each result that can be had from two runs."""
    compared, causes = compare(first, second, by="topic"), find_causes(second)
    gate = Gate([GateRule("faithfulness", "at_least", 0.9), GateRule("faithfulness", "max_drop", 0.1)])
    decision = check(gate, second, first)
    labels = [{"id": f"r{n}", "metric": "faithfulness", "label": "good" if n == 3 else "bad"} for n in (1, 2, 3)]
    return {
        "comparison": compared, "metric": compared.metrics["faithfulness"],
        "moved": compared.metrics["faithfulness"].moved, "flips": compared.metrics["faithfulness"].moved[0].flips,
        "causes": causes, "cause": causes.per_row[1], "answered": causes.answered, "context health": causes.health,
        "worst": second.worst("faithfulness", 2), "row": second.worst("faithfulness"), "scored": second.row("r1"),
        "score": second.row("r1").scores["faithfulness"], "errors": second.errors, "error": second.errors[0],
        "summary": second.metrics["faithfulness"], "result": second, "explanation": second.explain(1),
        "failures": threshold_failures(second, [Threshold("faithfulness", 0.5)]), "decision": decision,
        "rulings": decision.rulings, "deciding rows": decision.rulings[0].decisive, "noise": noise_of([first, second]),
        "alignment": align(second, labels), "runs": runs_of(second.store), "store": check_store(second.store),
        "report": report_of(second, first), "matrix": compare_runs([first, second]),
        "health": Health(submitted=3, causes={"timeout": 2}),
    }  # fmt: skip


def test_all_are_short_and_harmless(two: tuple[Result, Result]) -> None:
    for name, thing in results(*two).items():
        check_text(repr(thing))
        if name not in ("result", "explanation"):  # a drawing, and a text
            check_html(thing._repr_html_())
        assert len(thing.to_pandas()) >= 1, name


def test_the_columns_and_their_values(two: tuple[Result, Result]) -> None:
    found = {name: thing.to_pandas() for name, thing in results(*two).items() if name != "result"}

    whole, slice_ = found["comparison"].to_dict("records")
    assert (whole["metric"], whole["pairs"], whole["unmeasured"]) == ("faithfulness", 3, 1)
    assert (whole["first"], whole["second"]) == (1.0, pytest.approx(1 / 3))  # (0 + 0 + 1) / 3
    assert whole["difference"] == pytest.approx(-2 / 3)
    assert (slice_["column"], slice_["slice"]) == ("topic", "bridges")
    assert list(found["moved"]["first_row"]) == [1, 2]
    assert list(found["moved"]["second"] - found["moved"]["first"]) == [-1.0, -1.0]
    assert list(found["flips"].columns) == [
        "first_claim", "first", "second_claim", "second", "against", "quote", "passage",
    ]  # fmt: skip
    assert found["matrix"].loc[0, ["run", "baseline", "metric"]].tolist() == [two[1].run, two[0].run, "faithfulness"]

    assert list(found["causes"]["row"]) == [1, 2]
    assert list(found["causes"]["failed"]) == ["faithfulness 0", "faithfulness 0"]
    assert list(found["worst"][["row", "faithfulness"]].itertuples(index=False)) == [(1, 0.0), (2, 0.0)]
    assert list(found["worst"].columns) == list(two[1].to_pandas().columns)
    assert found["row"].loc[0, ["metric", "value", "verdicts"]].tolist() == ["faithfulness", 0.0, "not_mentioned 1"]
    assert found["errors"].loc[0, ["row", "id", "cause"]].tolist() == [4, "r4", "missing_input"]
    assert list(found["failures"]["row"]) == [1, 2]
    assert found["failures"].loc[0, ["value", "threshold"]].tolist() == [0.0, 0.5]
    summary = found["summary"].iloc[0]
    assert summary["mean"] == pytest.approx(1 / 3)
    assert (summary["scored"], summary["total"]) == (3, 4)
    assert summary["least"] == pytest.approx(1 / 4)  # (0 + 0 + 1 + 0) / 4: the missing one is 0 at the worst
    assert summary["most"] == pytest.approx(2 / 4)

    assert found["decision"].loc[0, "value"] == pytest.approx(1 / 3)
    assert found["decision"].loc[1, "value"] == pytest.approx(-2 / 3)
    assert list(found["decision"]["verdict"]) == list(found["rulings"]["verdict"])
    assert found["noise"].loc[0, ["rows", "differ", "left_out"]].tolist() == [3, 2, 1]
    assert found["alignment"].loc[0, ["labels", "accuracy"]].tolist() == [3, 1.0]
    assert sorted(found["runs"]["run"]) == sorted(one.run for one in two)
    assert found["health"].loc[0, ["submitted", "causes"]].tolist() == [3, "timeout 2"]
    assert list(found["report"]["metric"]) == ["faithfulness"]
    assert found["explanation"].loc[0, ["row", "claim", "label"]].tolist() == [1, "It opened in 1964.", "not_mentioned"]


def test_sequences_equal_lists_of_the_same(two: tuple[Result, Result]) -> None:
    _, second = two
    for rows in (second.errors, second.worst("faithfulness", 2), runs_of(second.store)):
        assert type(rows) is ResultRows
        assert rows == list(rows) == [*rows]
    assert Result.load(two[0].run, two[0].store).errors == []


@pytest.mark.parametrize("text", [HOSTILE, LONG])
def test_texts_of_others_are_cut_and_escaped(text: str, tmp_path: Path) -> None:
    judge = ScriptedJudge(
        claims=lambda answer: [answer],
        support=lambda claim, passage: "supported" if claim.startswith("yes") else "not_mentioned",
    )
    rows = [{"id": f"{n} {text}", "question": text, "contexts": [text], "topic": text} for n in (1, 2)]
    first, second = (
        evaluate([row | {"answer": f"{said} {text[:50_000]}"} for row in rows], "faithfulness", judge, store=tmp_path)
        for said in ("yes", "no")
    )
    compared = compare(first, second, by="topic")
    moved = compared.metrics["faithfulness"].moved
    decision = check(Gate([GateRule("faithfulness", "at_least", 0.9)]), second)
    things = [
        compared, moved, moved[0].flips, second.worst("faithfulness", 2), second.row(1), decision, second.errors,
        decision.rulings[0].decisive, find_causes(second), runs_of(second.store), report_of(second, first),
    ]  # fmt: skip
    for thing in things:
        check_text(repr(thing))
        check_html(thing._repr_html_())
    check_text(repr(second.explain(1)))


def test_the_table_of_means_is_limited_as_well(two: tuple[Result, Result]) -> None:
    """40 metrics: 30 are shown."""
    summary = two[0].metrics["faithfulness"]
    many = replace(two[0], metrics={f"{HOSTILE} {n}": summary for n in range(40)}, note=LONG)
    html = many._repr_html_()
    assert html.count("<tr>") == 31
    assert "… 10 more metrics" in html
    assert "<script" not in html
    assert len(html) < 50_000
    check_text(repr(many))


def test_the_page_names_the_columns(two: tuple[Result, Result]) -> None:
    """The table of docs/evaluate.md: all columns of a result, or the first ones before "..."."""
    page = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text(encoding="utf-8")
    found = results(*two)
    things = {
        "result.errors": found["errors"], "result.row(n)": found["scored"], "result.metrics[name]": found["summary"],
        "compare(...)": found["comparison"], "find_causes(...)": found["causes"], "check(...)": found["decision"],
    }  # fmt: skip
    for name, thing in things.items():
        (line,) = [one for one in page.splitlines() if one.startswith(f"| `{name}` |")]
        named = re.findall(r"`(\w+)`", line.split("|")[3])
        columns = list(thing.to_pandas().columns)
        assert columns[: len(named)] == named, name
        assert ("..." in line.split("|")[3]) == (len(columns) > len(named)), name
