# SPDX-License-Identifier: MIT
"""Registries of npm as companies have them: tokens by scope, and what they answer when they do not serve."""
import base64
import datetime
import json
import pathlib
import shutil
import socket
import subprocess

import pytest
from registries import Registry, package
from steps import install

INSTALLER = pathlib.Path(__file__).parents[2] / "lib/install/node.cjs"

pytestmark = pytest.mark.skipif(shutil.which("npm") is None or shutil.which("node") is None, reason="no npm here")


@pytest.fixture
def registry():
    """Makes registries."""
    made = []

    def make(*packages, **options):
        made.append(Registry(*packages, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def configured(servers, tmp_path, *lines, more=(), **options):
    (tmp_path / "npmrc").write_text("\n".join(lines) + "\n", encoding="ascii")
    (tmp_path / "npmrc").chmod(0o600)
    return servers(env={"npm_config_userconfig": str(tmp_path / "npmrc"), **dict(more)}, **options)


def npm(server, *names, **options):
    return install(server, *names, language="javascript", **options)


@pytest.mark.parametrize("answer, said", [
    ((401, "application/json", b"{}"), "wants a login (401). A login goes over https"), ((403, "application/json", b"{}"), "to this user (403)"),
    ((503, "text/plain", b"down"), "fails (503)"), ((200, "text/html", b"<!DOCTYPE html><h1>Log in</h1>"), "web page")])
def test_a_registry_that_does_not_serve_is_told_with_its_host_and_status(servers, registry, tmp_path, answer, said):
    one = registry(says=answer)
    result = npm(configured(servers, tmp_path, f"registry={one.url}", "fetch-retries=0"), "alpha")
    host = one.url.split("/")[2]
    assert result.is_error and said in result.texts[0] and host in result.texts[0] and "npm error" not in result.texts[0], result.texts


def test_a_token_goes_to_the_registry_of_its_scope_only(servers, registry, tmp_path):
    private = registry(package("@own/inner", "1.0.0", dependencies={"outer": "1"}), token="secret-token-1")
    public = registry(package("outer", "1.0.0"))
    host = private.url.split(":", 1)[1]
    server = configured(servers, tmp_path, f"registry={public.url}", f"@own:registry={private.url}", f"{host}:_authToken=secret-token-1")
    result = npm(server, "@own/inner")
    assert result.object["packages"] == ["@own/inner 1.0.0", "outer 1.0.0"], result.texts
    assert set(public.authorizations) == {None} and set(private.authorizations) == {"Bearer secret-token-1"}
    seen = server.call("exec_code", session_id="s", language="bash", code="grep -rl secret-token-1 /mnt 2>/dev/null; env | grep -c secret-token").text
    assert "secret" not in seen and "0" in seen


def code(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("lines", [
    ["@own:registry={url}", "{key}:_auth=" + code("user:secret:1")],
    ["@own:registry={url}", "{key}:username=user", "{key}:_password=" + code("secret:1")],
    ["@own:registry={open}user:secret%3A1@{rest}"]])
def test_a_password_of_a_scope_opens_its_registry_only(servers, registry, tmp_path, lines):
    private = registry(package("@own/inner", "1.0.0", dependencies={"outer": "1"}), login=("user", "secret:1"))
    public = registry(package("outer", "1.0.0"))
    scheme, _, rest = private.url.partition("//")
    words = {"url": private.url, "key": f"//{rest}", "open": f"{scheme}//", "rest": rest}
    server = configured(servers, tmp_path, f"registry={public.url}", *[line.format(**words) for line in lines])
    result = npm(server, "@own/inner")
    assert result.object["packages"] == ["@own/inner 1.0.0", "outer 1.0.0"], result.texts
    assert set(public.authorizations) == {None} and set(private.authorizations) == {private.login}


def test_two_scopes_of_one_machine_have_their_own_tokens(servers, registry, tmp_path):
    one = registry(package("@one/a", "1.0.0"), token="token-one")
    two = registry(package("@two/b", "1.0.0"), token="token-two")
    keys = [made.url.split(":", 1)[1] for made in (one, two)]
    server = configured(servers, tmp_path, f"@one:registry={one.url}", f"@two:registry={two.url}", f"registry={one.url}",
                        f"{keys[0]}:_authToken=token-one", f"{keys[1]}:_authToken=token-two")
    assert npm(server, "@one/a", "@two/b").object["packages"] == ["@one/a 1.0.0", "@two/b 1.0.0"]
    assert set(one.authorizations) == {one.login} and set(two.authorizations) == {two.login}


def configuration_of(tmp_path, options):
    """What the installer writes for npm. The test is the server here."""
    ours, its = socket.socketpair()
    with ours, its:
        ours.sendall(json.dumps({"step": "where", "options": options, "indexes": [], "proxied": False}).encode() + b"\n")
        subprocess.run(["sh", "-c", 'exec node "$0" 3<&0', INSTALLER], cwd=tmp_path, stdin=its, check=True)
    return (tmp_path / ".npmrc-installer").read_text().splitlines()


@pytest.mark.parametrize("url, goes", [("https://npm.test/all/", True), ("http://npm.test/all/", False), ("http://localhost/all/", True),
                                       ("http://127.0.0.1:80/all/", True), ("http://localhost.test/all/", False)])
def test_a_password_goes_over_https_or_to_this_machine(tmp_path, url, goes):
    host = url.split(":", 1)[1]
    top = host.removesuffix("all/")
    for options in ({"registry": url, f"{host}:_authToken": "secret"}, {"@own:registry": url, f"{top}:_authToken": "secret"},
                    {"registry": url, f"{top[:-1]}:_authToken": "secret"}, {"registry": url.replace("//", "//user:secret@")}):
        text = "\n".join(configuration_of(tmp_path, options))
        assert ("_auth" in text) == goes and "user:secret" not in text, text


@pytest.mark.parametrize("page", [True, False], ids=["page", "file"])
def test_a_token_does_not_go_on_after_a_redirect(servers, registry, tmp_path, page):
    """To another port of the machine, which is that of another registry."""
    other = registry(package("alpha", "1.0.0"))
    path = "alpha" if page else "-/alpha-1.0.0.tgz"
    one = registry(package("alpha", "1.0.0"), token="secret-token-1", moved={f"/{path}": other.url + path})
    server = configured(servers, tmp_path, f"registry={one.url}", f"@other:registry={other.url}", f"{one.url.split(':', 1)[1]}:_authToken=secret-token-1")
    assert npm(server, "alpha").object["packages"] == ["alpha 1.0.0"]
    assert set(one.authorizations) == {one.login} and set(other.authorizations) == {None}


@pytest.mark.parametrize("url, goes", [("https://npm.test/", True), ("https://npm.test/file.tgz", True), ("http://npm.test/", False), ("https://npm.test:8443/", False),
                                       ("https://files.test:8443/", False), ("https://files.test/", True), ("http://files.test/", False)])
def test_a_login_goes_to_its_own_scheme_host_and_port(tmp_path, url, goes):
    """Whatever npm asks for: it compares no schemes, and no ports when it is led on."""
    tokens = {"//npm.test/:_authToken": "secret", "//files.test/:_authToken": "secret", "//npm.test:8443/:_authToken": "another"}
    configuration_of(tmp_path, {"registry": "https://npm.test/all/", **tokens})
    code = """const { protocol, hostname, port, pathname: path } = new URL(process.argv[1]);
        const request = require(protocol.slice(0, -1)).request({ protocol, hostname, port, path, headers: { Authorization: ['Bearer secret'], Accept: ['a'] } });
        request.on('error', () => {}).destroy();
        console.log(JSON.stringify(request.getHeaders()));"""
    done = subprocess.run(["node", "--require", "./.logins-installer.cjs", "-e", code, url], cwd=tmp_path, check=True, capture_output=True, text=True)
    headers = json.loads(done.stdout)
    assert ("authorization" in headers) == goes and headers["accept"] == ["a"], headers


def test_a_token_may_have_any_character(servers, registry, tmp_path):
    one = registry(package("alpha", "1.0.0"), token='to#k;e"n')
    key = one.url.split(":", 1)[1]
    lines = [f"registry={one.url} ; of us", f"{key}:_authToken=${{TOKEN}} # it is secret"]
    result = npm(configured(servers, tmp_path, *lines, more={"TOKEN": 'to#k;e"n'}), "alpha")
    assert result.object["packages"] == ["alpha 1.0.0"], result.texts



# ---- releases that are too young


def days_ago(days):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)).isoformat().replace("+00:00", "Z")


def young(registry, **options):
    """A registry that has an old and a young release of `alpha`, which `free` needs, and a young one alone of `new`."""
    times = {"alpha": {"1.0.0": days_ago(30), "2.0.0": days_ago(3)}, "free": {"1.0.0": days_ago(100)}, "new": {"1.0.0": days_ago(1.5)}}
    return registry(package("alpha", "1.0.0"), package("alpha", "2.0.0"), package("free", "1.0.0", dependencies={"alpha": ">=1"}),
                    package("new", "1.0.0"), times=times, **options)


def test_a_release_that_is_younger_than_the_policy_wants_is_not_taken(servers, registry, tmp_path):
    one = young(registry, token="secret-token-1")
    server = configured(servers, tmp_path, f"registry={one.url}", f"{one.url.split(':', 1)[1]}:_authToken=secret-token-1",
                        policy={"javascript": {"minimum_age": "7d"}})
    result = npm(server, "free")
    assert result.object["packages"] == ["alpha 1.0.0", "free 1.0.0"], result.texts
    assert "alpha 2.0.0 is not yet 7d old (javascript.minimum_age): 1.0.0 was taken." in result.texts[0]
    assert "not yet" not in npm(server, "alpha@1", session="u").texts[0]
    for asked, version, age in (("alpha@^2", "2.0.0", "3 days"), ("new", "1.0.0", "36 hours")):
        text = npm(server, asked, session="t").texts[0]
        assert f"version {version} is {age} old, and javascript.minimum_age wants 7d. No older one satisfies" in text, text
    assert not any(path.endswith("alpha-2.0.0.tgz") for path in one.asked)


def test_a_registry_that_tells_no_times_has_nothing_old_enough(servers, registry):
    one = registry(package("alpha", "1.0.0"))
    result = npm(servers(env={"npm_config_registry": one.url}, policy={"javascript": {"minimum_age": "7d"}}), "alpha")
    assert result.is_error and "does not tell when alpha 1.0.0 was published" in result.texts[0], result.texts
    assert not any(path.endswith(".tgz") for path in one.asked)


def test_a_locked_release_that_is_too_young_is_refused(servers, registry):
    one = young(registry)
    server = servers(env={"npm_config_registry": one.url}, policy={"javascript": {"minimum_age": "7d"}})
    lock = {"lockfileVersion": 3, "packages": {"": {"dependencies": {"alpha": "2"}}, "node_modules/alpha": {"version": "2.0.0"}}}
    files = f"echo '{json.dumps({'dependencies': {'alpha': '2'}})}' > package.json; echo '{json.dumps(lock)}' > package-lock.json"
    text = server.call("exec_code", session_id="s", language="bash", code=f"{files}; npm ci").text
    assert "2.0.0 is 3 days old, and javascript.minimum_age wants 7d" in text, text
