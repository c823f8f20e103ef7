"""Base of the records: a JSON round trip, field checks, content fingerprints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast
from uuid import UUID

from assay._util.compression import to_json
from assay._util.forks import FORK_LOCK
from assay._util.normalise import well_formed
from assay.errors import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


R = TypeVar("R", bound="Record")

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

    def to_json(self) -> str:
        """Convert the record to JSON.

        Returns:
            What `to_dict` gives, as text without spaces. Every such text can be written as UTF-8.
        """
        if type(self).to_dict is not Record.to_dict:  # it writes more than its fields
            return to_json(self.to_dict())
        try:
            text: bytes = _adapter(type(self)).dump_json(self, exclude_none=True)
        except ValueError:  # half an emoji, or what pydantic cannot write
            return to_json(self.to_dict())
        return text.decode()

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


def with_clean(record: R, **values: Any) -> R:
    """A copy of a record with other values in some fields. They must be such as the record would have kept as they are.

    Nothing is checked or cleaned again, which takes a tenth of the time of `dataclasses.replace`.
    """
    kind = type(record)
    slots = _slots(cast("Hashable", kind))
    if not slots:
        made: R = replace(cast("Any", record), **values)
        return made
    twin = object.__new__(kind)
    for name, read, write in slots:
        write(twin, values[name] if name in values else read(record))
    return twin


def clean_record(kind: type[R], **values: Any) -> R:
    """A record of such values, one for each field: see `with_clean`."""
    made = object.__new__(kind)
    for name, _, write in _slots(cast("Hashable", kind)):
        write(made, values[name])
    return made


_Slot = tuple[str, Callable[[Any], Any], Callable[[Any, Any], None]]


@cache
def _slots(kind: Hashable) -> tuple[_Slot, ...]:
    """How the fields of a record are read and written, past what keeps it frozen; () for what a user made of one."""
    slots: list[_Slot] = []
    for field in fields(cast("type[Any]", kind)):
        member = getattr(kind, field.name, None)
        if not isinstance(member, MemberDescriptorType):
            return ()
        slots.append((field.name, member.__get__, member.__set__))
    return tuple(slots)


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
