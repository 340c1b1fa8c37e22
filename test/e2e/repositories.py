# SPDX-License-Identifier: MIT
"""Repositories that run something when git looks at them, by shell scripts, and git as a user calls it on them."""
import contextlib
import os
import shutil
import subprocess

import machines
import pytest

USER = machines.NOBODY if os.geteuid() == 0 else None
GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="no git here")

# What git reads of a user in a folder: prompts and editors call the first by themselves, in any folder.
LOOKS = [["status"], ["diff"], ["log", "--oneline"], ["branch"], ["ls-files"]]

# Makes a folder $1 into a repository, whose config runs a program that leaves MARK.
BARE = """
bare() {
    mkdir -p "$1/objects" "$1/refs/heads" "$1/tree"; echo x > "$1/objects/x"; touch "$1/refs/heads/.keep" "$1/tree/a"
    echo 'ref: refs/heads/main' > "$1/HEAD"
    printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = tree\\n\\tfsmonitor = "id > MARK; false"\\n' > "$1/config"
}
"""

# name: (script, the folder in which git is called)
LAYOUTS = {
    "at the top": ("bare .", "."),
    "below": ("bare a/b", "a/b"),
    "deep": ("bare 1/2/3/4/5/6/7/8", "1/2/3/4/5/6/7/8"),
    "a file that names one": ("mkdir w; bare r; echo 'gitdir: ../r' > w/.git", "w"),
    "common folder": ("bare r; mkdir c w; mv r/config r/objects r/refs c; sed -i /worktree/d c/config; "
                      "echo ../c > r/commondir; echo 'gitdir: ../r' > w/.git", "w"),
    "included config": ("bare r; cp r/config r/more; sed -i /fsmonitor/d r/config; printf '[include]\\n\\tpath = more\\n' >> r/config", "r"),
    "moved": ("bare r; mkdir d; mv r d/x.git", "d/x.git"),
    "by link": ("bare r; ln -s r l", "l"),
}


def script(layout, mark):
    return (BARE + LAYOUTS[layout][0]).replace("MARK", str(mark))


def git(folder, *arguments, home, user=None):
    """Git as a user without any settings calls it, who goes no further up than to `home`."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(home),
           "GIT_AUTHOR_NAME": "u", "GIT_AUTHOR_EMAIL": "u@u", "GIT_COMMITTER_NAME": "u", "GIT_COMMITTER_EMAIL": "u@u"}
    return subprocess.run([GIT, *arguments], cwd=folder, env=env, user=user, capture_output=True, text=True, check=False)


def look_everywhere(top, home):
    """Calls git in `top` and each folder below, as somebody who walks through it."""
    for folder in [top, *(path for path in sorted(top.rglob("*")) if path.is_dir())]:
        for arguments in LOOKS:
            git(folder, *arguments, home=home)


@contextlib.contextmanager
def a_project():
    """A repository with one commit, of an ordinary user."""
    with machines.user_home() as place:
        folder = place / "project"
        folder.mkdir()
        (folder / "old").write_text("old", encoding="ascii")
        if USER is not None:
            os.chown(folder, USER, USER)
            os.chown(folder / "old", USER, USER)
        for arguments in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "old"]):
            done = git(folder, *arguments, home=place, user=USER)
            assert done.returncode == 0, done.stderr
        yield place, folder


def served(place, folder):
    return machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw"})


def holds_names(server):
    if server.call("session_info", session_id="s").object["confinement"]["tier"] != "namespaces":
        pytest.skip("only tier namespaces holds these names")
