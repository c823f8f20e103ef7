"""Pages and public names use the words of the field: `words.toml` lists those that they must not use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests._support.projects import ROOT
from tests.docs.words import Pending, Word, clean_entries, current, is_participle, pages, read_list, words_on

WORDS, RULE, PENDING = read_list()
USE = {word.name: word.use for word in WORDS}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_uses_the_words_of_the_field(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    new = words_on(page, WORDS).items()
    wrong = [(word, lines) for word, lines in new if word not in PENDING.words.get(name, ())]
    assert [f"{name}:{lines[0]}: {word!r}; use: {USE[word]}" for word, lines in wrong] == []


def test_no_public_name_ends_in_a_participle() -> None:
    assert sorted(set(current().names) - set(PENDING.names)) == []


def test_the_pending_list_only_shrinks() -> None:
    """Remove what has become clean: `python -m tests.docs.words`."""
    assert clean_entries(PENDING, current()) == []


def test_entries_that_pass_are_named() -> None:
    pending = Pending({"docs/a.md": ["spool", "lens"]}, ["assay:Told"])
    found = Pending({"docs/a.md": ["lens"]}, [])
    assert clean_entries(pending, found) == ["docs/a.md: spool", "assay:Told"]


def test_code_is_read_only_for_words_of_code() -> None:
    text = "A spool.\n\n```\nspool --by x\n```\n\nSee [it](spool.md) and `--by`, <!-- spool --> spools.\n"
    assert Word("spool", re.compile(r"\bspools?\b"), "queue").lines(text) == [1, 7]
    assert Word("--by", re.compile(r"--by\b"), "--slice", code=True).lines(text) == [4, 7]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("assay:Told", True), ("assay.live.asked", True), ("assay:guarded", True), ("assay:GuardBlocked", True),
     ("assay:ScoredSample", False), ("assay.judges.embedded", False), ("assay:calibrate", False),
     ("assay.data.seed_feed", False)],
)  # fmt: skip
def test_a_name_that_ends_in_a_participle(name: str, expected: bool) -> None:
    assert is_participle(name, RULE) is expected
