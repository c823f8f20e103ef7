"""Check a configuration file against the models of its tables; the first mistake is named with its key and line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from assay.config.line_numbers import line_of
from assay.config.models import (
    AlertTable,
    BudgetTable,
    ConfigTables,
    GatesTable,
    JudgeSettings,
    LiveSettings,
    PricesTable,
    RuleTable,
    Table,
)
from assay.config.table import Section, near
from assay.errors import InputError

_MODELS: Mapping[tuple[str, ...], type[Table]] = {
    (): ConfigTables,
    ("judge",): JudgeSettings,
    ("budget",): BudgetTable,
    ("budget", "prices"): PricesTable,
    ("gates",): GatesTable,
    ("live",): LiveSettings,
}
_ARRAY = ("alerts",)  # a table in it has its number as a key
_SECRETS = ("api_key", "key", "token", "password", "secret", "headers")


def check(whole: Section) -> ConfigTables:
    """Read the tables of a file.

    Args:
        whole: The file as a table.

    Returns:
        Its tables, each value of the kind that its key takes.

    Raises:
        InputError: For the first mistake in the file, with its key and line.
    """
    try:
        return ConfigTables.model_validate(whole.values)
    except ValidationError as error:
        found = [(_path(one["loc"], whole.values), one) for one in error.errors(include_url=False)]
    path, first = min(found, key=lambda one: line_of((*whole.begin, *one[0]), whole.lines) or 0)
    raise _error(_table_at(whole, path[:-1]), path[-1], first)


def _table_at(whole: Section, path: tuple[str, ...]) -> Section:
    if path[:1] == _ARRAY and len(path) > 1:
        table, rest = whole.items(path[0])[int(path[1])], path[2:]
    else:
        table, rest = whole, path
    for key in rest:
        table = table.section(key)
    return table


def _path(loc: tuple[int | str, ...], values: Any) -> tuple[str, ...]:
    """The keys of the file that a place of pydantic's names, which counts items of lists and kinds of values too."""
    path = []
    for key in loc:
        in_array = isinstance(values, list) and isinstance(key, int) and isinstance(values[key], dict)
        if in_array or (isinstance(values, dict) and key in values):
            path.append(str(key))
            values = values[key]
    return tuple(path)


def _error(table: Section, key: str, first: Any) -> InputError:
    kind, of_table = first["type"], AlertTable if table.path[:1] == _ARRAY else _MODELS.get(table.path, RuleTable)
    of_table = PricesTable if table.path[:1] == ("prices",) else of_table
    if kind == "value_error":
        return table.error(key, str(first["ctx"]["error"]).removeprefix(f"{key}: "))
    if kind == "extra_forbidden":
        return table.error(key, _unknown(table, key, tuple(of_table.model_fields)))
    if kind in ("model_type", "dict_type", "tuple_type") and key == _ARRAY[0]:
        return table.unlike(key, "tables, [[alerts]]")
    if kind in ("model_type", "dict_type"):
        if of_table is GatesTable:
            hint = near(key, GatesTable.model_fields)
            rules = "rules stand in a table of their metric, as [gates.faithfulness]"
            return table.error(key, f"there is no such key{hint}; {rules}")
        return table.unlike(key, f"a table, {table.name_of(key)}")
    field = of_table.model_fields.get(key) or ConfigTables.model_fields["data"]
    expected = field.description or "a text, or a list of texts"
    if kind.startswith(("greater_than", "less_than")):
        return table.error(key, f"expected {expected}, got {first['input']}")
    return table.unlike(key, expected)


def _unknown(table: Section, key: str, known: tuple[str, ...]) -> str:
    if table.path == ("judge",) and key.casefold() in _SECRETS:
        return "secrets do not belong in a file; api_key_env names the variable that holds the key"
    if table.path[:1] == _ARRAY and key.casefold() in _SECRETS:
        return "secrets do not belong in a file; secret_env names the variable that holds the secret"
    return f"there is no such key{near(key, known)}; there are {', '.join(known)}"
