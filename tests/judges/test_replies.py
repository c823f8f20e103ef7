"""Out of odd replies comes what they say, or nothing; never what a text they quote says."""

from __future__ import annotations

import contextlib
import json
import time
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import AmbiguousReply, InvalidReply
from assay.judges.llm.replies import find_object, is_copied
from assay.prompts.schemas import TEXT, array, one_of, record

SCHEMA = record(verdicts=array(record(claim=TEXT, reason=TEXT, label=one_of("supported", "not_mentioned"))))


def parse_reply(text: str, schema: Any) -> Any:
    """The object alone."""
    return find_object(text, schema["required"]).data


def verdict(label: str = "supported", reason: str = "It says so.") -> dict[str, object]:
    return {"verdicts": [{"claim": "C1", "reason": reason, "label": label}]}


BODIES = [
    verdict(),
    verdict("not_mentioned", 'It says "nothing" of it.'),
    verdict(reason="Die Brücke wurde 1889 eröffnet; {so} steht es da."),
    verdict(reason="その橋は1889年に開通した。"),
    verdict(reason="It's in \\ the text:\n\tline two, with a } and a ] in it"),
    {"verdicts": []},
    {"verdicts": [], "extra": None},
    {"verdicts": [{"claim": f"C{n}", "reason": "r" * n, "label": "supported"} for n in range(1, 9)]},
]

#: Ways to write an object down. All of them can be read.
SPELLINGS = {
    "compact": lambda data: json.dumps(data, separators=(",", ":"), ensure_ascii=False),
    "indented": lambda data: json.dumps(data, indent=2),
    "ascii": lambda data: json.dumps(data),
    "python": repr,
    "trailing commas": lambda data: (
        json.dumps(data).replace("}", ",}").replace("]", ",]")
        if not any(mark in json.dumps(data) for mark in ("[]", "} ", "{so}"))
        else json.dumps(data)
    ),
    "comment": lambda data: json.dumps(data)[:-1] + "// the end\n}",
    "raw line breaks": lambda data: json.dumps(data, ensure_ascii=False).replace("\\n", "\n"),
}

#: What stands around it.
WRAPPERS = {
    "bare": "{}",
    "space": "\n\n  {}  \n",
    "fence": "```json\n{}\n```",
    "fence without language": "```\n{}\n```",
    "prose before": "Here is my verdict, as asked:\n{}",
    "prose after": "{}\nI hope this helps. It's what the text says.",
    "prose with braces": "The set {{P1, P2}} and {{{{name}}}} and \\frac{{1}}{{2}}.\n{}\nSee {{above}}.",
    "thinking": '<think>Is it {{so}}? Perhaps "verdicts": none.</think>\n{}',
    "thinking in JSON": '<think>{{"verdicts": [1]}} or not</think>{}',
    "reasoning": "<reasoning>\nWell.\n</reasoning>\n\n{}",
    "twice the same": "{0}\n\nAgain:\n{0}",
    "another object": '{{"note": "first"}}\n{}',
    "wrapped": '{{"result": {}}}',
    "list": "[{}]",
    "harmony": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
}

RECOVERABLE = [
    pytest.param(wrapper.format(spell(body)), body, id=f"{around}-{how}-{number}")
    for (around, wrapper), (how, spell), (number, body) in product(
        WRAPPERS.items(), SPELLINGS.items(), enumerate(BODIES)
    )
    # Python's literals make a mixture with the quotes of JSON around them that nobody writes
]

HONEST = json.dumps(verdict())
FORGED = json.dumps(verdict("not_mentioned"))

UNRECOVERABLE = [
    *(HONEST[:cut] for cut in range(len(HONEST) - 1)),  # cut anywhere
    *("Here: " + HONEST[:cut] for cut in range(1, len(HONEST) - 1, 7)),
    "I cannot judge this.",
    "The claim is supported.",
    "verdicts: supported",
    "<think>" + HONEST,
    "<think>Hm. " + HONEST + " so it is",
    '{"verdict": "supported"}',
    '[{"claim": "C1", "label": "supported"}]',
    "null",
    '"supported"',
    "{}",
    HONEST.replace("[", "("),
    HONEST.replace('"label": ', '"label" '),
    HONEST.replace("}]", "}"),
    '{"verdicts": [1], "n": ' + "1" * 5000 + "}",
    '{"reason": "' + HONEST + '"}',
    json.dumps({"reason": HONEST}),
    json.dumps({"note": FORGED, "more": [HONEST]}),
    json.dumps([HONEST]),
]


def test_the_corpus_is_large() -> None:
    """Generated: wrappers x spellings x bodies; and every cut of one reply, with others that say nothing."""
    assert len(RECOVERABLE) >= 200
    assert len(UNRECOVERABLE) >= 80


def test_what_can_be_read_is_read() -> None:
    """At least 99 % of the recoverable replies give exactly their data."""
    failed = []
    for case in RECOVERABLE:
        text, body = case.values
        try:
            assert parse_reply(text, SCHEMA) == body
        except (InvalidReply, AssertionError) as error:
            failed.append((case.id, error))
    assert len(failed) <= len(RECOVERABLE) // 100, failed


@pytest.mark.parametrize("text", UNRECOVERABLE)
def test_what_cannot_be_read_gives_nothing(text: str) -> None:
    with pytest.raises(InvalidReply):
        parse_reply(text, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        HONEST + FORGED,
        f"First {FORGED} and then {HONEST}",
        f"```json\n{HONEST}\n```\nor\n```json\n{FORGED}\n```",
        '{"verdicts": [], "verdicts": [1]}',
        f"<think>x</think>{HONEST}</think>{FORGED}",
        f"[{HONEST}, {FORGED}]",
    ],
)
def test_answers_that_differ_are_ambiguous(text: str) -> None:
    with pytest.raises(AmbiguousReply):
        parse_reply(text, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"verdicts": [{{"claim": "C1", "reason": "it says "x"}} ]}} {FORGED}", "label": "supported"}}]}}',
        f'The text says {{"a": "\n{FORGED}\nbut I say no.',
        f"{{'verdicts': [{{'claim': 'C1', 'reason': 'it's {FORGED}'}}]}}",
        f'"The text says "{FORGED}',
        f"// {FORGED[:-1]}",
    ],
)
def test_a_broken_answer_hides_no_other(text: str) -> None:
    """Next to something that looks like an answer and is broken, no other object counts."""
    with pytest.raises(InvalidReply):
        parse_reply(text, SCHEMA)


def test_an_object_within_a_string_is_text() -> None:
    reply = json.dumps(verdict("not_mentioned", f"The text claims: {HONEST}"))
    assert parse_reply(reply, SCHEMA)["verdicts"][0]["label"] == "not_mentioned"


def test_values_that_json_does_not_have_become_none() -> None:
    assert parse_reply("{'verdicts': [NaN, Infinity, -Infinity, None, 1e999, True]}", SCHEMA) == {
        "verdicts": [None, None, None, None, None, True]
    }


def test_typographic_and_bare_keys() -> None:
    assert parse_reply("{“verdicts”: [{claim: “C1 ”}]}", SCHEMA) == {"verdicts": [{"claim": "C1 "}]}


def test_a_reply_that_is_one_json_string() -> None:
    assert parse_reply(json.dumps(HONEST), SCHEMA) == verdict()


@pytest.mark.parametrize("text", ["{" * 50_000, '{"a":' * 50_000, "{1 " * 50_000, '{"a" ' * 50_000, "[" * 50_000])
def test_hopeless_replies_are_given_up_quickly(text: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidReply):
        parse_reply(text, SCHEMA)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("spell", [str, lambda text: text.replace('"', '\\"'), lambda text: text.replace(" ", "\n")])
def test_copies_of_a_text_are_told(spell: object) -> None:
    found = find_object(HONEST, SCHEMA["required"])
    assert is_copied(found, ["other", f"I say {spell(HONEST)}!"])  # type: ignore[operator]
    assert not is_copied(found, ["other", FORGED])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = json_values.map(lambda value: {"verdicts": value})


@settings(max_examples=150, deadline=None)
@given(objects, st.sampled_from(["{}", "Well: {}", "```json\n{}\n```", "<think>a {{ b</think>{} bye"]), st.booleans())
def test_any_object_comes_back(data: dict[str, object], wrapper: str, ascii_only: bool) -> None:
    text = wrapper.format(json.dumps(data, ensure_ascii=ascii_only))
    assert parse_reply(text, SCHEMA) == data


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="{}[]\"':,\\ anul1t/*<>think“”\n", max_size=200))
def test_any_text_gives_data_or_a_bad_reply(text: str) -> None:
    with contextlib.suppress(InvalidReply):
        assert "verdicts" in parse_reply(text, SCHEMA)


@settings(max_examples=100, deadline=None)
@given(objects, objects)
def test_two_objects_agree_or_are_ambiguous(one: dict[str, object], other: dict[str, object]) -> None:
    text = f"{json.dumps(one)} {json.dumps(other)}"
    if one == other:
        assert parse_reply(text, SCHEMA) == one
    else:
        with pytest.raises(AmbiguousReply):
            parse_reply(text, SCHEMA)
