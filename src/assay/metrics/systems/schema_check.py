"""A JSON value held to a JSON schema by jsonschema, with no bound on the time: `schemas` asks for it.

Where that takes a process of its own, this file is what runs there: nothing of assay is imported.
"""

from __future__ import annotations

from typing import Any


class NoSchema(ValueError):
    """What is no JSON schema, or refers to one elsewhere. The message says why."""


def errors_of(value: Any, schema: Any) -> list[str]:
    """What does not fit, as "path: message", in the order of the paths; none: it fits. Raises NoSchema, ImportError.

    The schema's draft is what its `$schema` says, else the newest. Nothing is fetched.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if not isinstance(schema, dict | bool):
        raise NoSchema(f"expected an object, or true or false, found {type(schema).__name__}")
    nothing_else: Any = Registry()
    try:
        kind: Any = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        found = sorted(kind(schema, registry=nothing_else).iter_errors(value), key=lambda error: error.json_path)
    except SchemaError as error:
        raise NoSchema(f"{error.json_path}: {error.message}") from None
    except Unresolvable as error:
        where: Any = error
        raise NoSchema(f"{where.ref!r} is not in the schema, and nothing is fetched") from None
    except RecursionError:
        raise NoSchema("it refers to itself without end, or its parts lie too deep") from None
    except Exception as error:  # another package's code, on what somebody wrote: "$schema": [] is a TypeError there
        raise NoSchema(f"it cannot be checked: {type(error).__name__}: {error}") from None
    return [f"{error.json_path}: {error.message}" for error in found]


if __name__ == "__main__":
    import json
    import sys

    sys.path[:], given, against = json.load(sys.stdin)
    try:
        print(json.dumps({"errors": errors_of(given, against)}))
    except NoSchema as wrong:
        print(json.dumps({"no_schema": str(wrong)}))
