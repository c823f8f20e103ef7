"""Rows of Arrow record batches. Their size is known before Python values are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.data.byte_limits import VALUE, LargeRows, TooLargeError
from assay.data.unreadable import UnreadableRow
from assay.errors import Cause

#: Bytes of the rows that are made Python values at a time; a larger row comes alone.
AT_ONCE = 4 << 20


def rows_of_batch(batch: Any, large: LargeRows | None = None) -> Iterator[object]:
    """Iterate over the rows of an Arrow record batch.

    Args:
        batch: The `pyarrow.RecordBatch`.
        large: Counts the large rows of a file. None: the batch was in memory before.

    Yields:
        Each row as a dict. An `UnreadableRow` for a row that is too large, and for one with a value that Python cannot
        hold, such as text that is not UTF-8.
    """
    large = large or LargeRows(batch.nbytes)
    start = held = 0
    for number, size in enumerate(row_sizes(batch)):
        try:
            large.check(size)
        except TooLargeError as error:
            yield from _python_rows(batch.slice(start, number - start))
            yield UnreadableRow(str(error), Cause.TOO_LARGE)
            start, held = number + 1, 0
            continue
        if held and held + size > AT_ONCE:
            yield from _python_rows(batch.slice(start, number - start))
            start, held = number, 0
        held += size
    yield from _python_rows(batch.slice(start))


def _python_rows(batch: Any) -> Iterator[object]:
    try:
        rows = batch.to_pylist()
    except Exception as error:
        if batch.num_rows > 1:
            for start in range(batch.num_rows):
                yield from _python_rows(batch.slice(start, 1))
            return
        rows = [UnreadableRow(f"a value cannot be read: {error}")]
    yield from rows


def row_sizes(batch: Any) -> list[int]:
    """Compute how many bytes each row takes once it is Python values.

    Args:
        batch: The `pyarrow.RecordBatch`.

    Returns:
        The bytes of each row: those of its texts, and VALUE for each value.
    """
    sizes = [_sizes(column).to_pylist() for column in batch.columns]
    return [sum(row) for row in zip(*sizes, strict=True)] if sizes else [0] * batch.num_rows


def _sizes(array: Any) -> Any:
    """The bytes of each value, as an array of integers without nulls."""
    import pyarrow
    from pyarrow import compute, types

    kind = array.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _sizes(array.storage)
    if types.is_dictionary(kind):
        return compute.fill_null(compute.take(_sizes(array.dictionary), array.indices), VALUE)
    if types.is_struct(kind):
        total = pyarrow.repeat(pyarrow.scalar(VALUE, pyarrow.int64()), len(array))
        for number in range(kind.num_fields):
            total = compute.add(total, _sizes(array.field(number)))
        return total
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        return _list_sizes(array)
    if any(test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)):
        lengths = compute.cast(compute.fill_null(compute.binary_length(array), 0), pyarrow.int64())
        return compute.add(lengths, VALUE)
    each = VALUE if types.is_primitive(kind) or types.is_null(kind) else VALUE + array.nbytes // max(1, len(array))
    return pyarrow.repeat(pyarrow.scalar(each, pyarrow.int64()), len(array))


def _list_sizes(array: Any) -> Any:
    """The bytes of each list: of its items, and of itself. Lengths of keys and items of maps are those of structs."""
    import pyarrow
    from pyarrow import compute

    offsets = array.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    parts = [array.keys, array.items] if pyarrow.types.is_map(array.type) else [array.values]
    total = pyarrow.repeat(pyarrow.scalar(VALUE, pyarrow.int64()), len(array))
    places = compute.subtract(offsets, first)
    for part in parts:
        sums = pyarrow.concat_arrays(
            [pyarrow.array([0], pyarrow.int64()), compute.cumulative_sum(_sizes(part.slice(first, last - first)))]
        )
        ends = compute.take(sums, places)
        total = compute.add(total, compute.subtract(ends.slice(1), ends.slice(0, len(array))))
    return total
