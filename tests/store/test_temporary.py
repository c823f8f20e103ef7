"""A store that nobody keeps: rows are packed where they are read, and beyond a bound."""

from pathlib import Path
from typing import Any

import pytest

from assay import Result, Sample, Score, ScoredSample, evaluate
from assay.store import rows as rows_module
from assay.store import temporary
from assay.store.temporary import TemporaryStore

ROWS = [{"id": f"r{n}", "answer": "In Rome" if n % 2 else "In Ulm", "reference": "In Rome"} for n in range(7)]


def scored(number: int, value: float = 1.0) -> ScoredSample:
    return ScoredSample(sample=Sample(id=f"s{number}"), scores={"m": Score(metric="m", value=value)})


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows that were packed."""
    found: list[int] = []
    real = rows_module.PackedRow.of.__func__  # type: ignore[attr-defined]

    def of(cls: Any, number: int, *rest: Any) -> Any:
        found.append(number)
        return real(cls, number, *rest)

    monkeypatch.setattr(rows_module.PackedRow, "of", classmethod(of))
    return found


def test_evaluate_without_a_store_packs_no_row_until_one_is_read(packed: list[int]) -> None:
    result = evaluate(ROWS, "ragas:exact_match", store=None, progress=False)
    assert result.metrics["ragas:exact_match"].mean == pytest.approx(3 / 7)  # rows 2, 4, 6 of 7
    assert str(result)
    assert packed == []
    assert [row.sample.id for row in result] == [f"r{n}" for n in range(7)]
    assert packed == [1, 2, 3, 4, 5, 6, 7]


def test_its_rows_are_read_as_from_any_store(tmp_path: Path) -> None:
    kept, lost = (evaluate(ROWS, "ragas:exact_match", store=one, progress=False) for one in (tmp_path / "s", None))
    assert [one.to_dict() for one in lost] == [one.to_dict() for one in kept]
    assert lost.worst("ragas:exact_match") == kept.worst("ragas:exact_match")
    again = Result.load(lost.run, lost.store)
    assert again.complete
    assert again.metrics["ragas:exact_match"].mean == pytest.approx(3 / 7)


def test_beyond_the_bound_rows_are_written_in_groups(monkeypatch: pytest.MonkeyPatch, packed: list[int]) -> None:
    monkeypatch.setattr(temporary, "MOST_ROWS", 3)
    with TemporaryStore() as store:
        store.create_run("a", {})
        for number in range(1, 8):
            store.put_row("a", number, scored(number))
        assert packed == [1, 2, 3, 4, 5, 6]  # 7 is held
        assert [row.number for row in store.rows("a")] == [1, 2, 3, 4, 5, 6, 7]
        assert store.row_counts("a").missing == 0


def test_texts_count_against_the_bound(monkeypatch: pytest.MonkeyPatch, packed: list[int]) -> None:
    monkeypatch.setattr(temporary, "MOST_CHARS", 5000)
    with TemporaryStore() as store:
        store.create_run("a", {})
        long = ScoredSample(sample=Sample(id="1", answer="x" * 6000), scores={})
        store.put_row("a", 1, long)
        assert packed == [1]


def test_a_row_that_is_put_again_is_replaced() -> None:
    with TemporaryStore() as store:
        store.create_run("a", {})
        for value in (0.0, 1.0):
            store.put_row("a", 1, scored(1, value))
        assert [row.scored.values for row in store.rows("a")] == [{"m": 1.0}]
        store.put_row("a", 1, scored(1, 0.5))
        assert [row.scored.values for row in store.rows("a")] == [{"m": 0.5}]
        assert store.row_counts("a").stored == 1


def test_ids_that_stand_twice_are_found_in_memory(packed: list[int]) -> None:
    with TemporaryStore() as store:
        store.create_run("a", {})
        for number in (1, 2, 3):
            store.put_row("a", number, scored(number % 2))
        assert store.ids_of_several("a") == [("s1", [1, 3])]
        assert packed == []
        list(store.rows("a"))
        assert store.ids_of_several("a") == [("s1", [1, 3])]


def test_it_deletes_its_folder() -> None:
    store = TemporaryStore()
    folder = store.folder
    store.put_row("a", 1, scored(1))
    assert folder.exists()
    store.close()
    assert not folder.exists()
