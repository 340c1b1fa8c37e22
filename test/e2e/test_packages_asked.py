# SPDX-License-Identifier: MIT
"""What was asked for, what is installed, and what is said of it."""
import contextlib
import hashlib
import json
import shutil
import subprocess

import pytest
from client import LASTS, Server
from indexes import Index, wheel
from outside import PROC
from patience import until
from registries import Registry, package
from steps import family, install, journal_events, telling

HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
needs_npm = pytest.mark.skipif(shutil.which("npm") is None or shutil.which("node") is None, reason="no npm here")
pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")


ALPHA = wheel("alpha", "1.0")


@pytest.fixture
def registry():
    """Makes registries of these packages; `npm` finds them by what `set_to` gives."""
    made = []

    def make(*packages):
        made.append(Registry(*packages))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def index():
    """Makes indexes of these files."""
    made = []

    def make(*files):
        made.append(Index(*files))
        return made[-1]

    yield make
    for one in made:
        one.close()


def set_to(registry):
    return {"npm_config_registry": registry.url}


# ---- the list of requests


def python(server, code, session="s"):
    return server.cell(code, session=session).text


@pytest.fixture
def kept(servers, index):
    """A server whose index has alpha 1.0 and 2.0, and more; it starts with the index that `kept.index` is."""
    server = servers("--pip-index", (one := index(
        ALPHA, wheel("alpha", "2.0"), wheel("dep", "1.0"), wheel("delta", "1.0", ["dep; extra == 'x'\nProvides-Extra: x"]),
        wheel("old", "1.0", ["alpha<2"]), wheel("new", "1.0", ["alpha>=2"]), wheel("free", "1.0", ["alpha"]))).url)
    server.index = one
    return server


@pytest.mark.parametrize("asked, packages", [
    (["alpha==1.0", "alpha"], ["alpha 1.0"]),
    (["alpha==1.0", "alpha>=1"], ["alpha 1.0"]),
    (["alpha==1.0", "alpha>1"], ["alpha 2.0"]),
    (["alpha==1.0", "alpha==2.0", "free"], ["alpha 2.0", "free 1.0"]),
    (["alpha==2.0", "alpha==1.0", "free"], ["alpha 1.0", "free 1.0"]),
    (["old", "free"], ["alpha 1.0", "free 1.0", "old 1.0"]),
    (["free", "old"], ["alpha 1.0", "free 1.0", "old 1.0"]),
    (["alpha<2", "free", "alpha"], ["alpha 1.0", "free 1.0"]),
    (["delta[x]", "delta"], ["delta 1.0", "dep 1.0"]),
    (["delta", "delta[x]"], ["delta 1.0", "dep 1.0"]),
    (["alpha==1.0", "--upgrade alpha"], ["alpha 2.0"]),
    (["alpha==1.0", "--upgrade free"], ["alpha 1.0", "free 1.0"])], ids=", ".join)
def test_what_the_session_has_stays_when_it_satisfies_the_request(kept, asked, packages):
    """K6: as pip does it in an environment, one request after the other."""
    for words in asked:
        result = install(kept, *words.split())
    assert result.object["packages"] == packages, result.texts


def test_what_this_python_has_holds_until_another_version_is_asked_for(servers, index):
    """As with pip: an earlier request that it satisfied keeps nothing from being replaced."""
    own = metadata_version("numpy")
    server = servers("--pip-index", index(wheel("numpy", "98.0"), wheel("numpy", "99.0")).url)
    assert f"There already: numpy {own}." in install(server, f"numpy=={own}").texts[0]
    assert "numpy==97: the index has no such version, but 99.0, 98.0" in install(server, "numpy==97").texts[0]
    assert f"There already: numpy {own}." in install(server, "numpy>=1").texts[0]
    assert install(server, "numpy==98.0").object["packages"] == ["numpy 98.0"]
    assert install(server, "--upgrade", "numpy").object["packages"] == ["numpy 99.0"]


def test_a_version_of_this_python_comes_back_when_nothing_else_is_needed(servers, index):
    """Also when the last package that came is uninstalled: the session's folder is empty then."""
    own = metadata_version("numpy")
    server = servers("--pip-index", index(wheel("numpy", "99.0"), ALPHA).url)
    version = "import importlib.metadata as m, importlib.util as u; print(m.version('numpy'), u.find_spec('alpha'))"
    install(server, "numpy==99.0")
    assert f"There already: numpy {own}." in install(server, f"numpy=={own}").texts[0]
    assert python(server, version).strip() == f"{own} None"
    install(server, "alpha")
    assert "Uninstalled: alpha 1.0" in python(server, "!pip uninstall -y alpha")
    assert python(server, version).strip() == f"{own} None" and "alpha" not in python(server, "!pip freeze")


def test_an_upgrade_of_one_package_leaves_what_this_python_has_of_others(servers, index):
    """As with pip: --upgrade is for the packages that it names."""
    own = metadata_version("numpy")
    server = servers("--pip-index", index(wheel("numpy", "99.0"), ALPHA, wheel("wants", "1.0", ["numpy>=50"])).url)
    install(server, "numpy")
    upgraded = install(server, "--upgrade", "alpha")
    assert upgraded.object["packages"] == ["alpha 1.0"] and f"There already: numpy {own}." in upgraded.texts[0], upgraded.texts
    assert install(server, "--upgrade", "wants").object["packages"] == ["alpha 1.0", "numpy 99.0", "wants 1.0"]


def test_a_conflict_changes_the_packages_that_it_is_about(servers, index):
    """As with pip: others stay in their versions, also one that this Python has in another one."""
    server = servers("--pip-index", index(
        wheel("numpy", "99.0"), ALPHA, wheel("alpha", "2.0"), wheel("old", "1.0", ["alpha<2"]), wheel("dep", "1.0"), wheel("dep", "2.0")).url)
    install(server, "--upgrade", "numpy")
    install(server, "dep==1.0", "alpha")
    result = install(server, "old")
    assert result.object["packages"] == ["alpha 1.0", "dep 1.0", "numpy 99.0", "old 1.0"], result.texts


def test_a_conflict_of_an_extra_names_no_address_of_the_installer(servers, index):
    extra = wheel("pan", "2.0", ["dep; extra == 'x'\nProvides-Extra: x"])
    source = index(wheel("pan", "1.0"), extra, wheel("dep", "1.0"), wheel("tool", "1.0", ["pan<2"]))
    text = install(servers("--pip-index", source.url), "pan[x]==2.0", "tool").texts[0]
    assert "pan[x] 2.0 depends on pan 2.0\n" in text and "tool 1.0 depends on pan<2\n" in text, text


def metadata_version(name):
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return subprocess.run(["/usr/bin/python3", "-c", code, name], capture_output=True, text=True, check=True).stdout.strip()


def test_a_version_that_is_nowhere_is_told_also_of_a_package_that_is_there(kept):
    install(kept, "alpha")
    text = install(kept, "alpha==9").texts[0]
    assert "alpha==9: the index has no such version, but 2.0, 1.0" in text, text


@needs_npm
def test_peers_that_do_not_fit_are_told_with_what_helps_here(servers, registry):
    own = registry(package("host", "1.0.0"), package("plugin", "1.0.0", peerDependencies={"host": "^2.0.0"}), package("host", "2.0.0"))
    text = install(servers(env=set_to(own)), "host@1", "plugin", language="javascript").texts[0]
    assert "peer host" in text and "--legacy-peer-deps change nothing here" in text, text
    assert "retry" not in text and "report" not in text, text


def test_what_nothing_needs_any_more_stays_as_with_pip(servers, index):
    """Neither an upgrade nor a downgrade takes away what an earlier version brought."""
    excel = ["old; extra == 'excel'\nProvides-Extra: excel"]
    server = servers("--pip-index", index(
        wheel("pan", "1.0", ["zone"]), wheel("pan", "2.0", excel), wheel("zone", "1.0"), wheel("zone", "2.0"), wheel("old", "1.0"),
        wheel("tool", "1.0", ["pan<2"])).url)
    install(server, "pan==1.0", "--constraint=zone<2")
    upgraded = install(server, "--upgrade", "pan")
    assert upgraded.object["packages"] == ["pan 2.0", "zone 1.0"] and "removed" not in upgraded.object, upgraded.texts
    assert "zone==1.0" in python(server, "!pip freeze").split()
    install(server, "pan[excel]", session="t")
    downgraded = install(server, "tool", session="t")
    assert downgraded.object["packages"] == ["old 1.0", "pan 1.0", "tool 1.0", "zone 2.0"], downgraded.texts
    assert "pan 1.0 has no extra 'excel'." in downgraded.texts[0] and "No longer" not in downgraded.texts[0], downgraded.texts
    assert "extra" not in install(server, "zone", session="t").texts[0]
    assert "pan 1.0 has no extra 'excel' and no extra 'none'." in install(server, "pan[none]", session="t").texts[0]


def test_what_goes_because_it_does_not_fit_any_more_is_told(servers, index):
    """Other packages that nothing needs stay."""
    server = servers("--pip-index", index(
        wheel("app", "1.0", ["helper", "plain"]), wheel("app", "2.0", ["core>=2"]), wheel("helper", "1.0", ["core<2"]),
        wheel("plain", "1.0"), wheel("core", "1.0"), wheel("core", "2.0")).url)
    install(server, "app==1.0")
    assert "Would go: helper 1.0." in install(server, "--dry-run", "app==2.0").texts[0]
    told = python(server, "%pip install app==2.0")
    assert "No longer there: helper 1.0." in told, told
    assert python(server, "!pip freeze").split()[:3] == ["app==2.0", "core==2.0", "plain==1.0"]
    install(server, "app==1.0", session="t")
    result = install(server, "app==2.0", session="t")
    assert result.object["removed"] == ["helper 1.0"] and "No longer there" in result.object["message"], result.texts


def test_a_package_that_writes_its_name_in_another_way_is_replaced(servers, index):
    server = servers("--pip-index", index(wheel("Alpha", "1.0"), wheel("alpha", "2.0")).url)
    install(server, "alpha==1.0")
    result = install(server, "--upgrade", "alpha")
    assert "replaces Alpha 1.0" in result.texts[0] and "removed" not in result.object, result.texts


def test_a_request_for_another_system_lifts_no_earlier_one(kept):
    install(kept, "alpha==1.0")
    result = install(kept, "alpha==2.0; sys_platform == 'win32'", "free")
    assert result.object["packages"] == ["alpha 1.0", "free 1.0"], result.texts


def test_a_package_that_is_named_again_with_upgrade_is_asked_for_again(kept):
    """K8: also in a cell, and in a session that finds the set in the cache."""
    install(kept, "alpha")
    kept.index.add(*wheel("alpha", "3.0"))
    assert "alpha 3.0" in python(kept, "%pip install -U alpha")
    kept.index.add(*wheel("alpha", "4.0rc1"))
    assert "alpha 3.0" in python(kept, "%pip install --upgrade alpha", session="t")
    assert "alpha 4.0rc1" in python(kept, "%pip install --pre -U alpha", session="t")
    shell = kept.call("exec_code", session_id="b", language="bash", code="pip install -U --pre alpha").text
    assert "alpha 4.0rc1" in shell
    assert install(kept, "free", session="t").object["packages"] == ["alpha 4.0rc1", "free 1.0"]
    assert "names no package" in install(kept, "--upgrade").texts[0]


def test_an_upgrade_says_what_a_newer_version_has_to_fit(servers, index):
    server = servers("--pip-index", index(wheel("dep", "1.0"), wheel("dep", "2.0"), wheel("holds", "1.0", ["Dep<2"]), wheel("odd", "1.0", ["dep>=1", "dep<1; extra == 'x'"])).url)
    install(server, "holds", "odd")
    text = install(server, "--upgrade", "dep").texts[0]
    assert "There already: dep 1.0" in text and "A newer dep has to fit holds 1.0 (Dep<2)." in text, text
    assert "has to fit" not in install(server, "--upgrade", "odd").texts[0] + install(server, "dep").texts[0]


def test_constraints_hold_for_one_installation_and_ask_for_nothing(kept):
    assert install(kept, "free", "--constraint=alpha<2", "--constraint=dep==9").object["packages"] == ["alpha 1.0", "free 1.0"]
    text = install(kept, "new", "--constraint=alpha<2", session="t").texts[0]
    assert "new 1.0 depends on alpha>=2" in text and "or a constraint: alpha<2" in text, text
    assert install(kept, "new", session="t").object["packages"] == ["alpha 2.0", "new 1.0"]
    assert "is no requirement" in install(kept, "alpha", "--constraint=;x", session="t").texts[0]


def test_a_dry_run_says_what_would_come_and_installs_nothing(kept, home):
    result = install(kept, "--dry-run", "free")
    assert "Would install: alpha 2.0, free 1.0. Nothing was installed." in result.texts[0], result.texts
    assert "ModuleNotFoundError" in python(kept, "import free")
    event, = [event for event in journal_events(home) if event["event"] == "installed"]
    assert "packages" not in event and event["problem"] == "It was a dry run: nothing was installed."
    assert install(kept, "dep").object["packages"] == ["dep 1.0"]


@pytest.mark.parametrize("state", ["is not there", "fails"])
def test_an_upgrade_that_reaches_no_index_says_so(servers, index, state):
    """Also of a package that this Python has: pip then takes what is there."""
    own, source = metadata_version("pip"), index(ALPHA)
    server = servers("--pip-index", source.url)
    if state == "fails":
        source.says = (500, "text/plain", b"no")
    else:
        source.close()
    for text in (install(server, "--upgrade", "pip").texts[0], python(server, "!pip install -U pip")):
        assert f"There already: pip {own}." in text and "localhost:" in text and "Newer versions may be missing" in text, text


SLOW = """
import runpy, time
run = runpy.run_module
def run_slowly(name, **options):
    try:
        run(name, **options)
    finally:
        time.sleep(2.5 if name == "pip" else 0)
runpy.run_module = run_slowly
"""


def test_a_slow_pip_goes_on_without_an_index(servers, index, tmp_path):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "venv"], check=True)
    site, = (tmp_path / "venv/lib").glob("python3*/site-packages")
    (site / "slow.py").write_text(SLOW)
    (site / "slow.pth").write_text("import slow\n")
    source = index(ALPHA)
    source.close()
    text = install(servers("--pip-index", source.url, env={"PTYCELL_PYTHON": str(tmp_path / "venv/bin/python")}), "--upgrade", "pip").texts[0]
    assert "There already: pip " in text and "Newer versions may be missing" in text, text


@pytest.mark.parametrize("fresh", ["max-age=0", "no-cache", "max-age=30, public"])
def test_an_answer_of_the_index_holds_as_long_as_it_says(servers, index, fresh):
    """K8: a release that was withdrawn meanwhile is not installed for a day."""
    source = index(ALPHA)
    source.fresh = fresh
    server = servers("--pip-index", source.url)
    install(server, "alpha")
    source.files.clear()
    source.add(*wheel("alpha", "3.0"))
    expected = ["alpha 1.0"] if "30" in fresh else ["alpha 3.0"]
    assert install(server, "alpha", session="t").object["packages"] == expected


def test_an_answer_of_the_index_holds_for_ten_minutes_at_most(servers, index, home):
    source = index(ALPHA)
    source.fresh = "max-age=100000"
    install(servers("--pip-index", source.url), "alpha")
    for record in (home / "cache/packages").glob("index/*"):
        told = json.loads(record.read_text())
        record.write_text(json.dumps({**told, "made": told["made"] - 601}))
    source.add(*wheel("alpha", "3.0"))
    assert install(servers("--pip-index", source.url), "alpha", session="t").object["packages"] == ["alpha 3.0"]


def test_what_does_not_go_together_is_told_with_both_requirements(kept):
    """K12."""
    text = install(kept, "old", "new").texts[0]
    assert "old 1.0 depends on alpha<2" in text and "new 1.0 depends on alpha>=2" in text and "wanted.txt" not in text, text
    text = install(kept, "old", "alpha==2.0").texts[0]
    assert "Requested: alpha==2.0" in text and "old 1.0 depends on alpha<2" in text, text


def hashed(text, file):
    return f"{text} --hash=sha256:{hashlib.sha256(file[1]).hexdigest()}"


def test_a_hash_binds_its_package_and_no_later_one(kept):
    """K11."""
    assert not install(kept, hashed("alpha==1.0", ALPHA)).is_error
    result = install(kept, "free")
    assert result.object["packages"] == ["alpha 1.0", "free 1.0"], result.texts
    free = ("free-1.0-py3-none-any.whl", kept.index.files["free-1.0-py3-none-any.whl"])
    alone = install(kept, hashed("free==1.0", free), session="t")
    assert alone.is_error and "alpha" in alone.texts[0], alone.texts
    install(kept, "dep", session="u")
    needs = install(kept, hashed("free==1.0", free), session="u")
    assert needs.is_error and "alpha 2.0 has no --hash" in needs.texts[0] and "--hash=sha256:" in needs.texts[0], needs.texts
    wrong = install(kept, hashed("free==1.0", ALPHA), session="u")
    assert wrong.is_error and "does not have the hash" in wrong.texts[0], wrong.texts
    kept.index.add(ALPHA[0], wheel("alpha", "1.0", files={"alpha.py": "changed = 1"})[1])
    changed = install(kept, "dep")
    assert changed.is_error and "does not have the hash" in changed.texts[0], changed.texts


# ---- as it is written


def test_pip_freeze_names_versions(kept):
    """K18: what another machine can install."""
    install(kept, "alpha==1.0")
    assert "alpha==1.0" in python(kept, "%pip freeze").split()


@pytest.mark.parametrize("line", ["!pip3 -q install alpha", "%pip --no-cache-dir install -q alpha",
                                  "!python3 -m pip --disable-pip-version-check install alpha"])
def test_options_may_stand_before_the_command(kept, line):
    """K15."""
    assert "Installed: alpha 2.0" in python(kept, line)


# ---- the end of an installation


def installers(server):
    """Its processes that install Python packages."""
    found = []
    for pid, _ in family(server.process.pid):
        with contextlib.suppress(OSError):
            with open(f"{PROC}/{pid}/cmdline", "rb") as f:
                found += [pid] if b"---- wheels.py ----" in f.read() else []
    return found


def test_an_installation_ends_with_the_cell_that_waits_for_it(kept):
    """K7: it went on, and the next installation of the session waited for its end."""
    kept.index.hold.clear()
    try:
        for session, language, code in (("s", "python", "%pip install alpha"), ("b", "bash", "pip install alpha")):
            first = kept.call("exec_code", session_id=session, language=language, code=code, budget=0)
            telling(kept, "Asking ptycell", first, session=session, language=language)
            until(lambda: installers(kept))
            kept.call("interact", session_id=session, language=language, action="interrupt")
            until(lambda: not installers(kept))
    finally:
        kept.index.hold.set()
    assert install(kept, "alpha").object["packages"] == ["alpha 2.0"]


# ---- what is imported is what is installed


NUMPY = wheel("numpy", "9.9.0", files={"numpy/__init__.py": "__version__ = '9.9.0'\n"})
NEEDS_NEW = wheel("needsnew", "1.0", ["numpy>=9"])


def await_numpy(server):
    """Waits until new sessions begin with numpy imported."""
    def attempt():
        name = f"w{next(server.ids)}"
        begins = "True" in server.cell("import sys; 'numpy' in sys.modules", session=name).text
        server.call("destroy_session", session_id=name)
        return begins
    until(attempt, every=1)


def test_a_set_that_replaces_what_was_imported_ahead_is_what_a_new_session_imports(home, index):
    """K2: sessions begin with modules of the interpreter's own packages, here numpy."""
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no numpy for /usr/bin/python3 here")
    env = {**LASTS, "PTYCELL_PRELOAD": "numpy"}
    with Server(home, "--pip-index", index(NUMPY, NEEDS_NEW).url, env=env) as server:
        await_numpy(server)
        assert not install(server, "needsnew", session="n").is_error
        assert "9.9.0" in server.cell("import numpy, needsnew; numpy.__version__", session="n").text
    with Server(home, env=env) as server:
        await_numpy(server)
        assert "9.9.0" in server.cell("import numpy, needsnew; numpy.__version__", session="n").text


def test_modules_of_python_s_own_names_are_left_out_and_named(servers, index):
    """K20: they would be imported before Python's own."""
    files = {"hides.py": "x = 5", "json.pyc": b"x", "typing.py": "x = 1", "argparse/__init__.py": ""}
    server = servers("--pip-index", index(wheel("hides", "1.0", files=files)).url)
    for session in "st":
        result = install(server, "hides", session=session)
        assert "Left out, because Python has them itself: argparse, json, typing." in result.object["message"], result.texts
        assert "5" in python(server, "import json, typing, argparse, hides; hides.x", session=session)
    again = python(server, "%pip install hides", session="s")
    assert "\nLeft out" in again and "imported already" not in again, again


@needs_npm
def test_packages_for_other_systems_are_neither_listed_nor_judged(servers, registry):
    """K17: a lock file of npm names them, and nothing of them is unpacked."""
    source = registry(package("app", "1.0.0", optionalDependencies={"app-win": "1.0.0", "app-old": "1.0.0", "app-here": "1.0.0"}),
                      package("app-win", "1.0.0", os=["win32"]), package("app-old", "1.0.0", cpu=["none-such"]),
                      package("app-here", "1.0.0", os=["!win32"]))
    for policy in (None, {"javascript": {"block": ["app-win", "app-old"]}}):
        server = servers(env=set_to(source), policy=policy)
        assert install(server, "app", language="javascript").object["packages"] == ["app 1.0.0", "app-here 1.0.0"]
    refused = install(servers(env=set_to(source), policy={"javascript": {"block": ["app-here"]}}), "app", language="javascript")
    assert refused.is_error and "app-here (needed by app) is on the block list" in refused.texts[0], refused.texts


# ---- names


@needs_npm
def test_a_name_of_npm_keeps_its_case(servers, registry):
    """K3: another case is another package."""
    both = registry(package("jsonstream", "1.0.0"), package("JSONStream", "2.0.0"))
    server = servers(env=set_to(both))
    assert install(server, "JSONStream", language="javascript").object["packages"] == ["JSONStream 2.0.0"]
    assert "/jsonstream" not in both.asked


def test_modules_come_compiled_and_a_file_that_is_no_python_stays_as_it_is(servers, index):
    files = {f"many/m{n}.py": f"x = {n}" for n in range(9)} | {"many/__init__.py": "", "many/old.py": "print 'of another Python'"}
    server = servers("--pip-index", index(wheel("many", "1.0", files=files)).url)
    assert install(server, "many").object["packages"] == ["many 1.0"]
    text = server.cell("import many, pathlib; sorted(p.name.split('.')[0] for p in pathlib.Path(many.__file__).parent.glob('__pycache__/*.pyc'))").text
    assert all(f"'m{n}'" in text for n in range(9)) and "'__init__'" in text and "old" not in text, text


def test_what_was_there_is_not_told_as_installed(servers, index):
    files = [wheel("alpha", "1.0"), wheel("beta", "1.0", ["alpha"])]
    server = servers("--pip-index", index(*files).url)
    assert install(server, "alpha").object["message"].startswith("Installed: alpha 1.0 (")
    assert install(server, "alpha").object["message"] == "There already: alpha 1.0."
    more = install(server, "beta").object["message"]
    assert more.startswith("Installed: beta 1.0 (") and " MB" not in more and more.endswith(" There already: alpha 1.0."), more
