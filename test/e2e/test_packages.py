# SPDX-License-Identifier: MIT
"""install_packages with real pip against an index of our own: what sessions get, and what they do not."""
import hashlib
import json
import os
import subprocess

import pytest
from client import LASTS, Server
from indexes import Index, sdist, wheel
from patience import until
from steps import install, journal_events, paths_in

HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")

TRAVELLER = wheel("traveller", "1.0", extra={"../../evil.py": "print('out')\n"}.items())
RUNS_CODE = sdist("runscode", "1.0", "import pathlib\nfrom setuptools import setup\n"
                  "pathlib.Path('/tmp/ran').write_text('x')\nsetup(name='runscode', version='1.0', py_modules=['runscode'])\n")


@pytest.fixture(scope="module")
def index():
    index = Index(*(wheel("alpha", v, files={"alpha.py": f"version = __version__ = '{v}'\n"}) for v in ("1.0", "2.0")),
                  wheel("beta", "1.0", ["alpha>=1"]),
                  wheel("paramiko", "3.0"), wheel("tunnel", "1.0", ["paramiko"]),
                  wheel("pillow", "8.0.0"), wheel("picture", "8.0.0"), wheel("picture", "9.1.0"),
                  wheel("old-picture", "1.0", ["picture<9"]),
                  wheel("late", "1.0"), TRAVELLER, RUNS_CODE)
    index.fresh = "max-age=600"
    yield index
    index.close()


@pytest.fixture
def start(shared, index):
    return lambda *flags, url=None, **options: shared("--pip-index", url or index.url, *flags, **options)


def python(server, code, session="s"):
    return server.call("exec_code", session_id=session, language="python", code=code)


@pytest.mark.account
def test_a_package_is_there_in_the_next_cell_without_a_restart(start):
    server = start()
    assert python(server, "import alpha").is_error
    result = install(server, "beta")
    assert result.object["packages"] == ["alpha 2.0", "beta 1.0"]
    assert "2.0" in python(server, "import alpha, beta; alpha.version").text
    assert "generation" not in (python(server, "1").notice or "")  # it is the same interpreter


@pytest.mark.account
def test_a_second_session_gets_it_from_the_cache_and_the_first_keeps_its_own(start, index):
    server = start()
    install(server, "beta")
    asked = len(index.asked)
    again = install(server, "beta", session="t")
    assert again.object["cached"] and len(index.asked) == asked
    assert "2.0" in python(server, "import alpha; alpha.version", session="t").text
    install(server, "alpha==1.0", session="t")
    assert "1.0" in python(server, "import importlib; importlib.reload(alpha).version", session="t").text
    assert "2.0" in python(server, "import alpha; alpha.version").text


@pytest.mark.account
def test_what_the_session_has_stays_when_more_is_installed(start):
    server = start()
    install(server, "alpha==1.0")
    result = install(server, "beta")
    assert result.object["packages"] == ["alpha 1.0", "beta 1.0"]


def test_an_installation_is_recorded_with_its_index_and_the_hash_of_each_file(servers, index, home):
    server = servers("--pip-index", index.url, "--audit", str(home / "audit"))
    install(server, "beta")
    install(server, "beta", session="t")  # from the cache
    server.call("install_packages", session_id="s", packages=["no-such-package-at-all"])
    lines = [line for line in map(json.loads, (home / "audit").read_text().splitlines()) if line["event"] == "installed"]
    files = {"alpha-2.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"}
    for line, session in zip(lines[:2], "st", strict=True):
        assert (line["session_id"], line["language"], line["asked"]) == (session, "python", ["beta"])
        assert line["packages"] == ["alpha 2.0", "beta 1.0"] and line["from"].startswith("localhost:")
        assert {file["file"] for file in line["files"]} == files
        for file in line["files"]:
            assert file["sha256"] == hashlib.sha256(index.files[file["file"]]).hexdigest()
    assert "The index has no package no-such-package-at-all" in lines[2]["problem"] and "files" not in lines[2] and len(lines) == 3


def test_what_code_installs_again_and_again_is_one_line_a_cell(servers, index, home):
    """Code can do so without end."""
    server = servers("--pip-index", index.url, "--audit", str(home / "audit"))
    loop = "for n in 1 2 3; do pip install -q alpha==1.0; pip install -q no-such-package; pip install -q beta; done; echo over"
    assert "over\n" in server.cell(loop, language="bash").text
    server.cell("pip install -q alpha", language="bash")
    events = [event for event in journal_events(home) if event["event"] == "installed"]
    first, second = [line for line in map(json.loads, (home / "audit").read_text().splitlines()) if line["event"] == "installed"]
    assert (first["cell"], first["language"], first["count"], first["failed"]) == (1, "python", 9, 3)
    assert first["asked"] == ["alpha==1.0", "no-such-package", "beta"] and first["from"].startswith("localhost:")
    assert first["packages"] == ["alpha 1.0", "beta 1.0"]
    assert {file["file"] for file in first["files"]} == {"alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"}
    assert len(first["problems"]) == 1 and "The index has no package no-such-package" in first["problems"][0]
    assert (second["cell"], second["count"], second["failed"], second["asked"]) == (2, 1, 0, ["alpha"])
    both = [["alpha", "1.0"], ["beta", "1.0"]]
    changed = [event["packages"] for event in events if "packages" in event]  # a second run has these, when they happened
    assert changed == [[["alpha", "1.0"]], both, both]
    assert [(event["cell"], event["count"], event["failed"]) for event in events if "count" in event] == [(1, 9, 3), (2, 1, 0)]


def test_the_audit_names_what_code_uninstalled(servers, index, home):
    server = servers("--pip-index", index.url, "--audit", str(home / "audit"))
    server.cell("pip install -q beta; pip uninstall -y beta", language="bash")
    line, = [line for line in map(json.loads, (home / "audit").read_text().splitlines()) if line["event"] == "installed"]
    assert line["asked"] == ["beta"] and line["packages"] == line["removed"] == ["alpha 2.0", "beta 1.0"], line


@pytest.mark.parametrize("lasts", [False, True])
def test_what_a_killed_cell_installed_is_in_the_audit(index, home, lasts):
    """The next server adds the line, whether it resumes the session or finds it there."""
    audit = home / "audit"
    options = {"env": {"PTYCELL_AUDIT": str(audit), **(LASTS if lasts else {})}}
    with Server(home, "--pip-index", index.url, **options) as server:
        server.cell("pip install -q alpha==1.0; pip install -q beta; pip uninstall -y alpha beta; echo over; sleep 1000", language="bash", budget=0)
        until(lambda: "over\n" in server.interact(action="wait", budget=0, language="bash").text)
        server.process.kill()
        server.process.wait()
    with Server(home, **options) as server:
        server.cell("1", session="s" if lasts else "next")
        until(lambda: '"killed"' in audit.read_text())
    lines = [line for line in map(json.loads, audit.read_text().splitlines()) if line["event"] in ("installed", "ended") and line["session_id"] == "s"]
    installed, ended, *_ = lines
    assert (ended["cell"], ended["state"], installed["event"]) == (1, "killed", "installed")
    both = ["alpha 1.0", "beta 1.0"]
    assert (installed["cell"], installed["count"], installed["packages"], installed["removed"]) == (1, 3, both, both)
    assert (installed["killed_instance"], len(installed["files"])) == (ended["killed_instance"], 2)


@pytest.mark.account
def test_an_entry_of_the_cache_that_was_changed_is_made_anew(servers, index, home):
    server = servers("--pip-index", index.url)
    install(server, "alpha==1.0")
    [module] = paths_in(home, "cache/packages/sets/*/files/alpha.py")
    module.chmod(0o644)
    module.write_text("version = 'evil'\n")
    again = install(server, "alpha==1.0", session="t")
    assert not again.is_error and not again.object["cached"]
    assert "1.0" in python(server, "import alpha; alpha.version", session="t").text


@pytest.mark.parametrize("damage", [lambda text: "", lambda text: text[:text.index("\n") + 1], None],
                         ids=["empty", "cut", "missing"])
def test_an_entry_of_the_cache_whose_manifest_is_damaged_is_made_anew(servers, index, home, damage):
    """T5: a crash of the machine may leave a part of it, which must not be taken for the whole set."""
    server = servers("--pip-index", index.url)
    install(server, "beta")
    [manifest] = paths_in(home, "cache/packages/sets/*/manifest")
    if damage is None:
        manifest.unlink()
    else:
        manifest.write_text(damage(manifest.read_text()))
    again = install(server, "beta", session="t")
    assert not again.is_error and not again.object["cached"], again.texts
    assert "1.0" in python(server, "import alpha, beta; beta.version", session="t").text


@pytest.mark.account
def test_the_folder_of_packages_is_read_only_inside_and_the_session_has_no_network(start, index):
    server = start()
    install(server, "beta")
    assert "Permission" in python(server, "import alpha; open(alpha.__file__, 'a')").text
    assert "Error: [Errno" in python(server, "import os, alpha; os.remove(alpha.__file__)").text
    port = index.server.server_address[1]
    text = python(server, f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)").text
    assert "Error" in text and "refused" in text.lower() or "Permission" in text


@pytest.mark.account
def test_dependencies_of_a_cell_are_there_when_it_runs(start, index):
    server = start()
    code = {"session_id": "s", "language": "python", "code": "import beta; beta.version"}
    assert "1.0" in server.call("exec_code", dependencies=["beta"], **code).text
    asked = len(index.asked)
    again = server.call("exec_code", dependencies=["beta"], **code)
    assert "1.0" in again.text and len(index.asked) == asked
    refused = server.call("exec_code", dependencies=["no-such-package-at-all"], **code)
    assert refused.is_error and "not run" in refused.texts[0] and "The index has no package no-such-package-at-all" in refused.texts[0]


def test_an_older_copy_that_is_imported_already_is_told(start):
    server = start()
    install(server, "alpha==1.0")
    assert "1.0" in python(server, "import alpha; alpha.__version__").text
    result = install(server, "alpha==2.0")
    assert "alpha is imported already in version 1.0" in result.object["imported"]
    assert "imported already" in python(server, "%pip install alpha==2.0").text
    assert "imported" not in install(server, "alpha==2.0", session="t").object


def test_a_missing_module_ends_with_the_call_that_brings_it(start):
    server = start()
    assert 'install_packages with packages: ["beta"]' in python(server, "import beta").text


def test_session_info_tells_what_was_installed_and_from_where(start, index):
    server = start()
    install(server, "beta")
    info = server.call("session_info", session_id="s", include=["packages"]).object
    rows = {row["name"]: row for row in info["installed"]}
    assert rows["beta"]["version"] == "1.0" and rows["beta"]["language"] == "python"
    assert rows["beta"]["from"] in index.url and rows["alpha"]["file"] == "alpha-2.0-py3-none-any.whl"


@pytest.mark.account
def test_a_resumed_session_has_its_packages_and_what_is_installed_then_goes_with_them(index, home):
    def begin():
        return Server(home, "--pip-index", index.url, env=LASTS)

    with begin() as server:
        install(server, "alpha==1.0")
    with begin() as server:
        assert "1.0" in python(server, "import alpha; alpha.version").text
        info = server.call("session_info", session_id="s", include=["packages"]).object
        assert [(row["name"], row["version"]) for row in info["installed"]] == [("alpha", "1.0")]
        assert install(server, "beta").object["packages"] == ["alpha 1.0", "beta 1.0"]


def test_a_call_that_does_not_wait_long_enough_finds_its_installation_again(start, index):
    server = start("--call-budget", "0")
    index.hold.clear()
    try:
        late = install(server, "late")
        assert late.is_error and "Still installing" in late.texts[0]
    finally:
        index.hold.set()
    done = until(lambda: not (again := install(server, "late")).is_error and again)
    assert done.object["packages"] == ["late 1.0"]


# ---- the policy ----


def test_a_package_that_is_needed_and_blocked_refuses_all(start, index):
    """CA-12, CA-26: the rule is applied to what would be installed, not to the words."""
    server = start(policy={"python": {"block": ["Para_Miko", "paramiko"]}})
    result = install(server, "tunnel", "alpha")
    assert result.is_error
    text = result.texts[0]
    assert "paramiko" in text and "needed by tunnel" in text and "python.block" in text and "policy.json" in text
    assert not any("files/paramiko" in path and "files/tunnel" in path for path in index.asked)
    assert python(server, "import alpha").is_error and python(server, "import paramiko").is_error


def test_a_blocked_package_is_refused_before_anything_is_asked(start, index):
    server = start(policy={"python": {"block": ["paramiko"]}})
    asked = len(index.asked)
    for text in ("paramiko", "Paramiko==3.0", "paramiko[ed25519]>=1", "PARAMIKO ; python_version > '3'"):
        assert "block list" in install(server, text).texts[0]
    assert len(index.asked) == asked


def test_an_allow_list_allows_nothing_else(start):
    server = start(policy={"python": {"allow": ["beta"]}})
    assert "not on the allow list" in install(server, "beta").texts[0]
    server = start(policy={"python": {"allow": ["beta", "al*"]}})
    assert not install(server, "beta").is_error


def test_minimum_versions_hold_without_a_policy(start):
    result = install(start(), "pillow==8.0.0")
    assert result.is_error and "9.0.0" in result.texts[0] and "PTYCELL_POLICY" in result.texts[0]


PICTURES = {"python": {"minimum": {"Picture": "9.0.0"}}}


def test_a_version_below_the_minimum_is_refused(start):
    server = start(policy=PICTURES)
    for text in ("picture<9.0.0", "old-picture"):  # test_defects_codeboxai.py has all ways to write it
        result = install(server, text)
        assert result.is_error and "9.0.0" in result.texts[0] and "python.minimum" in result.texts[0], text


def test_legal_ways_to_write_a_version_are_taken(start):
    server = start(policy=PICTURES)
    for n, text in enumerate(("picture", "picture>=8,!=9.0")):  # test_defects_codeboxai.py has more
        assert install(server, text, session=f"s{n}").object["packages"] == ["picture 9.1.0"], text


def test_no_policy_of_the_person_s_can_be_turned_off_by_a_client(start):
    """CA-10."""
    result = install(start(), "pillow<9", disable_validation=["all"])
    assert result.is_error and "disable_validation" in result.texts[0]


def test_what_is_no_requirement_is_named(start):
    """CA-12, CA-26: test_packages_rules.py has all that is none."""
    result = install(start(), "--index-url=http://evil.test alpha")
    assert result.is_error and "option" in result.texts[0]


@pytest.mark.account
def test_a_package_that_does_not_exist_is_an_error_and_the_session_lives(start):
    server = start()
    result = install(server, "no-such-package-at-all")
    assert result.is_error and "The index has no package no-such-package-at-all" in result.texts[0]
    assert "2" in python(server, "1 + 1").text


# ---- 68: hostile packages ----


@pytest.mark.account
def test_a_wheel_with_a_path_traversal_is_refused(start, shared):
    result = install(start(), "traveller")
    assert result.is_error and "outside" in result.texts[0]
    assert not any("evil.py" in files for _, _, files in os.walk(shared.home))


@pytest.mark.account
def test_a_source_runs_no_code_unless_that_is_allowed(start, tmp_path):
    result = install(start(), "runscode")
    assert result.is_error and "PTYCELL_INSTALL_BUILDS" in result.texts[0]


@pytest.mark.parametrize("form", ["%s", "--constraint=%s"])
def test_a_text_in_quotes_brings_pip_no_option(start, index, form):
    """pip finds options in a line before it finds quotes."""
    text = form % "runscode; python_version >= '3\" --no-binary=\":all:'"
    before = len(index.asked)
    result = install(start(), "runscode", text)
    assert result.is_error and not any(path.startswith("/files/") for path in index.asked[before:]), result.texts


def test_markers_choose_what_is_asked_for(start):
    result = install(start(), "alpha; sys_platform == 'linux' and extra != \"x\"", "beta; python_version < '3'")
    assert result.object["packages"] == ["alpha 2.0"], result.texts
    result = install(start(), "alpha; python_version ~= 'x'", session="t")
    assert result.is_error and "is no requirement" in result.texts[0], result.texts


# ---- where from ----


@pytest.mark.account
def test_a_folder_of_wheels_needs_no_network(start, home, tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    name, data = wheel("offline", "1.5")
    (folder / name).write_bytes(data)
    server = start(url=str(folder))
    assert install(server, "offline").object["packages"] == ["offline 1.5"]
    assert "1.5" in python(server, "import offline; offline.version").text
    assert not paths_in(home, "cache/packages/wheels/*")  # the folder has it already


@pytest.mark.parametrize("version", ["1.0+cpu", "1!2.0"])
def test_a_version_with_characters_that_a_url_encodes_comes_from_a_folder(start, tmp_path, version):
    name, data = wheel("local-one", version)
    (tmp_path / name).write_bytes(data)
    result = install(start(url=str(tmp_path)), "local-one")
    assert not result.is_error and result.object["packages"] == [f"local-one {version}"], result.texts


def test_turned_off_is_said(start):
    result = install(start(url="off"), "alpha")
    assert result.is_error and "PTYCELL_PIP_INDEX=off" in result.texts[0]


def test_a_policy_with_a_mistake_is_what_every_tool_answers(servers):
    result = install(servers(policy={"python": {"blok": []}}), "alpha")
    assert result.is_error and "blok" in result.texts[0] and result.texts[0].startswith("The policy file 'policy.json'")
