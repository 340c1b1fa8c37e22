# SPDX-License-Identifier: MIT
"""pip and npm as cells write them, with real pip against an index of our own: each leads to what install_packages does."""
import base64
import shutil

import pytest
from indexes import Index, wheel
from steps import bash, telling
from test_packages import HAS_PIP, python

pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")


@pytest.fixture(scope="module")
def index():
    index = Index(wheel("alpha", "1.0"), wheel("alpha", "2.0"), wheel("beta", "1.0", ["alpha>=1"]),
                  wheel("paramiko", "3.0"), wheel("tunnel", "1.0", ["paramiko"]),
                  wheel("waited", "1.0"), wheel("awaited", "1.0"))  # each is asked for in one test, and not there before
    yield index
    index.close()


@pytest.fixture
def start(shared, index):
    return lambda *flags, **options: shared("--pip-index", index.url, *flags, **options)


def test_pip_in_a_cell_leads_to_the_same_place_and_says_so(start):
    """CA-26: every way to write it; the session itself has no network."""
    server = start()
    for n, line in enumerate(("%pip install -q beta", "!pip install 'beta'", "! pip3 -q install beta; true",
                              "!python3 -m pip install --upgrade beta>=1", "pip install beta", "if True:\n    pip3  install -q beta",
                              "python -m pip install \\\n  beta", "uv pip install beta")):
        text = python(server, f"{line}\nimport beta\nbeta.version", session=f"s{n}").text
        assert "Asking ptycell to install" in text and "Installed: alpha 2.0, beta 1.0" in text, text
        assert text.rstrip().endswith("'1.0'"), text


@pytest.mark.parametrize("line, shown", [("!pip install beta 2>&1 | tail -1", True), ("%pip install -q beta > /dev/null", False),
                                         ("!pip install -q beta >log.txt", False), ("x = !pip install beta", False),
                                         ("!pip install beta 2>/dev/null | grep nothing", False)])
def test_what_pip_would_have_printed_goes_where_the_cell_wants_it(start, line, shown):
    text = python(start(), f"{line}\nimport beta\nbeta.version").text
    assert "Asking ptycell" in text and ("Installed: alpha 2.0, beta 1.0" in text) == shown, text
    assert text.rstrip().endswith("'1.0'"), text


def test_what_went_elsewhere_is_there(start):
    server = start()
    assert "Installed: alpha 2.0" in python(server, "!pip install -q alpha > log.txt\nprint(open('log.txt').read())").text
    assert "['Installed: alpha 2.0" in python(server, "x = !pip install alpha\nprint(x)", session="t").text


def test_waiting_for_pip_is_interrupted_and_the_variables_stay(start, index):
    """By the person, and by the deadline."""
    server = start()
    python(server, "kept = 41")
    asking = {"session_id": "s", "language": "python", "code": "%pip install waited"}
    index.hold.clear()
    try:
        assert server.call("exec_code", **asking, timeout=2).state == "timed_out"
        telling(server, "Asking ptycell", server.call("exec_code", **asking, budget=0))
        assert server.call("interact", session_id="s", action="interrupt").state == "interrupted"
    finally:
        index.hold.set()
    assert python(server, "kept + 1").text == "42\n"
    assert "Installed: alpha 2.0" in python(server, "%pip install alpha").text


def test_a_refused_package_in_a_cell_raises(start):
    server = start(policy={"python": {"block": ["paramiko"]}})
    result = python(server, "%pip install tunnel")
    assert result.is_error and "needed by tunnel" in result.text and "python.block" in result.text
    assert "block list" in python(server, "!pip install paramiko").text
    assert "1" in python(server, "_exit_code").text
    bare = python(server, "pip install paramiko")
    assert bare.is_error and "block list" in bare.text


def test_a_requirements_file_of_the_session_is_read_there(start):
    server = start()
    code = "open('more.txt', 'w').write('alpha==1.0 # old\\n'); open('all.txt', 'w').write('-r more.txt\\n\\n# x\\nbeta\\n')"
    assert not python(server, code).is_error
    assert "Installed: alpha 1.0, beta 1.0" in python(server, "%pip install -r all.txt").text


def test_a_local_path_is_installed_in_the_session_itself(start):
    server = start()
    name, data = wheel("local-one", "1.0")
    server.call("upload_file", session_id="s", filename=name, encoding="base64",
                content=base64.b64encode(data).decode())
    text = python(server, f"%pip install ./input/{name}\nimport local_one\nlocal_one.version").text
    assert "Asking ptycell" not in text and "'1.0'" in text


def test_pip_in_a_cell_of_bash_leads_to_the_same_place_and_says_so(start):
    server = start()
    assert "beta 1.0" in bash(server, "python3 -c 'import beta' 2>/dev/null || pip install -q beta && echo here").text
    told = "Asking ptycell to install beta."
    for n, line in enumerate(("pip3 install --quiet 'beta>=1'", "python3 -m pip install $NAME", "set -eux; pip install beta",
                              "cd /tmp; if true; then pip install beta 2>&1 | tail -3; fi", "! pip install beta", "!pip install beta",
                              "printf 'beta # x\\n\\n# y\\n' > list; pip install -r list", "exit 0\n")):
        result = bash(server, f"NAME=beta\n{line}\npython3 -c 'import beta; print(beta.version, \"works\")'", session=f"t{n}")
        if line == "exit 0\n":  # the shell that takes its place does it too
            result = bash(server, "pip install beta", session=f"t{n}")
            assert "Installed: alpha 2.0, beta 1.0" in result.text
            continue
        if "tail" in line:
            assert "1.0 works" in result.text
            continue
        assert told in result.text.replace("beta>=1", "beta") and "1.0 works" in result.text, (line, result.text)
        assert "__ptycell" not in result.text, result.text
    assert "2.0" in python(server, "import alpha; alpha.version", session="t0").text


def test_pip_in_a_cell_of_bash_fails_as_a_command_does(start):
    server = start(policy={"python": {"block": ["paramiko"]}})
    result = bash(server, "pip install tunnel; echo status $?; pip install alpha && echo fine")
    assert "needed by tunnel" in result.text and "status 1" in result.text and "fine" in result.text
    ended = bash(server, "set -e; pip install paramiko; echo not-reached")
    assert "not-reached" not in ended.text and ended.state == "done"


def test_what_is_no_command_of_a_cell_of_bash_stays_text(start, index):
    server = start()
    asked = len(index.asked)
    code = "cat <<EOF\npip install alpha\nEOF\necho 'pip install alpha'\n# pip install alpha\npip() { echo mine $*; }\npip install alpha"
    text = bash(server, code).text
    assert "Asking" not in text and text.count("pip install alpha") == 2 and "mine install alpha" in text
    assert len(index.asked) == asked


def test_waiting_for_pip_in_bash_is_interrupted_and_the_shell_stays(start, index):
    server = start()
    bash(server, "kept=5")
    index.hold.clear()
    try:
        late = server.call("exec_code", session_id="s", language="bash", code="pip install awaited", timeout=2)
        assert late.state == "timed_out"
    finally:
        index.hold.set()
    assert "kept 5" in bash(server, "echo kept $kept").text
    assert "Installed: alpha 2.0" in bash(server, "pip install alpha").text


def test_a_local_path_is_installed_by_bash_in_the_session_itself(start):
    server = start()
    name, data = wheel("local-two", "1.0")
    server.call("upload_file", session_id="s", filename=name, encoding="base64", content=base64.b64encode(data).decode())
    text = bash(server, f"python3 -m pip install ./input/{name} >/dev/null 2>&1; python3 -c 'import local_two; print(local_two.version)'").text
    assert "Asking" not in text and "1.0" in text


# ---- what another pip or npm says


def told_to_call(result):
    return "To install packages call install_packages" in "\n".join(result.texts)


def test_who_gets_to_another_pip_is_told_what_to_do(start, index):
    server = start(env={"PTYCELL_ENV_PIP_RETRIES": "0"})  # it reaches no index
    asked = len(index.asked)
    for n, code in enumerate(("/usr/bin/python3 -I -m pip install --break-system-packages alpha", "x=$(/usr/bin/python3 -I -m pip install alpha 2>&1); echo \"$x\"")):
        result = bash(server, code, session=f"s{n}")
        assert told_to_call(result) and "Asking" not in result.text, result.texts
    assert len(index.asked) == asked
    for code in ("pip --version", "pip install alpha", "pip install nowhere", "echo no matching distribution"):
        assert not told_to_call(bash(server, code)), code


@pytest.mark.skipif(not shutil.which("npm"), reason="no npm here")
def test_who_gets_to_another_npm_is_told_what_to_do(start):
    server = start()
    assert told_to_call(bash(server, f'x=$({shutil.which("npm")} install is-odd 2>&1); echo "$x"'))
    assert not told_to_call(bash(server, "npm run nothing"))
