"""docs/systems.md: every metric of every system, as its entry says. `python -m tests.docs.systems_page --write`."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from assay.judges.cache import JudgementCache
from assay.metrics import systems
from assay.metrics.systems.base import Entry, SystemMetric
from assay.prompts import Similarity
from tests.benchmarks.bench_systems import FIVE
from tests.metrics.systems.any_judge import AnyJudge

PAGE = Path(__file__).parents[2] / "docs" / "systems.md"
BEGIN, END = "<!-- tables: python -m tests.docs.systems_page --write -->", "<!-- end of tables -->"
TITLES = {
    "ragas": "ragas",
    "deepeval": "DeepEval",
    "trulens": "TruLens",
    "langchain": "LangChain evaluation",
    "openevals": "openevals and agentevals",
    "langsmith": "LangSmith",
    "bedrock": "Amazon Bedrock evaluations",
    "ragchecker": "RAGChecker",
    "llamaindex": "LlamaIndex evaluation",
    "multimodal": "Multi-modal RAG",
}
HEAD = (
    "| metric | formula | better | compared with | judges | asks | where nothing can be measured, the original |",
    "|---|---|---|---|---|---|---|",
)


def judges_of(metric: SystemMetric) -> str:
    """Which judges can do a metric, by what it asks."""
    from assay.judges.embedded.judge import PROMPTS

    if not metric.asks:
        return "none needed"
    kinds = ["embedded"] if set(metric.asks) <= set(PROMPTS) else []
    decided = all(one is not Similarity and _is_decided(one) for one in metric.asks)
    return ", ".join([*kinds, "LLM", *(["decisions"] if decided else [])])


def _is_decided(prompt: type) -> bool:
    from assay.prompts import Claims, JudgePrompt

    return prompt is Claims or prompt.questions is not JudgePrompt.questions  # type: ignore[attr-defined]


@cache
def asked(name: str) -> str:
    """How many prompts a metric puts about a sample with five contexts, alone."""
    judge = AnyJudge()
    system, _, short = name.partition(":")
    texts = {key: text for key, text in systems.system_entries(system)[short].example.items() if hasattr(FIVE, key)}
    asyncio.run(systems.named(name).score(replace(FIVE, **texts), JudgementCache(judge)))
    vectors = sum(isinstance(one, Similarity) for one in judge.asked)
    written = len(judge.asked) - vectors
    return f"{written} + {vectors} embeddings" if vectors else str(written)


def row(name: str, entry: Entry) -> str:
    """One line of a table."""
    metric = entry.make()
    steps = entry.steps
    formula = f"{steps.unit} / {steps.against} / {steps.counts} / {steps.aggregate}"
    arrow = {"higher": "↑", "lower": "↓"}[metric.direction]
    also = f" ({', '.join(entry.also)})" if entry.also else ""
    empty = entry.empty or "–"
    columns = f" · {', '.join(f'`{column}`' for column in metric.needed_columns)}" if metric.needed_columns else ""
    cells = [f"`{name}`{also}{columns}", formula, arrow, entry.compared, judges_of(metric), asked(metric.name), empty]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def tables() -> str:
    """All tables, one per system."""
    lines: list[str] = []
    for system in systems.SYSTEMS:
        found = systems.system_entries(system)
        lines += [f"### {TITLES[system]}", "", *HEAD, *(row(name, entry) for name, entry in found.items()), ""]
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables made anew."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{tables()}\n{END}{tail}"


if __name__ == "__main__":
    made = page(PAGE.read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
    else:
        print(made)
