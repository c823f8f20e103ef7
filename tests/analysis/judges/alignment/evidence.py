"""The tables of docs/evidence/trust.md.

`python -m tests.analysis.judges.alignment.evidence FOLDER [ROWS [STORE]]` writes them.

FOLDER holds the development sets as gzipped JSON lines. The embedded judge, with no setting changed, reads a random
sample of each; nothing of it is tuned on them, and rows that are held out are not in them.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assay.analysis.judges.alignment.alignment import Alignment, align
from assay.analysis.judges.alignment.labels import labels_of
from assay.analysis.judges.alignment.scoring import score_labels
from assay.analysis.judges.probes.run import probe

PAGE = Path(__file__).parents[4] / "docs" / "evidence" / "trust.md"
SEED = 14
Row = dict[str, Any]


def _claim(row: Row) -> Row | None:
    return None if not row["claim"] else {**_texts(row), "claim": row["claim"]}


def _passage(row: Row) -> Row | None:
    return {**_texts(row), "passage": 1} if len(row["contexts"]) == 1 else None


def _answer(row: Row) -> Row:
    return {**_texts(row), "answer": row["response"]}


def _texts(row: Row) -> Row:
    return {name: row[name] for name in ("id", "question", "contexts", "label", "source")}


#: File, what is asked, how a row becomes a label, rows at most, the metric of samples.
SETS: tuple[tuple[str, str, Callable[[Row], Row | None], int, str | None], ...] = (
    ("attribution_qa", "does the evidence support the claim?", _claim, 300, None),
    ("claim_evidence", "does the evidence support the claim?", _claim, 300, None),
    ("factscore_claims", "does the page support the fact?", _claim, 150, None),
    ("context_relevance", "does the passage answer the question?", _passage, 300, None),
    ("ragtruth_dev", "is the whole answer supported?", _answer, 300, "faithfulness"),
    ("summ_consistency", "is the whole summary supported?", _answer, 300, "faithfulness"),
    ("dialogue_groundedness", "is the whole reply supported?", _answer, 300, "faithfulness"),
)


def measured(folder: Path, most: int, store: Path) -> Iterator[tuple[str, str, Alignment]]:
    for name, asks, made, rows, metric in SETS:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            found = [row for line in lines if (row := made(json.loads(line))) is not None]
        some = random.Random(SEED).sample(found, min(most, rows, len(found)))
        labels = labels_of(some, name=name)
        result = score_labels(labels, metric, "embedded", store, progress=False)
        print(f"{name}: {len(some)} rows, {result.seconds:.0f} s", file=sys.stderr, flush=True)
        yield name, asks, align(result, labels, metrics=metric, by="source")


def agreement_table(found: list[tuple[str, str, Alignment]]) -> str:
    lines = [
        "| set | the question | labels (yes) | AUROC | balanced accuracy | kappa | right, always the same | "
        "calibration error, by chance | with 4/5 of the labels |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, asks, alignment in found:
        for group in alignment.groups.values():
            one = group.agreement
            if one is None:
                continue
            right = "–" if one.accuracy is None else f"{one.accuracy.value:.3f}, {one.majority:.3f}"
            ece = "–" if one.ece is None else f"{_one(one.ece)}, {one.ece_by_chance:.3f}"
            then = "–"
            if group.calibrated is not None and group.calibrated.ece is not None:
                balanced = group.calibrated.balanced_accuracy
                then = f"error {group.calibrated.ece.value:.3f}"
                then += "" if balanced is None else f", balanced {balanced.value:.3f}"
            figures = [f"{one.n} ({one.prevalence:.0%})", *map(_one, (one.auroc, one.balanced_accuracy, one.kappa))]
            lines.append("| " + " | ".join([name, asks, *figures, right, ece, then]) + " |")
    return "\n".join(lines)


def slices_table(found: list[tuple[str, str, Alignment]]) -> str:
    lines = ["| source | labels (yes) | AUROC | balanced accuracy | kappa |", "|---|---|---|---|---|"]
    for name, _, alignment in found:
        for group in alignment.groups.values():
            for source, one in group.slices.items():
                if one.thin is None and len(group.slices) > 1:
                    lines.append(
                        f"| {name}: {source} | {one.n} ({one.prevalence:.0%}) | {_one(one.auroc)} | "
                        f"{_one(one.balanced_accuracy)} | {_one(one.kappa)} |"
                    )
    return "\n".join(lines)


def probes_table(folder: Path, store: Path) -> str:
    """On the rows of the demo and 60 rows of question answering."""
    with gzip.open(folder / "attribution_qa.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    some = [{"question": row["question"], "contexts": row["contexts"]} for row in random.Random(SEED).sample(rows, 60)]
    found = probe("embedded", some, limit=60, store=store)
    lines = ["| check | the verdict must | passed | share |", "|---|---|---|---|"]
    for one in found.probes.values():
        share = "–" if one.share is None else f"{one.share.mean:.2f} ({one.share.low:.2f}–{one.share.high:.2f})"
        passed = "cannot be asked" if one.cannot is not None else f"{one.passed} of {one.cases}"
        lines.append(f"| {one.name} | {one.expects} | {passed} | {share} |")
    return "\n".join(lines)


def _one(figure: Any) -> str:
    return "–" if figure is None else f"{figure.value:.3f} ({figure.low:.3f}–{figure.high:.3f})"


def written(page: str, blocks: dict[str, str]) -> str:
    """The page with these blocks between their marks."""
    for name, text in blocks.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?<!-- end -->", re.DOTALL)
        page = mark.sub(lambda found, text=text: f"{found[1]}{text}\n<!-- end -->", page)
    return page


def main(folder: Path, most: int, store: Path) -> None:
    blocks = {"checks": probes_table(folder, store)}
    found = list(measured(folder, most, store))
    blocks |= {"agreement": agreement_table(found), "slices": slices_table(found)}
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(sys.argv[1]), int((sys.argv[2:] or [1000])[0]), Path((sys.argv[3:] or [made])[0]))
