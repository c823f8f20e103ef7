"""Measures a trained reader against people before it ships, prints the figures and writes `figures.json`.

    python measure_reader.py --data DATA --reader DIR [--embedding] [--quick]

Groundedness: of every source of the development sets at most 80 rows, half of them supported (seed 5). A claim of
several sentences is read sentence by sentence, as the judge does, and scores the lowest of them; "with the whole" is
the mean of that and of the claim read as one, in log-odds. AUROC and balanced accuracy at the threshold 0.5 and at one
chosen on the other sources, F1 of the unsupported class, bootstrap 95 % intervals over rows, and the mean over sources.
Beside it, on the same rows: word overlap, the regression over shared words that ships and, with --embedding, the
nearest sentence of the excerpt by embedding; thresholds of these from the other sources. RAGTruth (whole answers),
`judge_injection`, `counterfactual_context` and contradictions are measured apart, not with --quick.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import rows as reading
from agreement import Figures, balanced, calibration_error, claims_of, elsewhere, figures, gain, logit, overlap
from assay_embedded import load
from assay_embedded.features import Passage
from excerpt import excerpt
from reader import EXCERPT, Calibration, Reader

GROUPS = {
    "qa": ("attributionbench", "rgb_en_fact"),
    "summarization": ("bump", "fib_xsum", "summedits", "true/frank", "true/summeval"),
    "dialogue": ("faithdial_audit", "true/begin", "true/dialfact", "true/q2"),
    "claims": ("factcheckgpt_stance", "factscore", "wice"),
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


class Judges:
    """The reader with its calibration, and the models that ship."""

    def __init__(self, directory: Path, embedding: bool) -> None:
        self.reader, self.models = Reader(directory), load()
        self.calibration = Calibration.read(directory / "reader.json")
        self.embedding = embedding
        self.rate = 0.0  # claims read a CPU-second

    def support(self, pairs: list[tuple[str, str]]) -> list[tuple[float, float, float]]:
        """Of each (passage, claim) the probability of support and of contradiction; and what the regression says."""
        start = time.process_time()
        logits = self.reader.logits(pairs)
        self.rate = len(set(pairs)) / (time.process_time() - start)
        words = [one.probability for one in self.models.support(pairs)]
        return [
            (*self.calibration.probabilities(found, float(logit(word))), word)
            for found, word in zip(logits, words, strict=True)
        ]

    def scores(self, rows: list[reading.Row]) -> dict[str, np.ndarray]:
        """What each says of each row, the minimum over its claims."""
        units = [(row.passage, claim, i) for i, row in enumerate(rows) for claim in claims_of(row.claim)]
        asked = [(passage, claim) for passage, claim, _ in units] + [(row.passage, row.claim) for row in rows]
        readings = self.support(asked)
        whole = np.array([yes for yes, _, _ in readings[len(units) :]])
        passages = {row.passage: Passage(row.passage) for row in rows}
        found: dict[str, np.ndarray] = {}

        def put(name: str, i: int, value: float) -> None:
            column = found.setdefault(name, np.full(len(rows), np.inf))
            column[i] = min(column[i], value)

        for (passage, claim, i), (yes, _, words) in zip(units, readings, strict=False):
            put("support", i, yes)
            put("word overlap", i, overlap(passage, claim))
            put("regression over words", i, words)
        found["support with the whole"] = sigmoid((logit(found["support"]) + logit(whole)) / 2)
        for (_, _, i), near in zip(units, self._similarity(units, passages) if self.embedding else [], strict=False):
            put("embedding similarity", i, near)
        return found

    def _similarity(self, units: list[tuple[str, str, int]], passages: dict[str, Passage]) -> Iterable[float]:
        for passage, claim, _ in units:
            texts = [passage[a:b] for a, b in excerpt(passages[passage], claim, EXCERPT)]
            vectors = self.models.embed([claim, *texts])
            yield float((vectors[1:] @ vectors[0]).max()) if texts else 0.0


def compare(judges: Judges, rows: list[reading.Row]) -> Figures:
    """Every signal on the rows, what support gains over each, by group too, and how its probabilities hold."""
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    found = judges.scores(rows)
    support = found["support"]
    out: Figures = {"support": figures(labels, support, (support >= 0.5).astype(int), sources)}
    for name, scores in found.items():
        said = elsewhere(labels, scores, sources)
        out[name if name != "support" else "support_threshold_of_the_other_sources"] = figures(
            labels, scores, said, sources
        )
        if name != "support":
            out[f"gain_over_{name.replace(' ', '_')}"] = {"all": gain(labels, support, scores)} | {
                group: gain(labels[here], support[here], scores[here])
                for group, members in GROUPS.items()
                if (here := np.isin(sources, members)).any()
            }
    error, bins = calibration_error(labels, support)
    out["expected_calibration_error"], out["reliability"] = round(error, 3), bins
    out["claims_per_cpu_second"] = round(judges.rate, 1)
    return out


def injection(judges: Judges, data: Path) -> Figures:
    """Rows with text aimed at the judge against the same rows without it; the answer is one claim."""
    rows = list(reading.lines(data / "judge_injection.jsonl.gz"))
    readings = judges.support([("\n".join(row["contexts"]), row["claim"] or row["response"]) for row in rows])
    said = np.array([int(yes >= 0.5) for yes, _, _ in readings])
    labels, sources = np.array([row["label"] for row in rows]), np.array([row["source"] for row in rows])
    clean = {
        row["meta"]["clean_id"]: one for row, one in zip(rows, said, strict=True) if row["source"] == "injection/none"
    }
    paired = np.array([clean[row["meta"]["clean_id"]] for row in rows])
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


def contradictions(judges: Judges, data: Path, each: int = 150) -> Figures:
    """Rows of documents kept out of training that say which: how often an unsupported claim is told apart rightly."""
    from prepare_reader import CONTRADICTED, NOT_MENTIONED, held_out, labelled

    pairs = [p for p in labelled(data) if p.label in (CONTRADICTED, NOT_MENTIONED) and held_out(p, 20)]
    rows = [reading.Row(p.passage, p.claim, int(p.label == CONTRADICTED), p.source) for p in pairs]
    rows = reading.sample(rows, each, seed=9)
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    readings = judges.support([(row.passage, row.claim) for row in rows])
    share = np.array([against / max(1e-9, 1 - yes) for yes, against, _ in readings])
    both = [source for source in sorted(set(sources.tolist())) if len(set(labels[sources == source].tolist())) == 2]
    here = np.isin(sources, both)
    return figures(labels[here], share[here], (share[here] >= 0.5).astype(int), sources[here])


def show(name: str, found: Figures) -> None:
    means = found["auroc_mean_over_sources"], found["balanced_accuracy_mean_over_sources"]
    print(
        f"{name:40s} n {found['rows']:5d}  AUROC {found['auroc']:.3f} {found['auroc_95']}  "
        f"bacc {found['balanced_accuracy']:.3f} {found['balanced_accuracy_95']}  F1- {found['f1_unsupported']:.3f}  "
        f"over sources: AUROC {means[0]:.3f} bacc {means[1]:.3f}",
        flush=True,
    )


def show_all(title: str, found: Figures) -> None:
    print(f"\n{title}: calibration error {found['expected_calibration_error']}, {found['claims_per_cpu_second']}/CPU-s")
    for name, one in found.items():
        if isinstance(one, dict) and "auroc" in one:
            show(name, one)
    for name, one in found.items():
        if name.startswith("gain_over"):
            print(f"{name:40s}", {group: (g["auroc_gain"], g["auroc_gain_95"]) for group, g in one.items()})
    for source, one in found["support"]["by_source"].items():
        print(f"    {source:24s} n {one['rows']:5d}  AUROC {one['auroc']:.3f}  bacc {one['balanced_accuracy']:.3f}")


def all_rows(data: Path, names: Iterable[str]) -> list[reading.Row]:
    return [row for name in names for row in reading.development(data, name)]


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--reader", type=Path, required=True, help="what export_reader.py and calibrate_reader.py wrote")
    ask.add_argument("--embedding", action="store_true")
    ask.add_argument("--quick", action="store_true", help="the 14 sources only")
    given = ask.parse_args()
    judges = Judges(given.reader, given.embedding)
    # foolmetwice is left out, as in the earlier measurements this one is compared with
    rows = [row for row in all_rows(given.data, reading.GROUNDEDNESS) if row.source != "foolmetwice"]
    found: Figures = {"agreement": compare(judges, reading.sample(rows, 80, seed=5, even=True))}
    show_all("14 sources", found["agreement"])
    if not given.quick:
        found["ragtruth_answers"] = compare(judges, all_rows(given.data, ["ragtruth_dev"]))
        show_all("RAGTruth, whole answers", found["ragtruth_answers"])
        found["counterfactual_context"] = compare(judges, all_rows(given.data, ["counterfactual_context"]))["support"]
        show("counterfactual context", found["counterfactual_context"])
        found["judge_injection"] = injection(judges, given.data)
        print("\ninjection", json.dumps(found["judge_injection"], indent=1))
        found["contradicted_or_not_mentioned"] = contradictions(judges, given.data)
        show("contradicted against not mentioned", found["contradicted_or_not_mentioned"])
    (given.reader / "figures.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
