"""What instrumentors write in the place of objects: nodes by their id, streams by the name of their type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.extension import ANSWER_NAMES, QUESTION_NAMES, Document, check_json

_NODE = re.compile(r"<NodeWithScore\(node=\w+\(id_=(?P<id>.*?)\), score=(?P<score>[^()]*)\)>", re.DOTALL)
_OBJECT = re.compile(r"<[\w.]+ object at 0x[0-9a-f]+>")
_STREAM = re.compile(r"<(async_)?generator object\b[^>]*>")
_OBJECT_CALL = re.compile(r"[A-Z]\w*\(\w+=")
_LITERAL = r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_RESPONSE = re.compile(rf"StopEvent\(result=Response\(response={_LITERAL}, source_nodes=", re.DOTALL)
_NAMED = re.compile(rf"(?:StopEvent\(result=)?[A-Z]\w*\((?:{'|'.join(ANSWER_NAMES)})={_LITERAL}[,)]", re.DOTALL)
_AGENT = "StopEvent(result=AgentOutput(response=ChatMessage("
_MESSAGE = re.compile(rf"blocks=\[TextBlock\(block_type='text', text={_LITERAL}\)\]\)", re.DOTALL)
_TOOL = re.compile(rf"ToolOutput\(blocks=\[TextBlock\(block_type='text', text={_LITERAL}", re.DOTALL)
_ASKED = ("message", "user_msg", "query_str", "query_bundle", "str_or_query_bundle")
#: Where engines without retrieval have an empty list.
_TOLD = frozenset({"source_nodes", "sources"})
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class NodeId:
    """A node of LlamaIndex of which only id and score were written."""

    id: str
    score: float | None = None


class Stream:
    """An answer that was still to come when the step around it returned."""

    def __repr__(self) -> str:
        return "<stream>"


STREAM = Stream()


def is_object(value: Any) -> bool:
    """Whether this is what an object without a text of its own became: its type and its address."""
    return isinstance(value, str) and _OBJECT.fullmatch(value) is not None


def recognised(value: Any, depth: int = _DEPTH) -> Any:
    """`value`, parsed from JSON, with nodes as `NodeId`, streams as STREAM, and LlamaIndex' questions as texts."""
    if isinstance(value, str):
        return _text(value)
    if depth == 0:
        return value
    if isinstance(value, list):
        return [recognised(item, depth - 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    query = value.get("query_str")
    if isinstance(query, str) and value.keys() >= {"custom_embedding_strs", "embedding"}:
        return query
    made = {key: recognised(item, depth - 1) for key, item in value.items() if item != [] or key not in _TOLD}
    if made.get("response") == "" and _TOLD & value.keys():
        made["response"] = STREAM
    if not any(made.get(name) is not None for name in QUESTION_NAMES):
        asked = next((made[name] for name in _ASKED if isinstance(made.get(name), str)), None)
        if asked is not None:
            made["question"] = asked
    return made


def _text(value: str) -> Any:
    if not value.startswith("<"):
        return value
    node = _NODE.fullmatch(value)
    if node is not None:
        try:
            return NodeId(node["id"], float(node["score"]))
        except ValueError:
            return NodeId(node["id"])
    return STREAM if _STREAM.fullmatch(value) else value


def is_workflow(inputs: Any) -> bool:
    """Whether this is the input of a workflow or an agent of LlamaIndex: its state, and an event without its fields."""
    return isinstance(inputs, Mapping) and inputs.keys() >= {"init_state", "start_event"}


def is_step(inputs: Any) -> bool:
    """Whether this is the input of a step of a workflow: an event, as Python prints it."""
    return isinstance(inputs, Mapping) and "ev" in inputs and inputs.keys() <= {"ev", "ctx"}


def is_agent(inputs: Mapping[str, Any]) -> bool:
    """Whether the workflow with this input is an agent."""
    return str(inputs["start_event"]).startswith("AgentWorkflowStartEvent(")


def workflow_result(text: str) -> Any:
    """The result of a workflow, from the event that it ended with, as Python prints it, often cut after 200 characters.

    A plain value, or the text of a response or of an agent's message; None for anything else, and for what was cut.
    """
    event = _call(text)
    if event is not None:
        name, fields = event
        return fields.get("result") if name == "StopEvent" else fields
    response = _RESPONSE.match(text)
    if response is not None:
        return ast.literal_eval(response["text"])
    named = _NAMED.match(text)
    if named is not None:
        return ast.literal_eval(named["text"])
    if text.startswith(_AGENT):
        message = _MESSAGE.search(text)
        return None if message is None else ast.literal_eval(message["text"])
    return None


def tool_text(text: str) -> str | None:
    """What a tool said, from its output as Python prints it; None where that was cut. Any other text as it is."""
    if not text.startswith("ToolOutput("):
        return text
    printed = _TOOL.match(text)
    return None if printed is None else str(ast.literal_eval(printed["text"]))


def printed_object(text: str) -> dict[str, Any] | None:
    """The fields of an object, from the text as which Python prints it; None for any other text."""
    if not _OBJECT_CALL.match(text):
        return None
    found = _call(text)
    return None if found is None else found[1]


def _call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Name and arguments of a printed object whose fields are all plain values."""
    try:
        check_json(text)
        parsed = ast.parse(text, mode="eval").body
        if isinstance(parsed, ast.Call) and isinstance(parsed.func, ast.Name) and not parsed.args:
            return parsed.func.id, {str(field.arg): ast.literal_eval(field.value) for field in parsed.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return None


def is_stream(value: Any) -> bool:
    """Whether an answer, or what holds it, is a stream."""
    if isinstance(value, Mapping):
        return any(isinstance(item, Stream) for item in value.values())
    return isinstance(value, Stream)


def nodes_in(value: Any) -> list[NodeId] | None:
    """The nodes in a step's input or output: a list of them, also under a key. None where there is no such list."""
    if isinstance(value, Mapping):
        return next((found for found in map(nodes_in, value.values()) if found is not None), None)
    if isinstance(value, list) and value and all(isinstance(item, NodeId) for item in value):
        return value
    return None


def resolved(nodes: Iterable[NodeId], known: Mapping[str, Document]) -> tuple[Document, ...] | None:
    """The documents that nodes stand for, with their own scores; None where a node was written out nowhere."""
    found = []
    for node in nodes:
        document = known.get(node.id)
        if document is None:
            return None
        score = {} if node.score is None else {"score": node.score}
        found.append(Document(document.text, document.id, {**document.metadata, **score}))
    return tuple(found)
