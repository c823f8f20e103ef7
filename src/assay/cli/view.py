"""The command `assay view`: the pages of a store in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.config_defaults import configuration_in_use
from assay.cli.output import say


def view(
    store: Annotated[
        Path, typer.Argument(envvar="ASSAY_STORE", metavar="STORE", help="Store: a folder or postgresql://...")
    ] = Path(".assay"),
    *,
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 8410,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on. Other than loopback: a token is needed.")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="Further name of this server; repeatable.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
) -> None:
    """Show the runs of a store in the browser.

    Rows, comparisons, failures. Serves pages on this machine until Ctrl-C; nothing is changed. Each address holds what
    the page shows.
    """
    from assay.store.windows import UTC_NAME
    from assay.view.security import is_loopback
    from assay.view.server import serve

    config = configuration_in_use()

    def opened(address: str) -> None:
        say(f"assay view: {address}")
        say("Ctrl-C ends it", aside=True)
        if not is_loopback(host):
            say(
                "the connection is not encrypted: use a tunnel (ssh -L) or a proxy with TLS across networks", aside=True
            )
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    timezone = UTC_NAME if config is None else config.timezone
    serve(store, host=host, port=port, names=allow_host or (), timezone=timezone, opened=opened)
