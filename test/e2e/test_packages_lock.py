# SPDX-License-Identifier: MIT
"""`npm ci` and `npm install` of a project with a lock file: its versions and hashes hold, and its URLs do not count."""
import base64
import hashlib
import json
import shutil

import pytest
from registries import Registry, package
from steps import bash

pytestmark = pytest.mark.skipif(shutil.which("npm") is None or shutil.which("node") is None, reason="no npm here")

PACKAGES = [package("alpha", "1.0.0"), package("alpha", "1.5.0"), package("alpha", "2.0.0"), package("beta", "1.0.0", dependencies={"alpha": "^1.0.0"}),
            package("beta", "1.1.0", dependencies={"alpha": "^1.0.0"}), package("tool", "1.0.0"), package("@own/inner", "1.0.0"),
            package("outer", "1.0.0", {"index.js": "module.exports = require('first-alpha')"}, dependencies={"first-alpha": "npm:alpha@^1.0.0"}),
            package("winonly", "1.0.0", os=["win32"])]
HASHES = {f"{name}@{version}": "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode() for name, version, _, archive in PACKAGES}


@pytest.fixture(scope="module")
def registry():
    registry = Registry(*PACKAGES)
    yield registry
    registry.close()


@pytest.fixture
def start(shared, registry):
    return lambda *flags, **options: shared(*flags, env={"npm_config_registry": registry.url}, **options)


def lock(dependencies, packages, **root):
    """A lock file as npm writes it now; its URLs lead to a machine that is none of the registry's."""
    rows = {f"node_modules/{place.replace('>', '/node_modules/')}": {
        "version": version, "resolved": f"http://10.0.0.1/{place}.tgz", "integrity": HASHES[f"{place.split('>')[-1]}@{version}"], **more}
        for place, version, more in packages}
    return {"name": "p", "lockfileVersion": 3, "packages": {"": {"dependencies": dependencies, **root}, **rows}}


def old_lock(dependencies, packages):
    """A lock file of npm 6."""
    rows = {}
    for place, version, more in packages:
        *above, name = place.split(">")
        into = rows
        for one in above:
            into = into[one].setdefault("dependencies", {})
        into[name] = {"version": version, "resolved": "http://10.0.0.1/x.tgz", "integrity": HASHES[f"{name}@{version}"], **more}
    return {"name": "p", "lockfileVersion": 1, "dependencies": rows}


def project(server, manifest, locked, session="s"):
    code = f"cat > package.json <<'END'\n{json.dumps(manifest)}\nEND\n"
    if locked is not None:
        code += f"cat > package-lock.json <<'END'\n{json.dumps(locked)}\nEND\n"
    bash(server, code, session)


OURS = {"beta": "^1.0.0", "alpha": "2"}
NESTED = [("alpha", "2.0.0", {}), ("beta", "1.0.0", {}), ("beta>alpha", "1.0.0", {})]
VERSIONS = "node -p \"[require('alpha'), require('beta'), require(require.resolve('beta').replace('index.js', 'node_modules/alpha'))] + ' came'\""


@pytest.mark.parametrize("made", [lock, old_lock])
@pytest.mark.parametrize("line", ["npm ci", "npm install"])
def test_versions_of_the_lock_are_installed_from_the_registry(start, made, line):
    server = start()
    project(server, {"dependencies": OURS}, made(OURS, NESTED))
    text = bash(server, f"{line}\n{VERSIONS}").text
    assert "alpha 2.0.0, beta 1.0.0" in text and "2.0.0,1.0.0,1.0.0 came" in text, text


def test_the_same_ranges_without_a_lock_and_with_another_one_are_other_sets(start):
    server = start()
    newer = [("alpha", "2.0.0", {}), ("beta", "1.0.0", {}), ("beta>alpha", "1.5.0", {})]
    for session, locked, said in (("s", lock(OURS, NESTED), "2.0.0,1.0.0,1.0.0"), ("t", None, "2.0.0,1.1.0,1.5.0"), ("u", lock(OURS, newer), "2.0.0,1.0.0,1.5.0")):
        project(server, {"dependencies": OURS}, locked, session)
        text = bash(server, f"npm i\n{VERSIONS}", session).text
        assert f"{said} came" in text, text


@pytest.mark.parametrize("made", [lock, old_lock])
def test_another_file_than_the_lock_s_is_refused(start, made):
    server = start()
    locked = json.loads(json.dumps(made({"alpha": "1"}, [("alpha", "1.0.0", {})])).replace(HASHES["alpha@1.0.0"], HASHES["tool@1.0.0"]))
    project(server, {"dependencies": {"alpha": "1"}}, locked)
    text = bash(server, "npm ci; echo status $?; npm ls").text
    assert "alpha" in text and "another file than package-lock.json says" in text and "status 1" in text and "(empty)" in text, text


@pytest.mark.parametrize("changed", ["beta@1.0.0", "alpha@1.0.0"])
def test_a_hash_that_differs_is_told_where_packages_need_each_other(start, changed):
    locked = lock({"beta": "1"}, [("alpha", "1.0.0", {}), ("beta", "1.0.0", {})])
    project(server := start(), {"dependencies": {"beta": "1"}}, json.loads(json.dumps(locked).replace(HASHES[changed], HASHES["tool@1.0.0"])))
    text = bash(server, "npm ci; echo status $?; npm ls").text
    assert "another file than package-lock.json says" in text and "status 1" in text and "(empty)" in text, text


def test_a_project_without_a_lock_or_with_another_s_lock_is_told(start, registry):
    server = start()
    asked = len(registry.asked)
    project(server, {"dependencies": {"alpha": "1"}}, None)
    assert "npm ci needs package-lock.json" in bash(server, "npm ci; echo status $?").text
    project(server, {"dependencies": {"alpha": "2"}}, lock({"alpha": "1"}, [("alpha", "1.0.0", {})]))
    text = bash(server, "npm ci; echo status $?").text
    assert "alpha" in text and "npm install" in text and "status 1" in text and len(registry.asked) == asked, text
    text = bash(server, "npm install").text
    assert "its versions are not used" in text and "Installed: alpha 2.0.0" in text, text


def test_packages_for_development_are_left_out_on_request(start):
    server = start()
    project(server, {"dependencies": {"alpha": "1"}, "devDependencies": {"tool": "*"}},
            lock({"alpha": "1"}, [("alpha", "1.0.0", {}), ("tool", "1.0.0", {"dev": True})], devDependencies={"tool": "*"}))
    assert "Installed: alpha 1.0.0. " in bash(server, "npm ci --omit=dev").text
    assert "Installed: tool 1.0.0. " in bash(server, "npm clean-install").text


def test_what_a_lock_has_from_elsewhere_does_not_cross(start, registry):
    server = start()
    locked = lock({"alpha": "1", "x": "file:../x", "y": "npm:tool@1", "z": "git+ssh://a/b"}, [("alpha", "1.0.0", {})])
    locked["packages"].update({"node_modules/x": {"link": True, "resolved": "../x"}, "../x": {"version": "1.0.0"},
                               "node_modules/y": {"name": "tool", "version": "1.0.0", "integrity": HASHES["tool@1.0.0"]},
                               "node_modules/z": {"version": "1.0.0", "resolved": "git+ssh://a/b#1"}, "node_modules/z/node_modules/tool": {"version": "1.0.0"}})
    project(server, {"dependencies": locked["packages"][""]["dependencies"]}, locked)
    asked = len(registry.asked)
    text = bash(server, "npm ci").text
    assert "Installed: alpha 1.0.0. " in text and all(f"{name} is not asked for" in text for name in "xyz"), text
    assert all("tool" not in path for path in registry.asked[asked:])


@pytest.mark.parametrize("outer", ["", "outer>"])
@pytest.mark.parametrize("made", [lock, old_lock])
def test_a_package_of_a_lock_lies_under_the_name_that_another_has_for_it(start, made, outer):
    server = start()
    newer = made is lock
    version = "1.0.0" if newer else "npm:alpha@1.0.0"
    locked = made({"outer": "1"}, [("outer", "1.0.0", {}), (f"{outer}alpha", "1.0.0", {"version": version, **({"name": "alpha"} if newer else {})})])
    locked = json.loads(json.dumps(locked).replace('alpha": {"version"', 'first-alpha": {"version"'))
    project(server, {"dependencies": {"outer": "1"}}, locked)
    text = bash(server, "npm ci; node -p \"require('outer') + ' came'\"").text
    assert "Installed: " in text and "1.0.0 came" in text, text


@pytest.mark.parametrize("line, locked", [("npm install", False), ("npm install", True), ("npm ci", True)])
def test_an_optional_package_that_is_not_for_this_system_is_left_out(start, line, locked):
    server = start()
    optional = {"winonly": "1", "nowhere": "*"} if not locked else {"winonly": "1"}
    found = lock({"alpha": "1"}, [("alpha", "1.0.0", {}), ("winonly", "1.0.0", {"optional": True, "os": ["win32"]})], optionalDependencies=optional)
    project(server, {"dependencies": {"alpha": "1"}, "optionalDependencies": optional}, found if locked else None)
    text = bash(server, f"{line}; echo status $?").text
    assert f"Installed: alpha {'1.0.0' if locked else '1.5.0'}. " in text and "Left out" in text and "winonly" in text and "status 0" in text, text
    assert "There already: alpha" in bash(server, "npm i alpha; npm uninstall winonly").text


def test_a_lock_that_does_not_fit_what_the_session_has_is_told(start):
    server = start()
    bash(server, "npm i alpha@2")
    project(server, {"dependencies": {"beta": "1"}}, lock({"beta": "1"}, [("beta", "1.0.0", {}), ("alpha", "1.0.0", {})]))
    text = bash(server, "npm ci; echo status $?").text
    assert "package-lock.json has alpha 1.0.0" in text and "npm uninstall" in text and "status 1" in text, text
    bash(server, "npm uninstall alpha; npm i --no-save alpha")  # no range: any version will do
    assert "alpha 1.0.0, beta 1.0.0" in bash(server, "npm ci").text


def test_a_long_lock_goes_in_and_one_that_is_too_long_is_told(start):
    """More packages than a request has names. None of them is asked for, so they are not installed."""
    server = start()
    locked = lock({"alpha": "1"}, [("alpha", "1.0.0", {})])
    for count, said in ((300, "package-lock.json has n0 1.0.0"), (5000, "5001 packages of a lock file are named; name 5000 at most")):
        more = {f"node_modules/n{n}": {"version": "1.0.0"} for n in range(count)}
        project(server, {"dependencies": {"alpha": "1"}}, {**locked, "packages": {**locked["packages"], **more}})
        text = bash(server, "npm ci").text
        assert said in text, text


@pytest.mark.parametrize("locked, said", [("['alpha@http://10.0.0.1/x.tgz']", "is no line of a lock file"), ("'alpha@1.0.0'", "this is no request for packages"),
                                          ("{ alpha: '1.0.0' }", "this is no request for packages")])
def test_lines_that_are_no_packages_are_refused(start, locked, said):
    """Code may ask the server without npm."""
    text = start().call("exec_code", session_id="s", language="javascript", code="""
        const fs = require('fs'), { execFileSync } = require('child_process');
        const ask = process.env.PATH.split('/bin')[0], name = require('crypto').randomBytes(8).toString('hex'), pipes = `${ask}/data/.cache/ask`;
        fs.mkdirSync(pipes, { recursive: true });
        execFileSync('mkfifo', [`${pipes}/${name}.request`, `${pipes}/${name}.answer`]);
        const [asks, told] = ['request', 'answer'].map((one) => fs.openSync(`${pipes}/${name}.${one}`, 'r+'));
        fs.writeFileSync(`${ask}/../bell/pipe`, name + '\\n');
        const line = () => { let all = ''; const one = Buffer.alloc(1); while (fs.readSync(told, one) && one[0] !== 10) all += one; return all; };
        line();
        fs.writeSync(asks, JSON.stringify({ language: 'javascript', command: 'install', packages: ['alpha'], locked: LOCKED }) + '\\n');
        JSON.parse(line()).text""".replace("LOCKED", locked)).text
    assert said in text, text
