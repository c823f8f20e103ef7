"""The table of shapes for docs/evidence/capture.md: python -m tests.capture_table > docs/evidence/capture.md"""

from __future__ import annotations

import itertools
from typing import Any

from integrations.langchain.tests.shapes import SHAPES as LANGCHAIN
from integrations.llama_index.tests.shapes import SHAPES as LLAMA_INDEX
from tests.versions import MATRICES, NEWEST, OLDEST, environment, installed, marks

PACKAGES = {"langchain": ("langchain-core", "langgraph"), "llama_index": ("llama-index-core",)}
TITLES = {"langchain": "LangChain and LangGraph", "llama_index": "LlamaIndex"}
SHAPES: dict[str, list[Any]] = {"langchain": LANGCHAIN, "llama_index": LLAMA_INDEX}
SIGNS = {"passed": "✓", "skipped": "–", "wrong": "✗", "failed": "✗"}

HEAD = """# What is captured, shape by shape

[What is captured](../what-is-captured.md) is the page for those who attach assay; this one is the evidence for it. Each
line is a test with a real chain, graph, agent or engine around a scripted model, which expects exactly this question,
these contexts, this answer, this status and this history.

The **question** is what the user asked in this turn, the **answer** what the user received. The **contexts** are what
the outermost retrieval step delivered to the step that answered, in order and each once; a context is *in the prompt*
when its text stood in the prompt of the LLM call that gave the answer, or, where code put the answer together, of one
that gave a part of it. What cannot be determined is declared, never guessed: a sample without contexts says why in
`metadata["no_context"]`.

The groups called *applications* are rebuilt from the frameworks' documentation, cookbooks and templates. What is right
for them was written down, with the reason that stands in the line, before capture was run on any of them.

✓ is captured so; ✗ is not yet, and the line says what comes in its place; – is a shape that this version of the
framework does not have. Made by `python -m tests.capture_table`; `tests/test_versions.py` holds it true.

{counts}

## Decisions

Where two readings of "right" can be defended, this is the one that is tested:

- **A report that nobody put a question for** (a topic, sections, a text joined by code): the topic is the question, and
  each passage that a writer of a part was shown was in the prompt.
- **A refusal** without a model or a search is an exchange: somebody asked, and got an answer.
- **Rows of a database** are passages where the framework hands them to the answering step as nodes (LlamaIndex's SQL
  engines), and none where they are a text in a state (LangChain's SQL chains): there the contexts are not known.
- **Facts about the user** from a long-term memory are no passages: they say how to answer, not what is true.
- **A turn that the model knows in short**, from a summary that took the place of its messages, is history: the user and
  the model go on from it. One that the application deleted, or that a chat engine forgot by `reset()`, is not.
- **A run from an earlier checkpoint** is the same turn again, and what it replaces is no history of it.
- **An inner agent or engine** that serves an outer one is no exchange of its own.
- **A structure as the answer** counts by its field `answer` (or another known name) in LangChain, and as its JSON in
  LlamaIndex, whose responses are that text.
"""


def counts() -> str:
    """How many shapes there are, how many of them are applications, and how many are captured wrong today."""
    each = []
    for framework, shapes in SHAPES.items():
        rebuilt = sum(bool(shape.why) for shape in shapes)
        wrong = sum(bool(shape.wrong) for shape in shapes)
        each.append(
            f"{TITLES[framework]}: {len(shapes)} shapes, {rebuilt} of them applications; {wrong} are captured wrong"
        )
    return ". ".join(each) + "."


def name_of_test(shape: Any) -> str:
    """The name of the test of a shape."""
    return f"test_shape[{shape.group}-{shape.name}]".replace(" ", "_")


def line(shape: Any, signs: list[str]) -> str:
    """One shape, in one line of the table: with the reason for what is right, and with what is wrong, where known."""
    about = f"{shape.about}<br>*{shape.why}*" if shape.why else shape.about
    if shape.wrong:
        about += f"<br>**Today:** {shape.wrong}"
    samples = "; ".join(dict.fromkeys(_sample(expected) for expected in shape.expect)) or "no sample"
    if len(shape.expect) > 1:
        samples = f"{len(shape.expect)} samples: {samples}"
    return f"| {about} | {samples} | {' | '.join(signs)} |"


def _sample(expected: Any) -> str:
    if expected.contexts is None:
        contexts = "no context"
    else:
        seen = sum(in_prompt is True for _, in_prompt in expected.contexts)
        count = len(expected.contexts)
        contexts = f"{count} context{'s' * (count != 1)}" + (f", {seen} in the prompt" if count else "")
    return contexts + (f", {expected.status}" if expected.status != "complete" else "")


def main() -> None:
    print(HEAD.format(counts=counts()))
    pythons = {versions.name: environment(versions) for versions in (OLDEST, NEWEST)}
    for framework, shapes in SHAPES.items():
        found = {name: marks(python, MATRICES[framework]) for name, python in pythons.items()}
        versions = {name: installed(python, *PACKAGES[framework]) for name, python in pythons.items()}
        print(f"## {TITLES[framework]}\n")
        heads = [", ".join(f"{package} {number}" for package, number in versions[name].items()) for name in pythons]
        for group, members in itertools.groupby(shapes, key=lambda shape: shape.group):
            print(f"### {group[0].upper() + group[1:]}\n")
            print(f"| shape | what is captured | {' | '.join(heads)} |\n|---|---|{'---|' * len(heads)}")
            for shape in members:
                print(line(shape, [SIGNS[found[name][name_of_test(shape)]] for name in pythons]))
            print()


if __name__ == "__main__":
    main()
