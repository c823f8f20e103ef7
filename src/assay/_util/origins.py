"""Which files a value may name, by where it comes from.

| origin | files that it may name |
|---|---|
| command line, arguments in Python, a trusted configuration | any |
| a configuration that was found and is not trusted | those below the root of its repository |
| rows of data, and texts in them | pictures below the folder of the data, and below those of ASSAY_ALLOW_PICTURES |

Such a configuration names stores, judge instructions, and data. Data may lie elsewhere where its judge runs in this
process: then nothing is sent. Links and `..` are followed first. `assay.config.keys` has the rules for keys and
addresses.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath

from assay.errors import InputError

#: Environment variable with folders whose pictures data may name, separated as in PATH.
ALLOW_PICTURES = "ASSAY_ALLOW_PICTURES"


def is_below(path: str | Path, folders: Iterable[str | Path]) -> bool:
    """Whether a file lies in one of these folders or below, after links and `..`. No file is opened."""
    if PureWindowsPath(path).drive.startswith("\\\\"):  # looking at it would already reach another machine
        return False
    try:
        real = os.path.realpath(path)
        return any(os.path.commonpath([real, root]) == root for root in map(os.path.realpath, folders))
    except (OSError, ValueError):  # a NUL, a loop of links, another drive
        return False


def check_picture(path: str | Path, named: str, folder: Path) -> None:
    """Check that data may name a picture.

    Args:
        path: The file that would be read.
        named: How the data name it, for the message.
        folder: The folder of the data.

    Raises:
        InputError: It lies elsewhere.
    """
    allowed = filter(None, os.environ.get(ALLOW_PICTURES, "").split(os.pathsep))
    if not is_below(path, [folder, *allowed]):
        raise InputError(
            f"the picture {named[:200]!r} lies outside of the folder of the data, which may not name it; if you trust "
            f"the data, set {ALLOW_PICTURES}=FOLDER in the environment"
        )
