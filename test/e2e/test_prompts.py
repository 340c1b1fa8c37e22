# SPDX-License-Identifier: MIT
"""The prompts of a host's menu, and the completion of their arguments."""
import pytest

from client import Server


def text_of(server, name, **arguments):
    message, = server.request("prompts/get", {"name": name, "arguments": arguments})["messages"]
    assert message["role"] == "user" and message["content"]["type"] == "text"
    return message["content"]["text"]


def completed(server, prompt, argument, value=""):
    answer = server.request("completion/complete", {
        "ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": argument, "value": value}})
    return answer["completion"]["values"]


def test_each_prompt_is_listed_with_its_arguments(tmp_path):
    with Server(tmp_path) as server:
        prompts = {prompt["name"]: prompt for prompt in server.request("prompts/list")["prompts"]}
    assert set(prompts) == {"analyse_file", "query_database", "continue_session"}
    for prompt in prompts.values():
        assert prompt["description"] and all(argument["description"] for argument in prompt["arguments"])
        assert [argument["name"] for argument in prompt["arguments"] if argument.get("required")]


@pytest.mark.parametrize("name, arguments, words", [
    ("analyse_file", {"file": "/data/a.csv"}, ["'/data/a.csv'", "upload_file", "what is remarkable"]),
    ("analyse_file", {"file": "a", "question": "Which year was best?"}, ["Which year was best?"]),
    ("query_database", {"question": "How many?"}, ["database 'files'", "How many?", "exec_sql"]),
    ("query_database", {"question": "How many?", "database": "shop"}, ["database 'shop'"]),
    ("continue_session", {"session": "sales-k3f9"}, ["'sales-k3f9'", "session_info", "calls of interact", "kept"])])
def test_a_prompt_is_what_the_user_would_say(tmp_path, name, arguments, words):
    with Server(tmp_path) as server:
        text = text_of(server, name, **arguments)
    assert all(word in text for word in words) and "%" not in text


def test_a_prompt_without_a_database_names_those_that_there_are(tmp_path):
    for name, said in [("SHOP", "the right one of the databases 'files', 'shop' with"),
                       ("DEFAULT", "the right one of the databases 'default', 'files' with")]:
        with Server(tmp_path, env={"PTYCELL_SQL_" + name: f"sqlite:{tmp_path}/shop.db"}) as server:
            assert said in text_of(server, "query_database", question="How many?")


def test_arguments_are_completed_by_what_there_is(tmp_path):
    share = tmp_path / "share"
    share.mkdir()
    with Server(tmp_path, "--share", str(share), env={"PTYCELL_SQL_SHOP": "sqlite:" + str(share / "shop.db")}) as server:
        assert completed(server, "analyse_file", "file") == [str(share)]
        assert completed(server, "query_database", "database", "S") == ["shop"]
        assert completed(server, "query_database", "question") == []
        server.cell("open('output/a.txt', 'w').write('x')", session="sales")
        first, folder = completed(server, "continue_session", "session")
        assert first == "sales" and "-sales-" in folder
        assert completed(server, "continue_session", "session", "x") == []


@pytest.mark.parametrize("title", [None, "Prices of fruit"])
def test_a_folder_of_results_stands_for_its_session(tmp_path, title):
    titled = {"title": title} if title else {}
    with Server(tmp_path) as server:
        server.cell("open('output/a.txt', 'w').write('x')", session="sales", **titled)
        folder = completed(server, "continue_session", "session", "2")[0]
        assert "the session 'sales' of" in text_of(server, "continue_session", session=folder)
    with Server(tmp_path) as server:
        assert completed(server, "continue_session", "session") == [folder]
        said = text_of(server, "continue_session", session=folder)
        assert "the session 'sales' of" in said and folder in said


@pytest.mark.parametrize("name", ["sales", "2026-11-28-sales-ab12", "../2026-11-28-sales-ab12", "2026-11-28-a/../b-ab12"])
def test_a_name_without_a_folder_is_taken_as_the_id(tmp_path, name):
    with Server(tmp_path) as server:
        assert f"the session '{name}' of" in text_of(server, "continue_session", session=name)
