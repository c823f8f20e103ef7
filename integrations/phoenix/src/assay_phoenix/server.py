"""A Phoenix server as assay sees it: the client package, made when first needed, and what its answers mean."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assay.extension import Busy, KeyRefused, NotThere, Refused

if TYPE_CHECKING:
    import httpx
    from phoenix.client import Client

#: Answers that another try may change.
_PASSING = (408, 425, 429)


class Server:
    """One server. The client is made in the process that uses it: connections do not survive a fork.

    Args:
        base_url, api_key: As `phoenix.client.Client` takes them: what is not given it reads from PHOENIX_ENDPOINT and
            PHOENIX_API_KEY, and the address is http://localhost:6006 in the end.
        client: A `phoenix.client.Client` in place of them.
    """

    def __init__(self, base_url: str | None = None, api_key: str | None = None, client: Client | None = None) -> None:
        self._address = base_url
        self._api_key = api_key
        self._given = client
        self._made: tuple[int, Client] | None = None
        self._projects: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The server in words, for errors: its address without user and password, where it was given."""
        host = urlsplit(self._address or "").netloc.rpartition("@")[2]
        return f"Phoenix at {host}" if host else "Phoenix"

    @property
    def client(self) -> Client:
        """The client of this process."""
        if self._given is not None:
            return self._given
        if self._made is None or self._made[0] != os.getpid():
            from phoenix.client import Client  # half a second, and many more where the server is installed as well

            self._made = (os.getpid(), Client(base_url=self._address, api_key=self._api_key))
        return self._made[1]

    def get(self, path: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """What the server answers to a GET, for what the client package has no method for.

        Raises NotThere, Refused, Busy, or another error for trouble that may pass.
        """
        with answers():
            http: httpx.Client = self.client._client  # the one with the user's address and headers
            response = http.get(path, params={name: value for name, value in params.items() if value is not None})
            response.raise_for_status()
            data: dict[str, Any] = response.json()
            return data

    def projects(self) -> dict[str, str]:
        """Ids of all projects by name."""
        with answers():
            self._projects = {project["name"]: project["id"] for project in self.client.projects.list()}
        return self._projects

    def project_id(self, project: str) -> str:
        """The id of a project, given its name or its id: names may hold what has no place in a path."""
        return self._projects.get(project) or self.projects().get(project, project)

    def close(self) -> None:
        """Close the connections of a client that was made here."""
        made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            made[1]._client.close()


@contextlib.contextmanager
def answers() -> Iterator[None]:
    """Turns what the server refuses into Refused, what it does not have into NotThere, and other trouble into Busy.

    Their messages say what it complained about, without the values that it repeats: those are texts of samples.
    """
    import httpx

    try:
        yield
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        what = f"HTTP {status}: {_complaint(error.response)}"
        wait = error.response.headers.get("retry-after", "")
    else:
        return
    if status == 404:
        raise NotThere(what)
    if status in (401, 403):
        raise KeyRefused(what)
    if 400 <= status < 500 and status not in _PASSING:
        raise Refused(what)
    raise Busy(what, after=float(wait) if wait.isdigit() else None)


def _complaint(response: httpx.Response) -> str:
    kind = response.headers.get("content-type", "")
    if kind.startswith("text/plain"):  # the server's own words
        return response.text[:200]
    try:
        detail = response.json()["detail"]
        places = [".".join(str(part) for part in item["loc"]) for item in detail]
    except (ValueError, KeyError, TypeError):
        return response.reason_phrase
    return "not valid: " + ", ".join(places[:5])
