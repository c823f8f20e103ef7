"""Cutting and merging: which inquiries go into which call, so that each call fits what the model reads and writes.

An inquiry that is too large becomes a tree of parts; the leaves of all trees that may share a call are packed together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.inquiries.base import Division, Inquiry, Prompt
from assay.inquiries.claims import Claims
from assay.inquiries.support import Support
from assay.judges.base import Answer
from assay.judges.fences import SYSTEM, schema_text, tokens_in
from assay.records import Usage

#: Items (claims to check, questions to answer) in one call: beyond this, models lose count.
MOST_ITEMS = 40

#: Texts split into claims in one call.
MOST_TEXTS = 4

#: Times that one inquiry is divided, at most; an inquiry whose parts do not get smaller would never end.
DEEPEST = 12

#: Judged text in one call, at least: less is too little to judge by.
LEAST_CHARS = 200

_FENCE_TOKENS = 30  # two lines with a code, per section
_REPLY_SLACK = 300  # tokens of a reply that the inquiry's own estimate may miss


@dataclass(slots=True, eq=False)
class Leaf:
    """An inquiry that is asked as it is."""

    inquiry: Inquiry[Any]
    prompt: Prompt
    answer: Answer = field(default_factory=Answer)

    def joined(self) -> Answer:
        return self.answer


@dataclass(frozen=True, slots=True)
class Group:
    """Leaves that are asked in one call, and its prompt."""

    leaves: Sequence[Leaf]
    prompt: Prompt


@dataclass(slots=True, eq=False)
class Failed:
    """An inquiry that cannot be asked."""

    failure: JudgeFailure

    def joined(self) -> Answer:
        return Answer(failure=self.failure)


@dataclass(slots=True, eq=False)
class Branch:
    """An inquiry that is asked in parts."""

    division: Division[Any]
    parts: Sequence[Tree]

    def joined(self) -> Answer:
        return joined(self.division, [part.joined() for part in self.parts])


def joined(division: Division[Any], answers: Sequence[Answer]) -> Answer:
    """The answer on the whole from those on its parts: the first failure, or the findings joined; the cost of all."""
    usage = sum((answer.usage for answer in answers), Usage())
    for answer in answers:
        if answer.failure is not None:
            return Answer(failure=answer.failure, usage=usage)
    try:
        return Answer(finding=division.join([answer.finding for answer in answers]), usage=usage)
    except Exception as error:  # an inquiry of a user's own may be wrong; that is one failure, not the batch's
        return Answer(failure=_bug(error), usage=usage)


Tree = Leaf | Branch | Failed


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model reads and writes together, and what it writes at most, in tokens."""

    window: int
    output: int | None = None

    def reply(self, prompt: Prompt) -> int:
        """Tokens to keep free for the reply."""
        return min(prompt.output_tokens, self.output or prompt.output_tokens) + _REPLY_SLACK

    def longest_reply(self) -> int:
        """A reply may take half of the window; the rest is for reading."""
        half = max(1, self.window // 2 - _REPLY_SLACK)
        return min(half, self.output or half)

    def reading(self, prompt: Prompt) -> int:
        """Tokens of everything but the judged text."""
        fixed = tokens_in(SYSTEM) + tokens_in(prompt.task) + tokens_in(schema_text(prompt.schema))
        return fixed + _FENCE_TOKENS * (len(prompt.material) + 1)

    def fits(self, prompt: Prompt) -> bool:
        """Whether the window holds the prompt and its reply."""
        material = sum(tokens_in(section.text) for section in prompt.material)
        return material + self.reading(prompt) + self.reply(prompt) <= self.window

    def chars(self, prompt: Prompt) -> int:
        """Characters of judged text, of the kind in this prompt, that the window holds."""
        tokens = self.window - self.reading(prompt) - self.reply(prompt)
        # the densest section decides: parts may be made of it alone
        density = max((tokens_in(s.text) / len(s.text) for s in prompt.material if s.text), default=1.0)
        return max(0, int(tokens / max(density, 0.01)))


class Plan:
    """The calls for one batch of inquiries."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._leaves: list[Leaf] = []

    def add(self, inquiry: Inquiry[Any]) -> Tree:
        """Take in an inquiry, whole or in parts. A failure (too long, a bug in the inquiry) becomes its answer."""
        try:
            return self._tree(inquiry, 0)
        except JudgeFailure as failure:
            return Failed(failure)
        except Exception as error:  # an inquiry of a user's own may be wrong
            return Failed(_bug(error))

    def groups(self) -> list[Group]:
        """The leaves, by call."""
        alike: dict[tuple[Hashable, ...], list[Leaf]] = {}
        for number, leaf in enumerate(self._leaves):
            key = leaf.inquiry.merge_key()
            alike.setdefault((type(leaf.inquiry), number if key is None else ("key", key)), []).append(leaf)
        return [group for leaves in alike.values() for group in self._pack(leaves)]

    def _tree(self, inquiry: Inquiry[Any], depth: int) -> Tree:
        prompt = type(inquiry).prompt([inquiry])
        if items(inquiry) > MOST_ITEMS or prompt.output_tokens > self._limits.longest_reply():
            halves = inquiry.halve() if depth < DEEPEST else None
            if halves is not None:
                return self._branch(halves, depth)
        if self._limits.fits(prompt):
            return self._leaf(inquiry, prompt)
        chars = self._limits.chars(prompt)
        division = None
        if depth < DEEPEST:  # hardly any room: it is the claims or the reply that must get shorter
            division = inquiry.fit(chars) if chars >= LEAST_CHARS else inquiry.halve()
        if division is None:
            length = sum(len(section.text) for section in prompt.material)
            message = f"{inquiry.name}: {length} characters do not fit a window of {self._limits.window} tokens"
            raise JudgeFailure(
                Cause.TOO_LONG, f"{message} and must not be cut; raise window_tokens if the model has more"
            )
        if len(division.parts) == 1:  # its own count says that it fits; ours is the more cautious one
            return self._leaf(inquiry, prompt)
        return self._branch(division, depth)

    def _branch(self, division: Division[Any], depth: int) -> Branch:
        return Branch(division, [self._tree(part, depth + 1) for part in division.parts])

    def _leaf(self, inquiry: Inquiry[Any], prompt: Prompt) -> Leaf:
        leaf = Leaf(inquiry, prompt)
        self._leaves.append(leaf)
        return leaf

    def _pack(self, leaves: Sequence[Leaf]) -> list[Group]:
        if (whole := self._together(leaves)) is not None:
            return [whole]
        groups: list[Group] = []
        for leaf in leaves:
            wider = self._together([*groups[-1].leaves, leaf]) if groups else None
            if wider is None:
                groups.append(Group([leaf], leaf.prompt))
            else:
                groups[-1] = wider
        return groups

    def _together(self, leaves: Sequence[Leaf]) -> Group | None:
        """These leaves in one call, if it holds them."""
        if len(leaves) == 1:
            return Group(leaves, leaves[0].prompt)
        most = MOST_TEXTS if isinstance(leaves[0].inquiry, Claims) else MOST_ITEMS
        if sum(items(leaf.inquiry) for leaf in leaves) > most:
            return None
        prompt = type(leaves[0].inquiry).prompt([leaf.inquiry for leaf in leaves])
        if prompt.output_tokens > self._limits.longest_reply() or not self._limits.fits(prompt):
            return None
        return Group(leaves, prompt)


def items(inquiry: Inquiry[Any]) -> int:
    """How many answers an inquiry takes."""
    return len(inquiry.claims) if isinstance(inquiry, Support) else 1


def _bug(error: Exception) -> JudgeFailure:
    failure = JudgeFailure(Cause.BUG, f"{type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
