"""What the documentation says of other systems' metrics: their names exist, and the tables are as the entries are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from assay.metrics import systems
from tests.docs import systems_page

ROOT = Path(__file__).parents[3]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", *sorted((ROOT / "cookbook").rglob("*.py"))]
#: A metric of a system; what an end of a file's name follows is a file: "langsmith:runs.jsonl".
NAME = re.compile(rf"\b(?P<system>{'|'.join(systems.SYSTEMS)}):(?P<name>\w[\w.*]*)(?<!\.)")
FILES = (".jsonl", ".json", ".csv", ".parquet")


def mentioned(text: str) -> Iterator[str]:
    """Every "SYSTEM:NAME" in a text."""
    yield from (found.group() for found in NAME.finditer(text) if not found["name"].endswith(FILES))


def test_names_are_found_in_texts() -> None:
    text = (
        "`ragas:context_recall@original`, ragas:a. langsmith:runs.jsonl bedrock:Builtin.Recall; trulens:con*, ragas: b"
    )
    assert list(mentioned(text)) == ["ragas:context_recall", "ragas:a", "bedrock:Builtin.Recall", "trulens:con*"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_metric_that_a_page_names_exists(page: Path) -> None:
    for name in mentioned(page.read_text(encoding="utf-8")):
        if "*" in name:
            assert any(fnmatchcase(known, name) for known in systems.names()), name
        else:
            assert systems.named(name).name.startswith(name.partition(":")[0])


def test_pages_name_metrics_of_several_systems() -> None:
    found = {name.partition(":")[0] for page in PAGES for name in mentioned(page.read_text(encoding="utf-8"))}
    assert {"ragas", "deepeval", "trulens"} <= found


@pytest.mark.long
def test_the_tables_are_as_the_entries_are() -> None:
    text = systems_page.PAGE.read_text(encoding="utf-8")
    assert systems_page.page(text) == text, "the entries have changed: python -m tests.docs.systems_page --write"
