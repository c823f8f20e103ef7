"""Public names of an installed distribution, read from its files: nothing of it is imported."""

from __future__ import annotations

import ast
from importlib.metadata import files


def functions(distribution: str, owner: str = "") -> list[str]:
    """The public functions of a distribution's modules, or the methods of its class `owner`; no async ones."""
    found: set[str] = set()
    for file in files(distribution) or ():
        if file.suffix == ".py":
            module = ast.parse(file.read_text(encoding="utf-8"))
            classes = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name == owner]
            for holder in classes if owner else [module]:
                found.update(node.name for node in holder.body if isinstance(node, ast.FunctionDef))
    return sorted(name for name in found if not name.startswith("_") and "async" not in name)
