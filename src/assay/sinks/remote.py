"""What all sinks of trace stores have in common: retries, dry runs, masks, and reading back what was written.

A store's own sink says what a sample's ids mean to it, how annotations are sent, and which of them it can see again.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, TypedDict, TypeVar

import tenacity

from assay._util.call_repr import call_repr
from assay.errors import AssayError, InputError, Undelivered
from assay.records import Sample, ScoredSample
from assay.sinks.annotations import EVIDENCE, EXPLANATION, Annotation, annotations_of
from assay.sinks.base import Mask, Receipt
from assay.sinks.log_filter import silenced

log = logging.getLogger("assay.sinks")

T = TypeVar("T")


class Refused(Exception):
    """The store will not take this, however often it is asked. Raise it from `send`."""


class KeyRefused(Refused):
    """The store does not know the key, or the key may not do this. Raise it from `send` and `greet`."""


class NotThere(Exception):
    """The target is not in the store, or not yet: worth other tries while patience lasts. Raise it from `send`."""


class Busy(Exception):
    """The store asks to come back later: after so many seconds, where it says when. Raise it from `send`."""

    def __init__(self, message: str, *, after: float | None = None):
        super().__init__(message)
        self.after = after


class SinkUnreachable(Busy):
    """The store cannot be reached now. Raise it from `send`."""


class RemoteOptions(TypedDict, total=False):
    """What every remote sink takes besides its own arguments; see `RemoteSink`."""

    verify: bool
    attempts: int
    patience: float
    dry_run: Callable[[str, Sequence[Annotation]], Any] | None
    mask: Mask | None
    texts: bool


class RemoteSink(ABC):
    """Sink of one trace store.

    Subclasses write `target_of`, `send` and, where the store can be read, `read_back`.

    Args:
        verify: Read the scores back after writing, and count them as confirmed.
        attempts: How often a write that fails is tried before it counts as undelivered; at least 1.
        patience: Seconds for all attempts of one write together, and for waiting until a target is in the store.
        dry_run: Called with the target and its annotations in place of sending them.
        mask: Applied to every text before it leaves the process.
        texts: False: no text of the sample leaves; claims and quotes are hashes.

    Raises:
        InputError: `attempts` is below 1, or `patience` is not positive.
    """

    #: what one explanation, and the evidence of one score, may measure in this store
    explanation_limit: ClassVar[int] = EXPLANATION
    evidence_limit: ClassVar[int] = EVIDENCE

    #: whether `send` gets one annotation at a time, so that one that is refused does not hold up the others
    one_by_one: ClassVar[bool] = False

    #: loggers of the client, which repeat as tracebacks what the sink reports; silent while it is called
    loggers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *,
        verify: bool = True,
        attempts: int = 6,
        patience: float = 30.0,
        dry_run: Callable[[str, Sequence[Annotation]], Any] | None = None,
        mask: Mask | None = None,
        texts: bool = True,
    ) -> None:
        if attempts < 1:
            raise InputError(f"attempts: expected at least 1, got {attempts}")
        if not patience > 0:
            raise InputError(f"patience: expected a positive number of seconds, got {patience}")
        self._verify = verify
        self._attempts = attempts
        self._patience = patience
        self._dry_run = dry_run
        self._mask = mask
        self._texts = texts

    def __repr__(self) -> str:
        return call_repr(self)

    @abstractmethod
    def target_of(self, sample: Sample) -> str | None:
        """Name a sample as the store does.

        Args:
            sample: The sample.

        Returns:
            Its name in the store; None: it has no place there.
        """

    @abstractmethod
    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        """Write all annotations once.

        Of other errors only the type, the status and the system's own words are passed on: their messages may hold
        keys or texts.

        Args:
            target: Name of the sample in the store.
            annotations: The annotations.
            sample: The sample.

        Raises:
            Refused: The store refuses them.
            NotThere: The target is not in the store.
            Busy: The store asks for a pause.
            Exception: Anything else is trouble that may pass.
        """

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        """Find the annotations that the store has now.

        Args:
            target: Name of the sample in the store.
            annotations: The annotations that were sent.
            sample: The sample.

        Returns:
            Ids of those that are there; None: this store cannot be read back.
        """
        return None

    def greet(self) -> None:  # noqa: B027  not every store can be asked
        """Ask the store for something that needs the key and changes nothing. Raises as `send` does."""

    def check(self) -> None:
        """Whether scores can be delivered, before there are any. Raises InputError: no key, or one that is refused.

        A store that cannot be reached now is a warning in the log: it may be there when the first scores are.
        """
        if self._dry_run is not None:
            return
        try:
            with silenced(*self.loggers):
                self.greet()
        except InputError:
            raise
        except KeyRefused as error:
            raise InputError(f"{type(self).__name__}: {error}") from None
        except NotThere:  # a server without that page: it answers
            return
        except Exception as error:
            log.warning("assay: %s: nothing can be delivered right now: %s", type(self).__name__, safe_words(error))

    def close(self) -> None:  # noqa: B027  some clients hold nothing
        """Deliver what the client holds back and close it."""

    def write(self, scored: ScoredSample) -> Receipt:
        """Deliver one scored sample.

        Args:
            scored: The sample with its scores.

        Returns:
            How many scores were sent, confirmed and skipped. All are skipped where the sample has no target, or in a
            dry run.

        Raises:
            Undelivered: Scores did not arrive; it has their names.
        """
        with silenced(*self.loggers):
            return self._write(scored)

    def _write(self, scored: ScoredSample) -> Receipt:
        sample = scored.sample
        target = self.target_of(sample)
        if target is None:
            return Receipt(skipped=len(scored.scores))
        annotations = self._annotations(scored, target)
        if self._dry_run is not None:
            self._dry_run(target, annotations)
            return Receipt(skipped=len(annotations))
        sent, lost = self._sent(target, annotations, sample)
        confirmed, missing = self._confirmed(target, sent, sample)
        lost.update(missing)
        if lost:
            reasons = "; ".join(dict.fromkeys(lost.values()))
            whole = f"{type(self).__name__}: {target}: {', '.join(lost)}: {reasons}"
            raise Undelivered(whole, scores=tuple(lost), target=target, reason=reasons)
        return Receipt(sent=len(annotations), confirmed=confirmed)

    def _annotations(self, scored: ScoredSample, target: str) -> list[Annotation]:
        try:
            return annotations_of(
                scored,
                target=target,
                mask=self._mask,
                texts=self._texts,
                explanation_limit=self.explanation_limit,
                evidence_limit=self.evidence_limit,
            )
        except InputError as error:  # the mask failed
            what = f"{type(self).__name__}: {target}: {error}"
            raise Undelivered(what, scores=tuple(scored.scores)) from None

    def _sent(
        self, target: str, annotations: Sequence[Annotation], sample: Sample
    ) -> tuple[list[Annotation], dict[str, str]]:
        """What was taken, and by name why the rest was not."""
        until = time.monotonic() + self._patience
        sent: list[Annotation] = []
        lost: dict[str, str] = {}
        parts = [[one] for one in annotations] if self.one_by_one else [list(annotations)] if annotations else []
        for part in parts:
            try:
                self._persist(lambda part=part: self.send(target, part, sample), until)  # type: ignore[misc]
                sent += part
            except Exception as error:
                lost.update(dict.fromkeys((annotation.name for annotation in part), safe_words(error)))
        return sent, lost

    def _confirmed(self, target: str, sent: Sequence[Annotation], sample: Sample) -> tuple[int, dict[str, str]]:
        """How many the store was seen to have, and by name those that it took and does not have."""
        if not self._verify or not sent:
            return 0, {}
        missing: list[str] = []

        def look() -> int:
            seen = self.read_back(target, sent, sample)
            if seen is None:
                return 0
            missing[:] = [annotation.name for annotation in sent if annotation.id not in seen]
            if missing:
                raise NotThere("sent, and not to be found")
            return len(sent)

        try:
            return self._persist(look, time.monotonic() + self._patience), {}
        except NotThere as error:
            return 0, dict.fromkeys(missing, str(error))
        except Exception as error:
            log.warning("assay: %s cannot read back what it wrote: %s", type(self).__name__, safe_words(error))
            return 0, {}

    def _persist(self, action: Callable[[], T], until: float) -> T:
        """The result of `action`, tried until it works, is refused or patience ends. Raises what it raised last."""
        backoff = tenacity.wait_random_exponential(multiplier=0.1, max=5)

        def pause(state: tenacity.RetryCallState) -> float:
            asked = getattr(_error(state), "after", None) or 0.0
            left = max(0.0, until - time.monotonic())
            return asked if asked > left else max(asked, min(backoff(state), left))

        def enough(state: tenacity.RetryCallState) -> bool:
            tried = state.attempt_number >= self._attempts and not isinstance(_error(state), NotThere)
            now = time.monotonic()
            return tried or now >= until or now + state.upcoming_sleep > until + 1

        return tenacity.Retrying(stop=enough, wait=pause, retry=tenacity.retry_if_exception(_may_pass), reraise=True)(
            action
        )


def _error(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, Exception) and not isinstance(error, (Refused, InputError))


def safe_words(error: BaseException) -> str:
    """Describe an error for logs and reports, without secrets.

    Messages of clients may hold the server's reply, an address with its password, or a part of the key.

    Args:
        error: The error.

    Returns:
        The message of an error of assay or of this module. For other errors the type, with the HTTP status or the
        system's text for an errno where there is one.
    """
    name = type(error).__name__
    if isinstance(error, (Refused, NotThere, Busy, AssayError)):
        return str(error) or name
    response = getattr(error, "response", None)
    for status in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(status, int):
            return f"{name} (HTTP {status})"
    if isinstance(error, OSError) and error.strerror:
        return f"{name} ({error.strerror})"
    return name
