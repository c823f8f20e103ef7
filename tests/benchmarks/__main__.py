"""Run all benchmarks, one after the other: python -m tests.benchmarks > docs/evidence/benchmarks.md"""

from __future__ import annotations

import importlib
import os
import platform

BENCHMARKS = {
    "Judging with an LLM: CPU per call": "bench_openai",
    "A sample that an LLM judges: calls and tokens": "bench_tokens",
    "The metrics of all systems on one sample": "bench_systems",
    "A sample that an LLM judges: CPU of the client": "bench_client_cpu",
    "A judge endpoint that fails at random": "bench_faults",
    "LangChain: what a handler adds": "bench_langchain",
    "LlamaIndex: what the instrumentation adds": "bench_llama_index",
    "Beside other tools' handlers": "bench_rivals",
    "Throughput of an application": "bench_throughput",
    "An application whose judge is dead, slow or lying": "bench_judge_endpoints",
    "The queue and its workers": "bench_queue",
    "The store": "bench_store",
    "Jobs of several processes": "bench_jobs",
    "The embedded judge": "bench_embedded",
    "The embedded judge: CPU of a row": "bench_embedded_rows",
    "The demo: all but scoring, and the first score": "bench_demo",
    "The language of a row": "bench_language",
    "The pytest plugin where nothing uses it": "bench_pytest",
}

HEAD = """# Benchmarks

Ratios against a baseline of the same run; absolute numbers are of one machine ({cpus} CPUs, {system}, Python {python}),
which other work may have shared. Made by `python -m tests.benchmarks`.
"""


def main() -> None:
    print(HEAD.format(cpus=os.cpu_count(), system=platform.system(), python=platform.python_version()))
    for title, name in BENCHMARKS.items():
        print(f"## {title}\n", flush=True)
        importlib.import_module(f"tests.benchmarks.{name}").main()
        print(flush=True)


if __name__ == "__main__":
    main()
