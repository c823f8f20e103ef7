"""What goes into a queue and comes out of it: rows, keys, JSON."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass

from assay.records import Sample, Score, ScoredSample


@dataclass(frozen=True, slots=True)
class LeasedSample:
    """A sample that is this worker's for now. `attempts`: how often it was leased and no outcome came, before."""

    number: int
    key: str
    sample: str
    appended: float
    attempts: int
    returned: int


@dataclass(frozen=True, slots=True)
class PendingDelivery:
    """A scored sample to deliver. `given_to` names the sinks that have it already; `tries` failed before."""

    number: int
    key: str
    sample: str
    scores: str
    given_to: tuple[str, ...]
    tries: int

    def scored(self) -> ScoredSample:
        """The records. Raises InputError or ValueError for what cannot be read."""
        return scored_of(self.sample, self.scores)


def process_name(kind: str) -> str:
    """A name for this process, or for one worker in it, that no other has."""
    return f"{kind} {socket.gethostname()} {os.getpid()} {os.urandom(4).hex()}"


def scored_of(sample: str, scores: str) -> ScoredSample:
    """The records behind two JSON texts."""
    loaded = {name: Score.from_dict(score) for name, score in json.loads(scores).items()}
    return ScoredSample(sample=Sample.from_dict(json.loads(sample)), scores=loaded)
