"""TruLens' answer relevance: does the response answer the whole prompt?

    level / 3

Range 0 to 1, higher is better. trulens 2.16.0, `relevance`. An answer that refuses or says that it does not know gets
the lowest level, as one does that is plainly false. Older versions have it as `qs_relevance` too.
"""

from __future__ import annotations

from dataclasses import replace

from assay.metrics.trulens.judge_rating import JudgeRating, entry

RELEVANCE = JudgeRating(
    name="trulens:relevance",
    question="How relevant is the ANSWER to the QUESTION? Its length does not matter. An ANSWER that avoids the "
    "QUESTION, refuses, or says that it does not know is of the lowest relevance, and so is one that is plainly false.",
    lowest="it answers no part of the question",
    highest="it answers every part of the question",
    reads=("question", "answer"),
)

_ENTRY = entry(RELEVANCE, family="answer relevance", unit="the whole answer", against="the question")

ENTRIES = (replace(_ENTRY, also=(*_ENTRY.also, "qs_relevance", "qs_relevance_with_cot_reasons")),)
