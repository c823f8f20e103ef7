"""The labels of causes, in the order of a pipeline, and what to do first about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Label = Literal[
    "unanswerable and answered",
    "not retrieved",
    "ranked too low",
    "truncated",
    "conflicting passages",
    "answerable and refused",
    "hallucination: contradicts the passage",
    "context not used",
    "off-topic answer",
    "incomplete answer",
    "hallucination: unsupported",
    "format failure",
    "wrong or incomplete reference",
    "not read",
    "unclear",
]
#: Every label, in the order of a pipeline: question, retrieval, context, generation, reference; then what is not known.
LABELS: tuple[Label, ...] = get_args(Label)

#: What a maintainer does first, by label.
FIRST_STEPS: Mapping[str, str] = {
    "unanswerable and answered": "Tell the model to say that the documents do not answer the question.",
    "not retrieved": "Run the retriever alone with this question; check index, chunks and query.",
    "ranked too low": "Rerank the passages, or retrieve fewer.",
    "truncated": "Raise the prompt's limit for context, or pass fewer or shorter passages.",
    "conflicting passages": "Remove the outdated passage from the index, or date passages and prefer the latest.",
    "answerable and refused": "Loosen the instruction to refuse; show the model an answer that it should give.",
    "hallucination: contradicts the passage": "Ask for quotes, lower the temperature, or try a stronger model.",
    "off-topic answer": "Check what question reached the model: query rewriting, history, prompt template.",
    "context not used": "Tell the model to answer from the passages alone; check that they reach the prompt.",
    "incomplete answer": "Tell the model to answer every part of the question; check the limit of output tokens.",
    "hallucination: unsupported": "Tell the model to add nothing to the passages.",
    "format failure": "Check output parser, prompt template, stop sequences and the limit of output tokens.",
    "wrong or incomplete reference": "Correct the reference in the test set.",
}


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts of labels, the most frequent first; of equal ones in the order of the pipeline."""
    found = [label for label in LABELS if counts.get(label)]
    return {label: counts[label] for label in sorted(found, key=lambda one: -counts[one])}
