"""What operators set in the environment of an application that scores live. Arguments in the code win.

    ASSAY_ENABLED    true or false (also 1/0, yes/no, on/off): false, and handlers hear nothing and start nothing
    ASSAY_SAMPLING   the rate of samples to score, between 0 and 1
    ASSAY_JUDGE      the judge by name: embedded, openai:MODEL, decisions:MODEL, systemone:MODEL, cascade:PATH,
                     local:PATH
    ASSAY_QUEUE      a folder: samples go there, for workers, and nothing is scored in this process
    ASSAY_STORE      a store: scored samples are kept there, as rows of the application's live run

`assay.live.application` reads name and version of the application.

They are read when a handler, an instrumentation or a scorer is made. A variable that is empty counts as not set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.judges import BaseJudge, JudgeSpec
from assay.judges.resolve import resolve_judge

if TYPE_CHECKING:
    from assay.live.protocol import StoreSpec
    from assay.sinks.base import Sink

ENABLED, SAMPLING, JUDGE = "ASSAY_ENABLED", "ASSAY_SAMPLING", "ASSAY_JUDGE"
QUEUE, STORE = "ASSAY_QUEUE", "ASSAY_STORE"

_WORDS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def enabled() -> bool:
    """Whether live scoring is on; it is where nothing says otherwise. Raises InputError for another word."""
    word = _value(ENABLED)
    if word is None:
        return True
    if word.lower() not in _WORDS:
        raise InputError(f"{ENABLED}: expected true or false, found {word!r} in the environment")
    return _WORDS[word.lower()]


def sampling() -> float | None:
    """The rate that is set; None: none. Raises InputError for what is no rate."""
    text = _value(SAMPLING)
    if text is None:
        return None
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate <= 1.0:
        raise InputError(f"{SAMPLING}: expected a rate between 0 and 1, found {text!r} in the environment")
    return rate


def queue() -> str | None:
    """The folder of the queue that is set; None: none."""
    return _value(QUEUE)


def with_store(sinks: Mapping[str, Sink], store: StoreSpec, application: str | None) -> dict[str, Sink]:
    """Add the sink that keeps the live run.

    Args:
        sinks: The sinks by name.
        store: Folder, file or database URL of the store. None: that of the environment, unless a sink keeps a live run
            already. False: none.
        application: Application of samples that name none.

    Returns:
        The sinks, that of the store first; without one where no store is meant.

    Raises:
        InputError: The store is an empty text.
    """
    from assay.sinks.store import StoreSink

    address = None if store is None or store is False else os.fspath(store)
    if store is None and not any(isinstance(sink, StoreSink) for sink in sinks.values()):
        address = _value(STORE)
    if address is None:
        return dict(sinks)
    return {f"store:{address}": StoreSink(address, application), **sinks}


def judge_or(given: JudgeSpec) -> BaseJudge:
    """The judge given in code; where there is none that of the environment, else the embedded one.

    Raises what `resolve_judge` raises; its InputErrors name the variable where that is at fault.
    """
    name = _value(JUDGE) if given is None else None
    if name is None:
        return resolve_judge(given)
    try:
        return resolve_judge(name)
    except InputError as error:
        raise InputError(f"{JUDGE}={name} in the environment: {error}") from error


def _value(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None
