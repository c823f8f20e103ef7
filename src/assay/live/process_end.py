"""Run work once at the end of a process, also where the process ends by `os._exit`.

`atexit` covers most processes. Children that multiprocessing forks run the finalizers of `multiprocessing.util` and end
by `os._exit`; from Python 3.13 on they also run exit functions, but none of their parent's. Celery's children send the
signal `worker_process_shutdown` and end by `os._exit`. uvicorn raises the signal that stopped it once more, and SIGTERM
ends the process before any exit function. Nothing here imports these libraries: a process that has not loaded them does
not end in their way.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

#: Exit priority: multiprocessing closes its pools at 15 and its queues at 10, and a sink may use them.
PRIORITY = 100


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
        server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        if server is self._server or not isinstance(server, _loaded("uvicorn.server", "Server") or ()):
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


def _is_child_of_multiprocessing() -> bool:
    parent_process = _loaded("multiprocessing.process", "parent_process")
    return parent_process is not None and parent_process() is not None


def _other_threads() -> list[threading.Thread]:
    """The threads that the process waits for at its end, besides the one that ends it and this one."""
    own = (threading.main_thread(), threading.current_thread())
    return [thread for thread in threading.enumerate() if not thread.daemon and thread not in own]
