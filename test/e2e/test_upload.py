# SPDX-License-Identifier: MIT
"""upload_file with url and path: what comes into a session, and what does not."""
import os
import pathlib
import threading

import pytest
from client import WAIT_S, Result, Server
from fetching import Site, body, head
from steps import alive, all_folders, assert_clean, family, listed, session_folders, until

PRIVATE = {"PTYCELL_ALLOW_PRIVATE_HOSTS": "1"}


@pytest.fixture
def server(home):
    with Server(home, env=PRIVATE) as running:
        yield running


def upload(server, session="s", **arguments):
    return server.call("upload_file", session_id=session, **arguments)


def start(server, session="s", meta=None, **arguments):
    """Begins an upload; the queue it returns gets the answer."""
    params = {"name": "upload_file", "arguments": {"session_id": session, **arguments}}
    if meta:
        params["_meta"] = meta
    return server.start("tools/call", params)


def helpers(server, name="ptycell-fetch"):
    found = set()
    for process in family(server.process.pid):
        try:
            comm = pathlib.Path(f"/proc/{process[0]}/comm").read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if name.startswith(comm):
            found.add(process)
    return found


def parts(home):
    """Files on their way: they lie beside sessions' folders."""
    return [p.name for folder in all_folders(home) for p in folder.parent.glob("part-*")]


def nothing_is_left(server, home):
    return not helpers(server) and not parts(home)


class Slow:
    """Pages that send a first piece, then wait until they are let go."""

    def __init__(self, first=b"begun\n", rest=b"ended\n"):
        self.go = threading.Event()
        self.begun = threading.Event()
        self.first, self.rest = first, rest

    def __call__(self, s, _path):
        s.sendall(head(200, f"Content-Length: {len(self.first) + len(self.rest)}") + self.first)
        self.begun.set()
        if self.go.wait(WAIT_S):
            s.sendall(self.rest)


# ---- url ----

def test_a_link_becomes_a_file_that_code_reads(server):
    with Site({"/d/data.csv": body(b"x,y\n1,2\n", "Content-Type: text/csv")}) as site:
        answer = upload(server, url=site.url("/d/data.csv?sig=SECRET"))
        assert answer.object["saved_path"].endswith("/input/data.csv") and answer.object["size_bytes"] == 8
        assert answer.object["mime_type"] == "text/csv" and answer.object["source"] == site.url("/d/data.csv")
    assert server.cell("import pandas; int(pandas.read_csv('input/data.csv').y.sum())").text == "2\n"


def test_blob_url_means_url(server):
    with Site({"/a": body(b"a")}) as site:
        assert upload(server, blob_url=site.url("/a")).object["size_bytes"] == 1


def test_cb09_no_query_and_no_login_is_ever_logged_or_told(home):
    """CB-09"""
    with Server(home, env={**PRIVATE, "PTYCELL_LOG": "debug"}) as server, \
            Site({"/a": body(b"a"), "/r": head(302, "Location: /b?sig=SECRET3")}) as site:
        answers = [upload(server, url=site.url(path).replace("//", "//me:SECRET2@"))
                   for path in ("/a?sig=SECRET1", "/none?sig=SECRET1", "/r?sig=SECRET1")]
        assert [a.is_error for a in answers] == [False, True, True]
        answers.append(upload(server, url="http://me:SECRET2@nowhere.invalid/x?sig=SECRET1"))
        server.close()
        assert "SECRET" not in str([a.raw for a in answers]) and b"SECRET" not in server.stderr


def test_a_name_of_the_callers_wins_and_may_be_in_a_folder(server):
    with Site({"/a": body(b"a", 'Content-Disposition: attachment; filename="theirs.csv"')}) as site:
        assert upload(server, url=site.url("/a")).object["saved_path"].endswith("/input/theirs.csv")
        answer = upload(server, url=site.url("/a"), filename="mine/own.csv")
        assert answer.object["saved_path"].endswith("/input/mine/own.csv")
        for name in ("../evil", "/etc/evil", "a/../../b"):  # CB-04
            assert upload(server, url=site.url("/a"), filename=name).is_error
    assert listed(server) == ["input/mine/own.csv", "input/theirs.csv"]


def test_an_existing_file_stays_unless_overwrite_is_asked_for(server, home):
    slow = Slow()
    with Site({"/a": body(b"one"), "/slow/a": slow}) as site:
        upload(server, url=site.url("/a"))
        for arguments in ({"url": site.url("/a")}, {"url": site.url("/slow/a")},
                          {"url": site.url("/slow/a"), "filename": "a"}):
            refused = upload(server, **arguments)  # told by the head alone: the body never comes
            assert refused.is_error and "overwrite: true" in refused.texts[0]
        slow.go.set()
        assert not upload(server, url=site.url("/slow/a"), overwrite=True).is_error
        assert server.cell("open('input/a').read()").text == "'begun\\nended\\n'\n"
    until(lambda: nothing_is_left(server, home))


@pytest.mark.parametrize("arguments", [
    {}, {"url": "http://a", "content": "x", "filename": "f"}, {"url": "http://a", "path": "/x"},
    {"url": "http://a", "blob_url": "http://a"}, {"url": 5}, {"url": "http://a/\n"}, {"path": ""},
    {"url": "x" * 20000}])
def test_a_wrong_source_is_named_and_starts_nothing(server, home, arguments):
    refused = upload(server, **arguments)
    assert refused.is_error and refused.texts[0].startswith("arguments")
    assert nothing_is_left(server, home)


def test_cancelling_kills_the_transfer_and_leaves_nothing(server, home):
    slow = Slow()
    with Site({"/a": slow}) as site:
        waiting = start(server, url=site.url("/a"))
        assert slow.begun.wait(WAIT_S)
        processes = helpers(server)
        assert processes and parts(home)
        server.notify("notifications/cancelled", {"requestId": waiting.id})
        until(lambda: not alive(processes) and not parts(home), 3)
        assert listed(server) == []


def test_a_session_that_ends_takes_its_transfers_along(server, home):
    slow = Slow()
    with Site({"/a": slow}) as site:
        waiting = start(server, url=site.url("/a"))
        assert slow.begun.wait(WAIT_S)
        server.call("destroy_session", session_id="s")
        answer = Result(waiting.get(timeout=WAIT_S)["result"])
        assert answer.is_error and answer.texts == ["the session ended meanwhile"]
        until(lambda: not helpers(server) and not session_folders(home))


def test_a_killed_server_takes_its_transfers_along(home):
    slow = Slow()
    with Site({"/a": slow}) as site, Server(home, env=PRIVATE) as server:
        start(server, url=site.url("/a"))
        assert slow.begun.wait(WAIT_S)
        processes = helpers(server)
        server.process.kill()
        until(lambda: not alive(processes))


def test_several_come_at_once_while_code_runs(server):
    slow = [Slow() for _ in range(4)]
    with Site({f"/{i}": page for i, page in enumerate(slow)}) as site:
        waiting = [start(server, url=site.url(f"/{i}"), filename=f"f{i}") for i in range(4)]
        assert all(page.begun.wait(WAIT_S) for page in slow)
        assert server.cell("import os; sorted(os.listdir('input'))").text == "[]\n"
        for page in reversed(slow):
            page.go.set()
        assert not any(Result(w.get(timeout=WAIT_S)["result"]).is_error for w in waiting)
    assert server.cell("sorted(os.listdir('input'))").text == "['f0', 'f1', 'f2', 'f3']\n"


def test_a_cells_files_are_its_own_whatever_is_asked_or_put_in_meanwhile(server, home):
    """Listings and uploads look at the files too: what a running cell had written by then is not lost."""
    server.cell("1")
    running = server.start_cell("import os\nopen('output/early', 'w').write('x')\n"
                                "while not os.path.exists('input/go'): pass\nopen('output/late', 'w').write('y')")
    until(lambda: "output/early" in listed(server))
    with Site({"/a": body(b"a")}) as site:
        upload(server, url=site.url("/a"))
    upload(server, filename="go", content="")
    ended = Result(running.get(timeout=WAIT_S)["result"])
    assert [c["path"] for c in ended.status["files"]] == ["output/early", "output/late"]
    assert {p.name for p in (home / "kept").rglob("*") if p.is_file()} >= {"early", "late"}
    assert "files" not in server.cell("1").status
    assert [c["path"] for c in server.cell("open('input/a', 'a').write('b')").status["files"]] == ["input/a"]


def test_more_than_the_most_are_refused_at_once(server):
    slow = Slow()
    with Site({"*": slow}) as site:
        waiting = [start(server, url=site.url(f"/{i}")) for i in range(16)]
        until(lambda: len(site.paths) == 16)
        refused = upload(server, url=site.url("/16"))
        assert refused.is_error and "16 files are on their way" in refused.texts[0]
        slow.go.set()
        assert not any(Result(w.get(timeout=WAIT_S)["result"]).is_error for w in waiting)


def test_progress_is_told_to_who_asks(server):
    told = threading.Event()

    def drip(s, _path):
        s.sendall(head(200, "Content-Length: 300000"))
        sent = 0
        while not told.wait(0.05) and sent < 100_000:
            s.sendall(b"x" * 1000)
            sent += 1000
        s.sendall(b"x" * (300_000 - sent))

    with Site({"/a": drip}) as site:
        waiting = start(server, meta={"progressToken": "p"}, url=site.url("/a"))
        while (message := server.others.get(timeout=WAIT_S))["method"] != "notifications/progress":
            pass
        told.set()
        params = message["params"]
        assert params["progressToken"] == "p" and 0 < params["progress"] < 300_000 == params["total"]
        assert not Result(waiting.get(timeout=WAIT_S)["result"]).is_error


def test_what_a_server_says_of_itself_is_clean_in_the_answer(server):
    evil = ('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Type: text/\x1b[31mevil\u202e\x07\r\n'
            'Content-Disposition: attachment; filename="\u202egpj.\x1b[2Jexe"\r\nConnection: close\r\n\r\nx').encode()
    with Site({"/a": evil}) as site:
        answer = upload(server, url=site.url("/a"))
    assert not answer.is_error
    assert_clean(answer.raw)


def test_downloads_can_be_off_or_from_named_hosts_only(home):
    with Server(home, env={**PRIVATE, "PTYCELL_FETCH_HOSTS": "off"}) as server:
        assert "PTYCELL_FETCH_HOSTS" in upload(server, url="http://example.org/x").texts[0]
    with Server(home, "--fetch-hosts", "files.example", env=PRIVATE) as server:
        for url in ("http://other.example/x", "http://127.0.0.1/x", "http://localhost/x", "http://files.example:8080/x"):
            refused = upload(server, url=url)
            assert refused.is_error and "PTYCELL_FETCH_HOSTS" in refused.texts[0]


def test_a_session_may_lower_its_limits(server):
    server.call("session_info", session_id="s", config={"max_download_size": 1024, "download_timeout": 1})
    slow = Slow()
    with Site({"/a": body(b"x" * 1025), "/slow": slow}) as site:
        refused = upload(server, url=site.url("/a"))
        assert refused.is_error and "1024 bytes (MAX_DOWNLOAD_SIZE)" in refused.texts[0]
        refused = upload(server, url=site.url("/slow"))
        assert refused.is_error and "DOWNLOAD_TIMEOUT" in refused.texts[0]
        slow.go.set()
    assert listed(server) == []


def test_cb06_this_machine_is_not_reached_by_default(home):
    """CB-06"""
    with Site({"/a": body(b"a")}) as site, Server(home) as server:
        for host in ("127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"):
            refused = upload(server, url=site.url("/a", host))
            assert refused.is_error and "PTYCELL_ALLOW_PRIVATE_HOSTS" in refused.texts[0], refused.texts
        assert not site.said


# ---- path ----

@pytest.fixture
def shared(home):
    folder = home / "shared"
    folder.mkdir(mode=0o755)
    home.chmod(0o755)
    (folder / "a b.csv").write_bytes(b"x,y\n1,2\n")
    (folder / "a b.csv").chmod(0o644)
    (home / "secret").write_bytes(b"TOP SECRET")
    return folder


@pytest.fixture
def sharing(home, shared):
    with Server(home, "--share", str(shared), env={"WSL_DISTRO_NAME": "Ubuntu"}) as running:
        yield running


@pytest.mark.parametrize("form", ["{}", "file://{}", '"{}"', "\\\\wsl.localhost\\Ubuntu{}", "~/shared/a b.csv"])
def test_a_shared_file_is_copied_whatever_form_names_it(sharing, shared, form):
    path = str(shared / "a b.csv")
    path = path.replace(" ", "%20") if form.startswith("file") else path
    path = path.replace("/", "\\") if form.startswith("\\") else path
    answer = upload(sharing, path=form.format(path))
    assert not answer.is_error, answer.texts
    assert answer.object["saved_path"].endswith("/input/a b.csv") and answer.object["size_bytes"] == 8
    (shared / "a b.csv").write_bytes(b"changed")
    assert sharing.cell("open('input/a b.csv').read()").text == "'x,y\\n1,2\\n'\n"


def test_what_is_not_shared_is_refused_with_the_line_to_add(sharing, shared):
    (shared / "link").symlink_to("../secret")
    (shared / "fifo_").mkdir()
    os.mkfifo(shared / "fifo")
    for path, said in [(shared.parent / "secret", "--share"), (shared / "../secret", ". and .."),
                       (shared / "link", "symbolic"), (shared / "none", "no such file"), (shared, "folder"),
                       (shared / "fifo_", "folder"), (shared / "fifo", "not a regular file"),
                       ("relative", "absolute"), ("/etc/passwd", "--share")]:
        refused = upload(sharing, path=str(path))
        assert refused.is_error and said in refused.texts[0] and refused.texts[0].startswith("arguments.path: ")
    assert listed(sharing) == []


def test_without_shares_no_path_is_read(server, shared):
    refused = upload(server, path=str(shared / "a b.csv"))
    assert refused.is_error and f"--share '{shared}'" in refused.texts[0]


def test_a_share_that_is_refused_is_told_why(home, shared):
    with Server(home, "--share", str(home)) as server:
        refused = upload(server, path=str(shared / "a b.csv"))
    assert refused.is_error and "No code runs: the share '" in refused.texts[0]


def test_a_copy_keeps_holes_and_obeys_the_limit(home, shared):
    with open(shared / "holes", "wb") as f:
        f.truncate(5 << 30)
        f.seek(1 << 30)
        f.write(b"middle")
    (shared / "full").write_bytes(b"x" * (3 << 20))
    for name in ("holes", "full"):
        (shared / name).chmod(0o644)
    with Server(home, "--share", str(shared), env={"PTYCELL_DISK_MAX": "2M"}) as server:
        assert upload(server, path=str(shared / "holes")).object["size_bytes"] == 5 << 30
        said = server.cell("import os; s = os.stat('input/holes'); f = open('input/holes', 'rb'); f.seek(1 << 30)\n"
                           "print(s.st_size, s.st_blocks * 512 < 1 << 20, f.read(6))").text
        assert said == f"{5 << 30} True b'middle'\n"
        refused = upload(server, path=str(shared / "full"))
        assert refused.is_error and "PTYCELL_DISK_MAX" in refused.texts[0]
    assert not parts(home)


def test_a_copy_takes_overwrite_and_filename_like_the_others(sharing, shared):
    upload(sharing, path=str(shared / "a b.csv"), filename="c.csv")
    refused = upload(sharing, path=str(shared / "a b.csv"), filename="c.csv")
    assert refused.is_error and "overwrite: true" in refused.texts[0]
    assert not upload(sharing, path=str(shared / "a b.csv"), filename="c.csv", overwrite=True).is_error
    assert listed(sharing) == ["input/c.csv"]
