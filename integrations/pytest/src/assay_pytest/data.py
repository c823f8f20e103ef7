"""Tests that run for each row of a file of answers: `@pytest.mark.assay_data("answers.jsonl")`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import AssayError, Sample, open_data
from assay.extension import ColumnMap, RowError, shortened

_LONGEST = 60  # characters of an id


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Give the test a sample of the file for each of its rows; a row that cannot be read is a test that fails.

    Raises pytest.UsageError for a mark that is wrong, and a file that cannot be read.
    """
    try:
        file, argument, limit, column_map = _arguments(*mark.args, **mark.kwargs)
    except TypeError as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: assay_data: {error}") from None
    if argument not in metafunc.fixturenames:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: assay_data: the test takes no argument {argument!r}; name it so, or say "
            "argument="
        )
    path = _path(metafunc, file)
    try:
        rows = list(open_data(path, column_map=column_map, limit=limit))
    except (AssayError, OSError) as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: assay_data: {error}") from None
    manager = metafunc.config.pluginmanager
    if not manager.hasplugin("assay-bad-rows"):
        manager.register(UnreadableRows(), "assay-bad-rows")
    made = [pytest.param(found, id=_id(number, found), marks=_marks(number, found)) for number, found in rows]
    metafunc.parametrize(argument, made)


class UnreadableRows:
    """Fails the tests whose row could not be read."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        mark = item.get_closest_marker("assay_bad_row")
        if mark is not None:
            pytest.fail(str(mark.args[0]), pytrace=False)

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "assay_bad_row(message): a row that could not be read")


def _arguments(
    file: str | Path, *, argument: str = "sample", limit: int | None = None, column_map: ColumnMap | None = None
) -> tuple[str | Path, str, int | None, ColumnMap | None]:
    return file, argument, limit, column_map


def _path(metafunc: pytest.Metafunc, file: str | Path) -> Path:
    """The file beside the test, else in the root of the project."""
    beside = metafunc.definition.path.parent / file
    return beside if beside.exists() else metafunc.config.rootpath / file


def _id(number: int, found: Sample | RowError) -> str:
    name = found.id if isinstance(found, Sample) else None
    return shortened(name, _LONGEST) if name else f"row{number}"


def _marks(number: int, found: Sample | RowError) -> Any:
    if isinstance(found, Sample):
        return ()
    return pytest.mark.assay_bad_row(f"row {number} cannot be read: {found.message}")
