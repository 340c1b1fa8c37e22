# SPDX-License-Identifier: MIT
"""Named pipes and sockets have no content: the one that cells which ran again left in use is the one that stays."""
import pytest

from patience import until
from test_restore import days, restore, told

PIPE = """import os, socket, threading
os.mkfifo('jobs', 0o640)
got = []
def read():
    with open('jobs') as pipe: got.extend(pipe)
threading.Thread(target=read, daemon=True).start()"""
SOCKET = """server = socket.socket(socket.AF_UNIX)
if os.path.exists('sock'): os.remove('sock')
server.bind('sock'), server.listen(), server.settimeout(60)"""
KINDS = "print([(s.st_mode, s.st_mtime_ns, s.st_nlink) for s in map(os.lstat, ['jobs'])])"


def test_a_pipe_that_cells_left_a_reader_of_is_the_one_that_is_there(start):
    server = days(start, PIPE)
    before = server.cell("import os\n" + KINDS).text.splitlines()[-1]
    told(restore(server))
    assert server.cell(KINDS).text.strip() == before
    server.cell("fd = os.open('jobs', os.O_WRONLY | os.O_NONBLOCK)\nos.write(fd, b'row\\n')\nos.close(fd)")
    until(lambda: server.cell("print(got)").text == "['row\\n']\n")


def test_a_socket_that_cells_left_a_server_of_is_the_one_that_is_there(start):
    first = start()
    if first.cell("import os, socket\n" + SOCKET).is_error:
        pytest.skip("code makes no sockets here")
    first.close()
    server = start()
    told(restore(server))
    assert server.cell("client = socket.socket(socket.AF_UNIX)\nclient.connect('sock')\nprint(server.accept()[0].fileno() > 0)").text == "True\n"


def test_a_pipe_with_another_mode_is_the_one_from_before(start):
    server = days(start, "import os\nos.mkfifo('jobs', 0o640)")
    server.cell("import os\nos.chmod('jobs', 0o604)\n1/0")
    told(restore(server))
    assert server.cell("print(oct(os.lstat('jobs').st_mode & 0o777))").text == "0o604\n"
