# SPDX-License-Identifier: MIT
"""The report beside the kept notebook: when it is drawn, and whose file it is."""
import html
import json
import os
import re
import shutil
import stat
import urllib.parse

import pytest
from client import Server
from patience import until
from steps import paths_in, session_folders

QUIET_S = 10  # REPORT_QUIET_MS
PNG = """import zlib, struct
def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
class Dot:
    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) + \\
        chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b'')
Dot()"""


def reports(home, session="s"):
    return {path.name: path.read_text() for path in paths_in(home, f"kept/*-{session}-*/*.html")}


def report(home, session="s"):
    (text,) = reports(home, session).values()
    return text


def test_the_report_is_drawn_when_a_session_ends(home):
    with Server(home) as server:
        server.cell("print('one'); open('output/a', 'w').write('a')")
        server.cell("1/0", session="destroyed")
        server.call("destroy_session", session_id="destroyed")
        until(lambda: reports(home, "destroyed"))
        assert not reports(home)
        server.cell("print('two')")
    text = report(home)
    assert "print(&#39;one&#39;)" in text and "print(&#39;two&#39;)" in text and "<dd>~/kept/" in text
    assert "ZeroDivisionError: division by zero" in report(home, "destroyed")
    assert stat.S_IMODE(paths_in(home, "kept/*-s-*/report.html")[0].stat().st_mode) == 0o600


def test_the_report_is_drawn_in_a_quiet_moment(home):
    with Server(home) as server:
        server.cell("print('one')")
        until(lambda: reports(home), seconds=QUIET_S * 6)
        folder, = paths_in(home, "kept/*/")
        server.cell("print('two')")
        assert "two" not in report(home)
        until(lambda: "two" in report(home), seconds=QUIET_S * 6)
        assert sorted(os.listdir(folder)) == [".ptycell", "notebook.ipynb", "report.html"]


def test_a_report_that_the_user_changed_stays(home):
    with Server(home) as server:
        server.cell("1")
        until(lambda: reports(home), seconds=QUIET_S * 6)
        path, = paths_in(home, "kept/*/report.html")
        path.write_text(path.read_text().replace("Session", "My own"))
        server.cell("print('two')")
    texts = reports(home)
    assert sorted(texts) == ["report-2.html", "report.html"]
    assert "My own" in texts["report.html"] and "two" not in texts["report.html"] and "two" in texts["report-2.html"]


def test_the_next_server_finishes_the_report(home):
    with Server(home) as server:
        server.cell("print('one')")
        server.cell("open('output/report.html', 'w').write('mine')")
        server.start_cell("print('begun', flush=True)\nwhile True: pass")
        until(lambda: server.call("session_info", session_id="s").object["state"] == "running")
        folder, = session_folders(server.home)
        server.process.kill()
        server.process.wait()
    with Server(home) as server:
        server.cell("1", session="next")
        until(lambda: not folder.exists() and "ptycell.html" in reports(home))
    texts = reports(home)
    assert sorted(texts) == ["ptycell.html", "report.html"] and texts["report.html"] == "mine"
    assert "print(&#39;one&#39;)" in texts["ptycell.html"] and ">killed</span>" in texts["ptycell.html"]


@pytest.mark.parametrize("setting", ["--notebook=off", "--keep=off", "--record=off"])
def test_no_report_is_drawn_where_none_is_wanted(home, setting):
    with Server(home, setting) as server:
        server.cell("open('output/a', 'w').write('a')")
    assert not reports(home)


def test_the_next_life_of_a_session_goes_on_in_the_same_report(home):
    for text in ("yesterday", "today"):
        with Server(home, env={"PTYCELL_RESUME": "1d"}) as server:
            server.cell(f"print('{text}')")
    assert list(reports(home)) == ["report.html"]
    assert "yesterday" in report(home) and "today" in report(home)


# ---- the page of all sessions ----

def index(home):
    return (home / "kept/index.html").read_text()


def test_the_page_of_the_root_lists_sessions_newest_first(home):
    with Server(home) as server:
        server.cell("1", session="first")
        server.cell(PNG, session="second")
        server.call("upload_file", session_id="none", filename="a", content="a")
        server.call("destroy_session", session_id="second")
        until(lambda: (home / "kept/index.html").exists() and ">second</a>" in index(home))
        assert ">first</a>" not in index(home)
        server.cell("open('output/.ptycell', 'w').write('{\"session_id\": \"forged\"}')", session="first")
        server.cell("2", session="first")
    text = index(home)
    assert -1 < text.index(">first</a>") < text.index(">second</a>") and "none" not in text.partition("<body>")[2]
    first, second = (paths_in(home, f"kept/*-{name}-*")[0].name for name in ("first", "second"))
    assert f'<a href="{first}/report.html">' in text
    assert f'<a href="{second}/report.html"><img class="thumb" loading="lazy" alt="" src="{second}/cell-1-figure-1.png">' in text
    assert "forged" not in text and (home / "kept" / first / "_.ptycell").exists()
    assert stat.S_IMODE((home / "kept/index.html").stat().st_mode) == 0o600
    assert paths_in(home, "kept/*-none-*") == []


def test_servers_that_end_at_once_lose_no_session_of_the_page(home):
    servers = [Server(home) for _ in range(4)]
    for n, server in enumerate(servers):
        server.cell("1", session=f"s{n}")
    for server in servers:
        server.process.stdin.close()
    for server in servers:
        server.close()
    until(lambda: all(f">s{n}</a>" in index(home) for n in range(4)))


def test_a_folder_that_the_user_removed_leaves_the_page(home):
    with Server(home) as server:
        for name in ("first", "second"):
            server.cell("1", session=name)
            server.call("destroy_session", session_id=name)
            until(lambda name=name: (home / "kept/index.html").exists() and f">{name}</a>" in index(home))
            shutil.rmtree(paths_in(home, f"kept/*-{name}-*")[0])
    assert ">first</a>" not in index(home)


# ---- titles ----

def test_a_title_names_folder_report_and_cell(home):
    with Server(home) as server:
        title = "Umsätze: 2025/26 *nach* <b>Monat</b>\n\u202e" + "x" * 200
        server.call("exec_code", session_id="s", code="open('output/a', 'w').write('a')", title=title)
        server.call("exec_code", session_id="s", code="2", title="The second")
        server.call("exec_code", session_id="s", code="3", title=" \t")
        shown = "Umsätze: 2025/26 *nach* <b>Monat</b> "
        cell = json.loads(server.request("resources/read", {"uri": "session://s/cells/1"})["contents"][0]["text"])
        assert cell["title"].startswith(shown) and len(cell["title"]) <= 120
        assert server.call("session_info", session_id="s").object["keep_dir"].split("/")[-1].count("Umsätze-2025-26-nach-b-Monat") == 1
    (folder,) = paths_in(home, "kept/*/")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-Umsätze-2025-26-nach-b-Monat-b-[\w.-]*-s-\w{4}", folder.name)
    text = (folder / "report.html").read_text()
    assert f"<h1>{html.escape(shown)}" in text and "<dt>Session</dt><dd>s</dd>" in text
    assert f"<h2>Cell 1: {html.escape(shown)}" in text and "<h2>Cell 2: The second\n" in text and "<h2>Cell 3\n" in text
    book = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    assert [cell["source"] for cell in book if cell["id"] == "title-2"] == ["### The second"]
    assert [cell["source"][:32] for cell in book if cell["id"] == "title-1"] == ["### Umsätze\\: 2025\\/26 \\*nach\\* "]
    assert f">{html.escape(shown)}" in index(home)
    assert f'href="{urllib.parse.quote(folder.name)}/report.html"' in index(home)


def test_a_title_after_the_first_result_leaves_the_folder(home):
    with Server(home) as server:
        server.cell("open('output/a', 'w').write('a')")
        (before,) = paths_in(home, "kept/*/")
        server.call("exec_code", session_id="s", code="1", title="Late")
    assert paths_in(home, "kept/*/") == [before] and "<h1>Late</h1>" in report(home)


def test_no_secret_is_in_a_title(home):
    with Server(home, env={"PTYCELL_SECRET_TOKEN": "hunter2-hunter2"}) as server:
        server.call("exec_code", session_id="s", code="1", title="With hunter2-hunter2 in it")
    (folder,) = paths_in(home, "kept/*/")
    assert "hunter2" not in folder.name + report(home) + index(home) and "With-secret-TOKEN-in-it" in folder.name
    assert "<h1>With [secret TOKEN] in it</h1>" in report(home)


def test_no_beginning_of_a_secret_is_at_the_end_of_a_title(home):
    with Server(home, env={"PTYCELL_SECRET_TOKEN": "hunter2-hunter2"}) as server:
        server.cell("1", title="x" * 110 + "hunter2-hunter2 and more")
    assert "hunt" not in report(home)


def test_a_title_is_text(home):
    with Server(home) as server:
        assert "arguments.title" in server.call("exec_code", session_id="s", code="1", title=["a"]).texts[0]
