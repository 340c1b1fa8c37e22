# SPDX-License-Identifier: MIT
"""Nothing that code wrote into a repository runs when the user's git is called there: every kind, armed in every way, in every place.

With PTYCELL_FULL=1 all of it, else a part that has each kind, arm and move.
"""
import os
import subprocess

import machines
import pytest
from layouts import ALL, ARMS, KINDS, SOME, arm, make, script, user_script
from repositories import needs_git

CASES = ALL if os.environ.get("PTYCELL_FULL") else SOME
USER = machines.NOBODY if os.geteuid() == 0 else None
HONEST = """git status --porcelain; git log -1 --oneline; echo 2 >> a; git add .; git commit -qm c; git switch -qc side; git diff --stat HEAD~
echo 3 > new; git stash -qu; git stash pop -q; git stash -qu; git stash drop -q; git fetch -q --all; git clone -q . ../copy; git init -q ../fresh
"""

pytestmark = [needs_git, pytest.mark.limit(3600 if CASES is ALL else 300)]


@pytest.fixture(name="places")
def fixture_places():
    """A home, a folder in it that is shared, and one for what should not run."""
    with machines.user_home() as place:
        for name in ("share", "ran"):
            (place / name).mkdir()
            if USER is not None:
                os.chown(place / name, USER, USER)
        yield place, place / "share", place / "ran"


def as_user(text, place):
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "GIT_CEILING_DIRECTORIES": str(place)}
    subprocess.run(["bash", "-c", text], env=env, user=USER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def ran(marks):
    return [CASES[int(name)] for name in sorted(os.listdir(marks), key=int)]


def served(place, folder):
    server = machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw", "PTYCELL_EXEC_TIMEOUT": "3000"})
    if server.call("session_info", session_id="s").object["confinement"]["tier"] != "namespaces":
        server.close()
        pytest.skip("only tier namespaces holds these names")
    return server


def test_the_cases_do_run_something_without_ptycell(places):
    """Else the others would prove nothing."""
    place, share, marks = places
    as_user(script(CASES, share, marks, make, arm), place)
    for mark in marks.iterdir():
        mark.unlink() # by what made it
    as_user(user_script(share), place)
    armed = ran(marks)
    assert {case[1] for case in armed} == set(ARMS), set(ARMS) - {case[1] for case in armed}
    assert {case[0] for case in armed} == set(KINDS), set(KINDS) - {case[0] for case in armed}


def test_S2_what_code_makes_in_a_share(places):
    place, share, marks = places
    with served(place, share) as server:
        result = server.cell(script(CASES, share, marks, make, arm), language="bash")
        assert result.state == "done" and "Renamed in the shared folder" in result.texts[0], result.texts
        as_user(user_script(share), place)
        assert not ran(marks)
    as_user(user_script(share, "git status"), place)
    assert not ran(marks)


def test_2_3_what_code_puts_into_repositories_that_were_there(places):
    place, share, marks = places
    as_user(script(CASES, share, marks, make), place)
    with served(place, share) as server:
        result = server.cell(script(CASES, share, marks, arm), language="bash")
        assert result.state == "done", result.texts
        as_user(user_script(share), place)
        assert not ran(marks)
    as_user(user_script(share, "git status"), place)
    assert not ran(marks)


def test_S1_what_code_makes_in_a_kept_folder(places):
    place, share, marks = places
    with served(place, share) as server:
        result = server.cell(f"mkdir -p output/k; cd output/k\n{script(CASES, '$PWD', marks, make, arm)}", language="bash")
        assert result.state == "done", result.texts
    kept, = (place / "kept").iterdir()
    as_user(user_script(kept), place)
    assert not ran(marks)


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
