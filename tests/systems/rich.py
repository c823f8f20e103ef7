"""A sample that has what every metric of every system needs."""

from __future__ import annotations

from typing import Any

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
