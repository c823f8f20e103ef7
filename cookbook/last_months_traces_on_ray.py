"""How do I score last month's traces on our Ray cluster?

    pip install "assay-ray[s3]" "assay-rag[embedded]"
    python last_months_traces_on_ray.py                                             # a month made up here, this machine
    python last_months_traces_on_ray.py 's3://BUCKET/traces/2026-10-*.parquet' s3://BUCKET/scores/2026-10

Call it again after a lost node, a killed driver or a spent budget: it continues, on this cluster or another. Set
RAY_ADDRESS to use a cluster; otherwise Ray starts on this machine.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import assay_ray
import pyarrow as pa
import pyarrow.parquet as parquet

from assay import Budget
from assay.judges import Prices

TRACES = Path(__file__).parent / "data" / "traces.jsonl"
JUDGE = None  # the embedded one. "openai:MODEL" names an LLM: then cpus=0.25, since its workers wait most of the time


def a_month(folder: Path) -> str:
    """Files of days, as an export leaves them."""
    rows = [json.loads(line) for line in TRACES.read_text("utf-8").splitlines()]
    names = dict.fromkeys(name for row in rows for name in row)  # pyarrow takes the columns of the first row alone
    for day in range(3):
        some = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows[day::3]])
        parquet.write_table(some, folder / f"2026-10-{day + 1:02}.parquet")
    return str(folder / "2026-10-*.parquet")


def main() -> None:
    with TemporaryDirectory() as name:  # a folder that stays, for a real month
        folder = Path(name)
        traces = sys.argv[1] if len(sys.argv) > 1 else a_month(folder)
        out = sys.argv[2] if len(sys.argv) > 2 else str(folder / "scores")
        for attempt in ("the first time", "and again"):
            result = assay_ray.score(
                traces, ["faithfulness", "context_utilization"], JUDGE, out=out,
                column_map={"id": "trace_id"},
                lean=True,  # id, values and causes: less than 1 kB a row
                # of an LLM: what the whole job may cost in a day, on however many workers
                budget=Budget(dollars_per_day=200.0, prices=Prices(prompt=0.25, completion=2.0)),
                store=folder / "store",
                run=f"2026-10, {attempt}",
            )  # fmt: skip
            print(result)
            print(f"{attempt}: {result.rows} rows in {out}, complete: {result.complete}\n")
        result.store.close()


if __name__ == "__main__":
    main()
