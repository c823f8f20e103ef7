"""When do two tool calls agree in their arguments? openevals' four modes, and overrides by the name of the tool.

    exact      equal
    ignore     always
    subset     every argument of the call is in the reference's, with the same value
    superset   every argument of the reference's is in the call's, with the same value
    [keys]     these arguments are in both, with the same value; "a.b" is b inside of a
    a function of both arguments

agentevals 0.0.9 takes an argument that neither call has for equal; openevals 0.2.2, and so this, does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from assay.errors import InputError
from assay.records import ToolCall

Mode = Literal["exact", "ignore", "subset", "superset"]
Args: TypeAlias = Mapping[str, Any]
Matcher: TypeAlias = Callable[[Args, Args], bool]
Override: TypeAlias = "Mode | Sequence[str] | Matcher"

_MISSING = object()


def exact(ours: Args, theirs: Args) -> bool:
    return ours == theirs


def subset(ours: Args, theirs: Args) -> bool:
    return all(key in theirs and theirs[key] == value for key, value in ours.items())


def superset(ours: Args, theirs: Args) -> bool:
    return subset(theirs, ours)


def ignore(ours: Args, theirs: Args) -> bool:
    return True


MODES: Mapping[str, Matcher] = {"exact": exact, "ignore": ignore, "subset": subset, "superset": superset}


def on_keys(keys: Sequence[str]) -> Matcher:
    """The matcher that looks at these arguments only."""

    def match(ours: Args, theirs: Args) -> bool:
        pairs = [(_under(ours, key), _under(theirs, key)) for key in keys]
        return all(other is not _MISSING and one == other for one, other in pairs)

    return match


def _under(args: Any, path: str) -> Any:
    for key in path.split("."):
        if not isinstance(args, Mapping) or key not in args:
            return _MISSING
        args = args[key]
    return args


def matcher_for(name: str, mode: Mode, overrides: Mapping[str, Override]) -> Matcher:
    """How the arguments of calls of this tool are compared."""
    override = overrides.get(name) or mode
    if isinstance(override, str):
        return MODES.get(override, ignore)
    return override if callable(override) else on_keys(override)


def check_modes(of: str, mode: object, overrides: Mapping[str, Override]) -> None:
    """Raise InputError where one is none."""
    for argument, given in (
        ("tool_args_match_mode", mode),
        *((f"override of {name}", one) for name, one in overrides.items()),
    ):
        keys = isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(key, str) for key in given)
        if given not in get_args(Mode) if isinstance(given, str) else not (callable(given) or keys):
            raise InputError(f"{of}: {argument}: expected one of {', '.join(get_args(Mode))}; found {given!r}")


def covers(
    calls: Sequence[ToolCall],
    wanted: Sequence[ToolCall],
    mode: Mode,
    overrides: Mapping[str, Override],
    *,
    swapped: bool,
) -> bool:
    """Whether each wanted call has a call of its own that agrees; the first that does is taken.

    Args:
        swapped: The wanted ones are the agent's and the others the reference's: the agent's arguments go first.
    """
    free = list(calls)
    for want in wanted:
        match = matcher_for(want.name, mode, overrides)
        for number, call in enumerate(free):
            first, second = (want, call) if swapped else (call, want)
            if call.name == want.name and match(first.arguments, second.arguments):
                del free[number]
                break
        else:
            return False
    return True
