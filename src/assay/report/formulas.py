"""A score's formula with its numbers filled in: "2 supported / 3 claims = 0.667".

Of assay's own metrics the formula is known; it is shown only where it gives the score's value. Of others the counts of
the verdicts and the parts are shown, from which their own formula makes the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from assay.records import Score, Verdict

_CLOSE = 1e-9
#: Of each label the favourable one among its set.
_FAVOURABLE = {
    **dict.fromkeys(("supported", "contradicted", "not_mentioned"), "supported"),
    **dict.fromkeys(("useful", "not_useful"), "useful"),
    **dict.fromkeys(("yes", "no"), "yes"),
    **dict.fromkeys(("direct", "indirect"), "direct"),
}


def filled_in(score: Score) -> str:
    """The formula of a measured score with its numbers; empty for a score without a value."""
    if score.value is None:
        return ""
    if score.convention is not None:
        return f"{_number(score.value)} by convention: {score.convention}"
    for name, formula in _OWN.items():
        if score.metric == name or score.metric.startswith(f"{name}_"):
            found = formula(score)
            if found is not None and abs(found[1] - score.value) <= _CLOSE * max(1.0, abs(score.value)):
                return f"{found[0]} = {_number(score.value)}"
    return _as_counts(score)


def _as_counts(score: Score) -> str:
    assert score.value is not None
    said = []
    for reading, verdicts in score.verdicts.items():
        counts = Counter(verdict.label for verdict in verdicts)
        said.append(f"{reading}: {', '.join(f'{n} {label}' for label, n in counts.most_common())}")
    said += [f"{name.replace('_', ' ')} {_number(value)}" for name, value in score.parts.items()]
    return f"{_number(score.value)} from {'; '.join(said)}" if said else _number(score.value)


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if value == int(value) else f"{value:.3f}"


Filled = tuple[str, float] | None


def _one(score: Score) -> Sequence[Verdict]:
    """The verdicts of the only reading."""
    return next(iter(score.verdicts.values())) if len(score.verdicts) == 1 else ()


def _share(score: Score) -> Filled:
    verdicts = _one(score)
    if not verdicts:
        return None
    found = sum(_FAVOURABLE.get(verdict.label) == verdict.label for verdict in verdicts)
    label = _FAVOURABLE.get(verdicts[0].label, verdicts[0].label)
    return f"{found} {label} / {len(verdicts)} {_units(score, verdicts)}", found / len(verdicts)


def _unsupported(score: Score) -> Filled:
    verdicts = _one(score)
    if not verdicts:
        return None
    for label, counted in (("not supported", ("contradicted", "not_mentioned")), ("contradicted", ("contradicted",))):
        found = sum(verdict.label in counted for verdict in verdicts)
        if abs(found / len(verdicts) - (score.value or 0.0)) <= _CLOSE:
            return f"{found} {label} / {len(verdicts)} {_units(score, verdicts)}", found / len(verdicts)
    return None


def _units(score: Score, verdicts: Sequence[Verdict]) -> str:
    if verdicts[0].claim is not None:
        return "claim" if len(verdicts) == 1 else "claims"
    unit = next(iter(score.verdicts)).partition("/")[2]
    name = {"contexts": "passages", "citations": "citations", "sentences": "sentences"}.get(unit, "verdicts")
    return name[:-1] if len(verdicts) == 1 else name


def _average_precision(score: Score) -> Filled:
    verdicts = _one(score)
    useful = [place for place, verdict in enumerate(verdicts, 1) if verdict.label == "useful"]
    if not useful:
        return ("no passage is useful", 0.0) if verdicts else None
    terms = " + ".join(f"{n}/{place}" for n, place in enumerate(useful, 1))
    return f"({terms}) / {len(useful)}", sum(n / place for n, place in enumerate(useful, 1)) / len(useful)


def _mean_cosine(score: Score) -> Filled:
    if score.parts.get("noncommittal"):
        return "the answer is noncommittal", 0.0
    values = [value for name, value in score.parts.items() if name.startswith("cosine_")]
    if not values:
        return None
    terms = " + ".join(_number(value) for value in values)
    return f"({terms}) / {len(values)}", sum(values) / len(values)


def _directness(score: Score) -> Filled:
    if "probability" in score.parts:
        return "probability that the answer is direct", score.parts["probability"]
    verdicts = _one(score)
    return (f"the answer is {verdicts[0].label}", float(verdicts[0].label == "direct")) if verdicts else None


def _correctness(score: Score) -> Filled:
    parts = score.parts
    if not {"tp", "fp", "fn", "factual"} <= parts.keys() or score.value is None:
        return None
    said = (
        f"F of {parts['tp']:g} right, {parts['fp']:g} too much, {parts['fn']:g} missing = {_number(parts['factual'])}"
    )
    if "similarity" in parts:  # the weights are the metric's own, and not among the parts
        said = f"{said}, blended with a similarity of {_number(parts['similarity'])}"
    return said, score.value


_OWN: dict[str, Callable[[Score], Filled]] = {
    "faithfulness": _share,
    "context_recall": _share,
    "citation_accuracy": _share,
    "context_relevance": _share,
    "hallucination": _unsupported,
    "context_precision": _average_precision,
    "context_utilization": _average_precision,
    "answer_relevancy": _mean_cosine,
    "answer_directness": _directness,
    "answer_correctness": _correctness,
}
