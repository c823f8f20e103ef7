"""Which questions go into which request to a decision endpoint.

Inquiries on the same texts share a request. A request holds as many questions as the endpoint and its window take;
only texts that leave no room for a single question are divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.inquiries.base import Inquiry, Prompt, Question, Section
from assay.judges.deciding.wire import PREFACE, Asked, unfit
from assay.judges.fences import tokens_in
from assay.judges.planning import DEEPEST, LEAST_CHARS, Branch, Failed, Leaf, Tree

_FENCE_TOKENS = 30  # two lines with a code, per section
_QUESTION_TOKENS = 30  # names and punctuation, per question


def decides(inquiry: type[Inquiry[Any]]) -> bool:
    """Whether decisions can answer inquiries of this type."""
    return inquiry.questions is not Inquiry.questions


@dataclass(slots=True, eq=False)
class Group:
    """Leaves on the same texts, and the distinct questions that answer them, under names of their own."""

    sections: tuple[Section, ...]
    leaves: list[Leaf] = field(default_factory=list)
    asked: dict[str, Asked] = field(default_factory=dict)
    _names: dict[Any, str] = field(default_factory=dict)

    def add(self, leaf: Leaf) -> None:
        self.leaves.append(leaf)
        for question in leaf.inquiry.questions():
            identity = _identity(question)
            if identity not in self._names:
                name = self._names[identity] = f"q{len(self._names) + 1}"
                self.asked[name] = Asked(name, question)

    def named(self, leaf: Leaf) -> dict[str, str]:
        """The leaf's own names for its questions -> those of this group."""
        return {question.name: self._names[_identity(question)] for question in leaf.inquiry.questions()}


class DecisionPlan:
    """The requests for one batch of inquiries.

    window     tokens of one request
    questions  questions of one request, at most
    """

    def __init__(self, window: int, questions: int) -> None:
        self._window = window
        self._questions = questions

    def tree(self, inquiry: Inquiry[Any]) -> Tree:
        """The inquiry, whole or in parts. A failure (too long, a bug in the inquiry) becomes its answer."""
        try:
            return self._tree(inquiry, 0)
        except JudgeFailure as failure:
            return Failed(failure)
        except Exception as error:  # an inquiry of a user's own may be wrong
            bug = JudgeFailure(Cause.BUG, f"{type(error).__name__}: {error}")
            bug.__cause__ = error
            return Failed(bug)

    def groups(self, trees: Iterable[Tree]) -> list[Group]:
        """The leaves of all trees, by the texts that they are about."""
        alike: dict[tuple[Section, ...], Group] = {}
        for leaf in _leaves(trees):
            sections = leaf.inquiry.sections()
            alike.setdefault(sections, Group(sections)).add(leaf)
        return list(alike.values())

    def requests(self, group: Group) -> list[list[Asked]]:
        """The questions of a group, by request."""
        room = self._window - _reading(group.sections)
        requests: list[list[Asked]] = []
        left = 0
        for one in group.asked.values():
            tokens = _asking(one.question)
            if not requests or len(requests[-1]) >= self._questions or tokens > left:
                requests.append([])
                left = room
            requests[-1].append(one)
            left -= tokens
        return requests

    def _tree(self, inquiry: Inquiry[Any], depth: int) -> Tree:
        questions, sections = inquiry.questions(), inquiry.sections()
        wrong = next(filter(None, map(unfit, questions)), None)
        if wrong is not None:
            raise JudgeFailure(Cause.JUDGE_CANNOT, f"{inquiry.name}: {wrong}; name a judge that writes text")
        longest = max(map(_asking, questions), default=0)
        if _reading(sections) + longest <= self._window:
            return _leaf(inquiry, sections)
        division = None
        if depth < DEEPEST:
            chars = self._chars(sections, longest)
            division = inquiry.fit(chars) if chars >= LEAST_CHARS else inquiry.halve()
        if division is None:
            length = sum(len(section.text) for section in sections)
            message = f"{inquiry.name}: {length} characters do not fit a window of {self._window} tokens"
            raise JudgeFailure(
                Cause.TOO_LONG, f"{message} and must not be cut; raise window_tokens if the model has more"
            )
        if len(division.parts) == 1:  # its own count says that it fits; ours is the more cautious one
            return _leaf(inquiry, sections)
        return Branch(division, [self._tree(part, depth + 1) for part in division.parts])

    def _chars(self, sections: Sequence[Section], longest: int) -> int:
        """Characters of text, of the kind in these sections, that the window holds besides one question."""
        tokens = self._window - longest - _reading([Section(section.title, "") for section in sections])
        # the densest section decides: parts may be made of it alone
        density = max((tokens_in(s.text) / len(s.text) for s in sections if s.text), default=1.0)
        return max(0, int(tokens / max(density, 0.01)))


def tokens_of(sections: Sequence[Section], asked: Sequence[Asked]) -> int:
    """An estimate of what a request takes, for the throttle."""
    return _reading(sections) + sum(_asking(one.question) for one in asked)


def _leaf(inquiry: Inquiry[Any], sections: tuple[Section, ...]) -> Leaf:
    return Leaf(inquiry, Prompt(material=sections, task="", schema={}, output_tokens=0))  # no prompt is ever sent


def _reading(sections: Sequence[Section]) -> int:
    return tokens_in(PREFACE) + sum(tokens_in(section.text) + _FENCE_TOKENS for section in sections)


def _asking(question: Question) -> int:
    labels = sum(tokens_in(label) + tokens_in(text) for label, text in question.labels.items())
    return tokens_in(question.instructions) + labels + _QUESTION_TOKENS


def _identity(question: Question) -> Any:
    """What makes two questions one: votes on a question are, because a probability does not vary."""
    return question.instructions, tuple(question.labels.items()), question.ordered


def _leaves(trees: Iterable[Tree]) -> Iterable[Leaf]:
    for tree in trees:
        if isinstance(tree, Leaf):
            yield tree
        elif isinstance(tree, Branch):
            yield from _leaves(tree.parts)
