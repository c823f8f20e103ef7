"""Whether an answer is usable in form: broken JSON, a raw tool call, an unfilled template, a cut text. Pure.

Each rule is exact rather than complete: what it finds is no answer, and some unusable texts are not found. What is in
the question or the passages in the same form (a path with `{id}`, an error that a manual explains) is no problem.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from assay._util.byte_limits import check_json
from assay.errors import InputError
from assay.records import Sample

_FENCE = re.compile(r"\A```\w{0,20}[ \t]*\n?")
_TEMPLATE = re.compile(r"\{\{ ?[a-zA-Z_][\w.]{0,60} ?\}\}|\$?\{[a-z_]\w{0,60}\}|\{% ?(?:if|for|block|include)\b")
_TOOL_CALL = re.compile(
    r"\A(?:<(?:tool_call|function_call|tool_use|function=|invoke\b)|<\|python_tag\|>|\[TOOL_CALLS\])"
)
_CALLED, _ARGUMENTS = (
    {"name", "tool", "tool_name", "function", "action"},
    {"arguments", "parameters", "args", "action_input"},
)
_ERROR = re.compile(
    r"\A(?:Traceback \(most recent call last\)|(?:\w{1,40}\.){0,8}\w{0,40}(?:Error|Exception)\b[:(]"
    r"|(?:HTTP(?:/\d\.\d)? |Error code: )[45]\d\d\b|[45]\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable))"
)
_CHAT_TOKENS = ("<|im_start|>", "<|start_header_id|>", "[INST]", "<start_of_turn>", "### Instruction")
_TAG = re.compile(r"<[^<>]{0,200}>")
_WORD = re.compile(r"\w{1,60}")
#: Words that no English sentence ends with.
_OPEN_WORDS = frozenset(
    {"the", "a", "an", "and", "or", "but", "because", "which", "whose", "than", "as", "if", "when", "while", "into"}
    | {"onto", "its", "their", "our", "your", "my"}
)
_PLACEHOLDERS = 20  # that are looked for in the passages
_LONGEST_LOOP = 12  # words
_LOOPS = 9  # repeated words at the end, at least, and three times the phrase


def form_problem(sample: Sample) -> str | None:
    """What makes an answer unusable in form, as the rest of a sentence ("is no valid JSON"); None: nothing found.

    Takes time linear in the texts. An empty answer is a refusal, not a problem of form.
    """
    answer = (sample.answer or "").strip()
    if not answer:
        return None
    for rule in _RULES:
        if (problem := rule(answer, sample)) is not None:
            return problem
    return None


def _tool_call(answer: str, sample: Sample) -> str | None:
    if _TOOL_CALL.match(answer) or (answer.startswith(("Action:", "Thought:")) and "\nAction Input:" in answer):
        return "is a raw tool call"
    value = _parsed(_unfenced(answer))
    calls = value[0] if isinstance(value, list) and value else value
    if not isinstance(calls, dict):
        return None
    called = not _CALLED.isdisjoint(calls) and not _ARGUMENTS.isdisjoint(calls)
    return "is a raw tool call" if called or "tool_calls" in calls else None


def _json(answer: str, sample: Sample) -> str | None:
    text = _unfenced(answer)
    wanted = re.search(r"\bjson\b", sample.question or "", re.IGNORECASE) is not None
    begins = text.startswith(('{"', "[{", '["')) or re.match(r"\{\s{1,80}\"", text) is not None
    return "is no valid JSON" if (wanted or begins) and _parsed(text) is None else None


def _unfenced(text: str) -> str:
    return _FENCE.sub("", text).removesuffix("```").strip() if text.startswith("```") else text


def _parsed(text: str) -> Any:
    """The value of a JSON text; None where it is none, or too large to be parsed."""
    if not text.startswith(("{", "[")):
        return None
    try:
        check_json(text)
        return json.loads(text)
    except (ValueError, RecursionError, InputError):
        return None


def _template(answer: str, sample: Sample) -> str | None:
    known = _texts(sample)
    for found in islice(_TEMPLATE.finditer(answer), _PLACEHOLDERS):
        if not any(found[0] in text for text in known):
            return f"has the unfilled placeholder {found[0]}"
    return None


def _error(answer: str, sample: Sample) -> str | None:
    found = _ERROR.match(answer)
    if found is None or any(found[0].strip() in text for text in _texts(sample)):
        return None
    return "is an error message of the application"


def _prompt(answer: str, sample: Sample) -> str | None:
    question = (sample.question or "").strip()
    echoed = bool(question) and f"Question: {question}" in answer
    if echoed or answer.endswith(("Answer:", "Assistant:")) or any(token in answer for token in _CHAT_TOKENS):
        return "repeats the prompt"
    return None


def _loop(answer: str, sample: Sample) -> str | None:
    words = answer.split()
    for size in range(1, min(_LONGEST_LOOP, len(words) // 3) + 1):
        same = 0
        while size + same < len(words) and words[-1 - same] == words[-1 - same - size]:
            same += 1
        if same >= max(_LOOPS, 3 * size):
            return f"repeats {size} {'word' if size == 1 else 'words'} over and over"
    return None


def _markup(answer: str, sample: Sample) -> str | None:
    if not answer.startswith("<") or not answer.endswith(">"):
        return None
    return "is markup without a text" if _WORD.search(_TAG.sub(" ", answer)) is None else None


def _cut(answer: str, sample: Sample) -> str | None:
    """Cut off within a sentence: after a word that ends none, a comma, or within a word of the passages."""
    words = answer.split()
    last = words[-1]
    if len(words) < 4:
        return None
    if last.lower() in _OPEN_WORDS or last.endswith((",", "(")):
        return f"ends within a sentence, after “{last[:40]}”"
    if last.isalpha() and _is_begun_word(f"{words[-2]} {last}", sample):
        return f"ends within a word, “{last[:40]}”"
    return None


def _is_begun_word(end: str, sample: Sample) -> bool:
    """Whether the texts go on within the word wherever they have these two words."""
    begun = False
    for text in _texts(sample):
        at = text.find(end)
        while at >= 0:
            if not text[at + len(end) : at + len(end) + 1].isalpha():
                return False
            begun, at = True, text.find(end, at + 1)
    return begun


def _texts(sample: Sample) -> Iterable[str]:
    return [sample.question or "", *(context.text for context in sample.contexts or ())]


_RULES: tuple[Callable[[str, Sample], str | None], ...] = (
    _tool_call, _json, _template, _error, _prompt, _loop, _markup, _cut,
)  # fmt: skip
