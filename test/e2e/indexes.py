# SPDX-License-Identifier: MIT
"""A package index of a test's own: wheels made here, served over HTTP as pip expects it."""
import base64
import contextlib
import hashlib
import html
import http.server
import io
import json
import socket
import tarfile
import threading
import urllib.parse
import zipfile

from client import WAIT_S


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def wheel(name, version, requires=(), files=None, extra=()):
    """The bytes of a wheel; `files` are its modules by path, `extra` members with names as they are."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    members = dict(files if files is not None else {f"{module}.py": f"version = {version!r}\n"})
    members[f"{info}/METADATA"] = "".join(
        [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"] + [f"Requires-Dist: {r}\n" for r in requires])
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members.update(extra)
    record = ""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            data = content if isinstance(content, bytes) else content.encode()
            archive.writestr(path, data)
            record += f"{path},sha256={digest(data)},{len(data)}\n"
        archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return f"{module}-{version}-py3-none-any.whl", out.getvalue()


def sdist(name, version, setup, files=None):
    """A source distribution whose setup.py is `setup`; `files` are more of its files by path."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, text in {"setup.py": setup, "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
                           f"{name}.py": f"version = {version!r}\n", **(files or {})}.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return f"{name}-{version}.tar.gz", out.getvalue()


def metadata_of(data):
    """What a wheel says of itself."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")))


class Index:
    """A simple repository (PEP 503) at `url`; `asked` are the paths that were fetched. `tls`: an SSLContext.

    `told`: pages are JSON with sizes (and `times` of upload), and what a wheel says of itself lies beside it; else HTML.
    `changed`: {path: bytes} that come instead. `login`: (user, password) without which nothing is answered but 401. `moved`: {path: URL} of redirects. `says`: (status,
    type, text) that answers every request."""

    def __init__(self, *files, tls=None, login=None, moved=None, says=None, told=False):
        self.login = login and "Basic " + base64.b64encode(":".join(login).encode()).decode()
        self.moved = moved or {}
        self.says = says
        self.told = told
        self.times = {}
        self.changed = {}
        self.cut = []  # paths; each entry ends the connection after half of one answer
        self.fresh = None  # Cache-Control
        self.tags = False  # pages have an ETag
        self.authorizations = []
        self.files = {}
        self.asked = []
        self.statuses = []  # of the answers
        self.hold = threading.Event()  # cleared: nothing is answered
        self.hold.set()
        self.half = threading.Event()  # cleared: of a file, the second half does not come
        self.half.set()
        for name, data in files:
            self.add(name, data)
        index = self

        self.open = []  # the sockets of all connections

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

            def setup(self):
                super().setup()
                index.open.append(self.connection)

            def do_GET(self):
                index.asked.append(self.path)
                index.authorizations.append(self.headers.get("Authorization"))
                index.hold.wait(WAIT_S)
                body, kind = index.page(self.path)
                status = 200 if body is not None else 404
                if index.says:
                    status, kind, body = index.says
                elif index.login and self.headers.get("Authorization") != index.login:
                    status, body = 401, None
                elif self.path in index.moved:
                    status, body = 302, None
                tag = f'"{digest(body)}"' if index.tags and status == 200 else None
                if tag is not None and tag == self.headers.get("If-None-Match"):
                    status, body = 304, None
                index.statuses.append(status)
                self.send_response(status)
                if tag is not None:
                    self.send_header("ETag", tag)
                if index.fresh is not None:
                    self.send_header("Cache-Control", index.fresh)
                if status == 302:
                    self.send_header("Location", index.moved[self.path])
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                body = body or b""
                self.wfile.write(body[:len(body) // 2])
                if self.path in index.cut:
                    index.cut.remove(self.path)
                    self.close_connection = True
                    return
                if self.path.endswith(".whl"):
                    index.half.wait(WAIT_S)
                self.wfile.write(body[len(body) // 2:])

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128  # pages are asked for at the same time, and the kernel repeats after 1 s what finds no room

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http{'s' if tls else ''}://localhost:{self.server.server_address[1]}/simple"

    def add(self, name, data):
        self.files[name] = data

    def page(self, path):
        parts = urllib.parse.unquote(path).strip("/").split("/")
        if path in self.changed:
            return self.changed[path], "application/octet-stream"
        if len(parts) == 2 and parts[0] == "files":
            if self.told and parts[1].endswith(".metadata"):
                return metadata_of(self.files[parts[1].removesuffix(".metadata")]), "application/octet-stream"
            return self.files.get(parts[1]), "application/octet-stream"
        if len(parts) == 2 and parts[0] == "simple":
            wanted = parts[1]
            if self.told:
                return self.page_in_json(wanted), "application/vnd.pypi.simple.v1+json"
            links = [f'<a href="/files/{html.escape(name)}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>'
                     for name, data in self.files.items() if name.split("-")[0].replace("_", "-").lower() == wanted]
            return ("<!DOCTYPE html><body>" + "\n".join(links)).encode() if links else None, "text/html"
        return None, "text/plain"

    def page_in_json(self, wanted):
        rows = [{"filename": name, "url": f"/files/{name}", "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                 "size": len(data), "core-metadata": name.endswith(".whl"),
                 **({"upload-time": self.times[name]} if name in self.times else {})}
                for name, data in self.files.items() if name.split("-")[0].replace("_", "-").lower() == wanted]
        return json.dumps({"meta": {"api-version": "1.1"}, "name": wanted, "files": rows}).encode() if rows else None

    @property
    def connections(self):
        return len(self.open)

    def drop(self):
        """Ends all connections."""
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.drop()
