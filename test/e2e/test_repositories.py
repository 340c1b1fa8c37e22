# SPDX-License-Identifier: MIT
"""What code writes does not run when the user's git, shell or editor looks at it."""
import os
import pathlib
import re
import subprocess

import machines
import pytest
from client import LASTS
from patience import until
from repositories import BARE, LAYOUTS, LOOKS, USER, a_project, git, holds_names, look_everywhere, needs_git, script, served
from steps import begin, kept_files, paths_in

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
def test_no_kept_folder_is_a_repository(layout, server, home):
    result = server.cell("cd output\n" + script(layout, home / "ran"), language="bash")
    assert result.state == "done" and "_HEAD" in result.text, result.text
    kept, = paths_in(home, "kept/*/")
    look_everywhere(kept, home)
    assert not (home / "ran").exists()
    assert not [path for path in kept_files(home) if path.name in ("HEAD", ".git")]


def test_names_that_run_something_are_kept_under_others_and_that_is_told_once(server, home):
    write = ("import pathlib\nfor name in NAMES:\n    path = pathlib.Path('output', name)\n"
             "    path.parent.mkdir(parents=True, exist_ok=True)\n    path.write_text(name)\n")
    result = server.cell(write.replace("NAMES", repr(RUNS + STAYS)))
    assert result.text.count("Saved under another name") == 1 and " as '_." in result.text
    kept, = paths_in(home, "kept/*/")
    names = {str(path.relative_to(kept)): path.read_text(encoding="ascii") for path in kept_files(home)}
    altered = {"/".join("_" + part if part in (".vscode", ".claude") or part in RUNS or part == ".npmrc" else part
                        for part in name.split("/")): name for name in RUNS}
    assert names == altered | {name: name for name in STAYS}
    assert "Saved under" not in server.cell("open('output/.bashrc', 'w').write('x')").text
    assert (kept / "_.bashrc").exists() and not (kept / ".bashrc").exists()


def told_of(name, text):
    return text if name in text else ""


def test_an_upload_that_is_kept_under_another_name_is_named_as_it_came(server, home):
    server.call("upload_file", session_id="s", filename=".envrc", content="x")
    told = until(lambda: told_of("_.envrc", server.cell("open('output/made', 'w').close()").text))
    assert "Saved under another name: '.envrc' as 'input/_.envrc', because" in told


# ---- a repository at the top of a share ----

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
    with a_project() as project:
        yield project


@needs_git
def test_git_works_in_a_share_and_beside_it(project):
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
def test_code_leads_git_to_no_other_config(project):
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


# ---- repositories that code makes in a share ----

MADE = {name: f"mkdir made; cd made\n{made}" for name, (made, _) in LAYOUTS.items()}
MADE["at the share's top"] = "bare ."
PUT_IN = """git init -q r; cd r; ACT
"""
# What code puts into a repository that git made, by what is held of it.
PUT = {
    "config.held-by-ptycell": [
        "git config core.fsmonitor 'id > MARK; false'", "git config alias.st '!id > MARK'", "git config core.sshCommand id",
        "printf '[include]\\n\\tpath = ../more\\n' >> .git/config; cp .git/config ../more",
        "printf '[core] fsmonitor = \"id > MARK; false\"\\n' >> .git/config",
        "printf '[core]\\n\\tbare = false \\\\\\n# x\\n\\tfsmonitor = \"id > MARK; false\"\\n' >> .git/config",
        "printf '[CORE]\\n\\tFsMonitor = \"id > MARK; false\"\\n' >> .git/config",
        "git config core.worktree /tmp", "git config remote.origin.url 'ext::sh -c id'",
        "mv .git/config ../c; ln -s ../../c .git/config", "git config filter.x.clean id", "git config core.hooksPath ../h"],
    "pre-commit.held-by-ptycell": ["printf '#!/bin/sh\\nid > MARK\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
                                   "ln -s /bin/true .git/hooks/pre-commit"],
    "hooks.held-by-ptycell": ["mv .git/hooks ../h; ln -s ../../h .git/hooks"],
    "commondir.held-by-ptycell": ["mkdir ../c; mv .git/objects .git/refs ../c; echo ../../c > .git/commondir",
                                  "mkdir .git/$'..\\n' ../c; mv .git/objects .git/refs ../c; echo $'../..\\n/../../../c' > .git/commondir"],
    ".git.held-by-ptycell": ["mv .git ../g; ln -s ../g .git", "rm -rf .git; echo 'gitdir: /tmp/g' > .git",
                             "rm -rf .git; mkdir d; ln -s /tmp d/l; echo 'gitdir: d/l/../g' > .git",
                             "mv .git g; mkdir $'g\\n'; ln -s /tmp $'g\\n/l'; echo $'gitdir: g\\n/l/g' > .git"],
}


@pytest.fixture(name="shared")
def fixture_shared():
    """An empty folder of an ordinary user."""
    with machines.user_home() as place:
        folder = place / "project"
        folder.mkdir()
        if USER is not None:
            os.chown(folder, USER, USER)
        yield place, folder


def look_as_user(folder, place):
    """Where a repository is, all that reads one; elsewhere what prompts call, which looks for one above."""
    for at in [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]:
        is_one = os.path.lexists(at / ".git") or os.path.lexists(at / "HEAD")
        for arguments in LOOKS if is_one else LOOKS[:1]:
            git(at, *arguments, home=place, user=USER)


@needs_git
@pytest.mark.limit(300)
def test_no_repository_that_code_makes_in_a_share_runs_anything(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        for number, (layout, made) in enumerate(MADE.items()):
            session = f"s{number}"
            result = server.cell(f"cd {folder}\n" + (BARE + made).replace("MARK", str(place / "ran")), language="bash", session=session)
            assert result.state == "done" and result.texts[0].count("Renamed in the shared folder: ") == 1, (layout, result.texts)
            assert ".held-by-ptycell'" in result.texts[0], (layout, result.texts)
            look_as_user(folder, place)
            assert not (place / "ran").exists(), layout
            again = server.cell(f"rm -rf {folder}/* {folder}/.x", language="bash", session=session)
            assert "Renamed" not in "".join(again.texts), (layout, again.texts)


@needs_git
@pytest.mark.limit(300)
def test_what_code_puts_into_a_repository_of_its_own_is_held(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        for held, acts in PUT.items():
            for act in acts:
                run = PUT_IN.replace("ACT", act.replace("MARK", str(place / "ran")))
                result = server.cell(f"(cd {folder}; {run})", language="bash")
                assert result.state == "done" and f"to '{held}'" in result.texts[0], (act, result.texts)
                look_as_user(folder, place)
                assert not (place / "ran").exists(), act
                server.cell(f"rm -rf {folder}/*", language="bash")


@needs_git
def test_repositories_of_honest_code_are_left_alone(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(IDENTITY + f"""(set -e; cd {folder}; git init -q up; cd up; echo 1 > a; git add a; git commit -qm a; cd ..
git config --global protocol.file.allow always; git config --global core.fsmonitor false
git clone -q {folder}/up one; git clone -q --bare up two.git; git clone -q file://{folder}/up three; cd three
git remote add hub https://example.com/a/b.git; git remote add ssh git@example.com:a/b.git; git config user.email c@c
git submodule -q add {folder}/up sub; git commit -qm sub; git worktree add -q ../four; git switch -qc side; git branch -qu origin/HEAD
git config pull.rebase true; git sparse-checkout set --no-cone /a /sub; cp -r .git ../five.git; cd ..; mv one six
git clone -q --recurse-submodules three seven; git init -q --separate-git-dir={folder}/g eight; git clone -q --shared up nine; echo works) 2>&1 | tail -3
""", language="bash")
        assert result.state == "done" and result.text == "works\n" and "Renamed" not in result.texts[0], result.texts
        for made in ("up", "six", "two.git", "three", "three/sub", "four", "five.git", "seven", "eight", "nine"):
            done = git(folder / made, "log" if made != "eight" else "branch", home=place, user=USER)
            assert done.returncode == 0, (made, done)
    assert not [path for path in folder.rglob("*held-by-ptycell*")]


def make_between_cells(server, place, folder):
    make = (BARE + MADE["below"]).replace("MARK", str(place / "ran"))
    server.cell(f"cd {folder}; (while [ ! -e ~/input/go ]; do sleep 0.01; done; {make}\n:> done) > /dev/null 2>&1 &", language="bash")
    server.call("upload_file", session_id="s", filename="go", content="")
    until((folder / "made/done").exists)


@needs_git
@pytest.mark.parametrize("ends", [True, False])
def test_what_is_made_between_cells_is_found_when_the_session_ends_or_rests(shared, ends):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        make_between_cells(server, place, folder)
        if ends:
            server.call("destroy_session", session_id="s")
        until((folder / "made/a/b/config.held-by-ptycell").exists)
        look_as_user(folder / "made", place)
    assert not (place / "ran").exists()


ENDED = "Of the session 's', which has ended: "


@needs_git
def test_what_is_found_at_the_end_is_said_in_the_next_answer_of_another_session(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        server.cell("1", session="other")
        make_between_cells(server, place, folder)
        server.call("destroy_session", session_id="s")
        until((folder / "made/a/b/config.held-by-ptycell").exists)
        said = []
        until(lambda: said.append("".join(server.cell("1", session="other").texts)) or ENDED in said[-1])
        assert said[-1].count(f"{ENDED}Renamed in the shared folder: '{folder}/made/a/b/config' to ") == 1, said
        assert ENDED not in "".join(server.cell("1", session="other").texts + server.cell("1", session="new").texts)


@needs_git
def test_what_is_found_when_a_session_is_destroyed_in_its_cell_is_said_in_the_next_answer(shared):
    place, folder = shared
    make = (BARE + MADE["below"]).replace("MARK", str(place / "ran"))
    with served(place, folder) as server:
        holds_names(server)
        server.cell("1", session="other")
        server.cell(f"cd {folder}; {make}\n:> done; sleep 60", language="bash", budget=0.2)
        until((folder / "made/done").exists)
        server.call("destroy_session", session_id="s")
        until((folder / "made/a/b/config.held-by-ptycell").exists)
        said = []
        until(lambda: said.append("".join(server.cell("1", session="other").texts)) or ENDED in said[-1])
        assert said[-1].count(f"{ENDED}Renamed in the shared folder: '{folder}/made/a/b/config' to ") == 1, said


@needs_git
@pytest.mark.parametrize("session", ["s", "new"])
def test_what_is_found_at_the_server_s_end_is_said_in_the_next_one_s_first_answer(shared, session):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        make_between_cells(server, place, folder)
        assert server.close() == 0
    until((folder / "made/a/b/config.held-by-ptycell").exists)
    with served(place, folder) as server:
        first = server.cell("1", session=session)
        # On a busy machine the server did not wait for the end of the look.
        assert f"{ENDED}Renamed in the shared folder: '{folder}/made/a/b/config' to " in first.texts[0] or "It ended before" in first.texts[0], first.texts
        assert "which has ended" not in "".join(server.cell("1", session=session).texts + server.cell("1", session="third").texts)


def test_a_killed_server_s_shares_are_said_not_to_be_looked_through(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        server.cell("1")
        server.process.kill()
        server.process.wait()
    with served(place, folder) as server:
        first = server.cell("1", session="new")
        assert first.texts[0].count(f"{ENDED}It ended before ptycell had looked a last time through the shared folder '{folder}'") == 1, first.texts
        assert "which has ended" not in "".join(server.cell("1", session="new").texts)


@needs_git
def test_settings_that_a_repository_had_before_are_the_user_s(project):
    place, folder = project
    git(folder, "config", "alias.st", "status", home=place, user=USER)
    with served(place, folder) as server:
        holds_names(server)
        assert server.cell("1").state == "done"
        git(folder, "config", "branch.main.description", "x", home=place, user=USER)
        result = server.cell("1")
        assert "Renamed" not in "".join(result.texts), result.texts
        git(folder, "st", home=place, user=USER)
    assert git(folder, "st", home=place, user=USER).returncode == 0


@needs_git
def test_a_config_that_the_user_s_git_replaced_is_judged(project):
    """The kernel takes a mount away with the file under it: code may write the new one."""
    place, folder = project
    with served(place, folder) as server:
        holds_names(server)
        arm = f"printf '[core]\\n\\tfsmonitor = \"id > {place}/ran; false\"\\n' >> {folder}/.git/config"
        assert "Read-only" in server.cell(arm, language="bash").text
        assert git(folder, "config", "user.name", "u", home=place, user=USER).returncode == 0
        result = server.cell(arm, language="bash")
        assert "to 'config.held-by-ptycell'" in result.texts[0], result.texts
        git(folder, "status", home=place, user=USER)
        assert not (place / "ran").exists()


@needs_git
def test_no_link_leads_to_a_repository_in_the_session_s_own_folder(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        make = (BARE + "bare own").replace("MARK", str(place / "ran"))
        result = server.cell(f"{make}\nln -s {place}/cache {folder}/a; ln -s ../cache/x {folder}/b; ln -s /proc/self/root{place}/cache {folder}/c\n"
                             f"ln -s /usr {folder}/usr; ln -s b {folder}/d", language="bash")
        assert result.texts[0].count("(removed)") == 3, result.texts
        assert {"usr", "d"} <= set(os.listdir(folder)) and not {"a", "b", "c"} & set(os.listdir(folder))


# The session's folder as the kernel names it to code, $E, with a repository in it.
OWN = BARE + """bare own; E=$(awk '$5 == "/mnt/data" {print $4}' /proc/self/mountinfo)
"""


@needs_git
@pytest.mark.parametrize("links", ["ln -s / x; ln -s x$E/own l", "ln -s /bin/..$E/own l", "ln -s /proc p; ln -s p/self/root$E/own l",
                                   "ln -s / x; ln -s x$E y; ln -s y/own l"])
def test_no_link_leads_to_the_session_s_own_folder_through_another(shared, links):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        make = (OWN + f"cd {folder}; {links}; ln -s /dev/stdout out; ln -s /usr/bin bin").replace("MARK", str(place / "ran"))
        result = server.cell(make, language="bash")
        assert "' (removed)" in result.texts[0], result.texts
        assert {"out", "bin"} <= set(os.listdir(folder)) and not {"p", "y"} & set(os.listdir(folder))
        assert not (folder / "l").exists()


@needs_git
@pytest.mark.parametrize("links", ["ln -s /dev/fd/../../1/root/tmp l", "ln -s /dev x; ln -s x/fd/../../1/root/tmp l",
                                   "ln -s /dev/fd y; ln -s y/../../1/root/tmp l", "ln -s /proc y; ln -s y/1/root/tmp l"])
def test_no_link_leads_to_the_folders_of_processes(shared, links):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(f"cd {folder}; {links}; ln -s /dev/stdout out; ln -s /dev dev", language="bash")
        assert "(removed)" in result.texts[0], result.texts
        assert {"out", "dev"} <= set(os.listdir(folder)) and "y" not in os.listdir(folder) and not (folder / "l").exists()


@needs_git
def test_no_push_goes_into_the_session_s_own_folder(shared):
    place, folder = shared
    make = OWN + IDENTITY + f"""git init -q --bare up; printf '#!/bin/sh\nid > {place}/ran\n' > up/hooks/update; chmod +x up/hooks/update
cd {folder}; git init -qb main r; cd r; git commit -q --allow-empty -m x; git remote add origin $E/up"""
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(make.replace("HOME=/tmp", ""), language="bash")
        assert "to 'config.held-by-ptycell'" in result.texts[0], result.texts
        git(folder / "r", "push", "origin", "main", home=place, user=USER)
        assert not (place / "ran").exists()


@needs_git
def test_no_push_goes_into_the_folder_that_a_session_leaves(shared):
    place, folder = shared
    make = OWN + IDENTITY + f"""git init -q --bare up; printf '#!/bin/sh\nid > {place}/ran\n' > up/hooks/update; chmod +x up/hooks/update
E=$(echo $E | sed 's,/server-[a-z2-7]*/sessions/,/resume/,'); echo $E/up
cd {folder}; git init -qb main r; cd r; git commit -q --allow-empty -m x; git remote add origin $E/up"""
    with machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw", **LASTS}) as server:
        holds_names(server)
        result = server.cell(make.replace("HOME=/tmp", ""), language="bash")
        assert "to 'config.held-by-ptycell'" in "".join(result.texts), result.texts
    left = result.text.splitlines()[0]
    assert (pathlib.Path(left) / "hooks/update").exists()
    git(folder / "r", "push", left, "main", home=place, user=USER)
    assert (place / "ran").exists()  # where its address is the user's own


@needs_git
@pytest.mark.parametrize("name", ["origin", "x.held-by-ptycell"])
@pytest.mark.parametrize("remote", ["mkdir -p .git/remotes; echo URL: $E/up > .git/remotes/NAME", "mkdir -p .git/branches; echo $E/up > .git/branches/NAME",
                                    "rm -rf .git/branches; mkdir .b; echo $E/up > .b/NAME; ln -s ../.b .git/branches"])
def test_no_remote_that_is_in_no_config_is_made(project, remote, name):
    place, folder = project
    make = OWN + IDENTITY + f"""git init -q --bare up; printf '#!/bin/sh\nid > {place}/ran\n' > up/hooks/update; chmod +x up/hooks/update
cd {folder}; {remote.replace("NAME", name)}"""
    with served(place, folder) as server:
        holds_names(server)
        assert server.cell(make.replace("HOME=/tmp", ""), language="bash").state == "done"
        git(folder, "push", name, "main", home=place, user=USER)
        assert not (place / "ran").exists()


@needs_git
def test_nothing_leads_through_a_link_of_another_share(shared):
    place, folder = shared
    other = place / "other"
    other.mkdir()
    if USER is not None:
        os.chown(other, USER, USER)
    with machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw\n{other}:rw"}) as server:
        holds_names(server)
        lead = f"ln -s / {other}/x; cd {folder}; mkdir w; echo gitdir: {other}/x$E/own > w/.git"
        result = server.cell((OWN + lead).replace("MARK", str(place / "ran")), language="bash")
        assert "to '.git.held-by-ptycell'" in result.texts[0], result.texts
        look_as_user(folder, place)
        assert not (place / "ran").exists()


# What a session makes that is none yet, what the next one makes of it, and where git is called.
HALVES = {
    "config": ("bare r; rm r/HEAD", "echo 'ref: refs/heads/main' > r/HEAD", "r"),
    "hooks": (PUT_IN.replace("ACT", "printf '#!/bin/sh\nid > MARK\n' > .git/hooks/post-index-change; chmod +x .git/hooks/*; rm .git/HEAD"),
              "echo 'ref: refs/heads/main' > r/.git/HEAD; touch r/x; git -C r add x", "r"),
    "moved": ("bare r; mv r/HEAD r/head", "mkdir w; mv r w/.git; mv w/.git/head w/.git/HEAD; mkdir w/.git/tree", "w"),
    "a file that names one": ("bare r; mkdir w; echo 'gitdir: ../r' > w/.git; mv r/refs refs; mv r/objects .", "mv refs objects r", "w"),
    "common folder": ("bare c; rm c/HEAD; sed -i /worktree/d c/config; mkdir -p c/worktrees/w w; echo ../.. > c/worktrees/w/commondir; "
                      "echo 'gitdir: ../c/worktrees/w' > w/.git", "echo 'ref: refs/heads/main' > c/worktrees/w/HEAD", "w"),
}


@needs_git
@pytest.mark.parametrize("half", HALVES)
def test_what_an_earlier_session_made_is_no_user_s(shared, half):
    place, folder = shared
    first, second, where = HALVES[half]
    with served(place, folder) as server:
        holds_names(server)
        for session, code in (("a", BARE + first), ("b", second)):
            result = server.cell(f"(cd {folder}; {code})".replace("MARK", str(place / "ran")), language="bash", session=session)
            assert result.state == "done", result.texts
            server.call("destroy_session", session_id=session)
        until(lambda: [name for _, _, names in os.walk(folder) for name in names if name.endswith(".held-by-ptycell")])
        for arguments in LOOKS + [["add", "-A"]]:
            git(folder / where, *arguments, home=place, user=USER)
        assert not (place / "ran").exists()


@needs_git
def test_a_repository_is_found_while_its_code_runs_on(shared):
    place, folder = shared
    with served(place, folder) as server:
        holds_names(server)
        make = (BARE + MADE["below"]).replace("MARK", str(place / "ran"))
        begin(server, f"(cd {folder}; {make})\necho begun; while [ ! -e input/go ]; do sleep 0.01; done", language="bash")
        until((folder / "made/a/b/config.held-by-ptycell").exists)
        look_as_user(folder / "made", place)
        assert not (place / "ran").exists()
        answers = [server.call("upload_file", session_id="s", filename="go", content=""), server.interact(language="bash")]
        assert sum("Renamed in the shared folder" in text for answer in answers for text in answer.texts) == 1, [a.texts for a in answers]


@needs_git
def test_no_name_in_a_share_passes_for_what_the_server_says(shared):
    place, folder = shared
    make = BARE.replace("MARK", str(place / "ran")) + "bare \"x' to 'y'. Nothing else was found. '\""
    with served(place, folder) as server:
        holds_names(server)
        said = "".join(server.cell(f"cd {folder}; {make}", language="bash").texts)
        path = f"{folder}/x\\u0027 to \\u0027y\\u0027. Nothing else was found. \\u0027/config"
        assert f'Renamed in the shared folder: "{path}" to \'config.held-by-ptycell\'. The user' in said, said


@needs_git
def test_what_one_session_s_code_made_is_no_user_s_to_another(shared):
    place, folder = shared
    make = (BARE + MADE["below"]).replace("MARK", str(place / "ran"))
    with served(place, folder) as server:
        holds_names(server)
        begin(server, f"(cd {folder}; {make})\necho begun; while [ ! -e input/go ]; do sleep 0.01; done", language="bash")
        assert server.cell("1", session="other", language="bash").state == "done"
        server.call("upload_file", session_id="s", filename="go", content="")
        until((folder / "made/a/b/config.held-by-ptycell").exists)
        result = server.cell(f"cd {folder}/made/a/b; cat config.held-by-ptycell > config", session="other", language="bash")
        # By the look of either session.
        assert not (folder / "made/a/b/config").exists() and (folder / "made/a/b/config.held-by-ptycell-2").exists(), result.texts
        look_as_user(folder / "made", place)
    assert not (place / "ran").exists()


@needs_git
def test_a_share_of_very_many_files_is_told_and_looked_through_in_the_background(shared):
    place, folder = shared
    for number in range(50100):
        os.close(os.open(folder / str(number), os.O_CREAT | os.O_WRONLY))
    make = (BARE + MADE["below"]).replace("MARK", str(place / "ran"))
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(f"cd {folder}; {make}", language="bash")
        assert result.texts[0].count("more than 50000 entries") == 1 and "Renamed" not in result.texts[0], result.texts
        until((folder / "made/a/b/config.held-by-ptycell").exists)
        said = []
        until(lambda: said.append("".join(server.cell("1").texts)) or "Renamed in the shared folder" in said[-1])
        assert "more than" not in "".join(said)


# What code makes to have a look end before it comes to the repository.
DELAYS = {
    "many names of one folder": "mkdir -p big/refs big/hooks r; (cd big/hooks; touch {1..1500}; chmod 600 *); "
                                "for i in {1..40}; do mkdir r/$i; echo gitdir: ../../big > r/$i/.git; done",
    "links through many folders": "d=$(printf 'q/%.0s' {1..60}); mkdir -p $d/end l; ln -s $PWD/$d/end c0; up=$(printf '../%.0s' {1..60}); "
                                  "for i in {1..11}; do ln -s $d$up/c$((i-1)) c$i; done; "
                                  "python3 -c 'import os; [os.symlink(\"../c11\", \"l/n%d\" % i) for i in range(3000)]'",
}


@needs_git
@pytest.mark.parametrize("delay", DELAYS)
def test_a_repository_is_found_behind_what_is_slow_to_judge(shared, delay):
    place, folder = shared
    make = (BARE + MADE["below"]).replace("MARK", str(place / "ran"))
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(f"cd {folder}; {DELAYS[delay]}; {make}", language="bash")
        assert "to 'config.held-by-ptycell'" in result.texts[0] and "more than" not in result.texts[0], result.texts
        assert "(removed)" not in result.texts[0], result.texts


# ---- repositories that were there before ----

@needs_git
def test_code_arms_no_submodule_and_no_worktree(project):
    place, folder = project
    other = place / "other"
    for arguments in (["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder), "lib"], ["commit", "-qm", "lib"],
                      ["worktree", "add", "-q", "side"], ["clone", "-q", ".", str(other)]):
        done = git(folder, *arguments, home=place, user=USER)
        assert done.returncode == 0, done.stderr
    arm = f"""cd {folder}/.git
printf '[core]\\n\\tfsmonitor = "id > {place}/ran; false"\\n' > /tmp/armed
for d in modules/lib worktrees/side; do cat /tmp/armed >> $d/config; cp /tmp/armed $d/config.worktree; echo ../../x > $d/commondir
mkdir -p $d/hooks; cp /tmp/armed $d/hooks/post-checkout; done
python3 -c 'import os; os.rename("modules", "m2")'; python3 -c 'import os; os.rename("../lib", "../lib2")'; echo tried
"""
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(arm, language="bash")
        assert "tried" in result.text and result.text.count("Device or resource busy") == 2, result.texts
        assert "Renamed" not in result.texts[0], result.texts
        honest = IDENTITY + f"(set -e; cd {folder}/lib; echo 1 > n; git add n; git commit -qm n; cd ..; git add lib; git commit -qm l; " \
            "cd side; echo 2 > m; git add .; git commit -qm m; git status --porcelain; git stash list; echo works) 2>&1"
        assert server.cell(honest, language="bash").text == "works\n"
        look_as_user(folder, place)
    assert not (place / "ran").exists()
    until(lambda: not list(folder.glob(".git/**/commondir.*")) and not (folder / ".git/modules/lib/commondir").exists())
    for at in (folder, folder / "lib", folder / "side"):
        assert git(at, "status", home=place, user=USER).returncode == 0


@needs_git
def test_a_repository_below_the_top_is_not_moved_away(project):
    place, folder = project
    nested = folder / "a/nested"
    assert git(folder, "clone", "-q", ".", str(nested), home=place, user=USER).returncode == 0
    attack = f"""cd {folder}/a; python3 -c 'import os; os.rename("nested", "n2")'; python3 -c 'import os; os.rename("../a", "../b")'
printf '[core]\\n\\tfsmonitor = "id > {place}/ran; false"\\n' >> nested/.git/config; echo tried
"""
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(attack, language="bash")
        assert "tried" in result.text and result.text.count("Device or resource busy") == 2, result.texts
        git(nested, "status", home=place, user=USER)
    git(nested, "status", home=place, user=USER)
    assert not (place / "ran").exists()


@needs_git
def test_placeholders_are_nothing_that_git_cleans_or_stashes(project):
    place, folder = project
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(IDENTITY + f"cd {folder}; echo 1 > new; (git stash -u && git stash pop && git clean -fd) 2>&1 | grep -v '^ ';"
                             "ls -1A", language="bash")
        assert "warning" not in result.text and "Removing new" in result.text and ".envrc\n" in result.text, result.texts
        (folder / "mine").write_text("x", encoding="ascii")
        if USER is not None:
            os.chown(folder / "mine", USER, USER)
        for arguments in (["stash", "-qu"], ["stash", "pop"], ["clean", "-fdq"]):
            done = git(folder, *arguments, home=place, user=USER)
            assert done.returncode == 0 and not done.stderr, done
        assert (folder / ".envrc").is_dir() and not (folder / "mine").exists()
    until(lambda: sorted(os.listdir(folder)) == [".git", "old"])


# What code tries at files that are there: appends to each, and moves the folders away that they lie in.
WRITE = """cd PROJ; for name in NAMES; do (echo '#evil' >> "$name") 2> /dev/null && echo "written $name"; done
for name in MOVED; do python3 -c "import os; os.rename('$name', 'moved')" 2> /dev/null && echo "moved $name"; done; echo tried
"""


def try_to_write(server, folder, names, moved=(), session="s"):
    code = WRITE.replace("PROJ", str(folder)).replace("NAMES", " ".join(names)).replace("MOVED", " ".join(moved) or "''")
    return server.cell(code, language="bash", session=session).text


def make_of_user(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine\n", encoding="ascii")
    for path in folder.rglob("*") if USER is not None else ():
        os.chown(path, USER, USER)


def test_what_lies_in_folders_called_as_git_s_own_stays_whatever_lies_beside_them(shared):
    place, folder = shared
    within = [f"{at}/widget" for at in ("info", "objects", "logs", "lfs", "hooks", "refs")]
    names = [f"{at}/{name}" for at in within for name in (".vscode/tasks.json", ".mcp.json", ".envrc")]
    make_of_user(folder, names)
    with served(place, folder) as server:
        holds_names(server)
        server.cell(f"cd {folder}; echo 'ref: refs/heads/main' > HEAD; mkdir -p refs", language="bash")
        for session in ("s", "t"):
            assert try_to_write(server, folder, names, within + ["info", "objects"], session) == "tried\n"
    assert {(folder / name).read_text(encoding="ascii") for name in names} == {"mine\n"}


THERE = [".hg/hgrc", ".sl/config", ".rvmrc", ".jj/repo/config.toml", ".husky/pre-commit", ".devcontainer/devcontainer.json", ".idea/workspace.xml",
         ".npmrc", ".cargo/config.toml", ".Rprofile", ".mise.toml", ".env", ".codex/config.toml"]
OPEN = [".hg/store/data", ".jj/repo/store/x", ".gitmodules", "venv/.env/bin/x", "node_modules/a/.npmrc"]


def test_names_that_run_something_and_are_there_stay_at_any_depth(shared):
    place, folder = shared
    names = THERE + [f"app/{name}" for name in THERE]
    make_of_user(folder, names + OPEN)
    with served(place, folder) as server:
        holds_names(server)
        assert try_to_write(server, folder, names, [".hg", ".jj/repo", "app"]) == "tried\n"
        assert try_to_write(server, folder, OPEN) == "".join(f"written {name}\n" for name in OPEN) + "tried\n"
        assert server.cell(f"cd {folder}; mkdir new; echo x > new/.npmrc && cat new/.npmrc", language="bash").text == "x\n"
    assert {(folder / name).read_text(encoding="ascii") for name in names} == {"mine\n"}


def test_the_topic_names_what_stays():
    top = pathlib.Path(__file__).parents[2]
    source = (top / "lib/base/runnames.c").read_text(encoding="utf-8")
    held = re.search(r"held\[\] = \{([^}]*)\}", source)[1]
    listed = [("HELD", held), *re.findall(r'\{ ([A-Z_]+),\s((?:\s*"[^"]*")+) \}', source)]
    rows = [(name, right) for right, names in listed for name in re.sub(r'[",]', " ", names).split()]
    topic = (top / "cmd/server/help/shares.md").read_text(encoding="utf-8")
    names = topic[topic.index("## Names that stay read-only"):topic.index("## Repositories that code makes")]
    at_the_top, elsewhere = names.split("These stay read-only where", 1)
    assert len(rows) > 90
    for name, right in rows:
        assert f"`{name}`" in (at_the_top if right == "HELD" else elsewhere), name
    assert all(f"`{name}`" not in elsewhere.split("A file that is made")[0] for name, right in rows if right in ("KEPT", "HELD"))
