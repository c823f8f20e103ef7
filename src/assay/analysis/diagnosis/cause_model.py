"""The cause of a row by a judge that can't tell a contradiction from a missing mention: a multinomial logistic model.

Fitted on the development part of the seeded failures with the embedded judge's verdicts (`python -m
tests.analysis.diagnosis.fit`); docs/evidence/causes.md has its figures on the other part. It takes English rows that
have passages and a reference, once answer and reference were read against the passages and each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from assay.analysis.diagnosis.cause_features import features
from assay.analysis.diagnosis.classify import ANSWER, DIRECTNESS, EACH_OTHER, REFERENCE, TOP, CauseDecision, by_rank
from assay.analysis.diagnosis.explanations import explain, quoted
from assay.analysis.diagnosis.facts import Facts
from assay.analysis.diagnosis.labels import LABELS, Label
from assay.metrics.languages import languages_in
from assay.records import Sample
from assay.text.languages import code_of

RIGHT = "right"  # no label: nothing is wrong
#: Probability of a label from which on it is said, if "right" has a lower one.
SAID = 0.4
#: The same for labels that are confused with others most, by cross-validation over topics.
SAID_OF: Mapping[Label, float] = {
    "conflicting passages": 0.6,
    "hallucination: contradicts the passage": 0.6,
    "wrong or incomplete reference": 0.6,
}
#: Probability that something is wrong from which on a row fails without a label that is likely enough.
FAILED = 0.85


def applies(sample: Sample, facts: Facts) -> bool:
    """Whether the model knows rows like this one."""
    if facts.form is not None or not facts.kept or facts.useful is not None or not facts.has_reference:
        return False
    if facts.elsewhere or not any(one.text.strip() for one in facts.contexts or ()) or not sample.question:
        return False
    spoken = {*languages_in(sample, ("answer", "reference")).values(), sample.spoken}
    return all(code_of(one) == "en" for one in spoken)


def missing(facts: Facts) -> tuple[str, ...]:
    """What has to be read before the model can be asked."""
    answer, reference = facts.claims("answer"), facts.claims("reference")
    no_reference = facts.reference is None and facts.answerable is not False
    found = {
        ANSWER: (facts.answer is None and not facts.abstained) or any(one.passages is None for one in answer),
        REFERENCE: no_reference or any(one.passages is None for one in reference),
        EACH_OTHER: no_reference or any(one.other is None for one in reference),
        DIRECTNESS: facts.directness is None,
    }
    return tuple(name for name, is_missing in found.items() if is_missing)


def decide_by_model(sample: Sample, facts: Facts, top: int = TOP) -> CauseDecision | None:
    """The likeliest cause of a row; "unclear" where no label reaches `SAID`; None where the row does not fail.

    A cause has its probability. Expects a row that the model `applies` to, with nothing `missing`.
    """
    found = probabilities(features(sample, facts))
    label = max((one for one in LABELS if one in found), key=found.__getitem__)
    if found[label] < SAID_OF.get(label, SAID) or found[label] < found[RIGHT]:
        if 1 - found[RIGHT] < FAILED:
            return None
        return CauseDecision("unclear", f"no cause is likely enough (at best {label}, p = {found[label]:.2f})")
    if label == "unanswerable and answered":
        claim = next((one.text for one in facts.claims("answer")), "") or sample.answer or ""
        because = f"the question cannot be answered by its reference or column, and the answer says {quoted(claim)}"
    else:
        because = explain(label, facts)
    return by_rank(CauseDecision(label, because, probability=found[label]), facts, top)


@cache
def _model() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(files(__package__).joinpath("cause_model.json").read_text(encoding="utf-8"))
    return found


def probabilities(values: Mapping[str, float]) -> dict[str, float]:
    """The probability of each label, and of `RIGHT`, from the features of a row; they sum to 1."""
    model = _model()
    scaled = [
        (values[name] - mean) / scale
        for name, mean, scale in zip(model["features"], model["means"], model["scales"], strict=True)
    ]
    logits = {
        label: weights[0] + math.fsum(w * x for w, x in zip(weights[1:], scaled, strict=True))
        for label, weights in model["weights"].items()
    }
    highest = max(logits.values())
    odds = {label: math.exp(logit - highest) for label, logit in logits.items()}
    total = math.fsum(odds.values())
    return {label: one / total for label, one in odds.items()}
