"""Words of `words.toml` on pages and in public names. `python -m tests.docs.words` removes what has become clean."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tests._support.projects import ROOT, projects

LIST = Path(__file__).with_name("words.toml")
PENDING = "[pending.words]"

#: What is code on a page: fenced blocks, comments, inline code, targets of links.
CODE = re.compile(r"^```.*?^```|<!--.*?-->|`[^`\n]+`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Word:
    """One entry of the list."""

    name: str
    pattern: re.Pattern[str]
    use: str
    code: bool = False

    def lines(self, text: str) -> list[int]:
        """The numbers of the lines on which it stands."""
        read = text if self.code else CODE.sub(_blank, text)
        return sorted({read.count("\n", 0, match.start()) + 1 for match in self.pattern.finditer(read)})


@dataclass(frozen=True)
class Pending:
    """What does not pass yet: words by page, and names."""

    words: Mapping[str, list[str]]
    names: list[str]

    def text(self) -> str:
        """The end of the list."""
        lines = [f'"{page}" = {_array(words)}' for page, words in sorted(self.words.items()) if words]
        names = [f'    "{name}",' for name in sorted(self.names)]
        return "\n".join([PENDING, *lines, "", "[pending.names]", "names = [", *names, "]"]) + "\n"


def read_list() -> tuple[list[Word], dict[str, Any], Pending]:
    """The words, the rule of names, and what is pending."""
    content = tomllib.loads(LIST.read_text(encoding="utf-8"))
    words = [Word(**{**each, "pattern": re.compile(each["pattern"], re.IGNORECASE)}) for each in content["word"]]
    pending = content["pending"]
    return words, content["names"], Pending(pending["words"], pending["names"]["names"])


def pages() -> list[Path]:
    """All pages for people."""
    patterns = ("*.md", "docs/**/*.md", "integrations/*/*.md", ".github/**/*.md")
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def words_on(page: Path, words: list[Word]) -> dict[str, list[int]]:
    """Words of the list on a page, with the lines on which they stand."""
    text = page.read_text(encoding="utf-8")
    return {word.name: lines for word in words if (lines := word.lines(text))}


def public_names() -> Iterator[str]:
    """Public modules, and what the packages export."""
    for project in projects():
        folder = project.folder / "src"
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if not any(part.startswith("_") for part in parts):
                yield ".".join(parts)
        if project.name != "assay-ray":  # not installed: half a gigabyte comes with it
            package: ModuleType = importlib.import_module(project.module)
            yield from (f"{project.module}:{name}" for name in getattr(package, "__all__", ()))


def is_participle(name: str, rule: Mapping[str, list[str]]) -> bool:
    """Whether a name ends in a participle."""
    *_, last = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", re.split(r"[.:]", name)[-1])
    word = last.lower()
    return word not in rule["adjectives"] and (word in rule["participles"] or bool(re.search(r"[^e]ed$", word)))


def current() -> Pending:
    """What the list finds today."""
    words, rule, _ = read_list()
    by_page = {page.relative_to(ROOT).as_posix(): sorted(words_on(page, words)) for page in pages()}
    return Pending(by_page, [name for name in public_names() if is_participle(name, rule)])


def clean_entries(pending: Pending, found: Pending) -> list[str]:
    """Pending entries that pass today."""
    pairs = [(page, word) for page, words in pending.words.items() for word in words]
    clean = [f"{page}: {word}" for page, word in pairs if word not in found.words.get(page, ())]
    return clean + sorted(set(pending.names) - set(found.names))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _array(words: list[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in sorted(words)) + "]"


def main() -> None:
    """Remove what has become clean from the list; nothing is added."""
    pending, found = read_list()[2], current()
    words = {page: sorted(set(words) & set(found.words.get(page, ()))) for page, words in pending.words.items()}
    rest = Pending(words, sorted(set(pending.names) & set(found.names)))
    head = LIST.read_text(encoding="utf-8").partition(PENDING)[0]
    LIST.write_text(head + rest.text(), encoding="utf-8")
    print(*clean_entries(pending, found), sep="\n")


if __name__ == "__main__":
    main()
