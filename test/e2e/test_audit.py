# SPDX-License-Identifier: MIT
"""The audit beside its cells: sessions, files, packages, hosts, limits, typed input, questions."""
import hashlib
import json
import socket

import pytest
from client import LASTS, Server
from fetching import Site, body
from patience import until
from steps import journal_events, paths_in
from storages import S3
from test_elicit import connect


COMMON = {"v", "seq", "time", "instance", "client", "session_id", "generation", "kept_folder", "event"}


class Audited(Server):
    """A server with an audit file."""

    def __init__(self, home, *args, **options):
        self.path = home / "audit.jsonl"
        super().__init__(home, "--audit", str(self.path), *args, **options)

    def lines(self, *events):
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        return [line for line in lines if not events or line["event"] in events]


def test_a_session_is_recorded_from_its_making_to_its_end(home):
    with Audited(home) as server:
        server.cell("import os; os._exit(3)")
        server.cell("1")
        server.call("destroy_session", session_id="s")
        server.cell("2", session="t")
    told = [(line["event"], line["session_id"], line["generation"], line.get("why")) for line in server.lines()
            if line["event"] not in ("began", "ended")]
    assert [row[:3] for row in told] == [
        ("session_created", "s", 1), ("session_reset", "s", 2), ("session_destroyed", "s", 2), ("session_created", "t", 1),
        ("session_ended", "t", 1)]
    assert "exit" in told[1][3] and told[2][3] == "it was destroyed on request" and told[4][3] == "its server ended"
    last = server.lines()[-2:]
    assert [line["event"] for line in last] == ["ended", "session_ended"]


def test_what_was_uploaded_is_recorded_with_where_it_came_from(home):
    (home / "data").mkdir()
    (home / "data" / "a.csv").write_text("1,2\n")
    with Site({"/w": body(b"12345")}) as site, \
            Audited(home, "--share", str(home / "data"), "--allow-private-hosts") as server:
        server.call("upload_file", session_id="s", filename="t.txt", content="text")
        server.call("upload_file", session_id="s", filename="t.txt", content="other")
        server.call("upload_file", session_id="s", path=str(home / "data" / "a.csv"))
        server.call("upload_file", session_id="s", filename="w", url=site.url("/w?key=hidden"))
    text, again, path, web = server.lines("upload")
    assert (text["from"], text["path"], text["size_bytes"], text["sha256"]) == (
        "content", "input/t.txt", 4, hashlib.sha256(b"text").hexdigest())
    assert again["problem"] and "size_bytes" not in again
    assert (path["from"], path["source"], path["path"], path["size_bytes"], path["sha256"]) == (
        "path", str(home / "data" / "a.csv"), "input/a.csv", 4, hashlib.sha256(b"1,2\n").hexdigest())
    assert (web["from"], web["source"], web["path"], web["size_bytes"], web["sha256"]) == (
        "url", site.url("/w"), "input/w", 5, hashlib.sha256(b"12345").hexdigest())


def test_typed_input_is_one_line_a_cell_and_what_is_hidden_is_not_in_it(home):
    with Audited(home) as server:
        result = server.cell("import getpass\na = input('a? ')\nb = input('b? ')\nc = getpass.getpass('c? ')")
        for answer in ("one", "two", "very hidden"):
            assert result.state == "waiting_for_input"
            result = server.interact(input=answer)
        assert result.state == "done"
    line, = server.lines("typed")
    assert (line["cell"], line["language"], line["count"], line["input"]) == (1, "python", 3, "one\ntwo\n[hidden input]\n")
    assert line["bytes"] == len("one\ntwo\nvery hidden\n") and "very hidden" not in server.path.read_text()
    events = [line["event"] for line in server.lines()]
    assert events.index("typed") < events.index("ended")


def test_a_limit_that_the_server_held_is_recorded(home):
    with Audited(home) as server:
        server.cell("while True: pass", timeout=0.5)
    line, = server.lines("limits")
    assert (line["cell"], line["limits"], line["count"]) == (1, ["timeout"], 1)


@pytest.mark.parametrize("modern", [False, True])
def test_a_question_to_the_user_is_recorded_and_its_answer_is_typed_input(home, modern):
    person = connect(home, modern, env={"PTYCELL_AUDIT": str(home / "audit.jsonl")})
    with person.server:
        person.cell("name = input('Name? ')")
        person.question()
        person.answer("Ada")
        person.result()
    lines = [json.loads(line) for line in (home / "audit.jsonl").read_text().splitlines()]
    question, = (line for line in lines if line["event"] == "question")
    typed, = (line for line in lines if line["event"] == "typed")
    assert (question["cell"], question["language"], question["answer"]) == (1, "python", "accept")
    assert typed["input"] == "Ada\n"


def test_results_in_a_storage_and_their_links_are_recorded(home, tmp_path):
    with S3(tmp_path) as storage, Audited(home, env=storage.environment()) as server:
        server.cell("open('output/a.txt', 'w').write('four')")
        until(lambda: server.lines("link_signed"))
    stored, = server.lines("result_stored")
    signed, = server.lines("link_signed")
    assert (stored["session_id"], stored["path"], stored["size_bytes"]) == ("s", "output/a.txt", 4)
    assert signed["path"] == "output/a.txt" and signed["name"] == stored["name"] and signed["expires"].endswith("Z")
    assert "Signature" not in server.path.read_text()


def test_hosts_are_one_line_a_cell(home):
    with Audited(home, "--hosts", "ok.test") as server:
        if server.call("session_info", session_id="s", config={}).object["confinement"]["network"]["mode"] == "none":
            pytest.skip("no tier with a network of its own here")
        server.cell("import urllib.request\nfor n in range(2):\n  try: urllib.request.urlopen('http://no.test/')\n"
                    "  except OSError: pass")
        until(lambda: 2 == sum(row["refused"] for row in server.call("session_info", session_id="s").object["confinement"][
            "network"]["requests"]))
        server.cell("1")
    hosts = [row for line in server.lines("hosts") for row in line["hosts"]]
    assert {row["host"] for row in hosts} == {"no.test:80"}
    assert sum(row["refused"] for row in hosts) == 2 == sum(line["count"] for line in server.lines("hosts"))


@pytest.mark.parametrize("audited", [True, False])
def test_the_journal_has_what_the_audit_has(home, audited):
    """Also without an audit."""
    options = ("--hosts", "ok.test", "--allow-private-hosts")
    with (Audited if audited else Server)(home, *options, env=LASTS) as server:
        server.call("upload_file", session_id="s", filename="t.txt", content="text")
        server.call("upload_file", session_id="s", filename="t.txt", content="other")
        server.call("upload_file", session_id="s", filename="w", url="http://127.0.0.1:1/w?key=hidden")
        server.cell("while True: pass", timeout=0.5)
        server.cell("import urllib.request\nfor n in range(20):\n  try: urllib.request.urlopen('http://no.test/')\n"
                    "  except OSError: pass")
        server.call("install_packages", session_id="s", packages=["./none"])
        server.cell("input('name? ')")
        server.interact(input="Ada")
        server.cell("import os; os._exit(3)")
    with Server(home, env=LASTS) as again:
        again.cell("1")
        events = journal_events(home)
    found = {kind: [event for event in events if event["event"] == kind] for kind in (event["event"] for event in events)}
    assert list(found)[0] == "session" and len(found["session"]) == 1
    assert [event["path"] for event in found["input"]] == ["input/t.txt"]
    assert len(found["upload"]) == 2 and all(event["problem"] for event in found["upload"])
    assert "hidden" not in json.dumps(events)
    assert [(event["cell"], event["limits"], event["count"]) for event in found["limits"]] == [(1, ["timeout"], 1)]
    assert len(found["lost"]) == 1 and [event["why"] for event in found["session_ended"]] == ["its server ended"]
    assert [event["generation"] for event in found["resumed"]] == [3]
    order = [event["event"] for event in events]
    assert [(event["wait"], event["prompt"]) for event in found["waits"]] == [(1, "name?")]
    assert order.index("session_ended") < order.index("resumed") and order[-1] == "ended"
    if not audited:
        return
    names = {"session_reset": "lost"}
    for line in server.lines("hosts", "limits", "session_reset", "session_ended", "upload", "installed"):
        fields = {key: value for key, value in line.items() if key not in COMMON and key != "packages"}
        event = names.get(line["event"], "input" if line["event"] == "upload" and "problem" not in line else line["event"])
        assert any(fields.items() <= had.items() for had in found[event]), line


def test_hosts_of_a_cell_are_one_event_of_its_journal(home):
    with Server(home, "--hosts", "ok.test") as server:
        if server.call("session_info", session_id="s", config={}).object["confinement"]["network"]["mode"] == "none":
            pytest.skip("no tier with a network of its own here")
        server.cell("import urllib.request\nfor n in range(20):\n  try: urllib.request.urlopen('http://no.test/')\n"
                    "  except OSError: pass")
        until(lambda: 20 == sum(row["refused"] for row in server.call("session_info", session_id="s").object["confinement"][
            "network"]["requests"]))
        server.cell("1")
        hosts = [event for event in journal_events(home) if event["event"] == "hosts"]
    assert 1 <= len(hosts) <= 2 and sum(event["count"] for event in hosts) == 20
    assert {row["host"] for event in hosts for row in event["hosts"]} == {"no.test:80"}


def test_a_destroyed_session_says_so_in_its_journal_while_it_is_there(home):
    with Server(home) as server:
        server.cell("1")
        path, = paths_in(home, "cache/server-*/sessions/*/journal/events")
        with path.open("rb") as journal:
            server.call("destroy_session", session_id="s")
            assert b'"event":"session_destroyed"' in journal.read()


@pytest.mark.parametrize("log", ["syslog", "journald"])
def test_a_log_of_the_system_gets_the_lines_and_nothing_runs_without_it(home, log):
    path = home / "log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there:
        with Server(home, "--audit", f"{log}:{path}") as server:
            refused = server.cell("1")
            assert refused.is_error and "cannot be recorded in the log of PTYCELL_AUDIT" in refused.texts[0]
            assert str(path) in refused.texts[0]
        there.bind(str(path))
        with Server(home, "--audit", f"{log}:{path}") as server:
            server.cell("1")
        there.setblocking(False)
        said = [there.recv(1 << 20).decode() for _ in range(4)]
    lines = [json.loads(text[text.index("{"):]) for text in said]
    assert [line["event"] for line in lines] == ["session_created", "began", "ended", "session_ended"]
