"""Quantities of a text on one scale: numbers with units, money, shares, clock times and rates, in figures and words.

A claim that says "90 minutes" where the passage says "an hour and a half" is read with the words of the passage: the
reader compares wording, and cannot convert. What was found equal is evidence; what has no equal is a sign of its own.
A quantity of a library for units takes its time to load (pint: 0.6 s) and knows no words, so the table is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, permutations

_ONES = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)
_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS: dict[str, float] = {word: float(i) for i, word in enumerate(_ONES)}
_NUMBERS |= {word: 10.0 * i for i, word in enumerate(_TENS, start=2)}
_NUMBERS |= {"half": 0.5, "dozen": 12.0, "couple": 2.0}
_SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_FRACTIONS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_DAY = 86400.0
_MONTH, _YEAR = 30.436875 * _DAY, 365.2425 * _DAY

#: Names of units: the dimension, and the factor to its first unit.
_UNITS: dict[str, tuple[str, float]] = {}
_TABLES: dict[str, dict[str, float]] = {
    "time": {
        "s sec second": 1,
        "min minute": 60,
        "h hr hour": 3600,
        "day": _DAY,
        "week": 7 * _DAY,
        "weekend": 2 * _DAY,
        "fortnight": 14 * _DAY,
        "month": _MONTH,
        "year": _YEAR,
        "decade": 10 * _YEAR,
        "century": 100 * _YEAR,
    },
    "length": {
        "mm millimetre millimeter": 0.001,
        "cm centimetre centimeter": 0.01,
        "m metre meter": 1,
        "km kilometre kilometer": 1000,
        "mile": 1609.344,
        "ft foot": 0.3048,
        "inch": 0.0254,
        "yard": 0.9144,
    },
    "mass": {
        "mg milligram": 1e-6,
        "g gram": 1e-3,
        "kg kilogram kilo": 1,
        "t tonne ton": 1000,
        "lb pound": 0.45359237,
        "oz ounce": 0.028349523,
        "stone": 6.35029318,
    },
    "volume": {
        "ml millilitre milliliter": 0.001,
        "cl centilitre": 0.01,
        "l litre liter": 1,
        "pint": 0.56826125,
        "gallon": 4.54609,
        "cup": 0.24,
        "tablespoon": 0.015,
        "teaspoon": 0.005,
    },
    "area": {"m² sqm": 1, "hectare": 1e4},
    "power": {"w watt": 1, "kw kilowatt": 1e3, "mw megawatt": 1e6, "hp horsepower": 745.7},
    "energy": {"wh": 1, "kwh": 1e3, "mwh": 1e6},
    "data": {"kb kilobyte": 1e3, "mb megabyte": 1e6, "gb gigabyte": 1e9, "tb terabyte": 1e12},
    "bandwidth": {"kbit/s kbps": 1e3, "mbit/s mbps": 1e6, "gbit/s gbps": 1e9},
    "speed": {"km/h kph": 1, "mph": 1.609344, "m/s": 3.6},
    "EUR": {"€ eur euro": 1, "cent": 0.01},
    "USD": {"$ usd dollar": 1},
    "GBP": {"£ gbp": 1, "p pence": 0.01},
    "CHF": {"chf franc": 1},
    "celsius": {"°c": 1},
    "share": {"% percent": 0.01},
}
for _dimension, _table in _TABLES.items():
    for _names, _factor in _table.items():
        for _name in _names.split():
            _UNITS[_name] = (_dimension, float(_factor))
_QUARTER = 3 * _MONTH  # as a period alone: "a quarter" is a share more often
_PLURALS = {"feet": "foot", "inches": "inch", "centuries": "century", "per cent": "percent", "degrees celsius": "°c"}
_NO_PLURAL = {"s", "h", "m", "g", "l", "t", "w", "p", "min", "%", "€", "$", "£", "°c"}

_FIGURE = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER_WORD = "|".join(sorted([*_NUMBERS, *_SCALES], key=len, reverse=True))
_NAMES = sorted({*_UNITS, *_PLURALS, *(f"{name}s" for name in _UNITS if name not in _NO_PLURAL)}, key=len, reverse=True)
_UNIT = "|".join(re.escape(name) for name in _NAMES)
_PERIOD = "second|minute|hour|day|week|fortnight|month|quarter|year|decade"
_WITH_UNIT = re.compile(
    rf"(?<![\w.,/-])(?:(?P<sign>[€$£])[ ]?(?P<money>{_FIGURE})"
    rf"|(?:(?P<figure>{_FIGURE})(?P<of>[ ](?:hundred|thousand|million|billion))?"
    rf"|(?P<words>(?:an?|{_NUMBER_WORD})(?:(?:[ ]and[ ]|[ -])(?:an?|{_NUMBER_WORD})){{0,6}})(?:[ ]of)?)"
    rf"(?P<tail>[ ]and[ ]a[ ](?:half|quarter)|½|¼|¾)?[ -]?(?P<unit>{_UNIT})(?![\w/²]))"
    rf"(?P<more>[ ]and[ ]an?[ ](?:half|quarter)\b)?"
    rf"(?P<rate>[ ]?(?:per|an?|every|each|/)[ ]?(?P<period>{_PERIOD}|h|min)\b)?",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    r"\b(?:(?P<count>one|two|three|four|a)[ -](?P<part>half|third|quarter|fifth|tenth)s?(?= of| the|$|\W)"
    r"|(?P<one>one|two|three|nine|\d)[ ](?:in|out[ ]of)[ ](?P<every>two|three|four|five|ten|\d{1,3}))\b",
    re.IGNORECASE,
)
_PART_OF = re.compile(
    rf"\b(?P<count>a|one|two|three|four)[ -](?P<part>half|third|quarter|fifth|tenth)s?[ ]of[ ]an?[ ]"
    rf"(?P<unit>{_UNIT})\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    rf"\b(?:(?P<times>once|twice|(?P<many>{_NUMBER_WORD}|\d{{1,2}})[ ]times)[ ](?:a|an|per|each|every)[ ]"
    rf"(?P<period>{_PERIOD})"
    rf"|every[ ](?:(?P<gap>{_NUMBER_WORD}|\d{{1,3}})[ ])?(?P<unit>{_PERIOD})s?"
    r"|(?P<adverb>hourly|daily|weekly|monthly|quarterly|yearly|annually))\b",
    re.IGNORECASE,
)
_ADVERBS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
    "annually": "year",
}  # fmt: skip
_HOUR = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_CLOCK = re.compile(
    r"(?<![\d:.,])(?:(?P<h24>[01]?\d|2[0-4])(?::|\.(?=\d\d[ ]?[ap]\.?m))(?P<m24>[0-5]\d|0)(?![\d:%])"
    r"(?:[ ]?(?P<half>[ap]\.?m\b\.?))?"
    rf"|(?P<h12>1[0-2]|[1-9]|{_HOUR})[ ]?(?P<ampm>[ap]\.?m\b\.?|o'clock)"
    rf"|(?P<part>half|(?:a[ ])?quarter|twenty|ten|five)[ ](?P<side>past|to)[ ](?P<hour>{_HOUR}|1[0-2]|[1-9])\b"
    r"|\b(?P<name>noon|midday|midnight)\b)(?:[ ]in[ ]the[ ](?P<day>morning|afternoon|evening))?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"(?<![\d.,])\d{1,2}(?![\d.,])")
_COUNTS = (2.0, 3.0, 4.0, 12.0)
_PAST = {"half": 30, "quarter": 15, "a quarter": 15, "twenty": 20, "ten": 10, "five": 5}
_CALENDAR = {"month", "quarter", "year", "decade", "century"}
_IMPERIAL = {
    "mile", "ft", "foot", "inch", "yard", "lb", "pound", "oz", "ounce", "stone", "pint", "gallon", "cup", "mph", "hp",
    "horsepower",
}  # fmt: skip
_NO_UNITS = {"G", "H", "M", "P", "S", "T"}
EXACT, ROUNDED = 1e-9, 0.021
#: Letters that a pattern takes for one of ours whatever their case: a table has no word with them.
_PLAIN = str.maketrans({"\u017f": "s", "\u0130": "i", "\u0131": "i", "\u212a": "k"})
_LONGEST = 100_000  # characters of a text that are looked through
_MOST = 40  # quantities of a claim that are compared, and of a passage that a sum may be made of


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a text.

    Attributes:
        start: Offset of its first character.
        end: Offset behind its last.
        text: As it stands.
        dimension: What it measures: "time", "length", "EUR", "share", "clock", "time per" and so on.
        value: In the first unit of the dimension; of clock times minutes after midnight.
        alternatives: Other values it may mean: "half past five" is 5:30 or 17:30.
        system: Of units: "calendar" for months and years, "imperial", else "".
    """

    start: int
    end: int
    text: str
    dimension: str
    value: float
    alternatives: tuple[float, ...] = ()
    system: str = ""

    def equals(self, other: Quantity) -> bool:
        """Whether both say the same: exactly, or within what people round to where the one cannot be told exactly in
        the unit of the other, as six feet in metres or a month in days."""
        if self.dimension != other.dimension:
            return False
        tolerance = EXACT if self.system == other.system else ROUNDED
        return any(
            abs(a - b) <= tolerance * max(abs(a), abs(b))
            for a in (self.value, *self.alternatives)
            for b in (other.value, *other.alternatives)
        )


@lru_cache(maxsize=64)  # all claims of an answer are compared with the same passage
def _by_dimension(text: str) -> Mapping[str, list[Quantity]]:
    found: dict[str, list[Quantity]] = {}
    for one in quantities(text):
        found.setdefault(one.dimension, []).append(one)
    return found


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text, in its order; where two overlap the one that begins first, or is longer.

    Args:
        text: Any text; of long ones the first 100,000 characters.

    Returns:
        The quantities; none for an empty text.
    """
    standing = text[:_LONGEST]
    text = standing.translate(_PLAIN)
    found = [*_clock_times(text), *_frequencies(text), *_parts(text), *_with_units(text), *_fractions(text)]
    kept: list[Quantity] = []
    for one in sorted(found, key=lambda q: (q.start, -q.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(replace(one, text=standing[one.start : one.end]))
    return kept


def restated(claim: str, passage: str) -> tuple[str, list[tuple[Quantity, Quantity]], list[Quantity]]:
    """A claim with its quantities in the words of the passage, where the passage has an equal one in other words.

    Args:
        claim: The claim.
        passage: What it is read against.

    Returns:
        The claim to read, the pairs that were found equal (of the claim, of the passage), and those of the claim for
        which the passage has quantities of the same dimension, but neither an equal one nor two whose sum, difference,
        product with a number or ratio it could be.
    """
    own = quantities(claim)[:_MOST]
    if not own:
        return claim, [], []
    passage = passage[:_LONGEST]  # so that no more is kept of it
    there = _by_dimension(passage)
    plain = passage.lower()
    equal: list[tuple[Quantity, Quantity]] = []
    odd: list[Quantity] = []
    for one in own:
        alike = there.get(one.dimension, ())
        if not alike or one.text.lower() in plain:
            continue
        same = next((other for other in alike if other.equals(one)), None)
        if same is not None:
            equal.append((one, same))
        elif not _derivable(one, [other.value for other in alike], passage):
            odd.append(one)
    for one, same in reversed(equal):
        claim = claim[: one.start] + same.text + claim[one.end :]
    return claim, equal, odd


def _derivable(one: Quantity, alike: Sequence[float], passage: str) -> bool:
    """Whether it is a sum, difference, multiple or part of quantities of the passage."""
    alike = alike[:_MOST]
    for a, b in permutations(alike, 2):
        if _near(one.value, a + b) or _near(one.value, a - b):
            return True
    figures = (float(match[0]) for match in islice(_COUNT.finditer(passage), _MOST))
    counts = [*_COUNTS, *(value for value in figures if value > 1)]
    return any(_near(one.value, a * n) or _near(one.value, a / n) for a in alike for n in counts)


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 0.006 * max(abs(a), abs(b))


def _figure(text: str) -> float:
    return float(text.replace(",", ""))


def _with_units(text: str) -> Iterator[Quantity]:
    for match in _WITH_UNIT.finditer(text):
        if match["sign"]:
            name, value = match["sign"], _figure(match["money"])
        else:
            name = _unit(match["unit"])
            value_or_none = _value(match)
            if name is None or value_or_none is None:
                continue
            value = value_or_none
        dimension, factor = _UNITS[name]
        if match["tail"] or match["more"]:
            value += _added(match["tail"] or match["more"])
        value *= factor
        if match["rate"]:
            dimension, value = f"{dimension} per", value / _period(match["period"])
        yield Quantity(match.start(), match.end(), match[0], dimension, value, system=_system(name, match["period"]))


def _system(name: str, period: str | None = None) -> str:
    if name in _IMPERIAL:
        return "imperial"
    return "calendar" if {name, (period or "").lower()} & _CALENDAR else ""


def _unit(name: str) -> str | None:
    name = _PLURALS.get(name.lower(), name.lower())
    return name if name in _UNITS else name.removesuffix("s") if name.removesuffix("s") in _UNITS else None


def _value(match: re.Match[str]) -> float | None:
    unit, before = match["unit"], match.string[match.start("unit") - 1]
    if unit in _NO_UNITS or (unit == "s" and before.isdigit()):  # a 5G network, the 1990s
        return None
    if match["figure"]:
        return _figure(match["figure"]) * _SCALES.get((match["of"] or "").strip().lower(), 1.0)
    words = match["words"].lower()
    if words in ("a", "an") and (len(match["unit"]) < 3 or match["unit"].lower() == "second"):
        return None  # "a m", "a second opinion": no quantities
    return _in_words(words)


def _in_words(words: str) -> float | None:
    total = current = 0.0
    for word in re.split(r"[ -]", words):
        if word in _SCALES:
            current = (current or 1.0) * _SCALES[word]
        elif word == "dozen":
            current = (current or 1.0) * 12
        elif word in _NUMBERS:
            current += _NUMBERS[word]
        elif word in ("a", "an"):
            current = current or (0.0 if words not in ("a", "an") else 1.0)
        if word in ("thousand", "million", "billion"):
            total, current = total + current, 0.0
    return total + current or None


def _added(tail: str) -> float:
    return next(value for sign, value in (("½", 0.5), ("¼", 0.25), ("¾", 0.75), ("half", 0.5), ("quarter", 0.25))
                if sign in tail.lower())  # fmt: skip


def _parts(text: str) -> Iterator[Quantity]:
    for match in _PART_OF.finditer(text):
        name = _unit(match["unit"])
        if name is not None:
            dimension, factor = _UNITS[name]
            value = _share(match) * factor
            yield Quantity(match.start(), match.end(), match[0], dimension, value, system=_system(name))


def _share(match: re.Match[str]) -> float:
    count = 1.0 if match["count"].lower() == "a" else _NUMBERS[match["count"].lower()]
    return count * _FRACTIONS[match["part"].lower()]


def _period(name: str) -> float:
    """Seconds of a period."""
    name = name.lower()
    return _QUARTER if name == "quarter" else _UNITS[name][1]


def _fractions(text: str) -> Iterator[Quantity]:
    for match in _FRACTION.finditer(text):
        if match["part"]:
            value = _share(match)
        else:
            every = match["every"].lower()
            value = _count(match["one"]) / max(1.0, _count(every))
        if value < 1:
            yield Quantity(match.start(), match.end(), match[0], "share", value)


def _frequencies(text: str) -> Iterator[Quantity]:
    for match in _OFTEN.finditer(text):
        name = (match["period"] or match["unit"] or _ADVERBS[(match["adverb"] or "daily").lower()]).lower()
        if match["adverb"]:
            often = 1 / _period(name)
        elif match["period"]:
            times = {"once": 1.0, "twice": 2.0}.get(match["times"].lower()) or _count(match["many"])
            often = times / _period(match["period"])
        else:
            often = 1 / (_count(match["gap"] or "1") * _period(match["unit"]))
        yield Quantity(match.start(), match.end(), match[0], "times per", often, system=_system(name))


def _count(word: str) -> float:
    return max(float(word) if word.isdigit() else _in_words(word.lower()) or 1.0, 1e-9)


def _clock_times(text: str) -> Iterator[Quantity]:
    for match in _CLOCK.finditer(text):
        found = list(_minutes(match))
        if found:
            yield Quantity(match.start(), match.end(), match[0], "clock", found[0], tuple(found[1:]))


def _minutes(match: re.Match[str]) -> Iterable[float]:
    """Minutes after midnight that a clock time may mean."""
    day = (match["day"] or "").lower()
    if match["name"]:
        return (0.0, 1440.0) if match["name"].lower() == "midnight" else (720.0,)
    if match["part"]:
        past = _PAST[match["part"].lower()]
        hour = _hour(match["hour"]) * 60 + (past if match["side"].lower() == "past" else -past)
        return _halves(hour % 720, day)
    if match["h12"]:
        suffix = match["ampm"].lower().replace(".", "")
        return _halves(_hour(match["h12"]) % 12 * 60, day or {"am": "morning", "pm": "evening"}.get(suffix, ""))
    minutes = int(match["h24"]) * 60 + int(match["m24"])
    half = (match["half"] or "").lower().replace(".", "")
    if half or day:
        return _halves(minutes % 720, day or {"am": "morning"}.get(half, "evening"))
    return (float(minutes),)


def _hour(word: str) -> int:
    return int(word) if word.isdigit() else int(_NUMBERS[word.lower()])


def _halves(minutes: float, day: str) -> tuple[float, ...]:
    if day == "morning":
        return (float(minutes),)
    return (float(minutes + 720),) if day else (float(minutes), float(minutes + 720))
