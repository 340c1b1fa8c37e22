# SPDX-License-Identifier: MIT
"""Limits with which ptycell was started are named as such, and not taken for its own. Slow by its name alone: it runs where the release
is tested, as a sanitizer takes more address space than these limits leave."""
import os
import subprocess

import pytest
from client import BUILD, Server

KB = 1024
# The option of ulimit and its value, what meets the limit, and the sentences about it.
CASES = {
    "file": ("-f", 2000, "python", "open('output/x', 'wb').write(bytes(3 << 20))", "file_max",
             "One file here is limited to 2.0 MB (file_max).", "the size of a file (ulimit -f)"),
    "file, by a program": ("-f", 2000, "bash", "head -c 3000000 /dev/zero >x", "file_max",
                           "One file here is limited to 2.0 MB (file_max).", "the size of a file (ulimit -f)"),
    "data": ("-d", 500 * KB, "python", "x = bytearray(1 << 30)", "memory_max",
             "The memory of one process here is limited to 500 MB (memory_max).", "the data of a process (ulimit -d)"),
    "address space": ("-v", 1500 * KB, "python", "x = bytearray(2 << 30)", "memory_max",
                      "The memory of one process here is limited to 1.5 GB (memory_max).", "the address space of a process (ulimit -v)"),
    "processor time": ("-t", 60, "python", "2", "cpu_max", "", "the processor time of a process (ulimit -t)"),
}
VALUES = {"file_max": 2000 * KB, "memory_max": None, "cpu_max": 55}
# What begins the line: the setting, where there is one.
NAMES = {"file_max": "PTYCELL_FILE_MAX", "memory_max": "PTYCELL_MEMORY_MAX", "cpu_max": "cpu_max"}


def within(option, value):
    if option in ("-d", "-v") and BUILD.name == "asan":
        pytest.skip("a sanitizer takes more address space")
    return ["bash", "-c", f'ulimit {option} {value} && exec "$@"', "sh", str(BUILD / "ptycell")]


@pytest.mark.parametrize("name", CASES)
def test_a_limit_of_the_users_own_is_the_sessions_and_is_named(home, name):
    option, value, language, code, key, sentence, cause = CASES[name]
    with Server(home, command=within(option, value)) as server:
        text = server.cell(code, language=language).text
        assert sentence in text
        assert (f"{key} is so low because the user's own limit of {cause}" in text) == bool(sentence)
        limit = server.call("session_info", session_id="s").object["effective_config"][key]
        assert limit == (VALUES[key] or value * KB)
        assert f"\n{NAMES[key]} is {limit} here: ptycell was started with a limit of {cause}".encode() in b"\n" + server.stderr
    done = subprocess.run(within(option, value) + ["doctor"], capture_output=True, text=True, env={**os.environ, "HOME": str(home)}, check=False)
    assert f" {NAMES[key]} is {limit} here" in " ".join(done.stdout.split())


def test_doctor_reports_to_its_end_where_files_have_no_room(home):
    done = subprocess.run(within("-f", 10) + ["doctor"], capture_output=True, text=True, env={**os.environ, "HOME": str(home)}, check=False)
    assert done.returncode in (0, 1) and "PTYCELL_FILE_MAX" in done.stdout and "File too large" in done.stderr
    assert done.stdout.splitlines()[-1].startswith("It works. " if done.returncode == 0 else "It does not work yet: ")


@pytest.mark.parametrize("option, value, key, setting", [("-f", 2000, "FILE_MAX", "1M"), ("-Sf", 2000, "FILE_MAX", "3M"), ("-d", 500 * KB, "MEMORY_MAX", "256M")])
def test_one_above_the_setting_or_a_soft_one_is_no_limit(home, option, value, key, setting):
    with Server(home, command=within(option, value), env={f"PTYCELL_{key}": setting}) as server:
        code = {"FILE_MAX": "open('output/x', 'wb').write(bytes(4 << 20))", "MEMORY_MAX": "x = bytearray(1 << 30)"}[key]
        text = server.cell(code).text
        assert f"({key.lower()})" in text and "ulimit" not in text
        assert b"ulimit" not in server.stderr


def test_a_session_that_lowers_a_limit_further_is_told_of_its_own(home):
    with Server(home, command=within("-f", 2000)) as server:
        server.call("session_info", session_id="s", config={"file_max": 1 << 20})
        text = server.cell("open('output/x', 'wb').write(bytes(4 << 20))").text
        assert "limited to 1.0 MB (file_max)" in text and "ulimit" not in text


def test_an_end_by_the_users_limit_of_processor_time_names_it(home):
    with Server(home, command=within("-t", 1)) as server:
        code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
        assert "limit of processor time with which ptycell was started (ulimit -t)" in server.cell(code).text


def test_an_interpreter_that_cannot_start_for_it_names_the_address_space(home):
    with Server(home, command=within("-v", 300 * KB)) as server:
        assert "Raise the limit of address space with which ptycell is started (ulimit -v)" in server.cell("1", language="javascript").text
