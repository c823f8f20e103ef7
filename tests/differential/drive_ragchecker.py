"""What RAGChecker counts from the verdicts of `worlds`, each passage read alone as it does.

Run by `python -m tests.differential ragchecker`, in an environment that has ragchecker without what its models need;
prints the golden file. Its metrics are functions of four tables of labels, which are given here.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from types import ModuleType
from typing import Any

import worlds

# its package imports the clients of its models, which nothing here needs
for name, wanted in {
    "refchecker": (),
    "refchecker.extractor": ("LLMExtractor",),
    "refchecker.checker": ("LLMChecker", "NLIChecker", "AlignScoreChecker"),
    "loguru": ("logger",),
}.items():
    sys.modules[name] = ModuleType(name)
    for one in wanted:
        setattr(sys.modules[name], one, object)

from ragchecker import metrics  # noqa: E402
from ragchecker.computation import METRIC_FUNC_MAP  # noqa: E402
from ragchecker.container import RAGResult, RetrievedDoc  # noqa: E402

LABELS = {"supported": "Entailment", "contradicted": "Contradiction", "not_mentioned": "Neutral"}


def label(claim: str, text: str) -> str:
    return LABELS[worlds.label(claim, text)]


def result_of(case: worlds.Case) -> RAGResult:
    """A case with the verdicts of the world."""
    return RAGResult(
        query_id=case.id,
        query=case.question,
        gt_answer=case.reference,
        response=case.answer,
        retrieved_context=[RetrievedDoc(doc_id=str(n), text=text) for n, text in enumerate(case.contexts)],
        answer2response=[label(claim, case.reference) for claim in case.said],
        response2answer=[label(claim, case.answer) for claim in case.known],
        retrieved2response=[[label(claim, text) for text in case.contexts] for claim in case.said],
        retrieved2answer=[[label(claim, text) for text in case.contexts] for claim in case.known],
    )


def number(name: str, case: worlds.Case) -> float | None:
    result = result_of(case)
    try:
        METRIC_FUNC_MAP[name](result)
    except IndexError:
        return None
    return float(result.metrics[name])


def main() -> None:
    exports = sorted(metrics.METRIC_GROUP_MAP[metrics.all_metrics])
    values: dict[str, dict[str, Any]] = {
        name: {case.id: number(name, case) for case in worlds.cases() if case.known} for name in exports
    }
    found = {"versions": {"ragchecker": version("ragchecker")}, "exports": exports, "values": values}
    print(json.dumps(found, indent=1, sort_keys=True))


main()
