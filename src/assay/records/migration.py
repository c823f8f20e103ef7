"""Names of earlier schema versions, and what they are called now: the only place where the old ones stand.

JSON of version 1 is what was written before JSON had a version. It is brought to this version when it is read. The
tables of a store, and the file of a queue, are changed once, in one transaction, when they are opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import InputError

#: The version of the JSON that is written: rows of a store, what it knows of a run, JSON lines, shards.
VERSION = 2
#: The key under which it stands.
VERSION_KEY = "schema"

#: Keys of JSON of version 1, by the object that they are in.
SCORE_KEYS = {"unscored": "error"}
RUN_KEYS = {"reused": "cache_hits"}
#: Counters of a queue.
COUNTER_NAMES = {"unscored": "no_value"}

#: Judge prompts, by the names that stores of schema 4 and older have.
PROMPT_NAMES = {
    "ask": "question",
    "choosing": "multiple_choice",
    "fuse_check": "batching_check",
    "fused": "question_batch",
    "listing": "extraction",
    "sorting": "classification",
}


def _rename_prompt(old: str, new: str) -> tuple[str, ...]:
    """Statements that give a prompt its new name. A user's own prompt may have that name: then both are one source."""
    both = f"FROM sources o JOIN sources n ON n.judge = o.judge AND n.prompt = '{new}' WHERE o.prompt = '{old}'"
    return (
        f"UPDATE judgements SET source = (SELECT n.number {both} AND o.number = judgements.source) "
        f"WHERE source IN (SELECT o.number {both})",
        f"DELETE FROM sources WHERE number IN (SELECT o.number {both})",
        f"UPDATE sources SET prompt = '{new}' WHERE prompt = '{old}'",
    )


#: Statements that bring a store of schema 4 to schema 5, in SQLite and in PostgreSQL.
STORE_4_TO_5 = (
    "ALTER TABLE findings RENAME TO judgements",
    "ALTER TABLE judgements RENAME COLUMN finding TO judgement",
    "ALTER TABLE used RENAME TO run_judgements",
    "ALTER TABLE run_judgements RENAME COLUMN finding TO judgement",
    "DROP INDEX findings_by_maker",
    "DROP INDEX findings_by_time",
    "ALTER TABLE makers RENAME TO sources",
    "ALTER TABLE sources RENAME COLUMN inquiry TO prompt",
    "ALTER TABLE judgements RENAME COLUMN maker TO source",
    "CREATE INDEX judgements_by_source ON judgements (source)",
    "CREATE INDEX judgements_by_time ON judgements (at)",
    *(statement for old, new in PROMPT_NAMES.items() for statement in _rename_prompt(old, new)),
)
#: What PostgreSQL needs besides.
POSTGRES_4_TO_5 = ("ALTER INDEX used_by_finding RENAME TO run_judgements_by_judgement",)
#: The tables of a store of schema 1, and its judgements, once each of its tables was renamed to old_NAME.
STORE_1_TABLES = ("findings", "runs", "rows")
STORE_1_JUDGEMENTS = "SELECT key, inquiry, judge, finding, at FROM old_findings ORDER BY at"

#: Judge prompts as they stand in the content addresses of judgements. See `ADDRESSED_CLASSES`.
ADDRESSED_NAMES = {new: old for old, new in PROMPT_NAMES.items()}
#: Classes of judge prompts as they stand in the content addresses of judgements. An address outlives the name of its
#: class: what was kept under the old one is the answer to the same question.
ADDRESSED_CLASSES = {
    "Classification": "Sorting",
    "Extraction": "Listing",
    "MultipleChoice": "Choosing",
    "QuestionBatch": "Fused",
    "Question": "Ask",
}


def schema_version(data: Mapping[str, Any], what: str) -> int:
    """Return the schema version of an object that was read from JSON.

    Args:
        data: The object.
        what: What it is, for the message of an error.

    Returns:
        Its version; 1 for an object without one.

    Raises:
        InputError: A newer assay wrote it, or its version is not a number from 1 on.
    """
    version = data.get(VERSION_KEY, 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"{what}: {VERSION_KEY}: expected a whole number from 1 on, found {version!r}")
    if version > VERSION:
        newer = f"{what} was written by a newer assay (schema {version}; this one reads up to {VERSION})"
        raise InputError(f"{newer}; upgrade assay")
    return version


def migrate_scored(data: Mapping[str, Any], what: str = "ScoredSample") -> dict[str, Any]:
    """Bring the JSON of a sample with its scores to this version.

    Args:
        data: The object, with the keys `sample` and `scores`.
        what: What it is, for the message of an error.

    Returns:
        A copy of this version, without the key of the version.

    Raises:
        InputError: See `schema_version`.
    """
    version = schema_version(data, what)
    found = {key: value for key, value in data.items() if key != VERSION_KEY}
    if version < 2 and isinstance(found.get("scores"), Mapping):
        found["scores"] = {
            name: rename(score, SCORE_KEYS) if isinstance(score, Mapping) else score
            for name, score in found["scores"].items()
        }
    return found


def migrate_run(data: Mapping[str, Any], what: str = "run") -> dict[str, Any]:
    """Bring what is known of a run, or of a shard of one, to this version.

    Args:
        data: The object.
        what: What it is, for the message of an error.

    Returns:
        A copy of this version, without the key of the version.

    Raises:
        InputError: See `schema_version`.
    """
    version = schema_version(data, what)
    found = {key: value for key, value in data.items() if key != VERSION_KEY}
    return rename(found, RUN_KEYS) if version < 2 else found


def rename(data: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of `data` with its old keys under their new names."""
    return {names.get(key, key): value for key, value in data.items()}
