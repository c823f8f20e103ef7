"""Runs by name: every run has a name of its own, and none is continued or overwritten by accident."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from assay.errors import InputError, StoreError
from assay.store import Store


def start_run(store: Store, name: str | None, info: Mapping[str, Any], *, replace: bool = False) -> str:
    """Make a run in the store and give its name. Without one it gets a new one that sorts by time.

    Raises InputError for a name that the store has, unless it is to be replaced: its rows are then deleted.
    """
    if name is None:
        return _started_anew(store, info)
    if not name.strip() or name == "last":
        raise InputError(f"run: {name!r} cannot be a name; 'last' means the latest run")
    if store.has_run(name):
        if not replace:
            raise InputError(
                f"run: {name!r} is in the store {str(store.path)!r} already; give another name, or replace=True to "
                "score anew under this one (findings stay, so nothing is asked twice)"
            )
        store.delete_run(name)
    store.create_run(name, info)  # refuses it if another process was quicker
    return name


def _started_anew(store: Store, info: Mapping[str, Any]) -> str:
    for _ in range(10):
        name = new_name()
        try:
            store.create_run(name, info)
        except InputError:  # somebody drew the same bits in the same second
            continue
        return name
    raise StoreError(f"store {str(store.path)!r}: ten new run names were all taken")


def new_name() -> str:
    """A name that sorts by time; 64 random bits tell apart runs that start in one second."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(8)


def same_model_elsewhere(judge: str, store: Store) -> str | None:
    """A judge with findings in the store, where this one has none, that differs from it by its address alone.

    Judges are told apart by their fingerprints, `kind/model@address#parameters`. None where there is none.
    """
    if "@" not in judge:
        return None
    known = store.judges()
    if judge in known:
        return None
    return next((other for other in sorted(known) if _without_address(other) == _without_address(judge)), None)


def _without_address(judge: str) -> tuple[str, str] | None:
    model, at, rest = judge.partition("@")
    return (model, rest.rpartition("#")[2]) if at else None
