"""Ray as an engine of `assay.evaluation.sharded`: how it is reached, how many workers it has room for, what it
reads."""

from __future__ import annotations

import logging
import math
import os
from itertools import islice
from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from assay import Budget, InputError
from assay.extension import FileLedger, ShardedData, ShardedFiles, SharedAllowance, authority_of
from assay_ray.actors import ActorAuthority, JobActor
from assay_ray.datasets import DatasetRows, is_read_by_ray
from assay_ray.workers import ActorPool


class Ray:
    """So many workers of a Ray cluster (None: as many as it has cores for), with `cpus` cores each.

    Ray is started on this machine unless `ray.init` was called or RAY_ADDRESS names a cluster. Raises InputError for
    arguments that cannot be meant.
    """

    argument = "workers"

    def __init__(self, workers: int | None = None, cpus: float = 1.0) -> None:
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise InputError(f"workers: expected at least 1, got {workers!r}")
        if not 0 < cpus < math.inf or (cpus > 1 and cpus != int(cpus)):
            raise InputError(f"cpus: expected a part of one core, or a whole number of them, got {cpus!r}")
        self._workers, self._cpus = workers, cpus
        self._desk: Any = None

    def cut(self, data: object, **how: Any) -> ShardedData:
        """See `Engine.cut`: files, addresses of files in object stores, and Datasets of Ray."""
        _connect()
        return DatasetRows.of(data, **how) if is_read_by_ray(data) else ShardedFiles.of(data, **how)

    def workers(self, data: ShardedData) -> ActorPool:
        """See `Engine.workers`. Where Ray reads the data, a core is left to its readers."""
        cores = float(ray.cluster_resources().get("CPU", 0.0))
        each = self._cpus
        if isinstance(data, DatasetRows):
            room = max(0.0, cores - 1)
            workers = self._workers or max(1, int(room / each))
            each = part_of(room / workers, each)
        else:
            workers = sum(1 for _ in islice(data.plan(), self._workers or max(1, int(cores / each))))
        self._desk = _start_actor()
        return ActorPool(workers, each, max(1, int(self._cpus)), self._desk)

    def shared(self, budget: Budget, spending: Path) -> Budget:
        """See `Engine.shared`: the desk gives pieces to the workers."""
        authority_of(budget, spending)  # here, where an error can be told
        path = budget.ledger.path if isinstance(budget.ledger, FileLedger) else spending
        return budget.on(SharedAllowance(ActorAuthority(self._desk, path.resolve())))


def part_of(room: float, wanted: float) -> float:
    """The cores of a worker for which there may be less than it wants. Ray takes parts of one, or whole ones."""
    if wanted <= room:
        return wanted
    return float(math.floor(room)) if room > 1 else math.floor(100 * room) / 100


def open_engine(workers: int | None) -> Ray:
    """The entry point in `assay.engines`."""
    return Ray(workers)


def _connect() -> None:
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves the machine because of us
    ray.init(log_to_driver=False, logging_level=logging.WARNING)
    logging.getLogger("ray.data").setLevel(logging.WARNING)


def _start_actor() -> Any:
    """An actor on this machine, which sees its files. Ray starts it again should it die."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": here}
    return ray.remote(JobActor).options(**options).remote()
