"""assay's own formulas in the same steps as those of other systems, so that a lens can set them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.metrics.systems.base import Steps

_ANSWER = "claims of the answer"
_REFERENCE = "claims of the reference"
_ALL = "all contexts together"


@dataclass(frozen=True, slots=True)
class Own:
    """A metric of assay: the family that it belongs to, and its formula in steps."""

    family: str
    steps: Steps


#: The metrics of assay that other systems have under the same or a similar name, by the labels of their scores.
OWN: Mapping[str, Own] = {
    "faithfulness": Own("faithfulness", Steps(_ANSWER, _ALL, "supported", "share")),
    "hallucination": Own("hallucination", Steps(_ANSWER, _ALL, "not supported", "share")),
    "citation_accuracy": Own("citations", Steps("citations of the answer", "the cited passage", "supported", "share")),
    "answer_relevancy": Own(
        "answer relevance", Steps("questions written back from the answer", "the question", "cosine", "mean")
    ),
    "answer_directness": Own(
        "answer relevance", Steps("the whole answer", "the question", "probability of direct", "the probability")
    ),
    "answer_correctness": Own(
        "correctness",
        Steps(f"{_ANSWER} and of the reference", "each other", "supported", "0.75 F1 + 0.25 cosine"),
    ),
    "semantic_similarity": Own("similarity", Steps("the whole answer", "the reference", "cosine", "the cosine")),
    "context_precision": Own(
        "context precision", Steps("passages", "the question and the reference", "useful", "average precision")
    ),
    "context_utilization": Own(
        "context utilization", Steps("passages", "the question and the answer", "useful", "average precision")
    ),
    "context_recall": Own("context recall", Steps(_REFERENCE, _ALL, "supported", "share")),
    "context_entity_recall": Own("context recall", Steps("entities of the reference", _ALL, "named", "share")),
    "nugget_recall_answer": Own("nuggets", Steps(_REFERENCE, "the answer", "supported", "weighted share")),
    "nugget_recall_contexts": Own("nuggets", Steps(_REFERENCE, _ALL, "supported", "weighted share")),
    "context_relevance": Own(
        "context relevance", Steps("sentences of the passages", "the question", "useful", "share")
    ),
    "context_relevance_passage": Own("context relevance", Steps("passages", "the question", "useful", "share")),
    "noise_sensitivity_relevant": Own(
        "noise sensitivity",
        Steps(_ANSWER, "the reference and each passage", "wrong, of a relevant passage", "share"),
    ),
    "noise_sensitivity_irrelevant": Own(
        "noise sensitivity",
        Steps(_ANSWER, "the reference and each passage", "wrong, of irrelevant passages alone", "share"),
    ),
    "summarization_score": Own(
        "summarization", Steps("key questions of the contexts", "the answer", "yes", "0.5 share + 0.5 conciseness")
    ),
}
