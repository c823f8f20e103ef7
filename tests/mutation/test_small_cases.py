"""The table of small cases is current: every entry names a function of `REDUCED`, a text in a file, and tests."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests._support.full import REDUCED
from tests.mutation.small_cases import ENTRIES, ROOT, Entry, Fault, choose, read_failures

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.function.rpartition("::")[2])

every_fault = pytest.mark.parametrize(
    "fault", [fault for entry in ENTRIES for fault in entry.faults], ids=lambda fault: fault.path
)


def test_every_function_that_is_reduced_has_one_entry() -> None:
    assert Counter(entry.function for entry in ENTRIES) == Counter(list(REDUCED))


@every_fault
def test_the_text_of_a_fault_stands_once_in_its_file(fault: Fault) -> None:
    text = (ROOT / fault.path).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    assert fault.path.startswith("src/") or "/src/" in fault.path
    assert ast.dump(ast.parse(text.replace(fault.old, fault.new))) != ast.dump(ast.parse(text))


@every_entry
def test_the_tests_of_an_entry_are_there(entry: Entry) -> None:
    assert entry.faults
    assert bool(entry.others) != bool(REDUCED[entry.function])
    for test in entry.tests:
        file, _, name = test.partition("[")[0].partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_a_fault_is_in_the_file_within_the_block_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    with Fault("a.py", "1", "2").apply(tmp_path):
        assert (tmp_path / "a.py").read_text(encoding="utf-8") == "x = 2\n"
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "x = 1\n"


def test_failures_are_read_from_the_summary_of_pytest() -> None:
    tests = ["a.py::f[1]", "a.py::f[1 - 2]", "a.py::f[3]"]
    printed = "FAILED a.py::f[1 - 2] - assert 1 == 2\nFAILED a.py::f[3]\n"
    assert read_failures(printed, tests) == {"a.py::f[1 - 2]", "a.py::f[3]"}


def test_words_choose_entries_and_without_any_none_that_needs_an_environment(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {entry.function for entry in choose(["on_ray"])} == {name for name in REDUCED if "on_ray" in name}
    capsys.readouterr()
    assert choose([]) == [entry for entry in ENTRIES if not entry.needs]
    assert capsys.readouterr().out.count("not run") == sum(bool(entry.needs) for entry in ENTRIES)
