"""What stands around the code of a page that runs: no network but this machine, with servers for what is hosted.

`ASSAY_PAGE_PORTS`, JSON: the ports of this machine that pages name, and those where something listens for them.
`ASSAY_PAGE_OPENAI`: the address that stands in for OpenAI's own.
"""

import json
import os
import runpy
import socket
import sys

PORTS = {int(named): port for named, port in json.loads(os.environ.get("ASSAY_PAGE_PORTS", "{}")).items()}
connect = socket.socket.connect


def to_this_machine(self, address):
    if not (isinstance(address, tuple) and address[0] in ("127.0.0.1", "::1", "localhost")):
        raise OSError(f"a page must not reach {address}")
    return connect(self, ("127.0.0.1", PORTS.get(address[1], address[1])))


socket.socket.connect = to_this_machine

if "ASSAY_PAGE_OPENAI" in os.environ:
    from assay.judges.http import client

    client.OPENAI = os.environ["ASSAY_PAGE_OPENAI"]

if __name__ == "__main__":
    runpy.run_path(sys.argv[1], run_name="__main__")
