"""What every inquiry has: a prompt, an answer schema, and a reader that turns a reply into a finding or refuses it.

An inquiry is a frozen record, and equal inquiries have equal keys: that is how metrics share findings. A new
inquiry is a subclass with `name`, `version`, `finding`, `prompt` and `read`; every text judge can answer it at once.
Raise `version` whenever the prompt or the reading changes, or stored findings would be taken for new ones.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from assay.errors import BadReply
from assay.records import fingerprint

if TYPE_CHECKING:
    from pydantic import TypeAdapter

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Section:
    """One piece of judged text. It is data: judges fence it and never follow what it says."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a text judge is asked.

    `material` comes first and in the same order for all inquiries on a sample (passages, question, then the rest), so
    that prefix caches serve; `task` comes last. `schema` is the JSON schema of the whole reply, with the reason before
    the label. `output_tokens` estimates the length of a full reply. `vote` is 0 for the judge's one best reply; votes
    1, 2, ... are independent samples.
    """

    material: tuple[Section, ...]
    task: str
    schema: Mapping[str, Any]
    output_tokens: int
    vote: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """One decision: `name` is unique in its inquiry, `labels` the closed set of answers with what each means.

    Of two labels the first is the affirmative one. `ordered`: the labels are the levels of a scale, lowest first.
    """

    name: str
    instructions: str
    labels: Mapping[str, str]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Division(Generic[F]):
    """An inquiry in parts, and how their findings, in order, make up the finding on the whole."""

    parts: tuple[Inquiry[F], ...]
    join: Callable[[Sequence[F]], F]


@dataclass(frozen=True)
class Inquiry(ABC, Generic[F]):
    """One typed question to a judge; `F` is the type of its finding."""

    name: ClassVar[str]
    version: ClassVar[str] = "1"
    finding: ClassVar[Any]

    def key(self, judge: str) -> str:
        """Content address of the finding by the judge with this fingerprint."""
        return fingerprint([self.name, self.version, judge, dataclasses.asdict(self)])

    def merge_key(self) -> Hashable | None:
        """Inquiries of one type with equal keys may be asked in one call; None means never."""
        return None

    @classmethod
    @abstractmethod
    def prompt(cls, group: Sequence[Self]) -> Prompt:
        """The prompt for one inquiry, or for several with the same merge key."""

    @classmethod
    @abstractmethod
    def read(cls, group: Sequence[Self], reply: Mapping[str, Any]) -> list[F]:
        """The finding of each inquiry of the group.

        Every object with a `label` may carry `probs`, the probability of each label, where the endpoint gives them.
        Raises BadReply, in words that the judge can act on, when the reply does not answer what was asked.
        """

    def fit(self, chars: int) -> Division[F] | None:
        """This inquiry in parts whose judged text is at most `chars` long; None when it must not be divided."""
        return None

    def halve(self) -> Division[F] | None:
        """This inquiry in parts with shorter replies; None when it cannot get smaller."""
        return None

    def answered_by(self, finding: F) -> bool:
        """Whether a finding has the shape that was asked for; a judge's own mistake is caught here, once for all."""
        return True

    def questions(self) -> tuple[Question, ...]:
        """The decisions that answer this inquiry, for judges that decide instead of writing; () when none do."""
        return ()

    def sections(self) -> tuple[Section, ...]:
        """The texts that `questions` speaks of. Inquiries on the same texts are decided in one request."""
        return type(self).prompt([self]).material

    def decided(self, answers: Mapping[str, Mapping[str, float]]) -> F:
        """The finding from the probability of each label, by question name."""
        raise TypeError(f"{type(self).__name__} cannot be answered by decisions")

    @classmethod
    def dump(cls, finding: F) -> bytes:
        """The finding as JSON."""
        return bytes(_finding_adapter(cls).dump_json(finding))

    @classmethod
    def load(cls, blob: bytes | str) -> F:
        """The finding that `dump` wrote."""
        finding: F = _finding_adapter(cls).validate_json(blob)
        return finding


@lru_cache(maxsize=64)
def _finding_adapter(cls: type[Inquiry[Any]]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cls.finding)


def whole(inquiry: Inquiry[F]) -> Division[F]:
    """The division into one part."""
    return Division((inquiry,), lambda findings: findings[0])


# ---- pieces that schemas and readers share ---------------------------------------------------------------------


def array(items: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of a list."""
    return {"type": "array", "items": items}


def record(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def one_of(*labels: str) -> dict[str, Any]:
    """JSON schema of a closed set of labels."""
    return {"type": "string", "enum": list(labels)}


TEXT: dict[str, Any] = {"type": "string"}


def items_by_id(items: Any, key: str, expected: Sequence[str], what: str) -> dict[str, Mapping[str, Any]]:
    """The items of a reply by their id, checked: each expected id once, and no other."""
    if not isinstance(items, list):
        raise BadReply(f"Expected a list of {what}s.")
    found: dict[str, Mapping[str, Any]] = {}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            raise BadReply(f"Every {what} must be an object with the text field {key!r}.")
        name = item[key].strip().strip("[]")
        if name not in expected:
            raise BadReply(f"There is no {key} {name!r}; the ids are {', '.join(expected)}.")
        if name in found:
            raise BadReply(f"{name!r} is answered twice; give each id once.")
        found[name] = item
    missing = [name for name in expected if name not in found]
    if missing:
        raise BadReply(f"No {what} for {', '.join(missing)}; give one for each of {', '.join(expected)}.")
    return found


def label_of(item: Mapping[str, Any], labels: Sequence[str]) -> str:
    """The label of an item, from the closed set."""
    label = item.get("label")
    if isinstance(label, str):
        tidy = label.strip().lower().replace(" ", "_").replace("-", "_")
        if tidy in labels:
            return tidy
    raise BadReply(f"The label must be one of {', '.join(labels)}, not {label!r}.")


def text_of(item: Mapping[str, Any], key: str) -> str | None:
    """A text field of an item; None when absent or empty."""
    value = item.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise BadReply(f"The field {key!r} must be text.")
    return value.strip() or None


def probability_of(item: Mapping[str, Any], label: str) -> float | None:
    """The probability that the judge gave this label of the item, where it is known."""
    probs = item.get("probs")
    return None if not probs else min(1.0, max(0.0, float(probs.get(label, 0.0))))


def passage_sections(passages: Sequence[str]) -> tuple[Section, ...]:
    """Passages P1, P2, ... as sections, in order."""
    return tuple(Section(f"PASSAGE P{number}", text) for number, text in enumerate(passages, 1))


def question_section(question: str | None) -> tuple[Section, ...]:
    """The user's question as a section, if there is one."""
    return (Section("QUESTION", question),) if question else ()
