"""What tests may need besides Python packages of the project: each is installed in an environment of its own.

    python -m tests.servers.needed              the names
    python -m tests.servers.needed phoenix      install it; where that fails, exit code 1 with the reason

`.ci/run` asks for each, and says what was not tested. A new one (a browser, a database server) is a line in `INSTALL`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial

from tests.servers import stores

#: How each is made ready; raises where it cannot be had.
INSTALL: Mapping[str, Callable[[], object]] = {
    "phoenix": partial(stores.environment, stores.PHOENIX.requirement),
    "mlflow": partial(stores.environment, stores.MLFLOW.requirement),
}


def main(names: list[str]) -> int:
    if not names:
        print(*INSTALL, sep="\n")
    for name in names:
        try:
            INSTALL[name]()
        except Exception as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
