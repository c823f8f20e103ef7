"""Writes `manifest.json`: the SHA-256 and size of every file that ships. Run it last, after measure.py.

python write_manifest.py --files DIR
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--files", type=Path, required=True)
    directory: Path = ask.parse_args().files
    files = {}
    for path in sorted(directory.iterdir()):
        if path.is_file() and path.name != "manifest.json":
            content = path.read_bytes()
            files[path.name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (directory / "manifest.json").write_text(json.dumps({"files": files}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
