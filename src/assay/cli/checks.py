"""What works here: the parts that are installed, the embedded judge, and what a judge endpoint supports."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypeVar

from assay._util.install_hints import DISTRIBUTION, PARTS
from assay._util.sync import run_sync
from assay.errors import AssayError
from assay.judges.http.probe import CLAIMS, PASSAGE, EndpointJudge
from assay.judges.providers.checks import caching_of, models_at, models_in_words
from assay.prompts import Claims, Support

if TYPE_CHECKING:
    from assay.judges import BaseJudge

T = TypeVar("T")

_PARTS = (DISTRIBUTION, *(f"assay-{part}" for part in PARTS), "langchain-core", "llama-index-core", "openai", "pyarrow",
          "pandas")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `fine` is None where it is neither right nor wrong."""

    name: str
    fine: bool | None
    text: str


def examine(judge: BaseJudge | None = None) -> Iterator[Check]:
    """Look at everything, one check at a time; `judge` is an endpoint to examine besides the embedded judge."""
    yield from (_part(name) for name in _PARTS)
    if importlib.util.find_spec("assay_embedded") is not None:
        yield from _embedded()
    if judge is not None:
        yield from _endpoint(judge)


def _part(name: str) -> Check:
    try:
        return Check(name, True, version(name))
    except PackageNotFoundError:
        return Check(name, None, "not installed")


def _embedded() -> Iterator[Check]:
    from assay.judges.embedded.judge import EmbeddedJudge

    try:
        began = time.perf_counter()
        judge = EmbeddedJudge()
        name = judge.fingerprint
        yield Check("embedded judge", True, f"{name}, files intact, loaded in {time.perf_counter() - began:.2f} s")
    except (AssayError, OSError, ValueError) as error:
        yield Check("embedded judge", False, str(error))
        return
    yield known_verdicts(judge)


def known_verdicts(judge: BaseJudge) -> Check:
    """Ask for two verdicts that are beyond doubt. A judge may lack the word for "contradicted"."""
    try:
        wrong = [
            claim
            for claim, label in CLAIMS.items()
            if (run_sync(lambda: _label(judge, claim)) == "supported") != (label == "supported")  # noqa: B023
        ]
    except AssayError as error:
        return Check("known verdicts", False, str(error))
    return Check("known verdicts", not wrong, f"wrong on: {'; '.join(wrong)}" if wrong else "both right")


async def _label(judge: BaseJudge, text: str) -> str:
    try:
        claims = await judge.find(Claims(text))
        (verdict,) = await judge.find(Support(claims[:1], (PASSAGE,)))
    finally:
        await judge.release()
    return verdict.label


def _endpoint(judge: BaseJudge) -> Iterator[Check]:
    from assay.judges.classifier.judge import DecisionJudge
    from assay.judges.llm.openai import OpenAIJudge

    if isinstance(judge, (OpenAIJudge, DecisionJudge)):
        found = run_sync(judge.probe)
        if isinstance(found.get("model"), str) and found["reachable"] is True:
            found["model"] += _models(judge)
        # `known_verdicts` asks for more than the probe's own verdict, and for the same model
        yield from (_probed(name, value) for name, value in found.items() if name != "verdict" and value is not None)
        if isinstance(judge, OpenAIJudge) and found.get("latency") is not None:
            yield Check("caching", None, run_sync(lambda: _released(judge, caching_of(judge))))
    yield _price(judge)
    if judge.rows_in_flight is None:  # a verdict of one that answers in batches may take a day
        yield known_verdicts(judge)


async def _released(judge: BaseJudge, work: Awaitable[T]) -> T:
    try:
        return await work
    finally:
        await judge.release()


def _models(judge: EndpointJudge) -> str:
    names = run_sync(lambda: models_at(judge))
    return f"; {models_in_words(judge.model, names)}" if names else ""


def _price(judge: BaseJudge) -> Check:
    from assay.judges.budget.known_prices import prices_for_run

    prices = prices_for_run(judge, None)
    if prices is None:
        return Check("price", None, "unknown: [prices] in assay.toml, or the extra assay-rag[prices], name it")
    words = {"prompt": "read", "cached": "read from the cache", "cache_write": "written to the cache"}
    said = [f"${price:g} {words.get(name, 'written')}" for name, price in prices.to_dict().items()]
    return Check("price", None, f"per million tokens: {', '.join(said)}")


#: What an endpoint must have; the rest is good to know.
_NEEDED = ("reachable", "model")


def _probed(name: str, value: object) -> Check:
    needed = name in _NEEDED
    if isinstance(value, bool):
        return Check(name, value if needed else None, "yes" if value else "no")
    if isinstance(value, float):
        return Check(name, None, f"{value:.2f} s")
    return Check(name, False if needed else None, str(value))  # a text where a yes was hoped for says what is wrong
