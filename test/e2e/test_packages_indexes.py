# SPDX-License-Identifier: MIT
"""Indexes as companies have them: passwords, redirects, several of them, and what they answer instead of packages."""
import contextlib
import itertools
import datetime
import importlib
import importlib.util
import json
import pathlib
import random
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
from client import WAIT_S
from indexes import Index, wheel
from patience import until
from registries import Registry, package
from steps import install, paths_in

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
needs_pip = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")

ALPHA = wheel("alpha", "1.0")
LOGIN = ("robot", "p4ss:w@rd/x")
SECRETS = ("p4ss", "p4ss%3Aw%40rd%2Fx")


@pytest.fixture
def index():
    """Makes indexes, as Index does."""
    made = []

    def make(*files, **options):
        made.append(Index(*files, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def with_login(url, login="robot:p4ss%3Aw%40rd%2Fx"):
    return url.replace("://", f"://{login}@")


# ---- passwords


@needs_pip
def test_a_password_in_the_url_opens_the_index_and_stands_nowhere(servers, index, home):
    """K1, K5."""
    private = index(wheel("inner", "1.0", ["alpha"]), ALPHA, login=LOGIN)
    server = servers("--pip-index", with_login(private.url), "--audit", str(home / "audit"))
    result = install(server, "inner")
    assert result.object["packages"] == ["alpha 1.0", "inner 1.0"], result.texts
    refused = install(server, "inner==2.0")
    told = [result, refused, server.call("session_info", session_id="s", include=["packages"]),
            server.cell("import inner, os; print(os.environ)")]
    texts = "".join(str(one.raw) for one in told) + server.stderr.decode()
    for path in paths_in(home, "**/*"):
        texts += path.read_bytes().decode("latin1") if path.is_file() and not path.is_symlink() else ""
    assert refused.is_error and "localhost" in texts
    assert not any(secret in texts for secret in SECRETS)


@needs_pip
def test_a_password_in_netrc_opens_the_index(servers, index, home):
    (home / ".netrc").write_text(f"machine localhost login {LOGIN[0]} password {LOGIN[1]}\n")
    result = install(servers("--pip-index", index(ALPHA, login=LOGIN).url), "alpha")
    assert result.object["packages"] == ["alpha 1.0"] and "p4ss" not in str(result.raw), result.texts


@needs_pip
def test_a_password_does_not_go_on_after_a_redirect(servers, index):
    other = index(ALPHA)
    private = index(login=LOGIN, moved={"/simple/alpha/": other.url + "/alpha/"})
    hosts = other.url.split("/")[2]
    result = install(servers("--pip-index", with_login(private.url), env={"PTYCELL_INSTALL_HOSTS": hosts}), "alpha")
    assert result.object["packages"] == ["alpha 1.0"], result.texts
    assert private.authorizations[0] and other.authorizations and not any(other.authorizations)
    refused = install(servers("--pip-index", with_login(private.url)), "alpha==1.0", session="t")  # not the kept set
    assert refused.is_error and f"leads to '{hosts}'" in refused.texts[0] and "PTYCELL_INSTALL_HOSTS" in refused.texts[0]


@needs_pip
def test_a_redirect_of_the_index_to_itself_keeps_the_password(servers, index):
    private = index(ALPHA, login=LOGIN)
    private.moved["/old/alpha/"] = private.url + "/alpha/"
    result = install(servers("--pip-index", with_login(private.url.replace("/simple", "/old"))), "alpha")
    assert result.object["packages"] == ["alpha 1.0"], result.texts


# ---- several indexes


@needs_pip
def test_the_first_index_that_has_a_name_serves_it(servers, index):
    """K4: the highest version of all would be another package of the same name."""
    first, second = index(wheel("inner", "1.0")), index(wheel("inner", "99.0"), ALPHA)
    result = install(servers(env={"PTYCELL_PIP_INDEX": f"{first.url} {second.url}"}), "inner", "alpha")
    assert result.object["packages"] == ["alpha 1.0", "inner 1.0"], result.texts
    assert f"From the index {second.url.split('/')[2]}: alpha 1.0." in result.texts[0], result.texts


@needs_pip
def test_of_pip_s_configuration_extra_indexes_come_first(servers, index, home):
    """Mostly the main one is the public one."""
    public, private = index(wheel("inner", "99.0"), ALPHA), index(wheel("inner", "1.0"))
    server = servers(env={"PIP_INDEX_URL": public.url, "PIP_EXTRA_INDEX_URL": private.url})
    assert install(server, "inner", "alpha").object["packages"] == ["alpha 1.0", "inner 1.0"]


@needs_pip
def test_an_index_that_fails_is_not_passed_over(servers, index):
    private, public = index(login=LOGIN), index(wheel("inner", "99.0"))
    result = install(servers(env={"PTYCELL_PIP_INDEX": f"{private.url} {public.url}"}), "inner")
    assert result.is_error and "answers 401" in result.texts[0] and not public.asked, result.texts


@needs_pip
@pytest.mark.parametrize("language, mark", [("bash", ""), ("python", "%"), ("python", "!")])
def test_code_chooses_one_of_the_user_s_indexes_by_its_whole_url(servers, index, language, mark):
    """As PyTorch's index of wheels for one kind of machine is named; what the package needs comes from the usual one."""
    usual = index(ALPHA, wheel("torch", "2.2"), wheel("beta", "1.0", ["torch"]), told=True)
    other = index(wheel("torch", "2.1+cpu", ["alpha"]), wheel("torch", "2.0+cpu"), login=LOGIN, told=True)
    server = servers("--pip-index", f"{usual.url} {with_login(other.url)}")

    def run(line):
        return server.call("exec_code", session_id="s", language=language, code=mark + line).text

    said = run(f"pip install torch --index-url {other.url}/")
    assert "Installed: alpha 1.0, torch 2.1+cpu" in said and f"From the index {other.url.split('/')[2]}: torch 2.1+cpu" in said, said
    assert "torch 2.1+cpu" in run("pip install beta")  # it stays, from where it came
    assert "Installed: torch 2.0+cpu" in run("pip install 'torch<2.1'")
    assert "torch 2.0+cpu" in run(f"pip install beta --extra-index-url={with_login(other.url)}")
    asked = len(other.asked)
    for url in (other.url.removesuffix("simple"), other.url.replace("localhost", "127.0.0.1"), "https" + other.url[4:]):
        said = run(f"pip install torch -i {url}")
        assert "was not used" in said and "p4ss" not in said, said
    assert len(other.asked) == asked
    told = install(server, "torch", "--index-url=" + other.url, session="t")
    assert told.is_error and "NAME --index-url=URL" in told.texts[0]
    assert "torch 2.1+cpu" in install(server, "torch --index-url=" + other.url, session="t").object["packages"]


@needs_pip
def test_an_index_that_is_for_some_packages_serves_those_and_nothing_else(servers, index, home):
    """PTYCELL_PIP_INDEX has NAME*@URL; what it does not reserve comes from where it would come without."""
    usual = index(wheel("torch", "9.0"), wheel("torchless", "9.0"), ALPHA)
    wheels = index(wheel("torch", "2.1+cpu", ["alpha"]), wheel("Torch_More", "1.0"), wheel("alpha", "9.0"), wheel("only", "1.0"), login=LOGIN)
    for setting in (f"{usual.url} torch*@{with_login(wheels.url)}", f"torch*@{with_login(wheels.url)}"):
        server = servers(env={"PTYCELL_PIP_INDEX": setting, "PIP_INDEX_URL": usual.url})
        result = install(server, "torch")
        assert result.object["packages"] == ["alpha 1.0", "torch 2.1+cpu"], result.texts
        assert f"From the index {wheels.url.split('/')[2]}: torch 2.1+cpu." in result.texts[0], result.texts
        assert "Torch_More 1.0" in install(server, "torch-more").object["packages"]
        for name in ("torchless", "only", "torch==9.0"):
            refused = install(server, name, session="t")
            assert refused.is_error and ("The index has no" in refused.texts[0] or "no such version" in refused.texts[0]), refused.texts
        asked = len(wheels.asked)
        assert install(server, f"alpha --index-url={wheels.url}", session="t").object["packages"] == ["alpha 1.0"]
        assert "torch 2.1+cpu" in install(server, f"torch --index-url={usual.url}", session="u").object["packages"]
        assert not any("/alpha/" in path for path in wheels.asked[asked:])


# ---- progress


LARGE = wheel("large", "1.0", files={"large.py": "", "large.bin": random.Random(1).randbytes(3_000_000)})


def await_progress(server, wanted):
    said = []
    until(lambda: said.extend(one["params"].get("message", "") for one in server.notifications("notifications/progress"))
          or any(re.fullmatch(wanted, one) for one in said))


@needs_pip
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("tool", ["install_packages", "exec_code", "cell", "program"])
def test_how_far_a_download_is_is_told_to_who_waits(servers, index, told, tool):
    """Whether pip needs the file to resolve (told: no) or not."""
    slow = index(LARGE, told=told)
    slow.half.clear()
    server = servers("--pip-index", slow.url)
    of_cell = {"session_id": "s", "language": "bash" if tool == "program" else "python"}
    arguments = {"install_packages": {"session_id": "s", "packages": ["large"]}, "exec_code": {**of_cell, "code": "import large; large.__name__ + ' 1.0'", "dependencies": ["large"]},
                 "cell": {**of_cell, "code": "%pip install large"}, "program": {**of_cell, "code": "pip install large"}}[tool]
    answer = server.start("tools/call", {"name": "exec_code" if "code" in arguments else tool, "arguments": arguments, "_meta": {"progressToken": "p"}})
    await_progress(server, r"installing large: [01]\.\d of 3\.0 MB")
    slow.half.set()
    assert "large 1.0" in str(answer.get(timeout=WAIT_S)["result"]["content"])


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
def test_how_much_npm_has_received_is_told_to_who_waits(servers, tmp_path):
    """npm itself does not say."""
    with contextlib.closing(Registry(package("large", "1.0.0", {"data": random.Random(1).randbytes(1_000_000).hex()}))) as slow:
        slow.half.clear()
        (tmp_path / "npmrc").write_text(f"registry={slow.url}\n")
        server = servers(env={"npm_config_userconfig": str(tmp_path / "npmrc")})
        answer = server.start("tools/call", {"name": "install_packages", "_meta": {"progressToken": "p"}, "arguments": {
            "session_id": "s", "language": "javascript", "packages": ["large"]}})
        await_progress(server, r"installing large: [0-2]\.\d MB")
        slow.half.set()
        assert "large 1.0.0" in str(answer.get(timeout=WAIT_S)["result"]["content"])


@needs_pip
@pytest.mark.parametrize("path, told", [  # an index that tells nothing has no metadata
    *itertools.product(["/simple/alpha/", "/files/alpha-1.0-py3-none-any.whl"], [True, False]),
    ("/files/alpha-1.0-py3-none-any.whl.metadata", True)])
def test_what_an_index_does_not_send_to_its_end_is_asked_for_once_more(servers, index, told, path):
    one = index(ALPHA, told=told)
    server = servers("--pip-index", one.url)
    one.cut = [path, path]
    refused = install(server, "alpha")
    assert refused.is_error and re.search(r"localhost:\d+ ended the connection twice before all of \S+( page)? came\. Try again later", str(refused.texts)), refused.texts
    one.cut, one.asked = [path], []
    assert install(server, "alpha").object["packages"] == ["alpha 1.0"]
    assert one.asked.count(path) == 2 and one.cut == []


@needs_pip
def test_half_a_page_is_no_page(servers, index):
    """The newest releases often stand last."""
    one = index(*[wheel("alpha", f"{n}.0") for n in range(1, 7)])
    one.cut = ["/simple/alpha/"]
    assert install(servers("--pip-index", one.url), "alpha").object["packages"] == ["alpha 6.0"]


# ---- a set that is kept, of an index whose answers do not hold


@needs_pip
@pytest.mark.parametrize("tags", [True, False])
def test_a_set_holds_while_the_indexes_say_the_same(servers, index, tags):
    """Descriptions are what pip would ask for."""
    one = index(wheel("outer", "1.0", ["alpha"]), ALPHA, told=True)
    one.tags = tags
    server = servers("--pip-index", one.url)
    assert install(server, "outer").object["packages"] == ["alpha 1.0", "outer 1.0"]
    one.asked, one.statuses = [], []
    again = install(server, "outer", session="t")
    assert again.object["packages"] == ["alpha 1.0", "outer 1.0"] and again.object["cached"], again.texts
    assert sorted(one.asked) == ["/simple/alpha/", "/simple/outer/"] and set(one.statuses) == {304 if tags else 200}
    assert server.cell("import outer, alpha; alpha.version", session_id="t").text == "'1.0'\n"
    one.add(*wheel("alpha", "2.0"))
    assert install(server, "outer", session="u").object["packages"] == ["alpha 2.0", "outer 1.0"]
    assert install(server, "outer", session="v").object["packages"] == ["alpha 2.0", "outer 1.0"]


@needs_pip
def test_a_set_holds_no_longer_when_an_earlier_index_has_the_name(servers, index):
    first, second = index(told=True), index(ALPHA, told=True)
    server = servers("--pip-index", f"{first.url} {second.url}")
    install(server, "alpha")
    assert f"From the index localhost:{second.url.split(':')[2].split('/')[0]}: alpha 1.0." in str(install(server, "alpha", session="t").texts)
    first.add(*wheel("alpha", "0.5"))
    assert install(server, "alpha", session="u").object["packages"] == ["alpha 0.5"]


@needs_pip
def test_a_set_holds_no_longer_when_its_index_fails(servers, index):
    one = index(ALPHA, told=True)
    server = servers("--pip-index", one.url)
    install(server, "alpha")
    one.says = (500, "text/plain", b"")
    assert "answers 500" in str(install(server, "alpha", session="t").texts)


@needs_pip
def test_a_set_of_files_without_hashes_is_looked_for_anew(servers, index):
    """Another file may be there under the same name."""
    one = index(ALPHA)
    one.changed["/simple/alpha/"] = b'<!DOCTYPE html><a href="/files/alpha-1.0-py3-none-any.whl">alpha-1.0-py3-none-any.whl</a>'
    server = servers("--pip-index", one.url)
    install(server, "alpha")
    one.add(*wheel("alpha", "1.0", files={"alpha.py": "version = 'other'\n"}))
    install(server, "alpha", session="t")
    assert server.cell("import alpha; alpha.version", session_id="t").text == "'other'\n"


# ---- what an index answers instead


@needs_pip
@pytest.mark.parametrize("says, told", [
    ((401, "text/plain", b""), "answers 401: it wants a user and a password"),
    ((403, "text/plain", b""), "answers 403"),
    ((429, "text/plain", b""), "answers 429: it was asked too often"),
    ((500, "text/html", b""), "answers 500: it has a problem of its own"),
    ((503, "text/html", b""), "answers 503"),
    ((418, "text/html", b""), "answers 418 instead of packages"),
    ((200, "text/html", b"<form>Please log in</form>"), "a page that lists no file"),
    ((200, "application/vnd.pypi.simple.v1+json", b"{}"), "no list of files")], ids=str)
def test_what_an_index_answers_instead_of_packages_is_told(servers, index, says, told):
    """K9."""
    failing = index(says=says)
    result = install(servers("--pip-index", failing.url), "alpha")
    host = failing.url.split("/")[2]
    assert result.is_error and f"The index {host} answers" in result.texts[0] and told in result.texts[0], result.texts
    assert "matching distribution" not in result.texts[0]


@needs_pip
def test_a_wrong_password_is_told(servers, index):
    result = install(servers("--pip-index", with_login(index(ALPHA, login=LOGIN).url, "robot:wrong")), "alpha")
    assert result.is_error and "does not take the user and password" in result.texts[0], result.texts


@needs_pip
def test_a_file_that_an_index_lists_and_does_not_have_is_told(servers, index):
    lost = index(ALPHA)
    page = lost.page("/simple/alpha/")
    lost.page = lambda path: page if path == "/simple/alpha/" else (None, "text/plain")
    result = install(servers("--pip-index", lost.url), "alpha")
    assert result.is_error and "answers 404: a file that it lists is not there" in result.texts[0], result.texts


# ---- before the download


@needs_pip
def test_what_is_too_large_is_refused_before_its_download(servers, index):
    large = index(wheel("large", "1.0", ["alpha"], files={"large.bin": random.Random(1).randbytes(3 << 20)}), ALPHA, told=True)
    result = install(servers("--pip-index", large.url, env={"PTYCELL_INSTALL_MAX": "2M"}), "large")
    assert result.is_error and "3.1 MB to download (large 3.1 MB" in result.texts[0], result.texts
    assert "PTYCELL_INSTALL_MAX" in result.texts[0] and not any(path.endswith(".whl") for path in large.asked)


@needs_pip
@pytest.mark.parametrize("file, request_, told", [
    (("bin-1.0-cp30-cp30-win32.whl", b""), "bin", "no wheel of version 1.0 is for this Python, which is 3."),
    (("bin-1.0.tar.gz", b""), "bin", "only a source"),
    (wheel("bin", "1.0"), "bin>1", "the index has no such version, but 1.0"),
    (wheel("other", "1.0"), "bin", "The index has no package bin")], ids=["other systems", "source", "version", "name"])
def test_what_has_no_file_for_this_python_is_told_apart(servers, index, file, request_, told):
    """K19."""
    source = index(file, wheel("app", "1.0", [request_]))
    server = servers("--pip-index", source.url)
    for asked in (request_, "app"):
        result = install(server, asked)
        assert result.is_error and told in result.texts[0], result.texts
    assert "needed by app" in result.texts[0], result.texts


@needs_pip
def test_a_set_that_is_kept_is_found_without_its_files(servers, index):
    source = index(wheel("free", "1.0", ["alpha"]), ALPHA, told=True)
    server = servers("--pip-index", source.url)
    install(server, "free")
    source.asked.clear()
    result = install(server, "free", session="t")
    assert result.object["packages"] == ["alpha 1.0", "free 1.0"] and "/simple/free/" in source.asked
    assert not any(path.endswith(".whl") for path in source.asked), source.asked


@needs_pip
@pytest.mark.parametrize("told", [False, True])
def test_a_file_that_is_kept_is_not_downloaded_again(servers, index, home, told):
    """Also for a set that is none yet: the session's earlier packages, or another session's among others."""
    source = index(wheel("free", "1.0", ["alpha"]), ALPHA, wheel("beta", "1.0"), wheel("gamma", "1.0", ["beta"]), told=told)
    server = servers("--pip-index", source.url)
    install(server, "free")
    for session, name, new in (("s", "beta", "beta-1.0"), ("t", "gamma", "gamma-1.0")):
        source.asked.clear()
        result = install(server, name, *(["free"] if session == "t" else []), session=session)
        assert not result.is_error and not result.object["cached"], result.texts
        files = [path for path in source.asked if path.startswith("/files/")]
        assert files and all(path.startswith(f"/files/{new}") for path in files), files
    assert server.cell("import alpha, beta, free, gamma; alpha.version", session="t").text.strip() == "'1.0'"


def in_an_unknown_way(data):
    """Its central directory names a compression that no zipfile knows."""
    return re.sub(rb"(PK\x01\x02.{6})..", lambda found: found[1] + b"\x63\0", data, flags=re.DOTALL)


@needs_pip
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("change", [lambda data: data + b"x", in_an_unknown_way, lambda _: wheel("alpha", "1.0", ["nowhere"])[1]])
def test_a_kept_file_that_has_changed_is_downloaded_again(servers, index, home, told, change):
    source = index(ALPHA, wheel("beta", "1.0"), told=told)
    server = servers("--pip-index", source.url)
    install(server, "alpha")
    [kept] = paths_in(home, "cache/packages/wheels/*")
    kept.chmod(0o600)
    kept.write_bytes(change(kept.read_bytes()))
    result = install(server, "beta")
    assert not result.is_error and result.object["packages"] == ["alpha 1.0", "beta 1.0"], result.texts
    assert kept.read_bytes() == ALPHA[1]


@needs_pip
def test_without_the_index_its_last_answer_holds_and_that_is_told(servers, index):
    source = index(ALPHA)
    server = servers("--pip-index", source.url)
    install(server, "alpha")
    source.close()
    result = install(server, "alpha", session="t")
    assert result.object["packages"] == ["alpha 1.0"], result.texts
    assert "cannot be reached" in result.texts[0] and "its answer of 0 minutes ago was taken" in result.texts[0]
    assert install(server, "--upgrade", "alpha", session="u").is_error
    assert install(server, "alpha>=1", session="u").is_error


@needs_pip
def test_without_several_indexes_the_last_answer_holds_and_that_is_told(servers, index):
    sources = [index(wheel("beta", "1.0")), index(ALPHA)]
    server = servers("--pip-index", " ".join(source.url for source in sources))
    assert install(server, "alpha").object["packages"] == ["alpha 1.0"]
    for source in sources:
        source.close()
    result = install(server, "alpha", session="t")
    assert not result.is_error and result.object["packages"] == ["alpha 1.0"], result.texts
    assert "cannot be reached" in result.texts[0] and "its answer of 0 minutes ago was taken" in result.texts[0]


@needs_pip
def test_a_file_that_is_not_what_the_index_says_is_refused(servers, index):
    source = index(ALPHA, told=True)
    source.changed["/files/" + ALPHA[0]] = ALPHA[1] + b"x"
    result = install(servers("--pip-index", source.url), "alpha")
    assert result.is_error and "has another hash than it says" in result.texts[0], result.texts


# ---- releases that are too young


def young(index, **days):
    """An index whose files are that old."""
    source = index(*(wheel("alpha", version.replace("_", ".")[1:]) for version in days), wheel("free", "1.0", ["alpha"]), told=True)
    now = datetime.datetime.now(datetime.timezone.utc)
    for name in source.files:
        count = next((n for version, n in days.items() if version.replace("_", ".")[1:] in name and "alpha" in name), 100)
        source.times[name] = (now - datetime.timedelta(days=count)).isoformat()
    return source


@needs_pip
def test_a_release_that_is_younger_than_the_policy_wants_is_not_taken(servers, index):
    source = young(index, v1_0=30, v2_0=3)
    server = servers("--pip-index", source.url, policy={"python": {"minimum_age": "7d"}})
    result = install(server, "free")
    assert result.object["packages"] == ["alpha 1.0", "free 1.0"], result.texts
    assert "alpha 2.0 is not yet 7d old (python.minimum_age): 1.0 was taken." in result.texts[0]
    refused = install(server, "alpha==2.0", session="t")
    assert refused.is_error and "version 2.0 is 3 days old, and python.minimum_age wants 7d" in refused.texts[0], refused.texts
    untold = index(ALPHA)
    refused = install(servers("--pip-index", untold.url, policy={"python": {"minimum_age": "7d"}}), "alpha")
    assert refused.is_error and "does not tell when its files were uploaded" in refused.texts[0], refused.texts


# ---- the server that pip asks, by itself


@needs_pip
def test_a_file_without_a_hash_is_taken_as_it_comes(servers, index):
    """Also where the index has its description beside it, of which pip would take the hash for that of the file."""
    name = ALPHA[0]
    source = index(ALPHA, told=True)
    source.changed["/simple/alpha/"] = f'<a href="/files/{name}#egg=alpha" data-core-metadata="true">{name}</a>'.encode()
    result = install(servers("--pip-index", source.url), "alpha")
    assert result.object["packages"] == ["alpha 1.0"], result.texts


@needs_pip
def test_a_wheel_that_needs_more_than_its_index_says_is_refused(servers, index):
    needy = wheel("needy", "1.0", ["alpha"])
    source = index(needy, ALPHA, told=True)
    source.changed[f"/files/{needy[0]}.metadata"] = b"Metadata-Version: 2.1\nName: needy\nVersion: 1.0\n"
    result = install(servers("--pip-index", source.url), "needy")
    assert result.is_error and "needs other packages than its index says (alpha)" in result.texts[0], result.texts


def test_the_compiler_s_line_of_a_failed_build_is_told(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "lib/install"))
    explain = importlib.import_module("python.explain").explain
    said = "  Building wheel\n  own.c:3:10: fatal error: none.h: No such file or directory\n  error: command 'gcc' failed with exit code 1\n"
    assert "own.c:3:10: fatal error: none.h: No such file" in explain(said)


@pytest.fixture(scope="module")
def own():
    spec = importlib.util.spec_from_file_location("index", ROOT / "lib/install/python/index.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_index_is_asked_on_one_connection_after_the_other(own, tmp_path, monkeypatch):
    """A new one for each page would cost an index behind TLS several round trips."""
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(Index(*(wheel(f"p{n}", "1.0") for n in range(5)), told=True)) as one:
        upstreams = own.Upstreams([one.url], [], None)
        for n in range(5):
            assert len(own.find_files(upstreams, f"p{n}")) == 1
        assert own.find_files(upstreams, "none") is None and own.find_files(upstreams, "p1")
        assert one.connections == 1
        one.drop()
        assert own.find_files(upstreams, "p2")
        assert one.connections == 2


def test_a_url_is_split_from_its_login(own):
    assert own.split_login("https://x.test/a@b/") == ("https://x.test/a@b/", None)
    assert own.split_login("https://u:p%40@x.test:8/a") == ("https://x.test:8/a", "Basic dTpwQA==")
    assert own.split_login("https://token@x.test/a") == ("https://x.test/a", "Basic dG9rZW46")


def row(**known):
    return {"file": "a-1.whl", "url": "https://x.test/f/a-1.whl", "hash": "", "requires": None, "yanked": None, "metadata": None,
            **known}


@pytest.mark.parametrize("known", [
    {}, {"hash": "sha256=00", "size": 5}, {"url": "https://x.test/f/a-1.whl?sig=a%2Fb&x"}, {"url": "http://x.test:8/a/é.whl"},
    {"metadata": "sha256=11", "file": "a-1+b é.whl"}], ids=str)
def test_a_file_s_path_leads_back_to_what_is_known_of_it(own, known):
    path = own.local(row(**known))
    told = own.remote(path)
    assert all(told[key] == value for key, value in {**row(), **known}.items() if value) and told["size"] == known.get("size")
    assert own.remote("http://127.0.0.1:5" + path) == told
    assert own.remote(path + ".metadata")["file"].endswith(".metadata")


def test_pages_keep_what_pip_reads_of_them(own):
    rows = own.rows_of_html("""<html><head><base href="/root/"></head><body><h1>Links for a</h1>
        <a href="a-1.whl#sha256=00" data-requires-python="&gt;=3.7" data-yanked onclick="x">a-1<b>.whl</b></a> <a>none</a>
        <a href="a-2.whl" data-core-metadata="sha256=11">a-2.whl</a></body></html>""", "https://x.test/simple/a/")
    assert rows == [row(url="https://x.test/root/a-1.whl", hash="sha256=00", requires=">=3.7", yanked=""),
                    row(url="https://x.test/root/a-2.whl", file="a-2.whl", metadata="sha256=11")]
    links = own.Links("https://local.test/")
    links.feed(own.page_of(rows, whole=False))
    [[first, text], [second, _]] = links.links
    assert text == "a-1.whl" and first["data-requires-python"] == ">=3.7" and first["data-yanked"] == "" and "#" not in first["href"]
    assert "data-yanked" not in second and "data-dist-info-metadata" not in second
    assert "#sha256=00" in own.page_of(rows, whole=True) and 'data-dist-info-metadata="sha256=11"' in own.page_of(rows, whole=True)


@pytest.mark.parametrize("file, url, taken", [
    ("a-1.0+b-py3-none-any.whl", "https://x.test/a", True), ("a-1.0-py3-none-any.whl", "HTTP://x.test/a", True),
    ("/tmp/a-1.0-py3-none-any.whl", "https://x.test/a", False), ("../a-1.0-py3-none-any.whl", "https://x.test/a", False),
    ("a-1.0-1\nb-py3-none-any.whl", "https://x.test/a", False), ("", "https://x.test/a", False),
    ("a-1.0-py3-none-any.whl", "file:///etc/passwd", False), ("a-1.0-py3-none-any.whl", "data:,a", False)])
def test_a_page_names_files_and_addresses_of_the_web_only(own, file, url, taken):
    assert own.is_file_of_the_web({"file": file, "url": url}) == taken


@pytest.mark.parametrize("text, known", [
    ("sha256=0aF", "sha256=0aF"), ("egg=a", ""), ("egg=a&md5=11", "md5=11"), ("sha512=11&egg=a", "sha512=11"), ("shake_128=11", ""),
    ("sha256=None", ""), ("sha256=", ""), ("", "")])
def test_a_hash_is_one_that_python_knows(own, text, known):
    assert own.usable(row(hash=text))["hash"] == known
    assert own.usable(row(metadata=text or None))["metadata"] == (known or "true" if text else None)


@pytest.mark.parametrize("told, kept", [
    ({}, {}), ({"yanked": False, "core-metadata": False}, {}), ({"yanked": True}, {"yanked": ""}), ({"yanked": "bad"}, {"yanked": "bad"}),
    ({"core-metadata": True}, {"metadata": "true"}), ({"dist-info-metadata": {"sha256": "11"}}, {"metadata": "sha256=11"}),
    ({"hashes": {"md5": "1", "sha256": "2"}}, {"hash": "sha256=2"})], ids=str)
def test_a_page_in_json_says_the_same(own, told, kept):
    file = {"filename": "a-1.whl", "url": "../../f/a-1.whl", "hashes": {}, "size": 9, "upload-time": "2020-01-01T00:00:00Z"}
    [found] = own.rows_of_json(json.dumps({"files": [{**file, **told}]}), "https://x.test/simple/a/")
    assert found == {**row(size=9, time="2020-01-01T00:00:00Z"), **kept}
    assert own.age_s(found) > 86400 * 365


@pytest.mark.parametrize("said, age, seconds", [
    ("", "", 0), ("max-age=30", "", 30), ("public, max-age=300", "100", 200), ("max-age=10", "20", 0), ("no-store", "", 0),
    ("max-age=600, no-cache", "", 0)])
def test_the_time_for_which_a_page_holds_is_its_cache_control_s(own, said, age, seconds):
    assert own.seconds_fresh({key: value for key, value in (("Cache-Control", said), ("Age", age)) if value}) == seconds


def test_our_index_answers_nobody_who_does_not_know_its_word(own, index, tmp_path, monkeypatch):
    """Where a session has no network of its own, its port is one of the machine's."""
    monkeypatch.chdir(tmp_path)
    private = index(ALPHA, login=LOGIN)
    server = own.Server(("127.0.0.1", 0), own.Handler)
    server.upstreams, server.choice, server.whole, server.word = own.Upstreams([with_login(private.url)], [], None), own.Choice(), False, "w0rd"
    server.received = None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    file = own.local(row(url=private.url.removesuffix("simple") + "files/" + ALPHA[0], file=ALPHA[0]))
    try:
        with urllib.request.urlopen(f"{base}/w0rd{file}") as answer:
            assert answer.read() == ALPHA[1]
        with urllib.request.urlopen(f"{base}/w0rd/simple/alpha/") as answer:
            assert answer.geturl() and b'href="../../file/' in answer.read()
        asked = len(private.asked)
        for path in (file, f"/guess{file}", "/simple/alpha/", "/guess/simple/alpha/", "/", "/w0rd"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(base + path)
        assert len(private.asked) == asked
    finally:
        server.shutdown()
        server.server_close()


def test_a_password_goes_over_https_or_to_this_machine(own):
    upstreams = own.Upstreams(["http://u:p@x.test/simple"], ["x.test"], None)
    with pytest.raises(own.Problem, match="readable on the way"):
        upstreams.open(upstreams.rows[0][1])
    with pytest.raises(own.Problem, match="trusted-host"):
        own.Upstreams(["http://x.test/simple"], [], None).open("http://x.test/simple")


@needs_pip
@pytest.mark.parametrize("target", ["https://localhost:99999/alpha/", "https://[::1", "http://:80/", "file:///etc/passwd", "ftp://localhost/"])
def test_a_redirect_to_what_is_no_address_is_a_sentence(servers, index, target):
    source = index(login=("user", "secret"), moved={"/simple/alpha/": target})
    result = install(servers(env={"PTYCELL_PIP_INDEX": source.url.replace("//", "//user:secret@")}), "alpha")
    assert result.is_error and result.texts[0].startswith("Nothing was installed. The index localhost:"), result.texts
    assert "leads to an address that is not of the web" in result.texts[0] and "secret" not in result.texts[0], result.texts
