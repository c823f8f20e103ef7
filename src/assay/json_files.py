"""Files of JSON that a command wrote and another reads: plans, calibrations, noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.errors import InputError


def read_json(path: str | Path, what: str) -> Any:
    """What stands in the file. Raises InputError, beginning with `what` and naming the file, for what is none."""
    where = f"{what}: {str(path)!r}"
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):  # a long run of brackets is no JSON that could be read, either
        raise InputError(f"{where} is no JSON file") from None


def write_json(path: str | Path, value: Any) -> None:
    """Write it for people to read, too."""
    Path(path).write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
