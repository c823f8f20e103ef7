"""Measures the models that ship against people, prints the figures and writes `card.json`.

    python measure.py --data DATA --files DIR [--only agreement ragtruth ...] [--no-embedding]
    python measure.py --data DATA --judge local:PATH [--only agreement ragtruth ...]

With --judge, another judge is measured on the same rows, and the card stays as it is.

- agreement: of every source of the development sets at most 80 rows, half of them supported (seed 5). What is measured
  is the judge itself, with each context as a passage of its own. AUROC, balanced accuracy at the shipped threshold and
  at one chosen on the other sources, F1 of the unsupported class, bootstrap 95 % intervals over rows; beside it, on
  the same rows, what signals.py names, with thresholds from the other sources. An answer of several claims scores the
  mean of its two lowest.
- ragtruth: whole answers, at their own rate of labels.
- usefulness: `context_relevance`.
- directness: questions of `qa_gold` with their answers, and with the answer of the question most like them; answers
  that the judge does not take, and refusals, are left out.
- robustness: `counterfactual_context`, `judge_injection`, contradicted against not mentioned.
- data2text, grounded, correctness, short, graded: see answers.py.
- evidence: how often the sentence that a verdict names is the one that decides (sentences built into others).

With --only, the other parts of an existing card are kept.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import answers
import numpy as np
import robustness
import rows as reading
from agreement import Figures, calibration_error, elsewhere, error_by_chance, figures, gain, overlap
from assay_embedded import load
from calibrate_directness import nearest
from evidence import deciding_sentence
from signals import Signals

from assay.judges.claim_rules import sentence_claims
from assay.judges.embedded.judge import too_short
from assay.judges.resolve import resolve_judge

GROUPS = {
    "qa": ("attributionbench", "rgb_en_fact"),
    "summarization": ("bump", "fib_xsum", "summedits", "true/frank", "true/summeval"),
    "dialogue": ("faithdial_audit", "true/begin", "true/dialfact", "true/q2"),
    "claims": ("factcheckgpt_stance", "factscore", "wice"),
}
LIMITS = [
    "English only.",
    "Small models: subtle changes in summaries and opinions in dialogue are often misjudged (see by_source).",
    "A claim is read against at most 90 words of its passages, chosen from all of them by shared words: what a long "
    "passage says in quite other words may not be found.",
    "No arithmetic, no inference over many passages, no pronouns resolved over long distances.",
    "Records (JSON, tables) are read line by line: what has to be added up, compared or averaged is guessed.",
    "A missing number or name is reported when it is nowhere in the passage.",
    "Not for gating a release without people or a stronger judge behind it.",
]


def all_rows(data: Path, names: Iterable[str]) -> list[reading.Row]:
    return [row for name in names for row in reading.development(data, name)]


def compare(signals: Signals, rows: list[reading.Row], embedding: bool) -> Figures:
    """Every signal on the rows, what the judge gains over each, by group too, and how its probabilities hold."""
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    support = signals.support(rows)
    out: Figures = {"support": figures(labels, support, (support >= 0.5).astype(int), sources)}
    out["support, threshold of the other sources"] = figures(
        labels, support, elsewhere(labels, support, sources), sources
    )
    for name, scores in signals.others(rows, embedding).items():
        out[name] = figures(labels, scores, elsewhere(labels, scores, sources), sources)
        out[f"gain over {name}"] = {"all": gain(labels, support, scores)} | {
            group: gain(labels[here], support[here], scores[here])
            for group, members in GROUPS.items()
            if (here := np.isin(sources, members)).any()
        }
    out |= calibrated(labels, support)
    kinds = {group: np.isin(sources, members) for group, members in GROUPS.items()}
    grouped = set().union(*GROUPS.values())
    kinds |= {source: sources == source for source in sorted(set(sources) - grouped)}
    out["calibration_by_kind"] = {
        kind: calibrated(labels[here], support[here]) for kind, here in kinds.items() if here.any() and not here.all()
    }
    out["claims_per_cpu_second"] = signals.claims_per_cpu_second
    return out


def calibrated(labels: np.ndarray, said: np.ndarray) -> Figures:
    """How far the probabilities are off, what such ones would show by chance if they were right, and both means."""
    error, bins = calibration_error(labels, said)
    return {
        "expected_calibration_error": round(error, 3),
        "reliability": bins,
        "expected_calibration_error_by_chance": round(error_by_chance(said), 3),
        "mean_probability": round(float(said.mean()), 3),
        "share_supported": round(float(labels.mean()), 3),
    }


def agreement(signals: Signals, data: Path, embedding: bool) -> Figures:
    # foolmetwice is left out, as in the earlier measurements this one is compared with
    rows = [row for row in all_rows(data, reading.GROUNDEDNESS) if row.source != "foolmetwice"]
    return compare(signals, reading.sample(rows, 80, seed=5, even=True), embedding)


def ragtruth(signals: Signals, data: Path, embedding: bool) -> Figures:
    return compare(signals, all_rows(data, ["ragtruth_dev"]), embedding)


def data2text(signals: Signals, data: Path, embedding: bool) -> Figures:
    return compare(signals, all_rows(data, ["data2text_spans"]), embedding)


def usefulness(signals: Signals, data: Path, embedding: bool) -> Figures:
    rows = list(reading.lines(data / "context_relevance.jsonl.gz"))
    labels, sources = np.array([row["label"] for row in rows]), np.array([row["source"] for row in rows])
    pairs = [(row["question"], "\n".join(row["contexts"])) for row in rows]
    start = time.process_time()
    scores = signals.models.relevance(pairs)
    spent = time.process_time() - start
    later = [n for n, row in enumerate(rows) if earlier_question(row)]
    if later:  # as the judge reads the last turn of a conversation: with the question before as well
        both = [(f"{earlier_question(rows[n])} {pairs[n][0]}", pairs[n][1]) for n in later]
        scores[later] = np.maximum(scores[later], signals.models.relevance(both))
    shared = np.array([overlap(passage, question) for question, passage in pairs])
    out: Figures = {
        "relevance": figures(labels, scores, (scores >= 0.5).astype(int), sources),
        "word overlap": figures(labels, shared, elsewhere(labels, shared, sources), sources),
        "gain over word overlap": {"all": gain(labels, scores, shared)},
        **calibrated(labels, scores),
        "pairs_per_cpu_second": round(len(pairs) / spent, 1),
    }
    if embedding:
        texts = signals.models.embed([text for pair in pairs for text in pair])
        near = (texts[0::2] * texts[1::2]).sum(axis=1)
        out["embedding similarity"] = figures(labels, near, elsewhere(labels, near, sources), sources)
    return out


def earlier_question(row: Mapping[str, Any]) -> str:
    """What the user asked in the turn before; "" in the first of a conversation."""
    asked = [turn["text"] for turn in (row.get("meta") or {}).get("history") or () if turn["role"] == "user"]
    return asked[-1] if asked else ""


def directness(signals: Signals, data: Path, embedding: bool) -> Figures:
    found: dict[str, dict[str, str]] = {}
    for row in reading.lines(data / "qa_gold.jsonl.gz"):
        answer = row["response"] or (row["reference"] or "").split(" | ")[0]
        if not too_short(answer) and sentence_claims(answer):  # refusals are known by rule
            found.setdefault(reading.group(row["source"]), {}).setdefault(row["question"], answer)
    own = {source: list(pairs.items())[:200] for source, pairs in found.items()}
    pairs = [(pair, 1, source) for source, listed in own.items() for pair in listed]
    pairs += [(pair, 0, source) for source, listed in own.items() for pair in nearest(signals.models, listed)]
    labels, sources = np.array([label for _, label, _ in pairs]), np.array([source for _, _, source in pairs])
    texts = [pair for pair, _, _ in pairs]
    scores = signals.models.directness(texts)
    out: Figures = {"directness": figures(labels, scores, (scores >= 0.5).astype(int), sources)}
    if embedding:
        vectors = signals.models.embed([text for pair in texts for text in pair])
        near = (vectors[0::2] * vectors[1::2]).sum(axis=1)
        out["embedding similarity"] = figures(labels, near, elsewhere(labels, near, sources), sources)
        out["gain over embedding similarity"] = {"all": gain(labels, scores, near)}
    return out


PARTS: dict[str, Callable[[Signals, Path, bool], Figures]] = {
    "agreement": agreement,
    "ragtruth": ragtruth,
    "data2text": data2text,
    "grounded": lambda signals, data, _: answers.grounded(signals, data),
    "correctness": lambda signals, data, _: answers.correctness(signals, data),
    "short": lambda signals, data, _: answers.short(signals, data),
    "graded": lambda signals, data, _: answers.graded(signals, data),
    "usefulness": usefulness,
    "directness": directness,
    "robustness": lambda signals, data, _: robustness.measured(signals, data),
    "evidence": lambda signals, data, _: deciding_sentence(signals.models, data),
}


#: parts that ask no more of a judge than support
OF_ANY_JUDGE = ("agreement", "ragtruth", "data2text", "grounded", "graded")


def show(part: str, found: Figures) -> None:
    print(f"\n== {part}")
    for name, one in found.items():
        if isinstance(one, dict) and "auroc" in one:
            means = one["auroc_mean_over_sources"], one["balanced_accuracy_mean_over_sources"]
            print(
                f"{name:40s} n {one['rows']:5d}  AUROC {one['auroc']:.3f} {one['auroc_95']}  "
                f"bacc {one['balanced_accuracy']:.3f} {one['balanced_accuracy_95']}  F1- {one['f1_unsupported']:.3f} "
                f"{one['f1_unsupported_95']}  over sources: AUROC {means[0]:.3f} bacc {means[1]:.3f}"
            )
            for source, each in one["by_source"].items() if len(one["by_source"]) > 1 else ():
                print(f"    {source:24s} AUROC {each['auroc']:.3f} {each['auroc_95']}  "
                      f"bacc {each['balanced_accuracy']:.3f}  F1- {each['f1_unsupported']:.3f}")  # fmt: skip
        elif name.startswith("gain"):
            print(f"{name:40s}", {group: (g["auroc_gain"], g["auroc_gain_95"]) for group, g in one.items()})
        else:
            print(f"{name:40s}", json.dumps(one))


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, help="the files that ship; card.json is written there")
    ask.add_argument("--judge", help="another judge by name, such as local:PATH; needs the embedded one beside it")
    ask.add_argument("--only", nargs="+", choices=PARTS)
    ask.add_argument("--no-embedding", dest="embedding", action="store_false")
    given = ask.parse_args()
    if given.judge:
        signals = Signals(load(), resolve_judge(given.judge))
        for part in given.only or OF_ANY_JUDGE:
            show(part, PARTS[part](signals, given.data, given.embedding))
        return
    if given.files is None:
        ask.error("--files or --judge is needed")
    signals = Signals(load())
    path = given.files / "card.json"
    card = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    numbers = json.loads((given.files / "support.json").read_text(encoding="utf-8"))
    parts = {k: v for k, v in (*card.get("support", {}).items(), *card.get("relevance", {}).items()) if k in PARTS}
    for part in given.only or PARTS:
        parts[part] = PARTS[part](signals, given.data, given.embedding)
        show(part, parts[part])
    path.write_text(json.dumps(carded(parts, numbers), indent=1) + "\n", encoding="utf-8")


def carded(parts: Figures, numbers: Figures) -> Figures:
    """The model card: what each model is, what was measured, how it was calibrated, where it ends."""
    asked_of_relevance = ("usefulness", "directness")
    return {
        "languages": ["en"],
        "support": {
            "what": "MiniLM-L12 reads claim and passage (supported, contradicted, not mentioned), with a regression "
            "over shared words",
            "threshold": 0.5,
            **{name: found for name, found in parts.items() if name not in asked_of_relevance},
            "calibration": numbers["support"],
            "regression": numbers["trained"],
        },
        "relevance": {
            "what": "ms-marco-MiniLM-L-12-v2 reads question and passage, or question and answer",
            "threshold": 0.5,
            **{name: parts[name] for name in asked_of_relevance if name in parts},
            "calibration": {name: numbers[name] for name in asked_of_relevance},
        },
        "embedding": {"what": "all-MiniLM-L6-v2", "dimensions": 384},
        "limits": LIMITS,
    }


if __name__ == "__main__":
    main()
