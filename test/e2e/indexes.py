# SPDX-License-Identifier: MIT
"""A package index of a test's own: wheels made here, served over HTTP as pip expects it."""
import base64
import hashlib
import html
import http.server
import io
import tarfile
import threading
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


class Index:
    """A simple repository (PEP 503) at `url`; `asked` are the paths that were fetched. `tls`: an SSLContext."""

    def __init__(self, *files, tls=None):
        self.files = {}
        self.asked = []
        self.hold = threading.Event()  # cleared: nothing is answered
        self.hold.set()
        for name, data in files:
            self.add(name, data)
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                index.asked.append(self.path)
                index.hold.wait(WAIT_S)
                body, kind = index.page(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http{'s' if tls else ''}://localhost:{self.server.server_address[1]}/simple"

    def add(self, name, data):
        self.files[name] = data

    def page(self, path):
        parts = path.strip("/").split("/")
        if len(parts) == 2 and parts[0] == "files":
            return self.files.get(parts[1]), "application/octet-stream"
        if len(parts) == 2 and parts[0] == "simple":
            wanted = parts[1]
            links = [f'<a href="/files/{html.escape(name)}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>'
                     for name, data in self.files.items() if name.split("-")[0].replace("_", "-").lower() == wanted]
            return ("<!DOCTYPE html><body>" + "\n".join(links)).encode() if links else None, "text/html"
        return None, "text/plain"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
