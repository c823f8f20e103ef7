"""What calls are given: the question, the history and the prompt among the arguments of a span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.extension import QUESTION_NAMES, last_question, role_of
from assay_llama_index.kinds import ComponentKind, has_base
from assay_llama_index.records import is_intermediate_answer, items_of, plain, text_of, texts_in

#: Names of a workflow's input that hold the question, besides those accepted everywhere.
_ASKED = ("user_msg", "message", "user_message", "query_str", *QUESTION_NAMES)

HISTORY = 64  # newest messages of a memory that are copied

Inputs = dict[str, Any]


def engine_inputs(arguments: Mapping[str, Any], engine: Any) -> Inputs:
    """Question and history of a query or chat call. The history is the one given, else the engine's memory."""
    asked = arguments.get("str_or_query_bundle", arguments.get("message"))
    if asked is None:
        asked = next(iter(arguments.values()), None)
    inputs: Inputs = {"question": text_of(asked)}
    given = arguments.get("chat_history")
    memory = getattr(engine, "_memory", None) if given is None else None
    if given is not None or memory is not None:
        history = messages_of(given) if given is not None else remembered(memory)
        inputs |= {"chat_history": history} if history else {}
    return inputs


def workflow_inputs(arguments: Mapping[str, Any], key: str | None = None) -> Inputs:
    """What a workflow was started with, as plain values; the question, where one is told by its name, as `question`.

    Args:
        key: The name of the question, where the application has told it.
    """
    given = _start_of(arguments)
    inputs = {name: _plain(value) for name, value in given.items() if name != "memory"}
    asked = next((given[name] for name in ((key,) if key else _ASKED) if given.get(name) is not None), None)
    history = inputs.get("chat_history")
    if asked is not None:
        inputs["question"] = text_of(asked)
    elif isinstance(history, list):  # an agent that is given messages alone answers the last of them
        inputs["question"] = last_question(history)
    if not history:
        history = remembered(given.get("memory"))
        inputs |= {"chat_history": history} if history else {}
    return inputs


def session_of(arguments: Mapping[str, Any], instance: Any) -> str | None:
    """The id of the conversation, where the memory has one."""
    memory = getattr(instance, "_memory", None)
    if memory is None and ("kwargs" in arguments or "start_event" in arguments):
        memory = _start_of(arguments).get("memory")
    found = getattr(memory, "session_id", None)
    return found if isinstance(found, str) else None


def remembered(memory: Any) -> list[dict[str, str]]:
    """The newest messages of a memory that holds them in this process. Any other would have to be asked over a wire."""
    store = getattr(memory, "chat_store", None)
    if store is None or not has_base(store, "SimpleChatStore"):
        return []
    return messages_of(store.store.get(memory.chat_store_key, ())[-HISTORY:])


def messages_of(messages: Any) -> list[dict[str, str]]:
    """Chat messages as plain dicts of role and text."""
    if not isinstance(messages, (list, tuple)):
        return []
    return [{"role": role, "content": text_of(message) or ""} for message in messages if (role := role_of(message))]


def values_of(event: Any) -> dict[str, Any]:
    """The fields of an event of a workflow, those that it was given freely included."""
    declared = {name: getattr(event, name) for name in type(event).model_fields}
    return declared | dict(event.items())


def node_texts(kind: ComponentKind, arguments: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The texts of the nodes that a post-processor, a synthesizer or a step of a workflow is handed."""
    if kind in ("reranker", "synthesizer"):
        nodes: Sequence[Any] = items_of(arguments.get("nodes")) or ()
    elif kind == "step":
        nodes = [node for event in events_in(arguments) for node in nodes_in_event(event)]
    else:
        return None
    return tuple(texts_in(nodes)) or None


def input_nodes(arguments: Mapping[str, Any]) -> list[Any] | None:
    """The nodes that a synthesizer is handed, but for those that hold an intermediate answer. None: an iterator."""
    nodes = items_of(arguments.get("nodes"))
    return None if nodes is None else [node for node in nodes if not is_intermediate_answer(node)]


def events_in(arguments: Mapping[str, Any]) -> list[Any]:
    """The events among the arguments of a step."""
    return [value for value in arguments.values() if has_base(value, "Event")]


def nodes_in_event(event: Any) -> list[Any]:
    """The nodes in an event's fields."""
    return [node for value in values_of(event).values() for node in nodes_in_list(value)]


def nodes_in_list(value: Any) -> list[Any]:
    """The nodes in a list of nodes; nothing for anything else."""
    if not isinstance(value, (list, tuple)) or not value:
        return []
    return list(value) if all(has_base(item, "NodeWithScore", "BaseNode") for item in value) else []


def prompt_of(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that a model is sent: one per message, or the prompt."""
    messages = arguments.get("messages")
    if messages is None:
        args, named = arguments.get("args") or (), arguments.get("kwargs") or {}
        prompt = arguments.get("prompt", named.get("prompt", named.get("messages", args[0] if args else None)))
        if isinstance(prompt, str):
            return (prompt,)
        messages = prompt
    if not isinstance(messages, (list, tuple)):
        return ()
    return tuple(text for message in messages for text in _texts_of(message))


def query_of(arguments: Mapping[str, Any]) -> str | None:
    """What a retriever or a synthesizer was asked."""
    return text_of(arguments.get("str_or_query_bundle", arguments.get("query")))


def request_of(kind: ComponentKind, arguments: Mapping[str, Any]) -> Any:
    """What a retriever or a tool is asked: the query, or the arguments of the call; None for other calls."""
    if kind == "retriever":
        return query_of(arguments)
    if kind != "tool":
        return None
    positional, named = arguments.get("args") or (), arguments.get("kwargs") or {}
    given = {name: value for name, value in arguments.items() if name not in ("args", "kwargs")}
    return {**given, **({"input": positional[0]} if positional else {}), **named}


def _texts_of(message: Any) -> list[str]:
    blocks = getattr(message, "blocks", None) or ()
    return [text for block in blocks if isinstance(text := getattr(block, "text", None), str)]


def _start_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    event = arguments.get("start_event")
    given = dict(arguments.get("kwargs") or {})
    return {**given, **values_of(event)} if has_base(event, "Event") else given


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and value and all(hasattr(item, "role") for item in value):
        return messages_of(value)
    return text_of(value) if hasattr(value, "query_str") or hasattr(value, "blocks") else plain(value)
