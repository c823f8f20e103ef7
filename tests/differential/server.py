"""A server on this machine that speaks OpenAI's chat and embeddings API and says what a script tells it to.

Only the standard library, since it runs inside the environment of the package that is driven.

    with Server(reply) as server:
        client = OpenAI(base_url=server.url, api_key="none")

`reply(text, body)` is given all that the messages say, joined, and the request; it returns the text of the answer, or
a dict, which is sent as JSON, also as the arguments of the first tool where the request offers tools. `Likely` puts the
probabilities of one token beside it.
"""

from __future__ import annotations

import base64
import json
import math
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from worlds import embedding

Reply = Callable[[str, dict[str, Any]], "str | dict[str, Any] | Likely"]


@dataclass(frozen=True)
class Likely:
    """An answer, the token in it that was not certain, and what else might have stood there: tokens by probability."""

    said: str | dict[str, Any]
    token: str
    odds: Mapping[str, float]

    def logprobs(self) -> dict[str, Any]:
        """In the form of OpenAI's API."""
        top = [{"token": token, "logprob": math.log(odd), "bytes": None} for token, odd in self.odds.items()]
        own = math.log(self.odds.get(self.token, 1e-9))
        return {"content": [{"token": self.token, "logprob": own, "bytes": None, "top_logprobs": top}]}


class Server:
    """`asked` holds all that was said in each chat request, in order."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    found = outer.embeddings(body) if self.path.endswith("/embeddings") else outer.chat(body)
                    status = 200
                except Exception as error:  # the script did not know what to say: the caller must see it
                    found, status = {"error": {"message": f"{type(error).__name__}: {error}"}}, 400
                blob = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(blob)))
                self.end_headers()
                self.wfile.write(blob)

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Server:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._http.shutdown()

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        text = "\n".join(_text(message.get("content")) for message in body["messages"])
        self.asked.append(text)
        reply = self.reply(text, body)
        said = reply.said if isinstance(reply, Likely) else reply
        content = said if isinstance(said, str) else json.dumps(said)
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if body.get("tools") and isinstance(said, dict):
            function = {"name": body["tools"][0]["function"]["name"], "arguments": content}
            message = {"role": "assistant", "content": None}
            message["tool_calls"] = [{"id": "call-1", "type": "function", "function": function}]
        finish = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"message": message, "finish_reason": finish}
        if isinstance(reply, Likely):
            choice["logprobs"] = reply.logprobs()
        choices = [{"index": n, **choice} for n in range(body.get("n") or 1)]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        model = body.get("model", "scripted")
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": choices,
            "usage": usage,
        }

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        given = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = []
        for number, text in enumerate(given):
            vector: Any = embedding(text)
            if body.get("encoding_format") == "base64":
                vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            data.append({"object": "embedding", "index": number, "embedding": vector})
        return {"object": "list", "data": data, "model": "scripted", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""
