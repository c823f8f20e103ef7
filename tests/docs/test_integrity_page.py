"""The page on damage and hostile input names kinds of tests that there are."""

from __future__ import annotations

import re

from tests.docs.integrity_page import KINDS, PAGE, ROOT


def test_the_page_has_the_kinds_and_their_tests_are_there() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([\d,]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [row[:2] for row in rows] == [(area, kind) for area, kinds in KINDS.items() for kind in kinds]
    for kinds in KINDS.values():
        for tests in kinds.values():
            for name in tests:
                file, _, function = name.partition("::")
                assert (ROOT / file).exists()
                assert not function or function in (ROOT / file).read_text(encoding="utf-8")
