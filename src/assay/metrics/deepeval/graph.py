"""Decision graphs for `deepeval:dag`: what is written, what is judged, and where each verdict leads.

    {"start": "has_source",
     "nodes": {
       "sources": {"task": "List the sources that the ANSWER names.", "shown": ["actual_output"]},
       "has_source": {"binary": "Is there a source in SOURCES?", "reads": ["sources"],
                      "verdicts": {"yes": {"node": "tone"}, "no": 0}},
       "tone": {"choice": "What is the tone of the ANSWER?", "shown": ["actual_output"],
                "verdicts": {"friendly": 10, "plain": 7, "rude": {"metric": "deepeval:toxicity"}}}}}

A task writes a text for those that read it. A judgement shows fields (`shown`, DeepEval's names) and texts of tasks
(`reads`); each of its verdicts leads to a score from 0 to 10, to another judgement, or to another metric. In a graph
for conversations the fields are those of turns, and `"turn_window": [first, last]` says which turns, from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from assay.errors import InputError
from assay.metrics.deepeval.deepeval_metric import SHOWN
from assay.metrics.deepeval.turn_fields import TURN_FIELDS

Kind = Literal["task", "binary", "choice"]
KINDS: tuple[Kind, ...] = ("task", "binary", "choice")
#: A score from 0 to 10, or where a verdict leads: ("node", name) or ("metric", name).
Leaf = int | tuple[Literal["node", "metric"], str]


@dataclass(frozen=True)
class Node:
    """A task or a judgement. `verdicts` are pairs of label and where it leads; a task has none.

    `window` is the first and the last turn that it shows, from 0; None: all of them.
    """

    kind: Kind
    text: str
    shown: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    verdicts: tuple[tuple[str, Leaf], ...] = ()
    window: tuple[int, int] | None = None


@dataclass(frozen=True)
class Graph:
    """Judgements from `start` on, and the tasks that they read. Raises InputError where it is none.

    `conversational`: its nodes show turns of a conversation.
    """

    start: str
    nodes: tuple[tuple[str, Node], ...]
    conversational: bool = False

    def __post_init__(self) -> None:
        nodes = dict(self.nodes)
        if self.start not in nodes or nodes[self.start].kind == "task":
            raise InputError(f"dag: start: expected the name of a judgement, got {self.start!r}")
        for name, node in self.nodes:
            _check_node(name, node, nodes)
            _check_shown(name, node, self.conversational)
        _check_acyclic(nodes)


def graph_of(given: Mapping[str, Any], *, conversational: bool = False) -> Graph:
    """The graph that an object describes. Raises InputError."""
    nodes = given.get("nodes")
    if not isinstance(nodes, Mapping):
        raise InputError("dag: nodes: expected an object of nodes by name")
    read = tuple((str(name), _node_of(name, node)) for name, node in nodes.items())
    return Graph(str(given.get("start", "")), read, conversational)


def _node_of(name: str, given: object) -> Node:
    kinds = [kind for kind in KINDS if isinstance(given, Mapping) and kind in given]
    if len(kinds) != 1:
        raise InputError(f"dag: node {name!r}: expected one of {', '.join(KINDS)}")
    node = cast("Mapping[str, Any]", given)
    verdicts = node.get("verdicts", {})
    if not isinstance(verdicts, Mapping):
        raise InputError(f"dag: node {name!r}: verdicts: expected an object of labels")
    leads = tuple((str(label), _leaf_of(name, lead)) for label, lead in verdicts.items())
    shown, reads = _names(node, "shown"), _names(node, "reads")
    return Node(kinds[0], str(node[kinds[0]]), shown, reads, leads, _window_of(name, node.get("turn_window")))


def _window_of(name: str, given: object) -> tuple[int, int] | None:
    if given is None:
        return None
    match given:
        case [int(first), int(last)] if 0 <= first < last:
            return first, last
    raise InputError(f"dag: node {name!r}: turn_window: expected the first and a later last turn, got {given!r}")


def _names(node: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = node.get(key, ())
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _leaf_of(name: str, lead: object) -> Leaf:
    if isinstance(lead, Mapping) and len(lead) == 1 and next(iter(lead)) in ("node", "metric", "score"):
        kind, value = next(iter(lead.items()))
        return _leaf_of(name, value) if kind == "score" else (kind, str(value))
    if isinstance(lead, int) and not isinstance(lead, bool):
        return lead
    raise InputError(f"dag: node {name!r}: a verdict leads to a score, a node or a metric, not to {lead!r}")


def _check_node(name: str, node: Node, nodes: Mapping[str, Node]) -> None:
    if not node.text.strip():
        raise InputError(f"dag: node {name!r} asks nothing")
    if not node.shown and not node.reads:
        raise InputError(f"dag: node {name!r} shows and reads nothing")
    for task in node.reads:
        if task not in nodes or nodes[task].kind != "task":
            raise InputError(f"dag: node {name!r}: reads: there is no task {task!r}")
    labels = [label for label, _ in node.verdicts]
    if node.kind == "task" and labels:
        raise InputError(f"dag: node {name!r} is a task and gives no verdict")
    if node.kind == "binary" and sorted(labels) != ["no", "yes"]:
        raise InputError(f"dag: node {name!r}: verdicts: expected yes and no, got {labels!r}")
    if node.kind == "choice" and len(labels) < 2:
        raise InputError(f"dag: node {name!r}: verdicts: expected two or more")
    for label, lead in node.verdicts:
        if isinstance(lead, int) and not 0 <= lead <= 10:
            raise InputError(f"dag: node {name!r}: the score of {label!r} must be from 0 to 10, not {lead!r}")
        if isinstance(lead, tuple) and lead[0] == "node" and (lead[1] not in nodes or nodes[lead[1]].kind == "task"):
            raise InputError(f"dag: node {name!r}: {label!r} leads to {lead[1]!r}, which is no judgement")


def _check_shown(name: str, node: Node, conversational: bool) -> None:
    """Raises InputError for fields that the graph's cases do not have."""
    known = TURN_FIELDS if conversational else tuple(SHOWN)
    if not set(node.shown) <= set(known):
        raise InputError(f"dag: node {name!r}: shown: expected some of {', '.join(known)}; got {list(node.shown)!r}")
    if node.window is not None and not (conversational and node.shown):
        raise InputError(f"dag: node {name!r}: turn_window is for nodes that show turns of a conversation")


def _check_acyclic(nodes: Mapping[str, Node]) -> None:
    """Raises InputError for nodes that lead back to themselves. Takes away what leads nowhere, until nothing does."""
    leads = {name: _next(node) for name, node in nodes.items()}
    while ends := [name for name, onward in leads.items() if not any(one in leads for one in onward)]:
        for name in ends:
            del leads[name]
    if leads:
        raise InputError(f"dag: {' and '.join(map(repr, sorted(leads)))} lead back to themselves")


def _next(node: Node) -> Sequence[str]:
    onward = [lead[1] for _, lead in node.verdicts if isinstance(lead, tuple) and lead[0] == "node"]
    return [*node.reads, *onward]
