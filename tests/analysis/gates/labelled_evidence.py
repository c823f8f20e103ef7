"""The figures of docs/evidence/gates.md, by people's labels: `python -m tests.analysis.gates.labelled_evidence FOLDER`

FOLDER holds the development sets as gzipped JSON lines. The embedded judge reads their answers; 100 labels by chance
give the threshold, and the rest is the run, of which it is known how many people call good.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from assay.analysis.gates.label_share import of_share
from assay.analysis.judges.alignment.alignment import align
from assay.analysis.judges.alignment.labels import labels_of
from assay.analysis.judges.alignment.scoring import score_labels
from tests.analysis.gates.test_labelled_simulated import drawn, found_on, wrong
from tests.analysis.judges.alignment.evidence import SEED

SETS = {"dialogue_groundedness": 400, "summ_consistency": 400, "ragtruth_dev": 200}
KINDS = ("well", "badly", "claims")


def held(folder: Path, name: str, times: int = 300) -> None:
    """How often the interval holds the share of the run, as it is, and with rows left out so that it is another one."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [{**row, "answer": row["response"]} for row in map(json.loads, lines)]
    kept = ("id", "question", "contexts", "answer", "label")
    some = [{key: row[key] for key in kept} for row in random.Random(SEED).sample(rows, min(SETS[name], len(rows)))]
    labels = labels_of(some, name=name)
    with tempfile.TemporaryDirectory() as store:
        result = score_labels(labels, "faithfulness", "embedded", Path(store) / "s", progress=False)
        pairs = align(result, labels, metrics="faithfulness").groups["faithfulness"].pairs
    values, good = np.array([pair.item.value for pair in pairs]), np.array([pair.truth == 1.0 for pair in pairs])
    print(f"{name}: {good.size} rows, {good.mean():.0%} good")
    rng = np.random.default_rng(1)
    for share in (None, 0.2, 0.8):
        found, width = [], []
        for _ in range(times):
            order = rng.permutation(good.size)
            one = found_on(values[order[:100]], good[order[:100]])
            rest = order[100:] if share is None else with_share(order[100:], good, share)
            if isinstance(one, str):
                continue
            shown = of_share(values[rest].tolist(), one, "higher", 0.5, clusters=None, alpha=0.05)
            assert shown.interval is not None
            low, high = shown.interval
            found.append(low <= good[rest].mean() <= high)
            width.append(high - low)
        print(f"  share {share or 'as it is'}: holds {np.mean(found):.1%}, width {np.median(width):.2f}")


def with_share(rows: Any, good: Any, share: float) -> Any:
    """As many of the rows as there are with this share of good ones."""
    yes, no = rows[good[rows]], rows[~good[rows]]
    n = int(min(yes.size / share, no.size / (1.0 - share)))
    return np.concatenate([yes[: round(n * share)], no[: n - round(n * share)]])


def simulated() -> None:
    """How often gates are wrong whose limit is the true share, and what labels are good for."""
    cases = [
        wrong(kind, labels, rows, among, true, 400)[:2]
        for kind, labels, rows in itertools.product(KINDS, (40, 100, 200), (50, 500))
        for among, true in ((0.5, 0.8), (0.7, 0.95), (0.7, 0.5))
    ]
    print("fail, pass: mean", np.mean(cases, axis=0), "most", np.max(cases, axis=0), "of", len(cases), "settings")
    rng = np.random.default_rng(5)
    for kind, labels in itertools.product(KINDS, (50, 100, 200, 400)):
        width, passed = [], []
        for _ in range(150):
            good = rng.random(labels) < 0.7
            one = found_on(drawn(kind, good, rng), good)
            if not isinstance(one, str):
                now = drawn(kind, rng.random(300) < 0.8, rng).tolist()
                shown = of_share(now, one, "higher", 0.6, clusters=None, alpha=0.05)
                assert shown.interval is not None
                width.append(shown.interval[1] - shown.interval[0])
                passed.append(shown.holds)
        print(f"{kind}, {labels} labels: width {np.median(width):.2f}, passes 0.6 in {np.mean(passed):.0%}")


if __name__ == "__main__":
    simulated()
    for name in SETS:
        held(Path(sys.argv[1]), name)
