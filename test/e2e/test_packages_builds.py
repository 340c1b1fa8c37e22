# SPDX-License-Identifier: MIT
"""Packages that run code to be installed (PTYCELL_INSTALL_BUILDS): real npm and pip, a registry of the test's own."""
import contextlib
import functools
import json
import shutil
import subprocess

import pytest
import steps
from indexes import Index, sdist
from registries import Registry, package
from steps import paths_in

HAS_NPM = shutil.which("npm") is not None and shutil.which("node") is not None
HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
with_npm = pytest.mark.skipif(not HAS_NPM, reason="no npm here")
with_pip = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")

# What an install script may try: the words of who judges, the person's files, the network.
SCRIPT = """
const fs = require('fs'), http = require('http'), path = require('path');
const told = { ran: true };
const attempt = (name, what) => { try { told[name] = what() ?? null; } catch (error) { told[name] = error.code; } };
for (const folder of ['../..', '../../..']) {
  attempt('lock ' + folder, () => fs.writeFileSync(path.resolve(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3,
    packages: { '': {}, 'node_modules/forger': { version: '9.9.9' } } })));
  attempt('order ' + folder, () => fs.writeFileSync(path.resolve(folder, 'package.json'), '{}'));
}
attempt('answer', () => fs.writeSync(3, '{"ok": true, "packages": [{"name": "forger", "version": "9.9.9"}]}\\n'));
attempt('secret', () => fs.readFileSync(%(secret)s, 'utf8'));
attempt('home', () => fs.readdirSync(%(home)s));
const tried = [%(port)d, 3128].map((port) => new Promise((done) => http.get({ host: '127.0.0.1', port, path: '/reached' },
  () => done('reached')).on('error', (error) => done(error.code))));
Promise.all(tried).then((codes) => { told.network = codes; fs.writeFileSync('told.json', JSON.stringify(told)); });
"""


@pytest.fixture(scope="module")
def registry(of_module):
    home = of_module.home
    (home / "secret.txt").write_text("of the person")
    registry = Registry()
    script = SCRIPT % {"secret": json.dumps(str(home / "secret.txt")), "home": json.dumps(str(home)),
                       "port": registry.server.server_address[1]}
    build = {"scripts": {"install": "node build.js"}}
    registry.packages = (
        package("plain", "1.0.0"), package("dated", "1.0.0"), package("dated", "2.0.0"),
        package("forger", "1.0.0", {"build.js": script}, **build), package("silent", "1.0.0", {"build.js": script}, **build),
        package("leader", "1.0.0", {"build.js": script}, dependencies={"dated": "1.0.0"}, **build),
        package("failing", "1.0.0", scripts={"postinstall": "echo is no compiler here >&2; exit 3"}),
        package("smuggler", "1.0.0", {"node_modules/banned/package.json": '{"name": "banned", "version": "1.0.0"}',
                                      "node_modules/banned/index.js": "module.exports = 'in';\n"}))
    yield registry
    registry.close()


@pytest.fixture
def start(shared, registry):
    return functools.partial(shared, env={"npm_config_registry": registry.url})


install = functools.partial(steps.install, language="javascript")


def node(server, code, session="s"):
    return server.call("exec_code", session_id=session, language="javascript", code=code)


def assert_kept_for_nobody(home, package):
    assert not paths_in(home, f"cache/packages/sets/*/files/**/{package}*")
    assert not any(package in record.read_text() for record in paths_in(home, "cache/packages/index/*"))


@with_npm
def test_an_install_script_forges_no_verdict_reads_no_file_and_reaches_no_host(start, registry):
    server = start("--install-builds")
    result = install(server, "forger")
    assert result.object["packages"] == ["forger 1.0.0"], result.texts
    told = json.loads(node(server, "console.log(JSON.stringify(require('forger/told.json')))").text)
    assert told["ran"] and told["secret"] == "ENOENT" and told["home"] in ("ENOENT", "EACCES"), told
    assert told["answer"] in ("EBADF", "EINVAL") and "reached" not in told["network"], told
    assert not any("reached" in path for path in registry.asked)
    # It could write where it worked, and nobody believed it.
    again = install(server, "plain")
    assert again.object["packages"] == ["forger 1.0.0", "plain 1.0.0"]
    # What a build made is for nobody else.
    assert not result.object["cached"] and not install(server, "forger", session="t").object["cached"]
    assert_kept_for_nobody(server.home, "forger")


# Looks for a token in all processes that an install script may read.
SEARCH = r"""
const fs = require('fs');
const token = 'secret-' + 'token-1';
function count(pid) {
  const memory = fs.openSync(`/proc/${pid}/mem`, 'r');
  let found = 0;
  for (const [, from, to] of fs.readFileSync(`/proc/${pid}/maps`, 'latin1').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)) {
    const bytes = Buffer.alloc(Math.min(Number(BigInt(`0x${to}`) - BigInt(`0x${from}`)), 64 << 20));
    try { fs.readSync(memory, bytes, 0, bytes.length, BigInt(`0x${from}`)); } catch { continue; }
    found += bytes.includes(token);
  }
  return found;
}
const told = { read: 0, found: 0 };
for (const pid of fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && name !== String(process.pid))) {
  try { told.found += count(pid); told.read++; } catch {}
}
fs.writeFileSync('told.json', JSON.stringify(told));
"""


@with_npm
def test_a_set_in_which_nothing_is_built_is_kept_as_others_are(servers, tmp_path):
    """And one of a server that builds nothing is not taken where something is to be built."""
    with contextlib.closing(Registry(package("plain", "1.0.0"), package("scripted", "1.0.0", {"m.js": "require('fs').writeFileSync('made.json', '7')"},
                                                                        scripts={"install": "node m.js"}))) as one:
        env = {"npm_config_registry": one.url}
        assert not install(servers(env=env), "scripted").object["cached"]
        server = servers("--install-builds", env=env)
        for session, cached in (("s", False), ("t", True)):
            assert install(server, "plain", session=session).object["cached"] is cached
            assert not install(server, "scripted", session=f"{session}2").object["cached"]
            assert node(server, "require('scripted/made.json')", session=f"{session}2").text == "7\n"


@with_npm
def test_an_install_script_finds_no_token(servers, tmp_path):
    """Not in the memory of the installer either."""
    with contextlib.closing(Registry(package("seeker", "1.0.0", {"seek.js": SEARCH}, scripts={"install": "node seek.js"}), token="secret-token-1")) as private:
        (tmp_path / "npmrc").write_text(f"registry={private.url}\n{private.url.split(':', 1)[1]}:_authToken=secret-token-1\n")
        server = servers("--install-builds", env={"npm_config_userconfig": str(tmp_path / "npmrc")})
        assert install(server, "seeker").object["packages"] == ["seeker 1.0.0"]
        told = json.loads(node(server, "console.log(JSON.stringify(require('seeker/told.json')))").text)
    assert told["read"] > 0 and told["found"] == 0, told


@with_npm
def test_the_set_is_judged_before_any_script_runs(start, registry):
    server = start("--install-builds", policy={"javascript": {"minimum": {"dated": "2.0.0"}}})
    registry.asked.clear()
    result = install(server, "leader")
    assert result.is_error and "dated (needed by leader) is version 1.0.0" in result.texts[0], result.texts
    assert not any(path.endswith(".tgz") for path in registry.asked)  # nothing was there that could run


@with_npm
def test_without_builds_no_script_runs(start, registry):
    server = start()
    assert install(server, "silent").object["packages"] == ["silent 1.0.0"]
    assert "false" in node(server, "fs.existsSync(require.resolve('silent').replace('index.js', 'told.json'))").text


@with_npm
def test_a_script_that_fails_is_told(start):
    result = install(start("--install-builds"), "failing")
    assert result.is_error and "is no compiler here" in result.texts[0], result.texts


@with_npm
def test_a_package_within_an_archive_is_judged_too(start):
    result = install(start(policy={"javascript": {"block": ["banned"]}}), "smuggler")
    assert result.is_error and "banned is on the block list" in result.texts[0], result.texts
    assert not install(start(), "smuggler").is_error


@with_npm
def test_a_policy_of_later_holds_for_what_the_cache_has(start):
    """Also for what no lock file names."""
    assert not install(start(), "smuggler").is_error
    later = start(policy={"javascript": {"minimum": {"banned": "2.0.0"}}})
    result = install(later, "smuggler", session="t")
    assert result.is_error and "banned is version 1.0.0" in result.texts[0], result.texts
    unchanged = install(start(policy={"javascript": {"minimum": {"banned": "1.0.0"}}}), "smuggler", session="u")
    assert unchanged.object["packages"] == ["smuggler 1.0.0"]


@with_npm
def test_an_older_copy_that_is_loaded_already_is_told(start):
    for n, load in enumerate(("require('dated')", "(await import('dated')).default", "import d from 'dated'; d")):
        server = start()
        install(server, "dated@1.0.0", "plain", session=f"s{n}")
        assert "1.0.0" in node(server, f"{load}", session=f"s{n}").text
        node(server, "require('fs'); require('node:path')", session=f"s{n}")
        result = install(server, "dated@2.0.0", session=f"s{n}")
        assert result.object["imported"].startswith("dated is loaded already in version 1.0.0"), result.texts
        assert "loads 2.0.0" in node(server, "npm install dated@2.0.0\n1", session=f"s{n}").text
        assert "imported" not in install(server, "dated@1.0.0", session=f"s{n}").object
        fresh = install(server, "dated@2.0.0", "plain", session=f"t{n}")
        assert "imported" not in fresh.object and "2.0.0" in node(server, f"{load}", session=f"t{n}").text
        assert "imported" not in install(server, "plain", session=f"t{n}").object


# A source that is its own build: what it tries while pip works, and the wheel that says what came of it.
BACKEND = """
import base64, os, pathlib, socket, zipfile
told = {}
def attempt(name, what):
    try:
        told[name] = str(what())
    except OSError as error:
        told[name] = type(error).__name__
def build_wheel(folder, config_settings=None, metadata_directory=None):
    work = pathlib.Path(os.environ["HOME"])
    attempt("secret", lambda: open(SECRET).read())
    attempt("network", lambda: socket.create_connection(("127.0.0.1", PORT), 3))
    attempt("answer", lambda: os.write(3, b'{"ok": true}'))
    attempt("report", lambda: (work / "report.json").write_text('{"install": []}'))
    attempt("site", lambda: ((work / "site").mkdir(exist_ok=True), (work / "site/planted.py").write_text("x = 1")))
    with zipfile.ZipFile(os.path.join(folder, "built-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("built.py", "told = %r\\n" % told)
        wheel.writestr("built-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n" + NEEDS)
        wheel.writestr("built-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("built-1.0.dist-info/RECORD", "built.py,,\\nbuilt-1.0.dist-info/METADATA,,\\n"
                       "built-1.0.dist-info/WHEEL,,\\nbuilt-1.0.dist-info/RECORD,,\\n")
    return "built-1.0-py3-none-any.whl"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture
def index(of_module):
    index = Index()
    backend = "\n".join([f"SECRET = {str(of_module.home / 'secret.txt')!r}", f"PORT = {index.server.server_address[1]}", 'NEEDS = ""', BACKEND])
    index.add(*sdist("built", "1.0", "", files={"pyproject.toml": PROJECT, "backend.py": backend}))
    yield index
    index.close()


@with_pip
def test_a_source_that_is_built_forges_no_verdict_and_stays_with_its_session(start, index):
    server = start("--install-builds", "--pip-index", index.url)
    result = install(server, "built", language="python")
    assert result.object["packages"] == ["built 1.0"], result.texts
    told = server.cell("import built; built.told").text
    assert "'secret': 'FileNotFoundError'" in told and "'network': 'ConnectionRefusedError'" in told, told
    assert "'answer': 'OSError'" in told and "'report'" in told, told
    assert server.cell("import planted").is_error
    assert_kept_for_nobody(server.home, "built")
