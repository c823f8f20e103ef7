"""What all sinks of trace stores have in common: retries, dry runs, masks, and reading back what was written.

A store's own sink says what a sample's ids mean to it, how annotations are sent, and which of them it can see again.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

import tenacity

from assay.errors import InputError, Undelivered
from assay.records import Sample, ScoredSample
from assay.sinks.annotations import EVIDENCE, EXPLANATION, Annotation, Mask, annotations_of
from assay.sinks.base import Receipt

log = logging.getLogger("assay.sinks")


class Refused(Exception):
    """The store will not take this, however often it is asked. Raise it from `send`."""


class NotThere(Exception):
    """The target is not in the store, or not yet: worth another try, for a while. Raise it from `send`."""


class RemoteSink(ABC):
    """A sink of one trace store. Subclasses write `target_of`, `send` and, where the store can be read, `seen`.

    verify    read the scores back after writing, and count them as confirmed
    attempts  how often a write is tried before it counts as undelivered
    patience  seconds that all attempts of one write together may take
    dry_run   called with the target and its annotations in place of sending them
    mask      applied to every text before it leaves the process
    texts     False: no text of the sample leaves; claims and quotes are hashes
    """

    #: what one explanation, and the evidence of one score, may measure in this store
    explanation_limit: ClassVar[int] = EXPLANATION
    evidence_limit: ClassVar[int] = EVIDENCE

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
        if patience <= 0:
            raise InputError(f"patience: expected a positive number of seconds, got {patience}")
        self._verify = verify
        self._attempts = attempts
        self._patience = patience
        self._dry_run = dry_run
        self._mask = mask
        self._texts = texts

    @abstractmethod
    def target_of(self, sample: Sample) -> str | None:
        """What this sample is called in the store; None: it has no place there."""

    @abstractmethod
    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        """Write all annotations once. Raises Refused, NotThere, or anything else for trouble that may pass."""

    def seen(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        """The ids of those annotations that the store has now; None: this store cannot be read back."""
        return None

    def close(self) -> None:  # noqa: B027  some clients hold nothing
        """Deliver what the client holds back and close it."""

    def write(self, scored: ScoredSample) -> Receipt:
        """Deliver one scored sample. Raises Undelivered, with the names of the scores that did not arrive."""
        sample = scored.sample
        target = self.target_of(sample)
        if target is None:
            return Receipt(skipped=len(scored.scores))
        annotations = annotations_of(
            scored,
            target=target,
            mask=self._mask,
            texts=self._texts,
            explanation_limit=self.explanation_limit,
            evidence_limit=self.evidence_limit,
        )
        if self._dry_run is not None:
            self._dry_run(target, annotations)
            return Receipt(skipped=len(annotations))
        if not annotations:
            return Receipt()
        self._persist(target, lambda: self.send(target, annotations, sample), annotations)
        return self._confirmed(target, annotations, sample)

    def _persist(self, target: str, action: Callable[[], Any], annotations: Sequence[Annotation]) -> None:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._attempts) | tenacity.stop_after_delay(self._patience),
            wait=tenacity.wait_random_exponential(multiplier=0.1, max=5),
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, Exception) and not isinstance(error, Refused)),
            reraise=True,
        )
        try:
            retrying(action)
        except Exception as error:
            names = [annotation.name for annotation in annotations]
            what = f"{type(self).__name__}: {target}: {type(error).__name__}: {str(error)[:300]}"
            raise Undelivered(what, scores=names) from error

    def _confirmed(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Receipt:
        sent = len(annotations)
        if not self._verify:
            return Receipt(sent=sent)
        missing: list[str] = []

        def look() -> bool:
            nonlocal missing
            seen = self.seen(target, annotations, sample)
            if seen is None:
                return False
            missing = [annotation.name for annotation in annotations if annotation.id not in seen]
            if missing:
                raise NotThere(f"{', '.join(missing)}: sent, and not to be found")
            return True

        try:
            readable = tenacity.Retrying(
                stop=tenacity.stop_after_attempt(self._attempts) | tenacity.stop_after_delay(self._patience),
                wait=tenacity.wait_random_exponential(multiplier=0.1, max=5),
                reraise=True,
            )(look)
        except NotThere as error:
            raise Undelivered(f"{type(self).__name__}: {target}: {error}", scores=missing) from error
        except Exception as error:
            log.warning("assay: %s could not read back what it wrote: %s", type(self).__name__, type(error).__name__)
            return Receipt(sent=sent)
        return Receipt(sent=sent, confirmed=sent if readable else 0)
