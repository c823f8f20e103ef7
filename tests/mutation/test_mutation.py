"""Changing one constant, operator or comparison of a formula fails a test: held for a sample, measured for all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import equivalents, page
from tests.mutation.__main__ import drawn
from tests.mutation.kept import Kept
from tests.mutation.mutants import ROOMS, ROOT, mutants, mutants_of

SOURCE = '''
"""Half of 2 is 1."""
from dataclasses import dataclass
LIMIT: float = 0.5

@dataclass(frozen=True)
class Metric:
    direction: str = "lower"

    def value(self, found: list[int]) -> float:
        if not found or len(found) > 2:
            raise ValueError(f"{found[0]} of {len(found)} {1 + 1}")
        return sum(x for x in found if x) / len(found)
'''


def changes(source: str) -> list[str]:
    """What is changed, without the function."""
    return [one.text for one in mutants(source, "x.py")]


def test_numbers_operators_comparisons_and_conditions_are_changed() -> None:
    assert changes(SOURCE) == [
        "LIMIT: float = 0.5 -> LIMIT: float = 0.6",
        "direction: str = 'lower' -> direction: str = 'higher'",
        "not found or len(found) > 2 -> not found and len(found) > 2",
        "not found or len(found) > 2 -> found or len(found) > 2",
        "not found or len(found) > 2 -> not found or len(found) >= 2",
        "not found or len(found) > 2 -> not found or len(found) > 3",
        "return sum((x for x in found if x)) / len(found) -> return max((x for x in found if x)) / len(found)",
        "return sum((x for x in found if x)) / len(found) -> return sum((x for x in found if not x)) / len(found)",
        "return sum((x for x in found if x)) / len(found) -> return sum((x for x in found if x)) * len(found)",
    ]


def test_the_same_change_twice_in_a_function_is_told_apart() -> None:
    source = "def f(a):\n    a += 1\n    a += 1\n"
    assert changes(source) == ["a += 1 -> a -= 1", "a += 1 -> a += 2", "a += 1 -> a -= 1 #2", "a += 1 -> a += 2 #2"]


def test_a_mutant_is_the_file_with_one_change_and_leaves_the_file_as_it_was() -> None:
    first, second = mutants("def f(a):\n    return a + 1\n", "x.py")
    assert first.source() == "def f(a):\n    return a - 1"
    assert second.source() == "def f(a):\n    return a + 2"
    assert first.source() == "def f(a):\n    return a - 1"
    assert (first.where, first.lines) == ("f", (2, 2))


def test_what_is_asked_and_told_is_told_apart_from_formulas() -> None:
    source = """
class Metric:
    @property
    def label(self) -> str:
        return "of 1" + self.name[1:]

    async def measure(self, sample, judge):
        rated = await ask(judge, Rating("scale", 1, 5, [("ANSWER", sample.answer or "")]))
        texts = {"reason": (rated.reason,)} if rated.reason else {}
        return self.make_score((rated.value - 1) / 4, texts=texts)
"""
    every = mutants(source, "x.py")
    assert {one.text.rpartition(" -> ")[2] for one in every if not one.told} == {
        "ask(judge, Rating('scale', 2, 5, [('ANSWER', sample.answer or '')]))",  # the scale makes the value
        "ask(judge, Rating('scale', 1, 6, [('ANSWER', sample.answer or '')]))",
        "return self.make_score((rated.value - 1) * 4, texts=texts)",
        "return self.make_score((rated.value + 1) / 4, texts=texts)",
        "return self.make_score((rated.value - 2) / 4, texts=texts)",
        "return self.make_score((rated.value - 1) / 5, texts=texts)",
    }
    assert len([one for one in every if one.told]) == 4  # +, [1:], the answer, the reason


def test_what_was_noticed_is_kept_until_its_file_changes(tmp_path: Path) -> None:
    first, second = mutants("def f(a):\n    return a + 1\n", "src/assay/metrics/systems/base.py")
    kept = Kept(tmp_path / "new")
    assert kept.killed() == set()
    kept.ended(first, killed=True)
    kept.ended(second, killed=False)
    assert Kept(tmp_path / "new").killed() == {kept.identity(first)}
    (other,) = (one for one in mutants("def f(a):\n    return a + 1\n", "src/assay/text.py") if one.text == first.text)
    assert kept.identity(other) != kept.identity(first)


def test_the_table_of_equivalents_is_current() -> None:
    every = [mutant for room in ROOMS for mutant in mutants_of(room)]
    assert len({mutant.key for mutant in every}) == len(every)
    assert equivalents.outdated(every) == [], "entries of equivalents.toml that name no mutant"
    entries = equivalents.table()
    assert len({one.key for one in entries}) == len(entries)
    assert all(one.reason for one in entries)


def test_the_page_has_rooms_in_order_and_their_sum() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    for table in page.TABLES:
        found = page.figures(text, table)
        assert tuple(found) == tuple(room for room in ROOMS if room in found)
        assert all(one.mutants == one.killed + one.equivalent + one.survive for one in found.values())
        assert page.page(text, table, {}) == text


@pytest.mark.long
def test_a_sample_of_each_rooms_mutants_fails_its_tests() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.mutation", "--sample", "1"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{len(ROOMS)} mutants, 0 survive" in ran.stdout


def test_a_sample_is_the_same_after_changes_elsewhere() -> None:
    every = mutants_of("ragas")
    first = drawn(every, 3, "0")
    rest = [one for one in every if one not in first][::2]
    assert drawn([*rest, *reversed(first)], 3, "0") == first
