"""What a configuration may send where, and which files it may name.

Anyone who can change a file in the working directory could otherwise send any variable of the environment, and any file
of this machine, to an address of their choice. A configuration that the user named is trusted, and one that
`assay judge trust` recorded, until it changes. One that was only found

- sends a key to an address if the variable belongs to that host, or if ASSAY_ALLOW_KEYS allows the pair,
- keeps a store in a database if that is the user's own server, or if ASSAY_ALLOW_KEYS allows PGPASSWORD there,
- keeps a store in a folder or file below the root of its repository: elsewhere it would mix with the runs of others,
- sends alerts to an address if ASSAY_ALLOW_KEYS allows the secret of the alert there,
- names judge instructions, canary rows, and data for a judge at an address, below the root of its repository.

`assay._util.origins` says what data may name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import SplitResult, parse_qs, urlsplit

from assay._util.origins import is_below
from assay.config.reading import Config
from assay.data.named_sources import is_source_name
from assay.data.paths import paths_of
from assay.errors import InputError
from assay.live.alerts.rules import ADDRESSED, AlertRule
from assay.store.tables import is_database, url_of

#: Environment variable with pairs of a variable and a host: "MY_KEY@llm.example.com, OTHER_KEY@localhost:8000".
ALLOW = "ASSAY_ALLOW_KEYS"

#: The variables that belong to the hosts of known providers. They go there over TLS and to the usual port only.
PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "api.openai.com": ("OPENAI_API_KEY",),
    "api.anthropic.com": ("ANTHROPIC_API_KEY",),
    "api.cerebras.ai": ("CEREBRAS_API_KEY",),
    "api.deepseek.com": ("DEEPSEEK_API_KEY",),
    "api.fireworks.ai": ("FIREWORKS_API_KEY",),
    "api.groq.com": ("GROQ_API_KEY",),
    "api.mistral.ai": ("MISTRAL_API_KEY",),
    "api.perplexity.ai": ("PERPLEXITY_API_KEY",),
    "api.together.xyz": ("TOGETHER_API_KEY",),
    "api.x.ai": ("XAI_API_KEY",),
    "generativelanguage.googleapis.com": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter.ai": ("OPENROUTER_API_KEY",),
    "cloud.langfuse.com": ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"),
    "us.cloud.langfuse.com": ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"),
}

_PORTS = {"https": 443, "http": 80, "postgresql": 5432}
_SECRET_WORDS = ("KEY", "TOKEN", "PASSWORD", "SECRET", "HEADERS")

COMMAND_LINE = "run `assay judge trust`, name the file with --config, or give {options} on the command line"
WITHOUT_OPTIONS = "run `assay judge trust`, or name the file with --config"
#: Judges that run in this process: nothing leaves the machine.
_HERE = ("embedded", "local:")


@dataclass(frozen=True, slots=True)
class _Place:
    """Scheme, host and port of an address."""

    scheme: str
    host: str
    port: int | None

    @classmethod
    def of(cls, address: str) -> Self:
        try:
            parts = urlsplit(address)
            found = cls(parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme))
        except ValueError:
            raise InputError(f"expected an address with a host, got {address!r}") from None
        if not found.host.isascii():  # clients do not agree on the host that it stands for
            raise InputError(f"expected a host in ASCII, as in xn--bcher-kva.example, got {found.host!r}")
        return found

    @property
    def entry(self) -> str:
        """The place as an entry of ASSAY_ALLOW_KEYS names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.entry}"


def check_judge_key(
    config: Config, judge: str, base_url: str | None, variable: str, key: str, ways: str = COMMAND_LINE
) -> None:
    """Raise InputError if the key in `variable` must not go to the judge's address.

    Args:
        config: The configuration that says the address, the variable, or both.
        judge: The judge as it is named: "openai:MODEL".
        base_url: The judge's address; None for that of its provider.
        variable: The environment variable with the key.
        key: The key of the table [judge] that the message names.
        ways: How else to allow it, for the message.
    """
    if config.trusted or not os.environ.get(variable):  # nothing to send
        return
    provider = "api.anthropic.com" if judge.startswith("anthropic") else "api.openai.com"
    place = _Place.of(base_url or f"https://{provider}")
    if not (_belongs(variable, place) or _allowed(variable, place)):
        said = _refusal(variable, place, ways.format(options="--base-url and --api-key-env"))
        raise config.section.section("judge").error(key, said)


def check_store(config: Config, ways: str = COMMAND_LINE) -> None:
    """Check that rows, scores and PGPASSWORD may go to the store that the configuration names.

    The user's own server is the one that PGHOST and PGPORT name, else localhost, port 5432. The check passes for a
    trusted configuration.

    Args:
        config: The configuration that names the store.
        ways: Other ways to allow the store, for the error message. `{options}` stands for "--store".

    Raises:
        InputError: The store is on another server that ASSAY_ALLOW_KEYS does not allow, or lies outside of the
            repository of the configuration, or an entry of ASSAY_ALLOW_KEYS is malformed.
    """
    store = str(config.store or "")
    if config.trusted or not store:
        return
    if not is_database(store):
        if not is_below(config.here / store, [config.root]):
            raise config.section.error("store", _outside(store, ways.format(options="--store")))
        return
    parts, place = _database(config)
    socket = parse_qs(parts.query).get("host", [None])[-1]
    own = (os.environ.get("PGHOST") or "localhost", os.environ.get("PGPORT") or "5432")
    if own == (socket or place.host, str(place.port)) or _allowed("PGPASSWORD", place):
        return
    sends_password = bool(os.environ.get("PGPASSWORD")) and not parts.password
    what = "PGPASSWORD is" if sends_password else "rows and scores are"
    raise config.section.error("store", _refusal("PGPASSWORD", place, ways.format(options="--store"), what))


def check_instructions(config: Config, ways: str = COMMAND_LINE) -> None:
    """Check that the configuration may name its file of judge instructions.

    Args:
        config: The configuration.
        ways: Other ways to allow it, for the error message. `{options}` stands for "--instructions".

    Raises:
        InputError: The file lies outside of the repository of the configuration.
    """
    _check_inside(config, "judge", "instructions", config.judge.instructions, ways)


def check_canaries(config: Config, ways: str = COMMAND_LINE) -> None:
    """Check that the configuration may name its file of canary rows: a judge at an address would get their texts.

    Args:
        config: The configuration.
        ways: Other ways to allow it, for the error message. `{options}` stands for "--canaries".

    Raises:
        InputError: The file lies outside of the repository of the configuration.
    """
    _check_inside(config, "live", "canaries", config.live.canaries, ways)


def _check_inside(config: Config, table: str, key: str, file: Path | None, ways: str) -> None:
    """Raise InputError for a file outside of the repository that a found configuration names."""
    if file is not None and not config.trusted and not is_below(config.here / file, [config.root]):
        raise config.section.section(table).error(key, _outside(file, ways.format(options=f"--{key}")))


def check_data_files(config: Config, ways: str = COMMAND_LINE) -> None:
    """Check that the configuration may name its files of data: a judge at an address would get their texts.

    Args:
        config: The configuration.
        ways: Other ways to allow them, for the error message. `{options}` stands for "the file".

    Raises:
        InputError: A file lies outside of the repository of the configuration.
    """
    if config.trusted or (config.judge.name or "embedded").startswith(_HERE):
        return
    for name in filter(_is_file, config.data):
        for path in paths_of(name) or ():  # a pattern may find a link
            if not is_below(path.expanduser(), [config.root]):
                raise config.section.error("data", _outside(path, ways.format(options="the file")))


def check_source_keys(config: Config, ways: str = COMMAND_LINE) -> None:
    """Raise InputError if keys of the environment must not go to a trace store that the configuration reads from.

    The clients of trace stores take their keys from variables that begin with the name of the store, PHOENIX_API_KEY
    for one. Those keys belong to the address that another variable of the store holds, PHOENIX_ENDPOINT for one.
    """
    for source in () if config.trusted else config.data:
        name, _, address = source.partition(":")
        if not is_source_name(source) or "://" not in address:
            continue
        place = _Place.of(address)
        own = _variables_of(name)
        if any("://" in value and _Place.of(value) == place for value in own.values()):
            continue
        for variable in own:
            secret = any(word in variable for word in _SECRET_WORDS)
            if secret and not _belongs(variable, place) and not _allowed(variable, place):
                raise config.section.error("data", _refusal(variable, place, ways.format(options="the source")))


def check_alerts(config: Config, ways: str = WITHOUT_OPTIONS) -> None:
    """Check that alerts may go to the addresses that the configuration names.

    An address that stands in an environment variable is the user's own, as long as nothing signs what goes there.

    Args:
        config: The configuration.
        ways: Other ways to allow it, for the error message.

    Raises:
        InputError: An address is not the user's own, and ASSAY_ALLOW_KEYS does not allow the pair of secret and host.
    """
    for rule in () if config.trusted else config.alerts:
        for target in rule.messages:
            secret = rule.secret_env if target.channel == "webhook" else None
            if target.channel not in ADDRESSED or (target.variable is not None and secret is None):
                continue
            place = _Place.of(target.resolve().url)
            if secret is None:
                said = f"alerts are not sent to {place}: you did not name this file. If you trust it, {ways}"
                raise rule.error("to", said)
            if not _allowed(secret, place):
                raise rule.error("to", _refusal(secret, place, ways, "alerts are"))


def _is_file(source: str) -> bool:
    return source != "-" and not is_source_name(source)


def _variables_of(name: str) -> dict[str, str]:
    begin = name.upper().replace("-", "_") + "_"
    return {variable: value for variable, value in sorted(os.environ.items()) if variable.startswith(begin) and value}


def _belongs(variable: str, place: _Place) -> bool:
    return (place.scheme, place.port) == ("https", 443) and variable in PROVIDERS.get(place.host, ())


def _allowed(variable: str, place: _Place) -> bool:
    return any(name == variable and host == place.host and port in (None, place.port) for name, host, port in _pairs())


def _pairs() -> Sequence[tuple[str, str, int | None]]:
    """The entries of ASSAY_ALLOW_KEYS: variable, host and port. An entry without a port allows every port."""
    found = []
    for entry in filter(None, map(str.strip, os.environ.get(ALLOW, "").split(","))):
        variable, _, place = entry.partition("@")
        try:
            parts = urlsplit(f"//{place}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not variable or not host or not host.isascii() or parts.netloc != place or "@" in place:
            raise InputError(f"{ALLOW}: expected entries like MY_KEY@llm.example.com:8000, got {entry!r}")
        found.append((variable, host.lower(), port))
    return found


def _refusal(variable: str, place: _Place, ways: str, what: str = "") -> str:
    belongs = "that is not your server" if what.startswith("rows") else "the variable does not belong to that host"
    return (
        f"{what or variable + ' is'} not sent to {place}: you did not name this file, and {belongs}. "
        f"If you trust it, set {ALLOW}={variable}@{place.entry}, {ways}"
    )


def _outside(file: str | Path, ways: str) -> str:
    return f"{str(file)!r} lies outside of the repository of this file, which you did not name. If you trust it, {ways}"


# ---- for people who are to decide


def destinations(config: Config) -> list[str]:
    """Describe what a configuration sends where, and which files of others it reads.

    Args:
        config: The configuration.

    Returns:
        A phrase for each, as "send the key in MY_KEY to http://localhost:8000". Empty: it sends nothing.
    """
    judge, found = config.judge, []
    if judge.name is not None and not judge.name.startswith(_HERE):
        provider = "api.anthropic.com" if judge.name.startswith("anthropic") else "api.openai.com"
        place = _Place.of(judge.base_url or f"https://{provider}")
        found.append(f"send the texts of rows to {place}, for the judge {judge.name}")
        if judge.api_key_env is not None:
            found.append(f"send the key in {judge.api_key_env} to {place}")
    if judge.instructions is not None:
        found.append(f"read judge instructions from {judge.instructions}")
    canaries = config.live.canaries
    if canaries is not None and not is_below(config.here / canaries, [config.root]):
        found.append(f"read canary rows from {canaries}, outside of its repository")
    store = str(config.store or "")
    if is_database(store):
        parts, place = _database(config)
        password = "" if parts.password else ", with PGPASSWORD"
        found.append(f"send rows and scores to {place}{password}")
    elif store and not is_below(config.here / store, [config.root]):
        found.append(f"keep rows and scores in {store}, outside of its repository")
    found += [phrase for source in config.data for phrase in _data_destinations(config, source)]
    return [*found, *dict.fromkeys(phrase for rule in config.alerts for phrase in _alert_destinations(rule))]


def _alert_destinations(rule: AlertRule) -> Iterator[str]:
    texts = ", with texts of rows" if rule.include_text else ""
    for target in rule.messages:
        if target.channel in ADDRESSED:
            place = f"the address in {target.variable}" if target.url is None else str(_Place.of(target.url))
            yield f"send alerts to {place}{texts}"
            if rule.secret_env is not None and target.channel == "webhook":
                yield f"sign alerts to {place} with the secret in {rule.secret_env}"


def _database(config: Config) -> tuple[SplitResult, _Place]:
    """The address of a store that is a database, in parts, and its server."""
    try:
        parts = urlsplit(url_of(str(config.store)))
        return parts, _Place("postgresql", (parts.hostname or "localhost").lower(), parts.port or 5432)
    except ValueError as error:
        message = f"expected an address like postgresql://USER@HOST/DATABASE: {error}"
        raise config.section.error("store", message) from None


def _data_destinations(config: Config, source: str) -> list[str]:
    name, _, address = source.partition(":")
    if is_source_name(source) and "://" in address:
        variables = f"{name.upper().replace('-', '_')}_..."
        return [f"read traces from {_Place.of(address)}, with the keys in {variables}"]
    outside = _is_file(source) and not is_below(source, [config.root])
    return [f"read data from {source}, outside of its repository"] if outside else []
