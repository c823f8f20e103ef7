"""How do I score traces that live in Spark?

    pip install pyspark "assay-rag[embedded,parquet]"        # Spark 4 needs Java 17 or newer
    python traces_on_spark.py                                 # the traces of data/, this machine
    python traces_on_spark.py s3a://BUCKET/traces s3a://BUCKET/scores

`mapInArrow` gives each executor batches of rows, and returns one row for each score, with the cause where there is no
value. Spark repeats a failed task as a whole. Use `assay score --jobs` or assay-ray for shards that outlive a job,
quarantine and one budget for all workers.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import avg, count

TRACES = Path(__file__).parent / "data" / "traces.jsonl"
METRICS = ["faithfulness", "context_utilization"]
SCORES = pa.schema([("id", pa.string()), ("metric", pa.string()), ("value", pa.float64()), ("cause", pa.string())])


def score_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs on the executors, once for each task, with one judge on the core of the task."""
    from assay import evaluate
    from assay.judges.resolve import resolve_judge

    judge = resolve_judge("embedded", threads=1)
    for batch in batches:
        rows = batch.to_pylist()
        result = evaluate(rows, METRICS, judge, column_map={"id": "trace_id"}, store=None, progress=False)
        scores = [(row.scored.sample.id, *each) for row in result.numbered_rows() for each in row.scored.scores.items()]
        found = [
            {"id": id_, "metric": name, "value": score.value, "cause": score.error and score.error.cause.value}
            for id_, name, score in scores
        ]
        yield pa.RecordBatch.from_pylist(found, schema=SCORES)


spark = (
    SparkSession.builder.appName("assay").config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000").getOrCreate()
)
with TemporaryDirectory() as folder:
    traces = spark.read.parquet(sys.argv[1]) if len(sys.argv) > 1 else spark.read.json(str(TRACES))
    out = sys.argv[2] if len(sys.argv) > 2 else f"{folder}/scores"
    columns = "id string, metric string, value double, cause string"
    traces.mapInArrow(score_batches, columns).write.mode("overwrite").parquet(out)
    scores = spark.read.parquet(out)
    means = scores.groupBy("metric").agg(avg("value"), count("value"), count("id")).orderBy("metric")
    for metric, mean, measured, total in means.collect():
        print(f"{metric}: {mean:.3f}, {measured}/{total} scored")
    for cause, rows in scores.where("cause is not null").groupBy("cause").agg(count("id")).collect():
        print(f"not scored: {cause}, {rows}")
spark.stop()
