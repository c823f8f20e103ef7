"""What LangChain's context variable tells in a hook: the config of the run around the one that starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config

from assay.extension import CONVERSATION_KEYS


def going_on() -> Mapping[str, Any]:
    """The config that is handed down in this context; empty outside of all runs."""
    return var_child_runnable_config.get() or {}


def run_around() -> UUID | None:
    """The run that is going on in this context."""
    found = getattr(going_on().get("callbacks"), "parent_run_id", None)
    return found if isinstance(found, UUID) else None


def conversation() -> dict[str, Any]:
    """What names the conversation: newer releases no longer copy it from the config to the metadata of a run."""
    configurable = going_on().get("configurable")
    if not configurable:
        return {}
    return {name: configurable[name] for name in CONVERSATION_KEYS if isinstance(configurable.get(name), (str, int))}
