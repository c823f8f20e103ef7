"""Alert rules: what is watched of a live run, when an alert opens, and who is told."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from assay._util.durations import duration_in_words
from assay.errors import InputError
from assay.sinks.http_post import checked_url

Kind = Literal["below", "above", "drop"]
Channel = Literal["webhook", "slack", "log", "otel", "prometheus"]

CHANNELS: tuple[Channel, ...] = get_args(Channel)
#: Channels that get a message for each opening and closing; the others show a state.
MESSAGES: tuple[Channel, ...] = ("webhook", "slack", "log")
#: Channels with an address.
ADDRESSED: tuple[Channel, ...] = ("webhook", "slack")
FROM_ENVIRONMENT = "env:"

DAY = 86400.0
LONGEST_NAME = 200
MIN_ROWS = 30
FALSE_ALARMS = 0.05
MIN_ROWS_OF_DROP = 1  # the monitor itself waits for enough rows


@dataclass(frozen=True, slots=True)
class AlertTarget:
    """Where an alert goes: a channel, and its address or the environment variable that holds it.

    Attributes:
        channel: "webhook", "slack", "log", "otel" or "prometheus".
        url: Address of a webhook; None where a variable holds it.
        variable: Environment variable with the address.
    """

    channel: Channel
    url: str | None = field(default=None, repr=False)
    variable: str | None = None

    @classmethod
    def of(cls, text: str) -> AlertTarget:
        """Read a target: "log", "webhook:https://HOST/PATH", "slack:env:VARIABLE".

        Args:
            text: The target.

        Returns:
            The target.

        Raises:
            InputError: There is no such channel, or its address is missing or is none.
        """
        name, colon, address = text.partition(":")
        channel = next((one for one in CHANNELS if one == name), None)
        if channel is None:  # the address may hold a key
            raise InputError(f"to: expected {', '.join(CHANNELS)}, got {name[:40]!r}")
        if channel not in ADDRESSED:
            if colon:
                raise InputError(f"to: {channel} has no address")
            return cls(channel)
        if address.startswith(FROM_ENVIRONMENT):
            return cls(channel, variable=address.removeprefix(FROM_ENVIRONMENT))
        return cls(channel, checked_url(address, f"to: {channel}")[0])

    def resolve(self) -> ResolvedTarget:
        """Find the address.

        Returns:
            The target with its address.

        Raises:
            InputError: The environment variable is not set, or holds no address.
        """
        if self.channel not in ADDRESSED:
            return ResolvedTarget(self.channel, self.channel)
        url = self.url
        if self.variable is not None:
            url = os.environ.get(self.variable, "")
            if not url:
                raise InputError(f"to: the environment variable {self.variable!r} is not set")
        url, host = checked_url(url or "", f"to: {self.channel}{f' of {self.variable}' if self.variable else ''}")
        digest = hashlib.sha256(url.encode()).hexdigest()[:12]
        return ResolvedTarget(f"{self.channel}:{host[:200]}#{digest}", self.channel, url)


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """A target with its address.

    Attributes:
        name: What the store calls it: its host, and a hash in place of the path, which may hold a key.
        channel: The channel.
        url: The address; "" for a channel without.
    """

    name: str
    channel: Channel
    url: str = field(default="", repr=False)


def _no_place(key: str | None, said: str) -> InputError:
    return InputError(f"alerts: {key or 'rule'}: {said}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """One rule.

    Attributes:
        name: Name of the rule, at most 200 characters. With the run it identifies the rule's alerts in the store.
        run: The live run, or the name of its application: "live/shop", "shop".
        metric: Label of the metric.
        kind: "below" and "above": the weighted mean of the window against `limit`. "drop": a fall of the mean by
            `limit` or more, by a test that stays valid however often it is looked at.
        limit: The threshold, on the scale of the metric; for "drop" the size of the fall, above 0.
        false_alarms: False openings that a drop rule may have per `period_days`, above 0 and below 1.
        period_days: Days that `false_alarms` counts for.
        window: Seconds, above 0.
        min_rows: Scored rows that a window needs for an opening or a closing.
        slices: Columns each value of which is checked by itself. Empty: all rows together.
        where: Column -> value: only rows that have it.
        cluster: Column whose rows with one value are correlated, as a conversation. None: rows are independent.
        quiet: Seconds between two openings of the same rule and slice, at least 0.
        to: Where alerts go.
        secret_env: Environment variable with the secret that signs webhooks. None: they are not signed.
        include_text: Whether messages hold question and answer of the rows that they name.
        link: Link to a row, with {run} and {row}. None: no link.
        error: Makes an error about a key of the rule, which names file and line.
    """

    name: str
    run: str
    metric: str
    kind: Kind
    limit: float
    false_alarms: float = FALSE_ALARMS
    period_days: float = 84.0
    window: float = DAY
    min_rows: int = MIN_ROWS
    slices: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    quiet: float = 0.0
    to: tuple[AlertTarget, ...] = (AlertTarget("log"),)
    secret_env: str | None = None
    include_text: bool = False
    link: str | None = None
    error: Callable[[str | None, str], InputError] = field(default=_no_place, repr=False, compare=False)

    def __post_init__(self) -> None:
        for key in ("name", "run", "metric"):
            value = getattr(self, key)
            if not value.strip() or len(value) > LONGEST_NAME:
                raise self.error(key, f"expected a text of 1 to {LONGEST_NAME} characters")
        if not math.isfinite(self.limit):
            raise self.error(self.kind, f"expected a number, got {self.limit}")
        if self.kind == "drop" and self.limit <= 0.0:
            raise self.error("drop", f"expected a number above 0, got {self.limit:g}")
        if not 0.0 < self.false_alarms < 1.0:
            raise self.error("false_alarms", f"expected a number between 0 and 1, got {self.false_alarms:g}")
        for key, least in {"window": 1.0, "quiet": 0.0, "min_rows": 1, "period_days": 1.0}.items():
            if not least <= getattr(self, key) < 1e10:
                raise self.error(key, f"expected at least {least:g}, got {getattr(self, key):g}")
        _check_link(self)

    @property
    def messages(self) -> tuple[AlertTarget, ...]:
        """Targets that get a message for each opening and closing."""
        return tuple(target for target in self.to if target.channel in MESSAGES)

    def shows_on(self, channel: Channel) -> bool:
        """Whether the rule's state is shown on a channel.

        Args:
            channel: "otel" or "prometheus".

        Returns:
            Whether `to` has it.
        """
        return any(target.channel == channel for target in self.to)

    def __str__(self) -> str:
        said = "drops by" if self.kind == "drop" else self.kind
        return f"{self.name}: {self.metric} of {self.run} {said} {self.limit:g} in {duration_in_words(self.window)}"


def _check_link(rule: AlertRule) -> None:
    if rule.link is None:
        return
    try:
        checked_url(link_to(rule.link, "run", 1), "link")
    except InputError as error:
        raise rule.error("link", str(error).removeprefix("link: ")) from None
    if "{row}" not in rule.link:
        raise rule.error("link", "expected an address with {row}, as https://HOST/{run}/{row}")


def link_to(template: str, run: str, row: int) -> str:
    """The link to a row, percent-encoded."""
    from urllib.parse import quote

    return template.replace("{run}", quote(run, safe="")).replace("{row}", str(row))
