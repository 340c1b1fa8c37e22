# SPDX-License-Identifier: MIT
"""Change notices for sessions, cells and files: SB-1 to SB-6, RS-4."""
import json
import queue

import pytest

from client import Server
from patience import until

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": {"name": "e2e", "version": "1"},
          "io.modelcontextprotocol/clientCapabilities": {}}
STREAM = "io.modelcontextprotocol/subscriptionId"
UPDATED = "notifications/resources/updated"
LIST = "notifications/resources/list_changed"


def notices(server, count, method=UPDATED):
    """The next `count` notices of a method, others passed over."""
    found = []
    while len(found) < count:
        message = server.others.get()
        if message.get("method") == method:
            found.append(message["params"] if "params" in message else {})
    return found


def until_told(server, uri):
    while notices(server, 1)[0]["uri"] != uri:
        pass


def drain(server):
    """What came so far, once everything sent before has been answered and its notices were due."""
    server.cell("import time; time.sleep(0.2)", session="clock")
    server.request("ping")  # what was due by the answer comes before this one's
    messages = []
    while not server.others.empty():
        messages.append(server.others.get())
    return messages


def subscribe(server, uri):
    assert server.request("resources/subscribe", {"uri": uri}) == {}


def listen(server, uris=(), **wants):
    """Opens a stream; returns its request, acknowledged."""
    stream = server.start("subscriptions/listen", {
        "_meta": MODERN, "notifications": {"resourceSubscriptions": list(uris), **wants}})
    acknowledged = server.others.get()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    stream.honoured = acknowledged["params"]["notifications"]
    assert acknowledged["params"]["_meta"][STREAM] == stream.id
    return stream


def modern_cell(server, code, session="s"):
    return server.request("tools/call", {"_meta": MODERN, "name": "exec_code", "arguments": {
        "session_id": session, "language": "python", "code": code}})


@pytest.fixture
def modern(home):
    with Server(home, initialize=False) as running:
        yield running


def test_subscribing_is_offered_in_both_eras(home, server, modern):
    legacy = server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                           "clientInfo": {"name": "e2e", "version": "1"}})
    newer = modern.request("server/discover", {"_meta": MODERN})
    for answer in legacy, newer:
        assert answer["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}


def test_a_legacy_client_is_told_of_a_session_its_cells_and_files(server):
    uris = ["session://s", "session://s/cells", "session://s/cells/1", "session://s/notebook",
            "session://s/script", "session://s/files/output/a.txt", "sessions://"]
    for uri in uris:
        subscribe(server, uri)
    server.cell("open('output/a.txt', 'w').write('x'); open('output/b.txt', 'w').write('x')")
    until_all = set(uris)
    while until_all:
        until_all.discard(notices(server, 1)[0]["uri"])
    drain(server)
    server.cell("import os; os.remove('output/b.txt')")
    told = {m["params"]["uri"] for m in drain(server) if m["method"] == UPDATED}
    assert told == {"session://s", "session://s/cells", "session://s/notebook", "session://s/script", "sessions://"}


def test_nobody_is_told_of_what_they_did_not_subscribe_to(server):
    subscribe(server, "session://other")
    subscribe(server, "session://s/cells/7")
    server.cell("open('output/a.txt', 'w').write('x')")
    assert [m for m in drain(server) if m.get("method") == UPDATED] == []


def test_unsubscribing_ends_it(server):
    subscribe(server, "session://s/notebook")
    server.cell("1")
    notices(server, 1)
    assert server.request("resources/unsubscribe", {"uri": "session://s/notebook"}) == {}
    server.cell("2")
    assert [m for m in drain(server) if m.get("method") == UPDATED] == []


def test_a_session_that_begins_to_run_and_one_that_ends_is_told(server):
    server.cell("1")
    subscribe(server, "session://s")
    drain(server)
    cell = server.start_cell("open('runs', 'w').close()\nwhile True: pass")
    notices(server, 1)
    state = json.loads(server.request("resources/read", {"uri": "session://s"})["contents"][0]["text"])
    assert state["state"] == "running"
    server.cancel(cell)
    until(lambda: server.call("session_info", session_id="s").object["state"] == "idle")
    drain(server)
    server.call("destroy_session", session_id="s")
    assert notices(server, 1) == [{"uri": "session://s"}]


def test_a_session_that_waits_for_input_is_told(server):
    server.cell("1")
    subscribe(server, "session://s")
    drain(server)
    server.start_cell("import time; time.sleep(0.3); input('name? '); time.sleep(10**6)")  # `running` is told by itself

    def state():
        notices(server, 1)
        return json.loads(server.request("resources/read", {"uri": "session://s"})["contents"][0]["text"])["state"]

    until(lambda: state() == "waiting_for_input")
    server.interact(input="x", budget=0)
    until(lambda: state() == "running")
    server.interact(action="interrupt")
    until(lambda: state() == "idle")


def test_many_changes_are_told_once(server):
    subscribe(server, "session://s")
    server.cell("1")
    drain(server)
    answers = [server.start_cell("pass") for _ in range(40)]
    for answer in answers:
        answer.get()
    told = [m for m in drain(server) if m.get("method") == UPDATED]
    assert 1 <= len(told) < 40


def test_an_uploaded_file_is_told(server):
    server.call("session_info", session_id="s", config={})
    subscribe(server, "session://s/files/input/a%20b.txt")
    server.call("upload_file", session_id="s", filename="a b.txt", content="x")
    assert notices(server, 1) == [{"uri": "session://s/files/input/a%20b.txt"}]


def test_the_list_changes_when_sessions_come_and_go_and_with_the_first_notebook(server):
    server.call("session_info", session_id="s", config={})
    notices(server, 1, LIST)
    server.cell("1")
    notices(server, 1, LIST)
    uris = [r["uri"] for r in server.request("resources/list")["resources"]]
    assert "session://s/notebook" in uris
    drain(server)
    drain(server)  # the first one made a session of its own
    server.cell("2")
    assert [m for m in drain(server) if m.get("method") == LIST] == []
    for code, told in [("open('output/f', 'w').write('x')", 1), ("open('output/f', 'w').write('yy')", 0),
                       ("open('g', 'w').close()", 0), ("import os; os.remove('output/f')", 1)]:
        server.cell(code)
        assert len([m for m in drain(server) if m.get("method") == LIST]) == told
    server.call("destroy_session", session_id="s")
    notices(server, 1, LIST)


def test_streams_get_what_they_asked_for_each_with_its_id(modern):
    first = listen(modern, ["session://s", "session://s/notebook"])
    second = listen(modern, ["session://s/notebook"], resourcesListChanged=True, toolsListChanged=True)
    assert first.honoured == {"resourceSubscriptions": ["session://s", "session://s/notebook"]}
    assert second.honoured == {"resourceSubscriptions": ["session://s/notebook"], "resourcesListChanged": True}
    modern_cell(modern, "1")
    found = set()
    while len(found) < 4:
        message = modern.others.get()
        stream = message["params"]["_meta"][STREAM]
        found.add((message["method"], message["params"].get("uri"), stream))
    assert found >= {(UPDATED, "session://s/notebook", first.id), (UPDATED, "session://s/notebook", second.id),
                     (UPDATED, "session://s", first.id), (LIST, None, second.id)}
    assert first.empty() and second.empty()  # SB-4: open without an answer


def test_a_stream_ended_by_its_client_is_silent(modern):
    stream = listen(modern, ["session://s/notebook"])
    modern_cell(modern, "1")
    notices(modern, 1)
    modern.cancel(stream)
    modern_cell(modern, "2")
    modern_cell(modern, "import time; time.sleep(0.2)")
    with pytest.raises(queue.Empty):
        modern.others.get_nowait()
    assert stream.empty()


def test_eras_are_told_apart(server):
    """A legacy client and a stream on one pipe: each gets its own form, one copy."""
    subscribe(server, "session://s/notebook")
    stream = listen(server, ["session://s/notebook"])
    server.cell("1")
    told = notices(server, 2)
    assert sorted(STREAM in params.get("_meta", {}) for params in told) == [False, True]
    assert [m for m in drain(server) if m.get("method") == UPDATED] == []
    assert stream.empty()


def test_thousands_of_files_with_one_subscribed_are_one_notice(server):
    subscribe(server, "session://s/files/f7")
    server.cell("for n in range(5000): open(f'f{n}', 'w').close()")
    told = [m["params"]["uri"] for m in drain(server) if m.get("method") == UPDATED]
    assert told == ["session://s/files/f7"]


def test_a_file_that_a_process_writes_later_is_told(server):
    subscribe(server, "session://s/files/output/late")
    server.cell("import subprocess; p = subprocess.Popen(['sh', '-c', 'until [ -e input/go ]; do sleep 0.01; done; "
                "echo x > output/late; sleep 1000'])")
    drain(server)
    server.call("upload_file", session_id="s", filename="go", content="")
    until_told(server, "session://s/files/output/late")


def test_every_subscriber_of_a_session_hears_that_it_is_gone(server):
    server.cell("open('output/a', 'w').write('x')")
    uris = {"session://s", "session://s/cells", "session://s/cells/1", "session://s/notebook", "session://s/script",
            "session://s/files/output/a", "sessions://"}
    for uri in uris | {"session://s2"}:
        subscribe(server, uri)
    drain(server)
    server.call("destroy_session", session_id="s")
    told = {m["params"]["uri"] for m in drain(server) if m.get("method") == UPDATED}
    assert uris <= told and "session://s2" not in told
