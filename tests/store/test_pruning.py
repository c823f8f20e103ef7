"""What is old goes, and nothing that a run which is left still needs."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import InputError, Sample, ScoredSample, Store
from assay.cli.store import bytes_in, size_in_words
from assay.store.pruning import prune
from tests.store.test_postgres import main_with

DAY = 86_400.0
_STORES = itertools.count()


class Clock:
    """Sets back the time at which something is written."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._real, self._days = time.time, 0.0
        for module in ("store", "rows"):
            patch.setattr(f"assay.store.{module}.time.time", lambda: self._real() - self._days * DAY)

    def days_ago(self, days: float) -> None:
        self._days = days


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def row(name: str, length: int = 10) -> ScoredSample:
    return ScoredSample(sample=Sample(id=name, answer="x" * length), scores={})


def filled(address: str, clock: Clock) -> Store:
    """Runs of 100, 50 and 10 days ago, each with a judgement of its own; the last also has one of the first."""
    store = Store(address)
    for days, name in ((100, "old"), (50, "middle"), (10, "new")):
        clock.days_ago(days)
        store.create_run(name, {})
        store.judgements(name).put_judgement(f"of {name}", "claims", "j", b"1")
        if name == "old":
            store.judgements(name).put_judgement("shared", "claims", "j", b"1")
            store.put_judgement("nobody's", "claims", "j", b"1")
        if name == "new":
            store.judgements(name).get_judgement("shared")
        for n in (1, 2):
            store.put_row(name, n, row(f"{name} {n}"))
    clock.days_ago(0)
    return store


def known(store: Store) -> set[str]:
    return {key for key in ("of old", "of middle", "of new", "shared", "nobody's") if store.get_judgement(key)}


def names(store: Store) -> list[str]:
    return [name for name, *_ in store.runs()]


def test_what_was_written_before_goes_but_for_what_a_later_run_used(address: str, clock: Clock) -> None:
    with filled(address, clock) as store:
        tried = prune(store, older_than=40 * DAY, dry_run=True)
        assert (tried.runs, tried.rows, tried.judgements, tried.after) == (("middle", "old"), 4, 3, None)
        assert (names(store), len(known(store))) == (["new", "middle", "old"], 5)
        done = prune(store, older_than=40 * DAY)
        assert (done.runs, done.rows, done.judgements) == (tried.runs, tried.rows, tried.judgements)
        assert (names(store), known(store)) == (["new"], {"of new", "shared"})
        assert prune(store, older_than=40 * DAY).rows == 0


def test_nothing_of_a_run_to_keep_goes(address: str, clock: Clock) -> None:
    with filled(address, clock) as store:
        done = prune(store, older_than=5 * DAY, keep=["middle", "last"])
        assert (done.runs, done.rows, done.judgements) == (("old",), 2, 2)
        assert (names(store), known(store)) == (["new", "middle"], {"of middle", "of new", "shared"})
        with pytest.raises(InputError, match="run 'none' is not in the store"):
            prune(store, older_than=DAY, keep=["none"])


def test_a_run_that_goes_on_keeps_its_later_rows(address: str, clock: Clock) -> None:
    """As production traces do, under one name for years."""
    with Store(address) as store:
        for days in (100, 50, 10):
            clock.days_ago(days)
            store.put_run("live", {})
            store.merge_row("live", row(f"{days}"))
        clock.days_ago(0)
        assert prune(store, older_than=40 * DAY).rows == 2
        assert [one.scored.sample.id for one in store.rows("live")] == ["10"]
        assert store.merge_row("live", row("today")) == 4  # numbers go on


def test_as_much_goes_as_makes_it_small_enough(address: str, clock: Clock) -> None:
    """Ten rows of some 40 kB that do not compress, one a day."""
    with Store(address) as store:
        for days in range(10, 0, -1):
            clock.days_ago(days)
            store.create_run(f"day {days}", {})
            store.put_row(f"day {days}", 1, row(f"{days}", 10))
            store.judgements(f"day {days}").put_judgement(f"{days}", "claims", "j", noise(days))
        clock.days_ago(0)
        before = store.size()
        assert before > 400_000
        limit = int(0.6 * before)
        done = prune(store, max_bytes=limit)
        assert (done.before, done.after) == (before, store.size())
        assert store.size() <= limit
        left = names(store)
        assert left == [f"day {days}" for days in range(1, len(left) + 1)]  # the newest
        assert 3 <= len(left) <= 6
        assert prune(store, max_bytes=limit).rows == 0


def noise(seed: int) -> bytes:
    import random

    return random.Random(seed).randbytes(40_000)


def test_a_file_gives_the_room_back(tmp_path: Path, clock: Clock) -> None:
    with Store(tmp_path) as store:
        clock.days_ago(10)
        store.put_judgements([(f"{n}", "claims", "j", noise(n)) for n in range(50)])
        clock.days_ago(0)
        store.put_judgement("new", "claims", "j", b"1")
        assert prune(store, older_than=5 * DAY).judgements == 50
        assert store.get_judgement("new") == b"1"
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 300_000  # of 2 MB; an empty file has 220 kB


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "prune: say what"),
        ({"older_than": 0}, "older_than: expected a number above 0, got 0"),
        ({"max_bytes": float("nan")}, "max_bytes: expected a number above 0, got nan"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, options: dict[str, float], said: str) -> None:
    with Store(tmp_path) as store, pytest.raises(InputError, match=said):
        prune(store, **options)  # type: ignore[arg-type]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(0, 5)), max_size=12), st.integers(1, 30))
def test_no_judgement_of_a_run_that_is_left_goes(
    tmp_path: Path, written: list[tuple[int, int, int]], days: int
) -> None:
    """Of (days ago, run, judgement)."""
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path / f"{next(_STORES)}") as store:
        clock, used = Clock(patch), dict[str, set[str]]()
        for n, (ago, run, judgement) in enumerate(sorted(written, reverse=True), 1):
            clock.days_ago(ago + 0.5)
            if not store.has_run(f"run {run}"):
                store.create_run(f"run {run}", {})
            mine = store.judgements(f"run {run}")
            if mine.get_judgement(f"{judgement}") is None:
                mine.put_judgement(f"{judgement}", "claims", "j", b"1")
            used.setdefault(f"run {run}", set()).add(f"{judgement}")
            store.put_row(f"run {run}", n, row(f"{n}"))
        clock.days_ago(0)
        done = prune(store, older_than=days * DAY)
        left = set(names(store))
        assert left | set(done.runs) == set(used)
        assert left == {f"run {run}" for ago, run, _ in written if ago + 0.5 < days}
        assert all(store.get_judgement(judgement) for run in left for judgement in used[run])
        assert done.rows == sum(ago + 0.5 > days for ago, *_ in written)


def test_the_commands(tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    filled(str(tmp_path), clock).close()
    store = ("--store", str(tmp_path))
    assert main_with("store", "info", *store, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], told["rows"], told["judgements"]) == (3, 6, 5)
    assert main_with("store", "prune", "--older-than", "40d", "--dry-run", *store) == 0
    assert "would delete 4 rows, 2 runs and 3 judgements" in capsys.readouterr().out
    assert main_with("store", "prune", "--older-than", "40d", "--keep", "old", *store) == 0
    assert "deleted 2 rows, 1 run and 2 judgements" in capsys.readouterr().out  # that of "middle", and nobody's
    assert main_with("store", "prune", *store) == 2
    assert "--older-than, --max-size or --where" in capsys.readouterr().err
    assert main_with("store", "prune", "--max-size", "lots", *store) == 2
    assert "--max-size: expected a size such as 500MB or 2GB, got 'lots'" in capsys.readouterr().err
    assert main_with("store", "info", "--store", str(tmp_path / "none")) == 2
    assert not (tmp_path / "none").exists()


def test_sizes_are_read_and_said() -> None:
    assert [bytes_in(text, "x") for text in ("500MB", "2 gb", "1.5k", "12")] == [5e8, 2e9, 1500, 12]
    assert [size_in_words(size) for size in (12, 1500, 920_000, 1.44e9)] == ["12 bytes", "1.5 kB", "920 kB", "1.4 GB"]
