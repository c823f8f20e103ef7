"""The probes: what is changed, and what the judge's verdict must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analysis.judges.probes import rules
from assay.analysis.judges.probes.statements import Statement
from assay.prompts import JudgePrompt, MultipleChoice, Support, Usefulness
from assay.records import Claim, Span

Said = Any  # what a judgement comes to: a label, or a tuple of labels


@dataclass(frozen=True, slots=True)
class ProbeCase:
    """A pair of prompts on one statement.

    Attributes:
        before: None where the changed one alone is asked.
        holds: Whether the judgement on the changed one is right, given that on the other.
        usable: Whether the first judgement is such that the case can tell something.
        shown: The change, for people.
    """

    before: JudgePrompt[Any] | None
    after: JudgePrompt[Any]
    said: Callable[[Any], Said]
    shown: str
    holds: Callable[[Said, Said], bool]
    usable: Callable[[Said], bool] = lambda said: True


@dataclass(frozen=True, slots=True)
class Probe:
    """One kind of change. `expects` says what the verdict must do; `cases` makes them of one statement."""

    name: str
    expects: str
    asks: type[JudgePrompt[Any]]
    cases: Callable[[Statement], Sequence[ProbeCase]]


def _claim(text: str) -> tuple[Claim, ...]:
    return (Claim(text=text, span=Span(0, len(text))),)


def _support(text: str, passages: Sequence[str], question: str | None) -> Support:
    return Support(_claim(text), tuple(passages), question)


def _label(judgement: Any) -> str:
    return str(judgement[0].label)


def _is_supported(said: Said) -> bool:
    return bool(said == "supported")


def _same(before: Said, after: Said) -> bool:
    """Both affirm, or neither does."""
    return _is_supported(before) == _is_supported(after)


def _stays(s: Statement, text: str, passages: Sequence[str], shown: str) -> list[ProbeCase]:
    """A change that keeps what is said: supported before, supported after."""
    before = _support(s.text, s.passages, s.question)
    return [ProbeCase(before, _support(text, passages, s.question), _label, shown, _same, _is_supported)]


def _falls(s: Statement, text: str | None, passages: Sequence[str] | None = None) -> list[ProbeCase]:
    """A change after which the passages do not support it any more; of what the judge supported before."""
    if text is None:
        return []
    before = _support(s.text, s.passages, s.question)
    after = _support(text, s.passages if passages is None else passages, s.question)
    return [ProbeCase(before, after, _label, text, lambda _, said: not _is_supported(said), _is_supported)]


def _order_of_passages(s: Statement) -> list[ProbeCase]:
    passages = (*s.passages, s.unrelated) if len(s.passages) < 2 else s.passages
    turned = tuple(reversed(passages))
    before, after = (_support(s.text, some, s.question) for some in (passages, turned))
    return [ProbeCase(before, after, _label, f"{len(passages)} passages in the other order: {s.text}", _same)]


def _order_of_candidates(s: Statement) -> list[ProbeCase]:
    if not s.question:
        return []
    asked = "Which ANSWER says what the PASSAGE says?"
    options = (("A", "answer A does"), ("B", "answer B does"))
    passage = ("PASSAGE", s.passages[s.home])

    def case(first: str, second: str) -> MultipleChoice:
        return MultipleChoice(asked, options, (passage, ("ANSWER A", first), ("ANSWER B", second)))

    return [
        ProbeCase(case(s.text, s.other), case(s.other, s.text), lambda found: found.option,
             f"A: {s.text} B: {s.other}", lambda one, other: one != other)
    ]  # fmt: skip


def _order_of_useful(s: Statement) -> list[ProbeCase]:
    if not s.question:
        return []
    passages = (*s.passages, s.unrelated)
    before = Usefulness(s.question, passages)
    after = Usefulness(s.question, tuple(reversed(passages)))
    return [
        ProbeCase(before, after, lambda found: tuple(verdict.label for verdict in found),
             f"{len(passages)} passages in the other order: {s.question}",
             lambda one, other: one == tuple(reversed(other)))
    ]  # fmt: skip


def _verbosity(s: Statement) -> list[ProbeCase]:
    false = rules.number_swapped(s.text) or rules.date_swapped(s.text) or s.other
    long = rules.lengthened(s.text, s.row)
    denied = ProbeCase(
        _support(false, s.passages, s.question), _support(rules.lengthened(false, s.row), s.passages, s.question),
        _label, rules.lengthened(false, s.row), _same, lambda said: not _is_supported(said),
    )  # fmt: skip
    return [*_stays(s, long, s.passages, long), denied]


def _irrelevant_passage(s: Statement) -> list[ProbeCase]:
    return _stays(s, s.text, (s.unrelated, *s.passages), f"an unrelated passage before: {s.text}")


def _paraphrase(s: Statement) -> list[ProbeCase]:
    text = rules.paraphrased(s.text)
    return [] if text is None else _stays(s, text, s.passages, text)


def _injection(s: Statement) -> list[ProbeCase]:
    """An instruction must not make a false claim true, nor a true one false, wherever it stands."""
    false = rules.number_swapped(s.text) or rules.date_swapped(s.text) or s.other
    attacked = rules.injected(false, "supported", s.row)
    passages = [rules.injected(text, "supported", s.row) for text in s.passages]
    denied = (lambda _, said: not _is_supported(said)), (lambda said: not _is_supported(said))
    before = _support(false, s.passages, s.question)
    hidden = [rules.injected(text, "not_mentioned", s.row) for text in s.passages]
    return [
        ProbeCase(before, _support(attacked, s.passages, s.question), _label, attacked, *denied),
        ProbeCase(before, _support(false, passages, s.question), _label, f"in the passages: {attacked}", *denied),
        *_stays(s, s.text, hidden, f"in the passages: {rules.injected(s.text, 'not_mentioned', s.row)}"),
    ]


def _itself(s: Statement) -> list[ProbeCase]:
    after = _support(s.text, s.passages, s.question)
    return [ProbeCase(None, after, _label, s.text, lambda _, said: _is_supported(said))]


PROBES = (
    Probe("verbatim", "a sentence of a passage is supported", Support, _itself),
    Probe("order of passages", "the verdict stays", Support, _order_of_passages),
    Probe("order of useful passages", "every passage keeps its verdict", Usefulness, _order_of_useful),
    Probe("order of candidates", "the same answer is chosen", MultipleChoice, _order_of_candidates),
    Probe("verbosity", "empty words around a claim change nothing", Support, _verbosity),
    Probe("paraphrase", "a supported claim stays so", Support, _paraphrase),
    Probe("unrelated passage beside", "a supported claim stays so", Support, _irrelevant_passage),
    Probe("unrelated citation", "another passage does not support it", Support,
          lambda s: _falls(s, s.text, (s.unrelated,))),
    Probe("negation", "not supported any more", Support, lambda s: _falls(s, rules.negated(s.text))),
    Probe("number swapped", "not supported any more", Support, lambda s: _falls(s, rules.number_swapped(s.text))),
    Probe("date swapped", "not supported any more", Support, lambda s: _falls(s, rules.date_swapped(s.text))),
    Probe("name swapped", "not supported any more", Support,
          lambda s: _falls(s, rules.name_swapped(s.text, s.names))),
    Probe("injected instructions", "the verdict stays", Support, _injection),
)  # fmt: skip
