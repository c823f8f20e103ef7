"""One row of somebody's data, as a Sample."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, compress
from typing import Any, cast, get_args
from uuid import UUID

from assay._util.byte_limits import check_json, check_size, located
from assay._util.normalise import json_object, missing
from assay.data.images import IMAGE_COLUMNS, images_of
from assay.data.missing_words import is_missing, is_missing_passage
from assay.data.passage_objects import passage_of, results_in
from assay.data.printed_frames import refuse_frame
from assay.data.python_print import NotPrintedError, may_begin, parse_print
from assay.errors import Cause, InputError
from assay.records import Context, Message, Role, Sample, SampleStatus, Turn
from assay.records.field_names import REFERENCE_MESSAGES, context_text, describe, is_scored
from assay.records.message_forms import expand_messages
from assay.records.messages import is_message, message_of, messages_of, role_and_content, role_named, text_in
from assay.text.short_answers import BETWEEN, aliases

STATUSES = get_args(SampleStatus)
#: What a list of passages may hold.
_BETWEEN_LINES = re.compile(r"[\s,]*+")
_PARTS = (str, Mapping, list, tuple)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """Row that cannot be read: it stands in the place of a sample.

    Attributes:
        number: Number of the row, from 1.
        id: Id of the row, where it has one that can be read.
        message: Why the row cannot be read.
        cause: The cause of its scores: BAD_ROW, TOO_LARGE, LOST or TARGET.
        sample: What is known of the row all the same: its question, of an application that gave no answer.
    """

    number: int
    id: str | None
    message: str
    cause: Cause = Cause.BAD_ROW
    sample: Sample | None = None


def sample_from_row(
    row: Mapping[str, Any],
    columns: Mapping[str, str],
    number: int,
    several: Mapping[str, Sequence[str]] | None = None,
) -> Sample:
    """The sample that one row describes; `columns` (field -> column) is what `find_columns` found.

    `several` are the fields whose passages stand in several columns (field -> columns), in that order.

    - A cell that is missing (no such key, None, NaN, pandas' NA, or a word for it: see `assay.data.missing_words`) is
      None; an empty text stays an empty text. In a list of passages, items that are missing or blank are none.
    - Contexts: a list, tuple or array of passages (see `assay.records.field_names.context_text`), such a list
    written as JSON or as
      Python's repr in one text (how lists end up in CSV files), one dict of lists, or one text, which is one passage.
    - A list of references of a few words each is one reference in several spellings ("Wales | Cymru"); else they are
      joined with newlines: ragas 0.0.x kept `ground_truths` as lists, mostly of one.
    - Pictures that stand in a column of their own (IMAGE_COLUMNS) are further
    contexts.
    - Messages: a list of them in one column (see `assay.records.messages`), in that of the question or in that of
    the answer,
      also as JSON. A question that is not given as a text is the last thing a user says, an answer the last that the
      assistant says.
    - A reference that is a list of messages, or an object with `messages`, goes to `metadata["reference_outputs"]`; the
      reference is then the last that the assistant says in it.
    - Ids of contexts in a column of their own become the ids of the contexts, or contexts of ids alone.
    - Other columns go to the metadata, as far as JSON can hold them.

    Raises InputError naming the row, its id, the column, what was expected and what was found.
    """
    identity: str | None = None

    several = several or {}

    def read(field: str, reader: Callable[[Any], Any], default: Any = None, column: str | None = None) -> Any:
        column = columns.get(field) if column is None else column
        value = row.get(column) if column is not None else None
        answer = row.get(columns.get("answer", "")) if field == "reference" else None
        if column is None or is_missing(field, value, answer):
            return default
        try:
            return reader(value)
        except InputError as error:
            named = f" (id {identity!r})" if identity is not None else ""
            as_field = "" if column == field else f" (the {field})"
            found = type(error)(str(error).replace("=COLUMN.", f"={column}."))
            raise located(found, f"row {number}{named}: column {column!r}{as_field}") from None

    def read_passages(field: str) -> tuple[Context, ...] | None:
        if field not in several:
            found: tuple[Context, ...] | None = read(field, passages)
            return found
        parts = [read(field, passages, column=column) for column in several[field]]
        known = [part for part in parts if part is not None]
        return tuple(chain.from_iterable(known)) if known else None

    def read_with_ids(field: str, ids: str) -> tuple[Context, ...] | None:
        found = read_passages(field)
        given = listed(row.get(columns.get(field, ""))) if field not in several else []
        kept = [not is_missing_passage(item) for item in given]

        def named(value: object) -> tuple[Context, ...]:
            names = ids_of(value)
            return with_ids(found, list(compress(names, kept)) if len(names) == len(kept) else names)

        made: tuple[Context, ...] | None = read(ids, named, found)
        return made

    identity = read("id", _identity)
    way = read("reference", reference_messages)
    reference_reader = _reference_list if columns.get("reference", "").endswith("s") else _reference
    reference = read("reference", reference_reader) if way is None else _last_answer(way)
    status = read("status", _text_or_none)
    metadata = read("metadata", _object)
    used = {column for field, column in columns.items() if field not in ("status", "metadata")}
    used.update(chain.from_iterable(several.values()))
    if status in STATUSES:
        used.add(columns["status"])
    if metadata is not None:
        used.add(columns["metadata"])
    shown = {
        name: images for name in IMAGE_COLUMNS if name not in used and (images := images_of(listed(row.get(name))))
    }
    used.update(shown)
    contexts = read_with_ids("contexts", "context_ids")
    if shown:
        contexts = (*(contexts or ()), *chain.from_iterable(shown.values()))
    extra = json_object({name: value for name, value in row.items() if name not in used})
    if way is not None:
        extra |= json_object({REFERENCE_MESSAGES: way})
    asked, said = read("question", text_or_messages), read("answer", text_or_messages)
    messages = read("messages", messages_in, ())
    if not messages:
        before, after = (told if isinstance(told, tuple) else () for told in (asked, said))
        whole = any(one.role == "user" for one in after)  # else these are the answer to the ones before
        messages = after if whole else (*before, *after)
    return Sample(
        question=asked if isinstance(asked, str) else spoken(messages, "user"),
        contexts=contexts,
        answer=said if isinstance(said, str) else spoken(last_exchange(messages), "assistant"),
        reference=reference,
        reference_contexts=read_with_ids("reference_contexts", "reference_context_ids"),
        messages=messages,
        history=read("history", history, ()),
        id=identity,
        ids=read("ids", _ids, {}),
        language=read("language", _text) or None,
        status=cast(SampleStatus, status) if status in STATUSES else "complete",
        metadata={**extra, **(metadata or {})},
    )


def as_row(item: object) -> Mapping[str, Any] | Sample | None:
    """A row in one of the shapes that lists hold: dict, Sample, pydantic model, named tuple, dataclass; else None."""
    if isinstance(item, Sample):
        return item
    if isinstance(item, Mapping):
        return item
    for method in ("model_dump", "_asdict"):
        make = getattr(item, method, None)
        if callable(make) and not isinstance(item, type):
            made = make()
            return made if isinstance(made, Mapping) else None
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    return None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    whole = _whole(value)
    if whole is None:
        raise InputError(f"expected a text, found {describe(value)}")
    return str(whole)


def text_or_messages(value: object) -> str | tuple[Message, ...]:
    """A text, or the messages that stand in its place."""
    found = _output_of_model(_parsed_json(value))
    if isinstance(found, str):
        return found
    items = expand_messages(_list(found) or ())
    if items and all(role_and_content(item) != (None, None) for item in items):
        return messages_of(items)
    return _text(value)


def _output_of_model(value: object) -> object:
    """The text or the message in what a model's call gave back (`choices`, `generations`), or in one message.

    Exports of traces have these objects in a cell. Anything else stays as it is.
    """
    if not isinstance(value, Mapping):
        return value
    first = value.get("choices") or value.get("generations")
    while isinstance(first, list) and first:  # generations are lists of lists
        first = first[0]
    if isinstance(first, Mapping):
        if isinstance(first.get("text"), str):
            return first["text"]
        value = first.get("message")
    return [value] if isinstance(value, Mapping) and is_message(value) else value


def messages_in_cell(value: object) -> tuple[Message, ...]:
    """The messages in a cell that may hold a text; () where it does. Raises InputError as `text_or_messages`."""
    if missing(value) or (isinstance(value, str) and not value.lstrip().startswith("[")):
        return ()
    found = text_or_messages(value)
    return found if isinstance(found, tuple) else ()


def messages_in(value: object) -> tuple[Message, ...]:
    """The messages of one row. Raises InputError naming the message that cannot be read."""
    found = _parsed_json(value)
    items = _list(found)
    return () if found == "" else messages_of(found if items is None else items)


def reference_messages(value: object) -> list[Any] | None:
    """The messages that stand in the place of a reference, those that are dicts as they are; None where none do."""
    found = _parsed_json(value)
    items = _list(found.get("messages") if isinstance(found, Mapping) else found)
    if not items or not all(is_message(item, content=False) for item in items):
        return None
    return [item if isinstance(item, Mapping) else message_of(item).to_dict() for item in items]


def _last_answer(way: Sequence[Any]) -> str | None:
    """The last text of the assistant in messages that may not all be read."""
    for item in reversed(way):
        with suppress(InputError):
            if (said := spoken((message_of(item),), "assistant")) is not None:
                return said
    return None


def last_exchange(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages from the last of the user's on; all where the user says nothing."""
    last = max((number for number, one in enumerate(messages) if one.role == "user"), default=0)
    return messages[last:]


def spoken(messages: Sequence[Message], role: str) -> str | None:
    """The last text of this role; None where it says nothing, or nothing after the results of the tools it called."""
    answered = False  # a tool's result came after the text
    for one in reversed(messages):
        if one.role == role and one.content.strip():
            return None if answered and one.tool_calls else one.content
        answered = answered or one.role == "tool"
    return None


def ids_of(value: object) -> tuple[str, ...]:
    """The ids in a list, which may be JSON."""
    items = _list(_parsed_json(value))
    if items is None:
        raise InputError(f"expected a list of ids, found {describe(value)}")
    return tuple(map(_identity, items))


def with_ids(contexts: tuple[Context, ...] | None, ids: Sequence[str]) -> tuple[Context, ...]:
    """The contexts with these ids; contexts without text where there are only ids. Raises InputError."""
    if contexts is None:
        return tuple(Context(text="", id=one) for one in ids)
    if len(ids) != len(contexts):
        raise InputError(f"expected an id for each of {len(contexts)} contexts, found {len(ids)} ids")
    return tuple(dataclasses.replace(one, id=identity) for one, identity in zip(contexts, ids, strict=True))


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    """An integer, numpy's too. Not a float: 42 in a column with gaps is 42.0 to pandas, which nobody wrote."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _identity(value: object) -> str:
    if isinstance(value, (str, UUID)):
        return str(value)
    whole = int(value) if isinstance(value, float) and value.is_integer() else _whole(value)
    if whole is None:
        raise InputError(f"expected a text or a whole number, found {describe(value)}")
    return str(whole)


def _reference(value: object) -> str:
    items = _list(value)
    if items is None:
        return _text(value)
    if not items:
        raise InputError("expected a text or a list of texts, found an empty list")
    texts = [_text(item) for item in items]
    spellings = f" {BETWEEN} ".join(texts)
    return spellings if len(aliases(spellings)) > 1 else "\n".join(texts)


def _reference_list(value: object) -> str:
    """For columns with a plural name (`ground_truths`), where a text may be a whole list, as CSV files have it."""
    parsed = parse_list(value) if isinstance(value, str) else None
    return _reference(value if parsed is None else parsed)


def _object(value: object) -> dict[str, Any] | None:
    value = _parsed_json(value)
    return json_object(value) if isinstance(value, Mapping) else None


def _ids(value: object) -> dict[str, str]:
    value = _parsed_json(value)
    if not isinstance(value, Mapping):
        raise InputError(f"expected a dict of texts, found {describe(value)}")
    return {str(key): _identity(item) for key, item in value.items() if not missing(item)}


def _parsed_json(value: object) -> object:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        check_json(value)
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def listed(value: object) -> list[Any]:
    """The items of a list, also of one that a text spells; empty for anything else."""
    spelled = parse_list(value) if isinstance(value, str) else None
    return _list(value if spelled is None else spelled) or []


def _list(value: object) -> list[Any] | None:
    """The items of a list, tuple or array; None for anything else."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, (str, bytes, Mapping)):
        return None
    to_list = getattr(value, "tolist", None) or getattr(value, "to_list", None)  # numpy, pandas, pyarrow, polars
    items = to_list() if callable(to_list) else None
    return items if isinstance(items, list) else None


def passages(value: object) -> tuple[Context, ...] | None:
    """Read the contexts in one cell of a row.

    Args:
        value: One passage, a list or array of passages (see `context_text`), or a dict of lists of equal length. A text
            may also hold a list, as JSON or as Python prints it.

    Returns:
        The contexts, in order. An empty list gives (). None for a text of white space only, and for a list in which
        each item is missing.

    Raises:
        InputError: A value is not a passage, or the text is a printed NumPy array. The message names the position.
    """
    if isinstance(value, str):
        refuse_frame(value)
        parsed = spelled(value)
        if parsed is None:
            return (context_text(value),) if value.strip() else None
        value = parsed
    if isinstance(value, Mapping):
        found = results_in(value)
        if found is not None:
            return found
        value = _turned(value)
    items = _list(value)
    if items is None:
        if isinstance(value, (bytes, bool, int, float)):
            raise InputError(f"expected a list of passages or one text, found {describe(value)}")
        return (passage_of(value),)
    if len(items) == 1 and isinstance(items[0], (list, tuple)) and not is_scored(items[0]):
        items = list(items[0])  # Chroma's answer to one query
    check_size(item if isinstance(item, str) else "" for item in items)
    if items and all(is_missing("contexts", item) for item in items):
        return None  # [None] does not say that nothing was retrieved
    made = []
    for position, item in enumerate(items, 1):
        if is_missing_passage(item):
            continue
        try:
            made.append(passage_of(item))
        except InputError as error:
            raise located(error, f"passage {position} of {len(items)}") from None
    return tuple(made)


def _turned(value: Mapping[Any, Any]) -> object:
    """A dict of equally long lists (a list of dicts, as Hugging Face datasets store it) as a list of dicts."""
    lists = {key: item for key, item in value.items() if isinstance(item, list)}
    lengths = {len(item) for item in lists.values()}
    if not lists or len(lists) < len(value) or len(lengths) != 1:
        return value  # one passage with a list in its metadata
    return [dict(zip(lists, items, strict=True)) for items in zip(*lists.values(), strict=True)]


def spelled(text: str) -> Any:
    """What a cell spells, in JSON or as Python prints it: a list, a pair or a dict; None for a text that is a text.

    Raises InputError for a print that cannot be read with certainty, such as what numpy prints (`['a' 'b']`, no
    commas), and TooLargeError.
    """
    stripped = text.strip()
    if not may_begin(stripped):
        return None
    check_json(stripped)
    try:
        found = json.loads(stripped, strict=False)  # lines may break within texts
    except (ValueError, RecursionError):
        try:
            found = _json_lines(stripped) or parse_print(stripped)
        except NotPrintedError:
            return None
    if isinstance(found, str) and stripped.startswith('"'):
        return spelled(found)  # JSON that was written as JSON once more
    if isinstance(found, (list, tuple)):
        items = [found] if isinstance(found, tuple) and is_scored(found) else list(found)
        numbers = bool(items) and not any(missing(item) or isinstance(item, _PARTS) for item in items)
        return None if numbers else items  # [1] is how a text cites
    return found if isinstance(found, Mapping) else None


def _json_lines(text: str) -> list[Any]:
    """The objects of JSON lines, two or more; empty for any other text."""
    found, decoder = [], json.JSONDecoder(strict=False)
    with suppress(ValueError, RecursionError):
        at = 0
        while at < len(text):
            item, end = decoder.raw_decode(text, at)
            if not isinstance(item, dict):
                return []
            found.append(item)
            at = _BETWEEN_LINES.match(text, end).end()  # type: ignore[union-attr]  # it matches the empty text
        return found if len(found) > 1 else []
    return []


def parse_list(text: str) -> list[Any] | None:
    """The list of texts or dicts that `text` spells; None where it spells none. Raises as `spelled`."""
    items = spelled(text)
    if not isinstance(items, list) or not all(isinstance(item, (str, Mapping)) for item in items):
        return None
    return items


def history(value: object) -> tuple[Turn, ...]:
    """Earlier turns from dicts with question and answer, from pairs, or from chat messages with roles.

    Messages are those of `assay.records.messages`; a user's and the next assistant's make a turn, others (system, tool)
    are left out.
    """
    value = _parsed_json(value)
    items = _list(value)
    if items is None:
        if value == "":
            return ()
        raise InputError(f"expected a list of turns or messages, found {describe(value)}")
    turns: list[Turn] = []
    messages: list[tuple[Role | None, str]] = []
    items = expand_messages(items)
    for position, item in enumerate(items, 1):
        turn = _turn(item)
        role, content = (None, None) if turn is not None else role_and_content(item)
        if turn is not None:
            turns.append(turn)
        elif isinstance(role, str) and (text := text_in(content)) is not None:
            messages.append((role_named(role), text))
        else:
            raise InputError(
                f"turn {position} of {len(items)}: expected question and answer or role and content, "
                f"found {describe(item)}"
            )
    if turns and messages:
        raise InputError("expected either turns or messages with roles, found both")
    return tuple(turns or _paired(messages))


def _turn(item: object) -> Turn | None:
    if isinstance(item, Turn):
        return item
    if isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return Turn(question=item[0], answer=item[1])
    if not isinstance(item, Mapping) or not {"question", "answer"} <= item.keys():
        return None
    found = item.get("contexts")
    contexts = () if missing(found) else passages(found) or ()
    return Turn(question=_text(item["question"]), answer=_text(item["answer"]), contexts=contexts)


def _paired(messages: Iterable[tuple[Role | None, str]]) -> list[Turn]:
    turns: list[Turn] = []
    asked: list[str] = []
    for role, content in messages:
        if role == "user":
            asked.append(content)
        elif role == "assistant" and asked:
            turns.append(Turn(question="\n".join(asked), answer=content))
            asked = []
        elif role == "assistant" and turns:  # one answer in several messages
            turns[-1] = dataclasses.replace(turns[-1], answer=f"{turns[-1].answer}\n{content}")
    return turns
