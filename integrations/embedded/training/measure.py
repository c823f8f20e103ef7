"""Measures the models against people, prints the figures and writes `card.json`.

    python measure.py --data DATA --out DIR [--embedding] [--whole-files] [--keep-usefulness]

Groundedness: of every source of the development sets at most 80 rows, half of them supported (seed 5). A claim of
several sentences is read sentence by sentence, as the judge does, and scores the lowest of them; "with the whole" is
the mean of that and of the claim read as one, in log-odds. AUROC and balanced accuracy at the
shipped threshold (0.5) and at one chosen on the other sources, F1 of the unsupported class, bootstrap 95 % intervals
over rows, and the mean over sources. Beside it, on the same rows: word overlap, the regression over shared words and,
with --embedding, the nearest sentence of the excerpt by embedding; thresholds of these from the other sources.
RAGTruth (whole answers), `judge_injection`, `counterfactual_context` and `context_relevance` (usefulness) are measured
apart, at their own rates of labels. --keep-usefulness takes the figures of the last from the card that is there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import rows as reading
from agreement import Figures, balanced, calibration_error, claims_of, elsewhere, figures, gain, overlap
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.runtime import EXCERPT, load_from
from assay_embedded.support import Regression

GROUPS = {
    "qa": ("attributionbench", "rgb_en_fact"),
    "summarization": ("bump", "fib_xsum", "summedits", "true/frank", "true/summeval"),
    "dialogue": ("faithdial_audit", "true/begin", "true/dialfact", "true/q2"),
    "claims": ("factcheckgpt_stance", "factscore", "wice"),
}


def logit(probability: np.ndarray) -> np.ndarray:
    safe = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(safe / (1 - safe)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


class Judges:
    """The models and, read from the same files, the regression over shared words."""

    def __init__(self, directory: Path, embedding: bool) -> None:
        self.models = load_from(directory)
        self.regression = Regression.of(json.loads((directory / "support.json").read_text(encoding="utf-8")))
        self.embedding = embedding
        self.rate = 0.0  # claims read a CPU-second

    def scores(self, rows: list[reading.Row]) -> dict[str, np.ndarray]:
        """What each says of each row, the minimum over its claims."""
        units = [(row.passage, claim, i) for i, row in enumerate(rows) for claim in claims_of(row.claim)]
        asked = [(passage, claim) for passage, claim, _ in units] + [(row.passage, row.claim) for row in rows]
        start = time.process_time()
        readings = self.models.support(asked)
        self.rate = len(set(asked)) / (time.process_time() - start)
        whole = [one.probability for one in readings[len(units) :]]
        passages = {row.passage: Passage(row.passage) for row in rows}
        found: dict[str, np.ndarray] = {}

        def put(name: str, i: int, value: float) -> None:
            column = found.setdefault(name, np.full(len(rows), np.inf))
            column[i] = min(column[i], value)

        for (passage, claim, i), one in zip(units, readings, strict=False):
            put("support", i, one.probability)
            put("word overlap", i, overlap(passage, claim))
            put("regression over words", i, self.regression.logit(passages[passage].compare(claim).values))
        found["support with the whole"] = sigmoid((logit(found["support"]) + logit(np.array(whole))) / 2)
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
    readings = judges.models.support([("\n".join(row["contexts"]), row["claim"] or row["response"]) for row in rows])
    said = np.array([int(one.probability >= 0.5) for one in readings])
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
    readings = judges.models.support([(row.passage, row.claim) for row in rows])
    share = np.array([one.contradiction / max(1e-9, 1 - one.probability) for one in readings])
    both = [source for source in sorted(set(sources.tolist())) if len(set(labels[sources == source].tolist())) == 2]
    here = np.isin(sources, both)
    return figures(labels[here], share[here], (share[here] >= 0.5).astype(int), sources[here])


def usefulness(judges: Judges, data: Path) -> Figures:
    rows = list(reading.lines(data / "context_relevance.jsonl.gz"))
    labels, sources = np.array([row["label"] for row in rows]), np.array([row["source"] for row in rows])
    pairs = [(row["question"], "\n".join(row["contexts"])) for row in rows]
    start = time.process_time()
    scores = judges.models.relevance(pairs)
    spent = time.process_time() - start
    shared = np.array([overlap(passage, question) for question, passage in pairs])
    return {
        "relevance": figures(labels, scores, (scores >= 0.5).astype(int), sources),
        "word_overlap": figures(labels, shared, elsewhere(labels, shared, sources), sources),
        "pairs_per_cpu_second": round(len(pairs) / spent, 1),
    }


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


def card(out: Path, measured: Figures) -> Figures:
    trained: dict[str, Any] = json.loads((out / "support.json").read_text(encoding="utf-8"))
    support, useful = measured["support"], measured["usefulness"]
    return {
        "languages": ["en"],
        "support": {
            "what": "a cross-encoder that reads passage and claim, with a regression over shared words",
            **support,
            "calibration": trained["support"],
            "regression": trained["trained"],
        },
        "relevance": {
            "what": "ms-marco-MiniLM-L-12-v2, cross-encoder",
            "agreement": useful,
            "calibration": trained["usefulness"],
        },
        "embedding": {"what": "all-MiniLM-L6-v2", "dimensions": 384},
        "limits": [
            "English only.",
            "Small models: subtle changes in summaries and opinions in dialogue are often misjudged (see by_source).",
            "A claim is read against at most 130 words of a passage, chosen from all of it by shared words: what a "
            "long passage says in quite other words may not be found.",
            "No arithmetic, no inference over many passages, no tables, no pronouns resolved over long distances.",
            "A missing number or name is reported when it is nowhere in the passage.",
            "Not for gating a release without people or a stronger judge behind it.",
        ],
    }


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True, help="the directory of the models; card.json goes there")
    ask.add_argument("--embedding", action="store_true")
    ask.add_argument("--whole-files", action="store_true", help="every row of every file too: an hour")
    ask.add_argument("--keep-usefulness", action="store_true")
    given = ask.parse_args()
    judges = Judges(given.out, given.embedding)
    # foolmetwice is left out, as in the earlier measurements this one is compared with
    rows = [row for row in all_rows(given.data, reading.GROUNDEDNESS) if row.source != "foolmetwice"]
    support: Figures = {"agreement": compare(judges, reading.sample(rows, 80, seed=5, even=True))}
    show_all("14 sources", support["agreement"])
    support["ragtruth_answers"] = compare(judges, all_rows(given.data, ["ragtruth_dev"]))
    show_all("RAGTruth, whole answers", support["ragtruth_answers"])
    support["counterfactual_context"] = compare(judges, all_rows(given.data, ["counterfactual_context"]))["support"]
    show("counterfactual context", support["counterfactual_context"])
    support["judge_injection"] = injection(judges, given.data)
    print("\ninjection", json.dumps(support["judge_injection"], indent=1))
    support["contradicted_or_not_mentioned"] = contradictions(judges, given.data)
    show("contradicted against not mentioned", support["contradicted_or_not_mentioned"])
    if given.whole_files:
        support["whole_files"] = {
            name: compare(judges, all_rows(given.data, [name]))["support"] for name in reading.GROUNDEDNESS
        }
    if given.keep_usefulness:
        useful = json.loads((given.out / "card.json").read_text(encoding="utf-8"))["relevance"]["agreement"]
    else:
        useful = usefulness(judges, given.data)
    show("usefulness", useful["relevance"])
    measured = {"support": support, "usefulness": useful}
    (given.out / "card.json").write_text(json.dumps(card(given.out, measured), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
