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
    """Serves `packages` at `url`; `asked` are the paths that were fetched."""

    def __init__(self, *packages, hashes=True):
        self.packages = packages
        self.hashes = hashes  # whether it tells those of its archives
        self.asked = []
        self.authorizations = []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.asked.append(self.path)
                registry.authorizations.append(self.headers.get("Authorization"))
                body = registry.page(urllib.parse.unquote(self.path.lstrip("/")))
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body or b"{}")))
                self.end_headers()
                self.wfile.write(body or b"{}")

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
        return json.dumps({"name": path, "dist-tags": {"latest": list(rows)[-1]}, "versions": rows}).encode()

    def row(self, name, version, manifest, archive):
        scripts = manifest.get("scripts", {})
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        return {**manifest, "hasInstallScript": bool({"preinstall", "install", "postinstall"} & set(scripts)),
                "dist": {"tarball": f"{self.url}-/{name}-{version}.tgz", **({"integrity": integrity} if self.hashes else {})}}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
