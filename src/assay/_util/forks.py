"""What a fork must not cut in two, and locks that nobody holds in a forked child.

A child has the memory of its parent and none of its other threads. A lock that one of those held stays locked for ever
there; a module that one was importing stays half imported; a native library that one was inside of may be in any state.
So a fork waits, for a few seconds at most, until no thread of ours imports anything, holds a lock of Python's own that
is not made anew, or is in native code; and all our locks are made anew in the child.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

LONGEST = 10.0  # seconds that a fork waits at most; loading the models of the embedded judge takes about two
OURS = "assay-"  # how the names of our threads begin
#: Code that holds a lock of Python's own while it calls other code: a file, and the function there ("": any). An import
#: locks its module; `cached_property` before 3.12 locks itself for all objects of its class.
LOCKING = (("<frozen importlib._bootstrap>", ""), (functools.__file__, "__get__"))

_LOCKS: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()


def own_lock(owner: Any, name: str = "_lock") -> threading.Lock:
    """Create a lock that every forked child replaces with a new, free one.

    The child sets the attribute again, because a thread of the parent may hold the lock at the fork.

    Args:
        owner: Object or module that has the lock as an attribute. It must be hashable and support weak references.
        name: Name of the attribute.

    Returns:
        The lock. Assign it to the attribute.
    """
    _LOCKS.setdefault(owner, []).append(name)
    return threading.Lock()


_PARENTS: list[object] = []


def keep(inherited: object) -> None:
    """In a child, something of the parent's that must never be collected: it would close what the parent still uses."""
    _PARENTS.append(inherited)


class Renewable(Protocol):
    """Something that a forked child cannot go on with."""

    def _set_up(self) -> None:
        """Begin afresh."""


_FIRST: weakref.WeakSet[Renewable] = weakref.WeakSet()
_THEN: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renewed(one: Renewable, *, first: bool = False) -> None:
    """Set it up again in forked children, after all locks; `first`: before those that may hold on to it."""
    (_FIRST if first else _THEN).add(one)


class ForkLock:
    """Around native code: a fork waits until nobody is inside, and whoever comes meanwhile waits for the fork."""

    def __init__(self) -> None:
        self._set_up()

    def _set_up(self) -> None:
        self._changed = threading.Condition()
        self._inside: dict[int, int] = {}  # threads, and how often each has entered
        self._closed = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Inside. May be entered again by the same thread."""
        me = threading.get_ident()
        with self._changed:
            while self._closed and me not in self._inside:
                self._changed.wait(LONGEST)
                self._closed = False  # a fork that takes longer than that has failed without a word
            self._inside[me] = self._inside.get(me, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[me] -= 1
                if not self._inside[me]:
                    del self._inside[me]
                self._changed.notify_all()

    def empty(self, seconds: float) -> bool:
        """Wait until no other thread is inside; False: some were, for so long."""
        me = threading.get_ident()
        with self._changed:
            return self._changed.wait_for(lambda: not self._inside.keys() - {me}, max(0.0, seconds))

    def close(self, seconds: float) -> None:
        """Let nobody else in, and wait until those inside have left."""
        with self._changed:
            self._closed = True
        self.empty(seconds)

    def open(self) -> None:
        """Let everybody in again."""
        with self._changed:
            self._closed = False
            self._changed.notify_all()


#: Around all native code that takes long or has locks of its own.
FORK_LOCK = ForkLock()


def _before() -> None:
    end = time.monotonic() + LONGEST
    FORK_LOCK.close(LONGEST)
    while _locking() and time.monotonic() < end:
        time.sleep(0.002)


def _locking() -> bool:
    """Whether a thread of ours, other than this one, is inside of `LOCKING` code."""
    me = threading.get_ident()
    ours = {thread.ident for thread in threading.enumerate() if thread.name.startswith(OURS)} - {me}
    return bool(ours) and any(_locks(frame) for ident, frame in sys._current_frames().items() if ident in ours)


def _locks(frame: FrameType | None) -> bool:
    while frame is not None:
        code = frame.f_code
        if any(code.co_filename == file and code.co_name == (name or code.co_name) for file, name in LOCKING):
            return True
        frame = frame.f_back
    return False


def _in_child() -> None:
    for owner, names in list(_LOCKS.items()):
        for name in names:
            setattr(owner, name, threading.Lock())
    FORK_LOCK._set_up()
    for one in [*_FIRST, *_THEN]:
        one._set_up()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=FORK_LOCK.open, after_in_child=_in_child)
