"""The corpus of everyday statements, as the judge that ships reads it.

    python statements.py --part development

An answer goes the way of any answer: it is cut into claims, each is read with the question against all passages, and
the lowest probability counts. An answer of which no claim is left counts as not said: neither right nor wrong in
`right_of_said`, wrong in balanced accuracy. Intervals are bootstraps over items, not rows.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import corpus
import numpy as np
from agreement import Figures, balanced
from sklearn.metrics import roc_auc_score

from assay import evaluate
from assay.judges.base import BaseJudge
from assay.prompts import Claims, Support

WRONG = 0.15  # share of wrong ones among what is said, for which the band of "uncertain" is chosen on development
DRAWS = 400


def read(judge: BaseJudge, rows: Sequence[corpus.Statement]) -> list[float | None]:
    """The lowest probability of the claims of each answer; None where nothing is claimed."""
    return asyncio.run(_read(judge, rows))


async def _read(judge: BaseJudge, rows: Sequence[corpus.Statement]) -> list[float | None]:
    asked = [Claims(text=row.answer, language=row.language, question=row.question) for row in rows]
    found = [answer.judgement or () for answer in await judge.answer(asked)]
    prompts = {
        n: Support(claims, row.contexts, row.question, language=row.language)
        for n, (row, claims) in enumerate(zip(rows, found, strict=True))
        if claims
    }
    answers = dict(zip(prompts, await judge.answer(list(prompts.values())), strict=True))
    for answer in answers.values():
        if answer.failure is not None:
            raise answer.failure
    return [min(v.probability for v in answers[n].judgement) if n in answers else None for n in range(len(rows))]


def by_item(measure: Callable[..., float], items: np.ndarray, *columns: np.ndarray) -> list[float]:
    """The middle 95 % of a measure over items drawn with replacement."""
    places = [np.flatnonzero(items == item) for item in sorted(set(items.tolist()))]
    rng, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        drawn = np.concatenate([places[k] for k in rng.integers(0, len(places), len(places))])
        if len(set(columns[0][drawn].tolist())) == 2:
            found.append(measure(*(column[drawn] for column in columns)))
    return [round(float(edge), 3) for edge in np.percentile(found, [2.5, 97.5])]


def auroc(labels: np.ndarray, scores: np.ndarray) -> float:
    return float(roc_auc_score(labels, scores))


def figures(rows: Sequence[corpus.Statement], scores: Sequence[float | None]) -> Figures:
    """AUROC and balanced accuracy of these rows, which all state something."""
    labels, items = np.array([row.label for row in rows]), np.array([row.item for row in rows])
    values = np.array([0.5 if score is None else score for score in scores])
    said = np.array([-1 if score is None else int(score >= 0.5) for score in scores])
    return {
        "rows": len(rows), "skipped": sum(score is None for score in scores),
        "auroc": round(auroc(labels, values), 3), "auroc_95": by_item(auroc, items, labels, values),
        "balanced_accuracy": round(balanced(labels, said), 3),
        "balanced_accuracy_95": by_item(balanced, items, labels, said),
    }  # fmt: skip


def band(labels: np.ndarray, scores: np.ndarray, wrong: float = WRONG) -> float:
    """How far from 0.5 a probability has to be so that at most `wrong` of what is said is wrong; 0.5 for never."""
    for width in np.arange(0, 0.5, 0.005):
        said = np.abs(scores - 0.5) >= width
        if said.any() and ((scores >= 0.5) != labels)[said].mean() <= wrong:
            return round(float(width), 3)
    return 0.5


def outside(labels: np.ndarray, scores: np.ndarray, width: float) -> Figures:
    """What is said where the probability is at least so far from 0.5: its share of all, and how much of it is right."""
    said = np.abs(scores - 0.5) >= width
    right = ((scores >= 0.5) == labels)[said]
    share = round(float(right.mean()), 3) if len(right) else None
    return {"band": width, "share_said": round(float(said.mean()), 3), "right_of_said": share}


def statements(judge: BaseJudge, part: str, language: str = "en") -> Figures:
    """All figures of a part in one language."""
    rows = [row for row in corpus.statements(part, language) if row.label is not None]
    scores = read(judge, rows)
    kinds: dict[str, list[int]] = defaultdict(list)
    for n, row in enumerate(rows):
        kinds[row.kind].append(n)
    out = {"all": figures(rows, scores)}
    for kind in (*corpus.PAIRED, "mixed", "division"):
        out[kind] = figures([rows[n] for n in kinds[kind]], [scores[n] for n in kinds[kind]])
    labels = np.array([row.label for row in rows])
    values = np.array([0.5 if score is None else score for score in scores])
    out["curve"] = [outside(labels, values, width) for width in (0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45)]
    out["band"] = band(labels, values)
    return out


def refusals(judge: BaseJudge, part: str) -> Figures:
    """Of refusals the share of which no claim is left, and of statements the share of which none is."""
    rows = _lines("refusals", part)
    prompts = [Claims(text=row["answer"], language=row["language"], question=row["question"]) for row in rows]
    left = [answer.judgement for answer in asyncio.run(_answers(judge, prompts))]
    out: Figures = {}
    for language in sorted({row["language"] for row in rows}):
        for kind in ("refusal", "statement", "mixed", "talk"):
            found = [not claims for row, claims in zip(rows, left, strict=True)
                     if (row["language"], row["kind"]) == (language, kind)]  # fmt: skip
            if found:
                out[f"{language}, {kind}"] = {"rows": len(found), "skipped": round(float(np.mean(found)), 3)}
    return out


async def _answers(judge: BaseJudge, prompts: Sequence[Claims]) -> Sequence[Any]:
    return await judge.answer(prompts)


def divisions(judge: BaseJudge, part: str) -> Figures:
    """Claims of divided sentences, as annotators divided them: each by itself, and the share of an answer."""
    rows = [row for row in _lines("divisions", part) if row["claims"]]
    claims = [
        corpus.Statement(
            f"{row['id']}-{n}", str(row["item"]), "", "", "en", "division", row["question"], tuple(row["contexts"]),
            claim["text"], claim["label"], None,
        )
        for row in rows
        for n, claim in enumerate(row["claims"])
    ]  # fmt: skip
    answered = evaluate(
        [{"question": r["question"], "contexts": r["contexts"], "answer": r["answer"]} for r in rows],
        "faithfulness", judge, store=None, progress=False,
    )  # fmt: skip
    near, exact, some = [], [], 0
    for row, result in zip(rows, answered, strict=True):
        labels = [claim["label"] for claim in row["claims"]]
        value = result.scores["faithfulness"].value
        if len(labels) > 1 and 0 in labels:
            some += 1
            right = sum(labels) / len(labels)
            near.append(value is not None and abs(value - right) <= 0.15)
            exact.append(value is not None and abs(value - right) < 1e-9)
    return {
        "claims": figures(claims, read(judge, claims)),
        "answers_with_a_false_claim": some,
        "within_0.15_of_the_right_share": round(float(np.mean(near)), 3),
        "exactly_the_right_share": round(float(np.mean(exact)), 3),
    }


def short_answers(judge: BaseJudge, part: str) -> Figures:
    """`answer_correctness` of answers to questions with a short reference: right ones below 0.5, wrong ones above."""
    rows = _lines("short_answers", part)
    asked = [{"question": r["question"], "answer": r["answer"], "reference": r["reference"]} for r in rows]
    result = evaluate(asked, "answer_correctness", judge, store=None, progress=False)
    values = [row.scores["answer_correctness"].value for row in result]
    labels = [row["label"] for row in rows]
    right = [value is None or value < 0.5 for value, label in zip(values, labels, strict=True) if label]
    wrong = [value is not None and value > 0.5 for value, label in zip(values, labels, strict=True) if not label]
    return {
        "rows": len(rows), "right_below_half": round(float(np.mean(right)), 3),
        "wrong_above_half": round(float(np.mean(wrong)), 3),
    }  # fmt: skip


def _lines(name: str, part: str) -> list[dict[str, Any]]:
    return list(map(json.loads, (corpus.FOLDER / name / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()))


def main() -> None:
    """Print the figures of one part."""
    import argparse

    from assay import EmbeddedJudge

    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--part", default="development", choices=("development", "test"))
    ask.add_argument("--threads", type=int)
    given = ask.parse_args()
    judge = EmbeddedJudge(threads=given.threads)
    found = {"statements": statements(judge, given.part)}
    if given.part == "test":
        found |= {"refusals": refusals(judge, "test"), "divisions": divisions(judge, "test"),
                  "short_answers": short_answers(judge, "test")}  # fmt: skip
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
