"""Rows of Arrow record batches. Their size is known before Python values are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay._util.byte_limits import VALUE, LargeRows, TooLargeError
from assay.data.unreadable import UnreadableRow
from assay.errors import Cause

#: Bytes of the rows that are made Python values at a time; a larger row comes alone.
AT_ONCE = 4 << 20
#: Items of lists that are measured at a time: a row may have any number of them, nearly all null.
SLICE = 1 << 18


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
    if types.is_run_end_encoded(kind):
        return _run_sizes(array)
    if types.is_struct(kind):
        total = pyarrow.repeat(pyarrow.scalar(VALUE, pyarrow.int64()), len(array))
        for number in range(kind.num_fields):
            total = compute.add(total, _sizes(array.field(number)))
        return total
    if any(test(kind) for test in _lists()):
        return _list_sizes(array)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return _view_sizes(array)
    if any(test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)):
        lengths = compute.cast(compute.fill_null(compute.binary_length(array), 0), pyarrow.int64())
        return compute.add(lengths, VALUE)
    if types.is_fixed_size_binary(kind):
        return compute.if_else(array.is_valid(), pyarrow.scalar(VALUE + kind.byte_width, pyarrow.int64()), VALUE)
    each = VALUE if types.is_primitive(kind) or types.is_null(kind) else VALUE + array.nbytes // max(1, len(array))
    return pyarrow.repeat(pyarrow.scalar(each, pyarrow.int64()), len(array))


def _lists() -> tuple[Callable[[Any], bool], ...]:
    from pyarrow import types

    return (
        *(types.is_list, types.is_large_list, types.is_map, types.is_fixed_size_list),
        *(types.is_list_view, types.is_large_list_view),
    )


def _run_sizes(array: Any) -> Any:
    """Those of values that stand for many rows each."""
    import numpy
    import pyarrow

    first = array.find_physical_offset()
    runs = slice(first, first + array.find_physical_length())
    ends = numpy.asarray(array.run_ends)[runs].astype(numpy.int64) - array.offset
    lengths = numpy.diff(numpy.minimum(ends, len(array)), prepend=0)
    return pyarrow.array(numpy.repeat(numpy.asarray(_sizes(array.values))[runs], lengths))


def _view_sizes(array: Any) -> Any:
    """Those of texts whose lengths stand in the first four of the sixteen bytes of each."""
    import numpy
    import pyarrow
    from pyarrow import compute

    views = numpy.frombuffer(array.buffers()[1], numpy.int32)
    lengths = views.reshape(-1, 4)[array.offset : array.offset + len(array), 0].astype(numpy.int64)
    found = compute.if_else(array.is_valid(), pyarrow.array(lengths), 0)  # those of nulls are anything
    return compute.add(found, VALUE)


def _list_sizes(array: Any) -> Any:
    """The bytes of each list: of its items, and of itself. Lengths of keys and items of maps are those of structs."""
    import numpy
    import pyarrow
    from pyarrow import compute

    starts, ends = _ends_of_lists(array)
    places, found = numpy.unique(numpy.concatenate([starts, ends]), return_inverse=True)
    parts = [array.keys, array.items] if pyarrow.types.is_map(array.type) else [array.values]
    sums = sum(_sums_at(part, places)[found] for part in parts)
    total = pyarrow.array(sums[len(starts) :] - sums[: len(starts)])
    return compute.add(compute.if_else(array.is_valid(), total, 0), VALUE)


def _ends_of_lists(array: Any) -> tuple[Any, Any]:
    """Where each list starts in the values of all, and where it ends."""
    import numpy
    from pyarrow import types

    if types.is_fixed_size_list(array.type):
        size = array.type.list_size
        starts = (array.offset + numpy.arange(len(array), dtype=numpy.int64)) * size
        return starts, starts + size
    offsets = numpy.asarray(array.offsets).astype(numpy.int64)
    if types.is_list_view(array.type) or types.is_large_list_view(array.type):
        return offsets, offsets + numpy.where(array.is_valid(), numpy.asarray(array.sizes), 0)
    return offsets[:-1], offsets[1:]


def _sums_at(values: Any, places: Any) -> Any:
    """The bytes of the values from the first of some places, which are in order, up to each; a part at a time."""
    import numpy

    sums, total = numpy.zeros(len(places), numpy.int64), 0
    first, last = (places[0], places[-1]) if len(places) else (0, 0)
    for start in range(first, last, SLICE):
        end = min(start + SLICE, last)
        part = numpy.cumsum(numpy.asarray(_sizes(values.slice(start, end - start))))
        here = slice(*numpy.searchsorted(places, [start, end], side="right"))
        sums[here] = total + part[places[here] - start - 1]
        total += part[-1]
    return sums
