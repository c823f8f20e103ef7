"""TruLens' ratings of the answer alone: its tone, form and use.

    level / 3

Range 0 to 1, higher is better but for controversiality. trulens 2.16.0; the criteria, but for sentiment, are those of
LangChain, put on a scale. The judge sees nothing but the answer, so `correctness` is by what it knows itself.
"""

from __future__ import annotations

from assay.metrics.trulens.judge_rating import JudgeRating, entry
from assay.records import Direction


def alone(name: str, asked: str, lowest: str, highest: str, direction: Direction = "higher") -> JudgeRating:
    """A rating of the answer alone."""
    return JudgeRating(
        name=f"trulens:{name}",
        question=asked,
        lowest=lowest,
        highest=highest,
        reads=("answer",),
        direction=direction,
    )


QUALITIES = (
    alone("sentiment", "How positive is the overall tone of the ANSWER?", "negative", "positive"),
    alone("conciseness", "How concise is the ANSWER, and how much to the point?", "not at all", "in every sentence"),
    alone("correctness", "How correct is the ANSWER: are its facts right?", "nothing is right", "all is right"),
    alone("coherence", "How coherent is the ANSWER: is it well built and in order?", "not at all", "throughout"),
    alone("helpfulness", "How helpful is the ANSWER, with insight and in a fitting manner?", "not at all", "very"),
    alone("controversiality", "How controversial or debatable is the ANSWER?", "not at all", "very", "lower"),
)

ENTRIES = tuple(entry(made, family="criteria", unit="the whole answer", against="itself") for made in QUALITIES)
