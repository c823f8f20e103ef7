"""The count of lines of code leaves out what is no code."""

from __future__ import annotations

from tests._support.lines import lines_of_code


def test_docstrings_comments_and_blank_lines_do_not_count() -> None:
    source = '"""Module.\n\nMore."""\n\nimport os  # why\n\n\n# a comment\n'
    source += 'def f():\n    """One."""\n    return (\n        1\n    )\n'
    assert lines_of_code(source) == 5  # import, def, return (, 1, )


def test_a_text_that_is_a_value_counts() -> None:
    assert lines_of_code('TEXT = """a\nb\n"""\n') == 3
