"""What batches saved, in words."""

from __future__ import annotations

from typing import Any

from assay.records import Usage

NANO = 10**9


def saved(usage: Usage, batches: int, share: float | None, name: str, prices: Any = None) -> str:
    """What the requests of a run cost, and what they would have cost one by one.

    `share`: of the usual price; None: not known. `prices`: `assay.judges.Prices`, the usual ones, where they are known.
    """
    many = f"{usage.calls:,} request{'s' * (usage.calls != 1)} in {batches:,} batch{'es' * (batches != 1)}"
    if share is None:
        return f"batches: {many}; what {name} takes off for batches is not known: give discount="
    rate = "half the usual price" if share == 0.5 else f"{share:.0%} of the usual price"
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if prompt is None or completion is None:
        return f"batches: {many} at {rate}; the endpoint does not say how many tokens they took"
    tokens = f"{prompt:,} prompt and {completion:,} completion tokens"
    if prices is None:
        less = f"{prompt * (1 - share):,.0f} and {completion * (1 - share):,.0f}"
        return f"batches: {many} at {rate}: {tokens}, which saved the price of {less}"
    full = prices.of(prompt, completion, usage.cached_tokens or 0) / NANO
    return f"batches: {many} at {rate}: {tokens} for ${full * share:.4f} in place of ${full:.4f}"
