"""DeepEval's tool permission: calls of tools that are allowed / calls.

A tool is allowed that is not in `denied_tools` and, where `allowed_tools` are given, is in these. No judge is asked.
Range 0 to 1, higher is better. DeepEval 4.3.1, which gives 1 where nothing was called.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.conversation import called_tools
from assay.records import Sample, Score


def share_allowed(names: Sequence[str], allowed: Collection[str] | None, denied: Collection[str]) -> float:
    """Allowed calls / calls. Expects at least one."""
    fine = [name for name in names if name not in denied and (allowed is None or name in allowed)]
    return len(fine) / len(names)


@dataclass(frozen=True)
class ToolPermission(SystemMetric):
    """Calls of the messages (or of metadata["tools_called"]) against two lists, given here or in the metadata."""

    name: ClassVar[str] = "deepeval:tool_permission"
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}
    columns: ClassVar[tuple[str, ...]] = ("allowed_tools",)
    may_read: ClassVar[tuple[str, ...]] = ("denied_tools",)

    allowed_tools: tuple[str, ...] | None = None
    denied_tools: tuple[str, ...] | None = None

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        allowed, denied = self._list(sample, "allowed_tools"), self._list(sample, "denied_tools")
        if allowed is None and denied is None:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs 'allowed_tools' or 'denied_tools'")
        names = [call.name for call in called_tools(sample, self)]
        if not names:
            return self.skip(Cause.NOT_APPLICABLE, "no tool was called")
        value = share_allowed(names, allowed, denied or ())
        against = tuple(name for name in names if share_allowed([name], allowed, denied or ()) == 0)
        return self.make_score(
            value, parts={"calls": float(len(names))}, texts={"not_allowed": against} if against else {}
        )

    def _list(self, sample: Sample, key: str) -> Collection[str] | None:
        own: tuple[str, ...] | None = getattr(self, key)
        if own is not None or sample.metadata.get(key) is None:
            return own
        return [str(name) for name in given(sample, self, key, list)]


ENTRIES = (
    Entry(
        make=ToolPermission,
        source="deepeval.metrics.ToolPermissionMetric",
        compared="deepeval 4.3.1",
        family="tool calls",
        steps=Steps("tool calls", "the lists of allowed and denied tools", "allowed", "share"),
        empty="1 where no tool was called",
    ),
)
