"""The name and version of the application: given, or read from the environment, never guessed."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.live.application import Application, from_environment, resolve_application
from assay.records import Sample
from assay.store.live_runs import application_of, live_run_name

VARIABLES = (
    "ASSAY_APPLICATION", "ASSAY_VERSION", "ASSAY_COMMIT", "ASSAY_PROMPT_VERSION", "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SERVICE_NAME",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_nothing_is_known_where_nothing_says_it() -> None:
    assert resolve_application(None).metadata == {}
    assert resolve_application("shop").metadata == {"application": "shop"}


def test_the_environment_says_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_APPLICATION", "shop")
    monkeypatch.setenv("ASSAY_VERSION", " 1.4 ")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,service.version=9,vcs.ref.head.revision=ab%2Cc")
    found = resolve_application(None).metadata
    assert found == {"application": "shop", "version": "1.4", "commit": "ab,c"}
    given = resolve_application(Application("search", version="2", prompt_version="p7"))
    assert given.metadata == {"application": "search", "version": "2", "commit": "ab,c", "prompt_version": "p7"}


@pytest.mark.parametrize(
    ("attributes", "service", "name"),
    [
        ("service.name=shop", "", "shop"),
        ("service.name=shop", "search", "search"),  # OpenTelemetry gives it precedence
        ("service.name=unknown_service:python", "", None),
        ("", "unknown_service", None),
        ("deployment.environment=prod", "", None),
        ("service.name=" + "x" * 300, "", None),  # no run can be called so
        ("nonsense,,=,service.name", "", None),
    ],
)
def test_opentelemetry_names_the_service(attributes: str, service: str, name: str | None) -> None:
    found = from_environment({"OTEL_RESOURCE_ATTRIBUTES": attributes, "OTEL_SERVICE_NAME": service})
    assert found["name"] == name


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_environment_can_be_read(attributes: str, service: str) -> None:
    found = from_environment({"OTEL_RESOURCE_ATTRIBUTES": attributes, "OTEL_SERVICE_NAME": service})
    live_run_name(found["name"])


def test_an_installed_package_has_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Application("shop", package="numpy").resolve().version == version("numpy")
    monkeypatch.setenv("ASSAY_VERSION", "1.4")
    assert Application("shop", package="numpy").resolve().version == "1.4"
    with pytest.raises(InputError, match="package: 'no-such-package-at-all' is not installed"):
        Application("shop", package="no-such-package-at-all")


@pytest.mark.parametrize("field", ["name", "version", "commit", "prompt_version", "package"])
def test_blank_fields_are_refused(field: str) -> None:
    with pytest.raises(InputError, match=f"Application: {field}: expected a text or None"):
        Application(**{field: " "})


def test_a_wrong_name_in_the_environment_is_an_error() -> None:
    with pytest.raises(InputError, match="ASSAY_APPLICATION in the environment: application: expected a name"):
        from_environment({"ASSAY_APPLICATION": "x" * 300})
    with pytest.raises(InputError, match="application: expected a name or an Application"):
        resolve_application(3)  # type: ignore[arg-type]


def test_a_sample_keeps_what_it_says_itself_and_its_key() -> None:
    application = Application("shop", version="1.4")
    sample = Sample(question="q", metadata={"version": "9", "user": "ann"})
    marked = application.mark(sample)
    assert marked.metadata == {"version": "9", "user": "ann", "application": "shop"}
    assert (marked.key(), marked.question) == (sample.key(), "q")
    assert sample.metadata == {"version": "9", "user": "ann"}
    assert Application().mark(sample) is sample


@pytest.mark.parametrize("control", ["\n", "\t", "\x07", "\x1b[31m", "\0", "\x85", "\u2028", "\u2029"])
def test_a_name_with_line_breaks_or_control_characters_is_refused(control: str) -> None:
    name = f"shop{control}second"
    with pytest.raises(InputError, match="application: expected a name of 1 to 200 characters without line breaks"):
        Application(name)
    with pytest.raises(InputError, match="application: "):
        live_run_name(name)
    assert application_of({"application": name}) is None  # of a row: it goes to the run of the sink
    found = from_environment({"OTEL_SERVICE_NAME": f"x{name}"})
    assert found["name"] is None


@pytest.mark.parametrize("name", ["Käse & Wein", "店", "a\u00a0b", "\U0001f468\u200d\U0001f469"])
def test_a_name_in_any_script_is_one(name: str) -> None:
    assert live_run_name(name) == f"live/{name}"
