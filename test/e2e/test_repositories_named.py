# SPDX-License-Identifier: MIT
"""What a repository's config, hooks and links name in a share is held as they are: the user's git runs nothing there that code wrote."""
import os
import subprocess

import machines
import pytest
from repositories import LOOKS, USER, a_project, git, holds_names, needs_git, served


@pytest.fixture(name="project")
def fixture_project():
    with a_project() as project:
        yield project


HOOK = "printf '#!/bin/sh\\nid > MARK\\n' > HOOKS/pre-commit; chmod +x HOOKS/pre-commit\n"
SETTING = "printf '[core]\\n\\tfsmonitor = \"id > MARK; false\"\\n' >> FILE\n"
RUNS = "{ echo '#!/bin/sh'; echo 'id > MARK'; } > FILE; chmod +x FILE\n"
PROGRAM = "printf '#!/bin/sh\\n'"
FILTERED = "echo '* filter=x' > .gitattributes; touch old"
# The user's setting, what is there, and what code does; with the words in its output, or what is renamed.
NAMED = {
    "folder of hooks": (["core.hooksPath", ".githooks"], "mkdir .githooks", HOOK.replace("HOOKS", ".githooks"), "Read-only"),
    "husky's": (["core.hooksPath", ".husky/_"], "mkdir -p .husky/_; printf '#!/bin/sh\nsh -e .husky/pre-commit\n' > .husky/_/pre-commit; "
                "chmod +x .husky/_/pre-commit", "echo 'id > MARK' > .husky/pre-commit", "Read-only"),
    "what hooks call": (["core.hooksPath", ".githooks"], "mkdir -p .githooks/lib; echo x > .githooks/lib/.envrc; "
                        "printf '#!/bin/sh\n. .githooks/lib/run\n' > .githooks/pre-commit; chmod +x .githooks/pre-commit",
                        "echo 'id > MARK' > .githooks/lib/run", "Read-only"),
    "folder of hooks that is moved": (["core.hooksPath", "tools/hooks"], "mkdir -p tools/hooks",
                                      "mv tools t; mkdir -p tools/hooks; " + HOOK.replace("HOOKS", "tools/hooks"), "busy"),
    "folder of hooks that is made": (["core.hooksPath", ".githooks"], "", "mkdir .githooks; " + HOOK.replace("HOOKS", ".githooks"),
                                     "to 'pre-commit.held-by-ptycell'"),
    "folder of hooks of a worktree": (["core.hooksPath", ".githooks"], "git worktree add -q tree",
                                      "cd tree; mkdir .githooks; " + HOOK.replace("HOOKS", ".githooks"), "to 'pre-commit.held-by-ptycell'"),
    "folder of hooks of a work tree of code's": (
        ["core.hooksPath", ".githooks"], "git config extensions.worktreeConfig true",
        "R=$PWD; mkdir -p .git/x/y tree t/.githooks; cd .git/x/y; echo 'ref: refs/heads/main' > HEAD; echo ../.. > commondir; "
        "printf '[core]\\n\\tworktree = %s\\n' $R/t > config.worktree; cd $R; echo gitdir: $R/.git/x/y > tree/.git; "
        + HOOK.replace("HOOKS", "t/.githooks"), "to 'pre-commit.held-by-ptycell'"),
    "folder of hooks of a work tree from another folder": (
        ["core.hooksPath", ".githooks"], "git config extensions.worktreeConfig true; git config core.worktree ../../project",
        "R=$PWD; mkdir -p .git/x/y tree .git/project/.githooks; cd .git/x/y; echo 'ref: refs/heads/main' > HEAD; echo ../.. > commondir; cd $R; "
        "echo gitdir: $R/.git/x/y > tree/.git; " + HOOK.replace("HOOKS", ".git/project/.githooks"), "to 'pre-commit.held-by-ptycell'"),
    "folder of hooks of a work tree elsewhere": (
        [], "mkdir t; git init -qb main --bare tree; cd tree; git config core.bare false; git config core.worktree ../t; git config core.hooksPath .githooks",
        "mkdir t/.githooks; " + HOOK.replace("HOOKS", "t/.githooks"), "to 'pre-commit.held-by-ptycell'"),
    "folder of hooks from home": (["core.hooksPath", "~/project/h"], "mkdir h", HOOK.replace("HOOKS", "h"), "Read-only"),
    "included config from home": (["include.path", "~/project/c"], "", SETTING.replace("FILE", "c"), "to 'c.held-by-ptycell'"),
    "included config": (["include.path", "../shared.conf"], "echo '[core]' > shared.conf", SETTING.replace("FILE", "shared.conf"), "Read-only"),
    "included by an included one": (["include.path", "../c/one"], "mkdir c; echo '[include] path = two' > c/one; echo '[core]' > c/two",
                                    SETTING.replace("FILE", "c/two"), "Read-only"),
    "included under a condition": (["includeIf.gitdir:/**.path", "../shared.conf"], "echo '[core]' > shared.conf",
                                   "mv shared.conf s; " + SETTING.replace("FILE", "shared.conf"), "busy"),
    "included config that is made": (["include.path", "../shared.conf"], "", SETTING.replace("FILE", "shared.conf"),
                                     "to 'shared.conf.held-by-ptycell'"),
    "included config that a link leads to": (["include.path", "../c/one"], "", "mkdir d; " + SETTING.replace("FILE", "d/one") + "ln -s d c",
                                             "to 'one.held-by-ptycell'"),
    "included config that is a link": (["include.path", "../one"], "ln -s two one", SETTING.replace("FILE", "two"), "to 'two.held-by-ptycell'"),
    "the work tree as folder of hooks": (["core.hooksPath", "~/project"], f"{PROGRAM} > pre-commit; chmod +x pre-commit", HOOK.replace("HOOKS", "."), "Read-only"),
    "the work tree by a way around": (["core.hooksPath", "sub/.."], f"mkdir sub; {PROGRAM} > pre-commit; chmod +x pre-commit",
                                      HOOK.replace("HOOKS", "."), "Read-only"),
    "a new hook in the work tree": (["core.hooksPath", "../project"], "", HOOK.replace("HOOKS", "."), "to 'pre-commit.held-by-ptycell'"),
    "a new hook beside a repository": (["core.hooksPath", "tools"], "mkdir tools; git init -q tools/x", HOOK.replace("HOOKS", "tools"),
                                       "to 'pre-commit.held-by-ptycell'"),
    "hook that is a link": ([], f"mkdir tools; {PROGRAM} > tools/pc; chmod +x tools/pc; ln -s ../../tools/pc .git/hooks/pre-commit",
                            "echo 'id > MARK' >> tools/pc", "Read-only"),
    "hook that a link leads to": ([], "mkdir tools; ln -s ../../tools/pre-commit .git/hooks/pre-commit", HOOK.replace("HOOKS", "tools"),
                                  "to 'pre-commit.held-by-ptycell'"),
    "hooks that are a link": ([], "rm -rf .git/hooks; mkdir tools; ln -s ../tools .git/hooks", HOOK.replace("HOOKS", "tools"), "Read-only"),
    "hooks that a link leads to": ([], "rm -rf .git/hooks; ln -s ../tools .git/hooks", "mkdir tools; " + HOOK.replace("HOOKS", "tools"),
                                   "to 'pre-commit.held-by-ptycell'"),
    "config that is a link": ([], "mv .git/config c; ln -s ../c .git/config", SETTING.replace("FILE", "c"), "Read-only"),
    "a link on the way": (["core.hooksPath", "a/hooks"], "mkdir -p b/hooks c; ln -s b a",
                          "mkdir -p c/hooks; " + HOOK.replace("HOOKS", "c/hooks") + "ln -s c d; mv -T d a", "busy"),
    "filter": (["filter.x.clean", "sh tools/clean 'a b'"], f"mkdir tools; echo cat > tools/clean; {FILTERED}", RUNS.replace("FILE", "tools/clean"),
               "Read-only"),
    "filter below a command's output": (["filter.x.clean", 'sh "$(git rev-parse --show-toplevel)/tools/clean"'],
                                        f"mkdir tools; echo cat > tools/clean; {FILTERED}", RUNS.replace("FILE", "tools/clean"), "Read-only"),
    "filter below a variable": (["filter.x.clean", "sh $PWD/tools/clean"], f"mkdir tools; echo cat > tools/clean; {FILTERED}",
                                RUNS.replace("FILE", "tools/clean"), "Read-only"),
    "filter that is made below a variable": (["filter.x.clean", "sh ${PWD}/clean"], FILTERED, RUNS.replace("FILE", "clean"),
                                             "to 'clean.held-by-ptycell'"),
    "process": (["filter.x.process", "./clean --long"], f"{PROGRAM} > clean; chmod +x clean; {FILTERED}", RUNS.replace("FILE", "clean"), "Read-only"),
    "filter that is made": (["filter.x.clean", "sh ./clean"], FILTERED, RUNS.replace("FILE", "clean"), "to 'clean.held-by-ptycell'"),
    "fsmonitor": (["core.fsmonitor", "tools/watch"], f"mkdir tools; {PROGRAM} > tools/watch; chmod +x tools/watch", RUNS.replace("FILE", "tools/watch"),
                  "Read-only"),
    "fsmonitor behind a link": (["core.fsmonitor", "tools/watch"], f"mkdir tools; {PROGRAM} > w; chmod +x w; ln -s ../w tools/watch",
                                RUNS.replace("FILE", "w"), "Read-only"),
    "textconv": (["diff.x.textconv", "sh conv"], "echo cat > conv; echo '* diff=x' > .gitattributes; echo 1 >> old", RUNS.replace("FILE", "conv"),
                 "Read-only"),
    "ssh": (["core.sshCommand", "sh conn -4"], "echo false > conn; git config remote.origin.url ssh://nowhere.invalid/x", RUNS.replace("FILE", "conn"),
            "Read-only"),
    "gpg": (["gpg.program", "./sign"], f"{PROGRAM} > sign; chmod +x sign; git config commit.gpgSign true", RUNS.replace("FILE", "sign"), "Read-only"),
}


def work_as_user(folder, place):
    for at in (folder, folder / "tree") if (folder / "tree").is_dir() else (folder,):
        for arguments in LOOKS + [["add", "."], ["fetch"], ["commit", "--allow-empty", "-qm", "x"]]:
            git(at, *arguments, home=place, user=USER)


def prepare(folder, place, setting, there):
    if setting:
        assert git(folder, "config", *setting, home=place, user=USER).returncode == 0
    subprocess.run(["sh", "-ec", there], cwd=folder, check=True, **machines.as_user())


@needs_git
@pytest.mark.parametrize("case", NAMED)
def test_what_code_puts_there_does_run_without_ptycell(project, case):
    """Else what follows would prove nothing."""
    place, folder = project
    setting, there, attack, _ = NAMED[case]
    prepare(folder, place, setting, there)
    subprocess.run(["sh", "-c", attack.replace("MARK", str(place / "ran"))], cwd=folder, check=True, **machines.as_user())
    work_as_user(folder, place)
    assert (place / "ran").exists()


@needs_git
@pytest.mark.parametrize("case", NAMED)
def test_what_a_config_names_is_held_as_the_config_is(project, case):
    place, folder = project
    setting, there, attack, said = NAMED[case]
    prepare(folder, place, setting, there)
    with served(place, folder) as server:
        holds_names(server)
        assert server.cell("1").state == "done"
        result = server.cell(f"cd {folder}\n{attack}".replace("MARK", str(place / "ran")), language="bash")
        assert said in "".join(result.texts), result.texts
        work_as_user(folder, place)
        assert not (place / "ran").exists()
    work_as_user(folder, place)
    assert not (place / "ran").exists()


@needs_git
def test_a_held_name_that_is_a_link_stays_and_so_does_where_it_leads(project):
    place, folder = project
    prepare(folder, place, [], "mkdir -p sub/cfg; ln -s sub/cfg .vscode; echo 1 > sub/cfg/tasks.json; echo 1 > e; ln -s ../e sub/.envrc; ln -s /none .mcp.json")
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(f"cd {folder}; for l in .vscode sub/.envrc .mcp.json; do rm $l || echo stays; ln -sfn /tmp $l || echo stays; done\n"
                             "echo 2 > sub/cfg/tasks.json || echo stays; echo 2 > e || echo stays; mv sub s || echo stays; echo 1 > sub/free && echo works",
                             language="bash")
        assert result.text.count("\nstays\n") == 9 and result.text.endswith("\nworks\n"), result.texts
    assert (folder / "sub/.envrc").read_text(encoding="ascii") == "1\n" == (folder / ".vscode/tasks.json").read_text(encoding="ascii")


@needs_git
def test_a_git_folder_that_a_link_leads_to_can_be_written(project):
    place, folder = project
    prepare(folder, place, [], "mkdir sub; git clone -q . sub/a; mv sub/a/.git sub/g; ln -s ../g sub/a/.git; mkdir b; ln -s ../sub/g b/.git")
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(f"export GIT_AUTHOR_NAME=c GIT_AUTHOR_EMAIL=c GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c\n"
                             f"cd {folder}/sub/a && git commit -q --allow-empty -m c && echo works; rm .git", language="bash")
        assert result.text.startswith("works\n") and "busy" in result.text, result.texts


@needs_git
@pytest.mark.parametrize("setting", [["core.hooksPath", "."], ["core.hooksPath", "sub/.."], ["filter.x.clean", "cat old sub"]])
def test_honest_code_works_where_a_config_names_the_work_tree(project, setting):
    place, folder = project
    prepare(folder, place, setting, "mkdir sub; touch update; git add update")
    with served(place, folder) as server:
        holds_names(server)
        result = server.cell(f"cd {folder}; set -e; echo 1 > build; chmod +x build; cp build sub/build; mv build make; echo 1 >> sub/new; echo works",
                             language="bash")
        assert result.text == "works\n" and "Renamed" not in result.texts[0], result.texts
    assert sorted(os.listdir(folder)) == [".git", "make", "old", "sub", "update"]


@needs_git
def test_settings_of_an_included_config_are_the_user_s(project):
    place, folder = project
    (folder / "shared.conf").write_text("[alias]\n\tst = status\n", encoding="ascii")
    assert git(folder, "config", "include.path", "../shared.conf", home=place, user=USER).returncode == 0
    with served(place, folder) as server:
        holds_names(server)
        assert server.cell("1").state == "done"
        git(folder, "config", "branch.main.description", "x", home=place, user=USER)
        (folder / "shared.conf").write_text("[alias]\n\tst = status\n[core]\n\tabbrev = 8\n", encoding="ascii")
        assert "Renamed" not in "".join(server.cell("1").texts)
    assert git(folder, "st", home=place, user=USER).returncode == 0


@needs_git
def test_what_an_editor_notes_in_a_config_beside_a_session_is_no_code_s(project):
    place, folder = project
    with served(place, folder) as server:
        holds_names(server)
        assert server.cell("1").state == "done"
        for setting in (["branch.main.gk-last-accessed", "2025-12-25T17:17:54.154Z"], ["branch.main.github-pr-owner-number", "o#r#1"]):
            assert git(folder, "config", *setting, home=place, user=USER).returncode == 0
        assert "Renamed" not in "".join(server.cell("1").texts)
    assert "gk-last-accessed" in (folder / ".git/config").read_text(encoding="ascii")


@needs_git
def test_hooks_that_a_program_of_the_user_s_writes_again_stay(project):
    """husky does that at every npm install, and lefthook, which replaces the files; pre-commit and git-lfs when they are installed again."""
    place, folder = project
    again = """mkdir -p .husky/_; for h in pre-commit commit-msg; do printf '#!/bin/sh\n. "$(dirname $0)/h"\n' > .husky/_/$h; chmod +x .husky/_/$h; done
echo 'exit 0' > .husky/_/h; git config core.hooksPath .husky/_"""
    prepare(folder, place, [], again)
    with served(place, folder) as server:
        holds_names(server)
        assert server.cell("1").state == "done"
        prepare(folder, place, [], again)
        assert "Renamed" not in "".join(server.cell("1").texts)
        prepare(folder, place, [], "cd .husky/_; for h in pre-commit commit-msg; do cp -p $h new; mv new $h; done")
        assert "Renamed" not in "".join(server.cell("1").texts)
        prepare(folder, place, [], "echo id >> .husky/_/commit-msg")
        assert "to 'commit-msg.held-by-ptycell'" in "".join(server.cell("1").texts)
    assert sorted(os.listdir(folder / ".husky/_")) == ["commit-msg.held-by-ptycell", "h", "pre-commit"]


# The user's setting, what is there, and what code puts into a folder of another share that it calls a work tree of the repository.
LED = {
    "folder of hooks": (["core.hooksPath", ".githooks"], "", "mkdir .githooks; " + HOOK.replace("HOOKS", ".githooks"), "pre-commit"),
    "fsmonitor": (["core.fsmonitor", "tools/watch"], f"mkdir tools; {PROGRAM} > tools/watch; chmod +x tools/watch",
                  "mkdir tools; " + RUNS.replace("FILE", "tools/watch"), "watch"),
}


def another_share(place):
    other = place / "other"
    other.mkdir()
    if USER is not None:
        os.chown(other, USER, USER)
    return other


def served_both(place, *folders):
    return machines.on(place, env={"PTYCELL_SHARE": "".join(f"{folder}:rw\n" for folder in folders)})


@needs_git
@pytest.mark.parametrize("ahead", ["project", "other"])
@pytest.mark.parametrize("case", LED)
def test_what_a_config_names_is_held_in_a_work_tree_in_another_share(project, case, ahead):
    place, folder = project
    setting, there, attack, name = LED[case]
    other = another_share(place)
    prepare(folder, place, setting, there)
    shares = [folder, other] if ahead == "project" else [other, folder]
    with served_both(place, *shares) as server:
        holds_names(server)
        code = f"cd {other}; mkdir w; cd w; echo gitdir: {folder}/.git > .git; {attack}".replace("MARK", str(place / "ran"))
        result = server.cell(code, language="bash")
        assert f"to '{name}.held-by-ptycell'" in result.texts[0], result.texts
        work_as_user(other / "w", place)
        assert not (place / "ran").exists()


@needs_git
def test_a_work_tree_that_honest_code_makes_in_another_share_works(project):
    place, folder = project
    other = another_share(place)
    with served_both(place, folder, other) as server:
        holds_names(server)
        result = server.cell(f"cd {folder}; git clone -q . own 2>&1; cd own; git worktree add -q {other}/tree -b side; git -C {other}/tree status -s; echo works",
                             language="bash")
        assert result.text == "works\n" and "Renamed" not in result.texts[0], result.texts
        assert git(other / "tree", "status", home=place, user=USER).returncode == 0
