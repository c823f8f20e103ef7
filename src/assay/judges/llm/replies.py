"""Reading a reply: the one JSON object that answers, out of whatever a model wrote around it.

The rule that keeps a judged text from answering for the judge: only an object at the top level of the reply counts,
never one inside a string or inside another object; all such objects that answer must agree; and where something that
looks like an answer is broken, the whole reply is refused rather than searched for what else it may hold.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import AmbiguousReply, InvalidReply
from assay.judges.llm.json_repair import Broken, tidy

#: How reasoning begins: with a tag, or with the special tokens of Mistral, Kimi, Cohere and gpt-oss, which servers
#: without a parser for them leave in the text.
_THINKING = re.compile(
    r"\s*(?:<(think|thinking|thought|reasoning|reflection|seed:think)>|(\[THINK\])|(◁think▷)"
    r"|(<\|START_THINKING\|>)|((?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>))",
    re.IGNORECASE,
)
#: How it ends, by the group above; a tag by its own name.
_ENDS = {2: "[/THINK]", 3: "◁/think▷", 4: "<|END_THINKING|>", 5: "<|channel|>final<|message|>"}

_SURROGATE = re.compile(r"[\ud800-\udfff]")

_ASIDE = dict.fromkeys(map(ord, " \t\n\r\u00a0\\\"'\u201c\u201d\u2018\u2019"))

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The object that answers, and the part of the reply that it was read from.

    `start` is where that part begins; None when it had to be mended or unwrapped, so that offsets mean nothing.
    """

    data: Object
    text: str
    start: int | None


def find_object(text: str, required: Sequence[str]) -> ParsedReply:
    """The object in a reply that has these keys at its top level, and its place.

    Reads past reasoning at the start, prose and code fences, and mends trailing commas, single or typographic quotes,
    bare keys, comments and Python's literals. NaN and infinities become None. Raises InvalidReply when there is no such
    object or a broken one, AmbiguousReply when there are several that differ. Takes linear time.
    """
    start = _after_thinking(text)
    if text[start:].lstrip().startswith('"'):
        return _in_a_string(text[start:], required)
    answers = [answer for found in _objects(text, start) if (answer := _unwrap(found, required)) is not None]
    if not answers:
        raise InvalidReply(f"There is no JSON object with the keys {', '.join(required)} in it.")
    if any(other.data != answers[0].data for other in answers[1:]):
        raise AmbiguousReply("There are several JSON objects that differ; give one.")
    return answers[-1]


def is_copied(found: ParsedReply, texts: Iterable[str]) -> bool:
    """Whether the object stands in one of these texts: then the judge only repeats what it has read.

    Spacing, quotes and backslashes aside: a text may hold the object escaped, and a judge write it out.
    """
    needle = found.text.translate(_ASIDE)
    return any(needle in text.translate(_ASIDE) for text in texts)


def cleaned(found: ParsedReply) -> Object:
    """The data, with no half of a character in any text: JSON may hold one, and no UTF-8 can."""
    if "\\u" not in found.text and found.text.isascii():
        return found.data
    data: Object = _well_formed(found.data)
    return data


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if _SURROGATE.search(value) else value
    if isinstance(value, list):
        return [_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {_well_formed(key): _well_formed(item) for key, item in value.items()}
    return value


def _after_thinking(text: str) -> int:
    """Where the reply proper begins. Only a block that opens the reply is reasoning, and its first end tag ends it.

    Anywhere else such a tag may be a quotation of the judged text, put there to have an honest answer discarded.
    """
    opening = _THINKING.match(text)
    if opening is None:
        return 0
    ends = _ENDS.get(opening.lastindex or 1) or f"</{opening[1]}>"
    closing = re.compile(re.escape(ends), re.IGNORECASE).search(text, opening.end())
    if closing is None:
        raise InvalidReply("The reasoning does not end, and no JSON object follows it.")
    return closing.end()


def _in_a_string(text: str, required: Sequence[str]) -> ParsedReply:
    """The answer of a reply that is, as a whole, one JSON string with the object as its text."""
    try:
        inner = json.loads(text, strict=False)
    except ValueError:
        inner = None
    if not isinstance(inner, str) or inner.lstrip().startswith('"'):
        raise InvalidReply("The reply begins with a text in quotes, not with a JSON object.")
    found = find_object(inner, required)
    return ParsedReply(found.data, found.text, None)


def _unwrap(found: ParsedReply, required: Sequence[str]) -> ParsedReply | None:
    """The object if it answers; the object in it if that answers and is all there is ({"result": {...}})."""
    if all(key in found.data for key in required):
        return found
    for inner in (found.data.get("arguments"), *(found.data.values() if len(found.data) == 1 else ())):
        if isinstance(inner, dict) and all(key in inner for key in required):
            return ParsedReply(inner, found.text, None)
    return None


def _objects(text: str, start: int) -> list[ParsedReply]:
    """All objects at the top level of the text. Raises InvalidReply at one that is broken."""
    found: list[ParsedReply] = []
    patience = 2 * (len(text) - start) + 1000
    at = text.find("{", start)
    while at >= 0:
        one = _object_at(text, at)
        if isinstance(one, ParsedReply):
            found.append(one)
            at = text.find("{", at + len(one.text))
            continue
        # a brace in prose, in a formula, in a template: nothing before `one` looked like JSON
        patience -= one - at
        if patience < 0:
            raise InvalidReply("The reply is full of braces that do not belong together.")
        at = text.find("{", at + 1)
    return found


def _object_at(text: str, start: int) -> ParsedReply | int:
    """The object that begins here; or, when this brace begins none, where it turned out so.

    Raises InvalidReply when it begins one that is broken: what follows could stand in one of its strings.
    """
    try:
        data, end = _DECODER.raw_decode(text, start)
        return ParsedReply(data, text[start:end], start)
    except (ValueError, RecursionError):
        pass
    try:
        mended, end = tidy(text, start)
        # a list rather than an object can not come out: tidy starts at a brace
        return ParsedReply(_DECODER.decode(mended), text[start:end], None)
    except Broken as broken:
        stop, message = broken.at, str(broken)
    except (ValueError, RecursionError):
        stop, message = len(text), "The JSON object is not well formed."
        if (closing := text.find("}", start)) >= 0:
            stop = closing + 1
    if any(mark in text[start:stop] for mark in "\"':\u201c"):
        raise InvalidReply(message)
    return stop


def _distinct(pairs: list[tuple[str, Any]]) -> Object:
    data = dict(pairs)
    if len(data) < len(pairs):
        for key, value in pairs:
            if data[key] != value:
                raise AmbiguousReply(f"The key {key!r} stands twice in one object, with different values.")
    return data


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


#: strict=False: raw line breaks within strings are common, and harmless
_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_distinct, parse_float=_finite, parse_constant=lambda name: None
)
