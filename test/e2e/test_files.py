# SPDX-License-Identifier: MIT
"""Files: put in, found, listed, read as resources, and kept for the person."""
import base64
import datetime
import json
import os
import re
import resource
import subprocess
import urllib.parse

import pytest
from client import BUILD, Server
from patience import until
from proxies import own_mounts
from steps import kept_files, listed, paths_in, session_folders


def changes(result):
    return [(c["kind"], c["path"]) for c in result.status.get("files", [])]


def upload(server, **arguments):
    return server.call("upload_file", session_id="s", **arguments)


def read(server, path, query="", session="s"):
    return server.start("resources/read", {"uri": f"session://{session}/files/{path}{query}"}).get()


def content(message):
    return message["result"]["contents"][0]


# ---- upload_file ----

def test_text_comes_in_as_utf8(server):
    answer = upload(server, filename="\u00fc ber.csv", content="a\n\u00fc\r\n")
    assert answer.object["size_bytes"] == 6
    path = answer.object["saved_path"]
    assert path.endswith("/input/\u00fc ber.csv") and os.path.isabs(path)
    assert server.cell(f"open({path!r}, 'rb').read()").text == "b'a\\n\\xc3\\xbc\\r\\n'\n"


def test_bytes_come_in_as_base64(server):
    data = bytes(range(256)) * 1000
    answer = upload(server, filename="b.bin", content=base64.b64encode(data).decode(), encoding="base64")
    assert answer.object["size_bytes"] == len(data)
    assert server.cell("open('input/b.bin', 'rb').read() == bytes(range(256)) * 1000").text == "True\n"


def test_empty_content_is_an_empty_file(server):
    assert upload(server, filename="e", content="").object["size_bytes"] == 0
    assert server.cell("open('input/e').read()").text == "''\n"


def test_content_beyond_the_sessions_disk_is_refused(home):
    with Server(home, env={"PTYCELL_DISK_MAX": "2M"}) as server:
        refused = upload(server, filename="f", content="x" * (2 << 20) + "x")
        assert refused.is_error and refused.texts == ["arguments.content: it is larger than 1966080 bytes (what PTYCELL_DISK_MAX leaves for it)"]
        assert upload(server, filename="f", content="x" * (1 << 20)).object["size_bytes"] == 1 << 20


def test_what_tools_put_in_counts_together(home):
    """And a cell that only looks does not end for it."""
    megabyte = "x" * (1 << 20)
    with Server(home, env={"PTYCELL_DISK_MAX": "3M"}) as server:
        for name in "ab":
            assert not upload(server, filename=name, content=megabyte).is_error
        refused = upload(server, filename="c", content=megabyte)
        assert refused.is_error and "what PTYCELL_DISK_MAX leaves for it" in refused.texts[0]
        assert not upload(server, filename="c", content=megabyte[:800_000]).is_error
        wide = server.call("exec_sql", session_id="s", query="WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 900) "
                                                             "SELECT n, printf('%.9000c', 'x') FROM r")
        assert wide.object["truncated"] and wide.object["size_bytes"] < 200_000
        assert server.call("exec_sql", session_id="s", query="SELECT 1").object["rows"] == [[1]]
        assert server.cell("import os, time; time.sleep(2); os.remove('input/a'); 1").text == "1\n"
        assert not upload(server, filename="d", content="x" * 5000).is_error


def test_an_existing_file_stays_unless_overwrite_is_asked_for(server):
    upload(server, filename="f", content="one")
    refused = upload(server, filename="f", content="two")
    assert refused.is_error and "overwrite: true" in refused.texts[0]
    assert server.cell("open('input/f').read()").text == "'one'\n"
    assert not upload(server, filename="f", content="3", overwrite=True).is_error
    assert server.cell("open('input/f').read()").text == "'3'\n"


@pytest.mark.parametrize("name", ["input/a/b.csv", "./input/a/b.csv", "/mnt/data/input/a/b.csv", "a/b.csv"])
def test_a_name_may_be_the_path_that_code_uses(server, name):
    answer = server.call("upload_file", session_id="s", filename=name, content="x")
    assert answer.object["saved_path"].endswith("/data/input/a/b.csv")
    above = server.call("upload_file", session_id="s", filename="input/../evil", content="x")
    assert above.is_error and "must be a path below input/" in above.texts[0]


@pytest.mark.parametrize("name", [
    "../evil", "/etc/evil", "..", ".", "", "a/../../b", "x" * 300, "a/", "//"])
def test_a_name_that_leads_elsewhere_is_refused(server, home, name):
    refused = upload(server, filename=name, content="x")
    assert refused.is_error and "filename" in refused.texts[0]
    assert not paths_in(home, "**/*evil*") and not os.path.exists("/etc/evil")


@pytest.mark.parametrize("name, saved", [
    ("a\nb", "a_b"), ("\x1b[2J", "_[2J"), ("d/\u202eevil", "d/_evil"), ("a\x7f", "a_"), ("a\u200cb.txt", "a_b.txt"),
    ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e")])
def test_a_name_with_what_nobody_sees_is_that_of_a_file_that_comes_by_its_path(servers, tmp_path, name, saved):  # W5
    shared = tmp_path / "shared"
    shared.mkdir()
    server = servers("--share", str(shared))
    given = upload(server, filename=name, content="x")
    assert given.object["message"] == f"Code finds it as 'input/{saved}'."
    last = name.rpartition("/")[2]
    (shared / last).write_bytes(b"x")
    taken = upload(server, path=str(shared / last), overwrite=True)
    assert taken.object["message"] == f"Code finds it as 'input/{saved.rpartition('/')[2]}'."


@pytest.mark.parametrize("planted", [
    "os.symlink('/tmp', 'input/d')", "os.rename('input', 'old'); os.symlink('/tmp', 'input'); os.mkdir('x')"])
def test_what_a_session_planted_is_not_followed(server, planted):
    server.cell(f"import os\n{planted}")
    escaped = f"ptycell-e2e-escaped-{os.getpid()}"
    name = f"d/{escaped}" if "input/d" in planted else escaped
    assert upload(server, filename=name, content="x", overwrite=True).is_error
    assert not os.path.exists(f"/tmp/{escaped}")


def test_overwriting_a_planted_link_leaves_its_target_alone(server, home):
    target = home / "target"
    target.write_text("mine", encoding="ascii")
    server.cell(f"import os\nos.symlink({str(target)!r}, 'input/l'); os.link({str(target)!r}, 'input/h')")
    for name in ("l", "h"):
        upload(server, filename=name, content="theirs", overwrite=True)
    assert target.read_text(encoding="ascii") == "mine"


def test_an_upload_is_no_change_of_the_next_cell(server):
    upload(server, filename="f", content="x")
    assert changes(server.cell("1")) == []
    assert listed(server) == ["input/f"]


@pytest.mark.parametrize("arguments, said", [
    ({"filename": "f"}, "content"), ({"content": "x"}, "filename"),
    ({"filename": "f", "content": "x", "encoding": "latin-1"}, "encoding"),
    ({"filename": "f", "content": "%%%", "encoding": "base64"}, "base64"),
    ({"filename": "f", "content": [5]}, "content"), ({"filename": "f", "content": "x", "overwrite": "yes"}, "overwrite"),
    ({"filename": "f", "content": "x", "url": "http://x"}, "url")])
def test_a_wrong_argument_is_named_and_writes_nothing(server, arguments, said):
    refused = upload(server, **arguments)
    assert refused.is_error and said in refused.texts[0]
    server.cell("1")
    assert listed(server) == []


# ---- what a cell changed ----

def test_new_changed_deleted_and_renamed(server):
    assert changes(server.cell("import os\nfor n in 'abc': open(n, 'w').write(n)")) == [("+", n) for n in "abc"]
    assert sorted(changes(server.cell("open('a', 'w').write('longer'); os.remove('b'); os.rename('c', 'd')"))) == \
        [("+", "d"), ("-", "b"), ("-", "c"), ("~", "a")]


def test_a_rewrite_of_the_same_size_is_seen(server):
    server.cell("open('f', 'w').write('aaaa')")
    for text in ("bbbb", "cccc", "dddd"):
        assert changes(server.cell(f"open('f', 'w').write('{text}')")) == [("~", "f")]


def test_a_time_set_back_hides_nothing(server):
    server.cell("import os\nopen('f', 'w').write('aaaa'); s = os.stat('f')")
    assert changes(server.cell("open('f', 'w').write('bbbb'); os.utime('f', ns=(s.st_atime_ns, s.st_mtime_ns))")) == \
        [("~", "f")]


def test_a_write_through_a_mapping_is_seen(server):
    server.cell("import mmap\nopen('f', 'wb').write(b'a' * 4096)")
    code = "f = open('f', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'b'; m.flush(); m.close(); f.close()"
    assert changes(server.cell(code)) == [("~", "f")]


@pytest.mark.parametrize("close", ["", "f.close(); "])
def test_what_later_cells_write_through_a_mapping_is_kept(server, home, close):
    if "tmpfs" in subprocess.run(["stat", "-f", "-c", "%T", home], capture_output=True, text=True, check=True).stdout:
        pytest.skip("a memory file system does not show writes through mappings")
    server.cell("import mmap\nf = open('output/m', 'w+b'); n = f.truncate(400_000); m = mmap.mmap(f.fileno(), 0); m[:3] = b'one'; "
                f"{close}n = 0")
    assert changes(server.cell("m[:3] = b'two'")) == [("~", "output/m")]
    assert [path.read_bytes()[:3] for path in kept_files(home)] == [b"two"]
    assert changes(server.cell("1")) == []
    server.cell("import threading; threading.Timer(0.1, lambda: m.__setitem__(slice(0, 3), b'end')).start(); m[:3] = b'thr'")
    server.cell("import time; time.sleep(0.3)")
    server.call("destroy_session", session_id="s")
    until(lambda: [path.read_bytes()[:3] for path in kept_files(home)] == [b"end"])


def test_what_later_cells_write_through_a_mapping_is_kept_in_containers(home):
    """Whose files lie in an overlay: the pages of the mapping are those of the file below it."""
    for name in ("cache", "below", "work"):
        (home / name).mkdir(mode=0o700)
    script = 'cd "$0" && mount -t overlay -o userxattr,lowerdir=below,upperdir=cache,workdir=work none cache && exec "$@"'
    if subprocess.run(own_mounts(script, [str(home)], ["true"]), capture_output=True, check=False).returncode:
        pytest.skip("no overlay here")
    with Server(home, command=own_mounts(script, [str(home)], [str(BUILD.resolve() / "ptycell")])) as server:
        server.cell("import mmap\nf = open('output/m', 'w+b'); n = f.truncate(400_000); m = mmap.mmap(f.fileno(), 0); m[:3] = b'one'")
        assert changes(server.cell("m[:3] = b'two'")) == [("~", "output/m")]
        assert [path.read_bytes()[:3] for path in kept_files(home)] == [b"two"]


def test_a_link_out_of_the_folder_is_listed_and_never_read(server, home):
    (home / "secret").write_text("top secret", encoding="ascii")
    result = server.cell(f"import os\nos.symlink({str(home / 'secret')!r}, 'output/l')")
    assert ("+", "output/l") in changes(result) and not result.links
    message = read(server, "output/l")
    assert "error" in message and "top secret" not in json.dumps(message)
    assert kept_files(home) == []


def test_a_link_to_a_folder_is_not_gone_into(server):
    server.cell("import os\nos.mkdir('d'); open('d/f', 'w').close(); os.symlink('d', 'l'); os.symlink('/etc', 'e')")
    assert sorted(listed(server)) == ["d/f", "e", "l"]
    assert "error" in read(server, "l/f") and "error" in read(server, "e/passwd")


def test_a_fifo_and_a_socket_hold_nothing_up(server):
    result = server.cell("import os, socket\nos.mkfifo('output/fifo')\ns = socket.socket(socket.AF_UNIX)\n"
                         "s.bind('output/sock'); 'done'")
    assert result.text == "'done'\n"
    assert "error" in read(server, "output/fifo") and "error" in read(server, "output/sock")
    assert server.cell("1").text == "1\n"


def test_too_many_files_are_capped_with_a_note(server):
    result = server.cell("import os\nos.mkdir('many')\nfor i in range(20100): open(f'many/{i}', 'w').close()")
    assert "beyond the first 20000" in result.text and "neither listed nor saved" in result.text
    assert result.status["files_more"] > 10_000
    assert "neither listed nor saved" in server.call("list_artifacts", session_id="s").object["note"]
    assert server.cell("2").text.startswith("2\n")


def test_a_tree_too_deep_to_look_at_is_told_as_such(server, home):
    result = server.cell("import os\nos.chdir('output')\nfor i in range(3000): os.mkdir('dd'); os.chdir('dd')\n"
                         "open('f', 'w').close()")
    assert "paths of more than 4095 bytes, are neither listed nor saved" in result.text
    assert kept_files(home) == []


def test_a_file_that_became_a_link_is_refused(server):
    result = server.cell("import os\nopen('f', 'w').write('x')")
    server.cell("os.remove('f'); os.symlink('/etc/passwd', 'f')")
    assert result.links[0]["uri"] == "session://s/files/f"
    assert "error" in read(server, "f")


def test_what_a_background_process_writes_is_the_next_cells_change(server):
    server.cell("import subprocess\np = subprocess.Popen(['sh', '-c', 'read x; echo late > late'], "
                "stdin=subprocess.PIPE)")
    assert changes(server.cell("1")) == []
    assert ("+", "late") in changes(server.cell("_ = p.communicate(b'go\\n')"))


def test_files_that_cannot_be_looked_at_are_told_as_such_and_kept_later(server, home):
    server.cell("1")
    pid = server.process.pid
    all_of_them = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, all_of_them[1]))  # it has 0 to 2 at all times
    result = server.cell("open('output/f', 'w').write('f'); 7")
    assert "7\n" in result.text and "Not all files could be looked at: Too many open files." in result.text
    answer = server.call("list_artifacts", session_id="s")
    assert answer.is_error and "not all files could be looked at: Too many open files" in answer.texts[0]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, all_of_them)
    assert changes(server.cell("1")) == [("+", "output/f")]
    assert [p.name for p in kept_files(home)] == ["f"]


def test_caches_are_not_results(server):
    code = "import os\nfor d in ('.git', '__pycache__', 'node_modules', '.venv'):\n    os.mkdir(d); open(d + '/f', 'w').close()"
    assert changes(server.cell(code)) == []


# ---- list_artifacts ----

def test_patterns_choose_files(server):
    server.cell("import os\nos.makedirs('output/deep')\n"
                "for n in ('a.csv', 'b.txt', 'output/c.csv', 'output/deep/d.csv'): open(n, 'w').close()")
    assert sorted(listed(server, "*.csv")) == ["a.csv", "output/c.csv", "output/deep/d.csv"]
    assert sorted(listed(server, "output/*.csv")) == ["output/c.csv"]
    assert sorted(listed(server, "output/**")) == ["output/c.csv", "output/deep/d.csv"]
    assert listed(server, "nothing*") == []
    workdir = server.call("session_info", session_id="s", config={}).object["workdir"]
    for begin in ("./", workdir + "/"):
        assert sorted(listed(server, begin + "output/*.csv")) == ["output/c.csv"]


def test_a_file_is_told_with_its_size_type_and_uri(server):
    server.cell("open('output/a b.JSON', 'w').write('{}')")
    artifact, = server.call("list_artifacts", session_id="s").object["artifacts"]
    assert artifact == {"path": "output/a b.JSON", "filename": "a b.JSON", "extension": ".json", "size_bytes": 2,
                        "mime_type": "application/json", "uri": "session://s/files/output/a%20b.JSON"}


def test_many_files_come_in_pages_each_once(server):
    server.cell("for i in range(450): open(f'f{i:03}', 'w').close()")
    seen, cursor = [], {}
    while True:
        page = server.call("list_artifacts", session_id="s", **cursor).object
        seen += [a["path"] for a in page["artifacts"]]
        assert len(page["artifacts"]) <= 200
        if not page.get("next_cursor"):
            break
        cursor = {"cursor": page["next_cursor"]}
    assert sorted(seen) == [f"f{i:03}" for i in range(450)]


def test_long_paths_come_in_shorter_pages_each_once(server):
    server.cell("import os\nd = '\"' * 200\nfor n in range(3): os.makedirs('/'.join([str(n), *[d] * 12]))\n"
                "for n in range(3):\n    here = os.getcwd()\n"
                "    for part in [str(n), *[d] * 12]: os.chdir(part)\n"
                "    for i in range(60): open(f'{i:02}', 'w').close()\n    os.chdir(here)")
    seen, cursor = [], {}
    while not seen or cursor:
        page = server.call("list_artifacts", session_id="s", **cursor)
        assert page.object["artifacts"] and len(json.dumps(page.raw)) < 1_000_000
        seen += [a["path"][:1] + a["path"][-2:] for a in page.object["artifacts"]]
        cursor = {"cursor": page.object["next_cursor"]} if page.object.get("next_cursor") else {}
    assert sorted(seen) == [f"{n}{i:02}" for n in range(3) for i in range(60)]


@pytest.mark.parametrize("cursor", ["x", "-1", "99999999999999999999999", ""])
def test_a_cursor_that_is_none_is_refused_or_empty(server, cursor):
    server.cell("1")
    answer = server.call("list_artifacts", session_id="s", cursor=cursor)
    assert answer.is_error or answer.object["artifacts"] == []


# ---- resources ----

def test_text_is_read_as_text_and_bytes_as_a_blob(server):
    server.cell("open('t.csv', 'w').write('\u00fc,1\\n'); open('b.bin', 'wb').write(bytes(range(256)))\n"
                "open('bad.txt', 'wb').write(b'\\xff\\xfe')")
    assert content(read(server, "t.csv"))["text"] == "\u00fc,1\n"
    assert base64.b64decode(content(read(server, "b.bin"))["blob"]) == bytes(range(256))
    assert base64.b64decode(content(read(server, "bad.txt"))["blob"]) == b"\xff\xfe"


def test_a_large_file_is_read_in_ranges(server):
    server.cell("open('big', 'wb').write(bytes(i % 251 for i in range(1_500_000)))")
    whole = bytes(i % 251 for i in range(1_500_000))
    refused = read(server, "big")
    assert refused["error"]["code"] == -32602 and "?offset=0&length=" in refused["error"]["message"]
    got, step = b"", int(re.search(r"length=(\d+)", refused["error"]["message"])[1])
    while len(got) < len(whole):
        piece = base64.b64decode(content(read(server, "big", f"?offset={len(got)}&length={step}"))["blob"])
        assert 0 < len(piece) <= step
        got += piece
    assert got == whole
    assert content(read(server, "big", "?offset=9999999&length=5"))["blob"] == ""


@pytest.mark.parametrize("text", ['"' * 690_000, "\x01" * 200_000, "a,b\n" * 170_000])
def test_text_that_json_blows_up_is_read_all_the_same(server, text):
    server.cell(f"open('t.txt', 'w').write({text[:4]!r} * {len(text) // 4})")
    got = content(read(server, "t.txt"))
    assert got.get("text", base64.b64decode(got.get("blob", "")).decode()) == text


@pytest.mark.parametrize("query", ["?offset=-1", "?length=x", "?offset=1;", "?size=5", "?offset=99999999999999999999999"])
def test_a_range_that_is_none_is_refused(server, query):
    server.cell("open('f', 'w').write('x')")
    assert "error" in read(server, "f", query)


def test_the_fixed_resources_are_listed_and_readable(server):
    server.cell("1", session="sales")
    uris = [r["uri"] for r in server.request("resources/list")["resources"]]
    assert uris == ["ptycell://guide", "sessions://", "session://sales", "session://sales/notebook"]
    for uri in uris:
        one, = server.request("resources/read", {"uri": uri})["contents"]
        assert one["uri"] == uri and one["text"]
    assert "pandas" in server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]["text"]
    assert read(server, "f", session="nobody")["error"]


def resource_pages(server, **params):
    """All pages of resources/list, or those from a cursor on."""
    pages = []
    while True:
        result = server.request("resources/list", params)
        pages.append(result["resources"])
        if "nextCursor" not in result:
            return pages
        params = {"cursor": result["nextCursor"]}


def test_results_are_listed_as_resources_that_can_be_read(server):
    server.cell("import os\nos.makedirs('output/d e'); open('output/d e/\u00fc.csv', 'w').write('x')\n"
                "open('elsewhere', 'w').close(); os.symlink('/etc/passwd', 'output/link')", session="a")
    server.cell("open('output/b.png', 'wb').write(b'png')", session="b")
    (page,) = resource_pages(server)
    files = {r["uri"]: r for r in page if "/files/" in r["uri"]}
    assert set(files) == {"session://a/files/output/d%20e/%C3%BC.csv", "session://b/files/output/b.png"}
    csv = files["session://a/files/output/d%20e/%C3%BC.csv"]
    assert (csv["name"], csv["mimeType"], csv["size"]) == ("output/d e/\u00fc.csv", "text/csv", 1)
    assert server.request("resources/read", {"uri": csv["uri"]})["contents"][0]["text"] == "x"


def test_many_resources_come_in_pages(server):
    server.cell("for i in range(450): open(f'output/{i:03}', 'w').close()", session="a")
    server.cell("open('output/last', 'w').close()", session="b")
    pages = resource_pages(server)
    uris = [r["uri"] for page in pages for r in page]
    assert len(pages) == 3 and max(map(len, pages)) == 200 and len(uris) == len(set(uris))
    assert [u for u in uris if "/files/" in u] == [f"session://a/files/output/{i:03}" for i in range(450)] + \
        ["session://b/files/output/last"]
    for cursor in ("x", "a:x", "a/x", "/", "", "a:0"):
        assert server.start("resources/list", {"cursor": cursor}).get()["error"]["code"] == -32602


def test_no_resource_that_is_still_there_is_skipped_when_others_go(server):
    server.cell("import os\nfor i in range(450): open(f'output/{i:03}', 'w').close()", session="a")
    for session in "bc":
        server.cell(f"open('output/of {session}', 'w').close()", session=session)
    first = server.request("resources/list")
    server.cell("for i in range(40): os.remove(f'output/{i:03}')\nos.remove('output/195')", session="a")
    rest = resource_pages(server, cursor=first["nextCursor"])
    told = {r["uri"].partition("/files/output/")[2] for page in [first["resources"], *rest] for r in page}
    assert told >= {f"{i:03}" for i in range(450)} | {"of%20b", "of%20c"}
    server.call("destroy_session", session_id="a")
    last = {r["uri"] for page in resource_pages(server, cursor=first["nextCursor"]) for r in page}
    assert last >= {"session://b/files/output/of%20b", "session://c/files/output/of%20c"}


def test_no_file_of_a_list_that_is_still_there_is_skipped_when_others_go(server):
    server.cell("import os\nfor i in range(450): open(f'f{i:03}', 'w').close()")
    page = server.call("list_artifacts", session_id="s").object
    server.cell("for i in range(40): os.remove(f'f{i:03}')")
    told = {a["path"] for a in page["artifacts"]}
    while page.get("next_cursor"):
        page = server.call("list_artifacts", session_id="s", cursor=page["next_cursor"]).object
        told |= {a["path"] for a in page["artifacts"]}
    assert told == {f"f{i:03}" for i in range(450)}


def test_a_name_with_a_secret_has_a_uri_by_which_it_can_be_read(home):
    with Server(home, env={"PTYCELL_SECRET_TOKEN": "hunter2hunter2"}) as server:
        server.cell("open('output/a hunter2hunter2.txt', 'w').write('mine')\nfor i in range(300): open(f'output/a {i:03}', 'w').close()")
        uris = [r["uri"] for page in resource_pages(server) for r in page]
        (uri,) = (u for u in uris if "TOKEN" in u)
        assert "hunter2" not in str(uris) and "[" not in uri and len([u for u in uris if "/files/" in u]) == 301
        assert content(server.start("resources/read", {"uri": uri}).get())["text"] == "mine"
        (artifact,) = server.call("list_artifacts", session_id="s", pattern="**/*.txt").object["artifacts"]
        assert artifact["uri"] == uri


def test_long_names_do_not_make_a_line_that_is_too_long(server):
    server.cell("import os\np = 'output/' + '/'.join(['\u00fc' * 100] * 18)\nos.makedirs(p)\n"
                "for i in range(60): open(f'{p}/{i:03}', 'w').close()", session="a")
    pages = resource_pages(server)
    assert len(pages) > 1 and sum("/files/" in r["uri"] for page in pages for r in page) == 60
    assert all(len(json.dumps(page)) < 1_000_000 for page in pages)


# ---- kept copies ----

def test_results_are_kept_in_a_folder_of_their_own_for_their_owner_only(server, home):
    result = server.cell("import os\nos.mkdir('output/d'); open('output/d/r.txt', 'w').write('r')\n"
                         "open('input/elsewhere.txt', 'w').write('e')\nos.chmod('output/d/r.txt', 0o777)")
    copy, = kept_files(home)
    assert copy.read_text(encoding="ascii") == "r" and copy.stat().st_mode & 0o777 == 0o600
    folder = copy.parent.parent
    assert re.fullmatch(rf"{datetime.date.today()}-s-[a-z0-9]{{4}}", folder.name)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert result.status["saved"] == f"~/kept/{folder.name}"
    assert server.call("session_info", session_id="s").object["keep_dir"] == f"~/kept/{folder.name}"


def test_without_results_there_is_no_folder(server, home):
    assert "saved" not in server.cell("open('input/f', 'w').write('x')").status
    assert kept_files(home) == []


WRITE_LATER = ("import subprocess\nopen('output/log', 'w').write('first\\n')\n"
               "p = subprocess.Popen(['sh', '-c', 'until [ -e input/go ]; do sleep 0.01; done; echo last >> output/log; "
               "mkdir output/d; echo r > output/d/result; echo b > beside; touch .done'])")
LATER = {"log": "first\nlast\n", "result": "r\n", "beside": "b\n"}


def texts_kept(home):
    return {path.name: path.read_text(encoding="ascii") for path in kept_files(home)}


def write_later(server, home):
    """A process wrote to output/ after its cell's end, and no cell came after it."""
    server.cell(WRITE_LATER)
    assert texts_kept(home) == {"log": "first\n"}
    folder, = session_folders(home)
    (folder / "input/go").touch()
    until((folder / ".done").exists)


def test_holes_of_a_file_are_kept_as_holes(server, home):
    """Security 14: a gigabyte of holes was a gigabyte of disk in the folder of results."""
    server.cell("with open('output/sparse', 'wb') as f:\n    f.write(b'first'); f.seek(64 << 20); f.write(b'last'); f.truncate(128 << 20)")
    copy, = kept_files(home)
    found = copy.stat()
    assert found.st_size == 128 << 20 and found.st_blocks * 512 < 1 << 20
    with copy.open("rb") as file:
        assert file.read(6) == b"first\0" and file.seek(64 << 20) and file.read(5) == b"last\0"


@pytest.mark.parametrize("end", ["destroy", "end of input", "signal"])
def test_what_the_background_wrote_after_the_last_cell_is_kept_at_the_end(home, end):
    with Server(home) as server:
        write_later(server, home)
        if end == "destroy":
            server.call("destroy_session", session_id="s")
        elif end == "signal":
            server.process.terminate()
        server.close()
    assert texts_kept(home) == LATER


def test_what_the_background_wrote_is_kept_with_the_next_cell_also_when_it_was_listed_before(server, home):
    write_later(server, home)
    assert "output/d/result" in listed(server)
    assert "saved" in server.cell("1").status
    assert texts_kept(home) == LATER


def test_kept_copies_outlive_deletion_and_destruction(server, home):
    server.cell("import os\nopen('output/r', 'w').write('r')")
    server.cell("os.remove('output/r')")
    server.call("destroy_session", session_id="s")
    assert [p.read_text(encoding="ascii") for p in kept_files(home)] == ["r"]


def test_a_file_that_becomes_a_folder_and_the_reverse_are_kept_beside(server, home):
    server.cell("import os, shutil\nopen('output/a', 'w').write('file')\n"
                "os.mkdir('output/b'); open('output/b/r', 'w').write('below b')")
    result = server.cell("os.remove('output/a'); os.mkdir('output/a'); open('output/a/r', 'w').write('below a')\n"
                         "shutil.rmtree('output/b'); open('output/b', 'w').write('file')")
    assert "not saved" not in result.text
    server.call("destroy_session", session_id="s")
    copies = kept_files(home)
    folder = copies[0].parent
    assert {str(copy.relative_to(folder)): copy.read_text(encoding="ascii") for copy in copies} == {
        "a": "file", "a-2/r": "below a", "b/r": "below b", "b-2": "file"}


def test_a_file_that_the_person_put_there_is_never_overwritten(server, home):
    server.cell("open('output/a', 'w').write('a')")
    folder = kept_files(home)[0].parent
    (folder / "b").write_text("the person's", encoding="ascii")
    server.cell("open('output/b', 'w').write('the session\\'s')")
    assert (folder / "b").read_text(encoding="ascii") == "the person's"
    assert "the session's" in [p.read_text(encoding="ascii") for p in kept_files(home)]


def test_links_are_not_followed_into_the_copies(server, home):
    server.cell("import os\nos.symlink('/etc/passwd', 'output/p'); os.symlink('/etc', 'output/e')\n"
                "open('output/real', 'w').write('x')")
    assert [p.name for p in kept_files(home)] == ["real"]


def test_a_quota_stops_the_copies_and_says_so(home):
    with Server(home, env={"PTYCELL_KEEP_MAX": "1M"}) as server:
        server.cell("open('output/a', 'wb').write(b'x' * 700_000)")
        result = server.cell("open('output/b', 'wb').write(b'x' * 700_000)")
        assert "saved" in result.text or "kept" in result.text
        assert sum(p.stat().st_size for p in kept_files(home)) <= 1_048_576
        assert server.cell("len(open('output/b').read())").text == "700000\n"


@pytest.mark.parametrize(("count", "said"), [(1, r"\(PTYCELL_KEEP_MAX\)"),
                                            (3, r"\(PTYCELL_KEEP_MAX\)\. Also not saved: 'b', 'c'"),
                                            (6, r"\(PTYCELL_KEEP_MAX\)\. Also not saved: 'b', 'c', 'd' and 2 more")])
def test_each_result_that_is_not_kept_is_named_or_counted(home, count, said):
    with Server(home, env={"PTYCELL_KEEP_MAX": "1M"}) as server:
        result = server.cell(f"for n in 'abcdef'[:{count}]: open('output/' + n, 'wb').write(b'x' * 2_000_000)\n"
                             "open('output/r', 'w').write('r')")
        assert re.search(rf"'a' was not saved: .*{said}\.\n", result.text), result.text
        assert [path.name for path in kept_files(home)] == ["r"]


def test_keeping_can_be_off(home):
    with Server(home, env={"PTYCELL_KEEP": "off"}) as server:
        assert "saved" not in server.cell("open('output/r', 'w').write('r')").status
        assert server.call("session_info", session_id="s").object["keep_dir"] is None
    assert not (home / "kept").exists()


def test_a_folder_that_cannot_be_made_is_told_and_costs_no_answer(home):
    (home / "kept").write_text("a file", encoding="ascii")
    with Server(home) as server:
        result = server.cell("open('output/r', 'w').write('r'); 7")
        assert result.state == "done" and "7\n" in result.text and "saved" not in result.status
        assert "Not everything was saved for the user: copying failed: " in result.text
        assert not re.search(r"[^.]\.\.\n", result.text)


def test_what_could_not_be_kept_is_tried_again_after_the_next_cell(home):
    (home / "kept").write_text("a file", encoding="ascii")
    with Server(home) as server:
        assert "Not everything was saved" in server.cell("open('output/r', 'w').write('r')").text
        still = server.cell("1")
        assert still.text == "1\n" and "saved" not in still.status
        (home / "kept").unlink()
        assert "saved" in server.cell("2").status
        assert [p.read_text(encoding="ascii") for p in kept_files(home)] == ["r"]


def test_what_could_not_be_kept_is_named_at_the_end_and_tried_a_last_time(home):
    (home / "kept").write_text("a file", encoding="ascii")
    with Server(home) as server:
        server.cell("for n in 'abc': open('output/' + n, 'w').write(n)")
        (home / "kept").unlink()
        answer = server.call("destroy_session", session_id="s")
        assert "not saved so far, and tried once more: 'output/a' and 2 more" in answer.object["message"]
        until(lambda: [p.name for p in kept_files(home)] == ["a", "b", "c"])


def test_a_notebook_that_could_not_be_kept_is_tried_again_at_the_end(home):
    (home / "kept").write_text("a file", encoding="ascii")
    with Server(home) as server:
        server.cell("1")
        until(lambda: b"the notebook: copying failed" in server.stderr)
        (home / "kept").unlink()
        server.call("destroy_session", session_id="s")
        until(lambda: paths_in(home, "kept/*/notebook.ipynb"))


def test_a_result_that_is_gone_or_too_large_is_not_tried_again(home):
    with Server(home, env={"PTYCELL_KEEP_MAX": "1M"}) as server:
        result = server.cell("import os\nopen('output/big', 'wb').write(b'x' * 2_000_000)\n"
                             "open('output/r', 'w').write('r')")
        assert "PTYCELL_KEEP_MAX" in result.text
        answer = server.call("destroy_session", session_id="s")
        assert "not saved so far" not in answer.object["message"]


def test_a_limit_of_file_sizes_is_told_and_ends_nothing(home):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    with Server(home, preexec_fn=limit) as server:
        answer = server.call("upload_file", session_id="s", filename="f", content="x" * 100_000)
        assert answer.is_error and "File too large" in answer.texts[0]
        assert server.cell("print('x' * 100_000)").state == "done"


def test_a_cells_many_results_are_all_kept(server, home):
    server.cell("for i in range(1200): open(f'output/{i:04}', 'w').write(str(i))")
    until(lambda: len(kept_files(home)) == 1200)


def test_uploads_and_scratch_are_gone_with_the_session(server, home):
    upload(server, filename="f", content="x")
    (folder,) = session_folders(home)
    assert (folder / "input/f").exists()
    server.call("destroy_session", session_id="s")
    until(lambda: not folder.exists())


NFC, NFD = "データ é.csv", "テ\u3099ータ e\u0301.csv"


def test_what_comes_gets_the_form_that_models_write(server):
    assert upload(server, filename=NFD, content="a\n1\n").object["saved_path"].endswith("/input/" + NFC)
    assert upload(server, filename=NFC, content="").is_error
    assert server.cell(f"open('input/{NFC}').read()").text == "'a\\n1\\n'\n"


def test_a_file_of_macos_comes_by_either_form_of_its_path(servers, tmp_path):
    share = tmp_path / "share"
    (share / "e\u0301").mkdir(parents=True)
    (share / "e\u0301" / NFD).write_text("mine")
    server = servers("--share", str(share))
    for name in (f"é/{NFC}", f"e\u0301/{NFD}"):
        result = upload(server, path=str(share / name), overwrite=True)
        assert result.object["saved_path"].endswith("/input/" + NFC), result.texts


@pytest.mark.parametrize("name", [NFC, NFD])
def test_files_of_code_are_found_by_either_form(server, name):
    server.cell(f"import os; os.mkdir('output/e\u0301'); open('output/e\u0301/{NFD}', 'w').write('a\\n1\\n')")
    assert listed(server, f"output/*/{name}") == [f"output/e\u0301/{NFD}"]
    assert content(read(server, urllib.parse.quote("output/é/" + name)))["text"] == "a\n1\n"


# ---- what lies beside output/ (user-day B2) ----

def kept_paths(home):
    """Of the only session, relative to its folder."""
    (top,) = paths_in(home, "kept/*/")
    return {str(path.relative_to(top)): path.read_text() for path in kept_files(home)}


def test_new_files_of_the_working_folder_are_kept_and_renewed(server, home):
    result = server.cell("import os; os.makedirs('a/b'); open('clean.csv', 'w').write('1'); open('a/b/c', 'w').write('c'); "
                         "open('output/o', 'w').write('o')")
    assert kept_paths(home) == {"files/clean.csv": "1", "files/a/b/c": "c", "o": "o"}
    assert "saved" in result.status and "Not saved" not in result.text
    server.cell("open('clean.csv', 'w').write('22'); open('input/i', 'w').write('i')")
    assert kept_paths(home) == {"files/clean.csv": "22", "files/a/b/c": "c", "o": "o"}


def test_a_result_named_files_is_not_mixed_with_them(server, home):
    server.cell("import os; os.mkdir('output/files'); open('output/files/a', 'w').write('result'); open('a', 'w').write('beside')")
    assert kept_paths(home) == {"files/a": "result", "files-2/a": "beside"}


@pytest.mark.parametrize("code, name, why", [
    ("os.makedirs('r/.git'); os.mkdir('r/d'); open('r/d/x', 'w')", "r/d/x", "in a repository"),
    ("os.makedirs('b/objects'); open('b/HEAD', 'w')", "b/HEAD", "in a repository"),
    ("os.makedirs('v/lib'); open('v/pyvenv.cfg', 'w')", "v/pyvenv.cfg", "in a virtual environment"),
    ("os.mkdir('c'); open('c/CACHEDIR.TAG', 'w')", "c/CACHEDIR.TAG", "in a cache"),
    ("os.mkdir('h'); open('h/.env', 'w')", "h/.env", "hidden"),
    ("os.mkdir('t'); [open(f't/{n:03}', 'w').close() for n in range(201)]", "t/000", "too many new files in one cell"),
])
def test_what_is_no_result_is_not_kept_and_that_is_told(server, home, code, name, why):
    text = server.cell(f"import os; {code}; open('mine', 'w').close()").text
    more = " and 200 more" if why.startswith("too many") else ""
    assert f"Not saved for the user: '{name}' ({why}){more}. Write to output/ what they should have.\n" in text
    assert list(kept_paths(home)) == ["files/mine"]


def test_what_programs_write_for_themselves_is_not_kept_nor_told(server, home):
    text = server.cell("import os\nfor path in ('.npm/_logs/l', 'a/.cache/c', 'a/__pycache__/m.pyc', 'node_modules/p/i.js', 'mine'):\n"
                       "    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)\n    open(path, 'w').close()").text
    assert "Not saved" not in text
    assert list(kept_paths(home)) == ["files/mine"]


def test_two_hundred_files_of_a_folder_are_kept(server, home):
    server.cell("import os; os.mkdir('t'); [open(f't/{n}', 'w').close() for n in range(200)]")
    assert len(kept_paths(home)) == 200


def test_names_that_run_something_are_altered_beside_output_as_well(server, home):
    assert "Saved under another name: 'mise.toml' as 'files/_mise.toml'" in server.cell("open('mise.toml', 'w').close()").text
    assert list(kept_paths(home)) == ["files/_mise.toml"]


def test_a_notebook_that_code_writes_is_not_the_sessions(server, home):
    server.cell("open('notebook.ipynb', 'w').write('mine')")
    server.close()
    (top,) = paths_in(home, "kept/*/")
    assert (top / "files/notebook.ipynb").read_text() == "mine" and "nbformat" in (top / "notebook.ipynb").read_text()


def test_what_the_background_writes_beside_output_is_kept(server, home):
    server.cell("import subprocess; p = subprocess.Popen(['sh', '-c', 'read x; echo late >late'], stdin=subprocess.PIPE)")
    server.cell("_ = p.communicate(b'go\\n')")
    assert kept_paths(home) == {"files/late": "late\n"}


def test_where_models_of_claude_write_is_output(server, home):
    server.cell("open('/mnt/user-data/outputs/a', 'w').write('x')")
    assert kept_paths(home) == {"a": "x"}
    upload(server, filename="i", content="in")
    assert server.cell("open('/mnt/user-data/uploads/i').read()").text == "'in'\n"
