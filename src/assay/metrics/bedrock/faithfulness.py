"""Bedrock's faithfulness: how much of the answer stands in the retrieved passages?

Rated 0 (none of it) to 4 (all of it), by 4. Higher is better. Amazon Bedrock, evaluation of retrieval and generation;
one rating of the whole answer, where others count claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry


@dataclass(frozen=True)
class Faithfulness(RatedMetric):
    """How much of the answer stands in the passages."""

    name: ClassVar[str] = "bedrock:faithfulness"
    needs: ClassVar = ("answer", "contexts")
    asked: ClassVar[str] = (
        "How much of what the ANSWER says can be found in the PASSAGES, or follows from them? Whether it is true does "
        "not count."
    )
    shown: ClassVar = ("contexts", "question", "answer")
    levels: ClassVar = {
        STANDARD: (
            "none of it",
            "some of it",
            "about half of it",
            "most of it",
            "all of it",
        ),
    }


ENTRIES = (entry(Faithfulness, "Faithfulness", "faithfulness", "the whole answer", "all contexts together"),)
