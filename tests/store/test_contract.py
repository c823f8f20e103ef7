"""What every store does, whether it lies in a folder or in a PostgreSQL database."""

from __future__ import annotations

import multiprocessing
import os
import random
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import InputError, Sample, ScoredSample, Store
from assay.store.rows import PackedRow, put_rows
from assay.store.tables import LONGEST_RUN_NAME
from tests.store.test_store import filled, scored, write_many


def test_judgements_and_rows_survive_closing(address):
    with Store(address) as store:
        store.put_judgement("k", "claims", "judge", b'["a"]')
        store.put_run("run", {"judge": "j"})
        store.put_row("run", 1, scored(1))
    with Store(address) as again:
        assert again.get_judgement("k") == b'["a"]'
        assert again.get_judgement("other") is None
        (row,) = again.rows("run")
        assert (row.number, row.scored) == (1, scored(1))


def test_ids_of_any_length_are_ids(address):
    """The id does not compress: PostgreSQL's ordered indexes hold 2,704 bytes of a key, after compression."""
    id = "".join(chr(one) for one in random.Random(1).choices(range(0x4E00, 0x9FFF), k=700_000))
    run = "界" * LONGEST_RUN_NAME
    with Store(address) as store:
        store.put_run(run, {})
        store.put_row(run, 1, ScoredSample(sample=Sample(id=id), scores={}))
        store.put_row(run, 2, ScoredSample(sample=Sample(id=f"{id}2"), scores={}))
        assert store.get_row(run, id).number == 1
        assert store.get_row(run, f"{id}2").number == 2


def test_rows_come_in_the_order_of_the_data_page_by_page(address):
    with Store(address) as store:
        for number in (3, 1, 1201, 2, 700):
            store.put_row("run", number, scored(5))
        for number in range(1000, 1100):
            store.put_row("run", number, scored(5))
        store.put_row("other", 1, scored(9))
        numbers = [row.number for row in store.rows("run")]
    assert numbers == [1, 2, 3, 700, *range(1000, 1100), 1201]


def test_a_row_is_found_by_id_and_by_number(address):
    with Store(address) as store:
        store.put_row("run", 1, scored(1))
        store.put_row("run", 2, ScoredSample(sample=Sample(id="1", answer="named like a number"), scores={}))
        assert store.get_row("run", "r1").number == 1
        assert store.get_row("run", 2).number == 2
        assert store.get_row("run", "1").number == 2  # an id wins over a number
        with pytest.raises(InputError, match=r"row '9'.*2 rows, numbered up to 2"):
            store.get_row("run", "9")


def test_last_is_the_run_started_last(address):
    with Store(address) as store:
        with pytest.raises(InputError, match="no runs yet"):
            store.run_id("last")
        store.put_run("first", {})
        store.put_run("second", {})
        store.put_run("first", {"updated": True})  # an update is not a start
        assert store.run_id("last") == "second"
        assert store.get_run("first") == {"updated": True}
        with pytest.raises(InputError, match="second, first"):
            store.run_id("third")


def test_rows_are_counted_once_however_they_are_written(address):
    with Store(address) as store:
        store.create_run("run", {})
        assert store.row_counts("run")[:2] == (0, 0)
        store.put_row("run", 1, scored(1))
        store.put_row("run", 1, scored(2))  # replaced
        assert store.row_counts("run")[:2] == (1, 1)
        store.put_rows("run", [(1, scored(1)), (2, scored(2)), (7, scored(7))])
        assert store.row_counts("run")[:2] == (3, 3)
        store.merge_row("run", scored(9))
        store.merge_row("run", scored(9))  # further scores of the same row
        assert store.row_counts("run")[:2] == (4, 4)
        store.put_run("run", {"judge": "j"})  # says more of it, and counts nothing
        assert store.row_counts("run")[:2] == (4, 4)
        store.write(lambda db: db.execute("DELETE FROM rows WHERE run = 'run' AND number = 2"))
        assert (store.row_counts("run")[:2], store.row_counts("run").missing) == ((3, 4), 1)
        assert [(one.id, one.rows[:2]) for one in store.runs()] == [("run", (3, 4))]
        store.delete_run("run")
        store.put_row("run", 1, scored(1))
        assert store.row_counts("run")[:2] == (0, None)  # there is no such run
        store.put_run("run", {})
        assert store.row_counts("run")[:2] == (1, 1)


def test_rows_of_a_transaction_that_fails_are_not_counted(address):
    with Store(address) as store:
        store.create_run("run", {})
        store.put_row("run", 1, scored(1))
        with pytest.raises(ZeroDivisionError):
            store.write(lambda db: (put_rows(db, "run", [PackedRow(2, "r2", b"x")]), 1 // 0))
        assert store.row_counts("run")[:2] == (1, 1)


def test_rows_that_threads_write_at_once_are_all_counted(address):
    with Store(address) as one, Store(address) as other:
        one.create_run("run", {})

        def work(store: Store, first: int) -> None:
            for number in range(first, first + 30):
                store.put_row("run", number, scored(number))

        threads = [threading.Thread(target=work, args=args) for args in ((one, 1), (other, 16))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert one.row_counts("run")[:2] == (45, 45)  # 1 to 30, and 16 to 45


def test_threads_may_share_a_store(address):
    with Store(address) as store:

        def work(n: int) -> None:
            for i in range(50):
                store.put_judgement(f"{n}/{i}", "claims", "j", b"1")
                assert store.get_judgement(f"{n}/{i}") == b"1"

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(store.get_judgement(f"{n}/{i}") for n in range(8) for i in range(50))


@pytest.mark.long
def test_processes_may_share_a_store(address):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(address, n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with Store(address) as store:
        assert all(store.get_judgement(f"{n}/{i}") for n in range(3) for i in range(50))


def test_half_an_emoji_is_kept(address):
    sample = Sample(id="a", question="q")
    object.__setattr__(sample, "question", "half \ud83d")  # however it came there
    object.__setattr__(sample, "id", "id \ud83d")
    with Store(address) as store:
        store.put_row("run", 1, ScoredSample(sample=sample, scores={}))
        assert store.merge_row("run", ScoredSample(sample=sample, scores={})) == 1
        assert store.get_row("run", "id \ud83d").number == 1
        store.put_judgement("key \ud83d", "claims", "j", b"1")
        assert store.get_judgement("key \ud83d") == b"1"


def test_a_run_is_created_once(address):
    with filled(address) as store:
        assert (store.has_run("run"), store.has_run("other")) == (True, False)
        with pytest.raises(InputError, match=r"run: 'run' is in the store .* already; .*delete_run"):
            store.create_run("run", {"judge": "another"})
        assert store.get_run("run") == {}
        assert store.delete_run("run") == 1
        assert not store.has_run("run")
        assert list(store.rows("run")) == []
        store.create_run("run", {"judge": "another"})
        with pytest.raises(InputError, match="run 'other' is not in the store"):
            store.delete_run("other")


def test_last_is_the_newest_run_whatever_the_clock_says(address, monkeypatch):
    with Store(address) as store:
        store.create_run("first", {})
        monkeypatch.setattr("assay.store.store.time.time", lambda: 1000.0)  # the clock was set back
        store.create_run("second", {})
        assert store.run_id("last") == "second"


@pytest.fixture
def shared(address):
    """Judgements of two judges; run `one` made the first three, `two` made the others and used c as well."""
    with Store(address) as store:
        store.create_run("one", {})
        store.create_run("two", {})
        one, two = store.judgements("one"), store.judgements("two")
        one.put_judgements([("a", "claims", "openai/m@http://h/v1#1", b"1"), ("b", "support", "openai/m@x#2", b"1")])
        one.put_judgement("c", "support", "openai/mini@http://h/v1#3", b"1")
        assert two.get_judgement("c") == b"1"
        assert two.get_judgement("z") is None
        two.put_judgement("d", "support", "embedded/4", b"1")
        store.put_judgement("e", "claims", "embedded/4", b"1")
        store.put_row("two", 1, scored(1))
        yield store


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ({"prompt": "claims"}, "bcd"),
        ({"prompt": "claim"}, "abcde"),
        ({"judge": "openai/m"}, "cde"),
        ({"judge": "openai/m@http://h/v1"}, "bcde"),
        ({"judge": "openai/m@http://h/v1#1"}, "bcde"),
        ({"judge": "openai"}, "abcde"),
        ({"judge": "embedded/4", "prompt": "support"}, "abce"),
        ({"run": "one"}, "de"),
        ({"run": "two"}, "abe"),
        ({"run": "last", "prompt": "support", "judge": "embedded/4"}, "abce"),
        ({"key": "b"}, "acde"),
        ({"before": 0.0}, "abcde"),
        ({"before": 9e12}, ""),
    ],
)
def test_what_is_forgotten(shared, what, left):
    count = shared.forget(**what, dry_run=True)
    assert "".join(key for key in "abcde" if shared.get_judgement(key)) == "abcde"
    assert shared.forget(**what) == count == 5 - len(left)
    assert "".join(key for key in "abcde" if shared.get_judgement(key)) == left
    assert shared.forget(**what) == 0
    assert [row.number for row in shared.rows("two")] == [1]


def test_forgetting_nothing_in_particular_is_refused(shared):
    with pytest.raises(InputError, match="forget: say what"):
        shared.forget()
    with pytest.raises(InputError, match="run 'three' is not in the store"):
        shared.forget(run="three")


def test_a_run_forgets_only_what_it_used_itself(shared):
    shared.forget(key="c")
    shared.put_judgement("new", "claims", "embedded/4", b"1")
    assert shared.forget(run="one") == 2
    assert shared.get_judgement("new") == b"1"


def test_the_judges_are_counted(shared):
    assert shared.judges() == {
        "embedded/4": 2,
        "openai/m@http://h/v1#1": 1,
        "openai/m@x#2": 1,
        "openai/mini@http://h/v1#3": 1,
    }


def test_judgements_of_one_batch_are_kept_together_or_not_at_all(address):
    with Store(address) as store:
        with pytest.raises(TypeError):
            store.put_judgements([("a", "claims", "j", b"1"), ("b", "claims", "j", None)])
        assert store.get_judgement("a") is None
        store.put_judgements([("a", "claims", "j", b"1"), ("a", "claims", "k", b"2")])
        assert (store.get_judgement("a"), store.judges()) == (b"2", {"k": 1})
        store.put_judgements([])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(max_size=5), st.binary(max_size=400)), max_size=12))
def test_what_is_put_is_got(address, judgements):
    with Store(address) as store:
        for number, (key, judgement) in enumerate(judgements):
            if number % 2:
                store.put_judgement(key, "claims", "j", judgement)
            else:
                store.put_judgements([(key, "claims", "j", judgement)])
        assert {key: store.get_judgement(key) for key, _ in judgements} == dict(judgements)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_both_sides_of_a_fork_use_the_store(address):
    with filled(address) as store:
        store.get_judgement("k")
        child = os.fork()
        if child == 0:
            for n in range(30):
                store.put_judgement(f"child {n}", "claims", "j", b"1")
            os._exit(0)
        for n in range(30):
            store.put_judgement(f"parent {n}", "claims", "j", b"1")
        assert os.waitpid(child, 0)[1] == 0
        assert store.judges() == {"j": 60, "judge": 1}
