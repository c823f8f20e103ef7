"""The one table of names by which other tools call a sample's fields, and the shapes in which they hand over passages.

Only the places where data enters use it: `assay.data`, the command line and the integrations. Inside assay a question
is a `question`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeGuard
from uuid import UUID

from assay._util.normalise import finite
from assay._util.normalise import json_object as json_object
from assay._util.normalise import json_value as json_value
from assay._util.normalise import missing as missing
from assay._util.normalise import well_formed as well_formed
from assay.errors import InputError
from assay.records.images import data_uri, image_in_text, image_of
from assay.records.sample import Context

QUESTION_NAMES = ("question", "user_input", "query", "input", "inputs", "user_query", "user_question")
CONTEXT_NAMES = (
    "contexts", "retrieved_contexts", "retrieval_context", "context", "documents", "source_documents", "source_nodes",
    "retrieved_documents", "retrieved_context", "passages", "docs",
)  # fmt: skip
ANSWER_NAMES = (
    "answer", "response", "output", "outputs", "actual_output", "result", "prediction", "predicted_answer",
    "predicted_answers", "generated_answer",
)  # fmt: skip
#: Names under which applications keep contexts and answers in their state. A column of a file may be something else of
#: that name, and among them none comes first: where two are there, the names do not tell.
STATE_CONTEXT_NAMES = ("retrieved_docs", "search_results", "retrieved_chunks", "relevant_docs", "relevant_documents")
STATE_ANSWER_NAMES = (
    "generation", "final_answer", "final_response", "final_output", "reply", "completion", "summary", "report",
    "final_report", "llm_response", "ai_message",
)  # fmt: skip
REFERENCE_NAMES = (
    "reference", "ground_truth", "ground_truths", "expected_output", "expected", "target", "reference_answer",
    "expected_answer", "gold_answer", "reference_output", "reference_outputs", "references", "expected_response",
    "expected_facts", "gt_answer",
)  # fmt: skip

#: Field of `Sample` -> names accepted for it, its own name first. Case, spaces, "_" and "-" do not matter. The ids of
#: contexts are no field of their own: they become those of the contexts.
ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "question": QUESTION_NAMES,
    "contexts": CONTEXT_NAMES,
    "answer": ANSWER_NAMES,
    "reference": REFERENCE_NAMES,
    "reference_contexts": (
        "reference_contexts",
        "ground_truth_contexts",
        "gold_contexts",
        "expected_contexts",
        "expected_retrieved_context",
    ),
    "messages": ("messages", "trajectory", "turns"),
    "context_ids": ("context_ids", "retrieved_context_ids", "retrieved_ids"),
    "reference_context_ids": ("reference_context_ids", "expected_context_ids", "expected_ids"),
    "history": ("history", "chat_history", "conversation_history"),
    "id": ("id", "row_id", "sample_id", "example_id"),
    "language": ("language", "lang"),
    "ids": ("ids",),
    "status": ("status",),
    "metadata": ("metadata",),
}

#: Where the metadata has the messages that a row gives as its reference, as they were given.
REFERENCE_MESSAGES = "reference_outputs"

#: DeepEval's rows have two columns of passages: what was retrieved, and beside it what should have been.
_RETRIEVED, _IDEAL = "retrievalcontext", "context"

TEXT_KEYS = ("text", "page_content", "content", "context")
#: Where a passage has its picture: ragas, LlamaIndex, OpenAI's content parts, DeepEval, and plain rows.
IMAGE_KEYS = ("image", "image_path", "image_url", "image_base64", "base64", "dataBase64", "image_resource")
ID_KEYS = ("id", "id_", "node_id", "doc_id", "document_id", "chunk_id")


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


_FIELD_OF = {_plain(name): field for field, names in ACCEPTED.items() for name in names}


def field_of(name: str) -> str | None:
    """The field of `Sample` that `name` is accepted for, or None."""
    return _FIELD_OF.get(_plain(name))


def find_columns(names: Iterable[str], column_map: Mapping[str, str] | None = None) -> dict[str, str]:
    """Match columns to the fields of `Sample`.

    `column_map` comes first, then the field's own name, then the other accepted names (`ACCEPTED`). Case, spaces, "_"
    and "-" do not matter. If there is a column `retrieval_context`, `context` holds the reference contexts, as in
    DeepEval.

    Args:
        names: Names of the columns.
        column_map: Column of each field. None: the accepted names decide.

    Returns:
        Column by field. Columns and fields without a match are left out.

    Raises:
        InputError: Several columns match one field, and no single one has the field's own name. `column_map` names an
            unknown field or column, or one field twice.
    """
    names = list(dict.fromkeys(names))
    found = _mapped(names, column_map or {})
    candidates: dict[str, list[str]] = {}
    two_kinds = _RETRIEVED in map(_plain, names)
    for name in names:
        field = "reference_contexts" if two_kinds and _plain(name) == _IDEAL else field_of(name)
        if field is not None and field not in found and name not in found.values():
            candidates.setdefault(field, []).append(name)
    for field, columns in candidates.items():
        own = [name for name in columns if name == field] or [name for name in columns if _plain(name) == _plain(field)]
        chosen = own or columns
        if len(chosen) > 1:
            listed = " and ".join(repr(name) for name in chosen)
            hint = f'column_map={{"{field}": "{chosen[0]}"}}'
            raise InputError(f"columns {listed} can all be the {field}; say which one is meant, for example {hint}")
        found[field] = chosen[0]
    return found


def _mapped(names: list[str], column_map: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, column in column_map.items():
        field = key if key in ACCEPTED else field_of(key)
        if field is None:
            turned = ACCEPTED.keys() & {column}
            hint = f'; did you mean {{"{column}": "{key}"}}?' if turned else ""
            raise InputError(f"column_map: {key!r} is no field of a sample ({', '.join(ACCEPTED)}){hint}")
        if column not in names:
            raise InputError(f"column_map: there is no column {column!r}; the columns are {_listed(names)}")
        if found.setdefault(field, column) != column:
            raise InputError(f"column_map: {field!r} is given twice, as {found[field]!r} and as {column!r}")
    return found


def _listed(names: list[str], most: int = 30) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def context_text(value: object) -> Context:
    """Convert a passage of any framework to a context.

    Accepted forms:

    - a `Context`, a text, or a pair (passage, score)
    - a dict with the text under `text`, `page_content`, `content` or `context`, also within `node` or `document`, and
      in the JSON of LangChain
    - a LangChain or Haystack Document, or a LlamaIndex node with or without a score
    - a picture: bytes, a dict or node with one of `IMAGE_KEYS`, or a text that only names a picture. Such a text is a
      data URI, base64, or a path or URL that ends in .png, .jpg, .gif or .webp.

    Args:
        value: The passage.

    Returns:
        The context. The same object if the passage is a `Context`.

    Raises:
        InputError: The value has none of these forms.
    """
    if isinstance(value, Context):
        return value
    if isinstance(value, str):
        image = image_in_text(value)
        return Context(text=value) if image is None else Context(text="", image=image)
    if isinstance(value, bytes):
        return Context(text="", image=data_uri(value))
    if isinstance(value, Mapping):
        return _from_mapping(value)
    if is_scored(value):
        return _with(context_text(value[0]), score=finite(value[1]))
    made = _from_object(value)
    if made is None:
        raise InputError(
            f"a passage must be a text, a dict with {', '.join(TEXT_KEYS[:3])}, or a document or node object; "
            f"found {describe(value)}"
        )
    return made


def is_scored(value: object) -> TypeGuard[Sequence[Any]]:
    """Check whether a value is a pair of a passage and its score.

    Args:
        value: Any value.

    Returns:
        True for a tuple or list of two, the second a number.
    """
    return isinstance(value, (tuple, list)) and len(value) == 2 and finite(value[1]) is not None


def _from_mapping(value: Mapping[Any, Any]) -> Context:
    if "lc" in value and isinstance(value.get("kwargs"), Mapping):
        return _from_mapping(value["kwargs"])
    text = next((value[key] for key in TEXT_KEYS if isinstance(value.get(key), str)), None)
    score = finite(value.get("score"))
    image = _image(value.get(key) for key in IMAGE_KEYS)
    if text is None and image is None:
        inner = value.get("node", value.get("document"))
        if inner is None:
            keys = ", ".join(repr(key) for key in list(value)[:10])
            raise InputError(
                f"a passage given as a dict needs a text under {', '.join(TEXT_KEYS[:3])}; found the keys {keys}"
            )
        return _with(context_text(inner), score=score)
    metadata = value.get("metadata", value.get("meta")) or {}
    in_prompt = value.get("in_prompt")
    return Context(
        id=_first_id(value.get(key) for key in ID_KEYS),
        score=score,
        in_prompt=in_prompt if isinstance(in_prompt, bool) else None,
        metadata=metadata,
        # what a dict calls its text is one, whatever it names: a sample that was written is read as it was
        **({"text": text, "image": image} if isinstance(value.get("text"), str) else _text_and_image(text, image)),
    )


def _image(values: Iterable[object]) -> str | None:
    """The first of these that is an image."""
    for value in values:
        resource = value if isinstance(value, Mapping) else {}
        if not isinstance(value, Mapping) and any(hasattr(value, name) for name in ("path", "url")):  # MediaResource
            resource = {name: getattr(value, name, None) for name in ("data", "path", "url")}
        for inner in (resource.get("data"), resource.get("path"), resource.get("url"), value):
            if isinstance(inner, (bytes, str, PurePath)) and inner:
                return image_of(str(inner) if isinstance(inner, PurePath) else inner)
            if inner is not None and type(inner).__name__.endswith("Url"):  # pydantic's
                return str(inner)
    return None


def _text_and_image(text: str | None, image: str | None) -> dict[str, Any]:
    """Both as a Context takes them; a text that only names an image is one."""
    named = image_in_text(text) if image is None and text is not None else None
    return {"text": "", "image": named} if named is not None else {"text": text or "", "image": image}


def _from_object(value: object) -> Context | None:
    get_content = getattr(value, "get_content", None)
    if callable(get_content):  # LlamaIndex: TextNode, NodeWithScore
        try:
            text = get_content()
        except Exception as error:
            raise InputError(f"{type(value).__name__}.get_content() failed: {error!r}") from error
    else:  # LangChain: page_content; Haystack: content
        found = (getattr(value, key, None) for key in ("page_content", "content", "text"))
        text = next((item for item in found if isinstance(item, str)), None)
    image = _image(getattr(getattr(value, "node", value), key, None) for key in IMAGE_KEYS)
    if not isinstance(text, str) and image is None:
        return None
    metadata = getattr(value, "metadata", getattr(value, "meta", None)) or {}
    return Context(
        id=_first_id(getattr(value, key, None) for key in ID_KEYS),
        score=finite(getattr(value, "score", None)),
        metadata=metadata,
        **_text_and_image(text if isinstance(text, str) else None, image),
    )


def _with(context: Context, *, score: float | None) -> Context:
    if score is None:
        return context
    return replace(context, score=score)


def _first_id(values: Iterable[object]) -> str | None:
    for value in values:
        if isinstance(value, (str, int, UUID)) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def describe(value: object) -> str:
    """Describe a value for an error message.

    Args:
        value: Any value.

    Returns:
        The name of its type. For texts, numbers, lists, tuples and dicts also the first 60 characters.
    """
    name = type(value).__name__
    if not isinstance(value, (str, int, float, list, tuple, dict)):
        return name
    try:
        shown = repr(value) if not isinstance(value, str) else repr(value[:60])
    except Exception:  # of something in it, or an integer of thousands of digits
        return name
    return f"{name} {shown[:60]}{'…' if len(shown) > 60 else ''}"
