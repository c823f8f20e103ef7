"""The records: what was asked, found and said, and what a judge made of it.

All are frozen dataclasses with a JSON round trip: `Sample.from_dict(sample.to_dict()) == sample`.
Offsets are Python string indices (code points), half open: `text[span.start:span.end]`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args
from uuid import UUID

from assay.cleaning import finite, json_object, well_formed
from assay.errors import Cause, InputError
from assay.forks import GATE
from assay.pictures import image_of
from assay.terminal import printable

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SupportLabel = Literal["supported", "contradicted", "not_mentioned"]
SampleStatus = Literal["complete", "abandoned", "cancelled", "failed"]
Direction = Literal["higher", "lower"]
Role = Literal["system", "user", "assistant", "tool"]
#: Left, top, right and bottom, each as a share of the picture's width or height, from 0.0 to 1.0.
Box = tuple[float, float, float, float]

#: What stands in the place of a cause for values that another system gives by convention.
BY_CONVENTION = "by_convention"

_STATUSES = get_args(SampleStatus)
_ROLES = get_args(Role)

_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def type_adapter(kind: Any) -> TypeAdapter[Any]:
    """What reads and writes values of a type as JSON; to be kept, since making it takes milliseconds."""
    with GATE.entered():  # pydantic makes it under locks of its own, which a fork would leave locked in the child
        from pydantic import TypeAdapter  # costs 0.1 s, and records are often only passed around

        return TypeAdapter(kind)


def build_adapter(cls: type[Record]) -> None:
    """Import pydantic and build what reads and writes records of a class, before the first of them needs it."""
    _adapter(cls)


def _adapter(cls: type) -> TypeAdapter[Any]:
    if cls not in _ADAPTERS:
        _ADAPTERS[cls] = type_adapter(cls)
    return _ADAPTERS[cls]


class Record:
    """JSON round trip for the dataclasses below."""

    __slots__ = ()

    #: What somebody made of one of these classes, with fields of other types in it, is no value of that class: else a
    #: judge of a user's own would have rows written that nobody can read.
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"revalidate_instances": "always"}

    def to_dict(self) -> dict[str, Any]:
        """This record as plain JSON values, without the fields that are None."""
        data: dict[str, Any] = _adapter(type(self)).dump_python(self, mode="json", exclude_none=True)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The record that `to_dict` wrote. Raises InputError, naming the field, where the data does not fit."""
        from pydantic import ValidationError

        try:
            record: Self = _adapter(cls).validate_python(dict(data))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or cls.__name__
            raise InputError(f"{cls.__name__}: field {where!r}: {first['msg']}") from None
        return record


@dataclass(frozen=True, slots=True)
class Span(Record):
    """A piece of a text: characters `start` up to, not including, `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters of `text` that this span covers."""
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        """The same piece where the text stands `by` characters further on."""
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Record):
    """One retrieved passage. `score` is the retriever's own, in whatever unit it uses.

    `in_prompt` says whether the text really stood in the prompt of the LLM call that gave the answer; None: not known.
    `image` is a picture: its path, data URI or URL; bytes become a data URI. Its `text`, a caption, may then be empty.
    Metrics that read texts alone have no value where a passage has a picture: see `assay.systems.multimodal`.
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
        return f"<Context{_named(self.id)} {_short(self.text)!r}{image}{score}>"

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
    """One call of a tool by a model: what it was given, and what came back where that is known."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        _clean_text(self, "name", needed=True)
        _clean_text(self, "output")
        _put(self, "arguments", json_object(self.arguments))
        if self.id is not None:
            _put(self, "id", _identity(self, "id", self.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Record):
    """One message of a conversation, or of the way that an agent took; `tool_calls` are those that it asks for."""

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
    """One exchange with a RAG system.

    `None` means "not known"; an empty tuple of contexts means "retrieval returned nothing".
    `ids` ties the sample to its origin (run, trace, span ids by name). `language` is an ISO 639-1 code, where it is
    said; it then counts. `None`: found out from the texts, where they leave no doubt, else English. `messages` are the
    whole conversation or an agent's way, this exchange included, for metrics that judge more than one answer.

    A sample can always be stored: half an emoji in a text becomes U+FFFD, and of the metadata only what JSON can hold
    is kept (see `assay.cleaning.json_value`). What is no text where a text belongs is an InputError.
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
        return f"<Sample{_named(self.id)} {asked} -> {said}, {found}>"

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
        """A stable id: `id` where given, else a hash of all else that the sample has."""
        return self.id if self.id is not None else "row-" + self.content_hash()[:16]

    def content_hash(self) -> str:
        """SHA-256 over everything a metric can see, but not the id; of pictures the data URI, or how they are named.

        What came into samples later (messages, pictures) and what few metrics read (metadata, ids, what passages have
        besides texts) is left out where a sample has none of it: samples without it keep the hash that they had.
        """
        said = [message.to_dict() for message in self.messages]
        groups = (self.contexts or (), self.reference_contexts or (), *(turn.contexts for turn in self.history))
        images = [[context.image for context in contexts] for contexts in groups]
        passages = [[_besides(context) for context in contexts] for contexts in groups]
        besides = {"ids": self.ids, "metadata": self.metadata, "passages": passages if any(map(any, passages)) else ()}
        further = {name: value for name, value in besides.items() if value}
        return fingerprint(
            [self.question, self.passages if self.contexts is not None else None, self.answer, self.reference,
             [c.text for c in self.reference_contexts] if self.reference_contexts is not None else None,
             [[t.question, t.answer, [c.text for c in t.contexts]] for t in self.history], self.spoken, self.status,
             *([said] if said else []), *([images] if any(map(any, images)) else []), *([further] if further else [])]
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Record):
    """One checkable statement. `span` is the part of the source text that makes it (at least its sentence)."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """A verbatim quote, found by string search: `passages[passage][span.start:span.end] == text`.

    `box` says where it stands on a picture whose text was read: left, top, right, bottom, as shares of its size.
    """

    passage: int
    span: Span
    text: str
    box: Box | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Record):
    """What one passage alone says of one claim. `probability` is that of `supported`, in [0, 1]."""

    label: SupportLabel
    probability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Record):
    """The finding on one claim, one passage, one answer or one criterion.

    label        from the closed set of its inquiry: supported / contradicted / not_mentioned; useful / not_useful;
                 direct / indirect; yes / no
    probability  of the affirmative label (supported, useful, direct, yes), in [0, 1], where the judge gives one
    claim        the claim judged, for support verdicts
    passage      index of the passage judged, for usefulness verdicts
    cells        one per passage, in order: the row of the claim x passage matrix
    evidence     located quotes; `unlocated` counts quotes that are not in the passages, and so are no evidence
    unsupported  of a claim that is not supported the parts of `claim.text` by which it is not, where the judge tells
    """

    label: str
    probability: float | None = None
    reason: str | None = None
    claim: Claim | None = None
    passage: int | None = None
    cells: tuple[Cell, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    unlocated: int = 0
    unsupported: tuple[Span, ...] = ()

    def __repr__(self) -> str:
        p = "" if self.probability is None else f" (p={self.probability:.2f})"
        what = f": {_short(self.claim.text)!r}" if self.claim is not None else ""
        what += f" on passage {self.passage + 1}" if self.passage is not None else ""
        return f"<Verdict {self.label}{p}{what}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """What judging cost. Token counts are `None` when the endpoint did not report them: unknown is not 0.

    Where several inquiries shared one call, the first of them carries its cost, so that sums are exact.
    """

    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cached_tokens: int | None = 0

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: Any) -> Any:
        """`to_dict` leaves out what is None: a count that is not there is unknown, although the default is 0."""
        from pydantic_core import core_schema

        def read(data: Any) -> Any:
            unknown = dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens"))
            return {**unknown, **data} if isinstance(data, Mapping) else data

        return core_schema.no_info_before_validator_function(read, handler(source))

    def __add__(self, other: Usage) -> Usage:
        def plus(a: int | None, b: int | None) -> int | None:
            return None if a is None or b is None else a + b

        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=plus(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=plus(self.completion_tokens, other.completion_tokens),
            cached_tokens=plus(self.cached_tokens, other.cached_tokens),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored(Record):
    """Why there is no number, in one machine-readable word and one sentence; `raw` is the judge's reply, if any."""

    cause: Cause
    message: str
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Record):
    """A value with its range, direction and evidence; or no value and the reason why.

    Exactly one of `value` and `unscored` is set. `convention` says why a value is none that was measured: another
    system gives it by convention, where it has nothing to measure; such values count in no mean. `verdicts` are the
    readings the value was computed from, by what was read against what (`"answer/contexts"`). `parts` are intermediate
    numbers of the formula.
    """

    metric: str
    value: float | None = None
    unscored: Unscored | None = None
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"
    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: str = "1"
    judge: str | None = None
    usage: Usage = field(default_factory=Usage)
    convention: str | None = None

    def __str__(self) -> str:
        if self.unscored is not None:
            return printable(f"{self.metric}: not scored ({self.unscored.cause}): {self.unscored.message}")
        if self.convention is not None:
            return printable(f"{self.metric} = {self.value:.3f} by convention: {self.convention}")
        parts = ", ".join(f"{name} {value:.3g}" for name, value in self.parts.items())
        return printable(f"{self.metric} = {self.value:.3f}" + (f" ({parts})" if parts else ""))

    def __repr__(self) -> str:
        return f"<Score {self}>"

    @property
    def measured(self) -> bool:
        """Whether there is a value, and it was measured."""
        return self.value is not None and self.convention is None

    @property
    def why_unmeasured(self) -> str | None:
        """The cause, or "by_convention", where there is no value that was measured; None where there is one."""
        if self.convention is not None:
            return BY_CONVENTION
        return None if self.unscored is None else self.unscored.cause.value

    def __post_init__(self) -> None:
        if (self.value is None) == (self.unscored is None):
            raise InputError(f"Score {self.metric!r}: give either a value or a reason why there is none")
        if self.value is not None and not self.low <= self.value <= self.high:  # NaN fails this as well
            raise InputError(f"Score {self.metric!r}: value {self.value!r} is outside [{self.low}, {self.high}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSample(Record):
    """A sample with its scores, by metric name."""

    sample: Sample
    scores: Mapping[str, Score]

    @property
    def values(self) -> dict[str, float | None]:
        """The numbers alone; None where there is no measurement."""
        return {name: score.value for name, score in self.scores.items()}

    def __str__(self) -> str:
        return "\n".join([str(self.sample), *(f"  {score}" for score in self.scores.values())])

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{name} {score.value:.3f}" if score.value is not None else f"{name} not scored"
            for name, score in self.scores.items()
        )
        return f"<ScoredSample{_named(self.sample.id)}{' ' + scores if scores else ''}>"


def fingerprint(parts: Sequence[Any]) -> str:
    """SHA-256 of JSON-able parts; equal parts give equal hex digests on every machine."""
    blob = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()


def _besides(context: Context) -> dict[str, Any]:
    """What is known of a passage besides its text and picture."""
    known = {"id": context.id, "score": context.score, "in_prompt": context.in_prompt, "metadata": context.metadata}
    return {name: value for name, value in known.items() if value is not None and value != {}}


def _short(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line."""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most and len(text) <= 4 * most else flat[: most - 1] + "…"


def _named(name: str | None) -> str:
    return "" if name is None else f" {_short(name)!r}"


# ---- how the records above clean what they are given; most of it is clean, and then nothing is copied ----------------


def _put(record: Record, name: str, value: object) -> None:
    object.__setattr__(record, name, value)  # the records are frozen for everybody else


def _refused(record: Record, name: str, expected: str, value: object) -> InputError:
    return InputError(f"{type(record).__name__}: {name}: expected {expected}, found {type(value).__name__}")


def _clean_text(record: Record, name: str, *, needed: bool = False) -> None:
    text = getattr(record, name)
    if isinstance(text, str):
        if not text.isascii():
            _put(record, name, well_formed(text))
    elif text is not None or needed:
        raise _refused(record, name, "a text", text)


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


def _identity(record: Record, name: str, value: object) -> str:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, (int, UUID)) and not isinstance(value, bool):
        return str(value)
    raise _refused(record, name, "a text", value)
