# SPDX-License-Identifier: MIT
"""verdaccio, the registry that teams run for their own packages: scopes, tokens and passwords, with real npm on both sides."""
import base64
import contextlib
import hashlib
import json
import shutil
import socket
import subprocess
import urllib.request

import pytest
from client import WAIT_S
from patience import until
from registries import package
from steps import install

# Node 20 runs this one; its own dependency names a version of node-fetch that not every registry has.
PROJECT = {"private": True, "dependencies": {"verdaccio": "6.8.0"}, "overrides": {"node-fetch": "2.7.0"}}
CONFIGURATION = """
storage: ./storage
auth: {{htpasswd: {{file: ./htpasswd, algorithm: bcrypt, rounds: 4}}}}
uplinks: {{}}
packages:
  '@own/*': {{access: $authenticated, publish: $authenticated}}
  '**': {{access: $all, publish: $authenticated}}
log: {{type: stdout, format: json, level: error}}
"""
USER, PASSWORD = "robot", "p4ss-word-1"


def installed(folder):
    """The program, or a reason for which there is none."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return None, "no npm here"
    (folder / "package.json").write_text(json.dumps(PROJECT))
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, timeout=WAIT_S, check=False)
        if done.returncode == 0:
            return folder / "node_modules/verdaccio/bin/verdaccio", None
        return None, f"npm cannot fetch verdaccio here: {done.stderr.strip().splitlines()[-1:]}"
    return None, "npm does not fetch verdaccio in time here"


def call(url, method="GET", body=None, token=None):
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(url, method=method, data=body and json.dumps(body).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        return json.load(answer)


def answers(url):
    with contextlib.suppress(OSError):
        return call(f"{url}-/ping") is not None
    return False


def publish(url, token, made):
    """As `npm publish` does."""
    name, version, manifest, archive = made
    file = f"{name}-{version}.tgz"
    row = {**manifest, "dist": {"tarball": f"{url}{name}/-/{file}", "shasum": hashlib.sha1(archive).hexdigest()}}
    body = {"_id": name, "name": name, "dist-tags": {"latest": version}, "versions": {version: row},
            "_attachments": {file: {"content_type": "application/octet-stream", "data": base64.b64encode(archive).decode(), "length": len(archive)}}}
    call(url + name.replace("/", "%2f"), "PUT", body, token)


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """(URL, token) of a running verdaccio that has packages."""
    folder = tmp_path_factory.mktemp("verdaccio")
    program, why_not = installed(folder)
    if program is None:
        pytest.skip(why_not)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://localhost:{port}/"
    (folder / "config.yaml").write_text(CONFIGURATION.format())
    with subprocess.Popen(["node", program, "--config", "config.yaml", "--listen", f"localhost:{port}"], cwd=folder, stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: answers(url) or process.poll() is not None)
            assert process.poll() is None
            user = {"_id": f"org.couchdb.user:{USER}", "name": USER, "password": PASSWORD, "type": "user", "roles": []}
            token = call(f"{url}-/user/org.couchdb.user:{USER}", "PUT", user)["token"]
            publish(url, token, package("@own/inner", "1.0.0", dependencies={"outer": "1"}))
            publish(url, token, package("outer", "1.2.0"))
            yield url, token
        finally:
            process.terminate()


def configured(servers, tmp_path, *lines):
    (tmp_path / "npmrc").write_text("\n".join(lines) + "\n")
    (tmp_path / "npmrc").chmod(0o600)
    return servers(env={"npm_config_userconfig": str(tmp_path / "npmrc")})


def npm(server, *names):
    return install(server, *names, language="javascript")


def test_a_scope_opens_with_its_token_or_its_password(servers, registry, tmp_path):
    url, token = registry
    key = url.split(":", 1)[1]
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    for line in (f"{key}:_authToken={token}", f"{key}:_auth={login}"):
        server = configured(servers, tmp_path, f"registry={url}", f"@own:registry={url}", line)
        result = npm(server, "@own/inner")
        assert result.object["packages"] == ["@own/inner 1.0.0", "outer 1.2.0"], result.texts
        text = server.call("exec_code", session_id="s", language="javascript", code="require('@own/inner') + ' ' + require('outer')").text
        assert "1.0.0 1.2.0" in text, text


def test_without_a_login_the_scope_is_closed_and_the_rest_is_open(servers, registry, tmp_path):
    url, _ = registry
    server = configured(servers, tmp_path, f"registry={url}")
    closed = npm(server, "@own/inner")
    assert closed.is_error and url.split("/")[2] in closed.texts[0] and "401" in closed.texts[0], closed.texts
    assert npm(server, "outer@^1").object["packages"] == ["outer 1.2.0"]


def test_a_lock_file_holds_for_it(servers, registry, tmp_path):
    url, token = registry
    server = configured(servers, tmp_path, f"registry={url}", f"{url.split(':', 1)[1]}:_authToken={token}")
    row = {"version": "1.0.0", "resolved": "https://other.test/inner.tgz"}
    lock = {"lockfileVersion": 3, "packages": {"": {"dependencies": {"@own/inner": "1"}}, "node_modules/@own/inner": row, "node_modules/outer": {"version": "1.2.0"}}}
    files = f"echo '{json.dumps({'dependencies': {'@own/inner': '1'}})}' > package.json; echo '{json.dumps(lock)}' > package-lock.json"
    text = server.call("exec_code", session_id="s", language="bash", code=f"{files}; npm ci; node -p \"require('@own/inner') + ' came'\"").text
    assert "1.0.0 came" in text, text
