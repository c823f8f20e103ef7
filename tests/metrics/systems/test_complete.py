"""Nothing is missing: every metric that the notes on other systems list, and every one that their packages have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from assay.metrics import systems
from assay.metrics.systems.base import spelled
from tests.metrics.systems.left_out import LEFT_OUT
from tests.metrics.systems.rows import OF_A_USER, ROWS, Left

NOTES = Path(__file__).parents[4] / "shared" / "notes" / "systems.md"
GOLDEN = sorted((Path(__file__).parents[2] / "differential" / "golden").glob("*.json"))
#: The rooms that have the metrics of a package, by the package; a driver's file names the packages that it drove.
ROOMS = {
    "ragas": ("ragas", "multimodal"),
    "deepeval": ("deepeval", "multimodal"),
    "trulens-feedback": ("trulens",),
    "langchain-classic": ("langchain",),
    "langsmith": ("langsmith",),  # before openevals, which its driver needs too
    "openevals": ("openevals",),
    "ragchecker": ("ragchecker",),
    "llama-index-core": ("llamaindex", "multimodal"),
}
HEADING = re.compile(r"#{2,3} (?P<number>[1-9](?:\.\d+)?)\.? ")


def listed(text: str) -> Iterator[tuple[str, str]]:
    """Number of the section and first cell of every row of the tables in sections 1 to 9."""
    section, lines = "", text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("## ") or HEADING.match(line):
            heading = HEADING.match(line)
            section = heading["number"] if heading else ""
        head = following.startswith("|---")
        if section and line.startswith("| ") and not head:
            yield section, line.split("|")[1].strip()


def left(section: str, row: str) -> str | Left | None:
    """What `ROWS` says of a row; None: nothing."""
    rows = ROWS.get(section)
    return rows if rows is None or isinstance(rows, Left) else rows.get(row, rows.get("*"))


@cache
def mapped() -> tuple[str, ...]:
    """All names of metrics in `ROWS`, stars included."""
    values = [value for rows in ROWS.values() if not isinstance(rows, Left) for value in rows.values()]
    return tuple(name for value in values if isinstance(value, str) for name in value.split())


def test_rows_are_read_from_tables_with_their_sections() -> None:
    text = "## 2. B\n### 2.1 C\n| head |\n|---|\n| `one` | x |\n| two |\n\n## (a) Union\n| head |\n|---|\n| three |\n"
    assert list(listed(text)) == [("2.1", "`one`"), ("2.1", "two")]


@pytest.mark.skipif(not NOTES.exists(), reason="the notes on other systems are not part of a checkout")
def test_every_row_of_the_notes_is_mapped_and_nothing_else_is() -> None:
    rows = list(listed(NOTES.read_text(encoding="utf-8")))
    assert [row for row in rows if left(*row) is None] == []
    known = set(rows)
    kept = [(section, row) for section, of in ROWS.items() if not isinstance(of, Left) for row in of if row != "*"]
    assert [row for row in kept if row not in known] == []
    assert set(ROWS) == {section for section, _ in rows}


def test_every_name_in_the_rows_is_a_metric() -> None:
    plain = [name for name in dict.fromkeys(mapped()) if "*" not in name]
    assert {name: systems.named(name).name.partition(":")[0] for name in plain} == {
        name: name.partition(":")[0] for name in plain
    }


def test_every_star_stands_for_several_metrics() -> None:
    stars = {name for name in mapped() if "*" in name}
    assert {star for star in stars if sum(fnmatchcase(name, star) for name in systems.names()) < 2} == set()


@pytest.mark.parametrize("system", systems.SYSTEMS)
def test_every_metric_says_where_it_comes_from(system: str) -> None:
    silent = [name for name, entry in systems.system_entries(system).items() if not (entry.source and entry.compared)]
    assert silent == []


def test_the_rows_have_nearly_all_metrics() -> None:
    stars = tuple(name for name in mapped() if "*" in name)
    plain = {systems.named(name).name for name in mapped() if "*" not in name}
    found = {name for name in systems.names() if name in plain or any(fnmatchcase(name, star) for star in stars)}
    assert len(found) >= 345  # so many when the notes were made


@pytest.mark.parametrize("name", OF_A_USER)
def test_what_a_user_makes_of_a_prompt_is_there(name: str) -> None:
    module, _, made = OF_A_USER[name].partition(":")
    assert isinstance(getattr(import_module(module), made), type)


@cache
def known(package: str) -> frozenset[str]:
    """All that our metrics of a package are called there, and what is made or left out."""
    entries = [pair for room in ROOMS[package] for pair in systems.system_entries(room).items()]
    found = {name for name, _ in entries} | {name for _, entry in entries for name in entry.also}
    found |= {spelled(source) for _, entry in entries for source in entry.source.split(", ")}
    return frozenset({*found, *OF_A_USER})


def exports() -> Iterator[tuple[str, str]]:
    """Package and public name, of all drivers."""
    for path in GOLDEN:
        golden: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        (package, *_) = [name for name in ROOMS if name in golden.get("versions", {})] or [""]
        yield from ((package, name) for name in golden.get("exports", ()))


def omitted(package: str) -> list[str]:
    """The names of a package that are left out."""
    return [name for names in LEFT_OUT.get(package, {}).values() for name in names.split()]


@pytest.mark.parametrize("package", ROOMS)
def test_every_public_name_of_a_package_is_here_or_left_out_with_a_reason(package: str) -> None:
    public = {name for of, name in exports() if of == package}
    assert len(public) > 4
    assert sorted(public - known(package) - {*omitted(package)}) == []


@pytest.mark.parametrize("package", LEFT_OUT)
def test_what_is_left_out_exists_there_and_is_not_here(package: str) -> None:
    names = omitted(package)
    assert len(names) == len(set(names))
    assert sorted(set(names) - {name for of, name in exports() if of == package}) == []
    assert sorted(known(package).intersection(names)) == []


def test_every_driver_lists_what_its_package_has() -> None:
    driven = {path.stem.removeprefix("drive_") for path in GOLDEN[0].parents[1].glob("drive_*.py")}
    assert driven == {path.stem for path in GOLDEN} - {"ragchecker_examples"}
    assert [path.stem for path in GOLDEN if path.stem in driven and not json.loads(path.read_text())["exports"]] == []
