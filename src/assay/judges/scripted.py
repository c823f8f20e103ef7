"""A judge that follows a script: for users' tests, and for assay's own. No model, no network, no key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.errors import Cause, InputError, JudgeFailure
from assay.inquiries import (
    BackQuestions,
    BackQuestionsFinding,
    Claims,
    Criterion,
    Directness,
    Entities,
    Inquiry,
    KeyQuestions,
    Rated,
    Rating,
    Similarity,
    Support,
    Usefulness,
)
from assay.inquiries.support import strongest
from assay.judges.base import Answer, BaseJudge
from assay.records import Cell, Claim, Evidence, Span, Usage, Verdict
from assay.text import locate, split_sentences

Rule = Callable[..., Any] | Mapping[Any, Any]


class ScriptedJudge(BaseJudge):
    """Answers each inquiry by a rule: a function, or a mapping with the same arguments as key.

    claims(text) -> list of claim texts (default: the sentences)
    support(claim, passage) -> "supported" / "contradicted" / "not_mentioned", or a quote of the passage that supports
    usefulness(question, passage) -> bool
    directness(question, answer) -> bool
    back_questions(text) -> list of questions; None for a noncommittal text
    entities(passage) -> list of names that stand in the passage
    criterion(question, vote) -> bool
    rating(question) -> level
    key_questions(text) -> list of questions
    similarity(text, other) -> cosine in [-1, 1]

    A mapping may leave cases out: `support` and `usefulness` then say no, everything else is a failure that names
    the missing case. A rule that returns or raises a JudgeFailure makes that inquiry fail. `asked` counts the
    inquiries answered, by name.
    """

    durable = False
    budgeted = True  # it costs nothing

    def __init__(
        self,
        *,
        claims: Rule | None = None,
        support: Rule | None = None,
        usefulness: Rule | None = None,
        directness: Rule | None = None,
        back_questions: Rule | None = None,
        entities: Rule | None = None,
        criterion: Rule | None = None,
        rating: Rule | None = None,
        key_questions: Rule | None = None,
        similarity: Rule | None = None,
        name: str = "scripted",
    ) -> None:
        self._name = name
        self._rules: dict[str, Rule | None] = {
            "claims": claims,
            "support": support,
            "usefulness": usefulness,
            "directness": directness,
            "back_questions": back_questions,
            "entities": entities,
            "criterion": criterion,
            "rating": rating,
            "key_questions": key_questions,
            "similarity": similarity,
        }
        self.asked: Counter[str] = Counter()

    @property
    def fingerprint(self) -> str:
        return self._name

    def cannot(self, inquiry: type[Inquiry[Any]], language: str = "en") -> JudgeFailure | None:
        if self.has_rule(inquiry.name) or inquiry is Claims:
            return None
        message = f"this scripted judge has no rule for {inquiry.name}; pass {inquiry.name}=... to ScriptedJudge"
        return JudgeFailure(Cause.JUDGE_CANNOT, message)

    def groups(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Sequence[Inquiry[Any]]]:
        return [[inquiry] for inquiry in inquiries]

    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        return [self._one(inquiry) for inquiry in inquiries]

    def _one(self, inquiry: Inquiry[Any]) -> Answer:
        self.asked[inquiry.name] += 1
        read = _READERS.get(type(inquiry))
        try:
            if read is None:
                raise InputError(f"ScriptedJudge does not know the inquiry {inquiry.name!r}")
            return Answer(finding=read(self, inquiry), usage=Usage(calls=1))
        except JudgeFailure as failure:
            return Answer(failure=failure, usage=Usage(calls=1))

    def has_rule(self, name: str) -> bool:
        """Whether the script says anything about this inquiry."""
        return self._rules.get(name) is not None

    def rule(self, name: str, *args: Any, default: Any = None) -> Any:
        """What the script says for these arguments."""
        rule = self._rules[name]
        if rule is None:
            raise JudgeFailure(Cause.JUDGE_CANNOT, f"this scripted judge has no rule for {name}")
        if callable(rule):
            result = rule(*args)
        else:
            key = args if len(args) > 1 else args[0]
            result = rule.get(key, default)
            if result is None and key not in rule:
                raise JudgeFailure(Cause.JUDGE_CANNOT, f"the script's {name} has no entry for {key!r}")
        if isinstance(result, JudgeFailure):
            raise result
        return result


def _claims(judge: ScriptedJudge, inquiry: Claims) -> tuple[Claim, ...]:
    spans = split_sentences(inquiry.text, inquiry.language) or (Span(0, len(inquiry.text)),)
    if not judge.has_rule("claims"):
        return tuple(Claim(text=span.of(inquiry.text), span=span) for span in spans)
    claims = []
    for text in judge.rule("claims", inquiry.text):
        # the sentence that holds the claim word for word, else the whole text
        span = next((s for s in spans if text in s.of(inquiry.text)), Span(spans[0].start, spans[-1].end))
        claims.append(Claim(text=text, span=span))
    return tuple(claims)


def _support(judge: ScriptedJudge, inquiry: Support) -> tuple[Verdict, ...]:
    verdicts = []
    for claim in inquiry.claims:
        cells, evidence = [], []
        for index, passage in enumerate(inquiry.passages):
            says = judge.rule("support", claim.text, passage, default="not_mentioned")
            if says not in ("supported", "contradicted", "not_mentioned"):
                span = locate(says, passage)
                if span is None:
                    raise InputError(f"support rule: {says!r} is neither a label nor a quote of {passage!r}")
                evidence.append(Evidence(passage=index, span=span, text=span.of(passage)))
                says = "supported"
            cells.append(Cell(label=says))
        verdicts.append(
            Verdict(
                label=strongest([cell.label for cell in cells]),
                claim=claim,
                cells=tuple(cells),
                evidence=tuple(evidence),
            )
        )
    return tuple(verdicts)


def _usefulness(judge: ScriptedJudge, inquiry: Usefulness) -> tuple[Verdict, ...]:
    says = [judge.rule("usefulness", inquiry.question, passage, default=False) for passage in inquiry.passages]
    return tuple(Verdict(label="useful" if yes else "not_useful", passage=n) for n, yes in enumerate(says))


def _directness(judge: ScriptedJudge, inquiry: Directness) -> Verdict:
    return Verdict(label="direct" if judge.rule("directness", inquiry.question, inquiry.answer) else "indirect")


def _back_questions(judge: ScriptedJudge, inquiry: BackQuestions) -> BackQuestionsFinding:
    questions = judge.rule("back_questions", inquiry.text)
    return BackQuestionsFinding(questions=tuple(questions or ()), noncommittal=questions is None)


def _entities(judge: ScriptedJudge, inquiry: Entities) -> tuple[Evidence, ...]:
    found = []
    for index, passage in enumerate(inquiry.passages):
        for name in judge.rule("entities", passage):
            span = locate(name, passage)
            if span is not None:
                found.append(Evidence(passage=index, span=span, text=span.of(passage)))
    return tuple(found)


def _criterion(judge: ScriptedJudge, inquiry: Criterion) -> Verdict:
    return Verdict(label="yes" if judge.rule("criterion", inquiry.question, inquiry.vote) else "no")


def _rating(judge: ScriptedJudge, inquiry: Rating) -> Rated:
    return Rated(level=int(judge.rule("rating", inquiry.question)))


def _key_questions(judge: ScriptedJudge, inquiry: KeyQuestions) -> tuple[str, ...]:
    return tuple(judge.rule("key_questions", inquiry.text))


def _similarity(judge: ScriptedJudge, inquiry: Similarity) -> tuple[float, ...]:
    return tuple(float(judge.rule("similarity", inquiry.text, other)) for other in inquiry.others)


_READERS: dict[type[Inquiry[Any]], Callable[[ScriptedJudge, Any], Any]] = {
    Claims: _claims,
    Support: _support,
    Usefulness: _usefulness,
    Directness: _directness,
    BackQuestions: _back_questions,
    Entities: _entities,
    Criterion: _criterion,
    Rating: _rating,
    KeyQuestions: _key_questions,
    Similarity: _similarity,
}
