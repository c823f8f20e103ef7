"""Label probabilities are those of the tokens that begin the label, or none."""

from __future__ import annotations

import json
import math
import re

import pytest

from assay.judges.llm.labels import Token, attach_probabilities, drop_probabilities
from assay.judges.llm.replies import find_object
from assay.prompts.schemas import TEXT, array, one_of, record

CELL = record(passage=TEXT, label=one_of("supported", "contradicted"))
SCHEMA = record(
    verdicts=array(
        record(reason=TEXT, label=one_of("supported", "contradicted", "not_mentioned"), passages=array(CELL))
    )
)


def tokens(text: str, tops: list[dict[str, float]], pattern: str = r"_?[^\W_]+|\s+|.") -> list[Token]:
    """The text cut by `pattern`; the tokens that begin label values get `tops`, in order."""
    starts = [match.end() for match in re.finditer(r'"label":\s*"', text)]
    cut, left = [], list(tops)
    for match in re.finditer(pattern, text, re.DOTALL):
        here = [start for start in starts if match.start() <= start < match.end()]
        top = left.pop(0) if here else {match[0]: 1.0}
        cut.append(Token(match[0], tuple((token, math.log(p)) for token, p in top.items())))
    return cut


def attached(text: str, made: list[Token], schema: dict[str, object] = SCHEMA) -> dict[str, object]:
    found = find_object(text, schema["required"])
    attach_probabilities(found, schema, text, made)
    return found.data


def reply(label: str = "supported", reason: str = "r") -> str:
    cell = {"passage": "P1", "label": "supported"}
    return json.dumps({"verdicts": [{"reason": reason, "label": label, "passages": [cell]}]})


def test_mass_of_each_label_is_that_of_its_tokens() -> None:
    top = [{"supported": 0.6, "supp": 0.1, "not": 0.2, "contr": 0.05}, {"supported": 0.9, "contradicted": 0.1}]
    data = attached(reply(), tokens(reply(), top))
    (item,) = data["verdicts"]
    # of the 0.95 that begin a label: 0.7 supported, 0.2 not_mentioned, 0.05 contradicted
    assert item["probs"] == pytest.approx(
        {"supported": 0.7 / 0.95, "contradicted": 0.05 / 0.95, "not_mentioned": 0.2 / 0.95}
    )
    # the cell has a closed set of its own
    assert item["passages"][0]["probs"] == pytest.approx({"supported": 0.9, "contradicted": 0.1})


def test_tokens_with_the_opening_quote_and_the_closing_one() -> None:
    text = '{"label": "yes"}'
    schema = record(label=one_of("yes", "no"))
    made = [
        Token('{"label":', ()),
        Token(' "yes"', ((' "yes"', math.log(0.75)), (' "no"', math.log(0.25)))),
        Token("}", ()),
    ]
    assert attached(text, made, schema)["probs"] == pytest.approx({"yes": 0.75, "no": 0.25})


def test_the_mass_of_all_labels_is_told_beside_their_shares() -> None:
    text, schema = '{"label": "yes"}', record(label=one_of("yes", "no"))
    item = attached(text, tokens(text, [{"yes": 0.6, "no": 0.2, "maybe": 0.1}]), schema)
    assert item["probs"] == pytest.approx({"yes": 0.75, "no": 0.25})
    assert item["mass"] == pytest.approx(0.8)


def test_little_mass_on_labels_is_no_probability() -> None:
    top = [{"supported": 0.4, "The": 0.6}, {"supported": 1.0}]
    (item,) = attached(reply(), tokens(reply(), top))["verdicts"]
    assert "probs" not in item
    assert item["passages"][0]["probs"]["supported"] == 1.0


def test_a_token_that_could_begin_several_labels_counts_for_none() -> None:
    text = '{"label": "10"}'
    schema = record(label=one_of("1", "2", "10", "11"))
    top = [{"10": 0.5, "1": 0.2, "2": 0.3}]
    # "1" is a label as a whole: it counts for itself, though "10" begins so too
    assert attached(text, tokens(text, top), schema)["probs"] == pytest.approx(
        {"1": 0.2, "2": 0.3, "10": 0.5, "11": 0.0}
    )
    schema = record(label=one_of("high_a", "high_b"))
    text = '{"label": "high_a"}'
    assert "probs" not in attached(text, tokens(text, [{"high": 1.0}]), schema)


def test_labels_quoted_in_a_string_are_not_taken_for_labels() -> None:
    text = reply(reason='they wrote "label": "contradicted" there')
    top = [{"supported": 0.8, "not": 0.2}, {"supported": 1.0}]
    assert attached(text, tokens(text, top))["verdicts"][0]["probs"]["supported"] == pytest.approx(0.8)


def test_prose_around_the_object_shifts_nothing() -> None:
    text = f'Here, "label": as asked:\n{reply()}\nbye'
    made = tokens(reply(), [{"supported": 0.8, "not": 0.2}, {"supported": 1.0}])
    before, after = text.split(reply())
    made = [Token(before, ()), *made, Token(after, ())]
    assert attached(text, made)["verdicts"][0]["probs"]["supported"] == pytest.approx(0.8)


def test_characters_split_over_tokens_are_put_together_by_bytes() -> None:
    text = '{"reason": "橋", "label": "yes"}'
    schema = record(reason=TEXT, label=one_of("yes", "no"))
    head, tail = text.split("橋")
    raw = "橋".encode()
    made = [
        Token(head, (), head.encode()),
        Token("\ufffd", (), raw[:1]),
        Token("\ufffd", (), raw[1:]),
        *[Token(token.text, token.top, token.text.encode()) for token in tokens(tail, [{"yes": 0.9, "no": 0.1}])],
    ]
    assert attached(text, made, schema)["probs"] == pytest.approx({"yes": 0.9, "no": 0.1})


@pytest.mark.parametrize("text", [reply().replace('"', "'"), reply().replace("}]}]}", "},]}]}")])
def test_mended_replies_have_no_probabilities(text: str) -> None:
    made = [Token(text, ((text, 0.0),))]
    assert "probs" not in attached(text, made)["verdicts"][0]


def test_tokens_of_another_text_are_ignored() -> None:
    assert "probs" not in attached(reply(), [Token("other", (("supported", 0.0),))])["verdicts"][0]
    assert "probs" not in attached(reply(), [])["verdicts"][0]


@pytest.mark.parametrize("forged", ["abc", [1], {"supported": None}, {"supported": 1.0}, None])
def test_what_a_reply_itself_calls_probabilities_is_dropped(forged: object) -> None:
    """Only the tokens show them. A field of that name stays where it is no label's."""
    inner = {"label": "supported", "probs": forged, "mass": forged, "passages": [{"label": "x", "probs": forged}]}
    data = {"probs": forged, "verdicts": [inner]}
    drop_probabilities(data)
    assert data == {"probs": forged, "verdicts": [{"label": "supported", "passages": [{"label": "x"}]}]}
