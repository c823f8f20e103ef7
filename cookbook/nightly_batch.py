"""How do I score last night's traces at half the price?

    python nightly_batch.py                                        # OpenAI, key in OPENAI_API_KEY
    python nightly_batch.py http://localhost:8000/v1 MODEL         # a server of yours that has /files and /batches

Providers take requests in batches for half the usual price, and answer within a day. What must be asked one after the
other (the claims of an answer, then what supports them) takes a batch each, so the job is called again and again, as
cron would call it: each call collects what has come back, submits what follows from it, and ends. It may be killed at
any moment; nothing is submitted twice.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from assay import Result, evaluate
from assay.errors import Detached
from assay.judges import OpenAIBatchJudge

TRACES = Path(__file__).parent / "data" / "traces.jsonl"
METRICS = ["faithfulness", "context_utilization"]


def one_call(judge: OpenAIBatchJudge, store: str) -> Result | None:
    """What cron calls: the result of the night when it is there."""
    try:
        return evaluate(
            TRACES,
            METRICS,
            judge,
            column_map={"id": "trace_id"},
            store=store,
            run="nightly",
            replace=True,  # the run of the last call goes on under its name
            detach=True,
        )
    except Detached as waiting:
        print(waiting)
        return None


def main() -> None:
    base_url = sys.argv[1] if len(sys.argv) > 1 else None
    model = sys.argv[2] if len(sys.argv) > 2 else "gpt-5-mini"
    # of a server of your own nobody knows what it takes off for batches: say so, where it does
    judge = OpenAIBatchJudge(model, base_url=base_url, discount=0.5)
    pause = 600.0 if base_url is None else 0.5
    with TemporaryDirectory() as store:  # a folder that stays, for a real night
        while (result := one_call(judge, store)) is None:
            time.sleep(pause)
        print(result)
        result.store.close()


if __name__ == "__main__":
    main()
