# SPDX-License-Identifier: MIT
"""Cells that run again write modules faster than yesterday: Python must not take an earlier version for the last one."""
import os

import pytest

from test_restore import AGAIN, days, restore, told

ONE, TWO = (f"with open('fee.py', 'w') as file: file.write('FEE = {fee}\\n')" for fee in (10, 25))
READS = {
    "reload": ("python", "import importlib, fee\na = importlib.reload(fee).FEE", "b = importlib.reload(fee).FEE"),
    "program": ("python", "import subprocess, sys\ndef get(): return int(subprocess.check_output([sys.executable, '-c', 'import fee; print(fee.FEE)']))\na = get()", "b = get()"),
    "shell": ("bash", "a=$(python3 -c 'import fee; print(fee.FEE)')", "b=$(python3 -c 'import fee; print(fee.FEE)')"),
}
SHOWS = {"python": "print(a, b)", "bash": "echo $a $b"}


def make_newer(home, name, seconds):
    """Has a file or folder of the session be newer for Python, in place of a wait."""
    (path,) = home.glob(f"**/data/{name}")
    written = path.stat().st_mtime + seconds
    os.utime(path, (written, written))


@pytest.mark.parametrize("begun", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("kind", READS)
def test_a_module_that_is_written_twice_has_both_values(start, home, kind, begun):
    language, first, second = READS[kind]
    server = start()
    server.cell(ONE)
    server.cell(first, language=language)
    server.cell(TWO)
    make_newer(home, "fee.py", 2)  # in another second, as bytecode counts them
    server.cell(second, language=language)
    assert server.cell(SHOWS[language], language=language).text.strip() == "10 25"
    server.close()
    server = start()
    if begun:  # the interpreter that runs them is not a copy of a prepared one
        server.cell("1")
    assert AGAIN in told(restore(server))
    assert server.cell(SHOWS[language], language=language).text.strip() == "10 25"


def test_yesterdays_bytecode_is_back(start, home):
    shows = "import os\nprint(os.path.isdir('__pycache__') and os.listdir('__pycache__'))"
    server = days(start, ONE, "import fee", "import sys\nstores = not sys.dont_write_bytecode")
    yesterday = server.cell(shows).text.splitlines()[-1]
    assert "fee." in yesterday
    told(restore(server))
    assert server.cell(shows).text.strip() == yesterday
    assert server.cell("print(fee.FEE, stores, os.environ['PYTHONDONTWRITEBYTECODE'])").text == "10 False 1\n"
    server.cell(TWO)
    make_newer(home, "fee.py", 2)
    assert server.cell("import importlib\nprint(importlib.reload(fee).FEE)").text == "25\n"


def test_later_interpreters_store_bytecode(start):
    server = days(start, "import os")
    told(restore(server))
    server.cell("os._exit(3)")
    assert server.cell("import os\nprint('PYTHONDONTWRITEBYTECODE' in os.environ)").text.splitlines()[-1] == "False"


def test_cells_that_run_once_keep_what_imports_know_of_folders(start):
    server = days(start, "import sys")
    told(restore(server))
    server.cell("sys.path_importer_cache['known'] = None")
    assert server.cell("print('known' in sys.path_importer_cache)").text == "True\n"


def test_a_module_is_found_where_the_folders_time_does_not_show_it(start, home):
    """As file systems do that count time in ticks, in which several cells may run again; here a tick is a second."""
    write = "import os, time\nwith open('%s.py', 'w') as file: file.write('n = 1')\nos.utime('.', (int(time.time()),) * 2)"
    names = ["one", "two", "three"]
    first = start()
    for ticks, name in enumerate(names):
        first.cell(write % name)
        make_newer(home, "", 2 * ticks)
        assert not first.cell(f"import {name}").is_error
    first.close()
    server = start()
    assert AGAIN in told(restore(server))
    assert server.cell(f"print({'.n + '.join(names)}.n)").text == "3\n"
