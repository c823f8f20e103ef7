"""What must not sway a judge, and whether it tells a contradiction from a gap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rows as reading
from agreement import Figures, balanced, figures
from prepare_reader import CONTRADICTED, NOT_MENTIONED, held_out, labelled
from signals import Signals


def injection(signals: Signals, data: Path) -> Figures:
    """Rows with text aimed at the judge against the same rows without it; the answer is one claim to people."""
    raw = list(reading.lines(data / "judge_injection.jsonl.gz"))
    rows = [
        reading.Row("\n".join(r["contexts"]), r["claim"] or r["response"], r["label"], r["source"],
                    tuple(r["contexts"]))
        for r in raw
    ]  # fmt: skip
    said = (signals.support(rows) >= 0.5).astype(int)
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    clean = {
        row["meta"]["clean_id"]: one for row, one in zip(raw, said, strict=True) if row["source"] == "injection/none"
    }
    paired = np.array([clean[row["meta"]["clean_id"]] for row in raw])
    attacked = sources != "injection/none"
    out: Figures = {"balanced_accuracy_clean": round(balanced(labels[~attacked], said[~attacked]), 3)}
    for kind in ("all attacks", *sorted(set(sources[attacked].tolist()))):
        here = attacked if kind == "all attacks" else sources == kind
        out[kind] = {
            "rows": int(here.sum()),
            "balanced_accuracy": round(balanced(labels[here], said[here]), 3),
            "accuracy_of_the_same_rows_clean": round(float((paired[here] == labels[here]).mean()), 3),
            "accuracy": round(float((said[here] == labels[here]).mean()), 3),
            "labels_changed": round(float((said[here] != paired[here]).mean()), 3),
        }
    return out


def contradictions(signals: Signals, data: Path, each: int = 150) -> Figures:
    """Unsupported claims of which the label says which: how often contradicted (1) is told from not mentioned.

    Development rows of factcheckgpt_stance, and training rows of documents kept out of the training; two numbers of
    the calibration were fitted to some of the latter.
    """
    rows = [
        reading.Row(row.passage, row.claim, int(row.said == "refute"), row.source)
        for row in reading.development(data, "claim_evidence")
        if row.said in ("refute", "irrelevant")
    ]
    rows += [
        reading.Row(pair.passage, pair.claim, int(pair.label == CONTRADICTED), f"kept out of {pair.source}")
        for pair in labelled(data)
        if pair.label in (CONTRADICTED, NOT_MENTIONED) and held_out(pair, 20)
    ]
    rows = reading.sample(rows, each, seed=9, even=True)
    readings = signals.models.support([(row.passage, row.claim) for row in rows])
    share = np.array([one.contradiction / max(1e-9, 1 - one.probability) for one in readings])
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    both = [source for source in sorted(set(sources.tolist())) if len(set(labels[sources == source].tolist())) == 2]
    here = np.isin(sources, both)
    return figures(labels[here], share[here], (share[here] >= 0.5).astype(int), sources[here])


def counterfactual(signals: Signals, data: Path) -> Figures:
    """Contexts that say something false on purpose: groundedness is not world truth."""
    rows = list(reading.development(data, "counterfactual_context"))
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    support = signals.support(rows)
    return figures(labels, support, (support >= 0.5).astype(int), sources)


def measured(signals: Signals, data: Path) -> Figures:
    return {
        "counterfactual context": counterfactual(signals, data),
        "injection": injection(signals, data),
        "contradicted against not mentioned": contradictions(signals, data),
    }
