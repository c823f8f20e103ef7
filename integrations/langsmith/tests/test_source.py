"""LangSmith exports as samples: what LangChain's own tracer sent, in every form in which it comes back."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from assay_langchain import AssayCallbackHandler
from assay_langsmith.source import open_source, read_runs, runs_to_samples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.tracers.langchain import LangChainTracer
from langsmith import Client
from langsmith.schemas import Run
from pyarrow import parquet

from assay.data import RowError
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.records import Sample
from assay.sinks import MemorySink
from tests._support.servers.langsmith_server import KEY, PROJECT, LangSmithServer
from tests._support.servers.rag_chains import ANSWER, PASSAGES, QUESTION, Broken, agent, rag

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def trace() -> Iterator[Callable[..., Records]]:
    """Runs a chain under the real tracer, and gives the runs as the API would give them back."""
    with LangSmithServer() as server:
        client = Client(server.url, api_key=KEY)

        def run(chain: Any, value: Any = QUESTION, *callbacks: Any, **config: Any) -> Records:
            server.traced.clear()
            tracer = LangChainTracer(client=client, project_name="test")
            with contextlib.suppress(ConnectionError):
                chain.invoke(value, config={"callbacks": [tracer, *callbacks], **config})
            client.flush()
            assert server.problems == []
            return [{**json.loads(json.dumps(one)), "session_id": PROJECT} for one in server.traced]

        yield run
        client.close()


@pytest.fixture(scope="module")
def recorded(trace: Callable[..., Records]) -> Records:
    return trace(rag(), tags=["blue"], metadata={"thread_id": "t1"})


def one(items: Iterator[Sample | RowError]) -> Sample:
    (found,) = list(items)
    assert isinstance(found, Sample), found
    return found


def is_the_exchange(sample: Sample, records: Records) -> None:
    root = next(record for record in records if record.get("parent_run_id") is None)
    assert (sample.question, sample.answer, sample.status) == (QUESTION, ANSWER, "complete")
    assert sample.passages == PASSAGES
    assert [context.in_prompt for context in sample.contexts or ()] == [True, True]
    assert [context.id for context in sample.contexts or ()] == ["d1", "d2"]
    assert sample.id == root["id"]
    assert sample.ids["langsmith_run_id"] == sample.ids["langsmith_trace_id"] == root["id"]
    assert sample.metadata["tags"] == ["blue"]
    assert sample.metadata["thread_id"] == "t1"


def test_runs_as_the_api_gives_them(recorded: Records, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in recorded))
    sample = one(read_runs(path))
    is_the_exchange(sample, recorded)
    assert sample.ids["langsmith_session_id"] == PROJECT
    assert sample.contexts
    assert dict(sample.contexts[0].metadata) == {"page": 3, "tags": ["cat"]}


def test_the_sample_is_the_one_of_live_capture(trace: Callable[..., Records]) -> None:
    kept = MemorySink()
    handler = AssayCallbackHandler(
        "faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"), sinks=[kept]
    )
    records = trace(rag(), QUESTION, handler)
    assert handler.flush(20)
    handler.close(5)
    (live,), imported = kept.written, one(runs_to_samples(records))
    for name in ("id", "question", "answer", "contexts", "history", "status"):
        assert getattr(imported, name) == getattr(live.sample, name), name


@pytest.mark.parametrize("kind", ["json", "page", "jsonl.gz", "csv", "parquet", "nested"])
def test_every_kind_of_file(recorded: Records, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"runs.{kind}"
    if kind == "json":
        path.write_text(json.dumps(recorded))
    elif kind == "page":
        path = tmp_path / "runs.json"
        path.write_text(json.dumps({"data": recorded, "next_cursor": None}))
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, recorded)).encode()))
    elif kind == "nested":
        path = tmp_path / "root.json"
        path.write_text(json.dumps(_nested(recorded)))
    else:
        _table(recorded, path)
    is_the_exchange(one(read_runs(path)), recorded)


def test_runs_of_the_sdk(recorded: Records) -> None:
    """`Run.dict()` has UUIDs and datetimes, and the child runs nested."""
    run = Run(**_nested(recorded))
    is_the_exchange(one(runs_to_samples([run.model_dump()])), recorded)


def test_an_agent_with_a_tool_that_attaches_documents(trace: Callable[..., Records]) -> None:
    records = trace(agent(), {"messages": [{"role": "user", "content": QUESTION}]})
    sample = one(runs_to_samples(records))
    assert (sample.question, sample.answer, sample.passages) == (QUESTION, ANSWER, PASSAGES)


def test_a_failure_is_told_by_its_type_alone(trace: Callable[..., Records]) -> None:
    sample = one(runs_to_samples(trace(rag(Broken()))))
    assert (sample.status, sample.metadata["error"]) == ("failed", "ConnectionError")
    assert sample.contexts is None
    assert sample.metadata["no_context"] == "the retriever failed"
    assert "Lovelace" not in json.dumps(sample.to_dict())


def test_turns_of_a_thread_are_history(trace: Callable[..., Records]) -> None:
    first = trace(rag(), "Do cats purr?", metadata={"thread_id": "t9"})
    second = trace(rag(), "And when?", metadata={"thread_id": "t9"})
    early, late = runs_to_samples([*second, *first])
    assert isinstance(early, Sample)
    assert isinstance(late, Sample)
    assert (early.question, late.question) == ("Do cats purr?", "And when?")
    assert early.history == ()
    assert [(turn.question, turn.answer) for turn in late.history] == [("Do cats purr?", ANSWER)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), in_memory=st.integers(1, 60), again=st.integers(0, 5))
def test_order_and_repetition_do_not_matter(recorded: Records, seed: int, in_memory: int, again: int) -> None:
    """Five traces, their runs shuffled and some sent twice, in memory or by way of a file."""
    records = [record for n in range(5) for record in _renamed(recorded, n)]
    records += records[:again]
    random.Random(seed).shuffle(records)
    found = list(runs_to_samples(records, in_memory=in_memory))
    assert [item.id for item in found if isinstance(item, Sample)] == [_renamed(recorded, n)[0]["id"] for n in range(5)]
    assert all(isinstance(item, Sample) and item.passages == PASSAGES for item in found)


def test_the_record_that_says_how_a_run_ended_counts(recorded: Records) -> None:
    pending = [
        {name: value for name, value in record.items() if name not in ("end_time", "outputs")} for record in recorded
    ]
    is_the_exchange(one(runs_to_samples([*pending, *recorded])), recorded)
    is_the_exchange(one(runs_to_samples([*recorded, *pending])), recorded)
    assert list(runs_to_samples(pending)) == []


def test_parents_are_found_in_the_dotted_order(recorded: Records) -> None:
    bare = [{n: v for n, v in record.items() if n not in ("parent_run_id", "trace_id")} for record in recorded]
    found = one(runs_to_samples(bare))
    assert (found.passages, found.answer) == (PASSAGES, ANSWER)


def test_bad_lines_lose_nothing_else(recorded: Records, tmp_path: Path) -> None:
    lines = [json.dumps(record) for record in recorded]
    other = {**recorded[1], "id": None}
    lines[2:2] = ['{"id": "torn', "[1]", json.dumps(other), json.dumps({**recorded[1], "start_time": "noon"})]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(lines))
    found = list(read_runs(path))
    errors = [item for item in found if isinstance(item, RowError)]
    assert [error.number for error in errors[:2]] == [3, 4]
    assert "line 3 is no JSON" in errors[0].message
    assert "start_time: expected" in errors[2].message
    # the run without an id is met when its trace is put together: that trace is lost, and said to be
    assert "expected a run with an id" in errors[3].message
    assert recorded[0]["id"] in errors[3].message


def test_a_run_without_id_in_another_trace_loses_nothing(recorded: Records) -> None:
    found = list(runs_to_samples([*recorded, {"start_time": 1.0, "run_type": "chain", "name": "x"}]))
    assert [type(item) for item in found] == [RowError, Sample]


def test_an_address_with_limits(recorded: Records, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(json.dumps(record) for n in range(4) for record in _renamed(recorded, n)))
    assert len(list(open_source(str(path)))) == 4
    assert len(list(open_source(str(path), limit=3))) == 3
    ended = one(runs_to_samples(recorded)).metadata["ended"]
    assert len(list(open_source(str(path), until=ended))) == 0
    assert len(list(open_source(str(path), since=ended))) == 4
    assert len(list(open_source(str(path), since="2999-01-01"))) == 0
    for wrong in ({"limit": 0}, {"since": "yesterday"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            open_source(str(path), **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="langsmith: expected the path"):
        open_source("")
    with pytest.raises(InputError, match="no file"):
        open_source(str(tmp_path / "nothing.jsonl"))


def _nested(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    def with_children(record: dict[str, Any]) -> dict[str, Any]:
        children = [with_children(one) for one in records if one.get("parent_run_id") == record["id"]]
        return {**record, "child_runs": children or None}

    return with_children(next(record for record in records if "parent_run_id" not in record))


def _renamed(records: Sequence[dict[str, Any]], n: int) -> Records:
    """The same trace under other ids, all of which start with the number."""
    text = json.dumps(records)
    for record in records:
        text = text.replace(record["id"], f"{n:08d}{record['id'][8:]}")
    renamed: Records = json.loads(text)
    return renamed


def _table(records: Sequence[dict[str, Any]], path: Path) -> None:
    """As the bulk export writes it: a row per run, structures as texts of JSON."""
    names = sorted({name for record in records for name in record})
    rows = [
        {
            name: json.dumps(record[name]) if isinstance(record.get(name), (dict, list)) else record.get(name)
            for name in names
        }
        for record in records
    ]
    if path.suffix == ".csv":
        import csv

        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
    else:
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
