# SPDX-License-Identifier: MIT
"""An npm registry of a test's own: packages made here, served as npm expects them."""
import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
import urllib.parse

from client import WAIT_S


def package(name, version, files=None, **manifest):
    """(name, version, manifest, archive) of a package; `files` are its files by path."""
    manifest = {"name": name, "version": version, "main": "index.js", **manifest}
    members = {"package.json": json.dumps(manifest), "index.js": f"module.exports = {json.dumps(version)};\n", **(files or {})}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, text in members.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return name, version, manifest, out.getvalue()


class Registry:
    """Serves `packages` at `url`; `asked` are the paths that were fetched. `moved`: {path: URL} of redirects."""

    def __init__(self, *packages, hashes=True, token=None, login=None, says=None, times=None, moved=None):
        self.packages = packages
        self.moved = moved or {}
        self.times = times  # {NAME: {VERSION: time}} of the releases
        self.hashes = hashes  # whether it tells those of its archives
        self.login = token and f"Bearer {token}"  # without which nothing is answered but 401
        if login is not None:  # (user, password)
            self.login = "Basic " + base64.b64encode(":".join(login).encode()).decode()
        self.says = says  # (status, type, text) that answers every request
        self.half = threading.Event()  # cleared: of a file, the second half does not come
        self.half.set()
        self.asked = []
        self.authorizations = []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.asked.append(self.path)
                registry.authorizations.append(self.headers.get("Authorization"))
                body = registry.page(urllib.parse.unquote(self.path.lstrip("/")))
                status, kind = 200 if body is not None else 404, "application/json"
                if registry.says:
                    status, kind, body = registry.says
                elif registry.login and self.headers.get("Authorization") != registry.login:
                    status, body = 401, None
                elif self.path in registry.moved:
                    status, body = 302, None
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", registry.moved[self.path])
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body or b"{}")))
                self.end_headers()
                body = body or b"{}"
                self.wfile.write(body[:len(body) // 2])
                if self.path.endswith(".tgz"):
                    registry.half.wait(WAIT_S)
                self.wfile.write(body[len(body) // 2:])

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://localhost:{self.server.server_address[1]}/"

    def page(self, path):
        for name, version, _, archive in self.packages:
            if path == f"-/{name}-{version}.tgz":
                return archive
        rows = {version: self.row(*row) for row in self.packages for name, version in [row[:2]] if name == path}
        if not rows:
            return None
        time = {"time": self.times[path]} if self.times and path in self.times else {}
        return json.dumps({"name": path, "dist-tags": {"latest": list(rows)[-1]}, "versions": rows, **time}).encode()

    def row(self, name, version, manifest, archive):
        scripts = manifest.get("scripts", {})
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        return {**manifest, "hasInstallScript": bool({"preinstall", "install", "postinstall"} & set(scripts)),
                "dist": {"tarball": f"{self.url}-/{name}-{version}.tgz", **({"integrity": integrity} if self.hashes else {})}}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
