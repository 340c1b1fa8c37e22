# SPDX-License-Identifier: MIT
"""Where packages come from: the person's own configuration of pip and npm, hashes, proxies."""
import contextlib
import hashlib
import http.server
import json
import pathlib
import runpy
import shutil
import socket
import ssl
import subprocess
import threading

import pytest
from client import WAIT_S
from indexes import Index, wheel
from proxies import Authority
from registries import Registry, package
from steps import install

HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
HAS_NPM = shutil.which("npm") is not None and shutil.which("node") is not None
pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")

ALPHA = wheel("alpha", "1.0")
INDEX = runpy.run_path(str(pathlib.Path(__file__).resolve().parents[2] / "lib/install/python/index.py"))


@pytest.fixture(scope="module")
def index():
    index = Index(ALPHA)
    yield index
    index.close()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Where all servers keep packages: what came from the same place need not come again."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def start(servers, cache):
    """Starts a server in a home of its own, for in that lies what it is told."""
    return lambda *flags, **env: servers(*flags, env={"PTYCELL_HOME": str(cache), **env})


# ---- indexes: the person's own configuration


def pip_conf(home, text):
    (home / ".config/pip").mkdir(parents=True, exist_ok=True)
    (home / ".config/pip/pip.conf").write_text(text)


def test_pip_s_own_configuration_names_indexes(start, home, index):
    other = Index(wheel("gamma", "1.0", ["alpha"]))
    try:
        pip_conf(home, f"[global]\nindex-url = {index.url}\nextra-index-url =\n    {other.url}\n")
        assert install(start(), "gamma").object["packages"] == ["alpha 1.0", "gamma 1.0"]
    finally:
        other.close()


def test_pip_s_own_variables_go_before_its_files(start, home, index):
    pip_conf(home, "[global]\nindex-url = http://localhost:9/simple\n")
    assert install(start(PIP_INDEX_URL=index.url), "alpha").object["packages"] == ["alpha 1.0"]


def test_pip_s_own_folders_work_without_an_index(start, home, tmp_path):
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / ALPHA[0]).write_bytes(ALPHA[1])
    pip_conf(home, f"[install]\nno-index = true\nfind-links = {tmp_path}/wheels /no/such/folder\n")
    assert install(start(), "alpha").object["packages"] == ["alpha 1.0"]


def test_code_of_a_writable_share_does_not_choose_the_index(start, home, index, tmp_path):
    """Neither by pip.conf of an environment that lies in it, nor does a pipe there hold the server up."""
    evil, venv = Index(wheel("leaked", "1.0")), tmp_path / "project" / ".venv"
    venv.mkdir(parents=True)
    try:
        pip_conf(home, f"[global]\nindex-url = {index.url}\n")
        server = start("--share", f"{venv.parent}:rw", VIRTUAL_ENV=str(venv))
        write = f"open({str(venv / 'pip.conf')!r}, 'w').write('[global]\\nindex-url = {evil.url}\\n')"
        assert not server.cell(write).is_error
        assert install(server, "leaked").is_error and not evil.asked
        assert install(server, "alpha").object["packages"] == ["alpha 1.0"]
        pipe = f"import os\nos.remove({str(venv / 'pip.conf')!r})\nos.mkfifo({str(venv / 'pip.conf')!r})"
        assert not server.cell(pipe).is_error
        assert install(server, "alpha", session="t").object["packages"] == ["alpha 1.0"]
    finally:
        evil.close()


def tls_index(tmp_path):
    authority = Authority(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.chain)
    return authority, Index(ALPHA, tls=context)


def test_certificates_and_trusted_hosts_of_pip_s_configuration_hold(start, home, tmp_path):
    """Hosts whose certificate nobody here knows are refused until the person says otherwise."""
    authority, index = tls_index(tmp_path)
    try:
        pip_conf(home, f"[global]\nindex-url = {index.url}\nretries = 0\n")
        unknown = install(start(), "alpha")
        assert unknown.is_error and f"certificate of the index {index.url.split('/')[2]} is not trusted" in unknown.texts[0], unknown.texts
        pip_conf(home, f"[global]\nindex-url = {index.url}\ncert = {authority.ca}\n")
        assert install(start(), "alpha").object["packages"] == ["alpha 1.0"]
        pip_conf(home, f"[global]\nindex-url = {index.url}\ntrusted-host = localhost\n")
        assert install(start(PTYCELL_HOME=str(home / "another")), "alpha").object["packages"] == ["alpha 1.0"]
    finally:
        index.close()


@pytest.mark.skipif(not HAS_NPM, reason="no npm here")
def test_npm_s_own_configuration_names_registries_one_for_a_scope_and_who_asks(start, home):
    """A set of another registry is none of this one's."""
    plain, one, other = (Registry(package("@own/scoped" if n else "plain", "1.0.0", {"who.txt": str(n)})) for n in range(3))
    try:
        for n, registry in enumerate((one, other), 1):
            host = plain.url.partition(":")[2]
            (home / ".npmrc").write_text(f"registry={plain.url}\n{host}:_authToken=${{NPM_TOKEN}}\n@own:registry={registry.url}\n")
            server = start(NPM_TOKEN="t0k3n-of-the-person")
            result = install(server, "@own/scoped", "plain", session=f"s{n}", language="javascript")
            assert result.object["packages"] == ["@own/scoped 1.0.0", "plain 1.0.0"], result.texts
            assert "Bearer t0k3n-of-the-person" in plain.authorizations
            assert not any("t0k3n" in text for text in result.texts)
            assert not any("t0k3n" in str(told) for told in registry.authorizations)
            code = "require('fs').readFileSync(require.resolve('@own/scoped').replace('index.js', 'who.txt'), 'utf8')"
            text = server.call("exec_code", session_id=f"s{n}", language="javascript", code=code).text
            assert text.strip() == f"'{n}'", text
    finally:
        for registry in (plain, one, other):
            registry.close()


# ---- hashes


@pytest.mark.skipif(not HAS_NPM, reason="no npm here")
def test_without_a_hash_a_package_is_told_by_what_it_holds(servers, home):
    """A registry that tells none may have another file of the same name and version by tomorrow."""
    registry = Registry(package("loose", "1.0.0"), hashes=False)
    try:
        (home / ".npmrc").write_text(f"registry={registry.url}\n")
        for n, value in enumerate(("1.0.0", "other")):
            registry.packages = (package("loose", "1.0.0", {"index.js": f"module.exports = '{value}'"}),)
            # By then: what was resolved is asked for again.
            for record in (home / "cache/packages").glob("index/*"):
                record.write_text(json.dumps({**json.loads(record.read_text()), "made": 1000}))
            server = servers()
            assert not install(server, "loose", session=f"s{n}", language="javascript").is_error
            text = server.call("exec_code", session_id=f"s{n}", language="javascript", code="require('loose')").text
            assert text.strip() == f"'{value}'", text
    finally:
        registry.close()


def test_a_requirement_with_a_hash_takes_that_file_and_no_other(start, index):
    server = start("--pip-index", index.url)
    wrong = install(server, "alpha==1.0 --hash=sha256:" + "0" * 64)
    assert wrong.is_error and "hash" in wrong.texts[0].lower(), wrong.texts
    right = hashlib.sha256(ALPHA[1]).hexdigest()
    assert install(server, f"alpha==1.0 --hash=sha256:{right}").object["packages"] == ["alpha 1.0"]


# ---- proxies


class Upstream:
    """A person's HTTP proxy, which alone knows where packages.test is: at `target`."""

    def __init__(self, target):
        self.asked = []
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self):
                upstream.asked.append(self.path)
                with socket.create_connection(("127.0.0.1", target), WAIT_S) as there:
                    self.send_response(200)
                    self.end_headers()
                    back = threading.Thread(target=relay, args=(there, self.connection), daemon=True)
                    back.start()
                    relay(self.connection, there)
                    back.join(WAIT_S)
                self.close_connection = True

            def do_GET(self):
                upstream.asked.append(self.path)
                path = "/" + self.path.split("/", 3)[3]
                with socket.create_connection(("127.0.0.1", target), WAIT_S) as there:
                    there.sendall(f"GET {path} HTTP/1.0\r\nHost: packages.test\r\n\r\n".encode())
                    relay(there, self.connection)
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def relay(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_the_person_s_proxy_is_the_way_to_the_index(start, index):
    upstream = Upstream(index.server.server_address[1])
    try:
        proxies = {"http_proxy": upstream.url, "https_proxy": upstream.url}
        plain = install(start("--pip-index", "http://packages.test/simple", **proxies), "alpha")
        assert plain.is_error and "trusted-host" in plain.texts[0], plain.texts
        server = start("--pip-index", "http://packages.test/simple", PIP_TRUSTED_HOST="packages.test", **proxies)
        result = install(server, "alpha")
        assert not result.is_error, (result.texts, upstream.asked)
        assert result.object["packages"] == ["alpha 1.0"]
        assert upstream.asked and all("packages.test" in asked for asked in upstream.asked)
    finally:
        upstream.close()


# ---- an index that is not there


@pytest.mark.parametrize("language, setting", [
    ("python", {"PTYCELL_PIP_INDEX": "http://localhost:1/simple"}),
    ("javascript", {"npm_config_registry": "http://localhost:1/"}),
    ("r", {"PTYCELL_R_REPOS": "http://localhost:1/"})])
def test_an_index_that_is_not_reached_is_told_instead_of_a_package_that_does_not_exist(start, language, setting):
    if shutil.which({"javascript": "npm", "r": "R"}.get(language, "python3")) is None:
        pytest.skip("no installer of this language here")
    result = install(start(**setting), "alpha", language=language)
    assert result.is_error and "the index cannot be reached: '" in result.texts[0]
    assert "matching distribution" not in result.texts[0] and "PTYCELL_INSTALL_HOSTS" not in result.texts[0]


def test_an_index_that_is_not_reached_is_not_passed_over(start, index):
    """Another index may have a package of the same name that is none of the user's."""
    result = install(start(PTYCELL_PIP_INDEX=f"http://localhost:1/simple {index.url}"), "alpha")
    assert result.is_error and "index cannot be reached: 'localhost:1' does not answer" in result.texts[0], result.texts
    result = install(start(PTYCELL_PIP_INDEX=f"{index.url} http://localhost:1/simple"), "alpha")
    assert result.object["packages"] == ["alpha 1.0"]


def test_an_index_that_is_not_reached_is_told_where_the_folders_have_no_such_package(start, home, tmp_path):
    (tmp_path / ALPHA[0]).write_bytes(ALPHA[1])
    pip_conf(home, f"[global]\nindex-url = http://localhost:1/simple\nfind-links = {tmp_path}\n")
    result = install(start(), "beta")
    assert result.is_error and "the index cannot be reached: '" in result.texts[0]
    assert "The folders of packages have no such package" in result.texts[0]


def test_folders_are_taken_when_the_index_is_not_reached(start, home, tmp_path):
    (tmp_path / ALPHA[0]).write_bytes(ALPHA[1])
    pip_conf(home, f"[global]\nindex-url = http://localhost:1/simple\nfind-links = {tmp_path}\n")
    assert install(start(), "alpha").object["packages"] == ["alpha 1.0"]


def test_each_of_two_indexes_on_one_host_gets_its_own_login():
    upstreams = INDEX["Upstreams"](["https://a:x@h.test/one", "https://b:y@h.test/two/"], [], None)
    logins = {path: INDEX["base64"].b64decode(upstreams.login_of(f"https://h.test/{path}").split()[1]).decode()
              for path in ("one/alpha/", "two/alpha/", "files/alpha.whl")}
    assert logins == {"one/alpha/": "a:x", "two/alpha/": "b:y", "files/alpha.whl": "a:x"}
    assert upstreams.login_of("https://h.test:8443/one/alpha/") is None


@pytest.mark.parametrize("path, login", [("/1/simple/a/", "a:x"), ("/2/simple/a/", "b:y"), ("/1/files/a.whl", "a:x"), ("/2/files/a.whl", "b:y"), ("/a.whl", "a:x")])
def test_a_file_beside_its_index_gets_that_one_s_login(path, login):
    """As projects of one machine have them, with a login each."""
    upstreams = INDEX["Upstreams"](["https://a:x@h.test/1/simple", "https://b:y@h.test/2/simple"], [], None)
    assert INDEX["base64"].b64decode(upstreams.login_of(f"https://h.test{path}").split()[1]).decode() == login


def test_an_address_that_an_index_leads_to_is_judged_as_its_own():
    with contextlib.closing(Index(moved={"/simple/alpha/": "http://other.test/alpha/", "/simple/beta/": "file:///etc/passwd",
                                         "/simple/gamma/": "/simple/gamma/"})) as moving:
        upstreams = INDEX["Upstreams"]([moving.url], [], None)
        for name, problem in (("alpha", "is not https"), ("beta", "is not of the web"), ("gamma", "leads on more than 10 times")):
            with pytest.raises(INDEX["Problem"], match=problem):
                upstreams.open(f"{moving.url}/{name}/")
    assert moving.asked.count("/simple/gamma/") == 10
