"""What the default metrics cost an LLM judge per sample: calls, tokens read and written, and what prefix caches serve.

    python -m tests.benchmarks.bench_tokens

Against the local fake endpoint, whose model gives every reason that is asked for 37 words and copies whole sentences as
quotes. Tokens are words and punctuation marks. A prompt's prefix is served where it begins as an earlier prompt of the
same sample does, schema first, in steps of 128 tokens, from 1,024 tokens on.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from typing import Any

from tests._support.servers.openai_server import Call, OpenAIServer

REASON = " ".join(["because"] * 37)
SAMPLES = 20
STEP, LEAST = 128, 1024
_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def rows() -> list[dict[str, Any]]:
    """Questions with five passages of some 170 tokens, answers of three sentences and references of two."""
    from assay.data.demo import answers

    texts = [" ".join(row["contexts"]) for row in answers()]
    words = " ".join(texts).split()
    size = 130
    made = []
    for n in range(SAMPLES):
        begin = n * 5 * size % (len(words) - 5 * size)
        passages = [" ".join(words[begin + k * size : begin + (k + 1) * size]) for k in range(5)]
        sentences = re.split(r"(?<=[.!?]) ", " ".join(passages))
        whole = [s for s in sentences if len(s.split()) > 6][:5]
        made.append({
            "id": str(n), "question": f"What is said of {' '.join(whole[0].split()[:4])}?", "contexts": passages,
            "answer": " ".join(whole[:3]), "reference": " ".join(whole[1:3]),
        })  # fmt: skip
    return made


def wordy(value: Any) -> Any:
    """The honest reply, with reasons of a fixed length."""
    if isinstance(value, dict):
        return {key: REASON if key == "reason" else wordy(inner) for key, inner in value.items()}
    return [wordy(inner) for inner in value] if isinstance(value, list) else value


def reply(call: Call) -> str:
    return json.dumps(wordy(json.loads(call.honest)), ensure_ascii=False)


def prompt_of(call: Call) -> list[str]:
    """The tokens of a prompt in the order in which endpoints count them: schema, system message, user message."""
    schema = (call.body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    return tokens(json.dumps(schema) + " ".join(message["content"] for message in call.body["messages"]))


def served(prompts: list[list[str]]) -> int:
    """Tokens of these prompts, in the order sent, that an earlier one began with."""
    known: set[tuple[str, ...]] = set()
    total = 0
    for prompt in prompts:
        ends = range(LEAST, len(prompt) + 1, STEP)
        total += max((end for end in ends if tuple(prompt[:end]) in known), default=0)
        known |= {tuple(prompt[:end]) for end in ends}
    return total


def measure(metrics: Any = None, batched_questions: Any = None) -> dict[str, float]:
    """Per sample: calls, prompt and completion tokens, and the share of prompt tokens that is served.

    `batched_questions` as in `evaluate`: "yes" asks in one request what belongs together.
    """
    from assay import OpenAIJudge, evaluate

    read = written = cached = calls = 0
    kinds: Counter[str] = Counter()
    for row in rows():
        with OpenAIServer(plan=reply) as server:
            judge = OpenAIJudge("fake", base_url=server.base_url, embedding_model="e", max_concurrency=1)
            with tempfile.TemporaryDirectory() as folder:
                evaluate([row], metrics, judge, store=folder, batched_questions=batched_questions)
            prompts = [prompt_of(call) for call in server.chats]
            calls += len(prompts)
            read += sum(map(len, prompts))
            cached += served(prompts)
            for call in server.chats:
                count = len(tokens(reply(call)))
                written += count
                kinds[call.kind] += count
    by_kind = {f"written, {kind}": count / SAMPLES for kind, count in kinds.most_common()}
    return {
        "calls": calls / SAMPLES,
        "prompt tokens": read / SAMPLES,
        "served by a prefix cache": cached / read,
        "completion tokens": written / SAMPLES,
        **by_kind,
    }


def main() -> None:
    for batched_questions in ("no", "yes"):
        print(batched_questions)
        for name, figure in measure(batched_questions=batched_questions).items():
            print(f"  {name:<28} {figure:10.2f}" if figure <= 1 else f"  {name:<28} {figure:10.1f}")


if __name__ == "__main__":
    main()
