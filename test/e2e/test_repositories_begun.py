# SPDX-License-Identifier: MIT
"""What code puts into a .git that is no repository yet does not run once the user's git init has made it one."""
import subprocess

import machines
import pytest
from client import LASTS
from repositories import LOOKS, USER, a_project, git, holds_names, needs_git

HOOK = "printf '#!/bin/sh\\nid > MARK\\n' > HOOKS/pre-commit; chmod +x HOOKS/pre-commit"
SETTING = "printf '[core]\\n\\tfsmonitor = \"id > MARK; false\"\\n' > FILE"
COMMON = "mkdir -p c/objects c/refs c/hooks; " + HOOK.replace("HOOKS", "c/hooks")
# What code does in the folder new, in one session or in two, and what is renamed.
BEGUN = {
    "hook": (["mkdir -p .git/hooks; " + HOOK.replace("HOOKS", ".git/hooks")], "pre-commit"),
    "config": (["mkdir .git; " + SETTING.replace("FILE", ".git/config")], "config"),
    "a HEAD and no more": (["mkdir .git; echo 'ref: refs/heads/main' > .git/HEAD; " + SETTING.replace("FILE", ".git/config")], "config"),
    "another folder": ([f"mkdir .git; echo ../c > .git/commondir; {COMMON}"], "commondir"),
    "of an earlier session": (["mkdir -p x/hooks; " + HOOK.replace("HOOKS", "x/hooks"), "mv x .git"], "pre-commit"),
    "config of an earlier session": (["mkdir x; " + SETTING.replace("FILE", "x/config"), "mv x .git"], "config"),
    "another folder of an earlier session": ([f"mkdir x; echo ../c > x/commondir; {COMMON}", "mv x .git"], "commondir"),
}


def begin(folder, place):
    """What a user does with a project that is to be put under git."""
    for arguments in (["init", "-qb", "main"], *LOOKS, ["add", "."], ["commit", "-qm", "a"], ["status"]):
        git(folder, *arguments, home=place, user=USER)


@needs_git
@pytest.mark.parametrize("case", BEGUN)
def test_what_git_init_completes_does_run_without_ptycell(case):
    """Else what follows would prove nothing."""
    with a_project() as (place, folder):
        code = "\n".join(["mkdir new; cd new; echo 1 > a", *BEGUN[case][0]]).replace("MARK", str(place / "ran"))
        subprocess.run(["sh", "-ec", code], cwd=folder, check=True, **machines.as_user())
        begin(folder / "new", place)
        assert (place / "ran").exists()


@needs_git
@pytest.mark.parametrize("case", BEGUN)
def test_what_git_init_completes_is_held_before(case):
    with a_project() as (place, folder):
        for session, code in enumerate(BEGUN[case][0]):
            with machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw", **LASTS}) as server:
                holds_names(server)
                result = server.cell(f"mkdir -p {folder}/new; cd {folder}/new; echo 1 > a; {code}".replace("MARK", str(place / "ran")),
                                     language="bash", session=f"s{session}")
                assert result.state == "done", result.texts
        assert f"to '{BEGUN[case][1]}.held-by-ptycell'" in result.texts[0], result.texts
        begin(folder / "new", place)
        assert git(folder / "new", "log", "-1", home=place, user=USER).returncode == 0 and not (place / "ran").exists()


@needs_git
def test_what_the_user_has_in_a_folder_of_this_name_stays():
    with a_project() as (place, folder):
        subprocess.run(["sh", "-ec", "mkdir -p new/.git/hooks; echo '[alias] x = y' > new/.git/config; cp /bin/true new/.git/hooks/pre-commit\n"
                        "mv .git/HEAD HEAD; git config -f .git/config alias.x y; cp /bin/true .git/hooks/pre-commit"],
                       cwd=folder, check=True, **machines.as_user())
        with machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw"}) as server:
            holds_names(server)
            for code in (f"echo 1 > {folder}/new/a", f"echo 2 > {folder}/new/.git/b"):
                assert "Renamed" not in "".join(server.cell(code, language="bash").texts)
        for git_folder in (".git", "new/.git"):
            assert (folder / git_folder / "config").exists() and (folder / git_folder / "hooks/pre-commit").exists()


@needs_git
def test_what_the_user_has_in_a_repository_stays_when_code_takes_its_head():
    with a_project() as (place, folder):
        subprocess.run(["sh", "-ec", "git config -f .git/config alias.x y; cp /bin/true .git/hooks/pre-commit"], cwd=folder, check=True, **machines.as_user())
        with machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw"}) as server:
            holds_names(server)
            for code in ("mv .git/HEAD HEAD", "mv HEAD .git/HEAD"):
                assert "Renamed" not in "".join(server.cell(f"cd {folder}; {code}", language="bash").texts)
        assert (folder / ".git/config").exists() and (folder / ".git/hooks/pre-commit").exists()
