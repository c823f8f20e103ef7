"""Commands that read a configuration file: what it says takes the place of options that are not given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from assay.cli.options import ColumnsOption, JudgeOption, MetricsOption

if TYPE_CHECKING:
    from assay.config import Config
    from assay.judges.budget.budget import Budget
    from assay.metrics.names import MetricSpec

#: The command that is running, and the configuration that it reads. (typer may bring a click of its own, so that the
#: context is not the one that the package click knows.)
_IN_USE: ContextVar[tuple[typer.Context, Config | None] | None] = ContextVar("configuration", default=None)
#: Options of the judge: a file's go with the file's judge alone.
_JUDGE = (
    *("base_url", "api_key_env", "embedding_model", "window_tokens", "instructions", "batched_questions"),
    *("discount", "poll", "rows_in_flight"),
)
#: Options that a file speaks of, by their annotation: others have these names too.
_ANNOTATED = {"metrics": MetricsOption, "columns": ColumnsOption, "judge": JudgeOption}
_NAMED = ("store", "language")
#: Options of the table [live], which commands have that know canary rows.
_LIVE = ("application", "keep_text", "retain_days", "retain_gb", "canaries")


def configured(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option --config: options that are not given are what the file says.

    Without the option it is the file that is found, if there is one. See `assay.config`.
    """
    hints = get_type_hints(command, include_extras=True)
    own = {name for name, kind in _ANNOTATED.items() if hints.get(name) == kind}
    of_live = _LIVE if "canaries" in hints else ()
    own |= {*_NAMED, *of_live, *(_JUDGE if "judge" in own else ())} & hints.keys()

    def read(context: typer.Context, given: Path | None) -> Path | None:
        if context.resilient_parsing:  # completion in a shell
            return given
        from assay.config import configuration

        found = configuration(given)
        _IN_USE.set((context, found))
        if found is not None:
            _tell(found)
            said = {name: value for name, value in _defaults(found).items() if name in own}
            context.default_map = {**(context.default_map or {}), **said}
        return given

    option = Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            is_eager=True,
            callback=read,
            help="Defaults of the options. Default: the nearest assay.toml or pyproject.toml.",
        ),
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        given.pop("config", None)
        given = _without_the_judge_of_a_file(given) if "judge" in own else given
        _check_keys(given, own)
        with _prices_of_the_file():
            command(**given)

    parameters = [
        parameter.replace(annotation=hints[parameter.name]) for parameter in signature(command).parameters.values()
    ]
    added = Parameter("config", Parameter.KEYWORD_ONLY, annotation=option, default=None)
    run.__signature__ = Signature([*parameters, added])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "config": option}
    return run


def _prices_of_the_file() -> AbstractContextManager[None]:
    config = configuration_in_use()
    if config is None or not config.prices:
        return nullcontext()
    from assay.judges.budget.known_prices import own_prices

    return own_prices(config.prices)


def configuration_in_use() -> Config | None:
    """What the file of the command that is running says; None where there is none."""
    in_use = _IN_USE.get()
    return None if in_use is None else in_use[1]


def from_the_file(name: str) -> bool:
    """Whether the value of an option of the command that is running is the file's."""
    in_use = _IN_USE.get()
    source = None if in_use is None else in_use[0].get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def metrics_meant(given: str | None) -> MetricSpec | None:
    """What the option --metrics names, or the metrics of the file with their parameters."""
    config = configuration_in_use()
    return config.metrics if config is not None and from_the_file("metrics") else given


def budget_meant(given: Budget | None = None) -> Budget | None:
    """The budget that is given, or the one of the file."""
    config = configuration_in_use()
    return config.budget if given is None and config is not None else given


def _without_the_judge_of_a_file(given: dict[str, Any]) -> dict[str, Any]:
    """The options, those of the file's judge left out where the command line names one: they are not that one's."""
    config = configuration_in_use()
    if config is None or from_the_file("judge") or config.judge.name in (None, given["judge"]):
        return given
    return {name: None if name in _JUDGE and from_the_file(name) else value for name, value in given.items()}


def _check_keys(given: dict[str, Any], own: set[str]) -> None:
    """Raise InputError where a file that is not trusted would send to an address, or names a file, that it may not."""
    from assay.config.keys import check_canaries, check_instructions, check_judge_key, check_store

    config = configuration_in_use()
    if config is None:
        return
    if "judge" in own and given["api_key_env"] is not None:
        of_the_file = [key for key in ("api_key_env", "base_url") if given[key] is not None and from_the_file(key)]
        if of_the_file:
            check_judge_key(config, given["judge"], given["base_url"], given["api_key_env"], of_the_file[0])
    if "store" in own and from_the_file("store"):
        check_store(config)
    if "instructions" in own and given["instructions"] is not None and from_the_file("instructions"):
        check_instructions(config)
    if "canaries" in own and from_the_file("canaries"):
        check_canaries(config)


def _tell(config: Config) -> None:
    """Say on stderr what is read, and where the texts go if the file sends them anywhere."""
    from assay.cli.output import say

    address = config.judge.base_url
    key = f", with the key of {config.judge.api_key_env}" if config.judge.api_key_env else ""
    say(f"assay: configuration {config.file}" + (f"; its judge is at {address}{key}" if address else ""), aside=True)


def _defaults(config: Config) -> dict[str, Any]:
    """What the file says, by the names of options, as a command line would have it."""
    judge = config.judge
    said = {
        "judge": judge.name,
        **{name: getattr(judge, name) for name in _JUDGE},
        "metrics": ",".join(metric.label for metric in config.metrics) or None,
        "columns": [f"{field}={column}" for field, columns in config.columns.items() for column in columns] or None,
        "store": config.store,
        "language": config.language,
        **{name: getattr(config.live, name) for name in _LIVE},
    }
    return {name: str(value) if isinstance(value, Path) else value for name, value in said.items() if value is not None}
