"""`assay store clear-cache` deletes judgements by prompt, judge and run, says how many, and nothing else."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from assay import Sample, ScoredSample, Store, evaluate
from assay.cli.main import main
from tests._support.servers.openai_server import OpenAIServer


def clear_cache(store: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["assay", "store", "clear-cache", *arguments, "--store", str(store)])
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    return code, out.getvalue().strip(), err.getvalue().strip()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Store(tmp_path) as store:
        store.create_run("nightly", {})
        judgements = store.judgements("nightly")
        judgements.put_judgements([("a", "claims", "openai/m@http://h#1", b"1"), ("b", "support", "embedded/2", b"1")])
        store.put_judgement("c", "claims", "embedded/2", b"1")
        store.put_row("nightly", 1, ScoredSample(sample=Sample(id="r"), scores={}))
    return tmp_path


def left(path: Path) -> str:
    with Store(path) as store:
        return "".join(key for key in "abc" if store.get_judgement(key))


def test_it_says_first_and_then_does(store: Path) -> None:
    assert clear_cache(store, "--prompt", "claims", "--dry-run") == (0, "would delete 2 judgements", "")
    assert left(store) == "abc"
    assert clear_cache(store, "--prompt", "claims", "--judge", "openai/m") == (0, "deleted 1 judgement", "")
    assert left(store) == "bc"


def test_a_run_loses_its_judgements_and_its_rows_where_that_is_asked(store: Path) -> None:
    said = "would delete 2 judgements\nwould delete run nightly with 1 row"
    assert clear_cache(store, "last", "--rows", "--dry-run") == (0, said, "")
    assert clear_cache(store, "nightly") == (0, "deleted 2 judgements", "")
    assert left(store) == "c"
    assert clear_cache(store, "nightly", "--rows")[1] == "deleted 0 judgements\ndeleted run nightly with 1 row"
    with Store(store) as kept:
        assert not kept.has_run("nightly")


def test_judges_are_listed_and_named_where_none_fits(store: Path) -> None:
    assert clear_cache(store, "--judges")[1].split() == ["2", "embedded/2", "1", "openai/m@http://h#1"]
    code, out, err = clear_cache(store, "--judge", "openai/other")
    assert (code, out, err) == (
        0,
        "deleted 0 judgements",
        "assay: there are judgements by embedded/2, openai/m@http://h#1",
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name what to delete: RUN, --prompt or --judge"),
        (["--rows"], "--rows: goes with RUN"),
        (["weekly"], "run 'weekly' is not in the store"),
    ],
)
def test_wrong_usage_is_one_line(store: Path, arguments: list[str], says: str) -> None:
    code, out, err = clear_cache(store, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1
    assert left(store) == "abc"


def test_where_there_is_no_store_none_is_made(tmp_path: Path) -> None:
    code, _, err = clear_cache(tmp_path / "none", "--prompt", "claims")
    assert (code, "there is none in" in err) == (2, True)
    assert not (tmp_path / "none").exists()


def test_what_is_forgotten_is_asked_again(tmp_path: Path) -> None:
    from assay.judges.llm.openai import OpenAIJudge

    rows: list[Any] = [{"question": "q", "contexts": ["It is 4."], "answer": "It is 4."}]
    with OpenAIServer() as server:
        for prompt, asked in ((None, 1), (None, 1), ("claims", 2)):
            if prompt is not None:
                with Store(tmp_path) as store:
                    assert store.forget(prompt=prompt) == 1
            judge = OpenAIJudge("fake", base_url=server.base_url)
            result = evaluate(rows, "faithfulness", judge, store=tmp_path)
            assert result.metrics["faithfulness"].mean == 1.0
            assert server.count("claims") == asked
        assert server.count("support") == 1
