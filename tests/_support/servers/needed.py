"""What tests may need besides Python packages of the project: each is installed in an environment of its own.

    python -m tests._support.servers.needed --without "phoenix mlflow"

installs all but those, says on stderr what is not tested and why, and prints the expression for `pytest -m` that
chooses the tests that can run. Exit code 1 where one cannot be had that was not named. `.ci/run` asks so. A new one (a
database server) is a line in `INSTALL`, and a mark on its tests: `@pytest.mark.needs(name="browser")`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from tests._support import versions
from tests._support.servers import app_servers, browser, postgres_server, ray_cluster, spark, stores
from tests.frameworks import running

#: How each is made ready; raises where it cannot be had.
INSTALL: Mapping[str, Callable[[], object]] = {
    "phoenix": partial(stores.environment, stores.PHOENIX.requirement),
    "mlflow": partial(stores.environment, stores.MLFLOW.requirement),
    "frameworks": running.make_ready,
    "browser": browser.make_ready,
    "ray": ray_cluster.python,
    "spark": spark.python,
    "postgresql": postgres_server.make_ready,
    "app-servers": app_servers.python,
    "agents": partial(versions.environment, versions.AGENTS),
}


def missing(without: Iterable[str]) -> dict[str, str]:
    """Make all ready but those `without`; the reason for each that is not there."""
    reasons = {}
    for name, make in INSTALL.items():
        if name in without:
            reasons[name] = "ASSAY_CI_WITHOUT names it"
            continue
        try:
            make()
        except Exception as error:
            reasons[name] = f"it cannot be had: {error}"
    return reasons


def expression(absent: Iterable[str]) -> str:
    """What `pytest -m` chooses: tests that need something, and nothing of what is absent."""
    return " and ".join(["needs", *(f"not needs(name='{name}')" for name in absent)])


def main() -> int:
    options = argparse.ArgumentParser(description="Install what tests need, and say which can run.")
    options.add_argument("--without", default="", metavar="'NAME ...'", help=f"of {', '.join(INSTALL)}")
    without = options.parse_args().without.split()
    if strange := set(without) - INSTALL.keys():
        options.error(f"without {', '.join(sorted(strange))}: the names are {', '.join(INSTALL)}")
    absent = missing(without)
    for name, reason in absent.items():
        print(f"not tested: what needs {name}, since {reason}", file=sys.stderr)
    print(expression(absent))
    return int(not absent.keys() <= set(without))


if __name__ == "__main__":
    sys.exit(main())
