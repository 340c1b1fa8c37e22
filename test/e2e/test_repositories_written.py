# SPDX-License-Identifier: MIT
"""Links in a repository where git writes: they would have the user's git write what code chose into any file of the user's, or read one out."""
import os
import subprocess
import sys

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
        assert "/.git/COMMIT_EDITMSG' (removed)" in told and "or write where it leads" in told, told
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


# Writes .git/index of the paths, as no git would: it checks them when it adds them, and not when it reads.
CRAFT = r"""
import hashlib, os, struct, subprocess
os.chdir(FOLDER)
blob = subprocess.run(['git', 'hash-object', '-w', '--stdin'], input=b'what code chose\n', capture_output=True).stdout.decode().strip()
out = b''
for path in sorted(PATHS):
    entry = struct.pack('>10I', 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0) + bytes.fromhex(blob) + struct.pack('>H', len(path))
    out += entry + (b'\0' + path + b'\0' if VERSION == 4 else path + b'\0' * (8 - (len(entry) + len(path)) % 8))
out = b'DIRC' + struct.pack('>II', VERSION, len(PATHS)) + out
open('.git/index', 'wb').write(out + hashlib.sha1(out).digest())
"""


def craft(folder, path, version):
    return CRAFT.replace("FOLDER", repr(str(folder))).replace("PATHS", repr([path])).replace("VERSION", str(version))


@needs_git
def test_git_does_write_where_an_index_says_without_ptycell(project):
    place, folder = project
    subprocess.run([sys.executable, "-c", craft(folder, b"../file", 2)], check=True, user=USER)
    assert git(folder, "checkout", "--", ".", home=place, user=USER).returncode == 0
    assert (place / "file").read_text(encoding="ascii") == "what code chose\n"


@needs_git
def test_no_index_leads_out_of_a_work_tree(project):
    place, folder = project
    with served(place, folder) as server:
        holds_names(server)
        for path, version in ((b"../file", 2), (b"a/../../file", 2), (b".git/hooks/post-checkout", 4), (b"a/.GIT/config", 2), (b"/etc/x", 3)):
            told = server.cell(craft(folder, path, version)).texts[0]
            assert "/.git/index' to 'index.held-by-ptycell" in told, (path, told)
        git(folder, "checkout", "--", ".", home=place, user=USER)
    assert (place / "file").read_text(encoding="ascii") == MINE and not (folder / ".git/hooks/post-checkout").exists()


@needs_git
def test_no_shared_index_under_an_old_one_leads_out_of_a_work_tree(project):
    place, folder = project
    (folder / "a").write_text("1\n", encoding="ascii")
    for act in (("add", "a"), ("update-index", "--split-index")):
        assert git(folder, *act, home=place, user=USER).returncode == 0
    (shared,) = [path.name for path in (folder / ".git").glob("sharedindex.*")]
    # The checksum at the end stays: git compares it with the name, and with nothing else.
    code = craft(folder, b"../file", 2) + f"new = open('.git/index', 'rb').read()\nold = open('.git/{shared}', 'rb').read()\n"
    code += f"os.chmod('.git/{shared}', 0o644)\nopen('.git/{shared}', 'wb').write(new[:-20] + old[-20:])\n"
    with served(place, folder) as server:
        holds_names(server)
        told = server.cell(code.replace("'.git/index'", "'.git/made'")).texts[0]
        assert "/.git/sharedindex." in told and f"' to '{shared}.held-by-ptycell" in told and "/.git/index'" not in told, told


# Each kind of index that git writes; threads begin where an extension says.
HONEST = ["git update-index --index-version 4; git add .", "git add -N new; git update-index --skip-worktree old", "git update-index --split-index; git add .",
          "git -c index.threads=4 add .; git -c index.threads=4 -c index.version=4 update-index --force-write-index", "git update-index --untracked-cache",
          "mkdir b; git init -q --object-format=sha256 b; cd b; echo 1 > a; git add .", "git sparse-checkout set --cone --sparse-index c; git status",
          "git rm -rq --cached ."]


@needs_git
@pytest.mark.parametrize("act", HONEST)
def test_what_git_writes_as_an_index_stays(project, act):
    place, folder = project
    make = "mkdir -p a/d c; for i in $(seq 300); do echo $i > a/d/f$i; echo > c/g$i; done; git add .; git -c user.name=u -c user.email=u@u commit -qm m; echo 1 > new; "
    with served(place, folder) as server:
        holds_names(server)
        told = attempt(server, place, folder, make + act).texts
        assert "Renamed" not in "".join(told + server.cell("1").texts), told
    assert not list(folder.rglob("*held-by-ptycell*")) and git(folder, "status", home=place, user=USER).returncode == 0


# Writes .git/MERGE_RR, by which "git commit" records how conflicts were solved: it copies the file at a path to where code reads it,
# or solves the conflicts in it as code recorded.
RESOLVE = r"""
import os
os.chdir(FOLDER)
def put(name, text):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, 'w').write(text)
read, write = '1' * 40, '2' * 40
put(f'.git/rr-cache/{read}/preimage', 'x')
put(f'.git/rr-cache/{write}/preimage', '')
put(f'.git/rr-cache/{write}/postimage', 'what code chose\n')
put('.git/info/attributes', '* merge=union\n')
put('.git/MERGE_RR', MARK + '\tPATH\0')
"""


def resolve(place, folder, mark, path):
    path = path.replace("FILE", str(place / "file"))
    link = f"import os, pathlib\nfor name in ('link', 'd/link'):\n    path = pathlib.Path({str(folder)!r}, name)\n    path.parent.mkdir(exist_ok=True)\n"
    link += f"    path.is_symlink() or path.symlink_to({str(place / 'file')!r} if name == 'link' else {str(place)!r})\n"
    return link + RESOLVE.replace("FOLDER", repr(str(folder))).replace("MARK", mark).replace("PATH", path)


def recorded(folder):
    return "".join(path.read_text(encoding="ascii") for path in folder.glob(f".git/rr-cache/{'1' * 40}/postimage"))


RESOLVED = [("read", "FILE"), ("read", "../file"), ("read", "link"), ("read", "d/link/file"), ("write + '.-1'", "FILE"), ("write + '.4294967295'", "old")]


@needs_git
@pytest.mark.parametrize("mark, path", RESOLVED)
def test_git_does_follow_a_list_of_conflicts_without_ptycell(project, mark, path):
    place, folder = project
    before = (folder / "old").read_text(encoding="ascii")
    subprocess.run([sys.executable, "-c", resolve(place, folder, mark, path)], check=True, user=USER)
    git(folder, "commit", "--allow-empty", "-m", "mine", home=place, user=USER)
    assert recorded(folder) == MINE or (place / "file").read_text(encoding="ascii") != MINE or (folder / "old").read_text(encoding="ascii") != before


@needs_git
def test_no_list_of_conflicts_leads_out_of_a_work_tree(project):
    place, folder = project
    before = (folder / "old").read_text(encoding="ascii")
    with served(place, folder) as server:
        holds_names(server)
        for mark, path in RESOLVED:
            told = "".join(server.cell(resolve(place, folder, mark, path)).texts)
            assert "/.git/MERGE_RR' to 'MERGE_RR.held-by-ptycell" in told, (path, told)
        git(folder, "commit", "--allow-empty", "-m", "mine", home=place, user=USER)
    assert recorded(folder) == "" and (place / "file").read_text(encoding="ascii") == MINE and (folder / "old").read_text(encoding="ascii") == before


@needs_git
def test_a_list_of_conflicts_that_git_writes_stays(project):
    place, folder = project
    merge = """export GIT_AUTHOR_NAME=u GIT_AUTHOR_EMAIL=u@u GIT_COMMITTER_NAME=u GIT_COMMITTER_EMAIL=u@u; mkdir -p .git/rr-cache 'a b'
echo 1 > 'a b/f'; git add .; git commit -qm 1; git switch -qc b; echo 2 > 'a b/f'; git commit -qam 2; git switch -q -; echo 3 > 'a b/f'; git commit -qam 3
git merge b; cat .git/MERGE_RR"""
    with served(place, folder) as server:
        holds_names(server)
        told = "".join(attempt(server, place, folder, merge).texts + server.cell("1").texts)
        assert "Recorded preimage" in told and "Renamed" not in told, told
    assert b"a b/f" in (folder / ".git/MERGE_RR").read_bytes()


@needs_git
def test_what_a_pull_of_the_user_put_aside_stays(project):
    """git writes it before it writes MERGE_HEAD, and in a fast-forward it writes no MERGE_HEAD at all."""
    place, folder = project
    with served(place, folder) as server:
        holds_names(server)
        assert git(folder, "commit", "--allow-empty", "-m", "1", home=place, user=USER).returncode == 0
        head = git(folder, "rev-parse", "HEAD", home=place, user=USER).stdout
        path = folder / ".git/MERGE_AUTOSTASH"
        path.write_text(head if isinstance(head, str) else head.decode())
        os.chown(path, USER, USER)
        told = "".join(server.cell("1").texts + server.cell("2").texts)
        assert "Renamed" not in told and path.exists(), told
