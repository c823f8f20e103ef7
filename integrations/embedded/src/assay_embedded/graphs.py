"""Models as onnxruntime opens and runs them, so that neither a fork nor the end of the process meets one inside."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from assay.extension import FORK_LOCK, at_the_end, own_lock
from assay_embedded.files import PackedFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

STOPPING = 0.25  # seconds that the end of the process waits for a reading, or a file that is being opened, at most


class Ending(Exception):
    """The process ends: nothing more is read. A thread that is in native code then would bring it down."""


class OnnxGraph:
    """One model: unpacked and opened when something is first read with it, since each takes tens of megabytes."""

    __slots__ = ("_packed", "_session")

    def __init__(self, packed: PackedFile) -> None:
        self._packed: PackedFile | None = packed
        self._session: Any = None

    def run(self, feed: Mapping[str, Any]) -> NDArray[np.float32]:
        """The model's output. Raises Ending where the process ends."""
        session = self._session or self._opened()
        with native():
            result: NDArray[np.float32] = session.run(None, feed)[0]
        return result

    def _opened(self) -> Any:
        with _lock:
            if self._session is None and self._packed is not None:
                self._session = _session(self._packed.unpacked())
                self._packed = None
                _give_back()
        return self._session


def each(run: Callable[[Any], T], jobs: Sequence[Any], size: Callable[[Any], int], threads: int) -> list[T]:
    """`run` over the jobs on so many threads, the longest first so that none waits long at the end."""
    workers = min(threads, len(jobs))
    if workers <= 1:
        return [run(job) for job in jobs]
    todo = deque(sorted(range(len(jobs)), key=lambda i: -size(jobs[i])))
    results: dict[int, T] = {}
    errors: list[BaseException] = []

    def work() -> None:
        while not errors:
            try:
                number = todo.popleft()
            except IndexError:
                return
            try:
                results[number] = run(jobs[number])
            except BaseException as error:
                errors.append(error)

    # threads for one call cost 0.1 ms, and none is there afterwards
    helpers = [Thread(target=work, name="assay-embedded-reading", daemon=True) for _ in range(workers - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]
    return [results[i] for i in range(len(jobs))]


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def arrays(**rows: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    """Each as a batch of one."""
    import numpy as np

    return {name: np.array([row], np.int64) for name, row in rows.items()}


@contextlib.contextmanager
def native() -> Iterator[None]:
    """Around native code. Raises Ending where the process ends."""
    with FORK_LOCK.entered():
        if _ending:
            raise Ending("the process ends")
        yield


_lock = own_lock(sys.modules[__name__])
_ending = False


def _end() -> None:
    global _ending
    _ending = True
    FORK_LOCK.empty(STOPPING)


at_the_end(_end)


def _session(graph: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # threads are ours: one text each
    options.log_severity_level = 3
    with native():
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _give_back() -> None:
    """Have the C library return what opening a model took and left: more than 10 MB of each, in some milliseconds."""
    with contextlib.suppress(Exception):  # only glibc can
        ctypes.CDLL(None).malloc_trim(0)
