"""Samples that have what the metrics of all systems need: `rich(name)`."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace
from typing import Any

from assay.metrics import systems
from assay.metrics.deepeval.classifier_labels import KINDS
from assay.records import Context, Message, Sample, ToolCall

#: What metrics of single systems read from the metadata, by their names there.
METADATA: dict[str, Any] = {
    "definition": "Does the ANSWER name a year?",
    "rubrics": {f"score{n}_description": f"level {n} of being right" for n in range(1, 6)},
    "reference_topics": ["museums", "buildings"],
    "expected_memories": ["The museum opened in 1931. It was built by Ada Lund."],
    "score": 0.5,
    "expected_score": 0.75,
    "second_response": "It opened in 1932.",
    "relevance": {"a": 3, "d": 1},
    "prediction_b": "It opened in 1932.",
    "prompt": "Does the answer name a year?",
    "plan": "Search for the museum, then answer.",
    "reference_outputs": [
        {"role": "user", "content": "When did the museum open?"},
        {
            "role": "assistant",
            "content": "It opened in 1931.",
            "tool_calls": [{"function": {"name": "search", "arguments": '{"query": "museum"}'}}],
        },
    ],
    "graph_trajectory": {"steps": [["__start__", "agent"]], "results": ["It opened in 1931."], "inputs": ["When?"]},
    "tools_called": [
        {"name": "search", "input_parameters": {"query": "museum opening"}, "output": "It opened in 1931."}
    ],
    "expected_tools": [{"name": "search", "input_parameters": {"query": "museum opening"}}],
    "reference_tool_calls": [{"name": "search", "args": {"query": "museum opening"}}],
    "available_tools": [{"name": "search", "description": "finds pages"}, {"name": "clock", "description": "the time"}],
    "allowed_tools": ["search"],
    "mcp_servers": [{"name": "library", "available_tools": ["search"]}],
    "chatbot_role": "a guide of the town",
    "relevant_topics": ["museums"],
    "criteria": "Is the ANSWER polite?",
    "domain": "museums",
    "role": "a guide of the town",
    "advice_types": ["financial"],
    "prompt_instructions": ["Answer in one sentence.", "Name the year."],
    "expected_schema": {"type": "object"},
    "pattern": "The museum.*",
    "contestants": {"other": "It opened in 1932."},
    "questions": [
        {"statement": "The answer names a year."},
        {"question": "How good is it?", "levels": ["bad", "good"]},
    ],
    "expectations": {"must": ["Name a year."], "must_not": ["Name a price."]},
    "dag": {
        "start": "year",
        "nodes": {"year": {"binary": "Is there a year?", "shown": ["actual_output"], "verdicts": {"yes": 10, "no": 0}}},
    },
    "conversational_dag": {
        "start": "year",
        "nodes": {"year": {"binary": "Is there a year?", "shown": ["content"], "verdicts": {"yes": 10, "no": 0}}},
    },
    "labels": ["friendly", "plain"],
    "expected_labels": {
        "classifier": "friendly",
        "language_detection": "English",
        "support_intent": "Other",
        **{name: next(iter(kind.labels)) for name, kind in KINDS.items()},
    },
    "reference_graph_trajectory": {"steps": [["__start__", "agent"]]},
}

RICH = Sample(
    id="rich",
    question="When did the museum open, and who built it?",
    contexts=(
        Context(text="The museum opened in 1931. It was built by Ada Lund.", id="a"),
        Context(text="Bread is baked in the town.", id="b"),
        Context(text="The museum closes at noon on Mondays.", id="c"),
    ),
    answer='The museum opened in 1931 [1]. Ada Lund built it. It "closes at noon on Mondays".',
    reference="The museum opened in 1931. Ada Lund built the museum.",
    reference_contexts=(
        Context(text="The museum opened in 1931. It was built by Ada Lund.", id="a"),
        Context(text="Ada Lund was an architect.", id="d"),
    ),
    messages=(
        Message(role="user", content="When did the museum open, and who built it?"),
        Message(
            role="assistant",
            content="I will look it up.",
            tool_calls=(
                ToolCall(
                    name="search",
                    arguments={"query": "museum opening"},
                    output="The museum opened in 1931. It was built by Ada Lund.",
                    id="1",
                ),
            ),
        ),
        Message(role="tool", content="The museum opened in 1931. It was built by Ada Lund."),
        Message(role="assistant", content="The museum opened in 1931. Ada Lund built it."),
    ),
    metadata=METADATA,
)


def _picture(colour: bytes) -> str:
    """A picture of one colour, 4 by 4 pixels, as a data URI."""
    rows = b"".join(b"\x00" + colour * 4 for _ in range(4))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    made = b"".join(struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks)
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + made).decode()


RED, BLUE = _picture(b"\xff\x00\x00"), _picture(b"\x00\x00\xff")

PICTURES = replace(
    RICH,
    answer=f"{RICH.answer}\n\n![the museum]({RED})\n\nIt has two floors.",
    contexts=(*(RICH.contexts or ()), Context(text="", image=RED, id="p")),
    reference_contexts=(*(RICH.reference_contexts or ()), Context(text="", image=RED, id="p")),
)

JSON = replace(
    RICH,
    answer='{"opened": 1931, "architect": "Ada Lund"}',
    reference='{"opened": 1931, "architect": "Ada Lunt"}',
    metadata={**METADATA, "schema": {"type": "object"}},
)


def rich(name: str) -> Sample:
    """A sample that has what this metric needs, also what only the example of its entry has."""
    sample = PICTURES if name.startswith("multimodal:") else JSON if "json" in name else RICH
    system, _, short = name.partition(":")
    example = systems.system_entries(system)[short].example if short else {}
    texts = {key: value for key, value in example.items() if key in ("question", "answer", "reference")}
    columns = {key: value for key, value in example.items() if key not in texts}
    return replace(sample, **texts, metadata={**sample.metadata, **columns}) if example else sample
