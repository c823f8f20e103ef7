"""`check_sink`: what every sink promises, for whoever writes one. See `assay.testing.bench` for more checks."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from assay.records import Sample
from assay.sinks import Sink
from assay.testing.bench import (
    Bench,
    Check,
    StoredScore,
    check_closing_twice_is_fine,
    check_evidence_arrives,
    check_failing_mask,
    check_many_claims_stay_within_limits,
    check_new_value_replaces,
    check_nothing_has_no_place_without_ids,
    check_same_write_is_one_score,
    check_same_write_same_id,
    check_skipped_is_no_number,
    check_values_arrive,
    check_works_after_fork,
)

#: The samples that the checks write, by the name that they have in `check_*`.
NAMES = ("sample-1", "parent", "child", "parent-again", "long")


class _SharedBench(Bench):
    """A bench over a store that lives on from check to check: each check has samples of its own."""

    def __init__(
        self,
        make_sink: Callable[..., Sink],
        read_back: Callable[[Sample], Iterable[StoredScore]],
        confirms: bool,
        ids: Mapping[str, str],
    ) -> None:
        self._make_sink = make_sink
        self._read_back = read_back
        self._run = uuid.uuid4().hex[:12]
        self.confirms = confirms
        self.ids = ids

    def key(self, id: str) -> str:
        return f"{id}-{self._run}"

    def sink(self, **options: Any) -> Sink:
        return self._make_sink(**options)

    def stored_scores(self) -> list[StoredScore]:
        names = NAMES[:1] if self.ids else NAMES  # all samples of a check have the same ids
        return [held for name in names for held in self._read_back(self.scored(name).sample)]

    def wire(self) -> bytes:
        raise NotImplementedError


def check_sink(
    make_sink: Callable[..., Sink],
    read_back: Callable[[Sample], Iterable[StoredScore]],
    *,
    upserts: bool = True,
    confirms: bool = True,
    masks: bool = False,
    forks: bool = True,
    ids: Callable[[], Mapping[str, str]] | None = None,
) -> None:
    """Check that a sink keeps what sinks promise.

    Args:
        make_sink: Makes a sink in front of one store; called again, another one in front of the same store. It is given
            `mask=` where `masks` is true, and nothing else.
        read_back: Returns the scores that the store has for a sample now, looked up as the store knows it: by
            `sample.id`, or by what `sample.ids` holds.
        upserts: Whether writing the same score again leaves one score. False: the store only appends, and ids tell the
            scores apart.
        confirms: Whether a write that went well counts as confirmed.
        masks: Whether the sink takes `mask=`.
        forks: Whether the sink must work in a child process after a fork.
        ids: Makes what a sample needs in `ids` to have a place in the store, new ones at each call; None: it needs
            none.

    Raises:
        AssertionError: A promise is broken; the message names the first check that failed.
    """
    checks: list[Check] = [check_values_arrive, check_skipped_is_no_number, check_evidence_arrives]
    checks += [
        check_many_claims_stay_within_limits,
        check_closing_twice_is_fine,
        check_nothing_has_no_place_without_ids,
    ]
    checks += [check_same_write_is_one_score, check_new_value_replaces] if upserts else [check_same_write_same_id]
    checks += [check_failing_mask] if masks else []
    checks += [check_works_after_fork] if forks and hasattr(os, "fork") else []
    for check in checks:
        bench = _SharedBench(make_sink, read_back, confirms, ids() if ids is not None else {})
        try:
            check(bench)
        except Exception as error:  # a sink that raises breaks the check as well
            said = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            raise AssertionError(f"{check.__name__}: {said}") from error
