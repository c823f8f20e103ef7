"""Samples with thousands of claims in a real browser: what is drawn grows with the texts and no faster."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from assay.evaluation.external_runs import result_of
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, Span, Verdict
from assay.report.build import report_of
from assay.report.html.page import write_page
from tests.report.conftest import Opened

pytestmark = [pytest.mark.needs(name="browser"), pytest.mark.long]

DRAWN = """async () => {
  await openSample(0);
  return document.querySelector("dialog").innerHTML.length;
}"""
PAINTED = """([text, pieces]) => {
  const shown = painted(text, pieces);
  const about = (one) => [one.textContent, one.className ?? null, one.dataset?.claim ?? null];
  const drawn = [...shown.childNodes].map(about);
  const keys = pieces.map((piece) => markedWith(shown, piece.key).map((one) => one.textContent).join(""));
  return [drawn, keys];
}"""


def one_sample(claims: int) -> ScoredSample:
    """Each claim reaches from the start of the answer to the end of its sentence, and its quote is as long."""
    sentences = [f"Bridge {n:05d} opened in that year." for n in range(claims)]
    text, length = " ".join(sentences), len(sentences[0])
    verdicts = []
    for n in range(claims):
        end = n * (length + 1) + length
        verdicts.append(
            Verdict(
                label="supported",
                claim=Claim(text=sentences[n], span=Span(0, end)),
                evidence=(Evidence(passage=0, span=Span(0, end), text=text[:end]),),
            )
        )
    score = Score(metric="faithfulness", value=1.0, verdicts={"answer/contexts": tuple(verdicts)})
    sample = Sample(question="q", answer=text, contexts=(Context(text=text),))
    return ScoredSample(sample=sample, scores={"faithfulness": score})


def test_four_times_the_claims_draw_four_times_as_much(chromium: Any, tmp_path: Path) -> None:
    """It would be 16 times, were whole quotes shown with each claim, and all claims named on each piece of a text."""
    drawn = []
    for claims in (500, 2000):
        path = write_page(report_of(result_of("long", "scripted", [one_sample(claims)])), tmp_path / f"{claims}.html")
        page = chromium.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-answers=read]")
        drawn.append(page.evaluate(DRAWN))
        assert page.locator("dialog li").count() == claims
        last = page.locator("dialog li").last.locator("[data-goto]")
        assert len(last.inner_text()) < 400
        last.click()  # the quote is shown in short, and whole where it stands
        assert len("".join(page.locator("mark.active").all_inner_texts())) == claims * 34 - 1
        page.close()
    assert drawn[1] / drawn[0] < 4.4


def test_of_pieces_that_overlap_the_shortest_is_drawn_and_every_one_is_found(opened: Opened) -> None:
    draw = random.Random(7)
    labels = ["supported", "contradicted", "not_mentioned", "useful"]
    rank = {"contradicted": 0, "not_mentioned": 4}
    for _ in range(60):
        text = "".join(draw.choice("abcdefgh ") for _ in range(draw.randint(1, 40)))
        pieces = []
        for n in range(draw.randint(0, 12)):
            start = draw.randint(0, len(text))
            piece = {"start": start, "end": draw.randint(start, len(text) + 1), "key": f"0-0-{n}"}
            pieces.append({**piece, "label": draw.choice(labels), "claim": draw.random() < 0.5})
        drawn, found = opened.page.evaluate(PAINTED, [text, pieces])
        assert "".join(part for part, *_ in drawn) == text
        inside = [piece for piece in pieces if piece["start"] < piece["end"] <= len(text)]
        at = 0
        for part, name, claim in drawn:
            there = [one for one in inside if one["start"] <= at and at + len(part) <= one["end"]]
            there.sort(key=lambda one: (one["end"] - one["start"], rank.get(one["label"], 6)))
            said = next((one["key"] for one in there if one["claim"]), None)
            assert claim == said
            assert (name is None) == (not there)
            at += len(part)
        for piece, marked in zip(pieces, found, strict=True):
            assert marked == (text[piece["start"] : piece["end"]] if piece in inside else "")
