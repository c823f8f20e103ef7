"""The application whose answers are scored: its name and version, which every sample of a live run carries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from urllib.parse import unquote

from assay.errors import InputError
from assay.live.marks import with_marks
from assay.records import Record, Sample
from assay.store.live_runs import live_run_name

APPLICATION, VERSION, COMMIT, PROMPT = "ASSAY_APPLICATION", "ASSAY_VERSION", "ASSAY_COMMIT", "ASSAY_PROMPT_VERSION"
RESOURCE, SERVICE = "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME"

#: Field -> the attribute of an OpenTelemetry resource that says the same.
_ATTRIBUTES = {"name": "service.name", "version": "service.version", "commit": "vcs.ref.head.revision"}
_VARIABLES = {"name": APPLICATION, "version": VERSION, "commit": COMMIT, "prompt_version": PROMPT}
_KEYS = {"name": "application", "version": "version", "commit": "commit", "prompt_version": "prompt_version"}
_UNNAMED = "unknown_service"  # what OpenTelemetry calls a service that nobody named


@dataclass(frozen=True, slots=True)
class Application(Record):
    """An application with its version. Samples carry what is known in their metadata, as slices of the live run.

    What is not given is read once, from the environment: ASSAY_APPLICATION, ASSAY_VERSION, ASSAY_COMMIT and
    ASSAY_PROMPT_VERSION, else OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES (`service.name`, `service.version`,
    `vcs.ref.head.revision`), else the installed package.

    Attributes:
        name: Name of the application; its live run is `live/NAME`. None: the live run is `live`.
        version: Version of the application.
        commit: Commit that it was built from.
        prompt_version: Version of its prompts.
        package: Installed distribution whose version is that of the application, where no other is known.

    Raises:
        InputError: A field is blank or no text, or there is no such package.
    """

    name: str | None = None
    version: str | None = None
    commit: str | None = None
    prompt_version: str | None = None
    package: str | None = None

    def __post_init__(self) -> None:
        for field in (*_KEYS, "package"):
            value = getattr(self, field)
            if value is not None and not (isinstance(value, str) and value.strip()):
                raise InputError(f"Application: {field}: expected a text or None, got {value!r}")
        live_run_name(self.name)  # raises for a name that no run can have
        if self.package is not None and self.version is None:
            _version_of_package(self.package)

    def resolve(self) -> Application:
        """Fill in what is not given.

        Returns:
            The application, with what the environment and the package say.
        """
        found = {field: getattr(self, field) or value for field, value in from_environment().items()}
        if self.package is not None and found["version"] is None:
            found["version"] = _version_of_package(self.package)
        return replace(self, **found)

    @property
    def metadata(self) -> dict[str, str]:
        """What is known, by the keys of a sample's metadata."""
        return {key: value for field, key in _KEYS.items() if (value := getattr(self, field)) is not None}

    def mark(self, sample: Sample) -> Sample:
        """Add name and version to a sample's metadata, where it has none.

        Args:
            sample: The sample.

        Returns:
            The sample with them.
        """
        missing = {key: value for key, value in self.metadata.items() if sample.metadata.get(key) is None}
        return with_marks(sample, missing) if missing else sample


def resolve_application(given: Application | str | None) -> Application:
    """The application that is meant.

    Args:
        given: An application, its name, or None for that of the environment.

    Returns:
        The application, with what the environment says of it.

    Raises:
        InputError: It is neither, or its name cannot be that of a run.
    """
    if isinstance(given, Application):
        return given.resolve()
    if given is not None and not isinstance(given, str):
        raise InputError(f"application: expected a name or an Application, got {given!r}")
    return Application(given).resolve()


def from_environment(environment: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """Read name, version, commit and prompt version of the application from environment variables.

    Args:
        environment: The variables. None: those of the process.

    Returns:
        Each field of `Application` with its value; None where nothing says it.

    Raises:
        InputError: ASSAY_APPLICATION cannot be the name of a run.
    """
    said = os.environ if environment is None else environment
    resource = _attributes(said.get(RESOURCE, ""))
    service = said.get(SERVICE, "").strip() or resource.get("service.name", "")
    resource["service.name"] = "" if service.startswith(_UNNAMED) else service
    found = {
        field: said.get(variable, "").strip() or resource.get(_ATTRIBUTES.get(field, ""), "").strip() or None
        for field, variable in _VARIABLES.items()
    }
    try:
        live_run_name(found["name"])
    except InputError as error:
        if said.get(APPLICATION, "").strip():
            raise InputError(f"{APPLICATION} in the environment: {error}") from None
        found["name"] = None  # the name of a service that is not ours to refuse
    return found


def _attributes(text: str) -> dict[str, str]:
    """The attributes of an OpenTelemetry resource, `key=value,...`, percent-encoded; what is none is left out."""
    pairs = (item.partition("=") for item in text.split(","))
    return {key.strip(): unquote(value.strip()) for key, sign, value in pairs if sign}


def _version_of_package(package: str) -> str:
    try:
        return version_of(package)
    except (PackageNotFoundError, ValueError):
        raise InputError(f"Application: package: {package!r} is not installed") from None
