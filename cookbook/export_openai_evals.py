"""How do I save what I have in OpenAI's hosted evals, and score it here?

    OPENAI_API_KEY=... python export_openai_evals.py FOLDER [EVAL_ID ...]
    assay score openai-evals:FOLDER --map contexts=item.docs

Without ids all evals of the project are saved. Each run becomes a file of its own, which gets its name when it is
complete: after an interruption the same command goes on with the runs that are missing. Needs no more than `openai`.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from openai import OpenAI


def main(folder: Path, eval_ids: list[str]) -> None:
    client = OpenAI(max_retries=5)  # the key, and the address where it is another, come from the environment
    evals = [client.evals.retrieve(one) for one in eval_ids] if eval_ids else client.evals.list(limit=100)
    for one in evals:
        inside = folder / one.id
        write(inside / "eval.json", [one])
        runs = list(client.evals.runs.list(one.id, limit=100))
        write(inside / "runs.jsonl", runs)
        for run in runs:
            path = inside / f"{run.id}.output_items.jsonl"
            if path.exists() and run.status in ("completed", "failed", "canceled"):
                print(f"{path}: there already")
                continue
            found = client.evals.runs.output_items.list(run.id, eval_id=one.id, limit=100)
            print(f"{path}: {write(path, found)} output items, {run.status}")


def write(path: Path, records: Iterable[Any]) -> int:
    """One line for each; the file is there when all of them are. Gives their number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    count = 0
    with part.open("w", encoding="utf-8") as file:
        for line in lines(records):
            file.write(line)
            count += 1
    part.replace(path)
    return count


def lines(records: Iterable[Any]) -> Iterator[str]:
    # as the server sent it, fields that the client does not know included
    return (json.dumps(one.to_dict(mode="json", warnings=False)) + "\n" for one in records)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
