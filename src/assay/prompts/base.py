"""What every prompt has: what is asked, the schema of the answer, and a reader that turns a reply into a judgement.

A prompt is a frozen record, and equal prompts have equal keys: that is how metrics share judgements. A new one is a
subclass with `name`, `judgement`, `prompt` and `read`; every judge that writes can answer it at once. What else a judge
wants to know of it (its items, its labels, how it is divided, how a script answers) it says itself, in the methods
below: no judge has a list of prompts.
"""

from __future__ import annotations

import hashlib
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from assay.errors import InputError
from assay.records import Cell, Verdict, type_adapter
from assay.records.images import Image
from assay.records.migration import ADDRESSED_CLASSES, ADDRESSED_NAMES
from assay.text.languages import ENGLISH, code_of, is_code

if TYPE_CHECKING:
    from pydantic import TypeAdapter

F = TypeVar("F")

#: Items (claims to check, questions to answer) of one request: beyond this, models lose count.
MOST_ITEMS = 40


@dataclass(frozen=True, slots=True)
class PromptSection:
    """One piece of judged text, and a picture that belongs to it. It is data: judges never follow what it says."""

    title: str
    text: str
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class PromptContent:
    """What a judge is asked.

    `material` comes first and in the same order for all prompts on a sample (passages, question, then the rest), so
    that prefix caches serve: the first `shared` sections are the same for all readings of the same passages. `task`
    comes last, and holds no judged text. `schema` is the JSON schema of the whole reply, with the reason before the
    label. Where several prompts share a schema, `needed` are the keys that a reply to this one must have and `labels`
    those that it may give, () for all of the schema.
    `output_tokens` estimates the length of a full reply. `vote` is 0 for the judge's one best reply; votes 1, 2, ...
    are independent samples.
    """

    material: tuple[PromptSection, ...]
    task: str
    schema: Mapping[str, Any]
    output_tokens: int
    vote: int = 0
    shared: int = 0
    needed: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The keys that a reply must have."""
        return self.needed or tuple(self.schema.get("required", ()))

    @property
    def pictures(self) -> bool:
        """Whether there are pictures in the material."""
        return any(section.image is not None for section in self.material)


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """One decision: `name` is unique in its prompt, `labels` the closed set of answers with what each means.

    Of two labels the first is the affirmative one. `ordered`: the labels are the levels of a scale, lowest first.
    `instructions` name the sections that they speak of and hold no judged text.
    """

    name: str
    instructions: str
    labels: Mapping[str, str]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Division(Generic[F]):
    """A prompt in parts, and how their judgements, in order, make up the judgement on the whole."""

    parts: tuple[JudgePrompt[F], ...]
    join: Callable[[Sequence[F]], F]


#: A rule of a script, looked up by the prompt's name: called with what the prompt is about.
Rule = Callable[..., Any]


@dataclass(frozen=True)
class JudgePrompt(ABC, Generic[F]):
    """One typed question to a judge; `F` is the type of its judgement.

    Attributes:
        name: Under which judgements are stored, and scripts have rules.
        version: Of the reader: raise it when replies are read differently. What is asked is hashed as it is asked.
        judgement: The type of a judgement, for pydantic.
        divisible: True where verdicts can be asked for one by one: then `verdicts`, `part` and `with_part` are there.
        most_items: Items of one request, at most.
        rule_name: The rule of a script that answers it; its name where that is empty.
        rule_default: What a script's mapping says of a case that it leaves out; None: it must not leave any out.
        instructions: What the user of a judge tells it besides (see `assay.judges.instructions`); a part of the prompt.
        images: Pictures of sections of the prompt, by their titles; only judges that see are asked such a prompt.
    """

    name: ClassVar[str]
    version: ClassVar[str] = "1"
    judgement: ClassVar[Any]
    divisible: ClassVar[bool] = False
    most_items: ClassVar[int] = MOST_ITEMS
    rule_name: ClassVar[str] = ""
    rule_default: ClassVar[Any] = None

    instructions: str = field(default="", kw_only=True, repr=False)
    # in no address but those of prompts that have pictures
    images: tuple[tuple[str, Image], ...] = field(default=(), kw_only=True, repr=False)

    # ---- asked in writing

    def content(self) -> PromptContent | None:
        """What a judge that writes is asked, and the texts that a judge that decides reads; None: neither can."""
        return None

    def read(self, reply: Mapping[str, Any]) -> F:
        """The judgement in a reply.

        Every object with a `label` may carry `probs`, the probability of each label, where the endpoint gives them, and
        every object with a `quote` the mark of `consistency.mark_quotes`.
        Raises InvalidReply, in words that the judge can act on, when the reply does not answer what was asked.
        """
        raise TypeError(f"{type(self).__name__} cannot be answered in writing")

    @cached_property
    def full_content(self) -> PromptContent | None:
        """`prompt`, made once; a judge is told a language that is not English, and what its user says besides."""
        content = self._with_images(self.content())
        if content is None:
            return None
        task = content.task
        language = code_of(getattr(self, "language", None) or ENGLISH)
        if language != ENGLISH and is_code(language):
            task = f"The texts are in the language {language!r} (ISO 639).\n\n{task}"
        return replace(content, task=f"{task}\n\n{self.instructions}" if self.instructions else task)

    def _with_images(self, content: PromptContent | None) -> PromptContent | None:
        if content is None or not self.images:
            return content
        left = dict(self.images)
        material = tuple(replace(section, image=left.pop(section.title, None)) for section in content.material)
        if left:
            raise InputError(f"{self.name}: images: there is no section {next(iter(left))!r}")
        return replace(content, material=material)

    def with_notes(self, notes: Mapping[str, str]) -> Self:
        """This prompt with what the user of a judge says of its kind, by the names of prompts."""
        note = notes.get(self.name)
        return self if note is None or self.instructions == note else replace(self, instructions=note)

    # ---- asked as decisions

    def questions(self) -> tuple[LabelQuestion, ...]:
        """The decisions that answer this prompt, on its material; () when none do."""
        return ()

    @cached_property
    def decisions(self) -> tuple[LabelQuestion, ...]:
        """`questions`, made once, each with what the judge's user says besides."""
        if not self.instructions:
            return self.questions()
        return tuple(
            replace(question, instructions=f"{question.instructions}\n\n{self.instructions}")
            for question in self.questions()
        )

    def from_decisions(self, answers: Mapping[str, Mapping[str, float]]) -> F:
        """The judgement from the probability of each label, by question name."""
        raise TypeError(f"{type(self).__name__} cannot be answered by decisions")

    # ---- its items, its labels, and how it is divided

    def items(self) -> int:
        """How many answers it takes."""
        return 1

    @property
    def too_many(self) -> bool:
        """Whether it asks for more than one request should."""
        return self.items() > self.most_items

    def labels(self) -> tuple[str, ...]:
        """The closed set of labels of its verdicts, the affirmative one first; () where it has none."""
        return ()

    def verdicts(self, judgement: F) -> tuple[Verdict, ...]:
        """The verdicts of a judgement, in order."""
        return ()

    def part(self, numbers: Sequence[int]) -> JudgePrompt[F]:
        """This prompt for these of its verdicts alone."""
        return self

    def with_part(self, judgement: F, numbers: Sequence[int], of_part: F) -> F:
        """The judgement with the verdicts of the judgement on `part(numbers)` in their places."""
        return of_part

    def fit(self, chars: int) -> Division[F] | None:
        """This prompt in parts whose judged text is at most `chars` long; None when it must not be divided."""
        return None

    def halve(self) -> Division[F] | None:
        """This prompt in parts with shorter replies; None when it cannot get smaller."""
        return None

    # ---- its judgement

    def check(self, judgement: F) -> str | None:
        """Why a judgement does not answer this prompt; None when it does. Its type has been checked.

        A judge's own mistake is caught here, once for all: a label that is in no closed set must not become a number.
        """
        allowed = self.labels()
        for verdict in self.verdicts(judgement) if allowed else ():
            said: tuple[Verdict | Cell, ...] = (verdict, *verdict.cells)
            wrong = next((wrong for one in said if (wrong := _wrong(one, allowed)) is not None), None)
            if wrong is not None:
                return wrong
        return None

    def apply_rule(self, rule: Rule) -> F:
        """The judgement that a script's rule for this prompt makes. See `ScriptedJudge` for the arguments of rules."""
        raise TypeError(f"{type(self).__name__} does not say how a script answers it")

    def without_rule(self) -> F:
        """The judgement of a script that has no rule for this prompt."""
        raise TypeError(f"{type(self).__name__} needs a rule")

    # ---- its address, and its judgement as JSON

    def key(self, judge: str) -> str:
        """Content address of the judgement by the judge with this address: a hash of all that is asked, and of whom."""
        content = self.full_content
        parts = [ADDRESSED_NAMES.get(self.name, self.name), self.version, judge, self._content()]
        if content is not None:
            parts += [text for section in content.material for text in (section.title, section.text)]
            parts += [content.task, repr(content.schema), str(content.vote)]
            parts += [f"{s.title}: {s.image.digest}" for s in content.material if s.image is not None]
        # every part with its length: no two lists of parts make one text
        blob = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()

    def _content(self) -> str:
        """All fields, with the name that the class had when the first judgements on it were kept."""
        name, text = type(self).__qualname__, repr(self)
        former = ADDRESSED_CLASSES.get(name)
        return former + text.removeprefix(name) if former is not None and text.startswith(f"{name}(") else text

    @classmethod
    def validate(cls, judgement: Any) -> F:
        """The judgement as its type. Raises pydantic's ValidationError where it is none."""
        valid: F = _judgement_adapter(cls).validate_python(judgement)
        return valid

    @classmethod
    def dump(cls, judgement: F) -> bytes:
        """The judgement as JSON."""
        return bytes(_judgement_adapter(cls).dump_json(judgement))

    @classmethod
    def load(cls, blob: bytes | str) -> F:
        """The judgement that `dump` wrote."""
        judgement: F = _judgement_adapter(cls).validate_json(blob)
        return judgement


@lru_cache(maxsize=64)
def _judgement_adapter(cls: type[JudgePrompt[Any]]) -> TypeAdapter[Any]:
    return type_adapter(cls.judgement)


def _wrong(said: Verdict | Cell, allowed: Sequence[str]) -> str | None:
    if said.label not in allowed:
        return f"the label {said.label!r} is none of {', '.join(allowed)}"
    if said.probability is not None and not 0.0 <= said.probability <= 1.0:
        return f"the probability {said.probability!r} is not in [0, 1]"
    return None


def whole(prompt: JudgePrompt[F]) -> Division[F]:
    """The division into one part."""
    return Division((prompt,), lambda judgements: judgements[0])
