# SPDX-License-Identifier: MIT
"""Links in a repository where git writes: they would have the user's git write what code chose into any file of the user's, or read one out."""
import os

import pytest
from repositories import BARE, USER, a_project, git, holds_names, needs_git, served

MINE = "# of the user\n"
ENTRIES = 50000  # of a share, that a look at a cell's end reaches
# What git writes to, copies to where code reads it, or empties ("git gc" a work tree's folder that names none).
LINKS = ["COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "FETCH_HEAD", "index", "logs/HEAD", "logs/refs/heads/main", "info/sparse-checkout",
         "rr-cache/x/preimage", "rebase-merge/message", "worktrees/x"]
# Where code moves the folder, the link itself is not young.
MOVED = "rm -r .git/rebase-merge; mkdir d; ln -s FILE d/message; mv d .git/rebase-merge"


@pytest.fixture(name="project")
def fixture_project():
    with a_project() as (place, folder):
        (place / "file").write_text(MINE, encoding="ascii")
        if USER is not None:
            os.chown(place / "file", USER, USER)
        yield place, folder


def attempt(server, place, folder, code):
    return server.cell(f"cd {folder}; {code.replace('FILE', str(place / 'file'))}", language="bash")


@needs_git
def test_git_does_write_through_such_a_link_without_ptycell(project):
    place, folder = project
    (folder / ".git/COMMIT_EDITMSG").unlink()
    (folder / ".git/COMMIT_EDITMSG").symlink_to(place / "file")
    assert git(folder, "commit", "--allow-empty", "-m", "what code chose", home=place, user=USER).returncode == 0
    assert (place / "file").read_text(encoding="ascii") == "what code chose\n"


@needs_git
def test_no_link_leads_git_s_own_files_out_of_a_repository(project):
    place, folder = project
    links = "".join(f"mkdir -p .git/{os.path.dirname(name)}; ln -sf FILE .git/{name}\n" for name in LINKS)
    with served(place, folder) as server:
        holds_names(server)
        told = attempt(server, place, folder, links).texts[0]
        assert "/.git/COMMIT_EDITMSG' (removed)" in told and "led out of the folder" in told, told
        assert not [path for path in (folder / ".git").rglob("*") if path.is_symlink()]
        assert git(folder, "commit", "--allow-empty", "-m", "mine", home=place, user=USER).returncode == 0
        told = attempt(server, place, folder, MOVED + f"; {BARE}\nbare x; ln -s FILE x/FETCH_HEAD; ln -s a x/tree/b; ln -s old new").texts[0]
        assert "/.git/rebase-merge/message' (removed)" in told and "/x/FETCH_HEAD' (removed)" in told, told
        assert os.readlink(folder / "new") == "old" and os.readlink(folder / "x/tree/b") == "a"
    assert (place / "file").read_text(encoding="ascii") == MINE


@needs_git
def test_links_that_the_user_has_in_a_repository_stay(project):
    place, folder = project
    (folder / ".git/info/sparse-checkout").symlink_to(place / "file")
    (folder / ".git/logs/HEAD").rename(place / "log")
    (folder / ".git/logs/HEAD").symlink_to(place / "log")
    with served(place, folder) as server:
        holds_names(server)
        assert attempt(server, place, folder, "git status -s; echo works").text == "works\n"
        assert "(removed)" not in "".join(server.cell("1").texts)
    assert (folder / ".git/info/sparse-checkout").is_symlink() and (folder / ".git/logs/HEAD").is_symlink()


@needs_git
def test_such_a_link_is_found_in_a_share_of_very_many_files(project):
    place, folder = project
    many = f"mkdir -p a/b; python3 -c 'for i in range({ENTRIES}): open(f\"a/b/{{i}}\", \"w\").close()'; ln -sf FILE .git/COMMIT_EDITMSG"
    with served(place, folder) as server:
        holds_names(server)
        told = attempt(server, place, folder, many).texts[0]
        assert "/.git/COMMIT_EDITMSG' (removed)" in told and "more than" in told, told
