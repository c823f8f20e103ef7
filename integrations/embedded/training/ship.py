"""Puts exported models into the package, calibrates and measures them, and writes the card, diagram and manifest.

    python ship.py --reader DIR --embedder DIR --data DATA --files FILES [--skip-measuring]

--reader is what export_reader.py wrote, --embedder what export_embedder.py wrote; either may be left out to keep what
the package has. Takes ten minutes, most of them measuring.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from graphs import pack

HERE = Path(__file__).parent
READER = ("trunk.onnx.gz", "relevance.onnx.gz", "support.onnx.gz")


def run(script: str, *arguments: str | Path) -> None:
    """One of the other scripts."""
    print(f"-- {script}", flush=True)
    subprocess.run([sys.executable, str(HERE / script), *map(str, arguments)], check=True)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--reader", type=Path)
    ask.add_argument("--embedder", type=Path)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--skip-measuring", action="store_true")
    given = ask.parse_args()
    if given.reader:
        for name in READER:
            shutil.copy(given.reader / name, given.files / name)
    if given.embedder:
        shutil.copy(pack(given.embedder / "stored.onnx"), given.files / "embedder.onnx.gz")
        shutil.copy(given.embedder / "tokenizer.json", given.files / "tokenizer.json")
    files = ("--data", given.data, "--files", given.files)
    run("train_support.py", *files)
    for step in (  # nothing is loaded that the manifest does not list as it is
        "calibrate_usefulness.py",
        "calibrate_directness.py",
        "calibrate_support.py",
    ):
        run("write_manifest.py", "--files", given.files)
        run(step, *files)
    run("write_manifest.py", "--files", given.files)
    if not given.skip_measuring:
        run("measure.py", *files)
        run("reliability.py", "--files", given.files, "--out", HERE.parent / "reliability.svg")
        run("write_manifest.py", "--files", given.files)


if __name__ == "__main__":
    main()
