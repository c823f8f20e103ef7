"""How large an HTML report is, and how quick in a browser: `python -m tests.benchmarks.bench_report`.

1,000 and 20,000 samples with five contexts each, of which half are shared: every other context is one of a pool that
has a passage for every four rows. Scores with claims, quotes and reasons as an LLM judge gives them. The texts are
words of this project's pages, each as often as it stands there: packed as well as prose, or better. Needs Chromium.
"""

from __future__ import annotations

import gzip
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay import Context, Sample
from assay.evaluation.result import Result
from assay.records import Claim, Evidence, Score, ScoredSample, Span, Verdict
from assay.report.build import report_of
from assay.report.html.page import write_page
from assay.store.store import Store
from tests._support.servers.browser import browser

PAGES = Path(__file__).parents[2] / "docs"
WORDS = re.findall(r"[a-z]{2,}", " ".join(page.read_text("utf-8") for page in sorted(PAGES.glob("*.md"))))
SIZES = (1_000, 20_000)
REASON_WORDS = 14
LOADS, FILTERS = 7, 15

#: file / gzipped unique texts, without 300 kB; first paint of 20,000 / of 1,000; ms to filter
TARGETS = (2.0, 1.5, 100.0)
SPARED = 300_000


def rows(count: int, seed: int = 0) -> Iterator[ScoredSample]:
    """Samples with the scores of three metrics."""
    chance = random.Random(seed)

    def sentence() -> str:
        return f"The {' '.join(chance.choices(WORDS, k=14))} in {chance.randint(1800, 2020)}."

    def passage() -> str:
        return " ".join(sentence() for _ in range(5))

    pool = [passage() for _ in range(max(1, count // 4))]
    for n in range(count):
        texts = [chance.choice(pool) if (n + k) % 2 else passage() for k in range(5)]
        quoted = [text.partition(". ")[0] + "." for text in texts[:3]]
        answer = " ".join([*quoted, sentence()])
        sample = Sample(
            id=f"s{n}",
            question=f"What is known of the bridge of town {n}, and of the {' '.join(chance.choices(WORDS, k=4))}?",
            contexts=tuple(Context(text=text) for text in texts),
            answer=answer,
            reference=f"{quoted[0]} {sentence()}",
        )
        yield ScoredSample(sample=sample, scores=_scores(sample, quoted, chance))


def _scores(sample: Sample, quoted: list[str], chance: random.Random) -> dict[str, Score]:
    answer = sample.answer or ""

    def reason() -> str:
        return " ".join(chance.choices(WORDS, k=REASON_WORDS))

    claims, at = [], 0
    for place, text in enumerate([*quoted, answer[sum(len(one) + 1 for one in quoted) :]]):
        claim = Claim(text=text, span=Span(at, at + len(text)))
        found = place < len(quoted)
        evidence = (Evidence(passage=place, span=Span(0, len(text)), text=text),) if found else ()
        label = "supported" if found else "not_mentioned"
        said: dict[str, Any] = {"probability": round(chance.random(), 2), "reason": reason()}
        claims.append(Verdict(label=label, claim=claim, evidence=evidence, **said))
        at += len(text) + 1
    useful = [chance.random() < 0.6 for _ in sample.passages]
    passages = tuple(
        Verdict(label="useful" if one else "not_useful", passage=n, reason=reason()) for n, one in enumerate(useful)
    )
    cosines = [chance.random() for _ in range(3)]
    return {
        "faithfulness": Score(metric="faithfulness", value=0.75, verdicts={"answer/contexts": tuple(claims)}),
        "context_relevance": Score(
            metric="context_relevance", value=sum(useful) / len(useful), verdicts={"question/contexts": passages}
        ),
        "answer_relevancy": Score(
            metric="answer_relevancy",
            value=sum(cosines) / 3,
            low=-1.0,
            parts={f"cosine_{n}": value for n, value in enumerate(cosines, 1)},
        ),
    }


def stored(folder: Path, count: int) -> tuple[Result, int]:
    """A run of so many rows, and the bytes of its unique texts when they are gzipped together."""
    store, texts = Store(folder / f"{count}"), dict[str, None]()
    store.create_run("bench", {"judge": "bench", "metrics": ["faithfulness", "context_relevance", "answer_relevancy"]})
    for number, scored in enumerate(rows(count), 1):
        store.put_row("bench", number, scored)
        sample = scored.sample
        said = (sample.question, sample.answer, sample.reference, *sample.passages)
        reasons = (one.reason for score in scored.scores.values() for of in score.verdicts.values() for one in of)
        texts.update(dict.fromkeys(text for text in (*said, *reasons) if text))
    return Result.load("bench", store), len(gzip.compress("\n".join(texts).encode(), 9))


PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
FILTER = """async (text) => {
  const began = performance.now();
  const field = document.getElementById("search");
  field.value = text;
  field.dispatchEvent(new Event("input"));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}"""


def in_browser(chromium: Any, path: Path) -> dict[str, float]:
    """Medians in milliseconds: first paint, first rows, all rows, answers to search in, a filter until it is seen."""
    paints, firsts, alls, answers = [], [], [], []
    for _ in range(LOADS):
        page = chromium.new_page()
        began = time.perf_counter()
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector("#table .row", timeout=60_000)
        firsts.append(1000 * (time.perf_counter() - began))
        page.wait_for_selector("html[data-ready=all]", timeout=60_000)
        alls.append(1000 * (time.perf_counter() - began))
        page.wait_for_selector("html[data-answers=read]", timeout=60_000)
        answers.append(1000 * (time.perf_counter() - began))
        paints.append(page.evaluate(PAINT))
        if len(paints) < LOADS:
            page.close()
    typed = ["bridge of town 7", "granite", "s19", "archive photograph", "2020", ""]
    filters = [page.evaluate(FILTER, typed[n % len(typed)]) for n in range(FILTERS)]
    page.close()
    every = {"first paint": paints, "first rows": firsts, "all rows": alls, "answers": answers, "filter": filters}
    return {name: statistics.median(found) for name, found in every.items()}


def main() -> None:
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for count in SIZES if len(sys.argv) < 2 else map(int, sys.argv[1:]):
            result, texts = stored(Path(folder), count)
            began = time.perf_counter()
            path = write_page(report_of(result), Path(folder) / f"{count}.html")
            written = time.perf_counter() - began
            size = path.stat().st_size
            found[count] = {"kB": size / 1000, "of texts": (size - SPARED) / texts, "written": written}
            found[count] |= in_browser(chromium, path)
    _print(found)


def _print(found: dict[int, dict[str, float]]) -> None:
    times = ("first paint", "first rows", "all rows", "answers", "filter")
    heads = ("samples", "file, MB", "(file − 300 kB) / texts", "written, s", *(f"{name}, ms" for name in times))
    print(f"| {' | '.join(heads)} |\n|{'--:|' * len(heads)}")
    for count, one in found.items():
        sizes = f"{one['kB'] / 1000:.2f} | {one['of texts']:.2f} | {one['written']:.1f}"
        print(f"| {count:,} | {sizes} | {' | '.join(f'{one[name]:.0f}' for name in times)} |")
    first, *_, last = [*found.values(), *found.values()]
    print(f"\nfirst paint of the largest / of the smallest: {last['first paint'] / first['first paint']:.2f} "
          f"(at most {TARGETS[1]}); texts at most {TARGETS[0]}; filter at most {TARGETS[2]:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
