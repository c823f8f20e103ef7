"""The table of shapes for docs/evidence/capture.md: python -m tests.docs.capture_table > docs/evidence/capture.md"""

from __future__ import annotations

import itertools
from typing import Any

from integrations.langchain.tests.shapes import SHAPES as LANGCHAIN
from integrations.llama_index.tests.shapes import SHAPES as LLAMA_INDEX
from tests._support.versions import MATRICES, NEWEST, OLDEST, environment, installed, marks

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
framework does not have. Made by `python -m tests.docs.capture_table`; `tests/test_versions.py` holds it true.

{counts}

## What was decided where one could argue

- **The answer's place.** A well-known name comes first (`answer`, `response`, `output`, `result` …), then messages.
  Else the answer is what stands under the key that holds the text of the last model call, whatever its name; then
  names such as `generation`, `final_answer`, `reply`, `summary`, `report`, where there is one alone. Where two keys
  fit (a draft, and the one word of a check; two chains side by side, of which none is the last) there is no sample,
  and the log says which rule would help. A text that was given is no answer.
- **Where nothing is asked, nothing is answered.** A graph that sums up what it is given is no exchange, unless its
  answer stands under a well-known name. A report on a topic is one: the topic was asked. A graph that waits for a
  human has not answered yet. A refusal without a model or a search is an answer.
- **A structure as the answer** counts by its field `answer` (or another known name) in LangChain, and as its JSON in
  LlamaIndex, whose responses are that text.
- **An answer that code puts together** of what several calls wrote was given by all of them: a passage that one of
  them was shown was in the prompt.
- **Passages by type.** Documents count under any key and in any list or tuple, in pairs with a number (their score),
  and so do dicts and dataclasses that hold a text *and* what tells of a source: metadata, score, source, url. A text
  with nothing but an id may be a task or a claim; a dict with a role or a type is a message, unless the type is
  `search_result`.
- **Iterators belong to the application.** A retriever that returns `filter(...)` or a generator is not read: the
  contexts are unknown, until a later step makes a list of it.
- **What an agent passed over.** Of what its tools found, passages that stand not in the prompt of the answering call
  are no contexts of the answer, where others of them do stand there. What a sub-agent found reached the answer by
  what it wrote, and stays. Without tools all that was retrieved counts, and `in_prompt` tells what was left out.
- **Look-ups of tools are no retrieval**: documents that are nothing but descriptions of tools, which a model was
  offered or which were called.
- **Rows of a database** are passages where the framework hands them to the answering step as nodes (LlamaIndex's SQL
  engines), and none where they are a text in a state (LangChain's SQL chains): there the contexts are not known.
- **Facts about the user** from a long-term memory are no passages: they say how to answer, not what is true.
- **Order made while the text is made** (a formatting function that puts the best passage last) is not seen: the order
  is that of the retrieval.
- **History** is what the application knew when it answered: what it deletes afterwards it still knew, what it had
  deleted or reset before it did not. A turn that it knows in short, from a summary that took the place of its messages,
  is history: the user goes on from it. A run from an earlier checkpoint is the same turn again, and what it replaces
  is no history of it. Only where the state has no messages, turns that this process captured under the same
  `thread_id` or `session_id` are it.
- **An inner agent or engine** that serves an outer one is no exchange of its own.
- **`AssayMiddleware`** hears less than the handler: nothing of a stream that its reader leaves, nor of an agent that
  a tool aborts; after an interrupt it no longer knows what was found before it.

For LlamaIndex, besides:

- **A synthesizer called by the application** (`engine.synthesize(query, nodes)`, `get_response_synthesizer()`) is an
  exchange: its query is the question, the nodes it is handed are the contexts. Where an index sums up texts while it is
  built, or an engine calls it, it is not.
- **Evaluators are no application.** What an evaluator of LlamaIndex, or a subclass of `BaseEvaluator`, asks of engines
  gives no sample, and inside an application no contexts. It is told by the code that calls: an engine that an evaluator
  asks in a task of its own is not told apart, nor are LlamaIndex' generators of data sets. Detach for those.
- **Iterators.** After a post-processor that returns one, a later post-processor or synthesizer beside it that has a
  list tells what was read.
- **Look-ups of tools.** What an agent finds with its `tool_retriever`, and nodes in the form that an `ObjectIndex`
  gives to tools, is no retrieval. What an agent's own step looks up besides is.
- **History** of engines and agents whose memory has a session: the earlier turns that a model was shown in this one. A
  reset, or a memory cut at its limit, needs no word. Turns joined by a tag of the application's own all count.
- **A workflow that returns a generator.** LlamaIndex' own over one model's stream: the model's text is the answer, when
  the reader has come to its end. A generator of one's own, or a `response_gen` whose model is asked only when it is
  read, says what nobody else hears: no sample. Return the response itself in its place.
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
