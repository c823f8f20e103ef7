"""What can go wrong at the fake endpoint: seeded, so that each run goes wrong in the same places."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field


@dataclass
class Faults:
    """Shares of requests, each in [0, 1], that go wrong in a way. Their sum must not exceed 1.

    `repeat` is how many attempts at one request go wrong before it succeeds; None: all of them. Which request goes
    wrong depends on its text and the seed, not on when it comes. `independent`: each attempt is drawn for itself, and
    `repeat` does not count.
    """

    seed: int = 0
    repeat: int | None = 1
    independent: bool = False
    error_500: float = 0.0
    rate_limited: float = 0.0  # HTTP 429 with Retry-After
    malformed: float = 0.0  # a reply that is no JSON object
    truncated: float = 0.0  # half a reply, finish_reason length
    silent: float = 0.0  # never answers
    dropped: float = 0.0  # closes the connection
    content_filter: float = 0.0
    refusal: float = 0.0
    think: float = 0.0  # a <think> block first
    fenced: float = 0.0  # in a code fence, with prose around

    def pick(self, key: str, attempt: int) -> str | None:
        """The name of what goes wrong with this attempt (from 1) at this request."""
        if self.independent:
            key = f"{key}/{attempt}"
        elif self.repeat is not None and attempt > self.repeat:
            return None
        drawn = random.Random(hashlib.sha256(f"{self.seed}/{key}".encode()).digest()).random()
        for name in NAMES:
            share = getattr(self, name)
            if drawn < share:
                return name
            drawn -= share
        return None


NAMES = (
    *("error_500", "rate_limited", "malformed", "truncated", "silent", "dropped"),
    *("content_filter", "refusal", "think", "fenced"),
)


@dataclass
class Behaviour:
    """How the endpoint is, rather than what goes wrong.

    rejects        parameters that it refuses with HTTP 400: temperature, seed, max_tokens, max_completion_tokens,
                   response_format (all of it), json_schema (only that), logprobs, encoding_format
    vague          refuses without naming what
    models         known model names; None for any
    key            the key it wants; None for any
    delay          seconds before each answer
    usage          whether it reports usage
    logprobs       whether it gives them when asked; otherwise it ignores the wish
    ignores_format takes response_format and does not enforce it: replies in prose with a code fence
    think          thinks aloud before each reply
    embeddings     whether it has an embeddings endpoint
    max_output     tokens of a reply at most, besides what the request allows
    window         tokens of request and reply together; None for no limit
    num_ctx        tokens of the context window to which it shortens prompts without an error, as Ollama does: of a
                   prompt that does not fit, 4 tokens of the start and half of the others are left
    density        characters of a token, in the counts that it reports
    allowed        calls in any `period` seconds; the rest gets HTTP 429 with Retry-After
    sees           whether it takes pictures (see `sight`); else it refuses them with HTTP 400, saying `blind`
    retry_after    seconds that a 429 asks for; None: none said. With `allowed`, when the next call would pass
    """

    rejects: frozenset[str] | set[str] = frozenset()
    vague: bool = False
    models: frozenset[str] | set[str] | None = None
    key: str | None = None
    delay: float = 0.0
    usage: bool = True
    logprobs: bool = True
    ignores_format: bool = False
    think: bool = False
    embeddings: bool = True
    max_output: int | None = None
    window: int | None = None
    num_ctx: int | None = None
    density: float = 4
    allowed: int | None = None
    period: float = 60.0
    retry_after: float | None = 0.05
    sees: bool = False
    blind: str = "Invalid content type. image_url is only supported by certain models."
    faults: Faults = field(default_factory=Faults)
