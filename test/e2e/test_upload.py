# SPDX-License-Identifier: MIT
"""upload_file with url and path: what comes into a session, and what does not."""
import fcntl
import gzip
import json
import os
import shutil
import struct
import subprocess
import threading

import pytest
from client import BUILD, WAIT_S, Result, Server
from fetching import Site, body, head
from outside import PROC
from patience import until
from proxies import Authority, Host, answer_once, own_mounts, own_names, read_head
from steps import (alive, all_folders, assert_clean, family, kept_files, listed, paths_in,
                   session_folders)

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
            comm = (PROC / f"{process[0]}/comm").read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if name.startswith(comm):
            found.add(process)
    return found


def parts(home):
    """Files on their way: they lie beside sessions' folders."""
    return [p.name for folder in all_folders(home) for p in paths_in(folder.parent, "part-*")]


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


def test_no_query_and_no_login_is_ever_logged_or_told(home):
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
        until(lambda: not alive(processes) and not parts(home))
        assert listed(server) == []


def test_a_session_that_ends_takes_its_transfers_along(server, home):
    slow = Slow()
    with Site({"/a": slow}) as site:
        waiting = start(server, url=site.url("/a"))
        assert slow.begun.wait(WAIT_S)
        server.call("destroy_session", session_id="s")
        answer = Result(waiting.get()["result"])
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
        assert not any(Result(w.get()["result"]).is_error for w in waiting)
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
    ended = Result(running.get()["result"])
    assert [c["path"] for c in ended.status["files"]] == ["output/early", "output/late"]
    assert {p.name for p in kept_files(home)} >= {"early", "late"}
    assert "files" not in server.cell("1").status
    assert [c["path"] for c in server.cell("open('input/a', 'a').write('b')").status["files"]] == ["input/a"]


def test_files_that_were_listed_while_their_cell_ran_are_its_own(server, home):
    """The folder did not change between that look and the one at the cell's end, which then found nothing."""
    server.cell("1")
    running = server.start_cell("import os, time\nopen('output/early', 'w').write('x')\nm = os.stat('output').st_mtime\n"
                                "while time.time() < m + 0.5: pass\nprint('old', flush=True)\ninput()")
    assert running.get()["result"]["_meta"]["ptycell/cell"]["state"] == "waiting_for_input"
    assert "output/early" in listed(server)
    ended = server.call("interact", session_id="s", input="")
    assert [c["path"] for c in ended.status["files"]] == ["output/early"]
    assert "early" in {p.name for p in kept_files(home)}


# ---- longer than a call ----

@pytest.fixture
def hasty(home):
    """A server whose calls are answered at once."""
    with Server(home, env={**PRIVATE, "PTYCELL_CALL_BUDGET": "0"}) as running:
        yield running


def incoming(server):
    """What both tools tell, asked again when a file came on between the two."""
    def told():
        return [server.call(tool, session_id="s").object.get("incoming") for tool in ("list_artifacts", "session_info")]
    return until(lambda: (both := told()) and both[0] == both[1] and both)[0]


def patient(hasty, code):
    """The answer in which the cell has ended: each call has the budget that its server set."""
    result = hasty.cell(code)
    while result.state == "running":
        result = hasty.interact()
    return result


def test_a_call_is_answered_in_time_and_its_file_comes_on(hasty, home):
    slow = Slow()
    with Site({"/d/a.csv": slow}) as site:
        answer = upload(hasty, url=site.url("/d/a.csv"))
        assert not answer.is_error and answer.object["state"] == "running" and "saved_path" not in answer.object
        assert "same arguments" in answer.object["message"]
        assert slow.begun.wait(WAIT_S)
        (one,) = until(lambda: [i for i in incoming(hasty) if "path" in i])
        assert one["path"] == "input/a.csv" and one["received_bytes"] <= 12
        assert upload(hasty, url=site.url("/d/a.csv")).object["state"] == "running"
        assert patient(hasty, "import os; os.listdir('input')").text == "[]\n"
        slow.go.set()
        ended = until(lambda: (o := upload(hasty, url=site.url("/d/a.csv")).object).get("saved_path") and o)
        assert ended["size_bytes"] == 12 and ended["source"] == site.url("/d/a.csv")
        assert incoming(hasty) is None and len(site.paths) == 1
        assert patient(hasty, "open('input/a.csv').read()").text == "'begun\\nended\\n'\n"
        assert upload(hasty, url=site.url("/d/a.csv")).object["state"] == "running"  # a new one, refused by its head
        assert "overwrite: true" in until(
            lambda: (a := upload(hasty, url=site.url("/d/a.csv"))).is_error and a.texts[0])
    until(lambda: nothing_is_left(hasty, home))


def test_what_ended_meanwhile_opens_the_next_answer(hasty):
    slow = Slow()
    with Site({"/a": slow}) as site:
        upload(hasty, url=site.url("/a"))
        slow.go.set()
        until(lambda: listed(hasty) == ["input/a"])
        assert "upload_file is done: code finds 'input/a'." in hasty.cell("1").texts[0]
        assert upload(hasty, url=site.url("/a")).object["saved_path"].endswith("/input/a") and len(site.paths) == 1


def test_a_failure_is_told_to_the_same_call_and_the_next_one_tries_again(hasty):
    with Site({}) as site:
        upload(hasty, url=site.url("/a"), filename="f.csv")
        told = until(lambda: "upload_file" in (t := hasty.cell("1").texts[0]) and t)
        assert "upload_file of f.csv failed: arguments.url: " in told and "404" in told
        failed = upload(hasty, url=site.url("/a"), filename="f.csv")
        assert failed.is_error and "404" in failed.texts[0] and "Call again" in failed.texts[0] and len(site.paths) == 1
        upload(hasty, url=site.url("/a"), filename="f.csv")
        until(lambda: len(site.paths) == 2)


def test_what_the_same_call_was_told_is_not_told_once_more(hasty):
    def on_their_way():
        return hasty.call("list_artifacts", session_id="s").object.get("incoming")

    slow = Slow()
    with Site({"/a": slow, "/b": slow}) as site:
        for path in ("/a", "/b", "/none"):
            upload(hasty, url=site.url(path))
        slow.go.set()
        until(lambda: not on_their_way())
        failed = upload(hasty, url=site.url("/none"))
        assert failed.is_error and failed.texts[0].count("404") == 1
        assert upload(hasty, url=site.url("/a")).object["notice"] == "upload_file is done: code finds 'input/b'."
        assert "upload_file" not in hasty.cell("1").texts[0]
        upload(hasty, url=site.url("/none"))
        until(lambda: not on_their_way())
        upload(hasty, url=site.url("/none"))
        again = upload(hasty, url=site.url("/none")).object
        assert again["state"] == "running" and "notice" not in again


@pytest.mark.parametrize("tail, name", [("/d/two%20words.csv?sig=SECRET/x#y", "two words.csv"), ("?sig=SECRET/x", "a file")])
def test_a_failure_names_the_file_by_its_link_and_tells_no_more_of_that(hasty, tail, name):
    with Site({}) as site:
        upload(hasty, url=site.url("").replace("//", "//me:SECRET@") + tail)
        told = until(lambda: "upload_file" in (t := hasty.cell("1").texts[0]) and t)
        assert f"upload_file of {name} failed: " in told and "SECRET" not in told


def test_what_code_removed_meanwhile_is_brought_again(hasty):
    with Site({"/a": body(b"a")}) as site:
        upload(hasty, url=site.url("/a"))
        until(lambda: listed(hasty) == ["input/a"])
        patient(hasty, "import os; os.remove('input/a')")
        assert upload(hasty, url=site.url("/a")).object["state"] == "running"
        until(lambda: listed(hasty) == ["input/a"])
        assert len(site.paths) == 2


def test_of_many_that_nobody_asked_for_again_the_last_sixteen_are_known(hasty):
    with Site({"*": body(b"a")}) as site:
        for i in range(17):
            upload(hasty, url=site.url("/a"), filename=f"f{i}")
            until(lambda n=f"input/f{i}": n in listed(hasty))
        forgotten = upload(hasty, url=site.url("/a"), filename="f0")
        assert forgotten.is_error and "overwrite: true" in forgotten.texts[0]
        assert upload(hasty, url=site.url("/a"), filename="f1").object["saved_path"].endswith("/input/f1")
        assert len(site.paths) == 17


def test_the_same_call_twice_is_one_transfer_for_both(server):
    slow = Slow()
    with Site({"/a": slow}) as site:
        waiting = [start(server, url=site.url("/a")) for _ in range(2)]
        assert slow.begun.wait(WAIT_S)
        other = start(server, url=site.url("/a"), filename="other")
        until(lambda: len(site.paths) == 2)
        slow.go.set()
        paths = [Result(w.get()["result"]).object["saved_path"] for w in (*waiting, other)]
        assert paths[0] == paths[1] != paths[2] and len(site.paths) == 2


def test_a_transfer_ends_with_the_last_call_that_waits_for_it(server, home):
    slow = Slow()
    with Site({"/a": slow}) as site:
        first, second = (start(server, url=site.url("/a")) for _ in range(2))
        assert slow.begun.wait(WAIT_S)
        server.cancel(first)
        assert server.cell("1").text == "1\n" and helpers(server)
        server.cancel(second)
        until(lambda: nothing_is_left(server, home))
        third = start(server, url=site.url("/a"))
        slow.go.set()
        assert not Result(third.get()["result"]).is_error


def test_what_no_call_waits_for_ends_with_its_session(hasty, home):
    slow = Slow()
    with Site({"/a": slow}) as site:
        upload(hasty, url=site.url("/a"))
        assert slow.begun.wait(WAIT_S)
        hasty.call("destroy_session", session_id="s")
        until(lambda: nothing_is_left(hasty, home))
        assert "incoming" not in hasty.call("session_info", session_id="s").object


def test_with_drain_a_call_waits_to_the_end(home):
    slow = Slow()
    with Site({"/a": slow}) as site, \
            Server(home, "--drain", env={**PRIVATE, "PTYCELL_CALL_BUDGET": "0"}) as server:
        waiting = start(server, url=site.url("/a"))
        assert slow.begun.wait(WAIT_S) and server.cell("1").text == "1\n"
        assert waiting.empty()
        slow.go.set()
        assert Result(waiting.get()["result"]).object["size_bytes"] == 12


def test_json_results_tell_that_it_is_running(home):
    slow = Slow()
    with Site({"/a": slow}) as site, \
            Server(home, "--results=json", env={**PRIVATE, "PTYCELL_CALL_BUDGET": "0"}) as server:
        assert json.loads(upload(server, url=site.url("/a")).texts[0])["status"] == "running"
        slow.go.set()
        done = until(lambda: (o := json.loads(upload(server, url=site.url("/a")).texts[0])).get("saved_path") and o)
        assert done["status"] == "success"


def test_more_than_the_most_are_refused_at_once(server):
    slow = Slow()
    with Site({"*": slow}) as site:
        waiting = [start(server, url=site.url(f"/{i}")) for i in range(16)]
        until(lambda: len(site.paths) == 16)
        refused = upload(server, url=site.url("/16"))
        assert refused.is_error and "16 files are on their way" in refused.texts[0]
        slow.go.set()
        assert not any(Result(w.get()["result"]).is_error for w in waiting)


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
        while (message := server.others.get())["method"] != "notifications/progress":
            pass
        told.set()
        params = message["params"]
        assert params["progressToken"] == "p" and 0 < params["progress"] < 300_000 == params["total"]
        assert not Result(waiting.get()["result"]).is_error


def test_a_proxy_of_the_environment_is_used_and_its_login_is_told_to_nobody(home):
    def forward(s, said):
        read_head(s, said)
        s.sendall(body(b"by proxy"))

    with Host(forward) as proxy:
        env = {"http_proxy": f"http://me:SECRET@127.0.0.1:{proxy.port}", "PTYCELL_LOG": "debug"}
        with Server(home, env=env) as server:
            answer = upload(server, url="http://public.example/d/a.txt")
            assert answer.object["size_bytes"] == 8 and answer.object["source"] == "http://public.example/d/a.txt"
            assert "SECRET" not in str(answer.raw) + server.cell("import os; dict(os.environ)").text
            server.close()
            assert b"SECRET" not in server.stderr
        assert proxy.said[0].startswith(b"GET http://public.example/d/a.txt ") and b"Proxy-Authorization" in proxy.said[0]


def test_an_authority_of_the_environment_is_believed_and_no_other(home, tmp_path):
    authority = Authority(tmp_path, "ok.test")
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 ok.test\n", encoding="ascii")
    command = own_names(hosts, [str(BUILD / "ptycell")])
    with authority.serve(answer_once) as host:
        url = f"https://ok.test:{host.port}/a"
        with Server(home, env={**PRIVATE, "CURL_CA_BUNDLE": str(authority.ca)}, command=command) as server:
            assert upload(server, url=url).object["source"] == url
        with Server(home, env=PRIVATE, command=command) as server:
            assert "no safe connection (TLS) to 'ok.test'" in upload(server, url=url).texts[0]


def test_what_a_server_says_of_itself_is_clean_in_the_answer(server):
    evil = ('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Type: text/\x1b[31mevil\u202e\x07\r\n'
            'Content-Disposition: attachment; filename="\u202egpj.\x1b[2Jexe"\r\nConnection: close\r\n\r\nx').encode()
    with Site({"/a": evil}) as site:
        answer = upload(server, url=site.url("/a"))
    assert not answer.is_error
    assert_clean(answer.raw)


def endless(s, _path):
    s.sendall(head(200))
    while True:
        s.sendall(b"x" * 65536)


def drip(s, _path):
    s.sendall(head(200))
    while not NEVER.wait(0.05):
        s.sendall(b"x")


NEVER = threading.Event()
BOMB = gzip.compress(bytes(64 << 20))
HOSTILE = {
    "/drip": drip, "/endless": endless, "/silent": lambda s, _: s.recv(1), "/closed": lambda s, _: s.close(),
    "/loop": lambda s, path: s.sendall(head(302, "Location: /loop")),
    "/metadata": head(302, "Location: http://169.254.169.254/latest/"), "/file": head(302, "Location: file:///etc/passwd"),
    "/long": head(200, "Content-Length: 9") + b"x", "/huge": head(200, f"Content-Length: {1 << 60}") + b"x",
    "/negative": head(200, "Content-Length: -5") + b"x", "/bomb": body(BOMB, "Content-Encoding: gzip"),
    "/lines": b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000, "/line": b"HTTP/1.1 200 OK\r\nX: " + b"x" * (8 << 20),
    "/noise": bytes(range(256)) * 4096, "/name": head(200, 'Content-Disposition: attachment; filename="\x00/../x\x1b[2J"'),
    "/broken": body(b"none", "Content-Encoding: gzip")}


def test_hostile_servers_all_at_once_disturb_nobody_and_leave_nothing(home):
    env = {**PRIVATE, "DOWNLOAD_TIMEOUT": "5", "MAX_DOWNLOAD_SIZE": "1M"}
    with Server(home, env=env) as server, Site(HOSTILE) as site:
        server.cell("x = 1")
        waiting = {path: start(server, url=site.url(path)) for path in HOSTILE}
        assert server.cell("x + 1").text == "2\n"  # while they come
        answers = {path: Result(w.get()["result"]) for path, w in waiting.items()}
        assert {path for path, answer in answers.items() if not answer.is_error} <= {"/name"}
        for answer in answers.values():
            assert_clean(answer.raw)
        assert [n for n in listed(server) if not n.startswith("input/")] == []
        until(lambda: nothing_is_left(server, home))
        assert len(listed(server)) <= 1 and server.cell("x + 2").text == "3\n"


def test_downloads_can_be_off_or_from_named_hosts_only(home):
    with Server(home, env={**PRIVATE, "PTYCELL_FETCH_HOSTS": "off"}) as server:
        assert "PTYCELL_FETCH_HOSTS" in upload(server, url="http://example.org/x").texts[0]
    with Server(home, "--fetch-hosts", "files.example", env=PRIVATE) as server:
        for url in ("http://other.example/x", "http://127.0.0.1/x", "http://localhost/x", "http://files.example:8080/x"):
            refused = upload(server, url=url)
            assert refused.is_error and "PTYCELL_FETCH_HOSTS" in refused.texts[0]


def test_a_session_may_lower_its_limits(server):
    server.call("session_info", session_id="s", config={"max_download_size": 1024})
    slow = Slow()
    with Site({"/a": body(b"x" * 1025), "/slow": slow}) as site:
        refused = upload(server, url=site.url("/a"))
        assert refused.is_error and "1024 bytes (PTYCELL_MAX_DOWNLOAD_SIZE)" in refused.texts[0]
        server.call("session_info", session_id="s", config={"download_timeout": 1})
        refused = upload(server, url=site.url("/slow"))
        assert refused.is_error and "DOWNLOAD_TIMEOUT" in refused.texts[0]
        slow.go.set()
    assert listed(server) == []


def test_this_machine_is_not_reached_by_default(home):
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
    for path, said in [(shared.parent / "other/secret", "--share"), (shared / "../secret", ". and .."),
                       (shared / "link", "symbolic"), (shared / "none", "no such file"), (shared, "folder"),
                       (shared / "fifo_", "folder"), (shared / "fifo", "not a regular file"),
                       ("relative", "absolute")]:
        refused = upload(sharing, path=str(path))
        assert refused.is_error and said in refused.texts[0] and refused.texts[0].startswith("arguments.path: ")
    assert listed(sharing) == []


def test_a_folder_that_cannot_be_shared_is_said_to_be_none(sharing, shared):
    for path, said in [("/etc/passwd", "'/etc' is a system folder"), ("~/secret", "is a whole home folder"),
                       (shared.parent / "cache/x", "set PTYCELL_HOME"),
                       (shared.parent / "cache" / ("long" * 30) / "x", "set PTYCELL_HOME to a folder outside of it"),
                       ("/mnt/data/input/a", "code finds it there already")]:
        refused = upload(sharing, path=str(path))
        assert refused.is_error and said in refused.texts[0] and "--share '" not in refused.texts[0]


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


@pytest.mark.parametrize("form", ["C:\\Users\\me\\a b.csv", "c:/Users/me/a b.csv", "file:///C:/Users/me/a%20b.csv"])
def test_under_wsl_a_file_of_windows_is_found_by_its_name_there(home, shared, form):
    shared.chmod(0o755)
    script = 'mount -t tmpfs none /mnt && mkdir -p /mnt/c/Users/me && mount --bind "$0" /mnt/c/Users/me && exec "$@"'
    command = own_mounts(script, [str(shared)], [str(BUILD / "ptycell")])
    with Server(home, "--share", "/mnt/c/Users/me", env={"WSL_DISTRO_NAME": "Ubuntu"}, command=command) as server:
        answer = upload(server, path=form)
        assert not answer.is_error, answer.texts
        assert answer.object["saved_path"].endswith("/input/a b.csv")
        assert server.cell("open('input/a b.csv').read()").text == "'x,y\\n1,2\\n'\n"


@pytest.fixture
def btrfs(tmp_path):
    """A mounted file system that can share blocks between files."""
    image, folder = tmp_path / "image", tmp_path / "btrfs"
    with open(image, "wb") as f:
        f.truncate(256 << 20)
    folder.mkdir()
    if os.geteuid() or not shutil.which("mkfs.btrfs"):
        pytest.skip("only root may mount, and needs mkfs.btrfs")
    subprocess.run(["mkfs.btrfs", "-q", str(image)], check=True)
    if subprocess.run(["mount", "-o", "loop", str(image), str(folder)], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("this kernel or container mounts no btrfs")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def shares_blocks(path):
    """Are all extents of the file another file's, too? FS_IOC_FIEMAP with FIEMAP_EXTENT_SHARED tells."""
    room = bytearray(struct.pack("=QQIIII", 0, 2**64 - 1, 1, 0, 64, 0) + bytes(64 * 56))
    with open(path, "rb") as f:
        fcntl.ioctl(f, 0xC020660B, room)
    count = struct.unpack_from("=I", room, 20)[0]
    flags = [struct.unpack_from("=I", room, 32 + 56 * i + 40)[0] for i in range(count)]
    return count > 0 and all(flag & 0x2000 for flag in flags)


def test_a_copy_shares_the_blocks_of_the_file_where_the_file_system_can(btrfs):
    shared = btrfs / "shared"
    for folder in (btrfs, shared):
        folder.mkdir(mode=0o755, exist_ok=True)
        folder.chmod(0o755)
    data = os.urandom(8 << 20)
    (shared / "large.bin").write_bytes(data)
    (shared / "large.bin").chmod(0o644)
    with Server(btrfs, "--share", str(shared)) as server:
        answer = upload(server, path=str(shared / "large.bin"))
        assert answer.object["size_bytes"] == len(data), answer.texts
        (copy,) = paths_in(btrfs, "cache/server-*/sessions/*/data/input/large.bin")
        assert shares_blocks(copy) and copy.read_bytes() == data
        server.cell("with open('input/large.bin', 'r+b') as f: f.write(b'mine')")
        assert (shared / "large.bin").read_bytes() == data
