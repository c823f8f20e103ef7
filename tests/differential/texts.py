"""Pairs of texts, of JSON texts and of answers for metrics that compare characters. Only the standard library."""

from __future__ import annotations

import json

from worlds import Case, cases, pick, share

#: What an answer's JSON may look like, besides the reference's own.
BROKEN = (
    '{"a": 1, "b": [1, 2',
    '{"a": 1, "b',
    '{"name": "Ann", "age": 3',
    '["x", "y", ',
    "}",
    '{"a": 1}}',
    "nothing of the kind",
    "",
    '{"a": 1,}',
    '{"a": "line\nend"}',
    '{"action_input": "line\nend"}',
    '```json\n{"a": 1}\n```',
    'So: ```\n{"a": 1}\n``` as asked',
    '`{"a": 1}`',
    '{"a": "open \\',
    "NaN",
    '[{"a": 2}, {"a": 1}]',
    '{"a": {"b": [1, {"c": "d"}, x',
    "3",
    '"text"',
    "{'a': 1}",
    "[1, 2] trailing",
)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    "required": ["a"],
}


def second(case: Case) -> str:
    """A second answer to a case's question."""
    return " ".join(case.known[::-1]) or case.question


def json_pairs() -> dict[str, tuple[str, str]]:
    """Answer and reference in JSON, by the name of the pair."""
    found = {}
    for number in range(24):
        one = _value(number)
        other = one if share("equal", str(number)) < 0.4 else _value(number + 100)
        if isinstance(other, list) and number % 2:
            other = other[::-1]
        found[f"json-{number}"] = (json.dumps(one), json.dumps(other, indent=number % 3))
    right = '{"a": 1, "b": [1, 2]}'
    found |= {f"broken-{number}": (text, right) for number, text in enumerate(BROKEN)}
    found["broken-null"] = ("}", "null")
    found["a-list"] = ('[{"a": 1}, {"a": 2}]', '[{"a": 2}, {"a": 1}]')
    found["true-is-one"] = ('{"a": true}', '{"a": 1}')
    found["reference-broken"] = ('{"a": 1}', '{"a": 1')
    found["no-list"] = ('{"a": 1}', "[1]")
    return found


def _value(number: int) -> object:
    kind = pick(("dict", "list", "deep"), "kind", str(number))
    numbers = [pick(("1", "2", "3"), str(number), str(place)) for place in range(number % 4 + 1)]
    if kind == "list":
        return [int(one) for one in numbers]
    if kind == "dict":
        return {key: int(one) for key, one in zip("abcd", numbers, strict=False)}
    return {"name": f"n{numbers[0]}", "a": [int(one) for one in numbers], "é": None}


def text_pairs() -> dict[str, tuple[str, str]]:
    """Answer and reference by the name of the pair: those of `cases` and some that decide at the ends."""
    found = {case.id: (case.answer, case.reference) for case in cases()}
    found |= {
        "both-empty": ("", ""),
        "empty-answer": ("", "Bern"),
        "empty-reference": ("Bern", ""),
        "blank-answer": ("  ", "Bern"),
        "case": ("bern", "Bern"),
        "punctuation": ("Bern!", "Bern"),
        "number": ("Bern 1", "Bern "),
        "swapped": ("ab", "ba"),
        "prefix": ("martha", "marhta"),
        "umlaut": ("Zürich", "Zurich"),
        "pattern": ("Mindy is the CTO", "^[mM]indy.*CTO$"),
        "pattern-at-the-end": ("Mindy is the CTO", "CTO"),
        "no-pattern": ("Mindy", "(["),
    }
    return found
