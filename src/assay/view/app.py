"""The application: routes, static files, and what a page says when something is wrong."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING, Any

from assay._util.install_hints import install_extra
from assay._util.version import __version__
from assay.errors import AssayError, InputError, MissingExtra, StoreError
from assay.report.html.page import source, template_environment
from assay.view import downloads
from assay.view.compare_page import compare_page
from assay.view.failures_page import failures_page, trend_page
from assay.view.open_store import OpenStore
from assay.view.page import Page, link
from assay.view.row_page import row_page
from assay.view.row_query import Parameters, field_value, read_value
from assay.view.rows_page import rows_page
from assay.view.runs_page import runs_page
from assay.view.security import POLICY, AccessRules, Guard

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

log = logging.getLogger("assay.view")

EXTRA = "view"
PAGES: dict[str, Callable[[OpenStore, Parameters], Page]] = {
    "/": runs_page,
    "/rows": rows_page,
    "/row": row_page,
    "/compare": compare_page,
    "/failures": failures_page,
    "/trend": trend_page,
}
#: Path -> what makes the download, its media type, and the end of its name.
DOWNLOADS: dict[str, tuple[Callable[[OpenStore, Parameters], str | Iterator[str]], str, str]] = {
    "/rows.csv": (downloads.rows_csv, "text/csv; charset=utf-8", ".csv"),
    "/cases.jsonl": (downloads.cases_jsonl, "application/x-ndjson", ".jsonl"),
    "/row.json": (downloads.row_json, "application/json", ".json"),
    "/report.html": (downloads.report_html, "text/html; charset=utf-8", ".html"),
}


def make_app(store: OpenStore, rules: AccessRules) -> Starlette:
    """The application over a store.

    Args:
        store: The store.
        rules: Who may read the pages.

    Returns:
        The application.

    Raises:
        MissingExtra: Starlette or Jinja2 is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Route
    except ImportError as error:
        raise MissingExtra(f"assay view needs Starlette: {install_extra(EXTRA)}") from error
    templates = _environment()
    routes = [Route(path, _page(store, templates, make)) for path, make in PAGES.items()]
    routes += [Route(path, _download(store, templates, *parts)) for path, parts in DOWNLOADS.items()]
    routes += [Route(path, _static(text, kind)) for path, (text, kind) in static_files().items()]
    handlers: Any = {404: lambda _, error: _error_page(templates, 404, "There is no such page.")}
    return Starlette(routes=routes, middleware=[Middleware(Guard, rules=rules)], exception_handlers=handlers)


def _environment() -> Environment:
    from jinja2 import PackageLoader
    from markupsafe import Markup

    from assay._util.terminal import pluralize

    found = template_environment(PackageLoader("assay.view", "templates"))
    style, script = static_files()
    found.filters["field"] = field_value
    found.globals |= {
        "version": __version__, "stylesheet": style, "script": script, "policy": POLICY, "link": link,
        "counted": pluralize, "own": Markup,  # for drawings of our own: numbers, and labels that are escaped
    }  # fmt: skip
    return found


@cache
def static_files() -> dict[str, tuple[str, str]]:
    """Path -> text and media type of the style and the script. Paths change with what is in them."""
    own = resources.files("assay.view").joinpath("static")
    style = source("report.css") + source("trend.css") + own.joinpath("view.css").read_text(encoding="utf-8")
    script = own.joinpath("keys.js").read_text(encoding="utf-8")
    found = {}
    for name, text, kind in (("style-{}.css", style, "text/css"), ("keys-{}.js", script, "text/javascript")):
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        found["/static/" + name.format(digest)] = text, f"{kind}; charset=utf-8"
    return found


def _static(text: str, kind: str) -> Callable[[Request], Response]:
    def answer(_: Request) -> Response:
        from starlette.responses import Response

        return Response(text, media_type=kind, headers={"Cache-Control": "private, max-age=31536000, immutable"})

    return answer


def _page(
    store: OpenStore, templates: Environment, make: Callable[[OpenStore, Parameters], Page]
) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        def page() -> Response:
            found = make(store, _parameters(request))
            return _html(templates, found.template, {"store": store.store.name, **found.values}, 200)

        return _or_error(templates, page)

    return answer


def _download(
    store: OpenStore, templates: Environment, make: Callable[[OpenStore, Parameters], str | Iterator[str]], kind: str,
    ending: str,
) -> Callable[[Request], Response]:  # fmt: skip
    def answer(request: Request) -> Response:
        def download() -> Response:
            from starlette.responses import StreamingResponse

            given = _parameters(request)
            made = make(store, given)
            pieces = iter((made,)) if isinstance(made, str) else made
            first = next(pieces, "")  # what is wrong with the request shows here
            name = f"{(given.get('run') or ['run'])[0][:100]}{ending}"
            headers = {"Content-Disposition": downloads.disposition(name.replace("/", "-"))}
            content = (piece.encode("utf-8", "replace") for piece in chain((first,), pieces))
            return StreamingResponse(content, media_type=kind, headers=headers)

        return _or_error(templates, download)

    return answer


def _parameters(request: Request) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(read_value(value))
    return found


def _or_error(templates: Environment, make: Callable[[], Response]) -> Response:
    """The answer, or a page that says what is wrong."""
    try:
        return make()
    except InputError as error:
        return _error_page(templates, 400, str(error))
    except MissingExtra as error:
        return _error_page(templates, 501, str(error))
    except StoreError as error:
        return _error_page(templates, 503, str(error), damaged=True)
    except AssayError as error:
        return _error_page(templates, 500, str(error))
    except Exception:
        log.exception("assay view: a page could not be made")
        return _error_page(templates, 500, "A fault in assay: the page could not be made. The terminal shows where.")


def _error_page(templates: Environment, status: int, message: str, damaged: bool = False) -> Response:
    return _html(templates, "error.html", {"title": "Not shown", "message": message, "damaged": damaged}, status)


def _html(templates: Environment, name: str, values: dict[str, Any], status: int) -> Response:
    from starlette.responses import Response

    text = templates.get_template(name).render(values).encode("utf-8", "replace")
    return Response(text, status, media_type="text/html; charset=utf-8")
