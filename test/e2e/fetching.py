# SPDX-License-Identifier: MIT
"""ptycell-fetch alone, and a hostile HTTP server for it to meet."""
import json
import subprocess
import threading

from client import BUILD, WAIT_S
from proxies import Host, own_names, read_head


class Fetch:
    """A running ptycell-fetch whose descriptor 3 is `file`; `lines` are what it says."""

    def __init__(self, order, file, command=None, **popen):
        order = {"deadline_ms": WAIT_S * 1000, "stall_ms": WAIT_S * 1000, **order}
        script = f"exec 3<&{file.fileno()}; exec \"$0\""
        program = ["bash", "-c", script, str((BUILD / "ptycell-fetch").resolve())]
        self.process = subprocess.Popen(
            (command or (lambda c: c))(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, pass_fds=[file.fileno()], **popen)
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        """(heads and progress, the last line's result or error)"""
        out, err = self.process.communicate(timeout=WAIT_S)
        assert err == b"", err
        lines = [json.loads(line) for line in out.splitlines()]
        return [line["progress"] for line in lines[:-1]], lines[-1]


def download(folder, url, names=None, resolv="/etc/resolv.conf", **order):
    """What comes of a download: (progress, result or error, the file's bytes). Private hosts are
    allowed unless the order says otherwise; `names` are lines of /etc/hosts."""
    order = {"do": "download", "url": url, "allow_private": True, "size_max": 1 << 30,
             "size_name": "MAX_DOWNLOAD_SIZE", **order}
    command = None
    if names is not None:
        hosts = folder / "hosts"
        hosts.write_text(names, encoding="ascii")
        command = lambda c: own_names(hosts, c, resolv)  # noqa: E731
    with open(folder / "part", "w+b") as file:
        progress, last = Fetch(order, file, command).end()
        file.seek(0)
        return progress, last, file.read()


def failure(last):
    return last["error"]["code"], last["error"]["message"]


class Site(Host):
    """An HTTP server on loopback: `pages` maps paths to functions of (socket, path), or to bytes that
    are sent as they are."""

    def __init__(self, pages):
        self.paths = []
        self.lock = threading.Lock()

        def talk(s, said):
            read_head(s, said)
            path = said.split(b" ")[1].decode()
            with self.lock:
                self.paths.append(path)
            page = pages.get(path.partition("?")[0], pages.get("*"))
            if callable(page):
                page(s, path)
            else:
                s.sendall(page if page is not None else head(404, "Content-Length: 0"))

        super().__init__(talk)

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"


def head(status, *fields):
    return "\r\n".join([f"HTTP/1.1 {status} X", *fields, "Connection: close", "", ""]).encode()


def body(content, *fields):
    return head(200, f"Content-Length: {len(content)}", *fields) + content
