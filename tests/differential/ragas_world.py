"""What a judge says of the samples of `worlds` where ragas asks for more than verdicts. Only the standard library."""

from __future__ import annotations

from worlds import FACTS, SUBJECTS, Case, cases, pick, share, supports

#: Of the words of a world, those that name something.
NAMES = (*(subject.removeprefix("the ") for subject in SUBJECTS), "1931", "1974", "brick", "green", "noon", "88 metres")
ASPECTS = ("harmfulness", "maliciousness", "coherence", "correctness", "conciseness")
#: A rubric of a sample's own, as its data has it; the levels need not begin at 1.
RUBRIC = {"score0_description": "none of it", "score2_description": "some of it", "score4_description": "all of it"}


def all_cases() -> list[Case]:
    """The cases of `worlds`, and two by which ragas decides without a judge, or might."""
    found = cases()
    one = found[0]
    return [
        *found,
        Case("context-in-question", f"Is it true that {one.contexts[0]}?", one.contexts[:1], one.said, one.known),
        Case("answer-in-context", one.question, (f"It says: {one.answer} So it is.",), one.said, one.known),
    ]


def statements(case: Case, text: str) -> tuple[str, ...]:
    """The statements of the answer or of the reference."""
    return {case.reference: case.known, case.answer: case.said}[text]


def classes(case: Case, said: list[str], known: list[str]) -> dict[str, list[dict[str, str]]]:
    """The statements of the answer that the reference supports, those that it does not, and what the answer lacks."""
    right = [supports(one, case.reference) for one in said]
    found = {
        "TP": [one for one, yes in zip(said, right, strict=True) if yes],
        "FP": [one for one, yes in zip(said, right, strict=True) if not yes],
        "FN": [one for one in known if not supports(one, case.answer)],
    }
    return {name: [{"statement": one, "reason": "-"} for one in some] for name, some in found.items()}


def entities(text: str) -> list[str]:
    """The names that stand in a text."""
    return [name for name in NAMES if name in text]


def back_question(case: Case, number: int) -> tuple[str, bool]:
    """The question that a judge writes to the answer in its reply `number`, from 1, and its noncommittal flag."""
    subject, fact = pick(SUBJECTS, "subject", case.id, str(number)), pick(FACTS, "fact", case.id, str(number))
    flagged = not case.said or share("flag", case.id, str(number)) < 0.2
    return f"What {fact}, if not {subject}?", flagged


def rating(metric: str, case: Case, number: int, levels: tuple[int, ...]) -> int | None:
    """The level that judge `number`, from 1, gives; None where it gives none that is allowed."""
    if share("fails", metric, case.id) < 0.1 and number == 2:
        return None
    if share("fails", metric, case.id) < 0.03:
        return None
    return level(metric, case, levels, number)


def level(metric: str, case: Case, levels: tuple[int, ...], number: int = 1) -> int:
    """The level that reply `number`, from 1, gives."""
    return int(pick(tuple(map(str, levels)), metric, case.id, str(number)))


def key_questions(text: str) -> list[str]:
    """Yes/no questions on a text: as many as it has facts, at most five."""
    return [f"Is it said that something {fact}?" for fact in FACTS if fact in text][:5]


def answered(case: Case, question: str) -> bool:
    """Whether the summary says yes to a key question."""
    return share("answered", case.id, question) < 0.6


def holds(name: str, case: Case, vote: int = 0) -> bool:
    """Whether an answer has a property."""
    return share("holds", name, case.id, str(vote)) < 0.5


def probability(claim: str, contexts: str) -> float:
    """The probability that a claim is supported, 0.5 among them; nothing supports it where there is no text."""
    return 0.0 if not contexts.strip() else round(share("probability", claim, contexts) * 10) / 10


def extraction(case: Case, number: int) -> list[str]:
    """The sentences that a judge extracts from the contexts in reply `number`, from 1; some stand nowhere."""
    own = [part.rstrip(".") + "." for text in case.contexts for part in text.split(". ") if part]
    picked = [sentence for sentence in own if share("needed", case.question, sentence, str(number)) < 0.5]
    strange = share("strange", case.id, str(number)) < 0.2
    return [*dict.fromkeys(picked), *(["Nobody knows this."] if strange else [])]


def means(case: Case) -> dict[str, float]:
    """The means of three metrics; the first is 0 in one of ten."""
    found = {name: share("mean", name, case.id) for name in ("answer_relevancy", "context_relevancy", "faithfulness")}
    return {**found, "answer_relevancy": 0.0} if share("zero", case.id) < 0.1 else found
