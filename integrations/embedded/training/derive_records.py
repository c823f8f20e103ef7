"""Pairs of a record and a claim about it, made by rule: places, tables, and the fields of records that are given.

Every claim is made with what decides it, so its label is known: it says what the record says (0), something else (1),
or something that the record does not say (2). Records are written as JSON, as Python prints them, as lines of key and
value, or as tables, with keys in the usual spellings. Nothing here reads a development set; names are made up.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

Made = tuple[str, str, int]  # record, claim, label

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
KINDS = (
    ("Pizza, Italian", "an Italian restaurant"), ("Mexican, Tacos", "a Mexican restaurant"),
    ("Coffee & Tea, Bakeries", "a bakery and coffee shop"), ("Hair Salons, Beauty & Spas", "a hair salon"),
    ("Auto Repair, Tires", "an auto repair shop"), ("Bars, Nightlife", "a bar"), ("Gyms, Fitness", "a gym"),
    ("Hotels, Event Planning", "a hotel"), ("Bookstores, Shopping", "a bookstore"), ("Dentists, Health", "a dentist"),
    ("Sushi Bars, Japanese", "a Japanese restaurant"), ("Museums, Arts", "a museum"), ("Florists, Gifts", "a florist"),
    ("Breakfast & Brunch, Diners", "a diner"), ("Pet Stores, Pets", "a pet store"),
)  # fmt: skip
CITIES = (
    ("Millbrook", "OH"), ("Harper Falls", "PA"), ("San Ardo", "CA"), ("Eastport", "ME"), ("Tallis", "TX"),
    ("Grover", "CO"), ("Lakeview", "FL"), ("Stanton", "VA"), ("Riverton", "IL"), ("Cedar Point", "WA"),
)  # fmt: skip
FIRST = ("Anna's", "Blue Door", "Golden Oak", "Harbor", "Old Mill", "Sunrise", "Three Brothers", "Maple", "Corner")
SECOND = ("Kitchen", "Place", "House", "Studio", "Market", "Garden", "Works", "Company", "Room", "Express")
# an attribute's key, and how it is said when it is so and when it is not
ATTRIBUTES: tuple[tuple[str, str, str], ...] = (
    ("OutdoorSeating", "offers outdoor seating", "does not have outdoor seating"),
    ("RestaurantsTakeOut", "offers takeout", "does not offer takeout"),
    ("RestaurantsDelivery", "delivers", "does not deliver"),
    ("RestaurantsReservations", "takes reservations", "does not take reservations"),
    ("BusinessAcceptsCreditCards", "accepts credit cards", "does not accept credit cards"),
    ("WheelchairAccessible", "is wheelchair accessible", "is not wheelchair accessible"),
    ("DogsAllowed", "allows dogs", "does not allow dogs"),
    ("HappyHour", "has a happy hour", "has no happy hour"),
    ("GoodForKids", "is suitable for children", "is not suitable for children"),
    ("HasTV", "has a TV", "does not have a TV"),
    ("BikeParking", "has bike parking", "lacks bike parking"),
    ("ByAppointmentOnly", "works by appointment only", "does not require an appointment"),
    ("Caters", "provides catering", "does not provide catering"),
    ("DriveThru", "has a drive-through", "has no drive-through"),
)
PARKING = ("garage", "street", "lot", "valet")
AMBIENCE = ("casual", "romantic", "trendy", "upscale", "intimate", "classy")
# an aspect, what a pleased and what a displeased review says of it, and how claims sum them up
ASPECTS: tuple[tuple[str, str, str, str, str], ...] = (
    ("staff", "The staff were so friendly and helpful.", "The staff were rude and ignored us.",
     "the friendly staff", "the rude staff"),
    ("wait", "We were served within minutes.", "We waited for almost an hour.",
     "the fast service", "the long waiting times"),
    ("price", "Prices are very fair for what you get.", "Way overpriced for what you get.",
     "the fair prices", "the high prices"),
    ("quality", "Everything was excellent, truly top quality.", "The quality was poor and we left disappointed.",
     "the excellent quality", "the poor quality"),
    ("clean", "The place was spotless.", "The tables and floors were dirty.", "how clean it is", "dirt"),
    ("noise", "Nice and quiet, you can actually talk.", "It was so loud that we could not talk.",
     "the quiet atmosphere", "the noise"),
)  # fmt: skip
FILLING = (
    "I came here with my sister last month.", "We had driven past it many times.", "It was a weekday evening.",
    "A friend told us about it.", "I will write more when I have been here again.", "Parking took a moment.",
)  # fmt: skip


def clock(hour: int, minute: int, rng: random.Random) -> str:
    """A time as people write it: 5 PM, 5:00 p.m., 17:00."""
    half = "AM" if hour < 12 else "PM"
    plain = f"{(hour - 1) % 12 + 1}{f':{minute:02}' if minute else ''}"
    full = f"{(hour - 1) % 12 + 1}:{minute:02}"
    return rng.choice(
        (
            f"{plain} {half}",
            f"{full} {half}",
            f"{plain}{half.lower()}",
            f"{plain} {half[0].lower()}.m.",
            f"{hour}:{minute:02}",
        )
    )


def written(record: dict[str, Any], rng: random.Random) -> str:
    """A record in one of the forms in which applications hand it on."""
    form = rng.random()
    if form < 0.5:
        return json.dumps(record, ensure_ascii=False, indent=rng.choice((None, None, 1, 2)))
    if form < 0.75:
        return str(record)
    if form < 0.85:
        return rng.choice(("Structured data: ", "Record:\n", "")) + json.dumps(record, ensure_ascii=False)
    lines = []
    for key, value in record.items():
        if isinstance(value, dict):
            lines += [f"{spaced(key)} {spaced(k)}: {v}" for k, v in value.items()]
        elif isinstance(value, list):
            lines += [f"{spaced(key)}: {v if not isinstance(v, dict) else json.dumps(v)}" for v in value]
        else:
            lines.append(f"{spaced(key)}: {value}")
    return "\n".join(rng.choice(("", "- ")) + line for line in lines) if rng.random() < 0.5 else "\n".join(lines)


def spaced(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key)


def place(rng: random.Random) -> list[Made]:
    """A record of a business with hours, attributes and reviews, and claims about it."""
    name = f"{rng.choice(FIRST)} {rng.choice(SECOND)}"
    kind, said_kind = rng.choice(KINDS)
    city, state = rng.choice(CITIES)
    hours = week(rng)
    chosen = rng.sample(ATTRIBUTES, rng.randint(3, 7))
    attributes: dict[str, Any] = {key: rng.choice((True, True, False, None)) for key, _, _ in chosen}
    wifi = rng.choice(("free", "no", "paid", None))
    parking = {p: rng.random() < 0.4 for p in PARKING}
    attributes |= {"WiFi": wifi, "BusinessParking": parking}
    mood = rng.choice(AMBIENCE)
    attributes["Ambience"] = {a: a == mood for a in rng.sample(AMBIENCE, 4)} | {mood: True}
    stars = rng.choice((2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0))
    reviews, views = reviewed(stars, rng)
    record = {
        "name": name, "address": f"{rng.randint(2, 990)} {rng.choice(('Main', 'Elm', 'Second', 'Mill'))} St",
        "city": city, "state": state, "categories": kind,
        "hours": {day: f"{a}:{b}-{c}:{d}" for day, (a, b, c, d) in hours.items()} or None,
        "attributes": attributes, "business_stars": stars, "review_info": reviews,
    }  # fmt: skip
    if rng.random() < 0.4:
        record = {key: value for key, value in record.items() if key not in rng.sample(("address", "categories"), 1)}
    it = rng.choice((name, "It", "The business", "The establishment"))
    other_kind, other_city = rng.choice(KINDS)[1], rng.choice(CITIES)
    found: list[tuple[str, int]] = []
    if "categories" in record:
        found.append((f"{name} is {said_kind} located in {city}, {state}.", 0))
        if other_kind != said_kind:
            found.append((f"{name} is {other_kind} located in {city}, {state}.", 1))
        if other_city[0] != city:
            found.append((f"{name} is {said_kind} in {other_city[0]}.", 1))
    found += of_hours(it, hours, rng)
    for key, yes, no in chosen:
        value = attributes[key]
        for saying, means in ((yes, True), (no, False)):
            label = 2 if value is None else int(value is not means)
            found.append((f"{it} {saying}.", label))
    absent = rng.choice([one for one in ATTRIBUTES if one not in chosen])
    found.append((f"{it} {rng.choice(absent[1:])}.", 2))
    for saying, means in (("offers free Wi-Fi", "free"), ("does not have Wi-Fi", "no"), ("offers paid WiFi", "paid")):
        found.append((f"{it} {saying}.", 2 if wifi is None else int(wifi != means)))
    where = rng.choice(PARKING)
    found.append((f"{it} has {where} parking available.", int(not parking[where])))
    found.append((f"{it} has {rng.choice(('a', 'an overall'))} rating of {stars} stars.", 0))
    found.append((f"It is rated {rng.choice([s for s in (2.0, 2.5, 3.0, 3.5, 4.0, 4.5) if s != stars])} out of 5.", 1))
    feel = rng.choice(AMBIENCE)
    known = attributes["Ambience"].get(feel)
    found.append((f"The ambience is {feel}.", 0 if known else 1 if known is False else 2))
    found += of_reviews(name, views, stars, rng)
    made = [(claim, label) for claim, label in found]
    for _ in range(4):  # two statements in one: right where both are
        (a, one), (b, two) = rng.sample(found, 2)
        if not a.startswith("Overall") and not b.startswith("Overall"):
            b = b.replace(name, "it", 1) if b.startswith(name) else b[0].lower() + b[1:]
            made.append((a.rstrip(".") + rng.choice((", and ", " and ", ", while ")) + b, max(one, two)))
    text = written(record, rng)
    return [(text, claim, label) for claim, label in made]


Week = dict[str, tuple[int, int, int, int]]


def week(rng: random.Random) -> Week:
    """Opening hours: alike on most days, other at the end of the week, closed on some."""
    opens, closes = rng.choice((7, 8, 9, 10, 11, 16, 17)), rng.choice((15, 17, 18, 20, 21, 22, 23))
    if closes <= opens:
        closes = opens + 5
    usual = (opens, rng.choice((0, 0, 0, 30)), closes, rng.choice((0, 0, 0, 30)))
    late = (min(opens + rng.randint(0, 2), 18), 0, min(closes + rng.choice((-2, 1, 2)), 23), 0)
    closed = rng.sample(DAYS, rng.choice((0, 0, 1, 2)))
    return {day: late if day in DAYS[4:6] else usual for day in DAYS if day not in closed}


def of_hours(it: str, hours: Week, rng: random.Random) -> list[tuple[str, int]]:
    out = []
    for _ in range(3):
        day = rng.choice(list(hours))
        same = [d for d in hours if hours[d] == hours[day]]
        run = [d for d in DAYS[DAYS.index(day) :] if d in same]
        a, b, c, d = hours[day]
        wrong = rng.random() < 0.5
        if wrong:
            shift = rng.choice((-3, -2, -1, 1, 2, 3, 12))
            if rng.random() < 0.5:
                a = (a + shift) % 24
            else:
                c = (c + shift) % 24
        days = day
        if len(run) > 2 and DAYS.index(run[2]) == DAYS.index(day) + 2 and rng.random() < 0.7:
            days = rng.choice((f"{day} to {run[2]}", f"{day} through {run[2]}", f"{day}, {run[1]} and {run[2]}"))
        opens, closes = clock(a, b, rng), clock(c, d, rng)
        out.append((rng.choice((
            f"{it} is open {days} from {opens} to {closes}.", f"On {days}, it opens at {opens} and closes at {closes}.",
            f"{it} operates from {opens} to {closes} on {days}.", f"Its hours on {days} are {opens} - {closes}.",
        )), int(wrong)))  # fmt: skip
    return out


def reviewed(stars: float, rng: random.Random) -> tuple[list[dict[str, Any]], dict[str, set[bool]]]:
    """One to three reviews, and what they say of each aspect."""
    out, views = [], {}
    for _ in range(rng.randint(1, 3)):
        pleased = rng.random() < (stars - 1) / 4
        said = []
        for aspect, good, bad, _, _ in rng.sample(ASPECTS, rng.randint(1, 3)):
            said.append(good if pleased else bad)
            views.setdefault(aspect, set()).add(pleased)
        said += rng.sample(FILLING, rng.randint(0, 2))
        rng.shuffle(said)
        out.append({
            "review_stars": float(rng.randint(4, 5) if pleased else rng.randint(1, 2)),
            "review_date": f"20{rng.randint(15, 22)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} 18:21:05",
            "review_text": " ".join(said),
        })  # fmt: skip
    return out, views


def of_reviews(name: str, views: dict[str, set[bool]], stars: float, rng: random.Random) -> list[tuple[str, int]]:
    out = []
    for aspect, _, _, praise, blame in rng.sample(ASPECTS, 3):
        known = views.get(aspect)
        who = rng.choice(("Customers", "Reviewers", "A customer", "Some guests"))
        verb = "s" if who.startswith("A ") else ""
        out.append((f"{who} praise{verb} {praise}.", 2 if known is None else int(True not in known)))
        out.append((f"{who} complain{verb} about {blame}.", 2 if known is None else int(False not in known)))
    moods = set().union(*views.values())
    for text, fits in (
        (f"Overall, {name} receives positive reviews.", moods == {True}),
        ("Overall, customers have mixed opinions of it.", moods == {True, False}),
        (f"Overall, reviews of {name} are negative.", moods == {False}),
    ):
        out.append((text, int(not fits)))
    return rng.sample(out, 5)


COLUMNS = ("population", "sales", "score", "price", "visitors", "points", "temperature", "weight", "goals", "revenue")
ROWS = (
    ("city", ("Arlen", "Bowden", "Corvin", "Dalton", "Esker", "Farley", "Glenwood", "Hale", "Ivors", "Jarrow")),
    ("product", ("Lamp A", "Lamp B", "Desk", "Chair", "Shelf", "Rug", "Mirror", "Clock", "Vase", "Stool")),
    ("team", ("Tigers", "Bears", "Eagles", "Sharks", "Wolves", "Hawks", "Lions", "Foxes", "Bulls", "Owls")),
    ("date", tuple(f"2023-{month:02}-{day:02}" for month, day in ((1, 5), (2, 9), (3, 14), (5, 2), (7, 21), (9, 30)))),
    ("year", tuple(str(year) for year in range(2010, 2020))),
)  # fmt: skip


def table(rng: random.Random) -> list[Made]:
    """A table of names and numbers, and claims about its cells, and about the lowest and highest."""
    label, names = rng.choice(ROWS)
    rows = list(names) if label in ("date", "year") else rng.sample(names, rng.randint(4, 9))
    columns = rng.sample(COLUMNS, rng.randint(1, 3))
    digits = rng.choice((0, 0, 1, 2))
    cells = {row: {c: round(rng.uniform(1, 900), digits) if digits else rng.randint(2, 900) for c in columns}
             for row in rows}  # fmt: skip
    said = {row: as_said(row, rng) for row in rows}
    out = []
    for _ in range(4):
        row, column = rng.choice(rows), rng.choice(columns)
        value = cells[row][column]
        wrong = rng.random() < 0.5
        if wrong:
            other = cells[rng.choice([r for r in rows if r != row])][column]
            value = (
                other if rng.random() < 0.5 and other != value else round(value * rng.choice((0.5, 1.2, 2)) + 3, digits)
            )
        out.append((rng.choice((
            f"The {column} of {said[row]} was {value}.", f"{said[row]} had a {column} of {value}.",
            f"For {said[row]}, the {column} is {value}.",
        )), int(wrong)))  # fmt: skip
        best = (max, min)[rng.random() < 0.4]
        top = best(rows, key=lambda r: cells[r][column])
        others = [r for r in rows if cells[r][column] != cells[top][column]]
        wrong = rng.random() < 0.5 and bool(others)
        at = rng.choice(others) if wrong else top
        word = "highest" if best is max else "lowest"
        out.append((rng.choice((
            f"The {word} {column} was {cells[at][column]}, for {said[at]}.", f"{said[at]} had the {word} {column}.",
            f"The {column} reached its {word} value of {cells[at][column]} with {said[at]}.",
        )), int(wrong)))  # fmt: skip
        absent = rng.choice([c for c in COLUMNS if c not in columns])
        if rng.random() < 0.3:
            out.append((f"{said[row]} had a {absent} of {value}.", 2))
    heading = [label, *columns]
    form = rng.random()
    if form < 0.4:
        text = "\n".join([",".join(heading), *(",".join([r, *(str(cells[r][c]) for c in columns)]) for r in rows)])
    elif form < 0.7:
        text = "\n".join([
            "| " + " | ".join(heading) + " |", "|" + "---|" * len(heading),
            *("| " + " | ".join([r, *(str(cells[r][c]) for c in columns)]) + " |" for r in rows),
        ])  # fmt: skip
    else:
        text = json.dumps([{label: r, **cells[r]} for r in rows])
    return [(text, claim, label_) for claim, label_ in out]


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip


def as_said(row: str, rng: random.Random) -> str:
    """A day in words, or the name as it is."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", row)
    if not found:
        return row
    year, month, day = int(found[1]), MONTHS[int(found[2]) - 1], int(found[3])
    return rng.choice((f"{month} {day}, {year}", f"{day} {month} {year}", f"{month} {day}"))


def of_fields(text: str, others: Sequence[dict[str, Any]], rng: random.Random) -> list[Made]:
    """Claims of one field of a record that is given (an object as JSON with a title), by a few plain sentences.

    True; with the value that another record has there; and of a field that only another record has.
    """
    record = json.loads(text)
    title = record.get("title")
    if not isinstance(title, str):
        return []
    fields = {k: v for k, v in record.items() if k != "title" and isinstance(v, str) and len(v.split()) <= 8}
    out = []
    for key in rng.sample(list(fields), min(2, len(fields))):
        out.append((text, field_said(title, key, fields[key], rng), 0))
        rest = [
            r[key] for r in others if isinstance(r.get(key), str) and r[key] != fields[key] and len(r[key].split()) <= 8
        ]
        if rest:
            out.append((text, field_said(title, key, rng.choice(rest), rng), 1))
    other = rng.choice(others)
    strange = [k for k, v in other.items() if k not in record and isinstance(v, str) and len(v.split()) <= 8]
    if strange:
        key = rng.choice(strange)
        out.append((text, field_said(title, key, other[key], rng), 2))
    return out


def field_said(title: str, key: str, value: str, rng: random.Random) -> str:
    key = key.strip().lower()
    return rng.choice((
        f"{title}'s {key} is {value}.", f"The {key} of {title} is {value}.", f"{title} has {value} as its {key}.",
        f"{title} ({key}: {value}) is described here.", f"For {title}, the {key} is given as {value}.",
    ))  # fmt: skip


def made(count: int, given: Sequence[str], rng: random.Random) -> list[tuple[str, Made]]:
    """`count` pairs with the name of their kind: places, tables and fields of the `given` records, as many of each.

    Of one record at most four claims, as many right as wrong where that can be.
    """
    parsed = [json.loads(text) for text in given]
    out: list[tuple[str, Made]] = []
    while len(out) < count:
        kind = rng.choice(("place", "place", "table", "field"))
        if kind == "place":
            found = place(rng)
        elif kind == "table":
            found = table(rng)
        else:
            found = of_fields(rng.choice(given), rng.sample(parsed, min(40, len(parsed))), rng)
        right, wrong = [one for one in found if one[2] == 0], [one for one in found if one[2]]
        for side in (right, wrong):
            out += [(kind, one) for one in rng.sample(side, min(2, len(side)))]
    return out[:count]
