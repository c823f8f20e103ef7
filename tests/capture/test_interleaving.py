"""Any number of requests on one collector, with events that interleave and repeat."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.capture import RunCollector, sample_of


@dataclass
class Doc:
    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def events(root: str) -> list[tuple[str, ...]]:
    """The events of one request, each after what causes it."""
    return [
        ("start", root, "", "chain"),
        ("start", f"{root}/a", root, "retriever"),
        ("start", f"{root}/b", f"{root}/a", "retriever"),
        ("end", f"{root}/b"),
        ("end", f"{root}/a"),
        ("start", f"{root}/m", root, "llm"),
        ("end", f"{root}/m"),
        ("end", root),
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32), st.booleans())
def test_interleaved_and_repeated_events_give_separate_records(count, seed, repeat):
    chance = random.Random(seed)
    waiting = {f"r{n}": events(f"r{n}") for n in range(count)}
    collector, found = RunCollector(), {}
    while waiting:
        root = chance.choice(sorted(waiting))
        event = waiting[root].pop(0)
        for _ in range(1 + (repeat and chance.random() < 0.3)):
            if event[0] == "start":
                collector.start(event[1], event[2] or None, event[3], inputs=f"question of {root}")  # type: ignore[arg-type]
            else:
                trace = collector.end(event[1], f"answer of {root}", documents=[Doc(f"passage of {root}")])
                if trace is not None:
                    found[root] = sample_of(trace)
        if not waiting[root]:
            del waiting[root]
    assert len(found) == count
    for root, sample in found.items():
        assert (sample.question, sample.answer) == (f"question of {root}", f"answer of {root}")
        assert sample.passages == (f"passage of {root}",)
    assert (len(collector), collector._runs) == (0, {})
