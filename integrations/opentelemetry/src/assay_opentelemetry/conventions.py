"""OpenTelemetry's conventions for generative AI: the one place that knows their names, and which version of them.

What we write follows `VERSION`, and says so by `SCHEMA_URL` on its scope. What we read may be older: of several names
for one thing the newest comes first, and each is still read. The conventions are under development, and have a
repository of their own (github.com/open-telemetry/semantic-conventions-genai); whoever raises `VERSION` changes this
file and nothing else.

Whatever the conventions have no name for (judge, version, range, evidence, the id by which a score is found again)
stands under `assay.`, and nothing of ours stands anywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.extension import Annotation, RunKind, finite

VERSION = "1.42.0-dev"
SCHEMA_URL = f"https://opentelemetry.io/schemas/gen-ai-dev/{VERSION}"

#: All that is ours stands below this.
OURS = "assay."

# -- the result of an evaluation ---------------------------------------------------------------------------------------

EVALUATION = "gen_ai.evaluation.result"
NAME = "gen_ai.evaluation.name"
VALUE = "gen_ai.evaluation.score.value"
LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
RESPONSE = "gen_ai.response.id"
ERROR = "error.type"
#: What a tool says of itself, on the span of its execution.
TOOL_DESCRIPTION = "gen_ai.tool.description"
#: What a tool is called, there.
TOOL_NAME = "gen_ai.tool.name"
#: Where the name of an event stands that came by an SDK without a field for it.
EVENT_NAME = "event.name"


def evaluation_attributes(annotation: Annotation, response_id: str | None) -> dict[str, str | int | float | bool]:
    """The attributes of the event that tells of one score.

    The label is "skipped" where there is no measurement, and is left out where there is one: the value says it. The
    cause of a missing measurement is the type of the error.
    """
    found: dict[str, Any] = {
        NAME: annotation.name,
        VALUE: annotation.value,
        LABEL: annotation.label,
        EXPLANATION: annotation.explanation or None,
        ERROR: annotation.cause,
        RESPONSE: response_id,
        f"{OURS}id": annotation.id,
        **annotation.metadata,
    }
    return {name: value for name, value in found.items() if value is not None}


def evaluation_of_event(name: str, attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an event tells of an evaluation, ours or another's: its name, value, label, explanation, error.

    None for other events and for those without a name. Values that are written as texts are read; no NaN, no infinity.
    """
    if EVALUATION not in (name, attributes.get(EVENT_NAME)) or not isinstance(attributes.get(NAME), str):
        return None
    texts = {"label": LABEL, "explanation": EXPLANATION, "error": ERROR}
    told = {field: attributes.get(key) for field, key in texts.items()}
    return {
        "name": attributes[NAME],
        **({} if (value := _number(attributes.get(VALUE))) is None else {"value": value}),
        **{field: text for field, text in told.items() if isinstance(text, str) and text},
    }


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return finite(value)


# -- spans, and the events on them: what is read -----------------------------------------------------------------------

OPERATION = ("gen_ai.operation.name", "llm.request.type")
#: What a span of an operation is; operations that are not named here are steps of a chain.
KINDS: Mapping[str, RunKind] = {
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "completion": "llm", "response": "llm",
    "embeddings": "embedding", "embedding": "embedding", "execute_tool": "tool", "retrieval": "retriever",
    "rerank": "reranker", "invoke_agent": "agent", "invoke_workflow": "chain",
}  # fmt: skip
MODEL = ("gen_ai.request.model", "gen_ai.response.model")
CONVERSATION = "gen_ai.conversation.id"
TOOL_ARGUMENTS, TOOL_RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
RETRIEVAL_QUERY, RETRIEVAL_DOCUMENTS = "gen_ai.retrieval.query.text", "gen_ai.retrieval.documents"
INSTRUCTIONS, SENT, WRITTEN = "gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"
#: An event with all details, in place of the attributes.
DETAILS = "gen_ai.client.inference.operation.details"

# older: one event per message, and who speaks in it; events with all messages; numbered attributes
MESSAGES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE = "gen_ai.choice"
ALL_SENT, ALL_WRITTEN = "gen_ai.content.prompt", "gen_ai.content.completion"
CONTENT = ("gen_ai.event.content", "event_body")
PROMPT, COMPLETION = "gen_ai.prompt", "gen_ai.completion"
