# SPDX-License-Identifier: MIT
"""pip and its like as programs: wherever code starts them, they lead to what install_packages does."""
import ast
import json
import os
import subprocess
import textwrap

import pytest
from indexes import Index, wheel
from machines import TIERS, confined_in
from steps import bash
from test_packages import HAS_PIP, python

pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")

ASKING = "Asking ptycell to install alpha."


@pytest.fixture(scope="module")
def index():
    index = Index(wheel("alpha", "1.0"), wheel("alpha", "2.0"), wheel("beta", "1.0", ["alpha>=1"]), wheel("held", "1.0"), wheel("held-too", "1.0"))
    yield index
    index.close()


@pytest.fixture
def start(shared, index):
    return lambda *flags, **options: shared("--pip-index", index.url, *flags, **options)


@pytest.mark.parametrize("code", [
    "!bash -c 'pip install alpha'", "!pip install alpha && true", "!cd /tmp; pip3 install alpha; true",
    "import subprocess, sys\nprint(subprocess.run([sys.executable, '-m', 'pip', 'install', 'alpha'], capture_output=True, text=True).stdout)",
    "import os\nos.system('uv pip install alpha')", "import os\nos.system('uv add alpha')",
    "import subprocess\nsubprocess.check_call('echo alpha > r.txt; bash -c \"pip install -r r.txt\"', shell=True)"])
def test_python_code_that_starts_pip_gets_the_package(start, code):
    text = python(start(), f"{code}\nimport alpha\nalpha.version").text
    assert ASKING in text and "Installed: alpha 2.0" in text and text.rstrip().endswith("'2.0'"), text


@pytest.mark.parametrize("code", [
    "pip install alpha", "x=$(pip install alpha 2>&1); echo \"$x\"", "echo 'pip install alpha; true' > script; sh script",
    "PIP_BREAK_SYSTEM_PACKAGES=1 bash -c 'pip install alpha'", "pip install alpha & wait", "echo alpha | xargs pip install",
    "env -i PATH=\"$PATH\" pip install alpha", "for p in alpha; do python3 -m pip install $p || exit; done"])
def test_a_shell_that_starts_pip_gets_the_package(start, code):
    text = bash(start(), f"{code}\npython3 -c 'import alpha; print(alpha.version, \"works\")'").text
    assert ASKING in text and "2.0 works" in text, text


def test_a_cell_of_bash_in_a_notebook_gets_the_package(start):
    server = start()
    assert "Installed: alpha 2.0" in python(server, "%%bash\npip install alpha && echo fine").text
    assert "'2.0'" in python(server, "import alpha\nalpha.version").text


def test_a_shell_s_python_is_the_one_that_pip_is_for(servers, index, tmp_path):
    """Also where that is none of the system's: an environment of the user's here."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "venv"], check=True)
    server = servers("--pip-index", index.url, env={"PTYCELL_PYTHON": str(tmp_path / "venv/bin/python")})
    code = "import alpha, sys; print(alpha.version, sys.prefix)"
    text = bash(server, f"pip install -q alpha && python -c '{code}' && python3 -c '{code}'").text
    assert text.count(f"2.0 {tmp_path}/venv") == 2, text


def test_its_status_and_streams_are_those_of_pip(start):
    server = start(policy={"python": {"block": ["beta"]}})
    assert bash(server, "pip install -q alpha > out 2> err; echo $?; wc -c < err; cat out").text.startswith(f"0\n0\n{ASKING}\nInstalled: alpha 2.0")  # and how long it took, if it took long
    text = bash(server, "pip install beta > out 2> err; echo $?; cat err; pip install; echo $?; pip install ''; echo $?").text
    assert text.startswith("1\nRefused by the policy: beta") and text.count("1\n") == 3, text


@pytest.mark.parametrize("line, said", [
    ("pip download alpha", "pip download is not here"), ("conda install -y alpha", "pip install NAME asks the server"),
    ("pip install alpha --index-url https://download.pytorch.org/whl/cpu", "The usual index has torch, too"),
    ("pip install alpha -i http://x.test/simple", "PTYCELL_PIP_INDEX='http://x.test/simple', behind the indexes that are there. Without --index-url"),
    ("pip install alpha --extra-index-url http://robot:secret@x.test/simple", "--extra-index-url http://x.test/simple was not used"),
    ("echo '-i http://x.test/simple' > r.txt; pip install alpha -r r.txt", "--index-url http://x.test/simple was not used"),
    ("pip install alpha -i ../wheels", "is no URL of an index"),
    ("pip install -r none.txt", "none.txt cannot be read"),
    ("pip install -t lib alpha", "-t is here for files of the session"), ("pip install --target=lib alpha", "--target is here for files of the session"),
    ("uvx ruff", "pip install TOOL"), ("pip install git+https://example.com/x", "is a URL")])
def test_what_is_not_taken_says_what_to_do(start, index, line, said):
    asked = len(index.asked)
    text = bash(start(), f"{line}; echo status $?").text
    assert said in text and "status 1" in text and len(index.asked) == asked, text


@pytest.mark.parametrize("line, said", [("%conda install -y alpha", "packages and environments of conda"), ("%mamba install alpha", "of mamba"),
                                        ("%uv pip install alpha", "Installed: alpha 2.0"), ("%uv add alpha", "Installed: alpha 2.0")])
def test_the_magics_of_notebooks_are_these_programs(start, line, said):
    text = python(start(), f"{line}\n").text
    assert said in text, text


@pytest.mark.parametrize("call", [bash, python])
def test_constraints_hold_for_what_is_named_and_what_that_needs(start, call):
    server = start()
    bash(server, "printf 'alpha<2\\nother<9\\n' > c.txt", session="s")
    text = call(server, "%spip install beta -c c.txt" % ("%" if call is python else "")).text
    assert "Installed: alpha 1.0, beta 1.0" in text and "WARNING" not in text, text


def test_constraints_without_room_are_told_and_those_for_named_packages_come_first(start):
    lines = "for n in $(seq 300); do echo \"other$n<9\"; done > c.txt; echo 'alpha<2' >> c.txt"
    text = bash(start(), f"{lines}; pip install alpha -c c.txt").text
    assert "alpha 1.0" in text and "WARNING: 102 of 301 constraints are not used" in text, text


@pytest.mark.parametrize("option, told", [("--no-binary :all:", True), ("--no-binary=alpha", True), ("--upgrade-strategy eager", True),
                                          ("--upgrade-strategy only-if-needed", False)])
def test_options_that_do_not_hold_are_told(start, option, told):
    text = bash(start(), f"pip install {option} alpha").text
    assert "Installed: alpha 2.0" in text and (f"WARNING: {option.replace('=', ' ')} is not used" in text) is told, text


def test_too_many_packages_are_refused_with_what_to_do(start):
    text = bash(start(), "for n in $(seq 201); do echo \"other$n\"; done > r.txt; pip install -r r.txt; echo status $?").text
    assert "201 packages are named; name 200 at most in one request" in text and "status 1" in text, text


def test_a_dry_run_installs_nothing(start):
    text = bash(start(), "pip install --dry-run beta; pip freeze; echo over").text
    assert "Would install: alpha 2.0, beta 1.0. Nothing was installed.\nover" in text, text


def test_freeze_names_what_the_session_installed_and_uninstall_takes_it_away(start):
    server = start()
    bash(server, "pip install -q beta")
    assert bash(server, "pip freeze").text == "alpha==2.0\nbeta==1.0\n"
    assert "Uninstalled: alpha 2.0, beta 1.0" in bash(server, "pip uninstall -y Beta; echo $?").text
    assert bash(server, "pip freeze; python3 -c 'import beta'").text.count("ModuleNotFoundError") == 1
    skipped = bash(server, "pip uninstall -y beta; echo $?").text
    assert "WARNING: Skipping beta" in skipped and "0" in skipped
    bash(server, "pip install -q alpha==1.0 beta")
    assert "Uninstalled: beta 1.0" in python(server, "!pip uninstall -y beta").text
    assert bash(server, "pip freeze").text == "alpha==1.0\n"


def test_a_package_that_replaces_another_version_is_told(start):
    server = start()
    assert "no restart is needed" in bash(server, "pip install alpha==1.0").text
    assert "and replaces alpha 1.0; code that has imported an old version" in bash(server, "pip install -U alpha").text
    assert "no restart is needed" in bash(server, "pip install beta").text


@pytest.mark.parametrize("call, mark", [(bash, ""), (python, "%")])
def test_a_package_comes_without_what_it_needs(start, call, mark):
    server = start()
    assert "Installed: beta 1.0 " in call(server, f"{mark}pip install --no-deps beta").text
    assert "Installed: held 1.0 " in call(server, f"{mark}pip install held").text  # and it stays so
    text = bash(server, "pip check; echo status $?; pip show beta; pip list").text
    assert "beta 1.0 requires alpha, which is not installed" in text and "status 1" in text and "Version: 1.0" in text and "held" in text, text
    assert "Installed: alpha 2.0 " in call(server, f"{mark}pip install beta").text
    assert "beta" not in bash(server, "pip check").text


def test_freeze_names_projects_of_the_session_too(start):
    server = start()
    text = bash(server, "mkdir p; echo 'from setuptools import setup; setup(name=\"mine\", version=\"1.0\", py_modules=[])' > p/setup.py; pip install -q alpha; pip install -q --no-deps ./p; pip freeze").text
    if "No module named" in text or "setuptools" in text:
        pytest.skip("no setuptools for the sessions' Python here")
    assert text.endswith("alpha==2.0\nmine @ file:///mnt/data/p\n"), text


def test_uninstall_changes_no_version_of_what_stays(start):
    """An earlier request that was replaced does not count again."""
    server = start()
    for line in ("pip install alpha==1.0", "pip install beta", "pip install -U alpha"):
        bash(server, line)
    assert "alpha==2.0" in bash(server, "pip freeze").text
    assert "Uninstalled: beta 1.0" in bash(server, "pip uninstall -y beta").text
    assert bash(server, "pip freeze").text.strip() == "alpha==2.0"


def test_uninstall_leaves_what_others_need(start):
    server = start()
    bash(server, "pip install -q alpha beta")
    assert "other packages need it" in bash(server, "pip uninstall -y alpha").text
    assert bash(server, "pip freeze").text == "alpha==2.0\nbeta==1.0\n"


@pytest.mark.parametrize("name, code", [("held", "pip install held"), ("held-too", "x=$(pip install held-too)")])
def test_a_deadline_ends_the_installation(start, index, name, code):
    server = start()
    bash(server, "kept=5")
    index.hold.clear()
    try:
        assert bash(server, code, timeout=2).state == "timed_out"
        text = bash(server, "echo kept $kept").text
    finally:
        index.hold.set()
    assert "kept 5" in text
    assert "Installed: alpha 2.0" in bash(server, "pip install alpha").text  # the session is not blocked, and has nothing of it


@pytest.mark.parametrize("setting, line, said", [
    ("PIP_INDEX_URL=http://10.0.0.1/simple", "pip install alpha", "--index-url http://10.0.0.1/simple was not used"),
    ("PIP_EXTRA_INDEX_URL='http://10.0.0.1/a http://10.0.0.2/b'", "pip install alpha", "--extra-index-url http://10.0.0.1/a was not used"),
    ("PIP_CONSTRAINT=c.txt", "pip install alpha", "Installed: alpha 1.0"), ("PIP_NO_DEPS=1", "pip install beta", "Installed: beta 1.0"),
    ("PIP_UPGRADE_STRATEGY=eager", "pip install alpha", "--upgrade-strategy eager is not used"), ("PIP_NO_BINARY=alpha", "pip install alpha", "--no-binary alpha is not used"),
    ("PIP_DRY_RUN=true", "pip install alpha", "Would install: alpha 2.0"), ("PIP_PRE=0", "pip install alpha", "Installed: alpha 2.0")])
def test_variables_of_pip_count_as_its_options(start, setting, line, said):
    server = start()
    text = bash(server, f"echo 'alpha<2' > c.txt; export {setting}; {line}").text
    assert said in text, text
    name, _, value = setting.partition("=")
    text = python(server, f"import os\nos.environ['{name}'] = {value.strip(chr(39))!r}\n%{line}", session="t").text if name != "PIP_CONSTRAINT" else said
    assert said in text, text


def test_packages_of_a_file_are_uninstalled(start):
    server = start()
    bash(server, "pip install alpha beta")
    text = bash(server, "printf 'nothing\\nbeta==1.0\\n' > r.txt; pip uninstall -y -r r.txt; echo status $?; pip freeze").text
    assert "Uninstalled: beta 1.0" in text and "status 0\nalpha==2.0" in text, text


def test_many_at_once_are_answered_or_told(start):
    text = bash(start(), "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do pip install alpha >o$i 2>&1 & done; wait; cat o*").text
    assert text.count("alpha 2.0") + text.count("no more requests") == 12, text


def test_what_only_looks_at_packages_is_pip_s_own(start):
    text = bash(start(), "pip --version; pip list; python3 -m pip help install | grep -c Usage; python3 -c 'import pip; print(pip.__name__, pip.__version__)'").text
    assert "pip" in text and "Package" in text and "\n1\n" in text and "ERROR" not in text, text


def test_list_and_show_name_what_code_can_import_and_freeze_what_the_session_installed(start):
    server = start()
    bash(server, "pip install -q alpha==1.0")
    code = "from importlib import metadata; print(sorted({d.metadata['Name'].lower().replace('_', '-') for d in metadata.distributions() if d.metadata['Name']}))"
    importable = ast.literal_eval(python(server, code).text)
    listed = json.loads(bash(server, "pip list --format json").text)
    assert sorted({row["name"].lower().replace("_", "-") for row in listed}) == importable, (listed, importable)
    assert {"name": "alpha", "version": "1.0"} in listed and len(listed) == len(importable)
    text = bash(server, "pip freeze; pip show alpha; pip check").text
    assert text.startswith("alpha==1.0\nName: alpha\nVersion: 1.0\n"), text


@pytest.mark.parametrize("line", ["pip list --outdated", "pip list -o", "python3 -m pip index versions alpha", "uv pip list --uptodate", "pip search alpha"])
def test_what_would_ask_an_index_says_what_does(start, line):
    """pip itself would say that nothing is newer, or that there is no such package."""
    text = bash(start(), f"{line}; echo status $?").text
    assert "asks no index" in text and "pip install --dry-run -U NAME" in text and "status 1" in text, text


def test_pipes_that_are_none_are_left_alone(start):
    """Links, files and lines without a meaning at the bell: the server opens pipes of the session only."""
    code = """
        a=$HOME/.cache/ask; mkdir -p $a; exec 9> /mnt/packages/bell/pipe || exec 9> ${PATH%%/ask/bin*}/bell/pipe
        echo secret > $a/0123456789abcdef.request; ln -s /etc/passwd $a/0123456789abcdef.answer; echo 0123456789abcdef >&9
        mkfifo $a/aaaaaaaaaaaaaaaa.answer; echo aaaaaaaaaaaaaaaa >&9; echo ../../etc/passwd >&9; head -c 5000 /dev/zero >&9; echo >&9
        exec 9>&-; pip install -q alpha; ls $a"""
    text = bash(start(), code).text
    assert "Installed: alpha 2.0" in text and "0123456789abcdef.request" in text, text


@pytest.mark.parametrize("tier", TIERS)
def test_it_works_in_each_tier(tier, tmp_path):
    """With a folder as the index: in tier landlock an installer has no network."""
    with confined_in(tier, PTYCELL_PIP_INDEX=str(make_folder(tmp_path, *wheel("alpha", "2.0")))) as confined:
        text = bash(confined.server, "pip install alpha; python3 -m pip freeze").text
        assert "Installed: alpha 2.0" in text and "alpha==2.0" in text, text


@pytest.mark.parametrize("tier", TIERS)
def test_code_writes_to_no_file_of_the_programs(tier):
    """What it wrote there would count for no limit of the session."""
    code = """
        import os, pathlib
        ask = next(path for path in os.environ["PATH"].split(":") if path.endswith("/ask/bin"))[:-len("/bin")]
        written = []
        for folder, _, names in os.walk(os.path.dirname(ask)):
            for path in [f"{folder}/new", *(f"{folder}/{name}" for name in names if not pathlib.Path(folder, name).is_fifo())]:
                try:
                    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK))
                    written.append(path)
                except OSError as error:
                    last = error
        print(written, type(last).__name__)"""
    with confined_in(tier) as confined:
        text = python(confined.server, textwrap.dedent(code)).text
    assert text.startswith("[] "), text


def make_folder(place, name, data):
    folder = place / "wheels"
    folder.mkdir()
    (folder / name).write_bytes(data)
    for path in (*place.parents, place, folder):
        if path.stat().st_uid == os.getuid() and str(path).startswith("/tmp/"):
            path.chmod(0o755)
    return folder


ASK = """
import json, os
ask = next(path for path in os.environ["PATH"].split(":") if path.endswith("/ask/bin"))[:-len("/bin")]
pipes = ask + "/data/.cache/ask"
os.makedirs(pipes, exist_ok=True)
name = os.urandom(8).hex()
for what in ("request", "answer"):
    os.mkfifo(f"{pipes}/{name}.{what}")
asks, told = os.open(f"{pipes}/{name}.request", os.O_RDWR), os.open(f"{pipes}/{name}.answer", os.O_RDWR)
with open(ask + "/../bell/pipe", "w") as bell:
    bell.write(name + chr(10))
request = {"language": "python", "command": "install", "packages": ["--constraint=x>=" + "1." * 200 + str(n) for n in range(200)]}
os.write(asks, json.dumps(request).encode() + bytes([10]))
with os.fdopen(told, "rb") as lines:
    assert lines.readline() == bytes([10])
    answer = json.loads(lines.readline())
"""


def test_a_long_answer_is_whole_and_its_text_is_shortened(start):
    """A pipe takes so much at once; half an object would be none."""
    text = python(start(), ASK + "print(answer['ok'], answer['text'][-17:], 'characters left out' in answer['text'])").text
    assert "False names no package. True" in text, text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_a_list_in_an_encoding_of_windows_is_read(start, encoding):
    mark = {"utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    data = mark + "# Größe\r\nalpha \\\r\n  ==1.0\r\n".encode(encoding)
    text = bash(start(), f"python3 -c 'import sys; open(sys.argv[1], \"wb\").write(bytes.fromhex(sys.argv[2]))' r.txt {data.hex()}; pip install -r r.txt; echo status $?").text
    if encoding == "latin-1":
        assert "r.txt cannot be read: it is no text in UTF-8." in text and "status 1" in text, text
    else:
        assert "Installed: alpha 1.0" in text, text


@pytest.mark.parametrize("name", ["gone-1.0-py3-none-any.whl", "dist/gone.tar.gz", "gone.zip"])
def test_a_file_that_is_not_there_is_told_as_such(start, name):
    text = bash(start(), f"pip install {name}; echo status $?").text
    assert "No such file" in text and "status 1" in text and "Asking" not in text, text
