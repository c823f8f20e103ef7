"""What `assay judge check` asks besides a verdict: the models that exist, and whether a prompt is cached."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import JudgeFailure
from assay.judges.http.probe import CLAIMS, PASSAGE, EndpointJudge
from assay.judges.http.reply_bytes import ReplyTooLarge
from assay.judges.http.transports import ClientTransport, TimedOut, Unreachable
from assay.prompts import Support
from assay.records import Claim, Span

SECONDS = 20.0  # for the list of models
LONGEST, MOST = 200, 2000  # characters of a name, and names: they are compared with each other
#: Sentences beside the passage: more than the 1,024 to 4,096 tokens from which on endpoints cache.
_PADDING = " ".join(f"Shelf {n} of the library holds books about the year {1500 + n}." for n in range(400))


async def models_at(judge: EndpointJudge) -> Sequence[str]:
    """List the models that an endpoint has.

    Args:
        judge: A judge of the endpoint. Its address is asked for `/models`, with its key.

    Returns:
        Names, in the endpoint's order. Empty where it lists none.
    """
    endpoint = judge.endpoint
    transport = ClientTransport(endpoint.address.client(SECONDS))
    try:
        response = await transport.exchange("GET", "/models", SECONDS)
        return names_in(response.body()) if response.status == 200 else ()
    except (TimedOut, Unreachable, ReplyTooLarge):
        return ()
    finally:
        await transport.close()


def names_in(body: Any) -> Sequence[str]:
    """Read names of models from a list in the form of OpenAI, Anthropic or Google.

    Args:
        body: The JSON of the response.

    Returns:
        The names, at most 2,000; those that are no text or longer than 200 characters are left out.
    """
    entries = (body.get("data") or body.get("models")) if isinstance(body, Mapping) else body
    known = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    names = (entry.get("id") or entry.get("name") for entry in known)
    texts = [name.removeprefix("models/") for name in names if isinstance(name, str)]
    return [name for name in texts if len(name) <= LONGEST][:MOST]


def models_in_words(model: str, names: Sequence[str], most: int = 8) -> str:
    """Name the models that exist, those like the one that does not first.

    Args:
        model: The model that was asked for.
        names: Those that exist.
        most: Number of names.

    Returns:
        A phrase such as "the endpoint has gpt-4.1, gpt-4.1-mini and 40 more".
    """
    close = difflib.get_close_matches(model, names, n=most, cutoff=0.4)
    shown = [*close, *(name for name in names if name not in close)][:most]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"the endpoint has {', '.join(shown)}{more}"


async def caching_of(judge: EndpointJudge) -> str:
    """Find out whether an endpoint caches prompts: two questions about one long text, one after the other.

    Args:
        judge: A judge of the endpoint. It reads about 15,000 tokens for this.

    Returns:
        What was found, in words.
    """
    cached = None
    for text in CLAIMS:
        claim = Claim(text=text, span=Span(0, len(text)))
        (answer,) = await judge.answer([Support((claim,), (f"{PASSAGE} {_PADDING}",))])
        if isinstance(answer.failure, JudgeFailure):
            return f"not found out: {answer.failure.message}"
        cached, read = answer.usage.cached_tokens, answer.usage.prompt_tokens
    if cached is None:
        return "not reported"
    return f"yes: {cached:,} of {read or 0:,} prompt tokens of a second question" if cached else "no cached tokens"
