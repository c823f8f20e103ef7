"""Results that show themselves as a short table, in text and in notebooks, and that convert to a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeVar, overload

from assay._util.install_hints import install_package
from assay._util.table_view import TableView, plain_value, view_as_html, view_as_text
from assay._util.terminal import pluralize
from assay.errors import MissingExtra

if TYPE_CHECKING:
    import pandas

T_co = TypeVar("T_co", covariant=True)


class Tabular:
    """Base of results: a short `repr`, a table in notebooks, and `to_pandas`.

    A class that is one item has a row of its own. One that has items, such as the metrics of a comparison, returns them
    from `_items`, and has a row for each.
    """

    __slots__ = ()

    #: Columns of an item: "name" is an attribute, "name=path.to.value" another. "": the fields of the dataclass.
    _columns: ClassVar[str] = ""
    #: What an item is called: "3 errors".
    _noun: ClassVar[str] = "row"
    #: The class of `_items`, whose columns a table without rows has.
    _item_type: ClassVar[type | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass would write one of its own otherwise

    def _items(self) -> Collection[Any] | None:
        """What has a row each. None: this is an item itself."""
        return None

    def _record(self) -> dict[str, Any]:
        """The row of this item in a DataFrame."""
        return {name: value_at(self, path) for name, path in columns_of(type(self)).items()}

    def _brief(self) -> dict[str, Any]:
        """The row of this item in a table that is shown: what matters most comes first."""
        return self._record()

    def _title(self) -> str:
        headline = getattr(self, "headline", None)
        return headline if isinstance(headline, str) else words_of(type(self))

    def _view(self) -> TableView:
        """What is shown: the items, or the fields of this one."""
        items, notes = self._items(), getattr(self, "notes", ())
        if items is None:
            found = [{"field": name, "value": value} for name, value in self._brief().items()]
            return TableView(self._title(), found, len(found), fields=True, notes=notes)
        return TableView(self._title(), (brief_of(item) for item in items), len(items), notes=notes)

    def __repr__(self) -> str:
        return view_as_text(self._view())

    def _repr_html_(self) -> str:
        return view_as_html(self._view())

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a DataFrame.

        Returns:
            One line for each item: the metrics of a comparison, the failed rows of a diagnosis, the rules of a
            decision, the items of a list. One line for a result without items. A cell without a value is missing.

        Raises:
            MissingExtra: pandas is not installed.
        """
        items = self._items()
        kind = type(self) if items is None else self._item_type
        records = [_in_full(record_of(item)) for item in ((self,) if items is None else items)]
        return frame_of(records, () if kind is None else tuple(columns_of(kind)))


class ResultRows(Tabular, tuple[T_co, ...]):
    """A sequence of results of one kind, which shows itself as a table.

    It cannot be changed; `list(rows)` can. It equals a list or a tuple of the same items.
    """

    _kind: type | None

    def __new__(cls, items: Iterable[T_co] = (), kind: type | None = None) -> ResultRows[T_co]:
        """Make a sequence.

        Args:
            items: The items.
            kind: Their class, which names them and the columns of an empty sequence. None: the class of the first.
        """
        made = super().__new__(cls, items)
        made._kind = kind if kind is not None else type(made[0]) if made else None
        return made

    def _items(self) -> Collection[Any]:
        return tuple(self)

    def _title(self) -> str:
        noun = getattr(self._kind, "_noun", Tabular._noun)
        return pluralize(len(self), noun) if self else pluralize(0, noun).replace("0", "no", 1)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a DataFrame.

        Returns:
            One line for each item. A cell without a value is missing.

        Raises:
            MissingExtra: pandas is not installed.
        """
        known = () if self._kind is None else tuple(columns_of(self._kind))
        return frame_of([_in_full(record_of(item)) for item in self], known)

    @overload
    def __getitem__(self, place: SupportsIndex) -> T_co: ...
    @overload
    def __getitem__(self, place: slice) -> ResultRows[T_co]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T_co | ResultRows[T_co]:
        found: Any = super().__getitem__(place)
        return ResultRows(found, self._kind) if isinstance(place, slice) else found

    def __add__(self, other: Any) -> ResultRows[Any]:
        return ResultRows((*self, *other), self._kind) if isinstance(other, (list, tuple)) else NotImplemented

    def __radd__(self, other: Any) -> ResultRows[Any]:
        return ResultRows((*other, *self), self._kind) if isinstance(other, (list, tuple)) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def words_of(kind: type) -> str:
    """The name of a class in words: "Handler health"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).capitalize()


def columns_of(kind: type) -> Mapping[str, str]:
    """The columns of an item, each with the path of its value; none of a class that says none."""
    found: Any = kind
    return _columns_of(found)


@cache
def _columns_of(kind: Any) -> Mapping[str, str]:
    words = getattr(kind, "_columns", "").split()
    if words:
        return {name: path or name for name, _, path in (word.partition("=") for word in words)}
    if is_dataclass(kind) and getattr(kind, "_record", None) is Tabular._record:
        return {one.name: one.name for one in fields(kind) if not one.name.startswith("_")}
    return {}


def value_at(item: Any, path: str) -> Any:
    """The value at a path of attributes and places ("interval.0"); None where one on the way is None."""
    for name in path.split("."):
        if item is None:
            return None
        item = item[int(name)] if name.isdigit() else getattr(item, name)
    return item


def record_of(item: Any) -> Mapping[str, Any]:
    """An item as column -> value."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, Tabular):
        return item._record()
    return {name: value_at(item, path) for name, path in columns_of(type(item)).items()} or {"value": item}


def brief_of(item: Any) -> Mapping[str, Any]:
    """An item as column -> value, for a table that is shown."""
    return item._brief() if isinstance(item, Tabular) else record_of(item)


def keyed(items: Mapping[Any, Any], name: str) -> list[dict[str, Any]]:
    """The records of the values of a mapping, with the key in the first column."""
    return [{name: key, **record_of(item)} for key, item in items.items()]


def _in_full(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, list) else plain_value(value) for name, value in record.items()}


def frame_of(
    records: Iterable[Mapping[str, Any]], columns: Sequence[str] = (), kinds: Mapping[str, str] | None = None
) -> pandas.DataFrame:
    """A DataFrame of records, with missing values as pandas has them.

    Args:
        records: Column -> value, one mapping a line.
        columns: Columns of a frame without records.
        kinds: Column -> its type. None: whole numbers are Int64, others Float64, truth values boolean.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtra(f"to_pandas() needs pandas: {install_package('pandas')}") from error
    found = list(records)
    names = list(dict.fromkeys(name for record in found for name in record)) if found else list(columns)
    frame = pandas.DataFrame(found, columns=names)
    if kinds is None:
        kinds = {name: kind for name in names if (kind := _kind_of(record.get(name) for record in found))}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame}, errors="ignore")


def _kind_of(values: Iterable[Any]) -> str | None:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return "Int64"
    if kinds and kinds <= {int, float}:
        return "Float64"
    return "boolean" if kinds == {bool} else None
