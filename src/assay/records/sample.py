"""Sample: one exchange with its question, contexts, answer and reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from assay._util.normalise import finite, json_object, well_formed
from assay.errors import InputError, printable
from assay.records.base import Record, _clean_text, _identity, _name_suffix, _put, _refused, _short, fingerprint
from assay.records.images import image_of

SampleStatus = Literal["complete", "abandoned", "cancelled", "failed", "interrupted"]


Role = Literal["system", "user", "assistant", "tool"]


_STATUSES = get_args(SampleStatus)


_ROLES = get_args(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Record):
    """One retrieved passage, or a picture.

    Metrics that read texts alone have no value where a passage has a picture: see `assay.metrics.multimodal`.

    Attributes:
        text: The text. Of a picture its caption, which may be empty.
        id: Id of the passage in its index.
        score: The retriever's own score, in whatever unit it uses.
        in_prompt: Whether the text was in the prompt of the LLM call that gave the answer; None: not known.
        metadata: JSON values.
        image: A picture: its path, data URI or URL; bytes become a data URI.
    """

    text: str
    id: str | None = None
    score: float | None = None
    in_prompt: bool | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    image: str | None = None

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score:.3g}"
        image = "" if self.image is None else f", image {_short(self.image)!r}"
        return f"<Context{_name_suffix(self.id)} {_short(self.text)!r}{image}{score}>"

    def __post_init__(self) -> None:
        _clean_text(self, "text", needed=True)
        if self.image is not None:
            _put(self, "image", well_formed(image_of(self.image)))
        if self.id is not None:
            _put(self, "id", _identity(self, "id", self.id))
        if self.score is not None:
            _put(self, "score", finite(self.score))
        _clean_metadata(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """An earlier exchange of the same conversation."""

    question: str
    answer: str
    contexts: tuple[Context, ...] = ()

    def __post_init__(self) -> None:
        _clean_text(self, "question", needed=True)
        _clean_text(self, "answer", needed=True)
        _clean_items(self, "contexts", Context)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Record):
    """One tool call of a model.

    Attributes:
        name: Name of the tool.
        arguments: Its arguments.
        output: The result, where it is known.
        id: Id of the call, which ties a result to it.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        _clean_text(self, "name", needed=True)
        _clean_text(self, "output")
        _put(self, "arguments", json_object(self.arguments, nulls=True))
        if self.id is not None:
            _put(self, "id", _identity(self, "id", self.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Record):
    """One message of a conversation or of an agent's trajectory.

    Attributes:
        role: Who speaks: "user", "assistant", "system", "tool".
        content: The text.
        tool_calls: Tool calls that the message asks for.
    """

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()

    def __post_init__(self) -> None:
        if self.role not in _ROLES:
            raise InputError(f"Message: role: expected {', '.join(_ROLES)}; found {self.role!r}")
        _clean_text(self, "content", needed=True)
        _clean_items(self, "tool_calls", ToolCall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Record):
    """One exchange with a RAG system: what metrics score.

    A field of None is not known; an empty tuple of contexts means that retrieval returned nothing. A sample can always
    be stored: half an emoji in a text becomes U+FFFD, and of the metadata only what JSON can hold is kept (see
    `assay._util.normalise.json_value`).

    Attributes:
        question: The question of the user.
        contexts: The retrieved passages, best first.
        answer: The generated answer.
        reference: The right answer.
        reference_contexts: The passages that should be retrieved.
        history: Earlier turns of the conversation, oldest first.
        messages: The whole conversation or an agent's trajectory, this exchange included.
        id: Id of the row.
        ids: Name -> id of its origin: run, trace, span.
        language: ISO 639-1 code. None: detected in the texts, English where they leave doubt.
        status: "complete", or why the answer is not: "abandoned", "cancelled", "failed" or "interrupted".
        metadata: Other columns of the row, as JSON values.

    Raises:
        InputError: A value is not of its field's type.
    """

    question: str | None = None
    contexts: tuple[Context, ...] | None = None
    answer: str | None = None
    reference: str | None = None
    reference_contexts: tuple[Context, ...] | None = None
    history: tuple[Turn, ...] = ()
    id: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    status: SampleStatus = "complete"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()

    def __str__(self) -> str:
        lines = [(name, getattr(self, name)) for name in ("question", "answer", "reference")]
        told = [f"{name}: {_short(text, 200)}" for name, text in lines if text is not None]
        if self.contexts is not None:
            told.append(f"contexts: {len(self.contexts)}")
        called = [call.name for message in self.messages for call in message.tool_calls]
        if called:
            told.append(f"calls: {len(called)} ({_short(', '.join(dict.fromkeys(called)), 200)})")
        return printable("\n".join(told))

    def __repr__(self) -> str:
        asked = "no question" if self.question is None else repr(_short(self.question))
        said = "no answer" if self.answer is None else repr(_short(self.answer))
        count = len(self.contexts or ())
        found = "contexts unknown" if self.contexts is None else f"{count or 'no'} context{'' if count == 1 else 's'}"
        return f"<Sample{_name_suffix(self.id)} {asked} -> {said}, {found}>"

    def __post_init__(self) -> None:
        for name in ("question", "answer", "reference"):
            _clean_text(self, name)
        for name in ("contexts", "reference_contexts"):
            if getattr(self, name) is not None:
                _clean_items(self, name, Context)
        _clean_items(self, "history", Turn)
        _clean_items(self, "messages", Message)
        _clean_text(self, "language")
        if self.status not in _STATUSES:
            raise InputError(f"Sample: status: expected {', '.join(_STATUSES)}; found {self.status!r}")
        if self.id is not None:
            _put(self, "id", _identity(self, "id", self.id))
        if self.ids or type(self.ids) is not dict:
            named = (self.ids or {}).items()
            _put(self, "ids", {well_formed(str(name)): _identity(self, "ids", one) for name, one in named})
        _clean_metadata(self)

    @property
    def has_texts(self) -> bool:
        """Whether any text is known, an earlier turn's or a message's too; of a row that was kept lean none is."""
        texts = (self.question, self.answer, self.contexts, self.reference, self.reference_contexts)
        return any(part is not None for part in texts) or bool(self.history or self.messages)

    @property
    def passages(self) -> tuple[str, ...]:
        """The texts of the contexts, in order; empty when there are none."""
        return tuple(context.text for context in self.contexts or ())

    @property
    def earlier_passages(self) -> tuple[str, ...]:
        """The texts of the contexts of earlier turns, the newest turn first, each once and without this turn's."""
        texts = (context.text for turn in reversed(self.history) for context in turn.contexts)
        own = frozenset(self.passages)
        return tuple(dict.fromkeys(text for text in texts if text not in own))

    @property
    def earlier_question(self) -> str | None:
        """The question of the turn before; None in a conversation's first."""
        return (self.history[-1].question.strip() or None) if self.history else None

    @property
    def spoken(self) -> str:
        """The language to read this sample in: the one it says, else English."""
        return self.language or "en"

    def key(self) -> str:
        """Identify the sample.

        Returns:
            `id` where there is one, else a hash of everything else in the sample.
        """
        return self.id if self.id is not None else "row-" + self.content_hash()[:16]

    def content_hash(self) -> str:
        """Hash everything that a metric can read, without the id; of pictures the data URI, or their names.

        Fields that were added later (messages, pictures) and those that few metrics read (metadata, ids) are left out
        where a sample has none of them, so that the hash of other samples does not change.

        Returns:
            SHA-256 as hexadecimal digits.
        """
        said = [message.to_dict() for message in self.messages]
        groups = (self.contexts or (), self.reference_contexts or (), *(turn.contexts for turn in self.history))
        images = [[context.image for context in contexts] for contexts in groups]
        passages = [[_extra_fields(context) for context in contexts] for contexts in groups]
        besides = {"ids": self.ids, "metadata": self.metadata, "passages": passages if any(map(any, passages)) else ()}
        further = {name: value for name, value in besides.items() if value}
        return fingerprint(
            [self.question, self.passages if self.contexts is not None else None, self.answer, self.reference,
             [c.text for c in self.reference_contexts] if self.reference_contexts is not None else None,
             [[t.question, t.answer, [c.text for c in t.contexts]] for t in self.history], self.spoken, self.status,
             *([said] if said else []), *([images] if any(map(any, images)) else []), *([further] if further else [])]
        )  # fmt: skip


def _extra_fields(context: Context) -> dict[str, Any]:
    """What is known of a passage besides its text and picture."""
    known = {"id": context.id, "score": context.score, "in_prompt": context.in_prompt, "metadata": context.metadata}
    return {name: value for name, value in known.items() if value is not None and value != {}}


def _clean_items(record: Record, name: str, kind: type[Record]) -> None:
    items = getattr(record, name)
    if type(items) is not tuple:
        if isinstance(items, (str, Mapping)) or not isinstance(items, Iterable):
            raise _refused(record, name, f"a tuple of {kind.__name__}", items)
        items = tuple(items)
        _put(record, name, items)
    for item in items:
        if not isinstance(item, kind):
            made = ", such as Context(text='...')" if kind is Context else ""
            raise _refused(record, name, f"{kind.__name__} objects{made}", item)


def _clean_metadata(record: Context | Sample) -> None:
    if record.metadata or type(record.metadata) is not dict:
        _put(record, "metadata", json_object(record.metadata))
