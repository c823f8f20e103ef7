"""Averages two sets of weights of the reader, such as those of a new training and those that ship.

    python mix_weights.py --first RUN/final.pt --second shipped.pt --share 0.75 --out MIXED.pt

The layers that training left as they were are taken from the second as they are: an average of equal numbers may
differ from them in the last bit, and export_reader.py shares only layers that are equal bit for bit.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch


def mixed(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], share: float) -> dict[str, torch.Tensor]:
    """`share` of the first and the rest of the second, name by name."""
    return {
        name: other if torch.equal(first[name], other) else share * first[name] + (1 - share) * other
        for name, other in second.items()
    }


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--first", type=Path, required=True)
    ask.add_argument("--second", type=Path, required=True)
    ask.add_argument("--share", type=float, required=True, help="of the first, in [0, 1]")
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    first, second = (torch.load(path, weights_only=True) for path in (given.first, given.second))
    torch.save({"model": mixed(first["model"], second["model"], given.share), "freeze": second["freeze"]}, given.out)


if __name__ == "__main__":
    main()
