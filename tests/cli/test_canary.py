"""`assay live canary`, and canary rows of `assay live worker`: by options and by `[live] canaries` of assay.toml."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.live import SampleQueue
from assay.records import Context, Sample
from assay.store.canary_scorings import read_scorings
from assay.store.store import Store
from tests._support.servers.openai_server import OpenAIServer

Run = Callable[..., tuple[int, str, str]]


def rows(count: int = 12) -> str:
    """As `assay score --out` writes them: each row supported, faithfulness 1."""
    lines = []
    for n in range(count):
        sample = Sample(question="q", answer=f"It has {n} doors.", contexts=(Context(text=f"It has {n} doors."),))
        score = {"metric": "faithfulness", "value": 1.0}
        lines.append(json.dumps({"row": n + 1, "sample": sample.to_dict(), "scores": {"faithfulness": score}}))
    return "\n".join(lines) + "\n"


@pytest.fixture
def assay(command_line: Run, tmp_path: Path) -> Run:
    (tmp_path / ".git").mkdir()
    (tmp_path / "canaries.jsonl").write_text(rows(), encoding="utf-8")
    (tmp_path / "assay.toml").write_text(
        '[live]\napplication = "shop"\ncanaries = "canaries.jsonl"\n', encoding="utf-8"
    )
    return command_line


def judge(server: OpenAIServer) -> tuple[str, ...]:
    return ("--judge", "openai:fake", "--base-url", server.base_url)


def test_scores_now_and_shows_a_line_for_each_metric(assay: Run, tmp_path: Path) -> None:
    code, out, err = assay("live", "canary")
    assert (code, "store: there is none" in err) == (2, True)
    with OpenAIServer() as server:
        given = ("live", "canary", "--score", *judge(server), "--metrics", "faithfulness,hallucination")
        code, out, err = assay(*given)
        assert code == 0, err
        assert "canaries.jsonl has no scores of hallucination: the first scoring is the reference" in err
        asked = len(server.calls)
        code, out, _ = assay(*given)
        assert code == 0
        assert len(server.calls) == 2 * asked  # no cached judgement
    first, *lines = out.splitlines()
    assert "scored 2 times, the last on " in first
    assert "(UTC) by openai" in first
    assert [line.split(":")[0] for line in lines] == ["canary rows of faithfulness", "canary rows of hallucination"]
    code, out, _ = assay("live", "canary", "--json")
    found = json.loads(out)
    assert (code, found["application"], len(found["scorings"])) == (0, "shop", 3)
    assert [(one["metric"], one["scorings"]) for one in found["metrics"]] == [("faithfulness", 3), ("hallucination", 2)]


def test_a_judge_that_supports_nothing_any_more_drifts(assay: Run) -> None:
    refuses: list[bool] = []

    def plan(call: Any) -> str | None:
        return call.honest.replace("supported", "not_mentioned") if call.kind == "support" and refuses else None

    with OpenAIServer(plan=plan) as server:
        given = ("live", "canary", "--score", *judge(server), "--metrics", "faithfulness")
        code, out, _ = assay(*given)
        assert code == 0
        refuses.append(True)
        code, out, err = assay(*given)
        assert code == 0, err
    assert "canary rows of faithfulness: mean then 1.000, now 0.000: drift since 20" in out


def test_nothing_was_scored_yet(assay: Run, tmp_path: Path) -> None:
    Store(tmp_path / ".assay").close()
    code, out, _ = assay("live", "canary")
    assert (code, "no canary rows of shop were scored yet" in out) == (0, True)
    (tmp_path / "assay.toml").unlink()
    code, _, err = assay("live", "canary", "--score")
    assert (code, "--score: name the canary rows" in err) == (2, True)


@pytest.mark.parametrize("command", [("canary", "--score"), ("worker", "queue", "--until-empty")])
def test_a_file_that_is_damaged_is_named_with_the_line_of_the_configuration(
    assay: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    SampleQueue(tmp_path / "queue").close()
    (tmp_path / "canaries.jsonl").write_text(rows(12)[:-40], encoding="utf-8")
    code, _, err = assay("live", *command)
    assert code == 2
    assert "assay.toml: [live] canaries line 3: canaries.jsonl: 1 row cannot be read" in err
    code, _, err = assay("live", *command, "--canaries", "nothing.jsonl")
    assert (code, "--canaries: there is no file or folder 'nothing.jsonl'" in err) == (2, True)


def test_a_worker_scores_the_rows_of_the_configuration(assay: Run, tmp_path: Path) -> None:
    SampleQueue(tmp_path / "queue").close()
    with OpenAIServer() as server:
        given = ("live", "worker", "queue", "--until-empty", *judge(server), "--metrics", "faithfulness")
        assert assay(*given, "--no-store")[0] == 0
        assert server.calls == []
        code, _, err = assay(*given)
        assert code == 0, err
        asked = len(server.calls)
        assert asked >= 12
        assert assay(*given)[0] == 0
        assert len(server.calls) == asked  # once a day
    with Store(tmp_path / ".assay") as store:
        assert [one.stored for one in read_scorings(store, "shop")] == [True, False]
