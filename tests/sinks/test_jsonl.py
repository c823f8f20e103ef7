"""JSON lines: whole lines from any number of writers, readable after a crash, and without texts when asked."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from assay.errors import Cause, InputError
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, ScoreError, Span, Verdict
from assay.sinks import JsonlSink, MemorySink, Sink, read_jsonl

SECRET = "the secret text"


def scored(id: str = "1") -> ScoredSample:
    claim = Claim(text=SECRET, span=Span(0, 15))
    evidence = Evidence(passage=0, span=Span(0, 15), text=SECRET)
    verdict = Verdict(label="supported", reason=SECRET, claim=claim, evidence=(evidence,), probability=0.9)
    return ScoredSample(
        sample=Sample(
            id=id,
            question=SECRET,
            answer=SECRET,
            contexts=(Context(text=SECRET, id="c1", metadata={"label": SECRET, "page": 3}),),
            ids={"langchain_run_id": "r1"},
            metadata={"user": SECRET, "nested": {"id": [SECRET]}},
        ),
        scores={
            "faithfulness": Score(metric="faithfulness", value=1.0, verdicts={"answer/contexts": (verdict,)}),
            "other": Score(metric="other", error=ScoreError(cause=Cause.PARSE, message=SECRET, raw=SECRET)),
        },
    )


def test_round_trip(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "new" / "folder" / "scores.jsonl", fsync=True)
    assert isinstance(sink, Sink)
    assert isinstance(MemorySink(), Sink)
    sink.write(scored("1"))
    sink.close()
    sink.write(scored("2"))
    sink.close()
    sink.close()
    read = read_jsonl(sink.path)
    assert read.samples() == [scored("1"), scored("2")]
    assert (len(read), read.torn) == (2, ())


def test_writers_in_many_threads_and_handles(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    sinks = [JsonlSink(path) for _ in range(2)]

    def work(sink: JsonlSink, name: int) -> None:
        for n in range(50):
            sink.write(scored(f"{name}-{n}"))

    threads = [threading.Thread(target=work, args=(sinks[n % 2], n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for sink in sinks:
        sink.close()
    read = read_jsonl(path)
    assert read.torn == ()
    assert len({row["sample"]["id"] for row in read}) == 400


def test_torn_line_is_left_out_and_said_and_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    sink = JsonlSink(path)
    sink.write(scored("1"))
    sink.close()
    with path.open("ab") as file:
        file.write(b'{"sample": {"id": "to')  # killed while writing
    assert (len(read_jsonl(path)), read_jsonl(path).torn) == (1, (2,))
    sink.write(scored("3"))
    sink.close()
    read = read_jsonl(path)
    assert ([row["sample"]["id"] for row in read], read.torn) == (["1", "3"], (2,))


def test_rotation(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    line = len(json.dumps(scored().to_dict(), separators=(",", ":"))) + 1
    sink = JsonlSink(path, max_bytes=int(line * 2.5))
    for n in range(5):
        sink.write(scored(str(n)))
    sink.close()
    assert [row["sample"]["id"] for row in read_jsonl(path)] == ["4"]
    assert [row["sample"]["id"] for row in read_jsonl(tmp_path / "scores.jsonl.1")] == ["2", "3"]
    with pytest.raises(InputError):
        JsonlSink(path, max_bytes=0)


def test_without_texts_no_text_is_in_any_byte(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "scores.jsonl", texts=False)
    sink.write(scored())
    sink.close()
    assert SECRET.encode() not in sink.path.read_bytes()
    row = read_jsonl(sink.path).rows[0]
    assert row["sample"]["id"] == "1"
    assert row["sample"]["ids"] == {"langchain_run_id": "r1"}
    assert row["sample"]["contexts"][0]["metadata"]["page"] == 3
    assert row["scores"]["faithfulness"]["value"] == 1.0
    verdict = row["scores"]["faithfulness"]["verdicts"]["answer/contexts"][0]
    assert (verdict["label"], verdict["probability"]) == ("supported", 0.9)
    assert verdict["claim"]["text"] == row["sample"]["question"]  # equal texts have equal hashes
    assert row["scores"]["other"]["error"]["cause"] == "parse"


def test_half_an_emoji_is_written(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "scores.jsonl")
    sink.write(ScoredSample(sample=Sample(question="\ud83d"), scores={}))
    sink.close()
    assert len(read_jsonl(sink.path)) == 1


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_a_new_file_is_its_owners_alone_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for name in ("new", "old"):
            path = tmp_path / name / "scores.jsonl"
            if name == "old":
                path.parent.mkdir()
                path.touch()
            sink = JsonlSink(path)
            sink.write(scored())
            sink.close()
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "new/scores.jsonl", "old/scores.jsonl")]
    assert modes == [0o700, 0o600, 0o644]
