"""Reading many traces takes no more memory than reading few."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import psutil
from assay_opentelemetry import SpanData, spans_to_samples

TEXT = "Cats purr when they are calm. " * 10
KINDS = [
    {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."},
    {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": TEXT},
    *({"openinference.span.kind": "CHAIN", "input.value": TEXT, "output.value": TEXT} for _ in range(6)),
    {"openinference.span.kind": "LLM", "input.value": TEXT * 3, "output.value": "So."},
    {"http.route": "/ask"},
]

def spans(traces):
    # the worst order: all traces at once, roots last
    for number in reversed(range(10)):
        for trace in range(1, traces + 1):
            yield SpanData(trace_id=f"{trace:032x}", span_id=f"{number + 1:016x}",
                           parent_id=None if number == 0 else f"{1:016x}", name="step",
                           started=1.79e9 + trace + number / 100, ended=1.79e9 + trace + 1,
                           attributes=KINDS[number])

def peak(traces):
    process, highest, found = psutil.Process(), 0, 0
    for found, sample in enumerate(spans_to_samples(spans(traces)), 1):
        assert sample.passages == (TEXT,) and sample.contexts[0].in_prompt, sample
        if found % 100 == 0:
            highest = max(highest, process.memory_info().rss)
    assert found == traces
    return highest

import json
print(json.dumps([peak(1_000), peak(int(sys.argv[1]))]))
"""


@pytest.mark.long
def test_a_hundred_thousand_spans_take_no_more_memory_than_ten_thousand() -> None:
    """10 spans a trace. Held in memory, 90,000 spans more would take 100 MB and more."""
    done = subprocess.run(  # a process of its own: the memory of this one is everybody's
        [sys.executable, "-c", PROGRAM, "10000"], capture_output=True, text=True, timeout=240, check=True
    )
    few, many = json.loads(done.stdout)
    assert many - few < 16 * 2**20
