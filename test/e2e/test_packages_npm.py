# SPDX-License-Identifier: MIT
"""install_packages for JavaScript, with real npm and the registry that this machine's npm is set to.

The registry is reached by a relay on this machine: some networks give it an address that no session's
proxy may connect to.
"""
import functools
import http.server
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
import steps
from client import WAIT_S, Server


def registry():
    """What npm is set to here."""
    return subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, timeout=WAIT_S,
                          check=True).stdout.strip()


def reaches_registry():
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "no npm here"
    done = subprocess.run(["npm", "view", "is-odd@3.0.1", "version"], capture_output=True, text=True, timeout=WAIT_S,
                          check=False)
    return None if done.stdout.strip() == "3.0.1" else "the registry is not reached from here"


WHY_NOT = reaches_registry()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


@pytest.fixture(scope="module")
def relay():
    """The registry once more, at the URL that this gives."""
    upstream = registry().rstrip("/")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            headers = {"Accept": self.headers.get("Accept", "*/*")}
            try:
                with urllib.request.urlopen(urllib.request.Request(upstream + self.path, headers=headers), timeout=WAIT_S) as got:
                    status, kind, body = got.status, got.headers.get("Content-Type", ""), got.read()
            except urllib.error.HTTPError as error:
                status, kind, body = error.code, "application/json", b"{}"
            if "json" in kind:
                body = body.replace(upstream.encode(), own.encode())
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    own = f"http://localhost:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield own + "/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def start(shared, relay):
    return functools.partial(shared, env={"npm_config_registry": relay})


install = functools.partial(steps.install, language="javascript")


def node(server, code, session="s"):
    return server.call("exec_code", session_id=session, language="javascript", code=code)


def test_a_package_of_the_registry_is_there_for_require_and_import(start):
    server = start()
    assert node(server, "require('is-odd')").is_error
    result = install(server, "is-odd@3.0.1")
    assert result.object["packages"] == ["is-number 6.0.0", "is-odd 3.0.1"]
    assert "true" in node(server, "require('is-odd')(3)").text
    assert "true" in node(server, "(await import('is-odd')).default(5)").text
    again = install(server, "is-odd@3.0.1", session="t")
    assert again.object["cached"]
    assert "is-odd 3.0.1" in server.call("exec_code", session_id="u", language="python",
                                                    code="!npm install is-odd@3.0.1").text
    assert "Error" in node(server, "await new Promise((ok, no) => require('http').get('http://10.0.0.1', ok).on('error', no))").text


def test_a_package_that_is_needed_and_blocked_refuses_all(start):
    server = start(policy={"javascript": {"block": ["is-number"], "minimum": {"is-even": "2.0.0"}}})
    result = install(server, "is-odd@3.0.1")
    assert result.is_error and "is-number (needed by is-odd) is on the block list" in result.texts[0]
    old = install(server, "is-even@1.0.0")
    assert old.is_error and ("2.0.0" in old.texts[0] or "is-number" in old.texts[0])
    assert "by name" in install(server, "evil/repo").texts[0]  # test_packages_rules.py has more of these


def test_a_package_that_does_not_exist_is_an_error(start):
    result = install(start(), "no-such-package-at-all-x9q")
    assert result.is_error and "404" in result.texts[0]


def test_npm_install_in_a_cell_leads_to_the_same_place_and_says_so(start):
    """As models write it; what stands elsewhere is text, or JavaScript."""
    server = start()
    told = "Asking ptycell to install is-odd@3.0.1."
    for n, line in enumerate(("npm install is-odd@3.0.1", "!npm i 'is-odd@3.0.1' --save", "// first\n\n  %npm add -D is-odd@3.0.1")):
        result = node(server, f"{line}\nconst isOdd = require('is-odd')\nisOdd(3)", session=f"s{n}")
        assert told in result.text and "is-odd 3.0.1" in result.text and result.text.rstrip().endswith("true"), result.text
    again = node(server, "npm install is-odd@3.0.1", session="s0")
    assert told in again.text and not again.is_error
    assert "cell-3.js:2" in node(server, "npm install is-odd@3.0.1\nnull.x", session="s0").text
    text = node(server, "let a = `\nnpm install is-odd\n`; console.log(a)", session="s0").text
    assert "Asking" not in text and "npm install is-odd" in text
    assert "SyntaxError" in node(server, "1\nnpm install is-odd", session="s0").text
    shell = server.call("exec_code", session_id="b", language="bash",
                        code="npm install is-odd@3.0.1 2>&1 | tail -2 && node -e 'console.log(require(\"is-odd\")(3))'").text
    assert told in shell and shell.rstrip().endswith("true"), shell


def test_a_refused_package_in_a_cell_is_an_error_and_the_rest_does_not_run(start):
    server = start(policy={"javascript": {"block": ["is-number"]}})
    result = node(server, "npm install is-odd@3.0.1\nconsole.log('not-' + 'reached')")
    assert result.is_error and "needed by is-odd" in result.text and "not-reached" not in result.text
    assert "2" in node(server, "1 + 1").text


def test_what_lies_in_the_session_is_installed_there(start):
    server = start()
    code = ("const fs = require('fs'); fs.mkdirSync('mine'); fs.writeFileSync('mine/index.js', 'module.exports = 41');\n"
            "fs.writeFileSync('mine/package.json', '{\"name\": \"mine\", \"version\": \"1.0.0\"}')")
    assert not node(server, code).is_error
    result = node(server, "npm install ./mine\nrequire('mine') + 1")
    assert "Asking" not in result.text and result.text.rstrip().endswith("42"), result.text


def test_waiting_for_packages_is_interrupted_and_the_state_stays(home):
    """The registry takes the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with Server(home, env={"npm_config_registry": f"http://localhost:{silent.getsockname()[1]}/"}) as server:
            node(server, "kept = 5")
            for language, code in (("javascript", "npm install is-odd\nkept = 6"), ("bash", "npm install is-odd")):
                result = server.call("exec_code", session_id="s", language=language, code=code, timeout=2)
                assert result.state == "timed_out", result.text
            assert node(server, "kept").text.strip() == "5"
