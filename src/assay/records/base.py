"""Base of the records: a JSON round trip, field checks, content fingerprints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import UUID

from assay._util.forks import FORK_LOCK
from assay._util.normalise import well_formed
from assay.errors import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def type_adapter(kind: Any) -> TypeAdapter[Any]:
    """What reads and writes values of a type as JSON; to be kept, since making it takes milliseconds."""
    with FORK_LOCK.entered():  # pydantic makes it under locks of its own, which a fork would leave locked in the child
        from pydantic import TypeAdapter  # costs 0.1 s, and records are often only passed around

        return TypeAdapter(kind)


def build_adapter(cls: type[Record]) -> None:
    """Import pydantic and build what reads and writes records of a class, before the first of them needs it."""
    _adapter(cls)


def _adapter(cls: type) -> TypeAdapter[Any]:
    if cls not in _ADAPTERS:
        _ADAPTERS[cls] = type_adapter(cls)
    return _ADAPTERS[cls]


class Record:
    """JSON round trip for the dataclasses below."""

    __slots__ = ()

    #: What somebody made of one of these classes, with fields of other types in it, is no value of that class: else a
    #: judge of a user's own would have rows written that nobody can read.
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"revalidate_instances": "always"}

    def to_dict(self) -> dict[str, Any]:
        """Convert the record to JSON values.

        Returns:
            A dict without the fields that are None.
        """
        data: dict[str, Any] = _adapter(type(self)).dump_python(self, mode="json", exclude_none=True)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a record from the output of `to_dict`.

        Args:
            data: The fields of the record. Data of an earlier schema version is converted.

        Returns:
            The record.

        Raises:
            InputError: A field is missing or has a wrong value. The message names the field.
        """
        from pydantic import ValidationError

        try:
            record: Self = _adapter(cls).validate_python(cls._current(data))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or cls.__name__
            raise InputError(f"{cls.__name__}: field {where!r}: {first['msg']}") from None
        return record

    @classmethod
    def _current(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Bring data of an earlier schema version to this one."""
        return dict(data)


def fingerprint(parts: Sequence[Any]) -> str:
    """SHA-256 of JSON-able parts; equal parts give equal hex digests on every machine."""
    blob = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()


def _short(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line."""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most and len(text) <= 4 * most else flat[: most - 1] + "…"


def _name_suffix(name: str | None) -> str:
    return "" if name is None else f" {_short(name)!r}"


# ---- how the records above clean what they are given; most of it is clean, and then nothing is copied ----------------


def _put(record: Record, name: str, value: object) -> None:
    object.__setattr__(record, name, value)  # the records are frozen for everybody else


def _refused(record: Record, name: str, expected: str, value: object) -> InputError:
    return InputError(f"{type(record).__name__}: {name}: expected {expected}, found {type(value).__name__}")


def _clean_text(record: Record, name: str, *, needed: bool = False) -> None:
    text = getattr(record, name)
    if isinstance(text, str):
        if not text.isascii():
            _put(record, name, well_formed(text))
    elif text is not None or needed:
        raise _refused(record, name, "a text", text)


def _identity(record: Record, name: str, value: object) -> str:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, (int, UUID)) and not isinstance(value, bool):
        return str(value)
    raise _refused(record, name, "a text", value)
