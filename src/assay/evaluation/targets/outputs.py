"""What applications return, as answers: texts, dicts, samples, and the objects of frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.data.rows import as_row, sample_from_row
from assay.errors import InputError
from assay.evaluation.targets.base import LONGEST, Answer, TargetFailure, amount_in, count_in
from assay.records import Context, Sample
from assay.records.field_names import describe, find_columns
from assay.records.messages import is_message, text_of

#: Names of token counts in a `usage`, as OpenAI, Anthropic, LangChain and others write them.
_INPUT = ("input_tokens", "prompt_tokens")
_OUTPUT = ("output_tokens", "completion_tokens")
_EXPECTED = "expected a text, a dict with answer and contexts, or a Sample"


def answer_of(value: object) -> Answer:
    """The answer in what an application returned.

    Raises:
        TargetFailure: It holds none.
    """
    try:
        return checked(_answer_of(value))
    except InputError as error:
        raise TargetFailure(f"what it returned cannot be read: {error}", passing=False) from None


def checked(answer: Answer) -> Answer:
    """The answer. Raises TargetFailure where its texts are too long to keep."""
    size = len(answer.text) + sum(len(context.text) for context in answer.contexts or ())
    if size > LONGEST:
        raise TargetFailure(f"its answer has {size:,} characters, more than {LONGEST:,}", passing=False)
    return answer


def _answer_of(value: object) -> Answer:
    if isinstance(value, str):
        return Answer(text=str(value))
    if isinstance(value, Sample):
        return _of_sample(value, {})
    if isinstance(value, Mapping):
        return _of_row(value)
    if is_message(value):
        return Answer(text=text_of(value), **_tokens(getattr(value, "usage_metadata", None)))
    if hasattr(value, "source_nodes") or hasattr(value, "response"):
        return _of_response(value)
    row = None if value is None else as_row(value)
    if isinstance(row, Mapping):
        return _of_row(row)
    raise TargetFailure(f"it returned {describe(value)}; {_EXPECTED}", passing=False)


def _of_row(row: Mapping[Any, Any]) -> Answer:
    names = {str(name): value for name, value in row.items()}
    columns = {
        field: name for field, name in find_columns(names).items() if field in ("answer", "contexts", "messages")
    }
    if not {"answer", "messages"} & columns.keys():
        keys = ", ".join(map(repr, list(names)[:10])) or "no keys"
        raise TargetFailure(f"it returned a dict without an answer ({keys}); {_EXPECTED}", passing=False)
    sample = sample_from_row({name: names[name] for name in columns.values()}, columns, 1)
    return _of_sample(sample, names)


def _of_sample(sample: Sample, row: Mapping[str, Any]) -> Answer:
    if sample.answer is None:
        raise TargetFailure(f"its answer is missing; {_EXPECTED}", passing=False)
    usage = row.get("usage")
    return Answer(
        text=sample.answer,
        contexts=sample.contexts,
        messages=sample.messages,
        cost=amount_in(row.get("cost")),
        **_tokens(usage if isinstance(usage, Mapping) else row),
    )


def _tokens(usage: object) -> dict[str, Any]:
    if not isinstance(usage, Mapping):
        return {}
    first = {name: next((usage[key] for key in keys if key in usage), None)
             for name, keys in (("input_tokens", _INPUT), ("output_tokens", _OUTPUT))}  # fmt: skip
    return {name: count_in(value) for name, value in first.items()}


def _of_response(value: Any) -> Answer:
    """A response of LlamaIndex, also one that streams; an agent's output, whose response is a message."""
    if hasattr(value, "get_response"):
        value = value.get_response()
    response = getattr(value, "response", None)
    text = response if isinstance(response, str) else text_of(response) if is_message(response) else None
    if text is None:
        raise TargetFailure(f"it returned {describe(value)} without a text; {_EXPECTED}", passing=False)
    nodes = getattr(value, "source_nodes", None)
    contexts = None
    if nodes is not None:
        contexts = sample_from_row({"contexts": list(nodes)}, {"contexts": "contexts"}, 1).contexts
    return Answer(text=text, contexts=contexts)


def joined(parts: list[object]) -> object:
    """What a generator yielded as one value: texts joined, of dicts and messages what is in all of them together."""
    if not parts:
        raise TargetFailure("its generator yielded nothing", passing=False)
    if len(parts) == 1 or any(isinstance(part, Sample) for part in parts):
        return parts[-1]
    if all(isinstance(part, Mapping) for part in parts):
        return _merged([part for part in parts if isinstance(part, Mapping)])
    if all(isinstance(part, str) or is_message(part) for part in parts):
        return "".join(part if isinstance(part, str) else text_of(part) for part in parts)
    if all(isinstance(part, (str, Mapping)) for part in parts):  # pieces of the answer, and a dict with the rest
        rest = _merged([part for part in parts if isinstance(part, Mapping)])
        return {"answer": "".join(part for part in parts if isinstance(part, str)), **rest}
    raise TargetFailure(f"its generator yielded {describe(parts[0])}; expected texts or dicts", passing=False)


def _merged(parts: list[Mapping[Any, Any]]) -> dict[str, Any]:
    """Values by key; texts of one key are pieces of it, of all other values the last counts."""
    found: dict[str, Any] = {}
    pieces: dict[str, list[str]] = {}
    for part in parts:
        for key, value in part.items():
            if isinstance(value, str):
                pieces.setdefault(str(key), []).append(value)
            else:
                found[str(key)] = value
    return found | {key: "".join(texts) for key, texts in pieces.items()}


def with_captured(answer: Answer, captured: list[Sample]) -> Answer:
    """The answer with the passages and messages that the handlers of frameworks captured meanwhile.

    What the application returned itself comes first.
    """
    contexts, messages = answer.contexts, answer.messages
    if contexts is None:
        known = [sample.contexts for sample in captured if sample.contexts is not None]
        seen: dict[str, Context] = {}
        for context in (one for several in known for one in several):
            seen.setdefault(context.text, context)
        contexts = tuple(seen.values()) if known else None
    if not messages:
        messages = next((sample.messages for sample in reversed(captured) if sample.messages), ())
    return checked(replace(answer, contexts=contexts, messages=messages))
