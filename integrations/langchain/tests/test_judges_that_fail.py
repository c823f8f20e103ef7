"""A judge's endpoint that is dead, slow, or answers nonsense: the application does not notice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from assay.judges.llm.openai import OpenAIJudge
from tests._support.servers.openai_server import Behaviour, Faults, OpenAIServer

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
REQUESTS = 20


@contextmanager
def endpoint(kind: str) -> Iterator[str]:
    """The address of a judge that fails in one way."""
    behaviours = {
        "refusing connections": None,
        "never answering": Behaviour(faults=Faults(silent=1.0, repeat=None)),
        "slow": Behaviour(delay=1.0),
        "hanging up": Behaviour(faults=Faults(dropped=1.0, repeat=None)),
        "failing": Behaviour(faults=Faults(error_500=1.0, repeat=None)),
        "answering nonsense": Behaviour(faults=Faults(malformed=1.0, repeat=None)),
        "limited": Behaviour(faults=Faults(rate_limited=1.0, repeat=None)),
    }
    with ExitStack() as stack:
        behaviour = behaviours[kind]
        if behaviour is None:
            yield "http://127.0.0.1:9/v1"
        else:
            yield stack.enter_context(OpenAIServer(behaviour)).base_url


def host(kit: Any, config: Any) -> tuple[list[str], float]:
    """What the application answers, and the seconds of its quickest request: other work here disturbs the others."""
    answers, took = [], []
    chain = kit.rag()
    for number in range(REQUESTS):
        started = time.perf_counter()
        answers.append(chain.invoke(f"{QUESTION} {number}", config=config))
        took.append(time.perf_counter() - started)
    return answers, min(took)


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    ["refusing connections", "never answering", "slow", "hanging up", "failing", "answering nonsense", "limited"],
)
def test_the_application_neither_fails_nor_waits(captured: Any, kit: Any, kind: str) -> None:
    with endpoint(kind) as address:
        judge = OpenAIJudge("any", base_url=address, api_key="k", timeout=1.0, max_attempts=2, retry_base=0.01)
        it = captured(judge=judge, deadline=1.5, max_queue=REQUESTS)
        host(kit, {})  # warm
        _, alone = host(kit, {})
        answers, watched = host(kit, it.config)
        assert answers == [ANSWER] * REQUESTS
        # an invocation takes milliseconds, a judge's call here a second or more: waiting for one would be 100 times
        assert watched < 5 * alone + 0.02
        health = it.handler.close(4)
    live = health.live
    assert live.submitted + live.dropped == REQUESTS
    assert live.scored == 0  # none of these endpoints gives anything that is a judgement
    assert live.finished + live.pending == live.submitted  # nothing is lost uncounted
    assert live.no_value == live.finished == sum(live.causes.values())
