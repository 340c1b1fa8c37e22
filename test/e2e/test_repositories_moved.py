# SPDX-License-Identifier: MIT
"""Code of one session prepares a folder, which is nothing to git; code of the next moves it to where git runs what is in it."""
import os
import subprocess

import machines
import pytest
from client import LASTS
from repositories import BARE, LOOKS, USER, a_project, git, holds_names, needs_git

HOOKS = "mkdir x; for h in post-index-change pre-commit; do printf '#!/bin/sh\\nid > MARK\\n' > x/$h; chmod +x x/$h; done"
# A repository in the session's own folder, and where that is when the session has ended, as $E.
OWN = BARE + """bare own; E=$(awk '$5 == "/mnt/data" {print $4}' /proc/self/mountinfo | sed 's,/server-[a-z2-7]*/sessions/,/resume/,')
"""

# What the user has (in the project, whose repository n has no hooks), what the two sessions do, where git is called.
CASES = {
    "hooks": ("", f"cd n/.git; {HOOKS}", "mv n/.git/x n/.git/hooks", "n"),
    "hooks that a config names": ("git -C n config core.hooksPath tools/hooks", f"mkdir n/y; cd n/y; {HOOKS}; mv x hooks", "mv n/y n/tools", "n"),
    "included config": ("git -C n config include.path ../conf/more",
                        "mkdir n/x; printf '[core]\\n\\tfsmonitor = \"id > MARK; false\"\\n' > n/x/more", "mv n/x n/conf", "n"),
    "command": ("git -C n config core.fsmonitor tools/watch", f"cd n; {HOOKS}; mv x/pre-commit x/watch", "mv n/x n/tools", "n"),
    "remotes": ("", "mkdir n/.git/x; echo URL: UP > n/.git/x/origin", "mv n/.git/x n/.git/remotes", "n"),
    "remotes at the top": ("", "mkdir .git/x; echo URL: UP > .git/x/origin", "mv .git/x .git/remotes", "."),
    "a file that names a repository": ("", OWN + "sed -i /worktree/d own/config; cd PROJECT; mkdir -p venv/1/2/x; "
                                       "echo \"gitdir: ../../../..$E/own\" > venv/1/2/x/.git", "mv venv/1/2/x x", "x"),
    "a file in the place of the user's own": (
        "mkdir -p venv/src; git -C n worktree add -q ../venv/src/p",
        OWN + "sed -i /worktree/d own/config; cd PROJECT; mkdir -p venv/1/2/3/4/x; "
        "echo \"gitdir: ../../../../../..$E/own\" > venv/1/2/3/4/x/.git", "cd venv; mv src/p q; mv 1/2/3/4/x src/p", "venv/src/p"),
    "a link": ("", OWN + "cd PROJECT; mkdir -p 1/2/3/x; ln -s ../../../..$E/own 1/2/3/x/l", "mv 1/2/3/x x", "x/l"),
    "a link further down": ("", OWN + "cd PROJECT; mkdir -p 1/2/3/x/z; ln -s ../../../../..$E/own 1/2/3/x/z/l", "mv 1/2/3/x x", "x/z/l"),
    "a repository among packages": (
        "mkdir -p venv/src; git init -q venv/src/p",
        BARE + "cd PROJECT; bare venv/src/y/g; rm venv/src/y/g/HEAD; sed -i /worktree/d venv/src/y/g/config",
        "cd venv/src; mv p q; mv y p; mv p/g p/.git; echo 'ref: refs/heads/main' > p/.git/HEAD", "venv/src/p"),
}


def on(place, folder):
    return machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw", **LASTS})


def make_as_user(folder, place, script):
    """A repository n in the project, a repository in which a push runs something, and what the script makes."""
    done = subprocess.run(["sh", "-ec", f"""mkdir n; echo 1 > n/a; git init -qb main --template= n; git -C n add .
git -C n -c user.name=u -c user.email=u@u commit -qm a; git init -q --bare {place}/up
printf '#!/bin/sh\nid > {place}/ran\n' > {place}/up/hooks/update; chmod +x {place}/up/hooks/update; {script}"""],
                          cwd=folder, check=False, capture_output=True, text=True, **machines.as_user())
    assert done.returncode == 0, done.stderr


@needs_git
@pytest.mark.parametrize("case", CASES)
def test_a_folder_of_an_earlier_session_is_code_s_where_it_is_moved_to(case):
    there, first, second, where = CASES[case]
    with a_project() as (place, folder):
        make_as_user(folder, place, there)
        for session, code in (("a", first), ("b", second)):
            code = code.replace("MARK", str(place / "ran")).replace("PROJECT", str(folder)).replace("UP", str(place / "up"))
            with on(place, folder) as server:
                holds_names(server)
                result = server.cell(code if OWN in code else f"(cd {folder}; {code})",
                                     language="bash", session=session)
                assert result.state == "done" and not result.status.get("exit"), result.texts
        assert "held-by-ptycell" in result.texts[0] or "(removed)" in result.texts[0], result.texts
        if (folder / where).exists():
            for arguments in LOOKS + [["add", "-A"], ["commit", "--allow-empty", "-m", "x"], ["push", "origin", "main"]]:
                git(folder / where, *arguments, home=place, user=USER)
        assert not (place / "ran").exists()


@needs_git
def test_what_the_user_had_stays_where_code_works():
    """Of each kind that is judged one is there, beside which code changes files and runs git."""
    run = "printf '#!/bin/sh\\nexit 0\\n'"
    there = f"""mkdir -p n/.git/hooks n/.git/remotes n/tools n/conf venv/w; echo URL: {'{place}'}/up > n/.git/remotes/old
for f in n/.git/hooks/pre-commit n/.git/hooks/post-commit n/tools/watch; do {run} > $f; chmod +x $f; done
printf '[core]\\n\\tfsmonitor = tools/watch\\n' > n/conf/more; git -C n config include.path ../conf/more
git init -qb main --separate-git-dir=g venv/w/s; ln -s ../cache c; ln -s ../../../.. venv/w/up"""
    with a_project() as (place, folder):
        make_as_user(folder, place, there.replace("{place}", str(place)))
        before = {os.path.join(at, name) for at, folders, names in os.walk(folder) for name in folders + names if "/objects" not in at}
        for _ in range(2):
            with on(place, folder) as server:
                holds_names(server)
                for i in range(2):
                    result = server.cell(f"cd {folder}/n; date > b{i}; date > tools/t; date > conf/t; git -c user.name=c -c user.email=c@c commit -qam b; "
                                         f"cd ..; date > t; date > venv/w/t; git -C n status", language="bash")
                    assert "enamed" not in result.texts[0] and "removed" not in result.texts[0], result.texts
        after = {os.path.join(at, name) for at, folders, names in os.walk(folder) for name in folders + names if "/objects" not in at}
        assert before <= after, before - after
