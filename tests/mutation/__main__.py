"""`python -m tests.mutation`: the mutants that no test notices. Ends with 1 where there is one."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

from tests.mutation import equivalents, page, running
from tests.mutation.mutants import ROOMS, SHARED, Mutant, mutants_of

TESTS = ("tests/metrics", "tests/analysis/test_lens.py")
#: The tests that a sample of a room's mutants meets first: those with its name, here for what rooms share.
OF_SHARED = ("tests/metrics/", "tests/metrics/systems/test_lexical.py", "tests/metrics/systems/test_conversation.py")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--room", action="append", choices=ROOMS, help="of these rooms; else of all")
    parser.add_argument("--only", default="", help="of files, functions or changes that have this in them")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--kept", type=Path, help="a folder for what is found, for the next time")
    parser.add_argument("--sample", type=int, help="so many of each room, and its own tests alone")
    parser.add_argument("--seed", default="0", help="which ones")
    parser.add_argument(
        "--write", action="store_true", help="the figures of these rooms into docs/evidence/mutation.md"
    )
    asked = parser.parse_args()
    if asked.write and (asked.only or asked.sample):
        parser.error("--write needs whole rooms")
    started = time.monotonic()
    rooms = {room: mutants_of(room) for room in asked.room or ROOMS}
    wanted = [one for each in rooms.values() for one in equivalents.without(each) if asked.only in str(one)]
    if asked.sample:
        wanted = [
            one for room in rooms for one in drawn([m for m in wanted if m.room == room], asked.sample, asked.seed)
        ]
        survivors = running.run(wanted, list(TESTS), jobs=asked.jobs, chosen=named_alike_first)
    else:
        survivors = running.run(wanted, list(TESTS), jobs=asked.jobs, kept=asked.kept)
    told = sum(one.told for one in survivors)
    alive = f"{len(survivors)} survive ({told} of them asked or told)"
    print(f"{len(wanted)} mutants, {alive}, {time.monotonic() - started:.0f} s")
    if asked.write:
        for table in page.TABLES:
            page.write(table, figures(rooms, survivors, told=table == page.TOLD))
    return bool(survivors)


def drawn(mutants: list[Mutant], number: int, seed: str) -> list[Mutant]:
    """So many of the mutants inside of functions; the same after changes elsewhere."""
    inside = [one for one in mutants if one.inside]
    return sorted(inside, key=lambda one: sha256(repr((seed, one.key)).encode()).digest())[:number]


def named_alike_first(mutant: Mutant, tests: list[str]) -> list[str]:
    """All tests, those in files that bear the name of a mutant's room first: nearly always one of them fails."""
    return sorted(tests, key=lambda name: not name.startswith(_files(mutant.room)))


def _files(room: str) -> tuple[str, ...]:
    return OF_SHARED if room == SHARED else (f"tests/metrics/systems/test_{room}",)


def figures(rooms: dict[str, list[Mutant]], survivors: list[Mutant], *, told: bool) -> dict[str, page.Figures]:
    """What became of each room's mutants: of what is asked and told, or of its formulas."""
    alive = Counter(one.room for one in survivors if one.told is told)
    found = {}
    for room, every in rooms.items():
        mutants = [one for one in every if one.told is told]
        equivalent = len(mutants) - len(equivalents.without(mutants))
        killed = len(mutants) - equivalent - alive[room]
        found[room] = page.Figures(len(mutants), killed, equivalent, alive[room])
    return found


if __name__ == "__main__":
    sys.exit(main())
