"""Whole answers: one verdict each, answers to short questions, and what people grade.

- data2text: answers of LLMs about records (`data2text_spans`), right or not, as in `measure.agreement`.
- grounded: the metric `grounded` on whole answers of RAGTruth and `data2text_spans`, at its own threshold of 0.5 and at
  the one that is best on other documents; beside it "every claim is supported" (`faithfulness < 1`).
- correctness: `answer_correctness` at 0.5 on answers to short questions (EVOUNA), 200 of each source and label.
- short: whether a passage supports an answer of a few words, read with its question: the right one, and that of another
  question on the same passage (XQuAD, English), which stands there as well. Beside it the same without the question.
- graded: rank correlation (Spearman) of what people give an answer with the mean probability of its claims, with the
  share that is supported, with `grounded` and with word overlap; intervals by bootstrap over rows.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rows as reading
from agreement import Figures, balanced, figures, overlap
from scipy.stats import spearmanr
from signals import Signals

from assay import evaluate
from assay.judges.pairwise_support import claim_texts
from assay.metrics._grounded import probability_grounded
from assay.text.short_answers import aliases

FOLDS = 5


def correctness(signals: Signals, data: Path) -> Figures:
    found = reading.sample(
        [
            reading.Row(row["reference"], row["response"], int(row["label"]), row["source"], (row["question"],))
            for row in reading.lines(data / "answer_correctness.jsonl.gz")
        ],
        400,
        seed=5,
        even=True,
    )
    rows = [{"question": row.contexts[0], "answer": row.claim, "reference": row.passage} for row in found]
    result = evaluate(rows, "answer_correctness", signals.judge, store=None, progress=False)
    values = [row.scores["answer_correctness"].value for row in result]
    scores = np.array([0.0 if value is None else value for value in values])  # no claim: a refusal is no right answer
    labels, sources = np.array([row.label for row in found]), np.array([row.source for row in found])
    return {
        "answer_correctness": figures(labels, scores, (scores >= 0.5).astype(int), sources),
        "unscored": values.count(None),
    }


def short(signals: Signals, data: Path) -> Figures:
    asked = short_pairs(data)
    labels = np.array([label for *_, label in asked])
    sources = np.array(["xquad_en"] * len(asked))
    out: Figures = {}
    for name, with_question in (("with the question", True), ("alone", False)):
        pairs = [
            (text, *claim_texts(said, question if with_question else None, text)) for question, text, said, _ in asked
        ]
        scores = np.array([one.probability for one in signals.judge.models.support([pair[:2] for pair in pairs])])
        out[name] = figures(labels, scores, (scores >= 0.5).astype(int), sources)
    return out


def short_pairs(data: Path, most: int = 400) -> list[tuple[str, str, str, int]]:
    """Question, passage, answer of a few words, and whether it answers this question: right and wrong alike often."""
    on: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in reading.lines(data / "qa_gold.jsonl.gz"):
        said = row["reference"].split(" | ")[0]
        if row["source"] == "xquad_en" and len(aliases(said)) == 1:
            on[row["contexts"][0]].append((row["question"], said))
    rng, out = random.Random(3), []
    for text, answers in on.items():
        for question, said in answers[:3]:
            others = [o for _, o in answers if o.lower() not in said.lower() and said.lower() not in o.lower()]
            if others:
                out += [(question, text, said, 1), (question, text, rng.choice(others), 0)]
    return out[: 2 * most]


def grounded(signals: Signals, data: Path) -> Figures:
    out: Figures = {}
    for name in ("ragtruth_dev", "data2text_spans"):
        rows = list(reading.development(data, name))
        verdicts = signals.verdicts(rows)
        labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
        scores = np.array([probability_grounded(one) for one in verdicts])
        every = np.array([int(all(v.label == "supported" for v in one)) for one in verdicts])
        fold = np.array([int(hashlib.sha256(row.passage.encode()).hexdigest(), 16) % FOLDS for row in rows])
        out[name] = figures(labels, scores, (scores >= 0.5).astype(int), sources)
        out[f"{name}, threshold of other documents"] = figures(labels, scores, folded(labels, scores, fold), sources)
        out[f"{name}, every claim supported"] = figures(labels, every.astype(float), every, sources)
    return out


def folded(labels: np.ndarray, scores: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Labels by the threshold that is best on the rows of the other folds."""
    said = np.zeros(len(labels), int)
    for here in (fold == k for k in set(fold.tolist())):
        edges = np.unique(np.quantile(scores[~here], np.linspace(0.01, 0.99, 99)))
        best = max(edges, key=lambda edge: balanced(labels[~here], (scores[~here] >= edge).astype(int)))
        said[here] = scores[here] >= best
    return said


def graded(signals: Signals, data: Path) -> Figures:
    out: Figures = {}
    for name in ("rag_quality_graded", "summ_quality_graded"):
        found = [row for row in reading.lines(data / f"{name}.jsonl.gz") if row["contexts"] and row["response"]]
        rows = [
            reading.Row("\n".join(row["contexts"]), row["response"], 0, name, tuple(row["contexts"])) for row in found
        ]
        grades = np.array([float(row["label"]) for row in found])
        verdicts = signals.verdicts(rows)
        signals_of = {
            "mean probability": [np.mean([v.probability for v in one]) for one in verdicts],
            "share supported": [np.mean([v.label == "supported" for v in one]) for one in verdicts],
            "grounded": [probability_grounded(one) for one in verdicts],
            "word overlap": [overlap(row.passage, row.claim) for row in rows],
        }
        out[name] = {"rows": len(rows)} | {
            key: {"spearman": round(rank(grades, np.array(values)), 3), "spearman_95": ranks(grades, values)}
            for key, values in signals_of.items()
        }
    return out


def rank(grades: np.ndarray, values: np.ndarray) -> float:
    return float(spearmanr(grades, values).statistic)


def ranks(grades: np.ndarray, values: Sequence[float]) -> list[float]:
    """The middle 95 % of the correlation over rows drawn with replacement."""
    rng, column, found = np.random.default_rng(0), np.array(values), []
    for _ in range(500):
        drawn = rng.integers(0, len(grades), len(grades))
        if len(set(grades[drawn].tolist())) > 1:
            found.append(rank(grades[drawn], column[drawn]))
    return [round(float(edge), 3) for edge in np.percentile(found, [2.5, 97.5])]
