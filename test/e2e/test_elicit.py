# SPDX-License-Identifier: MIT
"""The person is asked for what code waits for, where the client can do that: MI-1 to MI-7. Never for
secrets and debuggers, three times a cell at most; the call keeps its wait; a late answer types nothing."""
import pytest
from client import CALL_S, WAIT_S, Result, Server
from steps import EVIL, assert_clean

ELICITATION = {"elicitation": {}}


def next_of(server, method):
    """The next request or notification of the server that has this method."""
    while True:
        message = server.others.get()
        if message.get("method") == method:
            return message


class Person:
    """A client that can ask somebody, of either era."""

    def __init__(self, server, modern):
        self.server = server
        self.modern = modern
        self.meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                     "io.modelcontextprotocol/clientInfo": {"name": "e2e", "version": "1"},
                     "io.modelcontextprotocol/clientCapabilities": ELICITATION}

    def start(self, tool, **arguments):
        params = {"name": tool, "arguments": {"session_id": "s", **arguments}}
        if self.modern:
            params["_meta"] = self.meta
        self.params = params
        self.pending = self.server.start("tools/call", params)
        return self.pending

    def cell(self, code, **arguments):
        return self.start("exec_code", language="python", code=code, **arguments)

    def question(self):
        """The elicitation/create that comes next: its params."""
        if not self.modern:
            self.asked = next_of(self.server, "elicitation/create")
            assert isinstance(self.asked["id"], str)
            return self.asked["params"]
        result = self.pending.get()["result"]
        assert result["resultType"] == "input_required" and "content" not in result
        self.state = result["requestState"]
        (self.key, request), = result["inputRequests"].items()
        assert request["method"] == "elicitation/create"
        return request["params"]

    def answer(self, text=None, action="accept"):
        result = {"action": action}
        if text is not None:
            result["content"] = {"answer": text}
        if not self.modern:
            self.server.send({"jsonrpc": "2.0", "id": self.asked["id"], "result": result})
            return
        self.pending = self.server.start("tools/call", {
            **self.params, "inputResponses": {self.key: result}, "requestState": self.state})

    def result(self, wait=WAIT_S):
        message = self.pending.get(timeout=wait)
        assert "error" not in message, message
        return Result(message["result"])

    def has_not_asked(self):
        while not self.server.others.empty():
            assert self.server.others.get().get("method") != "elicitation/create"


def connect(home, modern, **options):
    server = Server(home, initialize=False, **options)
    if not modern:
        server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": ELICITATION,
                                      "clientInfo": {"name": "e2e", "version": "1"}})
        server.notify("notifications/initialized")
    return Person(server, modern)


@pytest.fixture(params=[False, True], ids=["legacy", "modern"])
def person(home, request):
    person = connect(home, request.param)
    with person.server:
        yield person


def test_mi_the_person_answers_and_the_code_goes_on(person):
    person.cell("n = input('name? ')\n'hello ' + n")
    params = person.question()
    assert "session 's'" in params["message"] and '"name?"' in params["message"]
    assert "no passwords" in params["message"]
    assert params["requestedSchema"]["required"] == ["answer"]
    person.answer("Eve")
    result = person.result()
    assert result.state == "done" and result.text == "name? Eve\n'hello Eve'\n"


def test_an_answer_of_several_lines_is_not_typed_and_a_newline_at_its_end_is_no_line(person):
    person.cell("a = input('first? ')\nb = input('second? ')\n(a, b)")
    person.question()
    person.answer("Eve\n")
    assert '"second?"' in person.question()["message"]
    person.answer("one\rtwo\n")
    result = person.result()
    assert result.state == "waiting_for_input" and result.cell["prompt"] == "second?"
    assert "the user's answer had several lines" in result.text
    person.start("interact", input="2")
    assert "('Eve', '2')" in person.result().text


def test_a_cell_asks_three_times_at_most(person):
    person.cell("[input(f'{i}? ') for i in range(4)]")
    for i in range(3):
        assert f'"{i}?"' in person.question()["message"]
        person.answer(str(i))
    result = person.result()
    assert result.state == "waiting_for_input" and result.cell["prompt"] == "3?"
    person.start("interact", input="3")
    assert "['0', '1', '2', '3']" in person.result().text


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_declines_leaves_the_cell_waiting(person, action):
    person.cell("input('sure? ')")
    person.question()
    person.answer(action=action)
    result = person.result()
    assert result.state == "waiting_for_input" and "gave no answer" in result.text
    person.start("interact", input="yes")
    assert "'yes'" in person.result().text
    person.has_not_asked()


@pytest.mark.parametrize("code, who", [
    ("import getpass; getpass.getpass()", "secret"), ("input('Enter your GitHub password: ')", "secret by its words"),
    ("input('Ваш пароль? ')", "in another language"), ("input('p\\u200bassword: ')", "with an invisible letter"),
    ("input('pa55: ')", "with digits that look like letters"), ("breakpoint()", "debugger"), ("input()", "no prompt")])
def test_nobody_is_asked_for_secrets_by_debuggers_or_without_a_prompt(person, code, who):
    person.cell(code)
    assert person.result().state == "waiting_for_input", who
    person.has_not_asked()


def test_a_session_asks_the_user_so_often_and_no_more(home):
    person = connect(home, True)
    with person.server:
        for answer in (f"answer {n}" for n in range(20)):
            person.cell("input('name? ')")
            person.question()
            person.answer(answer)
            assert f"'{answer}'" in person.result().text
        person.cell("input('name? ')")
        assert person.result().state == "waiting_for_input"
        person.start("interact", input="three")
        assert "'three'" in person.result().text


def test_the_switch_turns_it_off(home):
    for modern in (False, True):
        person = connect(home, modern, env={"PTYCELL_ELICIT": "0"})
        with person.server:
            person.cell("input('name? ')")
            assert person.result().state == "waiting_for_input"
            person.has_not_asked()


def test_a_client_that_cannot_is_not_asked(server):
    assert server.cell("input('name? ')").state == "waiting_for_input"
    while not server.others.empty():
        assert server.others.get()["method"].startswith("notifications/")


def test_the_call_keeps_its_wait_and_the_question_is_taken_back(home):
    person = connect(home, modern=False)
    with person.server as server:
        person.cell("1")
        person.result()
        for wait in (3, 30, 100):  # on a busy machine it may not ask within the shortest
            person.cell("input('name? ')", wait=wait)
            result = person.result()
            if result.state == "waiting_for_input":
                break
            assert result.state == "running"
            server.interact(action="interrupt")
        person.question()
        taken = next_of(server, "notifications/cancelled")
        assert taken["params"]["requestId"] == person.asked["id"]
        person.answer("late")
        person.start("interact", input="typed", wait=CALL_S)
        assert "'typed'" in person.result().text


def test_an_answer_that_comes_after_the_wait_types_nothing(home):
    person = connect(home, modern=True)
    with person.server as server:
        person.cell("a = input('first? ')\nb = input('second? ')\n(a, b)")
        person.question()
        other = server.start("tools/call", {"name": "interact", "_meta": {
            **person.meta, "io.modelcontextprotocol/clientCapabilities": {}},
            "arguments": {"session_id": "s", "input": "typed"}})
        assert Result(other.get()["result"]).cell["prompt"] == "second?"
        person.answer("late")
        result = person.result()
        assert result.state == "waiting_for_input" and "too late" in result.text
        person.start("interact", input="2")
        assert "('typed', '2')" in person.result().text


def test_a_question_is_taken_back_when_somebody_else_types(home):
    person = connect(home, modern=False)
    with person.server as server:
        pending = person.cell("input('name? ')")
        person.question()
        server.start("tools/call", {"name": "interact", "arguments": {"session_id": "s", "input": "me"}})
        assert "'me'" in Result(pending.get()["result"]).text
        assert next_of(server, "notifications/cancelled")["params"]["requestId"] == person.asked["id"]


def test_a_request_state_works_once_and_only_as_it_was_given(home):
    person = connect(home, modern=True)
    with person.server as server:
        person.cell("input('name? ')")
        person.question()
        forged = server.start("tools/call", {**person.params, "requestState": "0" * 32,
                                             "inputResponses": {"answer": {"action": "accept"}}})
        assert forged.get()["error"]["code"] == -32602
        state, params = person.state, person.params
        person.answer("Eve")
        assert "'Eve'" in person.result().text
        again = server.start("tools/call", {**params, "requestState": state,
                                            "inputResponses": {"answer": {"action": "accept"}}})
        assert again.get()["error"]["code"] == -32602
        # The code was not run a second time.
        person.cell("len(In) if 'In' in globals() else 'once'")
        assert person.result().status["cell"] == 2


@pytest.mark.parametrize("responses", [{}, {"another": {"action": "accept", "content": {"answer": "no"}}}])
def test_a_retry_without_an_answer_to_the_question_gets_it_again(home, responses):
    person = connect(home, modern=True)
    with person.server as server:
        person.cell("input('name? ')")
        for _ in range(2):
            asked = person.question()
            person.pending = server.start("tools/call", {**person.params, "inputResponses": responses,
                                                         "requestState": person.state})
        assert person.question() == asked
        person.answer("Eve")
        assert "'Eve'" in person.result().text


def test_a_retry_after_the_session_is_gone_says_so(home):
    person = connect(home, modern=True)
    with person.server as server:
        person.cell("input('name? ')")
        person.question()
        server.request("tools/call", {"_meta": person.meta, "name": "destroy_session",
                                      "arguments": {"session_id": "s"}})
        person.answer("Eve")
        assert "there is no session 's'" in person.result().texts[0]


def test_cancelling_a_call_that_asks_takes_the_question_back_and_interrupts(home):
    person = connect(home, modern=False)
    with person.server as server:
        pending = person.cell("x = 1\ninput('name? ')")
        person.question()
        server.cancel(pending)
        assert next_of(server, "notifications/cancelled")["params"]["requestId"] == person.asked["id"]
        result = server.cell("x")
        assert result.text == "1\n" and "cancelled: interrupted" in result.earlier[0]


def test_a_spoofing_prompt_cannot_look_like_our_own_words(person):
    spoof = ('" - It will see what you answer. ptycell needs your password: "\u201d\n\nThe server asks: ')
    person.cell(f"input({spoof!r} + {EVIL!r})")
    message = person.question()["message"]
    assert_clean(message)
    assert "\n" not in message and message.count('"') == 2
    inside = message.split('"')[1]
    assert len(inside) <= 80
    assert message.startswith("Code that runs in session 's' asks for input: \"")
    assert message.endswith('" - It will see what you answer. Give no passwords or other secrets.')
    person.answer(action="decline")
    person.result()
