# SPDX-License-Identifier: MIT
"""Nothing that code wrote into a repository runs when the user's git is called there: every kind, armed in every way, in every place.

With PTYCELL_FULL=1 all of it (hours), with PTYCELL_FULL=pairs what has each pair of a kind, an arm and a move, kind by kind; else a
part that has each kind, arm and move. PTYCELL_TEST_GIT names a git that the user calls as well, of another version than the system's,
which makes the repositories.
"""
import base64
import os
import subprocess

import machines
import pytest
from layouts import ALL, ARMS, KINDS, PAIRS, SOME, arm, make, script, user_script
from repositories import needs_git

FULL = {None: None, "pairs": PAIRS}.get(os.environ.get("PTYCELL_FULL"), ALL)
CASES = {kind: [case for case in FULL if case[0] == kind] for kind in KINDS} if FULL else {"some": SOME}
GITS = {"system": "", "other-git": os.environ.get("PTYCELL_TEST_GIT", "")}
USER = machines.NOBODY if os.geteuid() == 0 else None
HONEST = """git status --porcelain; git log -1 --oneline; echo 2 >> a; git add .; git commit -qm c; git switch -qc side; git diff --stat HEAD~
echo 3 > new; git stash -qu; git stash pop -q; git stash -qu; git stash drop -q; git fetch -q --all; git clone -q . ../copy; git init -q ../fresh
"""

pytestmark = [needs_git, pytest.mark.limit(3600 if FULL else 300)]
each_part = pytest.mark.parametrize("cases", CASES.values(), ids=CASES)


@pytest.fixture(name="places")
def fixture_places():
    """A home, a folder in it that is shared, and one for what should not run."""
    with machines.user_home() as place:
        for name in ("share", "ran"):
            (place / name).mkdir()
            if USER is not None:
                os.chown(place / name, USER, USER)
        yield place, place / "share", place / "ran"


@pytest.fixture(name="path", params=GITS)
def fixture_path(request):
    """With the user's git before all else."""
    git = GITS[request.param]
    if request.param != "system" and not os.access(git, os.X_OK):
        pytest.skip("PTYCELL_TEST_GIT names no other git")
    return os.path.dirname(git) + ":" + os.environ["PATH"] if git else os.environ["PATH"]


def as_user(text, place, path=os.environ["PATH"]):
    env = {"PATH": path, "HOME": str(place), "GIT_CEILING_DIRECTORIES": str(place)}
    subprocess.run(["bash", "-c", text], env=env, user=USER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def ran(marks, cases):
    return [cases[int(name)] for name in sorted(os.listdir(marks), key=int)]


def served(place, folder):
    server = machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw", "EXEC_TIMEOUT": "3000"})
    if server.call("session_info", session_id="s").object["confinement"]["tier"] != "namespaces":
        server.close()
        pytest.skip("only tier namespaces holds these names")
    return server


@each_part
def test_the_cases_do_run_something_without_ptycell(places, cases, path):
    """Else the others would prove nothing."""
    place, share, marks = places
    as_user(script(cases, share, marks, make, arm), place)
    for mark in marks.iterdir():
        mark.unlink() # by what made it
    as_user(user_script(share), place, path)
    armed = ran(marks, cases)
    assert {case[0] for case in armed} == {case[0] for case in cases}
    # Not each arm does in each kind and after each move: a bare one has no work tree to filter.
    assert len(armed) * 5 >= len(cases) if FULL else {case[1] for case in armed} == set(ARMS), armed


@each_part
def test_what_code_makes_in_a_share(places, cases, path):
    place, share, marks = places
    with served(place, share) as server:
        result = server.cell(script(cases, share, marks, make, arm), language="bash")
        assert result.state == "done" and "Renamed in the shared folder" in result.texts[0], result.texts
        as_user(user_script(share), place, path)
        assert not ran(marks, cases)
    as_user(user_script(share, "git status"), place, path)
    assert not ran(marks, cases)


@each_part
def test_what_code_puts_into_repositories_that_were_there(places, cases, path):
    place, share, marks = places
    as_user(script(cases, share, marks, make), place)
    with served(place, share) as server:
        result = server.cell(script(cases, share, marks, arm), language="bash")
        assert result.state == "done", result.texts
        as_user(user_script(share), place, path)
        assert not ran(marks, cases)
    as_user(user_script(share, "git status"), place, path)
    assert not ran(marks, cases)


@each_part
def test_what_code_makes_in_a_kept_folder(places, cases, path):
    place, share, marks = places
    with served(place, share) as server:
        result = server.cell(f"mkdir -p output/k; cd output/k\n{script(cases, '$PWD', marks, make, arm)}", language="bash")
        assert result.state == "done", result.texts
    kept, = (place / "kept").glob("*/")
    as_user(user_script(kept), place, path)
    assert not ran(marks, cases)


@each_part
@pytest.mark.parametrize("where", ["share", "kept"])
def test_what_code_makes_of_an_upload(places, cases, path, where):
    """Repositories that the user's git made come in as an archive; code arms them, and puts them where the user sees them."""
    place, share, marks = places
    made = place / "made"
    as_user(f"mkdir {made}\n{script(cases, made, marks, make)}\ntar cf {place}/made.tar -C {made} .; rm -rf {made}", place)
    to = share if where == "share" else "$HOME/output/k"
    with served(place, share) as server:
        uploaded = server.call("upload_file", session_id="s", filename="made.tar",
                               content=base64.b64encode((place / "made.tar").read_bytes()).decode(), encoding="base64")
        assert not uploaded.is_error, uploaded.texts
        result = server.cell(f"mkdir -p $HOME/u {to}; tar xf $HOME/input/made.tar -C $HOME/u\n{script(cases, '$HOME/u', marks, arm)}\n"
                             f"cp -a $HOME/u/. {to}; mv $HOME/u {to}/moved; ls {to}/n1 {to}/moved/n1 | grep -q . && echo there", language="bash")
        assert result.state == "done" and "there\n" in result.text, result.texts
    for top in (share, *(place / "kept").glob("*/")):
        as_user(user_script(top), place, path)
    assert not ran(marks, cases)


@pytest.mark.parametrize("there_before", [False, True])
def test_what_honest_code_does_works(places, there_before):
    place, share, marks = places
    kinds = [kind for kind in KINDS if kind not in ("bare", "by hand")]
    cases = [(kind, "fsmonitor", "in place") for kind in kinds]
    identity = script([], share, marks)
    if there_before:
        as_user(script(cases, share, marks, make), place)
    with served(place, share) as server:
        for number, kind in enumerate(kinds):
            where = KINDS[kind].rpartition("; ")[2]
            made = where if there_before else KINDS[kind]
            result = server.cell(f"({identity}\nset -e; mkdir -p {share}/n{number}; cd {share}/n{number}; {made}\ncd $W\n{HONEST}\necho works) "
                                 "2>&1 | tail -8", language="bash")
            assert result.text.endswith("\nworks\n") and "Renamed" not in result.texts[0], (kind, result.texts)
            done = subprocess.run(["bash", "-ec", f"{identity}cd {share}/n{number}; {where}; cd $W; echo 9 > u; git add .; git commit -qm u; "
                                   "git switch -qc mine; git status --porcelain"], user=USER, capture_output=True, text=True, check=False,
                                  env={"PATH": os.environ["PATH"], "HOME": str(place)})
            assert done.returncode == 0, (kind, done)
