"""One answer under every system's definition of a name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import assay
from assay.analysis.lens import Definition, DefinitionResult, Lens, definitions, families, look
from assay.cli.main import app
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.systems.base import Steps
from assay.records import Context, Sample, Score

SAMPLE = Sample(
    question="When?", contexts=(Context(text="It opened in 1990."),), answer="It opened in 1990. It is red.", id="one"
)
JUDGE = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")


def test_all_definitions_of_a_name_are_measured_and_the_step_where_they_part_is_named() -> None:
    lens = look(SAMPLE, "faithfulness", JUDGE)
    assert [one.definition.metric for one in lens.seen][:2] == ["faithfulness", "ragas:faithfulness"]
    assert (lens.seen[0].score.value, lens.seen[0].parts_at) == (0.5, None)  # one of two claims
    assert (lens.seen[1].score.value, lens.seen[1].difference) == (0.5, "")  # the same formula
    assert lens.span is not None
    assert lens.span[0] <= 0.5 <= lens.span[1]
    assert str(lens).startswith("faithfulness: ")


def test_a_lens_says_where_formulas_part() -> None:
    ours = Steps("claims", "the contexts", "supported", "share")
    assert ours.parts_from(ours) is None
    for step in ("unit", "against", "counts", "aggregate"):
        other = Steps(**{**ours.to_dict(), step: "something else"})
        seen = DefinitionResult(Definition("x:y", other), Score(metric="x:y", value=1.0), ours.parts_from(other))
        assert seen.parts_at == step
        assert seen.difference == f"{step}: something else"
        assert f"[{step}: something else]" in str(Lens("name", (seen,)))


def test_a_lens_without_any_value_says_so() -> None:
    lens = look(Sample(question="When?", answer="In 1990."), "faithfulness", JUDGE)
    assert lens.span is None
    assert str(lens).startswith(f"faithfulness: none of {len(lens.seen)} definitions has a value here")


def test_an_unknown_name_lists_the_known_ones() -> None:
    assert {"faithfulness", "context precision", "answer relevance"} <= set(families())
    with pytest.raises(InputError, match="known are faithfulness"):
        definitions("truthiness")
    assert definitions("context_precision") == definitions("Context precision")
    with pytest.raises(InputError, match=r"there is no 'fathfulness'; did you mean 'faithfulness'"):
        definitions("fathfulness")


@pytest.mark.parametrize(
    ("metric", "family"),
    [
        ("ragas:faithfulness", "faithfulness"),
        ("deepeval:FaithfulnessMetric@original", "faithfulness"),
        ("context_relevance_passage", "context relevance"),
        ("self-knowledge", "self-knowledge"),
    ],
)
def test_the_name_of_a_metric_means_its_family(metric: str, family: str) -> None:
    assert definitions(metric) == definitions(family)


def test_the_command_asks_nothing_again_and_shows_every_definition(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assay.evaluate([SAMPLE], ["faithfulness"], store=store)
    told = CliRunner().invoke(app, ["show", "last", "one", "--definitions", "faithfulness", "--store", str(store)])
    assert told.exit_code == 0, told.output
    assert "ragas:faithfulness" in told.output
    assert "unit: claims of the answer, against: all contexts together, counts: supported" in told.output
    assert "the same formula" in told.output
    as_json = CliRunner().invoke(
        app, ["show", "last", "1", "--definitions", "faithfulness", "--store", str(store), "--json"]
    )
    found = json.loads(as_json.stdout)
    ragas = next(one for one in found if one["metric"] == "ragas:faithfulness")
    assert ragas["score"]["usage"]["calls"] == 0  # everything was in the store
    assert ragas["aggregate"] == "share"
    assert ragas["score"]["value"] == found[0]["score"]["value"]


def test_a_table_of_80_columns_says_what_each_metric_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = CliRunner().invoke(app, ["metrics", "--system", "ragas"])
    lines = told.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in told.stdout  # nothing is cut
    at = next(n for n, line in enumerate(lines) if " ragas:summarization_score " in line)
    assert lines[at].split() == ["ragas:summarization_score", "answer,", "0", "to", "1", "↑", "LLM"]
    assert lines[at + 1].split() == ["reference_contexts"]
    assert "ragas:answer_correctness@original" in told.stderr  # how names are written
    assert "assay.metrics.ragas" in told.stderr  # and parameters


def test_the_metrics_of_a_system_are_listed() -> None:
    told = CliRunner().invoke(app, ["metrics", "--system", "ragas"])
    assert told.exit_code == 0, told.output
    assert "ragas:faithfulness" in told.output
    everything = CliRunner().invoke(app, ["metrics", "--system", "all"])
    assert "ragas:faithfulness" in everything.output
