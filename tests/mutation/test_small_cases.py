"""The table of small cases is current: every entry names a function of `REDUCED`, a text in a file, and tests."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests._support.full import REDUCED
from tests.mutation.small_cases import ENTRIES, ROOT, Entry, Fault, choose

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.function.rpartition("::")[2])


def test_every_function_that_is_reduced_has_one_entry() -> None:
    assert Counter(entry.function for entry in ENTRIES) == Counter(list(REDUCED))


@every_entry
def test_the_text_of_a_fault_stands_once_in_its_file(entry: Entry) -> None:
    fault = entry.fault
    assert (ROOT / fault.path).read_text(encoding="utf-8").count(fault.old) == 1
    assert fault.new != fault.old
    assert fault.path.startswith("src/") or "/src/" in fault.path


@every_entry
def test_the_file_with_a_fault_can_be_imported(entry: Entry) -> None:
    text = (ROOT / entry.fault.path).read_text(encoding="utf-8")
    ast.parse(text.replace(entry.fault.old, entry.fault.new))


@every_entry
def test_the_tests_of_an_entry_are_there(entry: Entry) -> None:
    assert entry.tests
    assert bool(entry.others) != bool(REDUCED[entry.function])
    for test in entry.tests:
        file, _, name = test.partition("[")[0].partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_a_fault_is_in_the_file_within_the_block_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    with Fault("a.py", "1", "2").applied(tmp_path):
        assert (tmp_path / "a.py").read_text(encoding="utf-8") == "x = 2\n"
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "x = 1\n"


def test_words_choose_entries_and_without_any_none_that_needs_an_environment(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {entry.function for entry in choose(["on_ray"])} == {name for name in REDUCED if "on_ray" in name}
    capsys.readouterr()
    assert choose([]) == [entry for entry in ENTRIES if not entry.needs]
    assert capsys.readouterr().out.count("not run") == sum(bool(entry.needs) for entry in ENTRIES)
