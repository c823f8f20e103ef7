"""The table of shapes for docs/capture.md: python -m tests.capture_table > docs/capture.md"""

from __future__ import annotations

import itertools
from typing import Any

from integrations.langchain.tests.shapes import SHAPES as LANGCHAIN
from integrations.llama_index.tests.shapes import SHAPES as LLAMA_INDEX
from tests.versions import MATRICES, NEWEST, OLDEST, environment, installed, marks

PACKAGES = {"langchain": ("langchain-core", "langgraph"), "llama_index": ("llama-index-core",)}
TITLES = {"langchain": "LangChain and LangGraph", "llama_index": "LlamaIndex"}
SHAPES: dict[str, list[Any]] = {"langchain": LANGCHAIN, "llama_index": LLAMA_INDEX}
SIGNS = {"passed": "✓", "skipped": "–", "failed": "✗"}

HEAD = """# What is captured, shape by shape

The **question** is what the user asked in this turn, the **answer** what the user received. The **contexts** are what
the outermost retrieval step delivered to the step that answered, in order and each once; a context is *in the prompt*
when its text stood in the prompt of the LLM call that gave the answer. What cannot be determined is declared, never
guessed: a sample without contexts says why in `metadata["no_context"]`.

Each line below is a test with a real chain, graph or engine, which expects exactly this question, these contexts, this
answer and this status. ✓ passes, – is a shape that this version of the framework does not have. Made by
`python -m tests.capture_table`; `tests/test_versions.py` holds it true.

## When capture needs help

First look what is captured, without a judge and without a score:

```python
handler = AssayCallbackHandler(metrics=())
chain.invoke("Why do cats purr?", config={"callbacks": [handler]})
handler.last                                                # question, contexts, answer; handler.samples(): the newest
```

Where an application ends without a sample, one log line per name of its root says why, and which rule would help.

```python
from assay.capture import Rules

AssayCallbackHandler(rules=Rules(question_key="q", answer_run="write", contexts_run="search"))
```

`Rules` names keys of the root's input and output, or runs (nodes, tools, chains) by name; `adjust=` is a function that
has the last word. Where your own code searches, without a retriever of the framework, say what it found:

```python
assay.record_context(documents)                             # in a chain, a node, a tool, a query engine
executor.submit(assay.carry_context(search), query)         # in threads of your own, which know of no request
```

`record_context` reads a generator to its end and returns what it read as a list: go on with that list.

## What was decided where one could argue

- **The answer's place.** A well-known name comes first (`answer`, `response`, `output`, `result` …), then messages.
  Else the answer is what stands under the key that holds the text of the last model call, whatever its name; then
  names such as `generation`, `final_answer`, `reply`, `summary`, `report`, where there is one alone. Where two keys
  fit (a draft, and the one word of a check) there is no sample, and the log says which rule would help. A text that
  was given is no answer.
- **Where nothing is asked, nothing is answered.** A graph that sums up what it is given is no exchange, unless its
  answer stands under a well-known name. A graph that waits for a human has not answered yet.
- **Passages by type.** Documents count under any key and in any list or tuple, in pairs with a number (their score),
  and so do dicts and dataclasses that hold a text *and* what tells of a source: metadata, score, source, url. A text
  with nothing but an id may be a task or a claim; a dict with a role or a type is a message.
- **Iterators belong to the application.** A retriever that returns `filter(...)` or a generator is not read: the
  contexts are unknown, until a later step makes a list of it.
- **What an agent passed over.** Of what its tools found, passages that stand not in the prompt of the answering call
  are no contexts of the answer, where others of them do stand there. What a sub-agent found reached the answer by
  what it wrote, and stays. Without tools all that was retrieved counts, and `in_prompt` tells what was left out.
- **Look-ups of tools are no retrieval**: documents that are nothing but descriptions of tools, which a model was
  offered or which were called.
- **Order made while the text is made** (a formatting function that puts the best passage last) is not seen: the order
  is that of the retrieval.
- **History** is what the graph's state still holds. Only where the state has no messages, turns that this process
  captured under the same `thread_id` or `session_id` are it.
- **`AssayMiddleware`** hears less than the handler: nothing of a stream that its reader leaves, nor of an agent that
  a tool aborts; after an interrupt it no longer knows what was found before it.
"""


def name_of_test(shape: Any) -> str:
    """The name of the test of a shape."""
    return f"test_shape[{shape.group}-{shape.name}]".replace(" ", "_")


def line(shape: Any, signs: list[str]) -> str:
    """One shape, in one line of the table."""
    samples = "; ".join(dict.fromkeys(_sample(expected) for expected in shape.expect)) or "no sample"
    if len(shape.expect) > 1:
        samples = f"{len(shape.expect)} samples: {samples}"
    return f"| {shape.about} | {samples} | {' | '.join(signs)} |"


def _sample(expected: Any) -> str:
    if expected.contexts is None:
        contexts = "no context"
    else:
        seen = sum(in_prompt is True for _, in_prompt in expected.contexts)
        count = len(expected.contexts)
        contexts = f"{count} context{'s' * (count != 1)}" + (f", {seen} in the prompt" if count else "")
    return contexts + (f", {expected.status}" if expected.status != "complete" else "")


def main() -> None:
    print(HEAD)
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
