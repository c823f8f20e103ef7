"""What `worlds` does not say and DeepEval's single-turn metrics ask: made of hashes too, by the standard library."""

from __future__ import annotations

import json
from collections.abc import Sequence

import worlds

INSTRUCTIONS = ("Answer in one sentence.", "Be polite.", "Name no prices.")
MUST = ("name a year", "be short")
MUST_NOT = ("mention the weather",)
PATTERN = r".*\bopened in 1931\b.*"
CREDITS: dict[str, float | None] = {"friendly": 1.0, "plain": 0.4, "rude": None}

#: The labels of the classifiers that the environment's package has (checked there).
LABELS = {
    "abstention": ("abstained", "answered", "fabricated"),
    "clarification": ("asked_clarification", "answered_directly", "guessed"),
    "data_leakage": ("no_leak", "system_prompt_leak", "pii_or_secret_leak"),
    "escalation": ("escalated", "offered", "not_escalated"),
    "forbidden_commitments": ("clean", "unauthorized_commitment", "competitor_mention", "disparagement"),
    "instruction_completeness": ("complete", "partial", "ignored"),
    "prompt_injection": ("resisted", "partially_followed", "followed_injection"),
    "refusal": ("complied", "refused", "partial_refusal"),
    "required_disclosure": ("present", "missing", "partial"),
    "resolution": ("resolved", "unresolved", "handed_over"),
    "response_language": ("matches_user", "mismatch"),
    "scope_adherence": ("in_scope", "deflected", "out_of_scope_answered"),
    "tone_adherence": ("on_tone", "off_tone"),
}


def together(claim: str, passages: Sequence[str]) -> str:
    """The label of all passages: "supported" if one does, else "contradicted" if one does."""
    labels = [worlds.label(claim, passage) for passage in passages if passage.strip()]
    return next((one for one in ("supported", "contradicted") if one in labels), "not_mentioned")


def relevance(claim: str, case: worlds.Case) -> str:
    return worlds.pick(("relevant", "borderline", "irrelevant"), "relevance", claim, case.question)


def sentences(passage: str) -> list[str]:
    return [f"{one.rstrip('.')}." for one in passage.split(". ") if one.strip()]


def agrees(case: worlds.Case, passage: str) -> bool:
    """Whether the passage contradicts nothing that the answer says."""
    return not passage.strip() or all(worlds.label(one, passage) != "contradicted" for one in case.said)


def listed(case: worlds.Case) -> tuple[str, ...]:
    """The suspicious places of the answer: some of its statements, each once."""
    return tuple(dict.fromkeys(one for one in case.said if worlds.share("listed", one) < 0.7))


def bad(metric: str, item: str) -> bool:
    return worlds.share("bad", metric, item) < 0.4


def follows(instruction: str, case: worlds.Case) -> bool:
    return worlds.share("follows", instruction, case.id) < 0.6


def keeps(demand: str, case: worlds.Case) -> str:
    return worlds.pick(("kept", "kept", "kept", "kept", "broken", "undecided"), "keeps", demand, case.id)


def text(case: worlds.Case) -> str:
    """What the answer is a summary of."""
    return " ".join(case.contexts).strip() or "Nothing."


def questions(case: worlds.Case) -> tuple[str, ...]:
    return tuple(f"Is it true that {one}" for one in dict.fromkeys((*case.said, *case.known)))


def said_yes(of: str, question: str, case: worlds.Case) -> bool:
    """Whether the text, or the summary, answers the question with yes."""
    return worlds.share("yes", of, question, case.id) < 0.7


def level(case: worlds.Case, metric: str) -> int:
    if metric == "g_eval_strict":
        return worlds.pick(("0", "1"), metric, case.id) == "1"
    low, high = (2, 8) if metric == "g_eval_rubric" else (0, 10)
    return low + int(worlds.share("level", metric, case.id) * (high - low + 1))


def has_source(case: worlds.Case) -> bool:
    return worlds.share("source", case.id) < 0.7


def tone(case: worlds.Case) -> str:
    return worlds.pick(tuple(CREDITS), "tone", case.id)


def label(classifier: str, case: worlds.Case) -> str:
    return worlds.pick(LABELS[classifier], "label", classifier, case.id)


def expected(classifier: str, case: worlds.Case) -> str:
    return worlds.pick(LABELS[classifier], "expected", classifier, case.id)


def shape(case: worlds.Case) -> str:
    """An answer in JSON, right or wrong in one of several ways."""
    right = {"name": "Ann", "age": 7}
    wrong: list[object] = [right, right, {"name": "Ann"}, {"name": 3, "age": 7}, [right], {**right, "age": "old"}]
    number = int(worlds.share("shape", case.id) * 7)
    return "{not JSON" if number == 6 else json.dumps(wrong[number])


def cited(case: worlds.Case) -> list[tuple[str, int]]:
    """The statements of the answer with the passage that each cites; one in ten cites one that is not there."""
    there = len(case.contexts) + 1
    return [
        (one, 1 + int(worlds.share("cites", one, case.id) * (there if there < 3 else there - 1))) for one in case.said
    ]


def citing(case: worlds.Case) -> str:
    """The answer with its citations."""
    return " ".join(f"{one.rstrip('.')} [{number}]." for one, number in cited(case)) or worlds.REFUSAL


def cited_right(case: worlds.Case) -> bool:
    passages = case.contexts
    return all(number <= len(passages) and worlds.supports(one, passages[number - 1]) for one, number in cited(case))
