"""A person's rows are deleted everywhere, counted, and no byte of them is left in the files."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay._util.compression import pack, to_json
from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue, Worker
from assay.live.erasure import ErasureResult, erase
from assay.records import Claim, Context, Sample, Score, ScoredSample, ScoreError, Span, Verdict
from assay.sinks.store import StoreSink
from assay.store.erasure import is_log_empty
from assay.store.integrity import check_store
from assay.store.live_runs import matches
from assay.store.store import Store
from assay.store.tables import is_database
from tests.live.apps import Probe

USERS = ("ann", "bob", "ann", "cy")


def text_of(user: str, n: int) -> str:
    return f"This is answer number {n} for {user}, and nobody else has it."


def scored(n: int, user: str) -> ScoredSample:
    text = text_of(user, n)
    claim = Claim(text=text, span=Span(start=0, end=len(text)))
    verdicts = {"answer/contexts": (Verdict(claim=claim, label="supported", reason="Every row has this reason."),)}
    sample = Sample(
        id=f"s{n}", question=f"Question {n} of {user}?", answer=text, contexts=(Context(text="A passage of all."),),
        metadata={"user": user},
    )  # fmt: skip
    return ScoredSample(sample=sample, scores={"m": Score(metric="m", value=1.0, verdicts=verdicts)})


def judgement(text: str) -> bytes:
    return to_json({"claims": [{"text": text, "label": "supported"}]}).encode()


def filled(store: Store) -> None:
    """A live run and another one with the same rows, and a judgement for each row, and two that all share."""
    sink = StoreSink(store.address, application="shop")
    store.create_run("nightly", {"metrics": ["m"], "judge": "j"})
    for n, user in enumerate(USERS):
        sink.write(scored(n, user))
        store.put_row("nightly", n + 1, scored(n, user))
        store.put_judgement(f"of {n}", "claims", "j", judgement(text_of(user, n)))
    store.put_judgement("passage", "claims", "j", judgement("A passage of all."))
    store.put_judgement("reason", "claims", "j", judgement("Every row has this reason."))
    sink.close()


def known(store: Store) -> list[str]:
    keys = [*(f"of {n}" for n in range(4)), "passage", "reason"]
    return [key for key in keys if store.get_judgement(key) is not None]


def ids(store: Store, run: str) -> list[str | None]:
    return [row.scored.sample.id for row in store.rows(run)]


def test_rows_of_live_runs_go_and_are_counted(address: str) -> None:
    """Rows s0 and s2 are Ann's. The other run has them too, so that their judgements are still used."""
    with Store(address) as store:
        filled(store)
        tried = erase({"user": "ann"}, store, dry_run=True)
        assert (tried.rows, tried.judgements, tried.scrubbed) == ({"live/shop": 2}, 0, False)
        assert len(ids(store, "live/shop")) == 4
        done = erase({"user": "ann"}, store)
        # PostgreSQL removes deleted rows by itself, nobody knows when
        assert done == ErasureResult(rows={"live/shop": 2}, scrubbed=not is_database(address))
        assert ids(store, "live/shop") == ["s1", "s3"]
        assert ids(store, "nightly") == ["s0", "s1", "s2", "s3"]
        assert len(known(store)) == 6
        assert erase({"user": "ann"}, store).rows == {}


def test_rows_of_another_run_go_with_their_judgements_and_count_as_pruned(address: str) -> None:
    with Store(address) as store:
        filled(store)
        done = erase({"user": "ann"}, store, runs=["nightly"])
        assert (done.rows, done.judgements) == ({"live/shop": 2, "nightly": 2}, 2)
        assert known(store) == ["of 1", "of 3", "passage", "reason"]
        counts = store.row_counts("nightly")
        assert (counts.stored, counts.saved, counts.pruned, counts.missing) == (2, 4, 2, 0)
        assert not check_store(store).damaged


def test_no_byte_of_a_deleted_row_is_left(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        filled(store)
        blobs = [bytes(body) for number, _, body in store.row_bodies("live/shop") if number in (1, 3)]
        blobs.append(pack(judgement(text_of("ann", 0))))
        assert all(blob in everything(tmp_path) for blob in blobs)
        assert erase({"user": "ann"}, store, runs=["nightly"]).scrubbed
        left = everything(tmp_path)
    assert not any(blob in left for blob in blobs)
    assert all(blob[8:40] not in left for blob in blobs)  # nor a part of one
    assert b"ann" not in left


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_messages_of_errors_go_too_but_for_those_that_others_have(tmp_path: Path) -> None:
    """They stand in a table of their own, which every row shares."""
    sink = StoreSink(tmp_path)
    for n, (user, message) in enumerate((("ann", "Ann's own words"), ("ann", "too long"), ("bob", "too long"))):
        error = ScoreError(cause=Cause.BAD_REQUEST, message=message)
        sample = Sample(id=f"{n}", metadata={"user": user})
        sink.write(ScoredSample(sample=sample, scores={"m": Score(metric="m", error=error)}))
    sink.close()
    with Store(tmp_path) as store:
        assert b"Ann's own words" in everything(tmp_path)
        assert erase({"user": "ann"}, store).rows == {"live": 2}
        assert b"Ann's own words" not in everything(tmp_path)
        assert store.query("SELECT COUNT(*) FROM scores JOIN names ON names.number = message") == [(1,)]
        assert store.query("SELECT text FROM names WHERE text = 'too long'") == [("too long",)]
        (error_of_bob,) = [row.scored.scores["m"].error for row in store.rows("live")]
        assert error_of_bob is not None


def test_a_reader_of_the_log_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.store.erasure.PATIENCE", 0.1)
    with Store(tmp_path) as store:
        filled(store)
        reader = sqlite3.connect(tmp_path / "assay.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM rows").fetchone()
        try:
            done = erase({"user": "ann"}, store)
            assert (done.rows, done.scrubbed) == ({"live/shop": 2}, False)
            assert not is_log_empty(store.name)
        finally:
            reader.close()
        assert erase({"user": "ann"}, store).scrubbed


def test_samples_of_a_queue_go_too(tmp_path: Path) -> None:
    """Six samples: three scored and delivered, then three that wait; one of Ann's in each half, and two of Bob's."""
    queue = SampleQueue(tmp_path / "queue", application="shop")
    for n in range(6):
        if n == 3:
            queue.flush(10)
            Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=tmp_path / "store").run(until_empty=True)
        user = "ann" if n % 3 == 0 else "bob"
        queue.submit(Sample(id=f"q{n}", answer=text_of(user, n), metadata={"user": user}))
    queue.close()
    assert text_of("ann", 3).encode() in everything(tmp_path / "queue")
    with Store(tmp_path / "queue") as cache:
        cache.put_judgement("ann's", "claims", "j", judgement(text_of("ann", 3)))
        cache.put_judgement("bob's", "claims", "j", judgement(text_of("bob", 4)))
    with Store(tmp_path / "store") as store:
        done = erase({"user": "ann"}, store, tmp_path / "queue")
        assert (done.rows, done.samples, done.judgements, done.scrubbed) == ({"live/shop": 1}, 2, 1, True)
        left = everything(tmp_path)
        assert (b"for ann" in left, b"for bob" in left) == (False, True)
        Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), store=tmp_path / "store").run(until_empty=True)
        assert sorted(ids(store, "live/shop"), key=str) == ["q1", "q2", "q4", "q5"]
    report = queue.report()
    assert report.submitted == report.appended + sum(report.dropped.values()) == 6
    assert report.appended == report.scored == 5
    assert report.dropped == {"erased": 1}
    assert not queue.submit(Sample(id="q0", answer="again"))  # closed
    again = SampleQueue(tmp_path / "queue")
    again.submit(Sample(id="q0", answer=text_of("ann", 0), metadata={"user": "ann"}))
    again.close()
    assert again.report().duplicates == 1  # an import of the same traces does not bring her back


def test_a_damaged_row_is_said_and_stays(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        filled(store)
        store.write(lambda db: db.execute("UPDATE rows SET body = ? WHERE run = 'live/shop' AND number = 1", (b"x",)))
        done = erase({"user": "ann"}, store)
    assert (done.rows, done.unreadable) == ({"live/shop": 1}, 1)


def test_wrong_arguments(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        with pytest.raises(InputError, match="where: expected at least one condition"):
            erase({}, store)
        with pytest.raises(InputError, match="run 'none' is not in the store"):
            erase({"user": "ann"}, store, runs=["none"])
        with pytest.raises(InputError, match="queue: there is none in"):
            erase({"user": "ann"}, store, tmp_path / "none")


def test_the_command(tmp_path: Path, command_line: Any) -> None:
    with Store(tmp_path / ".assay") as store:
        filled(store)
    code, out, _ = command_line("store", "prune", "--where", "user=ann", "--dry-run")
    assert (code, out) == (0, "would delete 2 rows (live/shop: 2), 0 judgements\n")
    code, out, _ = command_line("store", "prune", "--where", "user=ann", "--run", "nightly")
    assert (code, out) == (0, "deleted 4 rows (live/shop: 2, nightly: 2), 2 judgements\n")
    code, out, _ = command_line("store", "prune", "--where", "user=bob", "--where", "note=x")
    assert (code, out) == (0, "deleted 0 rows, 0 judgements\n")
    for options, said in (
        (["--where", "user"], "--where: expected KEY=VALUE, such as user=ann, got 'user'"),
        (["--where", "user=a", "--where", "user=b"], "--where: 'user' is given twice, as 'a' and 'b'"),
        (["--where", "user=a", "--older-than", "3d"], "--where: goes with --run, --queue and --dry-run alone"),
        (["--run", "nightly"], "--run, --queue: go with --where"),
        (["--where", "user=a", "--queue", "none"], "queue: there is none in 'none'"),
    ):
        code, _, err = command_line("store", "prune", *options)
        assert code == 2
        assert said in " ".join(err.split())


def test_values_are_compared_exactly() -> None:
    metadata = {"user": "ann", "n": 3, "ok": True, "x": None, "deep": {"user": "ann"}, "tags": ["ann"]}
    for where, expected in (
        ({"user": "ann"}, True),
        ({"user": "Ann"}, False),
        ({"user": "an"}, False),
        ({"user": "ann", "n": "3"}, True),
        ({"user": "ann", "n": "4"}, False),
        ({"ok": "true"}, True),
        ({"x": ""}, False),
        ({"deep": "ann"}, False),
        ({"tags": "ann"}, False),
        ({"none": ""}, False),
    ):
        assert matches(metadata, where) is expected, where


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(users=st.lists(st.sampled_from(["ann", "bob", "cy"]), max_size=12), gone=st.sampled_from(["ann", "bob"]))
def test_only_the_rows_of_one_go(tmp_path_factory: pytest.TempPathFactory, users: list[str], gone: str) -> None:
    with Store(tmp_path_factory.mktemp("store")) as store:
        sink = StoreSink(store.address)
        for n, user in enumerate(users):
            sink.write(scored(n, user))
            store.put_judgement(f"of {n}", "claims", "j", judgement(text_of(user, n)))
        sink.close()
        done = erase({"user": gone}, store)
        assert sum(done.rows.values()) == users.count(gone) == done.judgements
        left = [f"s{n}" for n, user in enumerate(users) if user != gone]
        assert (ids(store, "live") if users else []) == left
        assert [n for n, user in enumerate(users) if store.get_judgement(f"of {n}")] == [int(name[1:]) for name in left]
        assert not check_store(store).damaged
