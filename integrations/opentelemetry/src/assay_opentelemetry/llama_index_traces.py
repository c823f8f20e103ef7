"""What spans of LlamaIndex tell between the lines: which nodes a synthesizer was given, and which searches are none.

Nodes are written by id, and steps of workflows as text that was cut. What a step did to nodes in between is unknown,
unless the texts that the synthesizer was given are those that were found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.extension import Document, Run, Trace, structured_answer
from assay_opentelemetry.placeholders import printed_object

#: Steps of agents that search for tools to call; what their tools search for lies below a tool.
_AGENT_STEPS = (".run_agent_step", ".call_tool")
_SYNTHESIZE = (".synthesize", ".asynthesize")
#: Nodes that an engine wrote itself, to hold the answer to a sub-question.
_INTERMEDIATE = re.compile(r"\s*(Sub question: .*\nResponse: |\nQuestion: .*\nAnswer: )", re.DOTALL)
#: What an agent's memory puts before the user's message.
_MEMORY = ("<memory>\n", "\n</memory>")
#: How a text is summed up while an index is built: nobody asked for it.
_SUMMARY = "Describe what the provided text is about. Also describe some of the questions that this text can answer."
_SUMMARY_PROMPT = "Write a summary of the following. Try to use only the information provided."


def is_tool_lookup(run: Run, above: str) -> bool:
    """Whether a run is the search by which an agent chooses its tools: `above` is the name of the step around it."""
    return run.kind == "retriever" and above.endswith(_AGENT_STEPS)


def writes_nodes(runs: Iterable[Run]) -> bool:
    """Whether an engine among these writes nodes of its own, which no search found: answers to its sub-questions."""
    return any(_INTERMEDIATE.match(chunk) for run in runs for chunk in _chunks(run.inputs))


def add_given_nodes(runs: Sequence[Run], known: Iterable[Document]) -> None:
    """Tell what synthesizers were given, by the texts that they were written from.

    Where one of them was found nowhere, it was rewritten or added on the way: what was retrieved is then unknown.
    """
    by_id = {run.id: run for run in runs}
    documents = list(known)
    for run in runs:
        chunks = _chunks(run.inputs)
        above = by_id.get(run.parent)
        if not chunks or above is None or not (above.name or "").endswith(_SYNTHESIZE):
            continue
        found = [_found(chunk, documents) for chunk in chunks if not _INTERMEDIATE.match(chunk)]
        if None in found:
            above.unread = bool(documents)
        elif found:
            run.given = {"": tuple(one.text for one in found if one is not None)}


def _chunks(inputs: Any) -> list[str]:
    chunks = inputs.get("text_chunks") if isinstance(inputs, Mapping) else None
    return [chunk for chunk in chunks if isinstance(chunk, str)] if isinstance(chunks, list) else []


def _found(chunk: str, documents: Iterable[Document]) -> Document | None:
    """The document whose text a chunk is, after the metadata that the template puts before it."""
    text = chunk.strip()
    fitting = [one for one in documents if one.text.strip() and text.endswith(one.text.strip())]
    whole = [one for one in fitting if text == one.text.strip() or _is_metadata(text, one)]
    return max(whole, key=lambda one: len(one.text), default=None)


def _is_metadata(chunk: str, document: Document) -> bool:
    """Whether what stands before the text is metadata: lines with a key and a value."""
    before = chunk.removesuffix(document.text.strip()).strip()
    return all(": " in line for line in before.splitlines())


def written_out(answer: str, trace: Trace) -> str:
    """The answer; of an object that was written as Python prints it, what capture reads of the object."""
    printed = printed_object(answer)
    calls = [run.outputs for run in trace.members if run.kind == "llm" and isinstance(run.outputs, str)]
    if printed is None or any(answer in said for said in calls):  # a model wrote it so
        return answer
    return structured_answer(printed) or json.dumps(printed, ensure_ascii=False, separators=(",", ":"))


def asked_question(text: str) -> str:
    """What the user asked, without what an agent's memory put before it."""
    begin, end = _MEMORY
    if not text.lstrip().startswith(begin):
        return text
    _, closed, rest = text.partition(end)
    return rest.lstrip() if closed else text


def builds_an_index(root: Run) -> bool:
    """Whether a text is summed up for an index that is built."""
    asked = root.inputs if isinstance(root.inputs, str) else " ".join(root.prompt or ())
    return asked.strip().startswith((_SUMMARY, _SUMMARY_PROMPT))
