# SPDX-License-Identifier: MIT
"""What a server inherits or finds around it that other machines do not have."""
import os

from client import BUILD
from steps import kept_files, paths_in

# Takes itself for a Python that others had before.
OLD_PYTHON = """#!/bin/sh
exec /usr/bin/python3 -c 'import sys; sys.version_info = (3, 6, 8, "final", 0); exec(sys.argv[1])' "$2"
"""
FIGURE = "open('output/a.txt', 'w').write('x')"


def test_n2_who_ignores_the_ends_of_children_starts_a_server_that_does_not(servers, home):
    server = servers(command=["env", "--ignore-signal=CHLD", str(BUILD / "ptycell")])
    assert server.cell(FIGURE).state == "done"
    assert [path.name for path in kept_files(home)] == ["a.txt"]


def test_n18_a_mask_that_closes_our_own_files_to_us_is_put_off(servers, home):
    server = servers(umask=0o777)
    assert server.cell(FIGURE).state == "done"
    assert [path.name for path in kept_files(home)] == ["a.txt"]
    assert server.close() == 0
    assert paths_in(home, "cache/**/*") == []


def test_n7_a_python_that_is_too_old_says_so_and_which_one_is_not(servers, home):
    folder = home / "old/bin"
    folder.mkdir(parents=True)
    for name, text in (("python3", OLD_PYTHON), ("python3.30", "")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    server = servers(env={"PATH": f"{folder}:{os.environ['PATH']}", "PTYCELL_PYTHON": ""})
    result = server.cell("1")
    assert result.state == "not_started"
    assert f"this is Python 3.6; ptycell needs 3.9 or later, such as {folder}/python3.30" in result.text
    assert "Set PTYCELL_PYTHON to one that works" in result.text
