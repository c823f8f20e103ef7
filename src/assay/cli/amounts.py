"""Amounts of money on the command line: `--budget 5USD`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges import BaseJudge
    from assay.judges.budget.budget import Budget

#: Judges that run in this process, by the beginning of their fingerprints.
_FREE = ("embedded/", "local/", "none")
_AMOUNT = re.compile(r"\s{0,9}(?:\$\s{0,9}([0-9.]{1,20})|([0-9.]{1,20})\s{0,9}(?:USD|usd|\$))\s{0,9}")


def dollars_in(text: str) -> float:
    """Read an amount of dollars.

    Args:
        text: The amount, as "5USD", "0.50 USD" or "$5".

    Returns:
        Dollars above 0.

    Raises:
        InputError: It is none.
    """
    found = _AMOUNT.fullmatch(text)
    try:
        amount = float(found[1] or found[2]) if found else 0.0
    except ValueError:
        amount = 0.0
    if not amount > 0:
        raise InputError(f"--budget: expected an amount of dollars above 0, such as 5USD, got {text[:40]!r}")
    return amount


def budget_of_amount(text: str, judge: BaseJudge, others: Budget | None) -> Budget:
    """Make the budget of an amount, with the limits of a configuration.

    Args:
        text: The amount.
        judge: The judge.
        others: The budget of the configuration. None: it has none.

    Returns:
        The budget.

    Raises:
        InputError: The amount is none, or the judge's prices are not known.
    """
    from assay._util.install_hints import install_extra
    from assay.judges.budget.budget import Budget, Prices
    from assay.judges.budget.known_prices import prices_of_judge

    amount = dollars_in(text)
    known = (None if others is None else others.prices) or prices_of_judge(judge.fingerprint)
    if known is None:
        if judge.fingerprint.startswith(_FREE):
            known = Prices(prompt=0, completion=0)
        else:
            name = judge.fingerprint.partition("@")[0]
            raise InputError(
                f"--budget: the prices of {name} are not known: add them to assay.toml under [prices], in dollars per "
                f"million tokens, or install the list of known prices: {install_extra('prices')}"
            )
    return Budget(dollars=amount, prices=known) if others is None else others.with_dollars(amount, known)
