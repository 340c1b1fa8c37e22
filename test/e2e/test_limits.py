# SPDX-License-Identifier: MIT
"""A limit that is met costs no work: what is told, what lives, and what the next cell gets."""
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from client import ALONE, BUILD, Result, Server
from machines import TIERS, confined_in, programs
from patience import until
from proxies import own_mounts
from steps import NEVER_S, interpreters, overdue, skip_without

MIB = 1 << 20
# What a cell writes, file by file, until its folder is full: a value first, that is there afterwards.
FILLS = {
    "python": ("x = 5", "import time\nfor i in range(400):\n  open(f'f{i}', 'wb').write(bytes(4 << 20))\n  time.sleep(0.05)", "x",
               "OSError: [Errno 27] File too large", "import glob, os\nfor f in glob.glob('f*'): os.remove(f)\n"
               "open('g', 'wb').write(bytes(4 << 20))"),
    "bash": ("x=5", "for i in {1..400}; do head -c 4194304 /dev/zero >f$i || exit 3; sleep 0.05; done", "echo $x",
             "File too large", "rm f*; head -c 4194304 /dev/zero >g"),
    "javascript": ("var x = 5", "for (let i = 0; i < 400; i++) { require('fs').writeFileSync(`f${i}`, Buffer.alloc(4 << 20)); "
                   "await new Promise((go) => setTimeout(go, 50)) }", "x", "EFBIG",
                   "const fs = require('fs'); for (const f of fs.readdirSync('.')) if (f[0] === 'f') fs.rmSync(f);\n"
                   "fs.writeFileSync('g', Buffer.alloc(4 << 20))"),
    "r": ("x <- 5", "for (i in 1:400) { write.csv(numeric(5e5), paste0('f', i)); Sys.sleep(0.05) }", "cat(x)", "File too large",
          "unlink(Sys.glob('f*')); writeBin(raw(4e6), 'g')"),
}
FILL = FILLS["python"]


@pytest.fixture(name="server")
def fixture_server(home):
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"disk_max": 40 * MIB, "file_max": 16 * MIB}).is_error
        yield server


@pytest.mark.parametrize("language", FILLS)
def test_a_full_folder_is_an_error_of_the_writer_and_costs_nothing(server, language):
    skip_without(language)
    begin, fill, look, error, tidy = FILLS[language]
    server.cell(begin, language=language)
    result = server.cell(fill, language=language)
    assert result.state == ("done" if language == "bash" else "raised"), result.text
    assert error in result.text and "is limited to 40 MB (disk_max). From then on no file could grow" in result.text
    assert server.cell(look, language=language).text.strip() == "5"
    assert server.cell(tidy, language=language).state == "done"
    result = server.cell("import os; os.path.getsize('g')")
    assert int(result.text) >= 4e6 and "disk_max" not in result.text


def test_a_cell_that_goes_on_in_a_full_folder_is_told_which_limit_its_writers_meet(server):
    said = [server.cell(f"{FILLS['bash'][1].replace('exit 3', 'break')}; sleep {NEVER_S}", language="bash", budget=0.1)]

    def is_told():
        said.append(server.interact(language="bash", action="wait", budget=0.5))
        return "File too large" in said[-1].text
    until(is_told)
    assert said[-1].state == "running" and "limited to 40 MB (disk_max)" in said[-1].text, said[-1].texts
    said.append(server.interact(language="bash", action="wait", budget=0.5))
    assert "disk_max" not in said[0].text + said[-1].text


def test_so_it_is_where_the_error_is_the_cause_of_another(server):
    """As of joblib, which writes arrays for its processes and deletes what it has begun."""
    server.call("session_info", session_id="t", config={"disk_max": 40 * MIB})
    code = ("import os, time\nf = open('c', 'wb')\ntry:\n  for i in range(99): f.write(bytes(3 << 20)); time.sleep(0.2)\n"
            "except OSError as e:\n  os.remove('c')\n  raise RuntimeError('could not pickle') from e")
    result = server.cell(code, session="t")
    assert "File too large" in result.text and "(disk_max)" in result.text and "file_max" not in result.text, result.texts


def test_what_is_left_of_the_folder_is_named_to_whom_it_stops(server):
    """A file may be larger, and a program that meets it need not end the cell."""
    config = {"disk_max": 40 * MIB, "tmp_max": 200 * MIB, "memory_max": 400 * MIB}
    assert not server.call("session_info", session_id="t", config=config).is_error
    told = "is limited to 40 MB (disk_max). So no file, also in /tmp and shared memory, could become larger than what is left. Delete"
    result = server.cell("while head -c 90000000 /dev/zero >/tmp/z; do sleep 0.1; done; rm /tmp/z", session="t", language="bash")
    assert result.state == "done" and "'File too large', perhaps because a limit was met. The session's folder" in result.text, result.texts
    assert told in result.text and "file_max" not in result.text
    result = server.cell("import sqlite3, time\nwhile True:\n  c = sqlite3.connect('/tmp/d.db')\n  c.execute('create table t(a)')\n"
                         "  c.execute('insert into t values(zeroblob(90000000))')\n  c.commit()\n  c.execute('drop table t')\n  c.commit()\n"
                         "  time.sleep(0.1)", session="t")
    assert result.state == "raised" and told in result.text and "file_max" not in result.text, result.texts


def test_a_cell_that_writes_nothing_met_no_limit(server):
    for look in range(2):
        server.cell("for i in {1..4}; do head -c 15000000 /dev/zero >f$i; done", language="bash")
        result = server.cell(f"import time; time.sleep({look} / 2); 5")
        assert result.text.endswith("5\n"), result.texts


def test_so_it_is_when_a_child_writes(server):
    server.cell("x = 5")
    result = server.cell("import subprocess\nsubprocess.run(['bash', '-c', " + repr(FILLS["bash"][1]) + "]).returncode")
    assert "File size limit exceeded" in result.text and "(disk_max)" in result.text and result.state == "done"
    assert server.cell("x").text == "5\n"


def test_memory_that_a_cell_lacks_is_named_beside_the_full_folder(server):
    for code in ("bytearray(1 << 45)", "from mmap import mmap; mmap(-1, 1 << 46)"):
        result = server.cell(f"try: exec({FILL[1]!r})\nexcept OSError: {code}")
        assert result.state == "raised" and "(disk_max)" in result.text and "(memory_max)" in result.text, result.texts
        server.cell("rm f*", language="bash")


def test_a_plot_of_r_that_a_full_folder_cuts_off_is_not_called_saved(server):
    skip_without("r")
    result = server.cell(f"try({FILLS['r'][1]}); plot(1:3)", language="r")
    assert result.state == "done" and "(disk_max)" in result.text and "saved" not in result.text and not result.images, result.texts
    assert "A plot could not be shown: there was no room for its picture; output/cell-1-figure-1.png is cut off" in result.text
    assert len(server.cell("unlink(Sys.glob('f*')); plot(1:3)", language="r").images) == 1


def test_a_library_of_r_whose_code_has_no_room_names_the_limit(home):
    """Words of the loader, which R repeats."""
    skip_without("r")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        said = server.cell("stop('unable to load shared object glue.so:\n  glue.so: failed to map segment from shared object')", language="r")
        assert "one process here has at most 300 MB (memory_max)" in said.text, said.texts


def test_what_writes_in_the_background_is_held_too(server):
    server.cell("x=5; (sleep 1; " + FILLS["bash"][1] + "; echo $? >ended) >/dev/null 2>&1 &", language="bash")

    def is_full():
        return "(disk_max)" in "".join(server.cell("echo $x", language="bash").texts)
    until(is_full)
    assert server.cell("echo $x", language="bash").text.splitlines()[0] == "5"


def test_who_filled_the_folder_at_once_is_told_with_a_later_answer(server):
    """The cell had ended when its folder was measured, and those that follow write nothing."""
    said = ["".join(server.cell("for i in {1..4}; do head -c 15000000 /dev/zero >f$i; done", language="bash").texts)]
    said += ["".join(server.cell("sleep 0.1", language="bash").texts) for _ in range(30)]
    assert 1 == sum("holds 57 MB, " in one and "(disk_max)" in one for one in said), said


def test_small_files_are_held_while_others_make_room_on_the_disk(server, home):
    """The file system's free space tells nothing then."""
    (home / "others").mkdir()
    for number in range(150):
        with open(home / "others" / str(number), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 4 * MIB)
    said = "".join(server.cell("for i in {1..4}; do head -c 15000000 /dev/zero >f$i; done", language="bash").texts)
    until(lambda: "(disk_max)" in said + "".join(server.cell("true", language="bash").texts))
    server.cell("rm f*", language="bash")
    running = server.start_cell("import time\nfor i in range(6000):\n  open(f'f{i}', 'wb').write(bytes(1 << 16)); time.sleep(0.001)")
    for number in range(150):
        (home / "others" / str(number)).unlink()
        time.sleep(0.03)
    result = Result(running.get()["result"])
    assert result.state == "raised" and "is limited to 40 MB (disk_max)" in result.text, result.texts
    size = server.cell("import subprocess; subprocess.run(['du', '-sk', '.'], capture_output=True, text=True).stdout").text
    assert int(re.search(r"(\d+)\\t", size)[1]) < 110 << 10, size


# A limit that code lifts again.
# A limit that is lowered between the two calls refuses a write.
LIFTS = ("import contextlib, resource, time\ndef write():\n  for i in range(10**6):\n"
         "    resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1:] * 2)\n"
         "    with contextlib.suppress(OSError): open(f'f{i}', 'wb').write(bytes(2 << 20))\n    time.sleep(0.03)\n")


def test_who_lifts_the_limit_is_interrupted_and_then_ended(server):
    result = server.cell(LIFTS + "x = 5\nwrite()")
    assert result.state == "interrupted" and "It grew on although no file was to, so the cell was interrupted." in result.text
    assert server.cell("x").text == "5\n"
    result = server.cell("while True:\n  try: write()\n  except BaseException: pass")
    assert result.state == "died" and "(disk_max); delete files that are not needed" in result.text


def test_a_program_behind_cells_that_goes_on_after_errors_stays_at_the_limit(server):
    """Each cell's end would give it room again."""
    writer = ("import time\nmade = refused = 0\nwhile made < 400 and refused < 150:\n  try:\n    with open(f'log{made % 50}', 'ab', 0) as f: f.write(bytes(1 << 20))\n"
              "    made, refused = made + 1, 0\n  except OSError: refused += 1\n  time.sleep(0.02)")
    server.cell(f"import os, subprocess, sys\np = subprocess.Popen([sys.executable, '-c', {writer!r}])")
    until(lambda: server.cell("p.poll()").text.startswith("0"), every=0.05)
    assert int(server.cell("sum(os.path.getsize(f) for f in os.listdir() if f[0] == 'l') >> 20").text.split()[0]) < 300
    # Soon after its end cells may write before they delete.
    until(lambda: server.cell("open('new', 'wb').write(bytes(1 << 20))").state == "done", every=1)


def test_a_program_behind_cells_refuses_nothing_after_its_end(server):
    """The cell that follows it may delete and write, however long it runs."""
    server.cell("(while true; do i=$((i+1)); head -c 2000000 /dev/zero >f$i; sleep 0.02; done) 2>/dev/null &", language="bash")
    for _ in range(2):
        until(lambda: "no file could grow" in server.cell("sleep 1", language="bash").text)
    server.cell("kill %1; wait", language="bash")
    result = server.cell("for i in {1..30}; do head -c 500000 /dev/zero >mine && break; sleep 0.1; done; stat -c %s mine", language="bash")
    assert result.text.splitlines()[-1] == "500000", result.text


def test_a_thread_behind_cells_that_goes_on_after_errors_is_refused_more(server):
    server.cell("import contextlib, threading\ndef write():\n  for i in range(10**6):\n    with contextlib.suppress(OSError): "
                "open(f'f{i}', 'ab').write(bytes(2 << 20))\n    time.sleep(0.03)\nimport time\nthreading.Thread(target=write, daemon=True).start()")
    until(lambda: any(resource.prlimit(pid, resource.RLIMIT_FSIZE)[0] == 0 for pid, _ in interpreters(server)))
    result = server.cell("1")
    assert "1" in result.text.splitlines() and "(disk_max)" in "".join(result.texts)


def test_a_program_behind_cells_that_lifts_the_limit_is_ended_and_named_and_no_interpreter(server):
    server.cell("x=5", language="bash")
    server.cell(f"x = 5\nimport subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {LIFTS + 'write()'!r}], stdout=-3, stderr=-3)")
    said = until(lambda: re.search("The program '.*", "".join(server.cell("echo $x", language="bash").texts)))[0]
    assert re.search(r"-c import contextlib, .*'\), which code had started, was killed: it had written \d+ MB and wrote on, and the session's "
                     r"folder holds [\d.]+ MB, more than the limit of 40 MB \(disk_max\)", said), said
    assert server.cell("echo $x", language="bash").text.splitlines()[0] == "5"
    assert server.cell("x, child.wait()").text.splitlines()[0] == "(5, -9)"


@pytest.mark.parametrize("language, code", [("r", "cat(strrep('a', 3e7), file = 'g')"),
                                            ("python", "import subprocess\nwith open('g', 'wb') as f: subprocess.run(['head', '-c', '30000000', "
                                             "'/dev/zero'], stdout=f)")])
def test_a_file_that_is_cut_off_without_an_error_is_named(server, language, code):
    skip_without(language)
    result = server.cell(code, language=language)
    assert result.state == "done" and "'g' is as large as a file may be, and probably cut off: 16 MB (file_max)." in result.text


def test_a_disk_that_is_nearly_full_is_only_told(home):
    (home / "cache").mkdir(mode=0o700)
    command = own_mounts('mount -t tmpfs -o size=40m,mode=700 none "$0" && exec "$@"', [str(home / "cache")], [str(BUILD / "ptycell")])
    with Server(home, command=command) as server:
        server.cell("x = 5")

        def is_told():
            result = server.cell("import time; time.sleep(0.6); x")
            assert result.state == "done" and result.text.endswith("5\n")
            return "the disk on which the session's folder lies is nearly full" in result.text
        until(is_told)
        assert server.cell("x").texts[0] == "5\n"


# Memory that no limit of one process counts, as others could have it, too.
GROWS = ("import mmap, time\nheld = []\nfor _ in range(80):\n  held.append(mmap.mmap(-1, 4 << 20)); held[-1].write(bytes(4 << 20)); "
         "time.sleep(0.03)\n")


@pytest.fixture(name="tight")
def fixture_tight(home):
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"memory_max": 400 * MIB}).is_error
        server.cell("import time\nx = bytearray(250 << 20)\nx[::4096] = b'1' * (len(x) // 4096)")
        yield server


def test_a_program_that_grows_is_ended_and_no_interpreter(tight):
    result = tight.cell(f"python3 -c \"{GROWS}\"; echo $?", language="bash")
    assert "The program 'python3' (command: 'python3 -c import mmap, time held = [] for _ in range(80): h" in "".join(result.texts)
    assert "which code had started, was killed: it had" in "".join(result.texts) and "137\n" in result.text
    assert tight.cell("len(x) >> 20").text == "250\n"


def test_so_it_is_beside_an_idle_interpreter_that_stayed_above_the_limit(tight):
    """What a cell held when it was interrupted may stay, and is not given up for a program that grows."""
    tight.cell("y=5", language="bash")
    result = tight.cell("import mmap\nheld = []\nwhile True: held.append(mmap.mmap(-1, 4 << 20)); held[-1].write(bytes(4 << 20)); time.sleep(0.1)")
    assert result.state == "interrupted" and "(memory_max)" in result.text
    begin_it = f"python3 -c \"{GROWS}time.sleep(1000)\" >/dev/null 2>&1 & p=$!; disown"
    texts = list(tight.cell(begin_it, language="bash").texts)

    def is_told():  # what begins while the memory is full may end before it grows
        texts.extend(tight.cell(f"kill -0 $p 2>/dev/null || {{ {begin_it}; }}", language="bash").texts)
        return re.search("The program .*was killed", "".join(texts))
    said = until(is_told)
    assert "'python3" in said[0] and "(memory_max)" in said.string
    assert tight.cell("echo $y", language="bash").text == "5\n"
    assert tight.cell("len(x) >> 20").text == "250\n"


def test_a_program_whose_parent_has_ended_is_a_program(tight):
    """Its parent is then the interpreter's, and it was taken for an interpreter."""
    tight.cell(f"(python3 -c \"{GROWS}time.sleep(1000)\" &) >/dev/null 2>&1", language="bash")
    until(lambda: "The program 'python3'" in "".join(tight.cell("len(x) >> 20").texts))
    assert tight.cell("len(x) >> 20").text == "250\n"


def test_files_in_memory_are_memory_and_cost_no_process(home):
    """What a process's end does not free ends none: who writes hears that there is no room."""
    fill = ("import os\nx, n, size = 5, 0, 0\ntry:\n  while True:\n    with open(f'/dev/shm/{n}', 'wb', buffering=0) as f: n += 1; size += f.write(bytes(4 << 20))\n"
            "except OSError as e: print(e.strerror)\nsize >> 20")
    with Server(home, env=ALONE) as server:
        tier = server.call("session_info", session_id="s", config={"memory_max": 200 * MIB, "tmp_max": 4 * MIB}).object["confinement"]["tier"]
        if tier != "namespaces":
            pytest.skip("nobody can give /dev/shm another size here")
        error, size, *_ = server.cell(fill).text.splitlines()
        assert error == "No space left on device" and 100 < int(size) <= 188
        for _ in range(3):  # as long as it is looked at
            assert server.cell("import time; time.sleep(0.6); x").text == "5\n"
        result = server.cell("open('/dev/shm/more', 'wb').write(bytes(4 << 20))")
        assert "/dev/shm holds what processes leave of 200 MB (memory_max)." in result.text
        server.cell("for i in range(n): os.path.exists(f'/dev/shm/{i}') and os.remove(f'/dev/shm/{i}')")
        until(lambda: server.cell("open('/dev/shm/more', 'wb').write(bytes(30 << 20))").state == "done")


def test_what_files_in_memory_have_of_it_is_told(home):
    with Server(home, env=ALONE) as server:
        tier = server.call("session_info", session_id="s", config={"memory_max": 300 * MIB}).object["confinement"]["tier"]
        if tier != "namespaces":
            pytest.skip("/dev/shm is no part of the memory here")
        server.cell(f"head -c {200 * MIB} /dev/zero >/dev/shm/f", language="bash")

        def is_told():
            """A look while it grows may interrupt it, and after one before it the allocation fails."""
            result = server.cell(f"import time\nx = None\nx = b'1' * (200 << 20)\ntime.sleep({NEVER_S})")
            assert result.state in ("interrupted", "died", "raised"), result.texts
            return re.search(r"of which 200 MB are files in /dev/shm|with /dev/shm: at the last look they used 2\d\d MB", result.text)
        until(is_told)


def test_an_idle_interpreter_goes_last(tight):
    skip_without("javascript")
    # Node does not know that there are too many.
    grow = "for (let i = 0; i < 600; i++) { held.push(Buffer.alloc(8 << 20, 1)); await new Promise((go) => setTimeout(go, 50)) }"
    result = tight.cell(f"process.on('SIGINT', () => {{}}); var held = []; {grow}", language="javascript")
    assert result.state == "died" and "so this interpreter was killed" in result.text
    assert tight.cell("len(x) >> 20").text == "250\n"


HARD = "import resource\nsoft, hard = resource.getrlimit(resource.RLIMIT_DATA)\n"


def test_what_others_leave_is_what_an_interpreter_gets(home):
    """Its code learns by a failed allocation of a computation in C, which no interrupt reaches, that all have too much."""
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 400 * MIB})
        server.cell("x = 5")
        server.cell("head -c 200000000 /dev/zero >/dev/shm/f", language="bash")
        until(lambda: server.cell(HARD + "hard - soft > 150 << 20").text == "True\n")
        result = server.cell("y = bytearray(300 << 20)")
        assert result.state == "raised" and "limited to 400 MB (memory_max)" in result.text, result.texts
        assert re.search(r"limit of all the session's processes, with /dev/shm: at the last look they used [12]\d\d MB\.", result.text)
        child = server.cell("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'y = bytearray(300 << 20)']).returncode")
        assert child.text.splitlines()[-1] != "0" and "MemoryError" in child.text
        assert server.cell("x").text == "5\n"
        server.cell("rm /dev/shm/f", language="bash")
        until(lambda: server.cell("y = bytearray(300 << 20); del y; 5").text == "5\n")


@pytest.mark.parametrize("size", [300, 10000, 100000])
def test_small_values_that_fill_the_memory_can_be_deleted(home, size):
    """What reads the next cell has to fit into what they leave."""
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 200 * MIB})
        result = server.cell(f"y = 5; held = []\nwhile True: held.append(bytearray(b'x') * {size})")
        assert result.state == "raised" and "limited to 200 MB (memory_max)" in result.text, result.texts
        assert server.cell("y, len(held) > 100").text.splitlines()[-1] == "(5, True)"
        result = server.cell(f"while True: held.append(bytearray(b'x') * {size})")
        assert result.state == "raised" and "limited to 200 MB (memory_max)" in result.text, result.texts
        assert server.cell("del held").state == "done"
        assert server.cell("y").text == "5\n"


@pytest.mark.parametrize("filling", ["held <- as.pairlist(c(list(held), 1:20))", "held <- list(held, numeric(50))"])
def test_small_values_that_fill_the_memory_of_r_can_be_deleted(home, filling):
    """Its functions call malloc() and do not all look at what comes back."""
    skip_without("r")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        server.cell("y <- 5; held <- NULL", language="r")
        for _ in range(3):
            result = server.cell(f"repeat {filling}", language="r")
            assert result.state == "raised" and "limited to 300 MB (memory_max)" in result.text, result.texts
            assert server.cell("cat(y)", language="r").text.strip() == "5"
        assert server.cell("held <- NULL", language="r").state == "done"
        assert server.cell("cat(y)", language="r").text.strip() == "5"


def test_a_first_plot_without_memory_ends_no_plotting(home):
    """R loads what draws once, and never again after it failed."""
    skip_without("r")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        server.cell("held <- NULL; repeat held <- list(held, numeric(1e5))", language="r")
        refused = server.cell("plot(1:3)", language="r")
        assert refused.state == "raised" and "cannot open a plot of" in refused.text, refused.texts
        assert "limited to 300 MB (memory_max)" in refused.text, refused.texts
        plotted = server.cell("held <- NULL; invisible(gc()); plot(1:3)", language="r")
        assert plotted.state == "done" and len(plotted.images) == 1, plotted.texts


@pytest.mark.parametrize("draw", ["plot(1:3, main = 'a')", "grid::grid.newpage(); grid::grid.text('a')",
                                  "png('a.png', type = 'cairo'); plot(1:3)"])
@pytest.mark.parametrize("left", [6, 18])
def test_a_first_plot_whose_threads_have_no_room_costs_no_value(home, draw, left):
    """They are made for its fonts, and GLib ends the process that cannot have one."""
    skip_without("r")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 400 * MIB})
        server.cell("y <- 5; held <- list(); try(repeat held[[length(held) + 1L]] <- numeric(131072))\n"
                    f"held <- held[-seq_len({left})]; invisible(gc())", language="r")
        refused = server.cell(draw, language="r")
        assert refused.state == "raised" and "cannot allocate vector of size" in refused.text, refused.texts
        assert "limited to 400 MB (memory_max)" in refused.text, refused.texts
        assert server.cell("cat(y)", language="r").text.strip() == "5"
        server.cell("graphics.off(); held <- NULL; invisible(gc())", language="r")
        assert len(server.cell("plot(1:3)", language="r").images) == 1


@pytest.mark.parametrize("device", ["pdf", "postscript"])
def test_a_plot_that_starts_no_thread_needs_no_room_for_threads(home, device):
    skip_without("r")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 400 * MIB})
        server.cell("held <- list(); try(repeat held[[length(held) + 1L]] <- numeric(131072))\n"
                    "held <- held[-seq_len(18)]; invisible(gc())", language="r")
        result = server.cell(f"{device}('a'); plot(1:3); invisible(dev.off())\n{device}('b'); grid::grid.newpage(); invisible(dev.off())", language="r")
        assert result.state == "done", result.texts


def test_an_interpreter_that_goes_on_after_errors_is_not_ended_for_it(home):
    """What it gets to report an error with is no more memory each time."""
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        server.cell("y = 5; other = bytearray(b'x') * (80 << 20)")
        server.cell("y=6; head -c 100000000 /dev/zero >/dev/shm/f", language="bash")
        until(lambda: server.cell(HARD + "hard - soft > 50 << 20").text == "True\n")
        server.cell("import threading, time\nheld = []; met = 0\ndef grow():\n  global met\n  while True:\n    try: held.append(bytearray(b'x') * (1 << 20))\n"
                    "    except MemoryError: met += 1; time.sleep(0.05)\nthreading.Thread(target=grow, daemon=True).start()")
        for _ in range(6):  # some may be interrupted
            server.cell("sleep 1", language="bash")
        assert "(5, True)" in server.cell("y, met > 20").text.splitlines()
        assert "6" in server.cell("echo $y", language="bash").text.splitlines()


GROWS_SLOWLY = {
    "javascript": ("var y = 5", "var z = []; while (true) { z.push(Buffer.alloc(1 << 19, 1)); await new Promise((go) => setTimeout(go, 20)) }", "y"),
    "r": ("y <- 5", "z <- list(); for (i in 1:6000) { z[[i]] <- numeric(1e5) + i; Sys.sleep(0.02) }", "cat(y)"),
}


@pytest.mark.parametrize("language", ["javascript", "r"])
def test_an_interpreter_is_interrupted_before_it_is_ended_for_what_all_have(tight, language):
    skip_without(language)
    begin, grow, look = GROWS_SLOWLY[language]
    tight.cell(begin, language=language)
    result = tight.cell(grow, language=language)
    if result.state == "raised":  # what it allocated came first
        assert language == "r" and "cannot allocate vector" in result.text and "400 MB (memory_max)" in result.text, result.texts
    else:
        assert result.state == "interrupted" and "more than the limit of 400 MB (memory_max)" in result.text, result.texts
    for _ in range(2):  # as long as it is looked at
        assert tight.cell("time.sleep(0.6); len(x) >> 20").text == "250\n"
    assert tight.cell(look, language=language).text.strip() == "5"
    result = tight.cell(grow, language=language)
    assert result.state in ("interrupted", "died", "raised") and "(memory_max)" in result.text
    assert tight.cell("del x; 1").text == "1\n"


WAITS = "until [ -e go ]; do sleep 0.05; done; echo $y"


def test_of_several_cells_the_one_that_grows_is_interrupted(tight):
    skip_without("javascript")
    tight.cell("y=5", language="bash")
    innocent = tight.start_cell(WAITS, language="bash")
    result = tight.cell(GROWS_SLOWLY["javascript"][1], language="javascript")
    assert result.state == "interrupted" and "more than the limit of 400 MB (memory_max)" in result.text, result.texts
    assert tight.cell("open('go', 'w'); len(x) >> 20").text == "250\n"
    assert innocent.get()["result"]["content"][0]["text"] == "5\n"
    assert tight.cell("z.length > 9", language="javascript").text == "true\n"


def test_of_several_that_grow_each_is_interrupted_and_keeps_what_it_has(tight):
    skip_without("javascript")
    skip_without("r")
    grow = {"javascript": "var y = 5, z = []; while (true) { z.push(Buffer.alloc(1 << 19, 1)); await new Promise((go) => setTimeout(go, 50)) }",
            "r": "y <- 5; z <- list(); for (i in 1:6000) { z[[i]] <- numeric(1e5) + i; Sys.sleep(0.08) }"}
    cells = [tight.start_cell(code, language=language) for language, code in grow.items()]
    for cell in cells:
        text = cell.get()["result"]["content"][0]["text"]
        assert "was interrupted because the session's processes" in text and "(memory_max)" in text, text
    assert tight.cell("len(x) >> 20").text == "250\n"
    for language, look in (("javascript", "y"), ("r", "cat(y)")):
        assert tight.cell(look, language=language).text.strip() == "5"


def test_a_cell_that_starts_what_is_killed_again_and_again_is_interrupted(tight):
    """Its programs end, and no interpreter does."""
    tight.cell("y=5", language="bash")
    grow = "import mmap, time; held = mmap.mmap(-1, 220 << 20); held.write(bytes(220 << 20)); time.sleep(10**6)"
    result = tight.cell(f"import subprocess, sys\nn = 0\nwhile True: n += 1; subprocess.run([sys.executable, '-c', {grow!r}])")
    assert result.state == "interrupted" and "(memory_max)" in result.text, result.texts
    assert tight.cell("len(x) >> 20, n > 4").text == "(250, True)\n"
    assert tight.cell("echo $y", language="bash").text == "5\n"


def test_what_grows_behind_cells_is_ended_and_an_idle_interpreter_last(tight):
    skip_without("javascript")
    tight.cell("y=5", language="bash")
    tight.cell("var z = []; setInterval(() => z.push(Buffer.alloc(1 << 19, 1)), 20); 1", language="javascript")
    told = until(lambda: "".join(tight.cell("sleep 0.1; echo $y", language="bash").texts).partition("The javascript state")[2])
    assert "was lost after cell 3: the session's processes used" in told and "more than the limit of 400 MB (memory_max)" in told
    assert tight.cell("echo $y", language="bash").text == "5\n"
    assert tight.cell("len(x) >> 20").text == "250\n"


def test_what_grows_on_behind_its_interrupt_is_ended_before_a_cell_that_hardly_grows(tight):
    skip_without("javascript")
    tight.cell("var grow = []", language="javascript")
    slow = tight.start_cell("import os, time\nwhile not os.path.exists('stop'): x += b'1' * (1 << 18); time.sleep(0.2)\nlen(x) > 250 << 20")
    tight.cell("while (true) { grow.push(Buffer.alloc(4 << 20, 1)); await new Promise((go) => setTimeout(go, 100)) }", language="javascript")
    until(lambda: "The javascript state" in "".join(tight.cell("true", language="bash").texts))
    tight.cell("touch stop", language="bash")
    assert slow.get()["result"]["content"][0]["text"] == "True\n"


def test_of_programs_behind_cells_the_one_that_grows_is_ended(tight):
    still = "import time; held = b'1' * (60 << 20); time.sleep(10**6)"
    tight.cell(f"(exec -a still python3 -c \"{still}\") >/dev/null 2>&1 & kept=$!; sleep 0.5", language="bash")
    tight.cell(f"python3 -c \"{GROWS}time.sleep(1000)\" >/dev/null 2>&1 &", language="bash")
    until(lambda: "The program 'python3'" in "".join(tight.cell("len(x) >> 20").texts))
    # Where bash tells just then that the other job was killed, it does so behind the output.
    assert "0" in tight.cell("kill -0 $kept; echo $?", language="bash").text.splitlines()


@pytest.mark.parametrize("code, words", [
    # H8: a write that cannot fail otherwise.
    ("from multiprocessing import shared_memory\nm = shared_memory.SharedMemory(create=True, size=30 << 20)\ntry:\n  more = [shared_memory.SharedMemory(create=True, size=30 << 20) for _ in range(12)]\n  for one in more: one.buf[:] = bytes(30 << 20)\n"
     "finally: m.unlink()", "/dev/shm, where shared memory lies, holds what processes leave of 300 MB (memory_max)."),
    # H10: here it is memory, of which the kernel says the same.
    ("import threading, time\nthreading.stack_size(8 << 20)\nrun = threading.Event()\nthreads = [threading.Thread(target=run.wait) for _ in range(90)]\n"
     "try:\n  for t in threads: t.start()\nfinally: run.set()",
     "the stack of each thread, of 1 to 8 MB as a rule, counts as memory, of which one process has at most 300 MB (memory_max)."),
    ("import sqlite3\nc = sqlite3.connect('d.db')\nc.execute('create table t(a)')\n"
     "for i in range(400): c.execute('insert into t values(zeroblob(100000))')\nc.commit()",
     "If its file has become too large: one file here is limited to 30 MB (file_max)."),  # H11
    ("try:\n  for i in range(9): open(f'/tmp/{i}', 'wb').write(bytes(1 << 20))\nexcept OSError as e:\n  raise RuntimeError('Could not pickle the task') from e",
     "up to 4.0 MB (tmp_max)"),  # H7
    ("class Remote(Exception):\n  def __str__(self): return '\\n\"\"\"\\nOSError: [Errno 28] No space left on device\\n\"\"\"'\n"
     "raise ValueError('no') from Remote()", "up to 4.0 MB (tmp_max)"),
    ("try:\n  {}[1]\nexcept KeyError as e:\n  raise ValueError('no') from e", None),
    ("import os\nx = bytearray(240 << 20)\nx[::4096] = b'1' * (len(x) // 4096)\n"
     "import time\ntime.sleep(1.2)\nos.abort()", "limited to 300 MB (memory_max)"),  # H9
    ("import os\nos.abort()", None),
    ("import os\nos.write(2, b'memory allocation of 8000000000 bytes failed\\n')\nos.abort()", "limited to 300 MB (memory_max)"),  # as Rust does
    ("import os\nos.write(2, b'\\nlibgomp: Thread creation failed: Resource temporarily unavailable\\n')\nos._exit(1)",
     "(processes_max), and the stack of each thread, of 1 to 8 MB as a rule, counts as memory, "
     "of which one process has at most 300 MB (memory_max)."),
    ("import os\nprint('libgomp: Thread creation failed: Resource temporarily unavailable was said')\nos._exit(1)", None),
    ("import builtins\ntry: x = bytearray(900 << 20)\nexcept MemoryError as e: met = e\n"
     "if not hasattr(builtins, 'ExceptionGroup'): raise met  # before 3.11\n"
     "raise builtins.ExceptionGroup('many', [ValueError(1), met])", "limited to 300 MB (memory_max)"),
    ("try: x = bytearray(900 << 20)\nexcept MemoryError as e: raise RuntimeError('too much')", "limited to 300 MB (memory_max)"),
    # What code only says.
    ("raise MemoryError('mine')", None),
    ("raise RuntimeError('MemoryError, as the worker said')", None),
    ("def check(): raise OSError(28, 'No space left on device')\ncheck()", None),
    # H13: nothing of it is in memory, and it counts all the same.
    ("import mmap\nopen('big', 'wb').truncate(29 << 20)\nf = open('big', 'rb')\n"
     "maps = [mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY) for _ in range(20)]",
     "at most 300 MB (memory_max). One that is only read does not: mode='r', ACCESS_READ."),
    ("files = []\nwhile True: files.append(open('/dev/null'))", "limited to 2000 (open_files_max)"),  # H14
])
def test_the_limit_that_was_met_is_named_and_no_other(home, code, words):
    with Server(home, env=ALONE) as server:
        config = {"tmp_max": 4 * MIB, "memory_max": 300 * MIB, "file_max": 30 * MIB, "open_files_max": 2000}
        assert not server.call("session_info", session_id="s", config=config).is_error
        result = server.cell(code)
        assert result.state in ("raised", "died")
        assert "_max)" not in result.text if words is None else words in result.text, result.text


def test_where_threads_of_others_leave_none_for_a_plot_of_r_the_limit_is_named(home):
    """GLib ends R. Before Pango 1.50 it needs no thread."""
    skip_without("r")
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"processes_max": 64}).is_error
        server.cell("1", language="r")
        server.cell("import threading\nrun = threading.Event()\ntry:\n  while True: threading.Thread(target=run.wait, daemon=True).start()\n"
                    "except RuntimeError: pass")
        result = server.cell("plot(1:3)", language="r")
        assert result.state == "done" or "limited to 64 (processes_max)" in result.text, result.texts


def test_what_javascript_only_says_names_no_limit(home):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"file_max": 30 * MIB}).is_error
        server.cell("require('fs').writeFileSync('own.js', 'exports.f = () => { throw new Error(\"EFBIG: file too large\") }')", language="javascript")
        for code in ("throw new Error('EFBIG: file too large, as the other said')", "require('./own').f()", "throw { message: 'Cannot allocate memory' }"):
            said = server.cell(code, language="javascript")
            assert said.state == "raised" and "_max)" not in said.text
        for code in ("console.log('No space left on device')",
                     "setTimeout(() => { throw new Error('No space left on device') }, 1); await new Promise(r => setTimeout(r, 50))"):
            said = server.cell(code, language="javascript")
            assert said.state == "done" and "ends in 'No space left on device', perhaps because a limit was met." in said.text
        met = server.cell("require('fs').writeFileSync('g', Buffer.alloc(40 << 20))", language="javascript")
        assert "One file here is limited to 30 MB (file_max)." in met.text


def test_a_memory_of_webassembly_that_does_not_fit_names_the_limit(home):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"memory_max": 500 * MIB}).is_error
        met = server.cell("new WebAssembly.Memory({ initial: 10000 })", language="javascript")
        assert met.state == "raised" and "limited to 500 MB (memory_max)" in met.text, met.texts


TOO_MUCH = "python3 -c 'y = bytearray(900 << 20)'"
PERHAPS = "A line of the output ends in 'MemoryError', perhaps because a limit was met. The memory of one process here is limited to 300 MB"


@pytest.mark.parametrize("language, code, words", [
    ("bash", TOO_MUCH + "; seq 20", PERHAPS),
    ("bash", "head -c 9000000 /dev/zero >/tmp/g; seq 20; rm /tmp/g", "'No space left on device', perhaps because a limit was met. /tmp lies in memory and holds up to 4.0 MB (tmp_max)."),
    ("bash", "head -c 40000000 /dev/zero >g; true", "'g' is as large as a file may be, and probably cut off: 30 MB (file_max)."),
    ("bash", "(ulimit -f 1; head -c 40000000 /dev/zero >g); true", None),  # a limit of the code's own
    ("bash", "head -c 40000000 /dev/zero >g; rm g", "'File too large', perhaps because a limit was met. One file here is limited to 30 MB (file_max)."),
    ("python", "import subprocess\nsubprocess.run('rm -f g; exec 3>g; rm g; head -c 40000000 /dev/zero >&3', shell=True)",
     "'File size limit exceeded', perhaps because a limit was met. One file here is limited to 30 MB (file_max)."),
    ("python", f"import os\nos.system({TOO_MUCH!r})\nx", PERHAPS),
    ("python", f"import subprocess\nsubprocess.run({TOO_MUCH!r}, shell=True, check=True)", PERHAPS),
    ("javascript", f"require('child_process').spawnSync('sh', ['-c', {TOO_MUCH!r}], {{ stdio: 'inherit' }}); for (let i = 0; i < 20; i++) console.log(i)", PERHAPS),
    ("r", f"x <- system({TOO_MUCH!r})", PERHAPS),
    ("r", "print(parallel::mclapply(1:2, function(i) { x <- numeric(2e8); 1 }))",
     "has 'cannot allocate vector of size', perhaps because a limit was met. The memory of one process here is limited to 300 MB"),
    ("bash", "python3 -c 'class ArrayMemoryError(MemoryError): pass\nraise ArrayMemoryError(\"Unable to allocate 7.45 GiB for an array\")'; seq 20",
     "has 'MemoryError: Unable to allocate', perhaps because a limit was met. The memory of one process"),
    ("bash", "echo 'init_gesdd failed init'; seq 20", "'init_gesdd failed init', perhaps because a limit was met. The memory of one process"),  # NumPy's svd()
    ("bash", "echo 'Out of memory!'; seq 20", "ends in 'Out of memory!', perhaps because a limit was met. The memory of one process"),
    ("bash", "echo 'xz: (stdin): Cannot allocate memory'; seq 20", "ends in 'Cannot allocate memory', perhaps because a limit was met. The memory of one process"),
    ("bash", "echo 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'; seq 20",
     "ends in 'heap out of memory', perhaps because a limit was met. The memory of one process"),
    ("bash", "echo \"  what():  std::bad_alloc\"", "'std::bad_alloc', perhaps because a limit was met. The memory of one process"),
    ("bash", "echo 'ImportError: fields.so: cannot map zero-fill pages'; seq 20", "'cannot map zero-fill pages', perhaps because a limit was met. The memory of one process"),
    ("bash", "echo No space left on device, said one; ls /root; cat /nowhere", None),
])
def test_what_a_program_met_is_named_though_the_cell_went_on(home, language, code, words):
    skip_without(language)
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"tmp_max": 4 * MIB, "memory_max": 300 * MIB, "file_max": 30 * MIB}).is_error
        server.cell(FILLS[language][0], language=language)
        result = server.cell(code, language=language)
        assert result.state in ("done", "raised")
        assert "_max)" not in result.text if words is None else words in result.text, result.text


def test_what_a_program_met_is_named_though_its_cell_has_not_ended_by_itself(home):
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        assert PERHAPS in overdue(server, f"{TOO_MUCH}; echo begun; sleep {NEVER_S}", language="bash").text


def test_a_shell_that_got_no_memory_is_not_said_to_have_left(home):
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        result = server.cell("y=$(head -c 900000000 /dev/zero | tr '\\0' a)", language="bash")
        assert result.state == "died" and "of one process here is limited to 300 MB (memory_max)" in result.text, result.text
        assert "`exec` ends a shell" not in result.text


def test_a_limit_of_open_files_that_is_too_low_for_r_is_named(home):
    skip_without("r")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"open_files_max": 100})
        result = server.cell("1", language="r")
        assert result.state == "not_started" and "open_files_max, the session's own" in result.text, result.texts


@pytest.mark.parametrize("said", ["FATAL ERROR: JavaScript heap out of memory", "Fatal javascript OOM in MemoryChunk allocation failed during deserialization."])
def test_what_v8_says_of_its_end_names_the_limit(home, said):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        result = server.cell(f"require('fs').writeSync(2, {said!r} + '\\n'); process.kill(process.pid, 'SIGSEGV')", language="javascript")
        assert result.state == "died" and "(memory_max)" in result.text, result.texts


@pytest.mark.parametrize("said, why", [
    ("FATAL ERROR: JavaScript heap out of memory", " for lack of memory, of which one process here has at most 4.0 GB (memory_max)"), ("no more", "")])
def test_what_v8_says_of_its_end_between_cells_names_the_limit(home, said, why):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        server.cell(f"const fs = require('fs'); setInterval(() => {{ if (fs.existsSync('go')) {{ fs.writeSync(2, '{said}\\n'); process.abort() }} }}, 5); 1",
                    language="javascript")
        texts = list(server.cell("touch go", language="bash").texts)

        def is_told():
            texts.extend(server.cell("true", language="bash").texts)
            return f"was killed by signal 6 (SIGABRT){why}. Variables" in "".join(texts)
        until(is_told)


GROWS_IN_V8 = "const y = []; while (true) y.push(new Array(10000).fill(1.5))"


def test_a_bash_with_large_values_outlives_the_list_of_its_variables(home):
    """To list a value, bash needs memory for it twice more; without it ends, and says so to nobody."""
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 100 * MIB})
        result = server.cell("x=5; printf -v y '%*s' 40000000 ''", language="bash")
        assert result.state == "done", result.text
        assert server.cell("echo $x ${#y}", language="bash").text == "5 40000000\n"
        assert server.cell("unset y; z=6", language="bash").state == "done"
        assert "z" in [name["name"] for name in server.cell("z=7", language="bash").status["names"]]


def test_an_r_connection_without_room_names_the_limits(home):
    skip_without("r")
    with Server(home, env=ALONE) as server:
        tier = server.call("session_info", session_id="s", config={"tmp_max": 4 * MIB}).object["confinement"]["tier"]
        if tier != "namespaces":
            pytest.skip("/tmp has no limit of its own here")
        result = server.cell("saveRDS(raw(9e6), '/tmp/g', compress = FALSE)", language="r")
        assert result.state == "raised" and "4.0 MB (tmp_max)" in result.text, result.texts


def test_a_worker_without_memory_ends_alone(home):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        server.cell("var kept = 7; const { Worker } = require('worker_threads')", language="javascript")
        result = server.cell(f"await new Promise((go, no) => new Worker({GROWS_IN_V8!r}, {{ eval: true }}).on('error', no))", language="javascript")
        assert result.state == "raised" and "limited to 300 MB (memory_max)" in result.text, result.texts
        own = server.cell("await new Promise((go) => new Worker('require(\"worker_threads\").parentPort.postMessage(require(\"worker_threads\").resourceLimits)', "
                          "{ eval: true, resourceLimits: { maxOldGenerationSizeMb: 20 } }).on('message', go))", language="javascript")
        assert "maxOldGenerationSizeMb: 20," in own.text
        assert server.cell("kept", language="javascript").text == "7\n"


def test_a_database_sorts_in_the_working_folder(home):
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"tmp_max": 1 * MIB})
        code = ("import sqlite3\nc = sqlite3.connect('d.db')\nc.execute('create table t(a)')\n"
                "c.executemany('insert into t values(?)', ((f'{i * 7919 % 20011:01000}',) for i in range(20000)))\n"
                "c.execute('create index i on t(a)')\nc.execute('select count(*) from t').fetchone()")
        assert server.cell(code).text == "(20000,)\n"


@pytest.mark.parametrize("size, call", [(3200, "inv(a)"), (3200, "solve(a, a)"), (4000, "cholesky(a)"), (2800, "eigh(a)"), (2800, "eig(a)"),
                                        (2800, "svd(a)"), (4800, "det(a)")])
def test_numpy_raises_an_error_where_lapack_gets_no_memory(home, size, call):
    """NumPy before 2.3.4 returns what it has not computed."""
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        if "ModuleNotFoundError" in server.cell("import numpy as np").text:
            pytest.skip("no NumPy")
        assert server.cell(f"a = np.eye({size})").state == "done"
        result = server.cell(f"np.linalg.{call}")
        assert result.state == "raised" and "MemoryError" in result.text and "300 MB (memory_max)" in result.text, result.texts
        assert server.cell("a = 2 * np.eye(600)\nfloat(np.linalg.inv(a)[5, 5]), float(np.linalg.solve(a, a[0])[0]), np.linalg.svd(np.array([a, a]))[1].shape"
                           ).text == "(0.5, 1.0, (2, 600))\n"


@pytest.mark.parametrize("size", [64, 200, 360])
def test_what_linalg_computes_in_the_last_of_the_memory_is_right_or_an_error(home, size):
    """Where a whole copy of the matrix has room, but not the rest that LAPACK needs; small ones, too."""
    calls = ("svd(a)[1][0]", "svd(a, compute_uv=False)[0]", "inv(a)[0, 0]", "solve(a, a[0])[0]", "slogdet(a)[1]", "pinv(a)[0, 0]",
             "lstsq(a, a[:, :3], rcond=None)[0][0, 0]", "lstsq(a[:9, :3], right_sides, rcond=None)[0][0, 0]", "eigvals(a)[0]", "eig(a)[0][0]",
             "eigh(a + a.T)[0][0]", "norm(a, 2)", "svd(c)[1][0]", "eig(c)[0][0]", "lstsq(c, c[:, :3], rcond=None)[0][0, 0]",
             "solve(single, c)[0, 0]", "lstsq(single, a[0], rcond=None)[0][0]", "eigh(several)[0][1, 0]")
    fill = (f"wrong, right = [], 0\nfor free in range(16):\n  held = []\n  try:\n    while True: held.append(bytearray(1 << 18))\n"
            "  except MemoryError: pass\n  del held[len(held) - free:]\n  for call, value in good.items():\n"
            "    try: is_good = abs(eval('np.linalg.' + call) - value) <= 1e-6 * abs(value)\n    except MemoryError: continue\n"
            "    wrong += [] if is_good else [(free, call)]\n    right += is_good\ndel held\nwrong, right > 0")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 200 * MIB})
        if "ModuleNotFoundError" in server.cell("import numpy as np").text:
            pytest.skip("no NumPy")
        server.cell(f"a = np.random.default_rng(1).random(({size}, {size}))\n"
                    "c, single, right_sides = a + 1j, a.astype('f4'), np.ones((9, 8000))\nseveral = np.array([(a + a.T)[:120, :120]] * 9)\n"
                    f"good = {{call: eval('np.linalg.' + call) for call in {calls}}}")
        assert server.cell(fill).text.endswith("([], True)\n")


def test_linalg_computes_with_long_and_narrow_matrices_where_they_have_room(home):
    """A line that is fitted to many points needs little more than a copy of them."""
    calls = ("lstsq(a, b, rcond=None)[0]", "svd(a, full_matrices=False)[1]", "svd(a, compute_uv=False)", "qr(a)[0]", "pinv(a)", "matrix_rank(a)", "norm(a, 2)",
             "qr(a.T)[1]", "lstsq(a.T, b[:10], rcond=None)[0]")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 400 * MIB})
        if "ModuleNotFoundError" in server.cell("import numpy as np").text:
            pytest.skip("no NumPy")
        server.cell("a, b = np.random.default_rng(1).random((400_000, 10)), np.ones(400_000)")
        for call in calls:
            assert server.cell(f"np.linalg.{call}.shape").state == "done", call
        assert server.cell("np.polyfit(a[:, 0], 2 * a[:, 0], 1).round(6)[0]").text.endswith("2.0\n")


def test_programs_of_node_know_the_limit(home):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 300 * MIB})
        text = server.cell("node -p 'v8.getHeapStatistics().heap_size_limit >> 20'", language="bash").text
        assert 100 < int(text) < 300


@pytest.mark.parametrize("code", [
    f'node -e "{GROWS_IN_V8}"',
    "(echo \"terminate called after throwing an instance of 'std::bad_alloc'\"; echo '  what():  std::bad_alloc'; kill -ABRT $BASHPID)"])
def test_a_program_that_gives_up_without_memory_is_explained(home, code):
    skip_without("javascript")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 200 * MIB})
        assert "limited to 200 MB (memory_max)" in server.cell(code, language="bash").text


def test_as_many_threads_as_may_be_have_stacks(home):
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 400 * MIB})
        result = server.cell("import threading\nrun = threading.Event()\nthreads = [threading.Thread(target=run.wait) for _ in range(200)]\n"
                             "try:\n  for t in threads: t.start()\nfinally: run.set()\nlen(threads)")
        assert result.text == "200\n", result.texts


@pytest.mark.parametrize("language, how", [("javascript", "was killed"), ("r", "cannot start")])
def test_a_language_that_no_process_can_be_made_for_is_told_so(home, language, how):
    """Soon, too: the scripts that start R try for 15 s, and then go on without what they need."""
    skip_without(language)
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"processes_max": 40}).is_error
        server.cell("import subprocess\nmany = []\ntry:\n  while True: many.append(subprocess.Popen(['sleep', '1000']))\nexcept OSError: pass")
        result = server.cell("1", language=language)
        assert result.state == "not_started" and how in result.text, result.text
        assert "processes_max allows. End some" in result.text and "PTYCELL_" not in result.text
        server.cell("for one in many: one.kill(), one.wait()")
        assert server.cell("1", language=language).text.split()[-1] == "1"


def test_so_it_is_beside_a_fork_bomb(home):
    """Which leaves room for a process now and then: R starts, or it is told why it does not."""
    skip_without("r")
    with Server(home, env=ALONE) as server:
        assert not server.call("session_info", session_id="s", config={"processes_max": 40}).is_error
        server.cell("(:(){ :|:& };:) 2>/dev/null; sleep 1", language="bash")
        result = server.cell("1", language="r")
        assert result.state == "done" or "as many processes and threads as processes_max allows" in result.text, result.text


def within(option, value):
    return ["bash", "-c", f'ulimit {option} {value} && exec "$@"', "sh", str(BUILD / "ptycell")]


def test_the_session_that_does_not_fit_is_refused_and_those_that_are_there_work_on(home):
    with Server(home, command=within("-n", 256), env=ALONE) as server:
        refused = None
        for count in range(40):
            result = server.cell("echo hi", session=f"s{count}", language="bash")
            if result.text != "hi\n":
                refused = " ".join(result.texts)
                break
        assert count == 9 and f"no more sessions than these {count} fit: ptycell may have 256 files open at once (ulimit -n)" in refused
        for number in range(count):
            assert server.cell("6 * 7", session=f"s{number}").text == "42\n"
        for number in range(2):  # those with a second interpreter hold more than one that is new needs
            server.call("destroy_session", session_id=f"s{number}")
        until(lambda: server.cell("echo hi", session="other", language="bash").text == "hi\n")
        assert b"Too many open files" not in server.stderr
    done = subprocess.run(within("-n", 256) + ["doctor"], capture_output=True, text=True, env={**os.environ, "HOME": str(home)}, check=False)
    assert "only 9 sessions fit: this user may open 256 files at once (ulimit -n)" in done.stdout


def test_code_leaves_ptycell_the_processes_that_it_needs():
    """The kernel counts a user's processes: that of this test, if it can be, has no others."""
    user = {"user": 64123, "group": 64123, "extra_groups": []} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o777)
        command = within("-u", 80)
        command[-1] = str(programs() / "ptycell")
        with Server(Path(folder), command=command, env=ALONE, **user) as server:
            most = server.call("session_info", session_id="s", config={}).object["effective_config"]["processes_max"]
            assert 16 <= most < 60
            result = server.cell("import subprocess\nmany = []\nwhile True: many.append(subprocess.Popen(['sleep', '1000']))")
            assert result.state == "raised" and f"here they are limited to {most} (processes_max)" in result.text
            assert server.cell("echo hi", session="other", language="bash").text == "hi\n"
            assert server.cell("open('output/kept', 'w').write('5'); len(many)").state == "done"
            assert b"this user may have only" in server.stderr and b"(ulimit -u, or its container)" in server.stderr


TOPIC = (Path(__file__).parents[2] / "cmd/server/help/limits.md").read_text(encoding="utf-8")
ENDLESS = ("while True: pass", "while (true);", "while :; do :; done", "while (TRUE) {}")
MANY = "import subprocess\nmany = []\ntry:\n  while True: many.append(subprocess.Popen(['sleep', '1000']))\n"
# What meets a limit, row by row of the table, and column by column.
MEETS = (
    ("y = bytearray(900 << 20)", "Buffer.alloc(900 << 20)", "python3 -c 'y = bytearray(900 << 20)'", "y <- numeric(2e8)"),
    ("open('g', 'wb').write(bytes(20 << 20))", "require('fs').writeFileSync('g', Buffer.alloc(20 << 20))",
     "head -c 20000000 /dev/zero >g", "write.csv(numeric(2e6), 'g')"),
    tuple(FILLS[language][1] for language in ("python", "javascript", "bash", "r")),
    ("open('/tmp/g', 'wb').write(bytes(9 << 20))", "require('fs').writeFileSync('/tmp/g', Buffer.alloc(9 << 20))",
     "head -c 9000000 /dev/zero >/tmp/g", "write.csv(numeric(1e6), '/tmp/g')"),
    # What is written is made once: memory that an interpreter takes while /dev/shm fills can be met first, by its measures.
    ("part = bytes(10 << 20)\nfor i in range(99): open(f'/dev/shm/{i}', 'wb').write(part)",
     "const part = Buffer.alloc(10 << 20); for (let i = 0; ; i++) require('fs').writeFileSync(`/dev/shm/${i}`, part)",
     "for i in {1..99}; do head -c 10000000 /dev/zero >/dev/shm/$i || break; done",
     "part <- raw(1e7); i <- 0; while (TRUE) { i <- i + 1; saveRDS(part, paste0('/dev/shm/', i), compress = FALSE) }"),
    (MANY + "finally:\n  for one in many: one.kill(), one.wait()",
     "for (let i = 0; i < 90; i++) { const one = require('child_process').spawn('sleep', ['1000']); "
     "one.on('error', (e) => console.log(e.code)) }; await new Promise((go) => setTimeout(go, 500))",
     "sleep 0",
     "jobs <- list(); tryCatch(for (i in 1:90) jobs[[i]] <- parallel::mcparallel(Sys.sleep(1000)),\n"
     "  finally = for (one in jobs) tools::pskill(one$pid, 9))"),
    ("many = [open('/dev/null') for _ in range(9999)]", "for (let i = 0; i < 9999; i++) require('fs').openSync('/dev/null')",
     "python3 -c 'many = [open(\"/dev/null\") for _ in range(9999)]'", "many <- list(); for (i in 1:200) many[[i]] <- file('/dev/null', 'r')"),
    ("print('a' * 300000)", "console.log('a'.repeat(300000))", "head -c 300000 /dev/zero | tr '\\0' a", "cat(strrep('a', 3e5))"),
    ENDLESS,
    ENDLESS,
)


def rows_met():
    table = TOPIC.split("<!-- limits met -->")[1].split("<!-- /limits met -->")[0].strip().splitlines()[2:]
    assert len(table) == len(MEETS)
    for line, codes in zip(table, MEETS):
        limit, *columns = [column.strip() for column in line.strip("|").split("|")]
        assert len(columns) == len(codes)
        for language, code, column in zip(("python", "javascript", "bash", "r"), codes, columns):
            yield pytest.param(limit, language, code, re.findall("`([^`]+)`", column)[0], id=f"{limit.replace('`', '')}-{language}")


@pytest.mark.parametrize("limit, language, code, word", rows_met())
def test_the_topic_says_what_happens_at_a_limit(home, limit, language, code, word):
    skip_without(language)
    with Server(home, env=ALONE) as server:
        config = {"tmp_max": 4 * MIB, "memory_max": 400 * MIB, "file_max": 16 * MIB, "disk_max": 40 * MIB, "open_files_max": 512,
                  "processes_max": 60, **({"cpu_max": 1} if "cpu_max" in limit else {})}
        tier = server.call("session_info", session_id="s", config=config).object["confinement"]["tier"]
        if "/dev/shm" in limit and tier != "namespaces":
            pytest.skip("nobody can give /dev/shm another size here")
        begin, _, look, *_ = FILLS[language]
        server.cell(begin, language=language)
        if (limit, language) == ("`processes_max`", "bash"):  # others have all, and bash has made none
            server.cell(MANY + "except OSError: pass")
        result = server.cell(code, language=language, **({"timeout": 1} if limit == "a deadline" else {}))
        assert word in result.text, (word, result.text)
        assert server.cell(look, language=language).text.splitlines()[0] == "5"


@pytest.mark.parametrize("language, code", [("javascript", GROWS_IN_V8), ("bash", "printf -v y '%*s' 60000000 ''; y=$y$y$y$y")])
def test_where_memory_ends_an_interpreter_the_limit_is_named(home, language, code):
    """The topic's table says that they end: V8 and bash cannot go on when an allocation fails."""
    skip_without(language)
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 200 * MIB})
        result = server.cell(code, language=language)
        assert result.state == "died" and "limited to 200 MB (memory_max)" in result.text, result.texts


def test_what_ends_by_a_page_that_there_is_no_room_for_is_told_which_limit_it_may_be(home):
    with Server(home, env=ALONE) as server:
        config = {"memory_max": 200 * MIB, "file_max": 1024 * MIB}
        if server.call("session_info", session_id="s", config=config).object["confinement"]["tier"] != "namespaces":
            pytest.skip("/dev/shm has another size here")
        result = server.cell("import mmap\nf = open('/dev/shm/x', 'wb+'); f.truncate(600 << 20); m = mmap.mmap(f.fileno(), 600 << 20)\n"
                             "for i in range(0, 600 << 20, 4096): m[i] = 1")
        assert result.state == "died" and "SIGBUS" in result.text, result.texts
        assert "/dev/shm, where shared memory lies, holds what processes leave of 200 MB (memory_max)" in result.text
        killed = server.cell("import os, signal\nos.kill(os.getpid(), signal.SIGBUS)").text
        assert "If it used memory that is mapped from a file: the file became shorter, or there was no room" in killed


@pytest.mark.parametrize("tier", TIERS)
def test_so_it_is_in_every_tier(tier):
    with confined_in(tier) as confined:
        server = confined.server
        assert not server.call("session_info", session_id="s", config={"disk_max": 40 * MIB, "file_max": 16 * MIB, "memory_max": 200 * MIB}).is_error
        server.cell("x = 5")
        result = server.cell(FILL[1])
        assert result.state == "raised" and "is limited to 40 MB (disk_max)" in result.text
        assert server.cell(FILL[4] + "\nx").text.endswith("5\n")
        result = server.cell(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {GROWS + 'time.sleep(1000)'!r}]).returncode, x")
        assert result.text.endswith("(-9, 5)\n")
        assert "which code had started, was killed" in "".join(result.texts)


@pytest.mark.parametrize("files", [1, 4])
def test_a_cell_that_passes_the_disk_limit_before_it_is_seen_is_told(home, files):
    with Server(home, env={**ALONE, "PTYCELL_DISK_MAX": "20M"}) as server:
        told = "(disk_max)"

        def is_passed_unseen():
            server.call("destroy_session", session_id="s")
            result = server.cell(f"for i in range({files}): _ = open(f'a{{i}}', 'wb').write(bytes((40 << 20) // {files}))")
            assert told in "".join(result.texts), result.texts
            return result if result.state == "done" else None
        result = until(is_passed_unseen)
        assert "".join(result.texts).count(told) == 1, result.texts
        assert told not in "".join(server.cell("1").texts)
        assert told not in "".join(server.cell("import os\nfor name in os.listdir(): name.startswith('a') and os.remove(name)").texts)
