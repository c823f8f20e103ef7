"""`check_capture`: what every framework integration promises, for whoever writes one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from assay._util.normalise import well_formed
from assay.live.disabled_intake import DisabledIntake
from assay.live.protocol import Intake, Submission
from assay.records import Sample
from assay.testing.assertions import expect, same


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedExchange:
    """Script of one exchange that an application plays.

    Attributes:
        question: What the application is asked.
        passages: What its retriever returns.
        answer: What its LLM answers.
        error: An error that the LLM raises in place of the answer; the application lets it pass.
    """

    question: str
    passages: tuple[str, ...]
    answer: str
    error: Exception | None = None


class CollectingIntake(DisabledIntake):
    """Intake that keeps the samples that a hook submits, for tests. Thread-safe.

    Attributes:
        samples: The samples, in order.
        errors: The errors that were counted, as texts.
    """

    def __init__(self) -> None:
        super().__init__("a check of capture")
        self.samples: list[Sample] = []
        self.errors: list[str] = []
        self._lock = threading.Lock()

    def submit(self, sample: Submission) -> bool:
        """Keep a sample.

        Args:
            sample: A sample, or a function that makes one; if it returns None, nothing is kept.

        Returns:
            True.
        """
        made = sample() if callable(sample) else sample
        if made is not None:
            with self._lock:
                self.samples.append(made)
        return True

    def count_error(self, error: BaseException, where: str) -> None:
        """Keep an error in `errors`.

        Args:
            error: The error.
            where: Where it was raised.
        """
        with self._lock:
            self.errors.append(f"{where}: {type(error).__name__}: {error}")


class _Broken(CollectingIntake):
    def submit(self, sample: Submission) -> bool:
        raise RuntimeError("the intake of this check is broken")


#: Runs an application with the hook under test on, once; what the hook captures goes to the intake.
Play = Callable[[CapturedExchange, Intake], Any]


def check_capture(play: Play, *, retrieves_nothing: bool = True, threads: int = 8) -> None:
    """Check that an integration keeps what captures promise.

    Args:
        play: Runs a small application of the framework that does what the `CapturedExchange` says, with the hook under
            test handing its samples to the `Intake`. It returns when the exchange is over, and raises what the
            application raises. It is called from several threads at once.
        retrieves_nothing: Whether the framework distinguishes an empty retrieval from none.
        threads: Number of threads of the check with several threads.

    Raises:
        AssertionError: A promise is broken; the message describes the first one.
    """
    _plain(play)
    if retrieves_nothing:
        _empty_retrieval(play)
    _any_text(play)
    _error_of_the_host(play)
    _broken_intake(play)
    _threads(play, threads)


_PLAIN = CapturedExchange(
    question="How many people live in Paris?",
    passages=("Paris has 2.1 million inhabitants.", "Bread is baked in Ulm."),
    answer="2.1 million.",
)


def _plain(play: Play) -> None:
    sample = _one(play, _PLAIN)
    _is(sample, _PLAIN)
    same(sample.status, "complete", "the status of an exchange that went well")
    expect(sample.id, "a sample has an id, by which its scores find their trace again")
    other = _one(play, _PLAIN)
    expect(other.id != sample.id, f"two exchanges have the same id {sample.id!r}")
    json.dumps(sample.to_dict(), allow_nan=False).encode()


def _empty_retrieval(play: Play) -> None:
    exchange = CapturedExchange(question="What is new?", passages=(), answer="I do not know.")
    same(_one(play, exchange).contexts, (), "the contexts of a retrieval that found nothing")


def _any_text(play: Play) -> None:
    for text in ("cut \ud83d", "a\x00b \x1b[2J", "مرحبا 🙂", "<b>&amp;</b>\n\n{x}", "long " * 20_000 + "end"):
        exchange = CapturedExchange(question=f"Q {text}?", passages=(f"P {text}",), answer=f"A {text}.")
        _is(_one(play, exchange), exchange)


def _error_of_the_host(play: Play) -> None:
    """The application's own error is the application's: the hook neither swallows nor changes it."""
    error = ValueError("the model is overloaded")
    exchange = CapturedExchange(question=_PLAIN.question, passages=_PLAIN.passages, answer="", error=error)
    intake = CollectingIntake()
    try:
        play(exchange, intake)
    except Exception as raised:
        expect(raised is error or str(error) in str(raised), f"the application's error came out as {raised!r}")
    else:
        raise AssertionError("the application's own error was swallowed")
    complete = [sample for sample in intake.samples if sample.status == "complete"]
    expect(not complete, f"an exchange that failed was captured as complete: {complete}")


def _broken_intake(play: Play) -> None:
    """What goes wrong behind the hook never reaches the application."""
    try:
        play(_PLAIN, _Broken())
    except Exception as error:
        raise AssertionError(f"the hook let {type(error).__name__} reach the application: {error}") from error


def _threads(play: Play, threads: int) -> None:
    """Exchanges at the same time do not mix."""
    intake = CollectingIntake()
    exchanges = [
        CapturedExchange(question=f"Question {n}?", passages=(f"Passage {n}.", f"Another {n}."), answer=f"Answer {n}.")
        for n in range(4 * threads)
    ]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda exchange: play(exchange, intake), exchanges))
    same(intake.errors, [], "errors that the hook counted")
    found = {sample.question: sample for sample in intake.samples}
    same(sorted(str(q) for q in found), sorted(e.question for e in exchanges), "the questions captured from threads")
    for exchange in exchanges:
        _is(found[exchange.question], exchange)


def _one(play: Play, exchange: CapturedExchange) -> Sample:
    intake = CollectingIntake()
    play(exchange, intake)
    same(intake.errors, [], "errors that the hook counted")
    same(len(intake.samples), 1, "samples captured of one exchange")
    return intake.samples[0]


def _is(sample: Sample, exchange: CapturedExchange) -> None:
    """The sample says what the exchange did."""
    same(sample.question, well_formed(exchange.question), "the question captured")
    same(sample.passages, tuple(map(well_formed, exchange.passages)), "the passages captured, in order")
    same(sample.answer, well_formed(exchange.answer), "the answer captured")
