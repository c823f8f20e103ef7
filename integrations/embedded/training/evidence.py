"""How often the sentence that a verdict names is the one that decides: one sentence known to, built into others."""

from __future__ import annotations

import random
from pathlib import Path

import derive
from agreement import Figures
from assay_embedded import Models
from assay_embedded.sentences import sentences
from prepare_reader import CONTRADICTED, SUPPORTED, Pair, held_out, labelled

SOURCES = ("fever-nli", "foolmetwice", "true/dialfact", "factcheckgpt_stance", "qed_nq")


def built(data: Path, count: int, seed: int) -> list[tuple[str, str, Pair]]:
    """(passage, its deciding sentence, the labelled pair): a premise of one sentence among three to six like it."""
    rng = random.Random(seed)
    kept = [pair for pair in labelled(data) if held_out(pair, 20) and pair.source in SOURCES]
    spans = [pair.passage[a:b] for pair in kept for a, b in sentences(pair.passage)]
    pool = sorted({text for text in spans if 6 <= len(text.split()) <= 40})
    rng.shuffle(kept)
    out = []
    for pair in kept:
        only = [pair.passage[a:b] for a, b in sentences(pair.passage)]
        if len(only) != 1 or pair.label not in (SUPPORTED, CONTRADICTED):
            continue
        near = sorted(
            (text for text in rng.sample(pool, min(len(pool), 1000)) if text not in pair.passage),
            key=lambda text: -derive.shared(pair.claim, text),
        )
        parts = [*near[: rng.randint(3, 6)], only[0]]
        rng.shuffle(parts)
        out.append((" ".join(parts), only[0], pair))
        if len(out) == count:
            break
    return out


def deciding_sentence(models: Models, data: Path, count: int = 300, seed: int = 4) -> Figures:
    """The share of built passages of which the sentence named is the one that decides."""
    rows = built(data, count, seed)
    readings = models.support([(passage, pair.claim) for passage, _, pair in rows])
    right = [
        passage[slice(*one.sentence)] in sentence if one.sentence != (0, 0) else False
        for one, (passage, sentence, _) in zip(readings, rows, strict=True)
    ]
    return {"rows": len(rows), "right": round(sum(right) / len(rows), 3)}
