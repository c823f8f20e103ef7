"""Prices of models by name: your own (`[prices]` of a configuration), else those of the library genai-prices.

genai-prices (extra `prices`) carries its list in the package; nothing is fetched here. What neither knows is unknown:
no price is guessed. Prices that rise with the length of a prompt count at their first step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from assay.judges.budget.budget import Prices
from assay.judges.providers.table import PROVIDERS

#: Prices that the user gave, by judge ("openai:MODEL") or by model.
_OWN: ContextVar[Mapping[str, Prices] | None] = ContextVar("assay_prices", default=None)

#: Addresses of the providers that are not in the table, as genai-prices tells them apart.
_ADDRESSES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "vertex": "https://aiplatform.googleapis.com/v1",
    "bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com",
    "azure": "https://mine.openai.azure.com/openai",
}
_FINGERPRINT = re.compile(r"([\w-]{1,40})/([^@#]{1,200})(?:@(https?://[^#\s]{1,300}))?#[0-9a-f]{16}")


@contextmanager
def own_prices(prices: Mapping[str, Prices]) -> Iterator[None]:
    """Within, these prices come before those of the library.

    Args:
        prices: Prices by judge ("openai:MODEL") or by model ("MODEL").
    """
    token = _OWN.set(prices)
    try:
        yield
    finally:
        _OWN.reset(token)


def prices_of_name(judge: str) -> Prices | None:
    """Look up the prices of a judge by the name that `--judge` takes.

    Args:
        judge: The name, as "openai:gpt-4.1-mini". Of a batch judge: the usual prices.

    Returns:
        The prices. None: not known.
    """
    scheme, colon, model = judge.partition(":")
    kind = scheme.removesuffix("-batch")
    if not colon or not model:
        return None
    provider = PROVIDERS.get(kind)
    return _prices(kind, model, _ADDRESSES.get(kind) or (provider.address if provider is not None else None))


def prices_of_judge(fingerprint: str) -> Prices | None:
    """Look up the prices of a judge by its fingerprint.

    Args:
        fingerprint: Fingerprint of a judge, as runs keep it: kind, model and address.

    Returns:
        The prices. None: not known, as for a server of your own.
    """
    found = _FINGERPRINT.match(fingerprint)
    return None if found is None else _prices(found[1], found[2], found[3])


def _prices(kind: str, model: str, address: str | None) -> Prices | None:
    own = _OWN.get() or {}
    names = [f"{kind}:{model}", model]
    if address is not None:
        host = next((name for name, one in PROVIDERS.items() if one.address == address), None)
        names[1:1] = [f"{host}:{model}"] if host else []
        if address.rstrip("/").endswith("/openai"):
            names[1:1] = [f"azure:{model}"]
    given = next((own[name] for name in names if name in own), None)
    if given is not None:
        return given
    if kind == "any-llm":
        provider, _, model = model.partition(":")
        return _of_library(model, None, provider)
    return None if address is None else _of_library(model, address, None)


@lru_cache(maxsize=256)
def _of_library(model: str, address: str | None, provider: str | None) -> Prices | None:
    if find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage, calc_price

    try:
        usage = Usage(input_tokens=1, output_tokens=1)
        found = (
            calc_price(usage, model, provider_id=provider)
            if address is None
            else calc_price(usage, model, provider_api_url=address)
        )
    except (LookupError, ValueError):
        return None
    price = found.model_price
    prompt, completion = _first_step(price.input_mtok), _first_step(price.output_mtok)
    if prompt is None or completion is None:
        return None
    cached, written = _first_step(price.cache_read_mtok), _first_step(price.cache_write_mtok)
    return Prices(prompt=prompt, completion=completion, cached=cached, cache_write=written)


def _first_step(price: Any) -> float | None:
    """A price per million tokens; of one in steps, the first."""
    base = getattr(price, "base", price)
    return None if base is None else float(base)


def share_of(judge: Any) -> float | None:
    """What of the usual price a judge's requests cost: 1.0, or less in batches. None: not known."""
    batches = getattr(judge, "batches", None)
    return 1.0 if batches is None else getattr(batches, "share", None)


def prices_for_run(judge: Any, given: Prices | None) -> Prices | None:
    """The prices that a run's tokens are paid at.

    Args:
        judge: The judge.
        given: Usual prices that the user gave with a budget.

    Returns:
        The prices, with the discount of batches. None: not known.
    """
    usual, share = given or prices_of_judge(judge.fingerprint), share_of(judge)
    return None if usual is None or share is None else usual.scaled(share)
