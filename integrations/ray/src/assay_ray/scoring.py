"""The front door."""

from __future__ import annotations

from typing import Unpack

from assay import Result
from assay.extension import JudgeMaker, MetricSpec, ShardedOptions, evaluate_in_shards
from assay_ray.engine import Ray


def score(
    data: object,
    metrics: MetricSpec | None = None,
    judge: JudgeMaker = None,
    *,
    workers: int | None = None,
    cpus: float = 1.0,
    **how: Unpack[ShardedOptions],
) -> Result:
    """Score rows by workers of a Ray cluster; the result is a run of the store like others.

    The rest is that of `assay.evaluation.sharded.job.evaluate_in_shards`. Ray is started on this machine unless
    `ray.init` was called or RAY_ADDRESS names a cluster. Judgements are kept by workers that see the store's folder;
    on other machines they are not kept. A budget is kept by one actor on the machine of the driver, which gives
    pieces of it to workers.
    Raises InputError, JudgeFailure and StoreError as `assay.evaluate` does, and EvaluationInterrupted at Ctrl-C.

    Args:
        data: A `ray.data.Dataset`, which is read by Ray's own readers on the whole cluster; addresses of Parquet files
            or JSON lines in an object store (`s3://BUCKET/traces/*.parquet`), read so too; or paths of files that all
            machines see, a pattern, or a list of them.
        workers: How many; None: as many as the cluster has cores for now. Each makes the judge once.
        cpus: Cores of each worker: of the embedded judge, the threads on which it reads. Less than 1 for judges that
            wait for an endpoint.
        out: Folder of the job that all machines share, or an address in an object store. A rerun goes on there, on this
            cluster, on another one, or with `assay score --jobs`. None: one in the store's folder.
    """
    return evaluate_in_shards(data, metrics, judge, engine=Ray(workers, cpus), **how)
