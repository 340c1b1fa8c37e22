# SPDX-License-Identifier: MIT
"""What code writes does not run when the user's git, shell or editor looks at it."""
import os
import subprocess

import machines
import pytest
from patience import until
from repositories import LAYOUTS, git, look_everywhere, needs_git, script
from steps import kept_files, paths_in

RUNS = [".envrc", ".vscode/tasks.json", ".git", ".gitconfig", ".claude/settings.json", ".Rprofile", "sub/.npmrc"]
STAYS = [".gitignore", ".gitattributes", ".github/workflows/ci.yml", "head/scan.txt", "plot.txt"]


@needs_git
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layouts_do_run_something(layout, tmp_path):
    """Else what follows would prove nothing."""
    folder = tmp_path / "made"
    folder.mkdir()
    subprocess.run(["sh", "-e", "-c", script(layout, tmp_path / "ran")], cwd=folder, check=True)
    git(folder / LAYOUTS[layout][1], "status", home=tmp_path)
    assert (tmp_path / "ran").exists()


@needs_git
@pytest.mark.parametrize("layout", LAYOUTS)
def test_S1_no_kept_folder_is_a_repository(layout, server, home):
    result = server.cell("cd output\n" + script(layout, home / "ran"), language="bash")
    assert result.state == "done" and "_HEAD" in result.text, result.text
    kept, = paths_in(home, "kept/*")
    look_everywhere(kept, home)
    assert not (home / "ran").exists()
    assert not [path for path in kept_files(home) if path.name in ("HEAD", ".git")]


def test_S1_names_that_run_something_are_kept_under_others_and_that_is_told_once(server, home):
    write = ("import pathlib\nfor name in NAMES:\n    path = pathlib.Path('output', name)\n"
             "    path.parent.mkdir(parents=True, exist_ok=True)\n    path.write_text(name)\n")
    result = server.cell(write.replace("NAMES", repr(RUNS + STAYS)))
    assert result.text.count("Saved under another name") == 1 and " as '_." in result.text
    kept, = paths_in(home, "kept/*")
    names = {str(path.relative_to(kept)): path.read_text(encoding="ascii") for path in kept_files(home)}
    altered = {"/".join("_" + part if part in (".vscode", ".claude") or part in RUNS or part == ".npmrc" else part
                        for part in name.split("/")): name for name in RUNS}
    assert names == altered | {name: name for name in STAYS}
    assert "Saved under" not in server.cell("open('output/.bashrc', 'w').write('x')").text
    assert (kept / "_.bashrc").exists() and not (kept / ".bashrc").exists()


# ---- a repository at the top of a share ----

USER = machines.NOBODY if os.geteuid() == 0 else None
IDENTITY = "export GIT_AUTHOR_NAME=c GIT_AUTHOR_EMAIL=c@c GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@c HOME=/tmp\n"
HONEST = IDENTITY + """set -e
cd PROJ; git status --porcelain; echo 1 > new; git add .; git commit -qm made; git switch -qc side; echo 2 >> new
git stash -q; git stash pop -q; git commit -qam more; git switch -q main; git merge -q side; git fetch -q .git side
git worktree list > /dev/null; git clone -q . /tmp/clone; git init -q sub/own; rm -rf sub; git status --porcelain; git ls-files; echo works
"""
COMMONDIR = """cd PROJ; mkdir -p .x/hooks; cp -r .git/objects .git/refs .git/config .x/
printf '[core]\n\tfsmonitor = "id > MARK; false"\n' >> .x/config; echo ../.x > .git/commondir
rm -f .git/commondir; mv -f .x/config .git/config.worktree; mv .git .git2; ls -A .git2
"""


@pytest.fixture(name="project")
def fixture_project():
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


@needs_git
def test_S13_git_works_in_a_share_and_beside_it(project):
    place, folder = project
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(HONEST.replace("PROJ", str(folder)), language="bash")
        assert result.text == "new\nold\nworks\n", result.text
        (folder / "mine").write_text("mine", encoding="ascii")
        if USER is not None:
            os.chown(folder / "mine", USER, USER)
        for arguments, out in ((["status", "--porcelain"], "?? mine\n"), (["add", "."], ""),
                               (["commit", "-qm", "mine"], ""), (["switch", "-qc", "other"], ""), (["worktree", "list"], None),
                               (["ls-files"], "mine\nnew\nold\n"), (["fsck", "--no-progress"], None)):
            done = git(folder, *arguments, home=place, user=USER)
            assert done.returncode == 0 and out in (None, done.stdout), (arguments, done)
            assert "ermission" not in done.stderr, done.stderr
    until(lambda: sorted(os.listdir(folder)) == [".git", "mine", "new", "old"])
    assert not {"commondir", "config.worktree"} & set(os.listdir(folder / ".git"))


@needs_git
def test_1_code_leads_git_to_no_other_config(project):
    place, folder = project
    attack = COMMONDIR.replace("PROJ", str(folder)).replace("MARK", str(place / "ran"))
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(attack, language="bash")
        assert "commondir" in result.text and ".git2': No such file" in result.text, result.text
        git(folder, "status", home=place, user=USER)
    until(lambda: not (folder / ".git/commondir").exists())
    git(folder, "status", home=place, user=USER)
    assert not (place / "ran").exists()
    assert git(folder, "log", "--oneline", home=place, user=USER).returncode == 0
