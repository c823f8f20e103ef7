"""What can go wrong when the models are loaded."""

from __future__ import annotations


class FileCorrupt(RuntimeError):
    """A file of this package is missing or is not the one that was measured; `name` says which."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"embedded judge: {name}: {message}; reinstall the package")
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[FileCorrupt], tuple[str, str]]:
        return type(self), (self.name, self.message)
