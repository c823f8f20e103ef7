"""How the tests tell linear time from quadratic: hostile texts, ten times as long, may take thirty times as long.

Linear growth is a factor of ten and quadratic growth one of a hundred; between lies room for a busy machine.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

SHORT, LONG = 10_000, 100_000  # characters
TINY, QUICK = 1_000, 2_000  # of the quick check
FLOOR = 0.02  # seconds that the long text may take anyhow; a quadratic search of it takes several
FACTOR = 30
WORST = 12  # of the short texts: those that take longest
SUSPECT = 12  # a tenth of a short text and all of it: linear growth is a factor of ten
HOPELESS = 0.5  # seconds for the short text, after which it is compared with a tenth of itself

#: Each is repeated up to the size that is asked for.
UNITS = (
    *(" ", "\n", "\t", "\u00a0", '"', "'", "’", "“", ".", "…", "!", "?", "<", ">", "[", "]", "(", ")", "{", "}"),
    *("-", "/", "\\", "*", "_", "|", "#", ":", ",", "0", "a", "Z", "é", "。", "ก", "\u0301", "\x00", "\ue000"),
    *("a.", "A. ", "a) ", "1. ", "1.", "(a", "[1", ".[1] ", "< ", "</", "{ ", "{}", '{"', "[[", "' ", " '", '" '),
    *(". ", " .", "... ", "?!", "! ", "a ", "no ", "not ", "e.g. ", "Mr. ", "a\n", "\r\n", "\n\n", "- ", "> "),
    *("\"'", "| a |\n"),
)  # fmt: skip
#: For what takes long even where it is linear, such as pysbd.
FEW = (
    *(
        " ",
        "\n",
        '"',
        ".",
        "<",
        "a",
        "a.",
        "Mr. ",
        "1. ",
        "a) ",
        "e.g. ",
        "... ",
        "' ",
        "。",
        "\u0301",
        '{"',
        "| a |\n",
    ),
)
#: After something that a pattern begins with, each repeated.
TAILS = (" ", "a", "a ", "0", ".")
_END = "\ue001"


def hostile(size: int, units: Sequence[str] = UNITS) -> Iterator[tuple[str, str]]:
    """Names and texts of about `size` characters: one unit over and over, and an end that fits nothing."""
    for unit in units:
        yield repr(unit), unit * (size // len(unit)) + _END


def after(heads: Sequence[str], size: int) -> Iterator[tuple[str, str]]:
    """Texts that begin like `heads`: a head over and over, and one followed by a long run."""
    for head in heads:
        yield f"{head!r}", head * (size // len(head)) + _END
        for tail in TAILS:
            yield f"{head!r} and {tail!r}", head + tail * (size // len(tail)) + _END


def seconds(call: Callable[[], object], times: int) -> float:
    """The best of some, in CPU time of this thread: other processes share the machine."""
    best = float("inf")
    collects = gc.isenabled()
    gc.disable()  # as `timeit` does: what it costs depends on everything else that is alive
    try:
        for _ in range(times):
            start = time.thread_time()
            call()
            best = min(best, time.thread_time() - start)
    finally:
        if collects:
            gc.enable()
    return best


def fault(call: Callable[[str], object], short: str, long: str) -> str | None:
    """What is wrong with how the time of `call` grows from one text to the other; None where it is linear."""
    least = seconds(lambda: call(short), 1)
    if least > HOPELESS:  # slow, or quadratic: nobody waits for the long text
        tenth = short[: len(short) // 10]
        tiny = seconds(lambda: call(tenth), 3)
        wrong = least > FLOOR + FACTOR * tiny
        return f"{len(tenth)} characters take {tiny:.4f} s and {len(short)} take {least:.4f} s" if wrong else None
    if least * (len(long) / len(short)) ** 2 <= FLOOR:
        return None  # were it quadratic, the long text would take no longer than that
    most = seconds(lambda: call(long), 1)
    if most <= FLOOR:
        return None
    if most > FACTOR * least:  # perhaps something else came between
        least, most = seconds(lambda: call(short), 5), min(most, seconds(lambda: call(long), 2))
    if most <= FLOOR + FACTOR * least:
        return None
    return f"{len(short)} characters take {least:.4f} s and {len(long)} take {most:.4f} s"


def first_fault(call: Callable[[str], object], heads: Sequence[str] = (), units: Sequence[str] = UNITS) -> str | None:
    """The first text on which `call` is not linear, and its times; heads are beginnings of which it is fond.

    The long text is tried for the texts that take longest while they are short, and for each whose time has grown
    faster than its length by then. Of a time a*n + b*n*n that grows by `FACTOR` from the short text to the long one,
    2/9 or more are quadratic in the short one already: from a tenth of it to it, it grows by more than `SUSPECT`.
    """
    tinies, shorts, longs = (list(chain(hostile(n, units), after(heads, n))) for n in (SHORT // 10, SHORT, LONG))
    times = [seconds(partial(call, short), 1) for _, short in shorts]
    worst = set(sorted(range(len(times)), key=times.__getitem__)[-WORST:])
    for number, (name, short) in enumerate(shorts):
        if number not in worst:
            tiny = tinies[number][1]
            if times[number] <= SUSPECT * seconds(partial(call, tiny), 3):
                continue
        wrong = fault(call, short, longs[number][1])
        if wrong:
            return f"{name}: {wrong}"
    return None


def fault_of_worst(
    call: Callable[[str], object], heads: Sequence[str], size: int = QUICK, texts: int = 3
) -> str | None:
    """The same on those texts alone that take longest while they are short: a fraction of the time."""
    slow = sorted(
        (
            (seconds(partial(call, tiny), 2), number)
            for number, (_, tiny) in enumerate(chain(hostile(TINY), after(heads, TINY)))
        ),
        reverse=True,
    )
    worst = sorted(number for _, number in slow[:texts])
    shorts, longs = (list(_only(worst, chain(hostile(n), after(heads, n)))) for n in (size, 10 * size))
    for (name, short), (_, long) in zip(shorts, longs, strict=True):
        wrong = fault(call, short, long)
        if wrong:
            return f"{name}: {wrong}"
    return None


def _only(numbers: Sequence[int], texts: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return (text for number, text in enumerate(texts) if number in numbers)
