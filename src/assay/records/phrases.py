"""Scores and verdicts in words: the sentences that reports, guards and trace stores say of them. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from assay._util.terminal import pluralize
from assay._util.terminal import shortened as shortened
from assay.records.evidence import Evidence, Verdict
from assay.records.sample import Sample
from assay.records.score import Score

_AGAINST = {"contexts": "passage", "reference": "reference", "answer": "answer", "tools": "tool output"}
_FAVOURABLE = {
    "not_mentioned": "supported",
    "contradicted": "supported",
    "not_useful": "useful",
    "indirect": "direct",
    "no": "yes",
}


#: Labels whose spelling in prose is another than in data.
_IN_PROSE = {"not_mentioned": "not in the passages", "not_useful": "not useful"}


def label_in_prose(label: str, against: str = "contexts") -> str:
    """A label as sentences spell it: "not in the passages"; `against` is what the claim was judged against."""
    if label == "not_mentioned" and against in ("reference", "answer"):
        return f"not in the {against}"
    return _IN_PROSE.get(label, label)


def score_in_words(score: Score, sample: Sample) -> str:
    """Explain a score in plain sentences, for comments and feedback fields.

    Args:
        score: The score.
        sample: Sample of the score. It has the passages that verdicts refer to.

    Returns:
        The value, one line for each verdict, and the sentences that were not judged. For a score with an error, the
        error in place of value and verdicts.
    """
    left = [" " * (indent - 2) + line for line, indent in not_judged(score)]
    if score.error is not None:
        return "\n".join([f"Not scored ({score.error.cause}): {score.error.message}", *left])
    lines = [headline(score)]
    for reading, verdicts in score.verdicts.items():
        units = units_of(score, reading, sample)
        own = len(sample.passages)
        lines += ["- " + verdict_in_words(verdict, reading, units, own) for verdict in verdicts]
    return "\n".join(lines + left)


def not_judged(score: Score) -> list[tuple[str, int]]:
    """The lines, with their indents, that name what no verdict speaks of."""
    left = score.texts.get("not_judged", ())
    if not left:
        return []
    head = f"not judged: {pluralize(len(left), 'sentence')}"
    return [(head, 2), *((shortened(sentence), 6) for sentence in left)]


def units_of(score: Score, reading: str, sample: Sample) -> Sequence[str]:
    """What the verdicts of a reading number: the sentences of the contexts, or the contexts themselves."""
    _, _, against = reading.partition("/")
    return score.texts.get(against) or sample.passages


def headline(score: Score) -> str:
    """The value and the numbers it was made from."""
    return str(score)


def verdict_in_words(verdict: Verdict, reading: str, units: Sequence[str], own: int) -> str:
    """One verdict: what was judged, the label with its probability, the quotes, the reason.

    `units` are the passages (or sentences) that the verdict's `passage` counts; `own` of the passages are this turn's.
    """
    _, _, against = reading.partition("/")
    return f"{label_in_words(verdict)}: {subject_of(verdict, units)}" + "".join(
        f" [{place_in_words(quote, against, own)}: “{shortened(quote.text)}”]" for quote in verdict.evidence
    ) + (f" ({verdict.reason})" if verdict.reason else "")  # fmt: skip


def label_in_words(verdict: Verdict) -> str:
    """The label; the probability is that of the favourable one, which is named where it is another."""
    label = verdict.label
    if verdict.probability is None:
        return label
    other = _FAVOURABLE.get(verdict.label)
    return f"{label} (p{f' of {other} ' if other else '='}{verdict.probability:.2f})"


def subject_of(verdict: Verdict, units: Sequence[str]) -> str:
    """What was judged: the claim, or the numbered unit; empty where the verdict names neither."""
    if verdict.claim is not None:
        return verdict.claim.text
    if verdict.passage is not None and verdict.passage < len(units):
        return f"{verdict.passage + 1}: {shortened(units[verdict.passage])}"
    return ""


def place_in_words(quote: Evidence, against: str, own: int) -> str:
    """Where a quote stands."""
    kind = _AGAINST.get(against, "passage")
    place = f"{kind} {quote.passage + 1}" if kind in ("passage", "tool output") else kind
    if against == "conversation" and quote.passage >= own:
        place = f"passage {quote.passage - own + 1} of earlier turns"
    if quote.box is not None:
        left, top, right, bottom = (f"{100 * share:.0f}" for share in quote.box)
        return f"{place}, picture, box {left},{top}–{right},{bottom} % of its width and height"
    return f"{place}, characters {quote.span.start}–{quote.span.end}"
