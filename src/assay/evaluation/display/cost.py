"""What a run cost, in words."""

from __future__ import annotations

from collections.abc import Mapping

from assay.judges.budget.budget import Prices, dollars_of
from assay.records import Usage


def dollars_in_words(dollars: float) -> str:
    """An amount: cents, or the digits that a smaller amount needs ("$12.40", "$0.0031")."""
    if dollars == 0 or dollars >= 1:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.001 else f"${dollars:.2g}"


def cost_in_words(usage: Usage, rows: int, prices: Prices | None) -> str:
    """What a run cost, and 1,000 rows of it: "$0.12 ($1.20 per 1,000 rows)"; "unknown price" where it is."""
    dollars = dollars_of(usage, prices)
    if dollars is None:
        return "unknown price"
    per_row = f" ({dollars_in_words(1000 * dollars / rows)} per 1,000 rows)" if rows else ""
    return dollars_in_words(dollars) + per_row


def costs_by_metric(usage: Mapping[str, Usage], prices: Prices | None) -> str:
    """What each metric cost; empty where fewer than two asked anything, or the price is not known."""
    found = {name: dollars_of(one, prices) for name, one in usage.items() if one.calls}
    known = {name: dollars for name, dollars in found.items() if dollars is not None}
    if len(known) < 2:
        return ""
    return "cost by metric: " + ", ".join(f"{name} {dollars_in_words(dollars)}" for name, dollars in known.items())
