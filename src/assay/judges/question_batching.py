"""How a judge is asked what belongs together, and what `assay judge batching` found of that.

    auto  together where a check, kept in the store, says that the judge then finds the same; else one by one
    yes   together
    no    one by one

What may be asked together is fixed, a group by its name (see `assay.metrics.joint_prompts`): it follows from the
sample alone, and never from what else is measured.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

from assay.errors import InputError
from assay.judges import prompt_rendering as fences
from assay.prompts import question_batch, support, usefulness
from assay.records import fingerprint
from assay.records.migration import ADDRESSED_NAMES

if TYPE_CHECKING:
    from assay.judges.protocol import JudgeBackend, JudgementStore
from assay.judges.protocol import GROUPS, BatchedQuestions, Group

#: Under which name a store keeps what was found.
KEPT_AS = "batching_check"


def check_batched_questions(given: Any) -> BatchedQuestions:
    """The setting; True and False are "yes" and "no". Raises InputError for anything else."""
    if isinstance(given, bool):
        return "yes" if given else "no"
    if given not in get_args(BatchedQuestions):
        raise InputError(
            f"batched_questions: expected {', '.join(map(repr, get_args(BatchedQuestions)))}, got {given!r}"
        )
    setting: BatchedQuestions = given
    return setting


def batched_groups(judge: JudgeBackend, store: JudgementStore | None) -> frozenset[Group]:
    """The groups that this judge is asked together. Raises what the store raises."""
    if judge.batched_questions == "yes":
        return frozenset(GROUPS)
    if judge.batched_questions != "auto" or store is None or not judge.durable:
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
    notes = sorted(judge.instructions.notes.items()) if judge.instructions is not None else ()
    words = [question_batch.TASK, support.TASK, usefulness.TASK, fences.VERSION, fences.SYSTEM, question_batch.MOST]
    return f"{ADDRESSED_NAMES[KEPT_AS]} {group} {judge.address} {fingerprint([*words, notes])}"
