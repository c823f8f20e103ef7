"""What judgement out a row's language costs, and how often it is right: figures of docs/evidence/embedded-judge.md.

Run: python -m tests.benchmarks.bench_language

English rows are the labelled ones of ../shared/data; rows in other languages are those of
tests/text/language_sentences.py, written for these tests.
"""

from __future__ import annotations

import subprocess
import sys
import time

from assay.data.demo import answers
from assay.judges.claim_rules import sentence_claims
from assay.judges.resolve import resolve_judge
from assay.metrics.languages import languages_in
from assay.records import Context, Sample
from assay.text import languages
from tests.metrics.test_languages import FIELDS, SHARED, english_rows
from tests.text.language_sentences import SENTENCES, rows

LOADED = """
import resource, time, numpy
from assay.text import languages
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20
before, begun = held(), time.process_time()
languages._identifier()
print(f"{time.process_time() - begun:.2f} s of CPU, {held() - before:.0f} MiB")
"""


def main() -> None:
    loaded = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    print(f"loading the model: {loaded.strip()}")
    found = [[languages.language_of(text) for text in rows(sentences)] for sentences in SENTENCES.values()]
    told = sum(one not in (None, "en") for ones in found for one in ones)
    right = sum(one == code for code, ones in zip(SENTENCES, found, strict=True) for one in ones)
    count = sum(map(len, found))
    print(f"other languages: {told} of {count} rows are not English ({told / count:.2%}), {right} by their own name")
    if SHARED.is_dir():
        english()
    beside_the_judge()


def english() -> None:
    samples = english_rows(short=False)
    begun = time.process_time()
    lost = sum(any(code != "en" for code in languages_in(row, FIELDS).values()) for row in samples)
    cost = (time.process_time() - begun) / len(samples) * 1e6
    short = [row for row in samples if row.answer and len(row.answer.split()) < 8]
    wrong = sum(languages_in(row, ("answer",)).get("answer", "en") != "en" for row in short)
    print(
        f"English rows: {lost} of {len(samples)} are another language ({lost / len(samples):.2%}); {cost:.0f} µs each"
    )
    without = sum(any(c != "en" for c in languages_in(row, FIELDS[:3]).values()) for row in samples)
    print(f"  looking at answer, question and contexts alone: {without} ({without / len(samples):.3%})")
    print(f"  answers under 8 words: {wrong} of {len(short)} ({wrong / len(short):.2%})")


def beside_the_judge() -> None:
    """CPU of the search for the language, and of the embedded judge's one reading, on the same rows."""
    import asyncio

    from assay.prompts import Support

    rows_of_demo = answers()
    judge = resolve_judge("embedded")
    prompts = [Support(sentence_claims(r["answer"]), tuple(r["contexts"]), r["question"]) for r in rows_of_demo]
    asyncio.run(judge.answer(prompts[:1]))  # loads the models
    begun = time.process_time()
    asyncio.run(judge.answer(prompts))
    judged = (time.process_time() - begun) / len(prompts)
    samples = [
        Sample(question=r["question"], answer=r["answer"], contexts=tuple(Context(text=c) for c in r["contexts"]))
        for r in rows_of_demo
    ]
    languages._detect.cache_clear()
    begun = time.process_time()
    for sample in samples:
        languages_in(sample, ("answer", "contexts"))
    looked = (time.process_time() - begun) / len(samples)
    print(f"a row of the demo: {looked * 1e6:.0f} µs of CPU; support by the embedded judge: {judged * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
