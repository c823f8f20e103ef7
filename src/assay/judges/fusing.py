"""How a judge is asked what belongs together, and what `assay judge batching` found of that.

    auto      together where a check, kept in the store, says that the judge then finds the same; else one by one
    fused     together
    separate  one by one

What may be asked together is fixed, a group by its name (see `assay.metrics.joint_inquiries`): it follows from the
sample alone, and never from what else is measured.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

from assay.errors import InputError
from assay.inquiries import fused as fused_inquiry
from assay.inquiries import support, usefulness
from assay.judges import prompt_rendering as fences
from assay.records import fingerprint

if TYPE_CHECKING:
    from assay.judges.protocol import JudgeBackend, JudgementStore
from assay.judges.protocol import GROUPS, Asking, Group

#: Under which name a store keeps what was found.
KEPT_AS = "fuse_check"


def checked_asking(given: Any) -> Asking:
    """Raises InputError for what is none of the three."""
    if given not in get_args(Asking):
        raise InputError(f"asking: expected {', '.join(map(repr, get_args(Asking)))}, got {given!r}")
    asking: Asking = given
    return asking


def fused_groups(judge: JudgeBackend, store: JudgementStore | None) -> frozenset[Group]:
    """The groups that this judge is asked together. Raises what the store raises."""
    if judge.asking == "fused":
        return frozenset(GROUPS)
    if judge.asking != "auto" or store is None or not judge.durable:
        return frozenset()
    return frozenset(group for group in GROUPS if stored_check(judge, store, group).get("verdict") == "agrees")


def stored_check(judge: JudgeBackend, store: JudgementStore, group: Group) -> dict[str, Any]:
    """What a check of this judge, as it is asked now, found of a group; empty where there is none that can be read."""
    blob = store.get_judgement(_key(judge, group))
    try:
        found = None if blob is None else json.loads(blob)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def store_check(judge: JudgeBackend, store: JudgementStore, group: Group, found: dict[str, Any]) -> None:
    """Keep what a check found, in place of what an earlier one did."""
    store.put_judgement(_key(judge, group), KEPT_AS, judge.fingerprint, json.dumps(found).encode())


def _key(judge: JudgeBackend, group: Group) -> str:
    """The judge, and all wording that a judgement of the group depends on: an edited prompt has not been checked."""
    notes = sorted(judge.guidance.notes.items()) if judge.guidance is not None else ()
    words = [fused_inquiry.TASK, support.TASK, usefulness.TASK, fences.VERSION, fences.SYSTEM, fused_inquiry.MOST]
    return f"{KEPT_AS} {group} {judge.address} {fingerprint([*words, notes])}"
