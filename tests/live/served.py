"""An application for real servers: each request, and each task of Celery, submits one sample.

    gunicorn tests.live.served:wsgi
    uvicorn tests.live.served:asgi            served:closing closes its intake in its lifespan
    celery -A tests.live.served:tasks worker
    python -m tests.live.served serve PORT    opens the intake, then imports and runs uvicorn
    python -m tests.live.served PATH COUNT    sends tasks of Celery

ASSAY_TEST_KIND is "queue" or "live", ASSAY_TEST_FOLDER the folder of what it writes. `accepted.txt` there has a line
for each sample: the time at which it was accepted, on the machine's steady clock, and its id.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from assay.records import Context, Sample
from tests.live.process_ends import Place

FOLDER = Path(os.environ["ASSAY_TEST_FOLDER"])
#: 100 samples take half a second to score: less than the end of a process waits, and more than any server takes to end.
INTAKE = Place(os.environ["ASSAY_TEST_KIND"], FOLDER, pause=0.005).open()
ACCEPTED = os.open(FOLDER / "accepted.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

_numbers = itertools.count()


def accept() -> None:
    id = f"{os.getpid()} {next(_numbers)}"
    INTAKE.submit(Sample(id=id, question="Why?", answer="Cats purr.", contexts=(Context(text="Cats purr."),)))
    os.write(ACCEPTED, f"{time.monotonic()} {id}\n".encode())


def answer(path: str) -> bytes:
    """What a request is for: `/pid` submits nothing, `/exit` ends the process without a word."""
    if path == "/exit":
        os._exit(1)
    if path != "/pid":
        accept()
    return str(os.getpid()).encode()


def wsgi(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    body = answer(environ["PATH_INFO"])
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


Scope, Receive, Send = dict[str, Any], Callable[[], Awaitable[dict[str, Any]]], Callable[[dict[str, Any]], Any]


async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        body = answer(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})
        return
    for step in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{step}.complete"})


async def closing(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        return await asgi(scope, receive, send)
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await asyncio.to_thread(INTAKE.close)
    await send({"type": "lifespan.shutdown.complete"})


def _tasks() -> Any:
    from celery import Celery

    broker = FOLDER / "broker"
    broker.mkdir(exist_ok=True)
    folders = {"data_folder_in": str(broker), "data_folder_out": str(broker), "control_folder": str(broker / "control")}
    app = Celery("served", broker="filesystem://", broker_transport_options=folders)
    app.conf.worker_hijack_root_logger = False

    @app.task(name="submit")
    def submit(path: str) -> None:
        answer(path)

    return app


if "celery" in sys.modules:
    tasks = _tasks()

if __name__ == "__main__":
    if sys.argv[1] == "serve":
        import uvicorn

        uvicorn.run(asgi, port=int(sys.argv[2]), log_level="warning")
    else:
        tasks = _tasks()
        for _ in range(int(sys.argv[2])):
            tasks.send_task("submit", [sys.argv[1]])
