"""What a calibration found out: the bands of a cascade, how sure they are, and what they save. As JSON on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from assay._util.call_repr import host_of
from assay._util.output_files import write_json
from assay._util.permissions import read_json
from assay._util.tabular import Tabular, keyed
from assay.errors import InputError
from assay.judges.cascade.items import Band
from assay.records import Record
from assay.records.migration import PROMPT_NAMES, rename

#: Raise it when a plan says more or less than before: plans of older formats are refused. 2: a row is one cluster, and
#: what is shown is shown with few rows too; the bands of format 1 were not.
FORMAT = 2

#: Options of a judge that say where its requests go, and with them its key.
ADDRESSES = ("base_url", "azure_endpoint")
#: Options of a judge that a plan may hold; keys and headers never go into a file.
OPEN = (*ADDRESSES, "embedding_model", "window_tokens", "max_questions", "api_version")
#: Options in which a key may be.
_KEYS = ("api_key", "headers")


@dataclass(frozen=True, slots=True, kw_only=True)
class BandPlan(Tabular, Record):
    """The band of one kind of prompt (support, usefulness, criterion).

    Attributes:
        low, high: Verdicts whose probability lies between go to the second judge.
        reached: Whether this band is shown to reach the target; where none is, everything goes to the second judge.
        reason: Why none is.
        agreement: Of the cascade with the second judge, on verdicts that had no part in ordering the bands.
        at_least: What is shown of it at the plan's confidence.
        alone: Agreement of the first judge alone, on the same verdicts.
        escalated: Share of all verdicts that goes to the second judge, in [0, 1].
        verdicts: Verdicts of both judges; `tested` of them gave the agreement, as much as `effective` independent ones.
    """

    low: float
    high: float
    reached: bool
    agreement: float
    at_least: float
    alone: float
    escalated: float
    verdicts: int
    tested: int
    effective: int
    reason: str | None = None

    @property
    def band(self) -> Band:
        """The two ends."""
        return self.low, self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving(Tabular, Record):
    """What the verdicts of the calibration cost with the second judge alone, and would have cost with the cascade.

    Attributes:
        calls: Requests, where prompts that share one count once; long texts take several.
        tokens: None where the endpoint does not tell, or judgements were at hand already. The cascade's are an upper
            estimate: a request with fewer claims is counted with its whole prompt.
        dollars: None without prices or tokens.
    """

    calls_alone: int
    calls: int
    tokens_alone: int | None = None
    tokens: int | None = None
    dollars_alone: float | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadePlan(Tabular, Record):
    """The bands of a cascade of two judges, found on `rows` rows.

    Attributes:
        first, then: Addresses of the judges: the bands hold for these and no others.
        target: The agreement asked for, at `confidence`, for each kind of prompt by itself.
        failures: Prompts that one of the judges did not answer; they say nothing here, and nor do `unreadable` rows.
        specs: How to make the judges from text ("first", "then"), with `options`; never a key.
    """

    _item_type = BandPlan

    def _items(self) -> list[dict[str, Any]]:
        return keyed(self.bands, "prompt")

    first: str
    then: str
    target: float
    confidence: float
    rows: int
    bands: Mapping[str, BandPlan]
    saving: Saving
    failures: int = 0
    unreadable: int = 0
    seed: int = 0
    specs: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    format: int = FORMAT

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The plan in this file. Raises InputError, naming the file, where there is none."""
        data = read_json(path, "cascade plan")
        known = data.get("format") if isinstance(data, dict) else None
        if known != FORMAT:
            again = "; it showed less than a plan does now: calibrate again" if known == 1 else ""
            raise InputError(f"cascade plan: {str(path)!r} is no plan that this version of assay reads{again}")
        bands = data.get("bands")
        plan = cls.from_dict({**data, "bands": rename(bands, PROMPT_NAMES)} if isinstance(bands, Mapping) else data)
        strange = sorted({name for options in plan.options.values() for name in options} - set(OPEN))
        if strange:
            raise InputError(f"cascade plan: {str(path)!r} holds options that no plan may: {', '.join(strange)}")
        return plan

    def with_options(self, role: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of this judge: those of the plan, and over them those that the user gave.

        A file does not decide where the user's key goes: with a key in `given`, an address that the plan names must be
        given as well. An Azure endpoint may be given as `base_url`. Raises InputError, naming the host, if it is not.
        """
        options = dict(self.options.get(role, {}))
        if any(given.get(name) for name in _KEYS):
            for name in ADDRESSES:
                address = options.get(name)
                if address and given.get(name) is None and given.get("base_url") != address:
                    raise InputError(
                        f"cascade plan: it would send your key to {host_of(address)}; if that is meant, name the "
                        f"address too, with base_url= or --base-url: {address!r}"
                    )
        if given.get("base_url") and given["base_url"] == options.get("azure_endpoint"):
            given = {name: value for name, value in given.items() if name != "base_url"}
        return {**options, **given}

    def text(self) -> str:
        """The plan in words, a line for each kind of prompt and one for the saving."""
        lines = [f"target: agree with {name_of(self.then)} on {self.target:.0%} of verdicts; {self.rows} rows"]
        if self.unreadable:
            lines[0] += f", {self.unreadable} more cannot be read"
        lines += [_band_line(name, band, self.confidence) for name, band in sorted(self.bands.items())]
        saving = self.saving
        saved = f"{saving.calls_alone - saving.calls} of {saving.calls_alone} calls saved"
        if saving.tokens is not None and saving.tokens_alone is not None:
            saved += f", {saving.tokens_alone - saving.tokens} of {saving.tokens_alone} tokens"
        if saving.dollars is not None and saving.dollars_alone is not None:
            saved += f", ${saving.dollars_alone - saving.dollars:.4f} of ${saving.dollars_alone:.4f}"
        lines.append(saved + (f"; {self.failures} prompts failed and are left out" if self.failures else ""))
        return "\n".join(lines)


def open_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options that may stand in a file. An address with a user, a password or a query may not."""
    known = {name: value for name, value in (options or {}).items() if name in OPEN and value is not None}
    for name in ADDRESSES:
        parts = urlsplit(known.get(name, ""))
        if parts.username or parts.password or parts.query:
            known.pop(name)
    return known


def name_of(fingerprint: str) -> str:
    """The part of a judge's fingerprint that people read."""
    return fingerprint.partition("#")[0].partition("@")[0]


def _band_line(name: str, band: BandPlan, confidence: float) -> str:
    if not band.reached:
        return f"{name}: everything goes to the second judge: {band.reason}"
    where = f"from {band.low:.3f} to {band.high:.3f}" if band.low < band.high else "nowhere"
    return (
        f"{name}: in doubt {where}; {band.escalated:.0%} of {band.verdicts} verdicts go to the second judge; agreement "
        f"{band.agreement:.1%}, at least {band.at_least:.1%} with {confidence:.0%} confidence (first judge alone "
        f"{band.alone:.1%}; {band.tested} verdicts tested)"
    )
