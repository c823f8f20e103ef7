"""Run work once at the end of a process, also where the process ends by `os._exit`.

`atexit` covers most processes. Children that multiprocessing forks run the finalizers of `multiprocessing.util` and end
by `os._exit`; from Python 3.13 on they also run exit functions, but none of their parent's. Celery's children send the
signal `worker_process_shutdown` and end by `os._exit`. uvicorn raises the signal that stopped it once more, and SIGTERM
ends the process before any exit function. Nothing here imports these libraries: a process that has not loaded them does
not end in their way.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import signal
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

#: Exit priority: multiprocessing closes its pools at 15 and its queues at 10, and a sink may use them.
PRIORITY = 100
_LOOKED_AT = 200  # callables behind a signal handler


class ProcessEnd:
    """Runs `work` once at the end of this process, and once at the end of each forked child.

    Args:
        work: Called without arguments, on the thread that ends the process or on one that this thread waits for.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._ran_in: int | None = None  # process ID
        self._finalizer: tuple[int, Any] | None = None  # with the ID of the process that registered it
        self._follows_forks = False
        self._server: Any = None  # of uvicorn
        atexit.register(self.run)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.register)

    def register(self) -> None:
        """Register with the libraries that this process has loaded by now."""
        register_after_fork = _loaded("multiprocessing.util", "register_after_fork")
        if register_after_fork is not None and not self._follows_forks:
            self._follows_forks = True  # in the children as well, which inherit what is registered
            register_after_fork(self, ProcessEnd._add_finalizer)
        if _is_child_of_multiprocessing():
            self._add_finalizer()
        shutdown = _loaded("celery.signals", "worker_process_shutdown")
        if shutdown is not None:
            shutdown.connect(self.run, weak=False, dispatch_uid="assay.live")
        self.follow_server()

    def follow_server(self) -> None:
        """Run the work when a signal ends the uvicorn server that runs in this process."""
        server_class = _loaded("uvicorn.server", "Server")
        server = None if server_class is None else _owner(signal.getsignal(signal.SIGTERM), server_class)
        if server is None or server is self._server:
            return
        self._server, shutdown = server, server.shutdown

        async def shutdown_and_run(*arguments: Any, **named: Any) -> None:
            try:
                await shutdown(*arguments, **named)
            finally:
                if getattr(server, "_captured_signals", ()):  # else the process may go on
                    self.run()

        server.shutdown = shutdown_and_run

    def run(self, **_: object) -> None:
        """Run the work, if this process has not run it yet. The arguments are those of a signal of Celery."""
        if self._ran_in != os.getpid():
            self._ran_in = os.getpid()
            self._work()

    def _add_finalizer(self) -> None:
        """Register with multiprocessing, which removes all finalizers at the start of a child."""
        if self._finalizer is not None:
            process, finalizer = self._finalizer
            if process == os.getpid() and finalizer.still_active():
                return
        finalize = _loaded("multiprocessing.util", "Finalize")
        if finalize is not None:
            self._finalizer = (os.getpid(), finalize(None, self._finish, exitpriority=PRIORITY))

    def _finish(self) -> None:
        """Run the work once the application's threads have ended.

        Before Python 3.13 multiprocessing runs finalizers first, and waits for threads that are no daemons after that.
        So a thread of this kind waits for the others.
        """
        if not (_is_child_of_multiprocessing() and _other_threads()):
            self.run()
            return
        try:
            threading.Thread(target=self._run_after_threads, name="assay-end", daemon=False).start()
        except RuntimeError:  # the process can start no thread
            self.run()

    def _run_after_threads(self) -> None:
        while threads := _other_threads():
            for thread in threads:
                thread.join()
        self.run()


def _loaded(module: str, name: str) -> Any:
    """A name of a module; None where the module is not loaded, or another thread is importing it."""
    return getattr(sys.modules.get(module), name, None)


def _owner(handler: Any, kind: type) -> Any:
    """The object of this class whose method a signal handler is, or is called by it; None where none is found.

    Applications put a handler of their own over that of the server and call the server's from it: the method is in a
    closure, in a `functools.partial`, in an attribute or in a global variable that the handler names.
    """
    waiting, seen = deque([handler]), set[int]()
    while waiting and len(seen) < _LOOKED_AT:
        one = waiting.popleft()
        if id(one) in seen:
            continue
        seen.add(id(one))
        with contextlib.suppress(Exception):  # of the application's objects, as proxies that stand for nothing now
            if isinstance(owner := getattr(one, "__self__", None), kind):
                return owner
            waiting.extend(found for found in _called_by(one, owner) if callable(found))
    return None


def _called_by(one: Any, owner: Any) -> Iterator[Any]:
    """What a callable may call: what it closes over, wraps or names, and attributes of the object that it is of."""
    function = getattr(one, "__func__", one)
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # it is empty yet
            yield cell.cell_contents
    if isinstance(function, functools.partial):
        yield from (function.func, *function.args, *function.keywords.values())
    if isinstance(function, types.FunctionType):
        yield from (function.__globals__.get(name) for name in function.__code__.co_names)
        yield from function.__defaults__ or ()
    for holder in (owner, None if isinstance(one, (types.FunctionType, types.MethodType, type)) else one):
        yield from getattr(holder, "__dict__", {}).values() if not isinstance(holder, types.ModuleType) else ()


def _is_child_of_multiprocessing() -> bool:
    parent_process = _loaded("multiprocessing.process", "parent_process")
    return parent_process is not None and parent_process() is not None


def _other_threads() -> list[threading.Thread]:
    """The threads that the process waits for at its end, besides the one that ends it and this one."""
    own = (threading.main_thread(), threading.current_thread())
    return [thread for thread in threading.enumerate() if not thread.daemon and thread not in own]
