"""One record of OpenAI's hosted evals, as a sample: which part of it is the question, the answer, the contexts.

The answer is what the model said (`sample`); where nothing was sampled, what the item calls so. Question, contexts and
reference are what the item calls so, by the names that assay knows; a question that the item lacks is the last message
of the user. Nothing is guessed beyond that: `column_map` says it. Everything else of the item, and what the graders
said, is kept in the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay._util.normalise import json_object, missing
from assay.capture.messages import last_answer, last_question, turns_before
from assay.data.exports import json_of
from assay.data.rows import sample_from_row
from assay.records import Sample, Turn
from assay.records.field_names import field_of, find_columns
from assay.records.messages import is_message, text_of

NAME = "openai-evals"

#: What the item's own names may stand for; a `status` or `ids` of somebody's data are not ours.
_OF_ITEM = frozenset({"question", "contexts", "reference", "reference_contexts", "history", "language"})
#: What is kept of a grader's result. Its `sample` is left out: the whole conversation with the model that graded.
_OF_RESULT = ("name", "type", "score", "passed", "label", "reason", "threshold", "metric")
_OF_SAMPLE = ("model", "finish_reason", "usage", "error", "seed", "temperature", "top_p")
_OF_RECORD = ("status", "created_at", "datasource_item_id")


@dataclass(frozen=True, slots=True)
class OpenAIEvalsRecord:
    """One record: the row of data, what the model was sent and said, and all else that the record holds."""

    item: dict[str, Any]
    sample: dict[str, Any]
    rest: dict[str, Any]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> OpenAIEvalsRecord | None:
        """The record in an object of JSON or a row of a table; None where it is none."""
        record = _unflattened(value)
        item = json_of(record.get("datasource_item", record.get("item")))
        if not isinstance(item, Mapping):
            return None
        item = _unflattened(item, ("sample",))  # Azure writes `sample.output_text` into the item
        sample = json_of(record.get("sample"))
        inner = item.pop("sample", None) if isinstance(item.get("sample"), Mapping) else None
        said = {**(inner or {}), **(sample if isinstance(sample, Mapping) else {})}
        rest = {str(name): one for name, one in record.items() if name not in ("datasource_item", "item", "sample")}
        return cls({str(name): one for name, one in item.items()}, {str(n): one for n, one in said.items()}, rest)

    @property
    def id(self) -> str | None:
        """That of the output item; None for a row of data."""
        found = self.rest.get("id")
        return str(found) if isinstance(found, (str, int)) and not isinstance(found, bool) else None

    @property
    def run(self) -> str | None:
        """The id of the run."""
        found = self.rest.get("run_id")
        return found if isinstance(found, str) and found else None

    def names(self) -> Iterator[str]:
        """What `column_map` can name, with paths."""
        yield from (f"item.{name}" for name in self.item)
        yield from (f"sample.{name}" for name in self.sample)
        yield from self.rest


def looked_up(record: OpenAIEvalsRecord, path: str) -> tuple[bool, Any]:
    """Whether the record has something under a name of the item or a path, and what."""
    if path in record.item:
        return True, record.item[path]
    return _at({**record.rest, "item": record.item, "datasource_item": record.item, "sample": record.sample}, path)


def sample_of(record: OpenAIEvalsRecord, columns: Mapping[str, str], number: int) -> Sample:
    """The sample in a record. Raises InputError, which names the column, where it holds none."""
    row: dict[str, Any] = dict(record.item)
    chosen: dict[str, str] = {}
    for key, path in columns.items():
        field = field_of(key) or key
        name = path.removeprefix("item.").removeprefix("datasource_item.")
        chosen[field] = name if name in row else path
        if name not in row:
            row[path] = looked_up(record, path)[1]
    free = [name for name in record.item if name not in chosen.values() and field_of(name) in _OF_ITEM]
    chosen = {**find_columns([name for name in free if field_of(name) not in chosen]), **chosen}
    _read_messages(record, row, chosen)
    _read_answer(record, row, chosen)
    _read_identity(record, row, chosen)
    error = record.sample.get("error")
    failed = isinstance(error, Mapping) and any(error.get(key) for key in ("code", "message"))
    given = json_object(json_of(row.pop("metadata", None))) if "metadata" not in chosen else {}
    row["openai_evals metadata"] = {**given, "openai_evals": _metadata(record)}
    chosen["metadata"] = "openai_evals metadata"
    if failed and "status" not in chosen:
        row["openai_evals status"], chosen["status"] = "failed", "openai_evals status"
    return sample_from_row(row, chosen, number)


def _read_messages(record: OpenAIEvalsRecord, row: dict[str, Any], chosen: dict[str, str]) -> None:
    """A question that is a list of messages, or is not in the item: the user's last one, and the turns before it."""
    asked = json_of(row.get(chosen.get("question", "")))
    if not missing(asked) and not _are_messages(asked):
        return
    messages = asked if _are_messages(asked) else json_of(record.sample.get("input"))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if not _are_messages(messages):
        return
    row["the messages"] = last_question(messages)
    chosen["question"] = "the messages"
    turns = turns_before(messages)
    if turns and "history" not in chosen:
        row["the turns before"], chosen["history"] = _pairs(turns), "the turns before"


def _read_answer(record: OpenAIEvalsRecord, row: dict[str, Any], chosen: dict[str, str]) -> None:
    if "answer" in chosen:
        if _are_messages(found := json_of(row.get(chosen["answer"]))):
            row["the answer"], chosen["answer"] = last_answer(found), "the answer"
        return
    sampled, text = _sampled_text(record.sample)
    if sampled:
        row["the answer"], chosen["answer"] = text, "the answer"
        return
    own = find_columns(name for name in record.item if field_of(name) == "answer" and name not in chosen.values())
    if own and _are_messages(found := json_of(row[own["answer"]])):
        row["the answer"], own = last_answer(found), {"answer": "the answer"}
    chosen.update(own)


def _sampled_text(sample: Mapping[str, Any]) -> tuple[bool, str | None]:
    """Whether something was sampled, and its text: None where the model called tools, or failed."""
    text = sample.get("output_text")
    if isinstance(text, str) and text:
        return True, text
    output = json_of(sample.get("output"))
    if missing(output) and isinstance(choices := json_of(sample.get("choices")), list):
        output = [choice.get("message") for choice in choices if isinstance(choice, Mapping)]
    if isinstance(output, str):
        return True, output
    if isinstance(output, Mapping):
        output = [output]
    if isinstance(output, list) and output:
        spoken = [one for one in output if isinstance(one, Mapping) and one.get("content") is not None]
        texts = [text_of(one) for one in spoken if one.get("role", "assistant") in ("assistant", None)]
        return True, next((one for one in reversed(texts) if one.strip()), None)
    error = sample.get("error")
    return (isinstance(error, Mapping) and bool(error.get("code"))) or isinstance(text, str), None


def _read_identity(record: OpenAIEvalsRecord, row: dict[str, Any], chosen: dict[str, str]) -> None:
    if "id" not in chosen:
        if record.id is not None:
            row["the id"], chosen["id"] = record.id, "the id"
        else:
            chosen.update(find_columns(name for name in record.item if field_of(name) == "id"))
    ids = {"openai_eval_id": record.rest.get("eval_id"), "openai_run_id": record.run, "openai_item_id": record.id}
    if "ids" not in chosen:
        row["the ids"] = {name: found for name, found in ids.items() if isinstance(found, str) and found}
        chosen["ids"] = "the ids"


def _metadata(record: OpenAIEvalsRecord) -> dict[str, Any]:
    """What the graders said, and under what circumstances the answer came about."""
    results = json_of(record.rest.get("results"))
    graded = [json_object({key: one[key] for key in _OF_RESULT if one.get(key) is not None})
              for one in results if isinstance(one, Mapping)] if isinstance(results, list) else []  # fmt: skip
    about = {key: record.rest[key] for key in _OF_RECORD if record.rest.get(key) is not None}
    made = {key: record.sample[key] for key in _OF_SAMPLE if record.sample.get(key) is not None}
    return json_object({**about, **made, "results": graded})


def _pairs(turns: Sequence[Turn]) -> list[dict[str, str]]:
    return [{"question": turn.question, "answer": turn.answer} for turn in turns]


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(is_message(one) for one in value)


def _unflattened(
    value: Mapping[str, Any], heads: tuple[str, ...] = ("item", "datasource_item", "sample")
) -> dict[str, Any]:
    """The same with `item.question` as `question` in `item`: tables have columns of such names."""
    made: dict[str, Any] = {}
    for name, one in value.items():
        head, dot, tail = str(name).partition(".")
        if dot and head in heads and not missing(one):
            inner = made.setdefault(head, {})
            if isinstance(inner, dict):
                inner[tail] = one
        elif head not in heads or not isinstance(made.get(head), dict):
            made[str(name)] = one
        elif isinstance(one, Mapping):
            made[head] = {**one, **made[head]}
    return made


def _at(value: Any, path: str) -> tuple[bool, Any]:
    """What stands under a path of names with dots; a name may have dots itself."""
    if not isinstance(value, Mapping):
        return False, None
    if path in value:
        return True, value[path]
    at = path.find(".")
    while at > 0:
        head, tail = path[:at], path[at + 1 :]
        if head in value:
            found = _at(json_of(value[head]), tail)
            if found[0]:
                return found
        at = path.find(".", at + 1)
    return False, None
