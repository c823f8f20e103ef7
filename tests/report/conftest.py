"""Two runs over the same rows, by a judge that reads literally; the second one got some answers wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge, evaluate
from assay.evaluation.result import Result
from assay.judges.protocol import Answer
from assay.prompts import JudgePrompt, Support
from assay.records import Span, Verdict
from assay.report.build import ReportOptions, report_of
from assay.report.html.page import write_page

METRICS = "faithfulness, context_precision"
#: What must stay text: elements, the end of a script, marks that turn the direction of what stands around them.
HOSTILE = (
    '</script><script>window.bad=1</script><img src=x onerror="window.bad=2"> & "q" \u202eevil\u202c \x1b[31m {{7*7}}'
)
WRONG = 8  # rows that the second run got wrong


def literal(claim: str, passage: str) -> str:
    """The passage's words, where it says the claim word for word; a quote makes it "supported"."""
    said = claim.rstrip(".")
    return said if said and said in passage else "not_mentioned"


class Telling(ScriptedJudge):
    """Tells that cheese is what is wrong with a claim."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        answers = await super().answer(prompts)
        return [replace(one, judgement=tuple(map(_told, one.judgement))) if isinstance(prompt, Support) else one
                for prompt, one in zip(prompts, answers, strict=True)]  # fmt: skip


def _told(verdict: Verdict) -> Verdict:
    start = -1 if verdict.claim is None else verdict.claim.text.find("cheese")
    return verdict if start < 0 else replace(verdict, unsupported=(Span(start, start + len("cheese")),))


def judge(name: str = "scripted") -> ScriptedJudge:
    return Telling(
        claims=lambda text: [part.strip(" .") + "." for part in text.split(". ") if part.strip(". ")],
        support=literal,
        usefulness=lambda question, passage: "red" in passage,
        name=name,
    )


def row(n: int, answer: str | None = None) -> dict[str, Any]:
    contexts = [f"Thing {n} is red. It is 😀 round.", "It is blue" if n % 2 else "Nothing is known"]
    said = f"Thing {n} is red. It is 😀 round." if answer is None else answer
    topic = "odd" if n % 2 else "even"
    return {"id": f"q{n}", "question": f"What is thing {n}?", "contexts": contexts, "answer": said,
            "reference": f"Thing {n} is red.", "topic": topic}  # fmt: skip


def hostile_row() -> dict[str, Any]:
    return {"id": HOSTILE, "question": HOSTILE, "contexts": [HOSTILE, f"{HOSTILE} more"], "answer": HOSTILE,
            "reference": HOSTILE, "topic": HOSTILE, HOSTILE: HOSTILE}  # fmt: skip


@dataclass
class Two:
    before: Result
    now: Result


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Two:
    """40 rows: in the second run the first eight say something that no passage says; the last one is hostile."""
    store = tmp_path_factory.mktemp("two")
    rows = [*(row(n) for n in range(39)), hostile_row()]
    wrong = [row(n, f"Thing {n} is red. It is made of cheese.") for n in range(WRONG)]
    before = evaluate(rows, METRICS, judge(), store=store, run="before")
    now = evaluate([*wrong, *rows[WRONG:]], METRICS, judge(), store=store, run=f"now {HOSTILE}", note=HOSTILE)
    return Two(before, now)


@pytest.fixture(scope="session")
def file(two: Two, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the second run against the first."""
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    report = report_of(two.now, two.before, ReportOptions(slices=("topic",)))
    return write_page(report, tmp_path_factory.mktemp("page") / "report.html")


@dataclass
class Opened:
    """A page, and what it said and asked for."""

    page: Any
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def count(self) -> str:
        return str(self.page.locator("#count").inner_text())

    def rows(self) -> list[str]:
        """The first cells of the rows in sight: their numbers."""
        cells = self.page.locator("#table .row > :first-child").all_inner_texts()
        return [str(cell) for cell in cells]

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-ready=all][data-answers=read]")


@pytest.fixture(scope="module")  # as long as it is open, an event loop runs in this thread: no other test has one then
def chromium() -> Iterator[Any]:
    from tests._support.servers.browser import browser

    with browser() as opened:
        yield opened


@pytest.fixture
def opened(chromium: Any, file: Path) -> Iterator[Opened]:
    """The report in a browser that may ask for nothing else."""
    context = chromium.new_context(accept_downloads=True)
    found = Opened(context.new_page())
    context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
    context.on("request", lambda request: found.requests.append(request.url))
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.goto(file.as_uri())
    found.ready()
    yield found
    context.close()
    assert [url for url in found.requests if not url.startswith((file.as_uri(), "blob:"))] == []
    assert found.said == [], "errors, or what the policy forbade"
