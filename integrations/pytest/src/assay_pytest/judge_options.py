"""Who judges in this session, and where its scores are kept."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from assay.extension import BaseJudge, Config, check_instructions, check_judge_key, check_store, configuration

_WAYS = "run `assay judge trust`, or use --assay-judge"


@cache
def configured(root: Path) -> Config | None:
    """The configuration of the project that is tested."""
    return configuration(folder=root)


def judge_of(config: pytest.Config) -> BaseJudge:
    """The judge of the options, else of the configuration. Raises InputError for one that is none."""
    import os

    from assay import InputError
    from assay.extension import resolve_judge

    named = config.getoption("assay_judge")
    settings = None if named else configured(config.rootpath)
    if settings is None:
        return resolve_judge(named)
    judge = settings.judge
    check_instructions(settings, _WAYS)
    options = {name: getattr(judge, name) for name in ("base_url", "embedding_model", "window_tokens")}
    if judge.api_key_env is not None:
        check_judge_key(settings, judge.name or "", judge.base_url, judge.api_key_env, "api_key_env", _WAYS)
        options["api_key"] = os.environ.get(judge.api_key_env)
        if not options["api_key"]:
            raise InputError(f"{settings.file}: the environment variable {judge.api_key_env!r} is not set")
    given = {name: value for name, value in options.items() if value is not None}
    return resolve_judge(judge.name, instructions=judge.instructions, **given)


def store_of(config: pytest.Config) -> Path:
    """The folder of the store."""
    named = config.getoption("assay_store")
    settings = None if named else configured(config.rootpath)
    if settings is not None and settings.store is not None:
        check_store(settings, "run `assay judge trust`, or use --assay-store")
        return config.rootpath / settings.store
    return config.invocation_params.dir / named if named else config.rootpath / ".assay"
