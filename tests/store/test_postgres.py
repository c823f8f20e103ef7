"""A store in a real PostgreSQL server: many writers, servers that go away, texts that it cannot hold, and secrets."""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import Context, InputError, Sample, Score, ScoredSample, ScriptedJudge, Store
from assay.cli.main import main
from assay.errors import StoreError
from assay.evaluation.external_runs import open_run
from assay.evaluation.result import Result
from assay.evaluation.scored_data import scored_data
from assay.evaluation.sharded.job import evaluate_in_processes
from assay.sinks.store import StoreSink
from assay.store.postgres import MIGRATIONS, PostgresTables
from assay.store.schema import SCHEMA_VERSION
from assay.store.tables import Statements
from tests._support.servers.postgres_server import Server, server

pytestmark = pytest.mark.needs(name="postgresql")

_NUMBERS = itertools.count(1)
#: Ends every connection of a store.
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assay'"
ROWS = [{"id": f"r{n}", "question": f"Q{n}?", "contexts": [f"It is {n}."], "answer": f"It is {n}."} for n in range(12)]


def counting() -> ScriptedJudge:
    return ScriptedJudge(claims=lambda text: [text], support=lambda claim, passage: "supported")


@pytest.fixture
def url(postgresql: Server) -> str:
    return postgresql.url(f"own_{os.getpid()}_{next(_NUMBERS)}")


def write_the_same(url: str, n: int, done: Any) -> None:
    """All write the same judgements, each in another order, and rows of one run."""
    with Store(url) as store:
        for i in range(40):
            keys = [f"k{(7 * n + 3 * i + j) % 60}" for j in range(10)]
            store.put_judgements([(key, f"prompt{j % 3}", f"judge{n % 2}", key.encode()) for j, key in enumerate(keys)])
            store.merge_row("shared", ScoredSample(sample=Sample(id=f"row {n} {i}"), scores={}))
    done.put(n)


@pytest.mark.timeout(300)
def test_eight_processes_write_the_same_judgements_and_none_is_lost(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    done = context.Queue()
    workers = [context.Process(target=write_the_same, args=(url, n, done)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 8
    with Store(url) as store:
        assert {f"k{n}": store.get_judgement(f"k{n}") for n in range(60)} == {
            f"k{n}": f"k{n}".encode() for n in range(60)
        }
        assert sum(store.judges().values()) == 60
        assert store.numbers("shared") == list(range(1, 8 * 40 + 1))  # each id a row of its own
        assert store.ids_of_several("shared") == []


def test_what_is_scored_is_not_asked_again_and_runs_are_shared(url: str) -> None:
    first = assay.evaluate(ROWS, "faithfulness", counting(), store=url, run="one", progress=False)
    assert first.metrics["faithfulness"].mean == 1.0
    again = counting()
    again.durable = True
    kept = assay.evaluate(ROWS, "faithfulness", again, store=url, run="two", progress=False)
    assert (kept.rows, sum(again.asked.values())) == (12, 24)
    rerun = counting()
    rerun.durable = True
    found = assay.evaluate(ROWS, "faithfulness", rerun, store=url, run="three", progress=False)
    assert (found.cache_hits, sum(rerun.asked.values())) == (24, 0)
    with Store(url) as other:
        assert [run for run, *_ in other.runs()] == ["three", "two", "one"]
        assert assay.Result.load("two", other).metrics["faithfulness"].mean == 1.0


@pytest.mark.timeout(200)
def test_a_server_that_is_restarted_in_the_middle_costs_nothing() -> None:
    with server() as own:
        url = own.url()
        judge = Slow()

        def restart() -> None:
            time.sleep(0.6)
            own.stop(signal.SIGQUIT)  # as a crash
            time.sleep(1.0)
            own.start()

        restarting = threading.Thread(target=restart)
        restarting.start()
        result = assay.evaluate(ROWS * 4, "faithfulness", judge, store=url, run="cut", progress=False, concurrency=2)
        restarting.join()
        assert (result.rows, result.stopped) == (48, None)
        assert result.metrics["faithfulness"].scored == 48
        rerun = Slow()
        again = assay.evaluate(ROWS * 4, "faithfulness", rerun, store=url, run="again", progress=False)
        assert (again.metrics["faithfulness"].scored, sum(rerun.asked.values())) == (48, 0)


class Slow(ScriptedJudge):
    durable = True

    def __init__(self) -> None:
        super().__init__(claims=lambda text: [text], support=lambda claim, passage: "supported")

    async def answer(self, prompts: Any) -> Any:
        await asyncio.sleep(0.05)
        return await super().answer(prompts)


@pytest.mark.timeout(120)
def test_a_server_that_is_gone_is_said_within_a_while_and_what_is_known_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.store.postgres.PATIENCE", 1.0)
    with server() as own:
        store = Store(own.url())
        store.put_judgement("k", "claims", "j", b"1")
        own.stop()
        with pytest.raises(StoreError, match=r"store 'postgresql://team@127\.0\.0\.1.*cannot be written"):
            store.put_judgement("new", "claims", "j", b"1")
        own.start()
        assert store.get_judgement("k") == b"1"
        store.put_judgement("new", "claims", "j", b"1")


def test_a_connection_that_is_ended_by_another_person_is_opened_again(postgresql: Server, url: str) -> None:
    with Store(url) as store:
        store.put_judgement("k", "claims", "j", b"1")
        postgresql.run(CUT)
        assert store.get_judgement("k") == b"1"
        postgresql.run(CUT)
        store.put_judgement("l", "claims", "j", b"1")
        assert store.judges() == {"j": 2}


def test_a_transaction_that_is_cut_is_done_again_whole(postgresql: Server, url: str) -> None:
    """Its first half is undone by the server, whose connection is ended in the middle."""
    with Store(url) as store:
        tries = []

        def work(db: Any) -> None:
            db.execute("INSERT INTO sources (prompt, judge) VALUES (?, ?)", ("half", f"try {len(tries)}"))
            tries.append(1)
            if len(tries) == 1:
                postgresql.run(CUT)
            db.execute("INSERT INTO sources (prompt, judge) VALUES (?, ?)", ("whole", f"try {len(tries)}"))

        store.write(work)
        assert len(tries) == 2
        assert store.query("SELECT prompt, judge FROM sources ORDER BY prompt") == [
            ("half", "try 1"),
            ("whole", "try 2"),
        ]


def test_texts_that_it_cannot_hold_are_kept_as_far_as_they_can_be(url: str) -> None:
    text = "zero \0, half \ud83d, and \U0010ffff"
    with Store(url) as store:
        sample = Sample(id="a\0b", question="q\0", answer=text, contexts=(Context(text="\0"),))
        store.put_row("run\0", 1, ScoredSample(sample=sample, scores={"m": Score(metric="m", value=1.0)}))
        row = store.get_row("run\0", "a\0b")
        assert (row.scored.sample.question, row.scored.sample.answer) == ("q\0", sample.answer)
        store.put_judgement("k\0", "claims\0", "j\0", b"\0\xff")
        assert store.get_judgement("k\0") == b"\0\xff"
        store.put_judgement("long", "claims", "j", b"x" * 20_000_000)
        assert len(store.get_judgement("long") or b"") == 20_000_000


def test_all_who_open_a_new_store_at_once_find_it(url: str) -> None:
    errors: list[BaseException] = []

    def open_it() -> None:
        try:
            with Store(url) as store:
                store.put_judgement(threading.current_thread().name, "claims", "j", b"1")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store(url) as store:
        assert (errors, store.judges()) == ([], {"j": 8})


def test_a_store_of_an_earlier_version_is_brought_to_this_one_and_a_newer_one_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(url) as store:
        store.put_judgement("k", "claims", "j", b"1")
    newer = SCHEMA_VERSION + 1
    monkeypatch.setattr("assay.store.postgres.SCHEMA_VERSION", newer)
    added = "ALTER TABLE judgements ADD COLUMN seen BIGINT;; UPDATE judgements SET seen = 7"
    monkeypatch.setitem(MIGRATIONS, SCHEMA_VERSION, added)
    for _ in range(2):
        with Store(url) as store:
            assert store.query("SELECT seen FROM judgements") == [(7,)]
    monkeypatch.undo()
    with pytest.raises(StoreError, match=rf"written by a newer assay \(schema {newer}\); upgrade assay"):
        Store(url)


def as_version_4(db: Statements) -> None:
    """The tables of a store under the names that they had up to version 4."""
    for statement in (
        "ALTER TABLE sources RENAME COLUMN prompt TO inquiry",
        "ALTER TABLE sources RENAME TO makers",
        "ALTER TABLE judgements RENAME COLUMN source TO maker",
        "ALTER TABLE judgements RENAME COLUMN judgement TO finding",
        "ALTER TABLE judgements RENAME TO findings",
        "ALTER TABLE run_judgements RENAME COLUMN judgement TO finding",
        "ALTER TABLE run_judgements RENAME TO used",
        "ALTER INDEX judgements_by_source RENAME TO findings_by_maker",
        "ALTER INDEX judgements_by_time RENAME TO findings_by_time",
        "ALTER INDEX run_judgements_by_judgement RENAME TO used_by_finding",
        *(f"ALTER TABLE runs DROP COLUMN {name}" for name in ("pruned", "digest", "info_digest", "scores_digest")),
        *(f"DROP TABLE {name}" for name in ("names", "scores", "metric_ranges", "row_facts", "column_blocks")),
    ):
        db.execute(statement)


def test_a_store_of_version_3_does_not_know_how_many_rows_its_runs_had(url: str) -> None:
    with Store(url) as store:
        store.create_run("old", {})
        store.put_row("old", 1, ScoredSample(sample=Sample(id="a"), scores={}))
        for key, prompt in (("a", "sorting"), ("b", "classification")):  # a prompt of the user's own has the new name
            store.put_judgement(key, prompt, "j", b'"x"')
        store.write(as_version_4)
        store.write(lambda db: db.execute("ALTER TABLE runs DROP COLUMN saved"))
        store.write(lambda db: db.execute("UPDATE meta SET value = '3' WHERE key = 'version'"))
    for _ in range(2):
        with Store(url) as store:
            assert store.row_counts("old")[:2] == (1, None)
            assert store.query("SELECT prompt FROM sources WHERE judge = 'j'") == [("classification",)]
            assert store.forget(prompt="classification", judge="j", dry_run=True) == 2
            assert store.query("SELECT value FROM meta WHERE key = 'version'") == [(str(SCHEMA_VERSION),)]
    with Store(url) as store:
        store.create_run("new", {})
        assert store.row_counts("new")[:2] == (0, 0)


def test_a_gate_on_a_damaged_run_is_inconclusive(url: str) -> None:
    """Two of twelve rows are gone, and a third cannot be read."""
    assay.evaluate(ROWS, "faithfulness", counting(), store=url, run="now", progress=False)
    gate = ("gate", "now", "--store", url, "--fail-below", "faithfulness=0.5")
    assert main_with(*gate) == 0
    with Store(url) as store:
        store.write(lambda db: db.execute("DELETE FROM rows WHERE number > 10"))
        store.write(lambda db: db.execute("UPDATE rows SET body = ? WHERE number = 1", (b"x",)))
        found = Result.load("now", store)
        assert found.incomplete == ("1 of 12 rows could not be read", "2 of 12 rows are missing from the store")
    assert main_with(*gate) == 6


def test_a_migration_that_fails_leaves_the_store_as_it_was(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(url) as store:
        store.put_judgement("k", "claims", "j", b"1")
    monkeypatch.setattr("assay.store.postgres.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    added = "ALTER TABLE judgements ADD COLUMN seen BIGINT;; SELECT nothing FROM nowhere"
    monkeypatch.setitem(MIGRATIONS, SCHEMA_VERSION, added)
    with pytest.raises(StoreError, match=r"cannot be opened: .*nowhere"):
        Store(url)
    monkeypatch.undo()
    columns = (
        "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = ?"
    )
    with Store(url) as store:
        assert store.get_judgement("k") == b"1"
        assert (store.query(columns, "judgement"), store.query(columns, "seen")) == (
            [(2,)],
            [(0,)],
        )


def test_the_password_is_said_nowhere(postgresql: Server, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = url.replace("s3cret", "wr0ng")
    with pytest.raises(StoreError) as caught:
        Store(wrong)
    assert "password authentication failed" in str(caught.value)
    said = [str(caught.value), repr(caught.value)]
    with Store(url) as store:
        said += [store.name, repr(store), str(store.folder)]
        said.append(str(assay.evaluate(ROWS, "faithfulness", counting(), store=store, run="secret", progress=False)))
        said.append(str(store.get_run("secret")))
        with pytest.raises(InputError) as known:
            store.create_run("secret", {})
        said.append(str(known.value))
    assert main_with("runs", "--store", url) == 0
    out, err = capsys.readouterr()
    assert "secret" in out
    for text in (*said, out, err):
        assert "s3cret" not in text
        assert "wr0ng" not in text


def main_with(*arguments: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["assay", *arguments])
        try:
            main()
        except SystemExit as stopped:
            return int(stopped.code or 0)
    return 0


def test_the_command_line_takes_it_wherever_a_folder_is_taken(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"question": "Q?", "contexts": ["It is 1."], "answer": "It is 1."}\n')
    (tmp_path / "assay.toml").write_text(f'data = "rows.jsonl"\nmetrics = ["faithfulness"]\nstore = "{url}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    assert main_with("score", "--name", "first") == 2  # a file that was found sends nothing to another server
    assert main_with("judge", "trust", "--yes") == 0
    assert main_with("score", "--name", "first") in (0, 1)
    assert main_with("runs", "--store", url) == 0
    assert main_with("store", "info", "--store", url) == 0
    assert main_with("store", "clear-cache", "--judges", "--store", url) == 0
    out = capsys.readouterr().out
    assert "first" in out
    assert "1 run with 1 row" in out
    assert not (tmp_path / "postgresql:").exists()
    assert not list(tmp_path.glob("**/assay.db"))


def test_jobs_and_sinks_share_it(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(f'{{"id": "r{n}", "question": "Q", "contexts": ["It is."], "answer": "It is."}}\n' for n in range(30))
    )
    result = evaluate_in_processes(str(path), "faithfulness", counting, jobs=2, store=url, run="job", shard_rows=5)
    assert (result.rows, result.metrics["faithfulness"].mean) == (30, 1.0)
    sink = StoreSink(url, "shop")
    sink.write(ScoredSample(sample=Sample(id="one", question="q"), scores={"m": Score(metric="m", value=0.5)}))
    sink.close()
    with Store(url) as store:
        assert [row.number for row in store.rows("job")] == list(range(1, 31))
        assert store.get_row("live/shop", "one").scored.scores["m"].value == 0.5


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://h/db?sslmode=maybe", "sslmode: expected prefer, disable, require, verify-full, got 'maybe'"),
        ("postgresql://h/db?timeout=3", "timeout: the options of a database are schema, sslmode, host"),
        ("postgresql://h/db?schema=a;b", "schema: expected lower case letters"),
        ("postgresql://h:port/db", "no URL of a PostgreSQL database"),
    ],
)
def test_a_url_that_cannot_be_one_is_refused(address: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        Store(address)


@pytest.mark.timeout(60)
def test_a_server_that_is_not_there_is_said_soon() -> None:
    began = time.monotonic()
    with pytest.raises(StoreError, match="cannot be opened"):
        Store("postgresql://nobody@127.0.0.1:9/none")
    assert time.monotonic() - began < 30


def test_a_path_that_was_made_of_it_is_it(url: str) -> None:
    with Store(Path(url)) as store:
        store.put_judgement("k", "claims", "j", b"1")
    assert isinstance(store._tables, PostgresTables)
    with Store(url) as again:
        assert again.get_judgement("k") == b"1"


def test_its_address_is_its_last_run_and_followed_by_a_name_that_run(
    url: str, command_line: Callable[..., tuple[int, str, str]]
) -> None:
    for name, rows in (("first", ROWS), ("second", ROWS[:5])):
        assay.evaluate(rows, "faithfulness", counting(), store=url, run=name, progress=False)
    for address, rows in ((url, 5), (f"{url}#first", 12), (f"{url}#last", 5)):
        found = open_run(address)
        assert found.rows == rows
        found.store.close()
    with pytest.raises(InputError, match="'third' is not in the store"):
        open_run(f"{url}#third")
    code, out, err = command_line("show", f"{url}#first", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 12)
    data = scored_data(f"{url}#first")
    assert data is not None
    assert len(list(data)) == 12
    assert not any("s3cret" in text for text in (out, err, data.name))
