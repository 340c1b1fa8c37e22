# SPDX-License-Identifier: MIT
"""/tmp and /dev/shm are memory of the sandbox, which is another one for cells that run again: what is gone with it is told."""
import pytest

from patience import until
from test_restore import restore, told
from test_restore_open_files import MANY, ROWS, killed

ANEW = "/tmp and /dev/shm began empty, and have what the cells wrote again. Gone are: "
UNTOUCHED = "The files are as they were before;"
FILL = """import os
os.makedirs('/tmp/work/deep', exist_ok=True)
for name in ('/tmp/again', '/tmp/work/deep/again', '/dev/shm/again'):
    with open(name, 'w') as file: file.write('x')"""
FAILS = """for name in ('/tmp/b', '/tmp/work/deep/c', '/dev/shm/a'):
    with open(name, 'w') as file: file.write('x')
1/0"""
GONE = ANEW + "'/dev/shm/a', '/tmp/b', '/tmp/work/deep/c'."


@pytest.fixture
def server(start):
    server = start()
    if server.cell("import os\nprint(os.stat('/tmp').st_dev != os.stat('/').st_dev and os.access('/dev/shm', os.W_OK))").text != "True\n":
        pytest.skip("sessions have no /tmp of their own here")
    return server


def test_files_that_no_cell_writes_again_are_named(server):
    server.cell(FILL)
    server.cell(FAILS)
    text = told(restore(server))
    assert GONE in text and UNTOUCHED not in text
    assert "The files are as they were before, but for those in /tmp and /dev/shm;" in text
    assert server.cell("print(os.path.exists('/tmp/work/deep/again'), os.path.exists('/tmp/b'))").text == "True False\n"


def test_a_replay_that_stops_tells_it_too(server):
    server.cell(FILL)
    server.cell(FAILS)
    server.cell("if not os.path.exists('/tmp/b'): raise OSError")
    text = told(restore(server), failed=True)
    assert "stopped at cell 4" in text and GONE in text


def test_ten_files_are_named_and_the_others_counted(server):
    server.cell("for n in range(14): open(f'/tmp/f{n:02}', 'w').close()\n1/0")
    text = told(restore(server))
    assert "'/tmp/f09' and 4 more." in text and "'/tmp/f10'" not in text


def test_without_such_files_nothing_is_told(server):
    server.cell("x = 1")
    server.cell("with open('/tmp/again', 'w') as file: file.write('x')")
    text = told(restore(server))
    assert "Gone are" not in text


def test_links_are_not_followed(server):
    server.cell("import os\nos.symlink('/', '/tmp/root')\nos.symlink('/etc', '/dev/shm/etc')\n1/0")
    text = told(restore(server))
    assert ANEW + "'/dev/shm/etc', '/tmp/root'." in text


def test_files_are_named_after_the_last_interpreter_ended(server):
    server.cell("open('/tmp/left', 'w').close()\n1/0")
    server.cell("import os\nos._exit(0)")
    text = until(lambda: not (result := restore(server)).is_error and told(result))  # once its end is over
    assert ANEW + "'/tmp/left'." in text


def test_files_are_named_once(server):
    server.cell("open('/tmp/left', 'w').close()\n1/0")
    assert "'/tmp/left'" in told(restore(server))
    text = told(restore(server))
    assert "/tmp/left" not in text and UNTOUCHED in text


def test_files_are_named_where_the_new_interpreters_end_too(start):
    _, second = killed(start, ROWS % "delete", MANY)
    if second.cell("open('/tmp/left', 'w').close()\n1/0").status["state"] != "raised":
        pytest.skip("sessions have no /tmp of their own here")
    text = told(restore(second), failed=True)
    assert "the files are as they were before, but for those in /tmp and /dev/shm." in text
    assert "/tmp and /dev/shm are empty. Gone are: '/tmp/left'." in text
