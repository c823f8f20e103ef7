"""JSON schemas that come with the data: what jsonschema says of them, with nothing fetched, and in bounded time."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import evaluate
from assay.errors import Cause, InputError, JudgeFailure, MissingExtra
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.systems import named
from assay.metrics.systems.patterns import is_quick_anywhere
from assay.metrics.systems.schemas import is_plain, json_schema_errors
from assay.records import Sample

#: Python's `re` would need some 2 ** 40 steps for it.
ENDLESS, TEXT = "(a+)+$", "a" * 40 + "b"
#: Each definition names the next one twice: 2 ** 60 of them.
LAUGHS: dict[str, Any] = {
    "$ref": "#/$defs/0",
    "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)} | {"60": {}},
}
#: What has been looked at is looked at once more for each of these, within each other.
LOOKS_BACK: dict[str, Any] = {}
for _ in range(40):
    LOOKS_BACK = {"allOf": [LOOKS_BACK], "unevaluatedProperties": True}


def errors(value: Any, schema: Any, limit: float = 5.0) -> tuple[str, ...]:
    return asyncio.run(json_schema_errors(value, schema, limit))


#: Schemas of a text `a`, and whether they are checked here; a process of its own takes a while.
OF_A_TEXT: list[tuple[dict[str, Any], bool]] = [
    ({"properties": {"a": {"type": "string"}}}, True),
    ({"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}, "pattern": {"type": "string"}}}, True),
    ({"patternProperties": {"^a": {"type": "string"}}}, True),
    ({"properties": {"a": {"type": "string", "pattern": r"\w+@\w+|\w+"}}}, False),
    ({"patternProperties": {"a.*z|a+": {"type": "string"}}}, False),
    ({"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}}, False),
]


@pytest.mark.parametrize(("schema", "plain"), OF_A_TEXT)
def test_what_may_not_end_is_not_checked_here(schema: dict[str, Any], plain: bool) -> None:
    assert is_plain(schema) is plain


@pytest.mark.parametrize(
    "schema",
    [
        *(schema for schema, _ in OF_A_TEXT[:4]),
        *(pytest.param(schema, marks=pytest.mark.long) for schema, _ in OF_A_TEXT[4:]),
    ],
)
def test_what_is_wrong_with_a_json_value(schema: dict[str, Any]) -> None:
    """The same whether it is checked here or in a process of its own; errors in the order of their paths."""
    schema = {**schema, "required": ["c"]}
    assert errors({"a": 1}, schema) == ("$: 'c' is a required property", "$.a: 1 is not of type 'string'")
    assert errors({"a": "x", "c": None}, schema) == ()


@pytest.mark.parametrize("schema", [{"type": 3}, {"$ref": "http://127.0.0.1:9/x.json"}, {"$ref": "#/nowhere"}])
@pytest.mark.parametrize("more", [{}, pytest.param({"uniqueItems": True}, marks=pytest.mark.long)])
def test_a_schema_that_is_none_or_lies_elsewhere(schema: dict[str, Any], more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^JSON schema: "):
        errors(1, {**schema, **more})


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"$dynamicRef": "#"}])
def test_a_schema_that_is_itself_is_none(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="refers to itself without end"):
        errors(1, schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": ENDLESS}, TEXT),
        pytest.param({"items": {"properties": {"a": {"pattern": ENDLESS}}}}, [{"a": TEXT}], marks=pytest.mark.long),
        pytest.param({"patternProperties": {ENDLESS: {}}}, {TEXT: 1}, marks=pytest.mark.long),
        pytest.param(LAUGHS, 1, marks=pytest.mark.long),
        pytest.param(LOOKS_BACK, {"a": 1}, marks=pytest.mark.long),
    ],
)
def test_what_would_take_for_ever_is_given_up_and_others_go_on(schema: dict[str, Any], value: Any) -> None:
    async def both() -> tuple[float, JudgeFailure]:
        began = time.perf_counter()
        task = asyncio.ensure_future(json_schema_errors(value, schema, 0.2))
        await asyncio.sleep(0)  # it has begun
        waited = time.perf_counter() - began
        with pytest.raises(JudgeFailure) as failed:
            await task
        return waited, failed.value

    waited, failure = asyncio.run(both())
    assert waited < 0.2  # the loop was free meanwhile
    assert failure.cause is Cause.TIMEOUT
    assert "0.2 s" in failure.message


@pytest.mark.long
def test_rows_with_such_schemas_have_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_schema_errors, "__defaults__", (0.2,))
    slow = {"type": "string", "pattern": ENDLESS}
    rows = [
        {"answer": json.dumps(TEXT), "metadata": {"schema": slow, "expected_schema": slow}},
        {"answer": '"b"', "metadata": {"schema": {"type": "string"}, "expected_schema": {"type": "string"}}},
    ]
    names = ["langchain:json_schema_validation", "deepeval:json_correctness"]
    for first, second in [[row.scores[name] for row in evaluate([{"question": "q", **row} for row in rows], name)]
                          for name in names]:  # fmt: skip
        assert first.error is not None
        assert first.error.cause is Cause.TIMEOUT
        assert second.value == 1.0


@pytest.mark.long
def test_deepevals_check_fetches_nothing_either() -> None:
    """A schema in a row that names another one by address: nobody is asked for it."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        schema = {"$ref": f"http://127.0.0.1:{server.server_address[1]}/x.json"}
        sample = Sample(question="q", answer="{}", metadata={"expected_schema": schema})
        found = asyncio.run(named("deepeval:json_correctness").score(sample, ScriptedJudge()))
        server.shutdown()
    assert asked == []
    assert found.error is not None
    assert found.error.cause is Cause.MISSING_INPUT
    assert "nothing is fetched" in found.error.message


def test_all_that_is_wrong_is_told() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    sample = Sample(question="q", answer='{"a": 1, "b": 2}', metadata={"expected_schema": schema})
    found = asyncio.run(named("deepeval:json_correctness").score(sample, ScriptedJudge()))
    assert found.value == 0.0
    assert found.texts["wrong"] == ("$.a: 1 is not of type 'string'", "$.b: 2 is not of type 'string'")


def test_large_values_are_checked_elsewhere() -> None:
    """200 parts of a schema (itself, a list, its items) with themselves are 40,000 pairs."""
    schema = {"enum": list(range(198))}
    assert is_plain(schema)
    assert is_plain(schema, [0] * 199)
    assert not is_plain(schema, [0] * 200)
    assert not is_plain({"enum": list(range(199))})
    assert not is_plain({"enum": list(range(179))}, [0] * 220)  # 181 and 221 are 40,001 pairs


@pytest.mark.parametrize(
    ("pattern", "quick"),
    [
        ("abc", True),
        ("a|b", True),
        ("^a+$", True),
        (r"^\d{4}-\d{2}-\d{2}$", True),
        ("a+", False),  # from each of many a's on, all that follow are read
        (r"\d{4}", False),
        ("^(a|b)+", False),
        ("^(a{3}){3}$", True),
        ("^(a{3}){3}b*$", False),  # it counts as two, since it might have been (a?){3}
        ("^(a?){30}a{30}", False),
        (r"^(.)\1", False),
        ("a" * 1000, True),
        ("a" * 1001, False),
    ],
)
def test_patterns_that_are_looked_for_here(pattern: str, quick: bool) -> None:
    assert is_quick_anywhere(pattern) is quick


@given(st.text("^a*+?|(){}3b$\\", max_size=12))
@settings(max_examples=200, deadline=None)
def test_what_is_looked_for_here_is_quick(pattern: str) -> None:
    try:
        made = re.compile(pattern)
    except (re.error, OverflowError):
        return
    if is_quick_anywhere(pattern):
        began = time.thread_time()
        made.search("a" * 50_000 + "c")
        assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (3, "expected an object, or true or false, found int"),
        ([{}], "expected an object, or true or false, found list"),
        ({"$schema": []}, "it cannot be checked: TypeError"),
        ({"$schema": "http://["}, "it cannot be checked: ValueError"),
        ({"multipleOf": float("nan")}, "it cannot be checked: ValueError"),
        ({"patternProperties": 3}, "3 is not of type 'object'"),
        ({"pattern": "("}, "'(' is not a 'regex'"),
        pytest.param({"$ref": []}, "[] is not of type 'string'", marks=pytest.mark.long),
    ],
)
def test_a_schema_that_nobody_can_read(schema: Any, said: str) -> None:
    with pytest.raises(InputError, match=r"^JSON schema: ") as raised:
        errors(1, schema)
    assert said in str(raised.value)


KEYWORDS = st.sampled_from(
    ["$schema", "$id", "pattern", "patternProperties", "properties", "items", "enum", "type", "required", "if", "not"]
)
ATOMS = st.sampled_from([0, -1, 1e308, float("nan"), True, None, "", "a", "#", "(a", "http://[", "\ud800", "string"])
ANY = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYWORDS, inner, max_size=3), max_leaves=8
)


@given(ANY, ANY)
@settings(deadline=None)
def test_whatever_stands_there_is_fitted_or_named(value: Any, schema: Any) -> None:
    if not is_plain(schema, value):
        return
    try:
        found = errors(value, schema)
    except InputError as error:
        found = (f"$ {error}",)
    assert all(line.startswith(("$:", "$.", "$[", "$ JSON schema: ")) for line in found)


WORDS = st.sampled_from(["a", "b"])
SCHEMAS = st.recursive(
    st.sampled_from([{}, {"type": "string"}, {"minimum": 1}, {"pattern": "^a"}, {"const": "a"}, True, False]),
    lambda inner: st.one_of(
        st.builds(lambda name, one: {"properties": {name: one}}, WORDS, inner),
        st.builds(lambda one: {"items": one}, inner),
        st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner),
        st.builds(lambda one: {"not": one}, inner),
    ),
    max_leaves=5,
)
VALUES = st.recursive(
    st.sampled_from([0, 1, "a", "b", None, 1.5]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.long
@given(VALUES, SCHEMAS)
@settings(deadline=None)
def test_it_says_what_jsonschema_says(value: Any, schema: Mapping[str, Any] | bool) -> None:
    assert is_plain(schema, value)
    found = {line.partition(": ")[2] for line in errors(value, schema)}
    assert found == {one.message for one in jsonschema.Draft202012Validator(schema).iter_errors(value)}


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema.exceptions", None)
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    for schema in ({}, {"uniqueItems": True}):
        with pytest.raises(MissingExtra, match=r"\[lexical\]"):
            errors(1, schema)


def test_where_no_process_can_run_the_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(JudgeFailure, match="needs a process of Python") as failed:
        errors([1], {"uniqueItems": True})
    assert failed.value.cause is Cause.MISSING_EXTRA


def test_what_lies_too_deep_is_named() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="JSON schema: "):
        errors(deep, {"items": {"$ref": "#"}})
