"""What a judge says of the samples of `worlds` when TruLens asks, and what TruLens needs besides texts.

Only the standard library: the driver imports it in TruLens' own environment, and so do the tests.
"""

from __future__ import annotations

from collections.abc import Sequence

from worlds import REFUSAL, Case, pick, share

#: Functions that rate the answer alone.
ALONE = (
    "sentiment",
    "conciseness",
    "correctness",
    "coherence",
    "helpfulness",
    "controversiality",
    "harmfulness",
    "maliciousness",
    "misogyny",
    "criminality",
    "insensitivity",
)
TRACES = (
    "logical_consistency",
    "execution_efficiency",
    "plan_adherence",
    "plan_quality",
    "tool_selection",
    "tool_calling",
    "tool_quality",
)
CONVERSATIONS = ("conversation_helpfulness", "topic_adherence", "coherence_across_turns", "agent_goal_accuracy")


def level(function: str, *texts: str, high: int = 3) -> int:
    """The level that a function's judge gives these texts."""
    return int(share("level", function, *texts) * (high + 1))


def rating(function: str, case: Case) -> int:
    """The level that a function's judge gives a case, for all functions that rate the texts of a case as a whole."""
    high = {"agreement_measure": 10, "relevance_0_to_10": 10, "citation_attribution": 1, "agent_goal_accuracy": 1}
    contexts, both = case.contexts, (case.question, case.answer)
    texts: Sequence[str] = {
        **dict.fromkeys(("relevance", "relevance_0_to_10", "stereotypes", "model_agreement"), both),
        **dict.fromkeys(("citation_accuracy", "citation_attribution"), (case.answer, *contexts)),
        **dict.fromkeys(ALONE, (case.answer,)),
        **dict.fromkeys((*TRACES, *CONVERSATIONS), (case.id,)),
        "agreement_measure": (*both, case.reference),
    }[function]
    return level(function, *texts, high=high.get(function, 3))


def sentence(text: str, contexts: Sequence[str]) -> str:
    """What a sentence is: "trivial", "abstention", or its level."""
    if text == REFUSAL:
        return "abstention"
    kind = pick(("trivial", "abstention", "states", "states", "states", "states"), "sentence", text)
    return kind if kind != "states" else str(level("groundedness", text, *contexts))


def answerable(case: Case) -> bool:
    """Whether the contexts hold the answer to the question."""
    return share("answerable", case.question, *case.contexts) < 0.5


def key_points(case: Case) -> list[str]:
    """The key points of the contexts."""
    sentences = [f"{one.strip()}." for context in case.contexts for one in context.split(".") if one.strip()]
    return [one for one in dict.fromkeys(sentences) if share("key", one) < 0.7]


def requirements(case: Case) -> list[str]:
    """What the user requires."""
    return [f"Say that {one}" for one in case.known]


def fulfilled(requirement: str, case: Case) -> str:
    """Whether it is met."""
    return pick(("met", "partly_met", "not_met"), "requirement", requirement, case.id)


def conversation(case: Case) -> list[tuple[str, str]]:
    """A conversation: pairs of a role and what it says. Some replies repeat themselves or each other."""
    turns: list[tuple[str, str]] = []
    for number, reply in enumerate((*case.said, *case.known)):
        told = pick((reply, reply, reply, f"{reply} {reply}", f"{reply} {case.question}"), "turn", reply)
        told = "Could you rephrase that?" if share("rephrase", case.id) < 0.1 else told
        turns += [("user", f"{case.question} Part {number}?"), ("assistant", told)]
    return turns


def topics(case: Case) -> list[str]:
    """What the conversation should be about."""
    return [case.question, "bridges"]


def expected_chunks(case: Case) -> list[tuple[str, float]]:
    """The chunks that should be retrieved, each with its gain."""
    found = [
        (one, round(share("gain", one) * 3)) for one in (*case.contexts, *case.known) if share("golden", one) < 0.5
    ]
    return [(one, float(gain)) for one, gain in found]


def scores(case: Case) -> list[float]:
    """What the retriever gave each context; some are equal."""
    return [round(share("score", one, str(n)) * 4) / 4 for n, one in enumerate(case.contexts)]


def memories(case: Case) -> list[str]:
    """What a memory should have given back: some contexts as they are, some a little different."""
    return [
        pick((one, one.replace("was", "is"), one.upper()), "memory", one)
        for one in (*case.contexts, *case.known)
        if share("remembered", one) < 0.6
    ]


def given_scores(case: Case) -> tuple[float, float | None]:
    """A score, and the one that is expected where one is."""
    expected = share("expected", case.id)
    return share("given", case.id), None if expected < 0.2 else round(expected, 2)


#: What the votes of a jury count for when they are weighted.
WEIGHTS = (0.5, 1.0, 2.0, 0.25, 1.0)


def votes(case: Case) -> list[float | None]:
    """The scores of a jury of five; a juror may have none, as long as one has."""
    found = [round(share("vote", case.id, str(n)), 2) for n in range(5)]
    return [score if n == 0 or share("fails", case.id, str(n)) > 0.2 else None for n, score in enumerate(found)]
