# SPDX-License-Identifier: MIT
"""What a server inherits or finds around it that other machines do not have."""
from client import BUILD
from steps import kept_files, paths_in

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
