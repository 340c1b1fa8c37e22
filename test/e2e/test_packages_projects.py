# SPDX-License-Identifier: MIT
"""`pip install .` and `pip install -e .` of a project that lies in the session: what it needs comes, too, and it can be imported."""
import json
import shutil

import pytest
from indexes import Index, wheel
from steps import bash, journal_events
from test_packages import HAS_PIP, python

pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")

BACKEND = """
import os, zipfile
INFO = "mine-1.0.dist-info"
META = "Metadata-Version: 2.1\\nName: mine\\nVersion: 1.0\\nRequires-Dist: beta\\nRequires-Dist: extra-one ; extra == 'dev'\\nRequires-Dist: never ; python_version < '3'\\nRequires-Dist: url-one @ http://10.0.0.1/x.whl\\nProvides-Extra: dev\\n"
def requires(*_):
    return open("asks").read().split() if os.path.exists("asks") else []
def wants(*_):
    return requires() + open("asks.editable").read().split() if os.path.exists("asks.editable") else requires()
get_requires_for_build_wheel, get_requires_for_build_editable = requires, wants
def metadata(folder, *_):
    if os.path.exists("broken"):
        raise ValueError("broken")
    for name in wants():
        __import__(name.partition("=")[0].replace("-", "_"))
    os.makedirs(os.path.join(folder, INFO), exist_ok=True)
    open(os.path.join(folder, INFO, "METADATA"), "w").write(META)
    return INFO
prepare_metadata_for_build_wheel = prepare_metadata_for_build_editable = metadata
def build(folder, members):
    name = "mine-1.0-py3-none-any.whl"
    members = {**members, INFO + "/METADATA": META, INFO + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in members.items():
            archive.writestr(path, text)
        archive.writestr(INFO + "/RECORD", "".join(path + ",,\\n" for path in [*members, INFO + "/RECORD"]))
    return name
def build_wheel(folder, *_):
    return build(folder, {"mine/__init__.py": open("src/mine/__init__.py").read()})
def build_editable(folder, *_):
    return build(folder, {"mine.pth": os.path.abspath("src") + "\\n"})
"""
PROJECT = """
mkdir -p proj/src/mine
echo 'import beta; word = "first " + beta.version' > proj/src/mine/__init__.py
cat > proj/pyproject.toml <<END
[build-system]
requires = ["backend-one"]
build-backend = "backend_one"
END
"""


@pytest.fixture(scope="module")
def index():
    index = Index(wheel("alpha", "1.0"), wheel("beta", "1.0", ["alpha"]), wheel("extra-one", "1.0"), wheel("backend-one", "1.0", files={"backend_one.py": BACKEND}))
    yield index
    index.close()


@pytest.fixture
def start(shared, index):
    return lambda *flags, **options: shared("--pip-index", index.url, *flags, **options)


SAYS = "import mine; print(mine.word, 'said')"


@pytest.mark.parametrize("line", ["pip install ./proj", "cd proj && pip install -q . 2>&1 | tail -2", "pip install proj/", "uv pip install -e proj", "python3 -m pip install --editable=./proj",
                                  "echo ./proj > r.txt; pip install -r r.txt", "pip install -e ./proj"])
def test_a_project_comes_with_what_it_needs_and_is_imported(start, line):
    server = start()
    text = bash(server, f"{PROJECT}\n{line}; cd\npython3 -c \"{SAYS}\"").text
    assert "first 1.0 said" in text, text
    assert "first 1.0 said" in python(server, SAYS).text  # an interpreter that runs already
    assert "extra_one" not in text and "never" not in text


@pytest.mark.parametrize("mark", ["%", "!"])
@pytest.mark.parametrize("option", ["", "-e "])
def test_a_project_comes_in_a_cell_of_python(start, mark, option):
    server = start()
    bash(server, PROJECT)
    text = python(server, f"{mark}pip install {option}./proj[dev]\nimport extra_one\n{SAYS}").text
    assert "first 1.0 said" in text and "url-one is not asked for" in text, text


def test_an_editable_project_is_its_files_and_a_plain_one_is_a_copy(start):
    server = start()
    said = f"python3 -c \"{SAYS}\""
    changed = "sed -i s/first/second/ proj/src/mine/__init__.py"
    assert "second 1.0 said" in bash(server, f"{PROJECT}\npip install -e ./proj\n{changed}\n{said}").text
    assert "second 1.0 said" in bash(server, f"pip install ./proj; sed -i s/second/third/ proj/src/mine/__init__.py; {said}").text
    assert "third 1.0 said" in bash(server, f"pip install -e ./proj; {said}").text


def test_what_is_missing_ends_the_installation_and_no_deps_goes_without(start):
    server = start(policy={"python": {"block": ["alpha"]}})
    text = bash(server, f"{PROJECT}\npip install ./proj; echo status $?; ls .cache/packages").text
    assert "needed by beta" in text and "status 1" in text and "mine" not in text.split("status")[1], text
    text = bash(server, "pip install --no-deps ./proj; echo status $?; ls .cache/packages").text
    assert "status 0" in text and "mine" in text.split("status")[1], text


@pytest.mark.parametrize("line", ["./proj", "-e ./proj"])
def test_no_deps_brings_what_builds_a_project_and_not_what_it_needs(start, line):
    text = bash(start(), f"{PROJECT}\npip install --no-deps {line}; echo status $?; pip freeze").text
    assert "Installed: backend-one 1.0" in text and "status 0" in text and "beta" not in text.split("status")[1], text


def test_a_dry_run_of_a_project_installs_nothing(start):
    server = start()
    text = bash(server, f"{PROJECT}\npip install --dry-run ./proj; echo status $?; pip freeze").text
    assert "Would install: alpha 1.0, " in text and "Would install mine-1.0" in text, text
    assert "status 0" in text and "beta" not in text.split("status")[1] and "mine" not in text.split("status")[1], text
    assert "Uninstalled: backend-one 1.0." in text and "backend" not in text.split("status")[1], text
    assert "No module named 'backend_one'" in bash(server, "python3 -c 'import backend_one'").text


def test_a_dry_run_keeps_what_the_session_asked_for(start):
    server = start()
    text = bash(server, f"{PROJECT}\npip install backend-one; pip install --dry-run ./proj; echo status $?; pip freeze").text
    assert "backend-one==1.0" in text.split("status")[1] and "Uninstalled" not in text, text


@pytest.mark.parametrize("before", ["pip install 'backend-one>=0.5'", "pip install ./proj"])
def test_what_the_session_has_for_a_build_is_not_asked_for_again(start, before):
    server = start()
    asks = "sed -i 's/-one\"/-one[odd]>=1\"/' proj/pyproject.toml; echo extra-one > proj/asks"
    text = bash(server, f"{PROJECT}\n{asks}\npip install extra-one; {before}; echo status; pip install --dry-run ./proj; echo status $?; pip install ./proj; python3 -c \"{SAYS}\"").text
    _, dry, real = text.split("status")
    assert "install backend-one" not in dry and "Would install mine-1.0" in dry and real.startswith(" 0"), text
    assert "install backend-one" not in real and "first 1.0 said" in real, text


def test_a_dry_run_changes_no_version_that_the_session_has(start, index):
    server = start()
    index.add(*wheel("backend-one", "0.5"))
    text = bash(server, f"{PROJECT}\nsed -i s/one\\\"/one\\>=1\\\"/ proj/pyproject.toml\npip install backend-one==0.5; pip install --dry-run ./proj; echo status $?; pip freeze").text
    assert "status 1" in text and "backend-one==0.5" in text and "needs backend-one>=1 to be built, in the place of 0.5" in text, text


def test_a_dry_run_changes_nothing_that_its_build_needs_in_another_version(start, index):
    server = start()
    index.add(*wheel("alpha", "2.0"))
    index.add(*wheel("backend-two", "1.0", ["alpha<2"], files={"backend_one.py": BACKEND}))
    text = bash(server, f"{PROJECT}\nsed -i s/backend-one/backend-two/ proj/pyproject.toml; pip install alpha==2.0; pip install --dry-run ./proj; echo status $?; pip freeze").text
    del index.files["alpha-2.0-py3-none-any.whl"]
    assert "status 1\nalpha==2.0\n" in text and "alpha<2" in text, text


def test_a_dry_run_that_brings_nothing_takes_nothing_away(start):
    text = bash(start(policy={"python": {"block": ["backend-one"]}}), f"{PROJECT}\npip install --dry-run ./proj; echo status $?").text
    assert "Refused by the policy: backend-one" in text and "status 1" in text and "took away" not in text, text


def test_a_dry_run_names_what_it_takes_away_of_the_session(start, index):
    server = start()
    index.add(*wheel("beta", "2.0"))
    text = bash(server, f"{PROJECT}\npip install beta==1.0; pip install beta==2.0; pip freeze; echo before; pip install --dry-run ./proj; echo status $?; pip freeze").text
    del index.files["beta-2.0-py3-none-any.whl"]
    had, told = text.split("before")
    assert "alpha==1.0" in had and "The session had alpha 1.0, which no request of it needs" in told and "status 0\nbeta==2.0\n" in told, text


def test_a_dry_run_that_fails_leaves_nothing(start):
    text = bash(start(), f"{PROJECT}\ntouch proj/broken\npip install --dry-run ./proj; echo status $?; pip freeze").text
    assert "status 1" in text and "backend" not in text.split("status")[1], text


@pytest.mark.parametrize("line, asks", [("./proj", "asks"), ("-e ./proj", "asks"), ("-e ./proj", "asks.editable"), ("--no-deps ./proj", "asks"), ("./mine-1.0.tar.gz", "asks"),
                                        ("--dry-run ./proj", "asks")])
def test_what_a_backend_asks_for_comes_before_the_build(start, line, asks):
    text = bash(start(), f"{PROJECT}\necho extra-one > proj/{asks}; tar czf mine-1.0.tar.gz proj\npip install {line}; echo status $?; pip freeze").text
    assert "Installed: extra-one 1.0" in text and "status 0" in text, text
    assert ("extra-one" in text.split("status")[1]) != ("--dry-run" in line), text


def test_what_a_backend_of_the_project_itself_asks_for_comes(start):
    own = "printf '[build-system]\\nrequires = []\\nbuild-backend = \"backend_own\"\\nbackend-path = [\".\"]\\n' > proj/pyproject.toml"
    text = bash(start(), f"{PROJECT}\n{own}\ncat > proj/backend_own.py <<'END'\n{BACKEND}\nEND\necho extra-one > proj/asks\npip install ./proj; python3 -c \"{SAYS}\"; pip freeze").text
    assert "first 1.0 said" in text and "extra-one==1.0" in text, text


def test_what_a_backend_asks_for_and_no_index_has_is_told(start):
    text = bash(start(), f"{PROJECT}\necho none-such > proj/asks\npip install ./proj; echo status $?").text
    assert "none-such" in text and "status 1" in text and "Traceback" not in text, text


def test_the_audit_has_each_path_and_an_installation_that_it_lacks_is_told(servers, index, home):
    server = servers("--pip-index", index.url, "--audit", str(home / "audit"))
    folder = "/".join(["d" * 200] * 3)
    bash(server, f"{PROJECT}\npip install -q backend-one beta; mkdir -p {folder}; (cd proj; python3 -c 'import backend_one; backend_one.build_wheel(\"../{folder}\")'); cp {folder}/*.whl .")
    assert "does not know" not in bash(server, f"pip install {folder}/mine-1.0-py3-none-any.whl 2>&1").text
    [line] = [line for line in map(json.loads, (home / "audit").read_text().splitlines()) if line["event"] == "installed" and line["from"] == "files of the session"]
    assert line["asked"] == [f"{folder}/mine-1.0-py3-none-any.whl"] and line["packages"] == ["mine 1.0"], line
    text = bash(server, "pip install $(for i in $(seq 1001); do echo ./mine-1.0-py3-none-any.whl; done) 2>&1; echo status $?").text
    assert "the server does not know of it: this is no report of an installation, or it has too many entries" in text and "status 0" in text, text


@pytest.mark.skipif(shutil.which("pip3") is None, reason="no setuptools for /usr/bin/python3 here")
def test_what_setup_requires_comes_before_the_build(start):
    server = start()
    call = "from setuptools import setup; setup(name='mine', version='1.0', py_modules=['mine'], setup_requires=['extra-one'])"
    text = bash(server, f"python3 -c 'import setuptools, wheel' || echo none\nmkdir old; echo 'x = 1' > old/mine.py; echo \"{call}\" > old/setup.py\npip install ./old; echo status $?; pip freeze").text
    if "none\n" in text:
        pytest.skip("no setuptools and wheel for the sessions' Python here")
    assert "Installed: extra-one 1.0" in text and "status 0" in text and "mine" in text.split("status")[1], text


def needing(*needs):
    """The lines that make a project that needs these."""
    return f"{PROJECT}\ncat > proj/backend_own.py <<'END'\n" + BACKEND.replace("Requires-Dist: beta\\n", "".join(f"Requires-Dist: {need}\\n" for need in needs)) + (
        "\nEND\nprintf '[build-system]\\nrequires = []\\nbuild-backend = \"backend_own\"\\nbackend-path = [\".\"]\\n' > proj/pyproject.toml")


AGAIN = "pip install OPTION./proj; echo status $?"


@pytest.mark.parametrize("option", ["", "-e "], ids=["plain", "editable"])
@pytest.mark.parametrize("lines, freeze", [
    ([needing("old-needs>=2"), AGAIN], "low==2.0\nmine @ x\nold-needs==2.0\n"),
    (["pip uninstall -y mine; echo status $?; pip install old-needs"], "low==2.0\nold-needs==2.0\n"),
    ([needing(), AGAIN, "pip install old-needs"], "low==2.0\nmine @ x\nold-needs==2.0\n"),
    (["pip install 'low<2'; pip uninstall -y mine; echo status $?"], "low==1.0\n")], ids=["others", "uninstalled", "none", "asked"])
def test_what_a_project_needed_before_does_not_bind_the_session(start, index, option, lines, freeze):
    for name, version, needs in (("low", "1.0", []), ("low", "2.0", []), ("old-needs", "2.0", ["low>=2"])):
        index.add(*wheel(name, version, needs))
    code = "\n".join([needing("low<2"), AGAIN, *lines, "echo end; pip freeze | sed 's/ @ .*/ @ x/; s/^-e .*/mine @ x/; /^#/d' | sort"])
    text = bash(start(), code.replace("OPTION", option)).text
    assert "Installed: low 1.0" in text and text.count("status 0\n") == code.count("status") and text.split("end\n")[1].startswith(freeze), text
    assert "--for" not in text and "--project" not in text, text


def test_an_upgrade_of_a_project_leaves_what_it_needs(start, index):
    server = start()
    index.add(*wheel("beta", "0.5"))
    text = bash(server, f"{PROJECT}\npip install beta==0.5; pip install -U extra-one ./proj; pip freeze").text
    assert "beta==0.5" in text and "extra-one==1.0" in text and "mine @" in text, text


@pytest.mark.parametrize("line", ["mine @ file://$PWD/a%%20b/mine-1.0.tar.gz", "mine[dev]@file://$PWD/a%%20b/mine-1.0.tar.gz ; python_version > '3'",
                                  "mine @ file://$PWD/a%%20b/mine-1.0.tar.gz\\nalpha"])
def test_a_url_of_a_file_with_a_name_comes_as_its_path_does(start, line):
    server = start()
    text = bash(server, f"{PROJECT}\nmkdir 'a b'; tar czf 'a b/mine-1.0.tar.gz' proj\nprintf \"{line}\\n\" > r.txt\npip install -r r.txt; python3 -c \"{SAYS}\"; pip freeze > f.txt; cat f.txt").text
    assert "first 1.0 said" in text and ("extra-one==1.0" in text) == ("[dev]" in line), text
    text = bash(server, "pip install -r f.txt; echo status $?").text
    assert "status 0" in text and "Successfully installed mine-1.0" in text, text


@pytest.mark.parametrize("pack, name", [
    ("tar czf mine-1.0.tar.gz proj", "mine-1.0.tar.gz"), ("cd proj; tar czf ../mine-1.0.tar.gz .", "./mine-1.0.tar.gz"),
    ("python3 -m zipfile -c mine-1.0.zip proj", "mine-1.0.zip"), ("cd proj; tar czf ../mine-1.0.tgz *", "~/mine-1.0.tgz"),
    ("tar cJf mine-1.0.tar.xz proj", "file://$PWD/mine-1.0.tar.xz"), ("tar czf mine-1.0.tar.gz proj", "'mine-1.0.tar.gz[dev]'"),
    ("tar czf mine-1.0.tar.gz proj", "--no-deps mine-1.0.tar.gz")])
def test_an_archive_of_a_project_is_built_as_its_folder_is(start, pack, name):
    server = start()
    text = bash(server, f"{PROJECT}\n({pack})\npip install {name}; echo status $?; python3 -c \"{SAYS}\"; pip freeze").text
    freeze = text.split("status")[1]
    assert "status 0" in text and ("first 1.0 said" in freeze) != ("--no-deps" in name), text
    assert ("extra-one" in freeze) == ("[dev]" in name) and ("beta==" in freeze) != ("--no-deps" in name), text


@pytest.mark.parametrize("make, says", [
    ("head -c 100 full.tar.gz > mine.tar.gz", "mine.tar.gz cannot be read: "), ("echo no > mine.tar.gz", "mine.tar.gz cannot be read"), ("echo no > mine.zip", "mine.zip cannot be read: File is not"),
    ("rm proj/pyproject.toml; tar czf mine.tar.gz proj", "not appear to be a Python project"),
    ("mkdir other; touch other/x; tar czf mine.tar.gz proj other", "not appear to be a Python project"),
    ("echo '[[[' > proj/pyproject.toml; tar czf mine.tar.gz proj", "pyproject.toml of mine.tar.gz is no TOML"),
    ("echo '[build-system]' > proj/pyproject.toml; tar czf mine.tar.gz proj", "requires"),
    ("sed -i 's/^requires.*/requires = \"backend-one\"/' proj/pyproject.toml", "list of strings"),
    ("sed -i 's/^requires.*/requires = [\"a b c\"]/' proj/pyproject.toml", "'a b c'")])
def test_a_broken_archive_or_project_is_told_by_pip(start, make, says):
    text = bash(start(), f"{PROJECT}\ntar czf full.tar.gz proj\n{make}\npip install ./mine.* 2>/dev/null || true; ls mine.* || set -- ./proj\npip install ${{1:-./mine.*}}; echo status $?").text
    assert "status 1" in text and says in text and "Traceback" not in text and "--no-deps installs" not in text, text


def test_a_wheel_of_the_session_comes_with_what_it_needs(start):
    server = start()
    bash(server, f"{PROJECT}\npip install backend-one; (cd proj; python3 -c 'import backend_one; backend_one.build_wheel(\"..\")')")
    text = bash(server, f"pip install ./mine-1.0-py3-none-any.whl; python3 -c \"{SAYS}\"").text
    assert "Installed: alpha 1.0, " in text and "first 1.0 said" in text, text


def test_what_code_installs_from_files_of_the_session_is_in_the_audit(servers, index, home):
    server = servers("--pip-index", index.url, "--audit", str(home / "audit"))
    bash(server, f"{PROJECT}\npip install -q backend-one; (cd proj; python3 -c 'import backend_one; backend_one.build_wheel(\"..\")'); sha256sum *.whl > sum")
    digest = bash(server, "cat sum").text.split()[0]
    python(server, "%pip install -q ./mine-1.0-py3-none-any.whl")
    bash(server, "pip install -q -e ./proj; pip install -q --dry-run ./proj; pip install -q ./none.whl")
    lines = [line for line in map(json.loads, (home / "audit").read_text().splitlines()) if line["event"] == "installed" and line["from"] == "files of the session"]
    file, project = [{key: line[key] for key in ("language", "asked", "packages", "files", "count", "failed")} for line in lines]
    assert file == {"language": "python", "asked": ["./mine-1.0-py3-none-any.whl"], "packages": ["mine 1.0"], "count": 1, "failed": 0,
                    "files": [{"file": "mine-1.0-py3-none-any.whl", "sha256": digest}]}
    assert project == {**file, "asked": ["./proj"], "files": []}
    assert not any(["mine", "1.0"] in event.get("packages", []) for event in journal_events(home))  # a later life asks no index for it


@pytest.mark.skipif(shutil.which("pip3") is None, reason="no setuptools for /usr/bin/python3 here")
@pytest.mark.parametrize("option", ["", "-e "])
@pytest.mark.parametrize("layout", ["pyproject", "setup"])
def test_a_project_of_setuptools_is_built_here(start, option, layout):
    server = start()
    files = {"pyproject": "printf '[project]\\nname = \"mine\"\\nversion = \"1.0\"\\ndependencies = [\"beta\"]\\n' > proj/pyproject.toml",
             "setup": "rm proj/pyproject.toml; echo 'from setuptools import setup, find_packages; setup(name=\"mine\", version=\"1.0\", packages=[\"mine\"], package_dir={\"\": \"src\"}, install_requires=[\"beta\"])' > proj/setup.py"}
    text = bash(server, f"python3 -c 'import setuptools, wheel' || echo none\n{PROJECT}\n{files[layout]}\npip install {option}./proj; python3 -c \"{SAYS}\"").text
    if "none\n" in text:
        pytest.skip("no setuptools and wheel for the sessions' Python here")
    assert "first 1.0 said" in text, text


def odd(version, option="", more=()):
    """Makes a project with a program and an odd name, and installs it."""
    modules = "".join(f"echo 'x = 1' > odd/{name}.py; " for name in more)
    call = f"setup(name='My_Odd.Name', version='{version}', py_modules={['mine', *more]!r}, entry_points={{'console_scripts': ['mytool=mine:main']}})"
    return (f"rm -rf odd; mkdir odd; echo 'main = lambda: print(\"tool {version}\")' > odd/mine.py; {modules}"
            f"echo \"from setuptools import setup; {call}\" > odd/setup.py; pip install -q {option}./odd; mytool; ls .cache/packages | grep -c dist-info; ls .cache/packages")


@pytest.mark.skipif(shutil.which("pip3") is None, reason="no setuptools for /usr/bin/python3 here")
@pytest.mark.parametrize("first, second", [("", ""), ("", "-e "), ("-e ", "")])
def test_a_newer_project_replaces_the_older_one_and_is_uninstalled(start, first, second):
    server = start()
    if "none" in bash(server, "python3 -c 'import setuptools, wheel' || echo none").text:
        pytest.skip("no setuptools and wheel for the sessions' Python here")
    text = bash(server, odd("1.0", first, ["gone"])).text
    assert "tool 1.0\n1\n" in text and "gone.py" in text, text
    text = bash(server, odd("2.0", second)).text
    assert "tool 2.0\n1\n" in text and "gone.py" not in text and "1.0.dist-info" not in text, text
    text = bash(server, "pip uninstall -y my-odd-name nothing; echo status $?; pip freeze; ls .cache/packages .cache/packages/bin; ls odd/mine.py").text
    assert "uninstalled My" in text and "Skipping nothing" in text and "status 0" in text and "mytool" not in text and "mine" not in text.replace("odd/mine.py", ""), text
    assert "odd/mine.py" in text and "dist-info" not in text, text
