# SPDX-License-Identifier: MIT
"""Somebody waits for input: noticed for any program on the terminal, told with prompt and who it is,
answered by interact. WT, PY and TT are the cases of the interpreters' design; WT11, all of it inside the sandbox as an
ordinary user, is what scripts/test-as-user runs this file for."""
import re
import shutil
import subprocess

import pytest
from client import CALL_S, Result, Server
from patience import until
from steps import (BEGUN, EVIL, HANG_S, HOLD, NEVER_S, assert_clean, assert_honest, begin, go,
                   is_running, listed, overdue, telling)


@pytest.fixture(name="server")
def fixture_server(shared_server):
    return shared_server


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


def needs(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


def waiting(server, code, **arguments):
    """Runs code that soon waits; its answer, which says so."""
    result = server.cell(code, budget=CALL_S, **arguments)
    assert result.state == "waiting_for_input" and not result.is_error, result.texts
    assert_honest(result)
    return result


def noticed(server):
    """A wait that began later, in another session, is noticed: the hardest to notice, that of who cannot be looked into."""
    waiting(server, "import ctypes\nctypes.CDLL(None).prctl(4, 0)\ninput('name? ')", session="witness")
    server.interact(session="witness", action="kill")


def never_waits(server, code):
    """Runs code, whose line BEGUN is the last before it could wait."""
    begin(server, code)
    noticed(server)
    result = server.interact(budget=0)
    assert result.state == "running", result.texts
    server.interact(action="interrupt")


@pytest.fixture
def warm(server):
    server.cell("import getpass, os, select, socket, subprocess, sys, termios, threading, time, tty")
    return server


# ---- WT: who waits ----

def test_input_waits_with_its_prompt(warm):
    result = waiting(warm, "n = input('n? ')\nn * 2")
    assert result.text.startswith("n?\n") and "at the prompt 'n?'" in result.text
    assert result.cell["prompt"] == "n?" and result.cell["waits"] == "interpreter"
    assert result.cell["secret"] is False
    # What was typed shows where a terminal shows it.
    assert warm.interact(input="ab").text == "ab\n'abab'\n"


def test_getpass_waits_for_a_secret_that_is_shown_nowhere(home):
    with Server(home, env={"PTYCELL_LOG": "debug"}) as server:
        result = waiting(server, "import getpass\np = getpass.getpass()\nlen(p)")
        assert result.cell["secret"] is True and "waits for a secret at the prompt 'Password:'" in result.text
        answer = server.interact(input="hunter2-xyzzy")
        assert answer.text.endswith("13\n") and "xyzzy" not in str(answer.raw)
        assert "xyzzy" not in str(server.interact().raw)
        server.close()
        assert b"xyzzy" not in server.stderr
    found = subprocess.run(["grep", "-rl", "xyzzy", str(home)], stdout=subprocess.PIPE, check=False)
    assert not found.stdout


def test_the_debugger_waits_and_is_driven(warm):
    result = waiting(warm, "y = 41\nbreakpoint()\ny")
    assert result.cell["waits"] == "debugger" and "The debugger waits" in result.text
    assert "\n42\n" in warm.interact(input="p y + 1").text
    stack = warm.interact(input="w").text
    assert "<cell " in stack and "driver" not in stack
    assert "Oldest frame" in warm.interact(input="up").text
    result = warm.interact(input="c")
    assert result.state == "done" and result.text.endswith("41\n")


def test_input_in_a_thread_waits(warm):
    waiting(warm, "t = threading.Thread(target=lambda: print('got', input('t? ')))\nt.start(); t.join()")
    assert warm.interact(input="5").text == "5\ngot 5\n"


def test_a_child_program_that_reads_waits_and_is_named(warm):
    result = waiting(warm, "subprocess.run('cat | sort', shell=True).returncode")
    assert result.cell["waits"] == "program" and "program 'cat' waits" in result.text
    assert warm.interact(input="b\na").state == "waiting_for_input"
    assert warm.interact(key="ctrl-d").text.endswith("a\nb\n0\n")


def test_bash_read_waits(warm):
    result = waiting(warm, "subprocess.run(['bash', '-c', 'read -p \"name? \" n; echo hi $n'])")
    assert result.cell["prompt"] == "name?" and result.cell["program"] == "bash"
    assert "hi Eve" in warm.interact(input="Eve").text


@pytest.mark.parametrize("code", [
    "require('readline').createInterface({input: process.stdin, output: process.stdout})"
    ".question('n? ', a => { console.log('got ' + a); process.exit() })",
    "const b = Buffer.alloc(9); require('fs').writeSync(1, 'n? '); "
    "console.log('got ' + b.subarray(0, require('fs').readSync(0, b)))"], ids=["readline", "readSync"])
def test_node_waits(warm, code):
    needs("node")
    warm.cell(f"js = {code!r}")
    result = waiting(warm, "subprocess.run(['node', '-e', js])")
    assert result.cell["prompt"] == "n?"
    assert "got 7" in warm.interact(input="7").text


def test_an_event_loop_that_read_the_terminal_once_does_not_wait_ever_after(warm):
    needs("node")
    warm.cell("""js = "const rl = require('readline').createInterface({input: process.stdin, output: process.stdout});\
rl.question('n? ', () => { rl.close(); console.log('read'); setTimeout(() => 0, 1000000) })" """)
    waiting(warm, "subprocess.run(['node', '-e', js])")
    assert "read\n" in warm.interact(input="7", until="read", budget=CALL_S).text
    noticed(warm)
    assert warm.interact(budget=0).state == "running"
    warm.interact(action="interrupt")


def test_node_waits_where_it_reads_and_nowhere_else(warm):
    """Cells of JavaScript: the driver knows."""
    needs("node")
    ask = "const rp = require('readline/promises').createInterface({input: process.stdin, output: process.stdout});" \
          "const name = await rp.question('n? '); rp.close(); name"
    assert warm.cell(ask, language="javascript", session="reads").cell["prompt"] == "n?"
    assert "'Eve'" in warm.interact(input="Eve", language="javascript", session="reads").text
    place = {"session": "reads", "language": "javascript"}
    first = warm.cell("process.stdout.write('no prompt'); await new Promise(() => setTimeout(() => 0, 1e9))", **place, budget=0)
    assert telling(warm, "no prompt", first, **place).state == "running"
    noticed(warm)
    assert warm.interact(session="reads", language="javascript", budget=0).state == "running"
    warm.interact(session="reads", language="javascript", action="interrupt")


def test_node_waits_for_lines_without_a_prompt(warm):
    needs("node")
    code = "for await (const line of require('readline').createInterface({input: process.stdin})) { console.log('got', line); break }"
    assert warm.cell(code, language="javascript", session="lines").state == "waiting_for_input"
    result = warm.interact(input="7", language="javascript", session="lines")
    assert result.state == "done" and "got 7" in result.text


@pytest.mark.parametrize("code", [
    "await new Promise(r => process.stdin.once('data', r))",
    "for await (const line of require('readline').createInterface({input: process.stdin})) break"])
def test_a_cell_that_listens_where_node_goes_on_reading_waits(warm, code):
    """Node reads on for what an older cell asked; a cell that does not listen waits for something else."""
    needs("node")
    for _ in range(3):
        assert warm.cell(code, language="javascript", session="again").state == "waiting_for_input"
        assert warm.interact(input="7", language="javascript", session="again").state == "done"


def test_an_interrupt_of_a_read_that_does_not_end_says_what_ends_it(warm):
    needs("node")
    code = "require('fs').readFileSync(0, 'utf8')"
    assert warm.cell(f"var kept = 5; {code}", language="javascript", session="reads").state == "waiting_for_input"
    result = warm.interact(action="interrupt", language="javascript", session="reads", budget=CALL_S)
    assert "input, or key ctrl-d, ends the read" in result.text and "terminate" not in result.text
    assert warm.interact(key="ctrl-d", language="javascript", session="reads", budget=CALL_S).state != "running"
    assert warm.cell("kept", language="javascript", session="reads").text == "5\n"


def test_a_question_that_its_cell_does_not_await_is_told(warm):
    needs("node")
    warm.cell("const rl = require('readline').createInterface({input: process.stdin, output: process.stdout}); 1",
              language="javascript", session="asks")
    result = warm.cell("rl.question('q? ', a => rl.close())", language="javascript", session="asks")
    assert result.state == "done" and result.text.startswith("q?\n[no answer comes once the cell is over: await it"), result.text
    assert warm.cell("1", language="javascript", session="asks").text == "1\n"


def test_a_key_that_interrupts_r_is_told(warm):
    """R itself prints nothing then."""
    needs("R")
    place = {"language": "r", "session": "keys"}
    assert warm.cell("kept <- 7\nx <- readline('n? ')", **place, budget=CALL_S).state == "waiting_for_input"
    result = warm.interact(key="ctrl-c", **place, budget=CALL_S)
    assert result.state == "raised" and result.text.strip() == "R was interrupted, as by key ctrl-c. Variables are kept."
    assert warm.cell("kept", **place).text.strip() == "[1] 7"


def test_r_readline_waits(warm):
    needs("R")
    waiting(warm, "subprocess.run(['R', '--no-save', '--quiet', '--no-readline', '--interactive'])")
    result = warm.interact(input="x <- readline('n? ')", budget=CALL_S)
    assert result.cell["prompt"] == "n?" and result.cell["program"] == "R"
    assert "got 7" in warm.interact(input="7\ncat('got', x)", budget=CALL_S).text
    assert warm.interact(input="q()", budget=CALL_S).state == "done"


@pytest.mark.parametrize("code", [
    f"time.sleep({NEVER_S})", "while True: pass",
    "s = socket.create_server(('127.0.0.1', 0)); s.accept()",
    f"subprocess.run(['sleep', '{NEVER_S}'])", "threading.Event().wait()",
    f"select.select([], [], [], {NEVER_S})",
    f"import asyncio; asyncio.run(asyncio.sleep({NEVER_S}))"])
def test_what_does_not_read_never_waits(warm, code):
    never_waits(warm, f"{BEGUN}print('prompt? ', end='', flush=True)\n{code}")


def test_what_prints_without_end_never_waits(warm):
    never_waits(warm, BEGUN + "while True: print('y')")
    never_waits(warm, BEGUN + "while True:\n  print('.', end='', flush=True)\n  time.sleep(0.01)")


def test_who_cannot_be_looked_into_is_guessed_at(warm):
    # PR_SET_DUMPABLE; whoever may look all the same is sure.
    result = waiting(warm, "import ctypes\nctypes.CDLL(None).prctl(4, 0)\nprint('x' * 9)\ninput('name? ')")
    assert result.cell["prompt"] == "name?"
    assert ("It seems that the code waits" in result.text) == result.cell.get("guessed", False)
    assert "'Eve'" in warm.interact(input="Eve").text
    # A sleeper without a prompt is none.
    never_waits(warm, f"ctypes.CDLL(None).prctl(4, 0)\nprint('a whole line')\n{BEGUN}time.sleep({NEVER_S})")


def test_a_background_reader_is_told_of_and_nothing_hangs(warm):
    warm.cell("p = subprocess.Popen(['bash', '-c', 'set -m; (read x) & sleep 1000000'])\np.wait()", budget=0)
    result = warm.interact(budget=CALL_S)
    assert result.state == "running" and "wants input from the terminal" in result.text
    warm.interact(action="interrupt")


def test_a_session_at_rest_does_not_wait(warm):
    assert warm.interact().state == "done"
    assert warm.call("session_info", session_id="s").object["state"] == "idle"


def test_line_editors_and_watchers_wait_too(warm):
    waiting(warm, "import readline\ninput('r? ')")
    assert "'x'" in warm.interact(input="x").text
    waiting(warm, "select.select([0], [], [])\nos.read(0, 9)")
    assert "b'y\\n'" in warm.interact(input="y").text
    waiting(warm, "tty.setcbreak(0)\nprint('key:', end='', flush=True)\nsys.stdin.read(1)")
    assert "'k'" in warm.interact(input="k", raw=True).text


def test_a_program_with_its_own_screen_is_driven_by_keys(warm):
    needs("less")
    warm.cell("open('long.txt', 'w').write('\\n'.join(map(str, range(500))))")
    waiting(warm, "subprocess.run(['less', 'long.txt']).returncode")
    assert warm.interact(key="page-down").state == "waiting_for_input"
    assert "0\n" in warm.interact(input="q", raw=True).text.splitlines(True)


# ---- answering ----

def test_each_answer_tells_only_what_is_new(warm):
    first = waiting(warm, "a = input('a? ')\nb = input('b? ')\na + b")
    second = warm.interact(input="1")
    assert second.state == "waiting_for_input" and second.text.startswith("1\nb?\n") and "a?" not in second.text
    assert first.status["cell"] == second.status["cell"]
    assert warm.interact(input="2").text == "2\n'12'\n"


def test_the_clock_stands_while_a_cell_waits(warm):
    for timeout in (1, 10, 100):  # a busy machine may not ask within the shortest
        if warm.cell("input('? ')\n'late'", budget=CALL_S, timeout=timeout).state == "waiting_for_input":
            break
    other = warm.cell(f"import time; time.sleep({NEVER_S})", session="other", timeout=timeout)
    assert other.state == "timed_out"  # a clock that began later has run down
    assert warm.interact(budget=0).state == "waiting_for_input"
    assert warm.interact(input="").text.endswith("'late'\n")


def test_a_look_at_a_cell_that_waits_answers_at_once(warm):
    waiting(warm, "input('? ')")
    assert warm.interact(budget=HANG_S).state == "waiting_for_input"
    assert warm.interact(action="interrupt").state == "interrupted"


def test_a_foreign_prompt_cannot_break_out_of_our_sentence(warm):
    warm.cell(f"evil = {EVIL!r}")
    result = waiting(warm, "input(evil + 'x' * 500)")
    assert_clean(result.raw)
    assert len(result.cell["prompt"]) <= 80
    warm.interact(action="interrupt")


def test_typing_when_no_cell_runs_is_refused(warm):
    result = warm.interact(input="5")
    assert result.is_error and "no python cell runs" in result.texts[0]
    assert warm.cell("input('x? ')", budget=CALL_S).state == "waiting_for_input"  # nothing was left over


def test_what_was_typed_ahead_goes_with_its_cell(warm):
    warm.cell(HOLD + "'over'", budget=0)
    warm.interact(input="for nobody", budget=0)
    go(warm)
    assert warm.interact().text == "'over'\n"
    result = waiting(warm, "input('? ')")
    assert "nobody" not in result.text


@pytest.mark.parametrize("arguments, named", [
    ({"input": "x", "action": "interrupt"}, "give one of them"), ({"key": "hyper-x"}, "arguments.key 'hyper-x'"),
    ({"action": "explode"}, "arguments.action"),
    ({"until": "x" * 5000}, "arguments.until"), ({"input": [5]}, "arguments.input"),
    ({"language": "cobol"}, "arguments.language must be one of"), ({"word": "x"}, "arguments")])
def test_wrong_arguments_are_named(warm, arguments, named):
    result = warm.interact(**arguments)
    assert result.is_error and named in result.texts[0]


def test_a_wrong_key_is_answered_with_the_keys_of_the_schema(warm):
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in warm.request("tools/list")["tools"]}
    refusal = warm.interact(key="hyper-x").texts[0]
    named = set(refusal.partition("Keys are ")[2].replace(" to ", ", ").split(", "))
    wanted = {key for key in tools["interact"]["key"]["enum"] if not re.fullmatch("ctrl-[b-y]", key)}
    assert named == wanted


def test_input_with_nul_and_controls_goes_as_it_is(warm):
    waiting(warm, "tty.setraw(0)\nd = b''\nwhile b'Q' not in d: d += os.read(0, 99)\nd")
    assert "b'a\\x00\\x1b[A\\r\\nQ'" in warm.interact(input="a\0\x1b[A\r\nQ", raw=True).text


# ---- until ----

def test_a_look_ends_at_a_literal_text(warm):
    code = "for i in range(1000):\n  print('\\x1b[32mepoch\\x1b[0m', i)\n  time.sleep(0.1)"
    warm.cell(code, budget=0)
    result = warm.interact(until="epoch 7\n")
    assert result.state == "running" and "epoch 7\n" in result.text and "epoch 30\n" not in result.text
    assert "written the text" in result.text
    warm.interact(action="interrupt")


def test_a_text_that_was_written_and_never_told_counts(warm):
    warm.cell(f"print('ready to serve')\nopen('written', 'w').close()\ntime.sleep({NEVER_S})", budget=0)
    until(lambda: "written" in listed(warm, "written"))
    assert "ready to serve" in warm.interact(until="to serve", budget=HANG_S).text
    warm.interact(action="interrupt")


def test_until_waits_for_what_works_in_the_background_too(warm):
    warm.cell("def f():\n  while not os.path.exists('input/go'): time.sleep(0.01)\n"
              "  print('thread is up')\nthreading.Thread(target=f).start()")
    go(warm)
    result = warm.interact(until="is up", budget=CALL_S)
    assert "thread is up" in result.text and result.status["background"] > 0


# ---- PY: interrupting ----

PY17 = ["while True: pass", f"time.sleep({NEVER_S})", "input()", "threading.Event().wait()",
        f"subprocess.run(['sleep', '{NEVER_S}'])", "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')", "10**(10**8)"]


def test_an_interrupted_await_runs_its_finally(warm):
    warm.cell("import asyncio")
    begin(warm, f"try:\n  {BEGUN}  await asyncio.sleep({NEVER_S})\nfinally: print('cleanup')")
    result = warm.interact(action="interrupt")
    assert result.state == "interrupted" and "cleanup\n" in result.text


@pytest.mark.parametrize("code", PY17)
def test_what_sigint_stops_is_stopped_and_state_stays(warm, code):
    warm.cell("x = 5")
    begin(warm, BEGUN + code)
    result = warm.interact(action="interrupt")
    while result.state in ("running", "waiting_for_input"):  # on a busy machine it did not react by then
        result = warm.interact()
    assert result.state == "interrupted"
    assert warm.cell("x").text == "5\n"


def test_a_call_that_no_interrupt_reaches_tells_where_it_hangs_and_dies(strict_server):
    def says_where():
        """It has 100 ms for that, which may be too few on a busy machine, and the deadline may come before the call."""
        result = overdue(strict_server, f"{BEGUN}sum(range(10**12))")
        return result.cell.get("state_lost") and f'File "<cell {result.status["cell"]}>", line 2' in result.text
    until(says_where)


def test_code_that_ignored_sigint_does_not_spoil_the_next_cell(warm):
    warm.cell("import signal; _ = signal.signal(signal.SIGINT, signal.SIG_IGN)")
    begin(warm, f"{BEGUN}time.sleep({NEVER_S})")
    assert warm.interact(action="interrupt").state == "interrupted"


def test_code_that_an_interrupt_brings_back_to_its_prompt_is_left_there(warm):
    waiting(warm, "while True:\n  try: input('> ')\n  except KeyboardInterrupt: print('back')")
    result = warm.interact(action="interrupt", budget=CALL_S)
    assert result.state == "waiting_for_input" and "back\n" in result.text
    # Neither a second SIGINT nor the stack that a hanging cell prints follows: another has got both by then.
    begin(warm, f"import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{BEGUN}time.sleep({NEVER_S})",
          session="other")
    assert "the interrupt has not ended it yet" in warm.interact(session="other", action="interrupt").text
    result = warm.interact()
    assert result.state == "waiting_for_input" and "most recent call" not in result.text and "back" not in result.text
    warm.interact(action="kill")


# ---- TT: the terminal ----

SANE = "os.system('stty sane -echo')\n"
SET = "print('the mode is set')\n"


def running_in_mode(server, code):
    """Runs code whose first lines set the terminal's mode, up to there: what is typed while a mode
    changes is lost on any terminal."""
    telling(server, "the mode is set", server.cell(code, budget=0))


@pytest.mark.parametrize("mode", ["", SANE], ids=["extproc", "canonical"])
@pytest.mark.parametrize("asleep", ["", HOLD], ids=["awake", "asleep"])
@pytest.mark.parametrize("size", [6000, 100_000, 1_000_000])
def test_a_long_line_arrives_whole(warm, mode, asleep, size):
    running_in_mode(warm, f"{mode}{SET}{asleep}len(input())")
    if asleep:
        assert warm.interact(input="z" * size, budget=0).state == "running"
        go(warm)
    result = warm.interact(budget=CALL_S, **({} if asleep else {"input": "z" * size}))
    assert result.state == "done" and f"\n{size}\n" in "\n" + result.text


@pytest.mark.parametrize("mode", ["", "os.system('stty sane -echo -icanon')\n", "tty.setraw(0)\n"],
                         ids=["extproc", "plain", "raw"])
def test_control_characters_in_text_are_text_to_a_raw_reader(warm, mode):
    waiting(warm, f"{mode}d = b''\nwhile b'Q' not in d: d += os.read(0, 99)\nd")
    result = warm.interact(input="a\x16\x15\x17\x7f\x04b" + ("" if "plain" in mode or "sane" in mode else "\x03")
                           + "Q\n", raw=True)
    assert "a\\x16\\x15\\x17\\x7f\\x04b" in result.text


@pytest.mark.parametrize("mode", ["", SANE], ids=["extproc", "canonical"])
def test_ctrl_d_is_the_end_of_input_once(warm, mode):
    waiting(warm, f"{mode}input()")
    assert "EOFError" in warm.interact(key="ctrl-d").text
    waiting(warm, f"{mode}input()")
    assert "'x'" in warm.interact(input="x").text


@pytest.mark.parametrize("mode", ["", SANE], ids=["extproc", "canonical"])
def test_many_lines_to_a_sleeping_reader_all_arrive(warm, mode):
    running_in_mode(warm, f"{mode}{SET}{HOLD}sum(int(line) for line in sys.stdin)")
    warm.interact(input="\n".join(map(str, range(20000))), budget=0)
    go(warm)
    assert warm.interact().state == "waiting_for_input"
    assert str(sum(range(20000))) in warm.interact(key="ctrl-d", budget=CALL_S).text


def test_ctrl_c_as_a_key_interrupts_or_is_a_byte_to_who_wants_it_raw(warm):
    waiting(warm, "input('? ')")
    assert "KeyboardInterrupt" in warm.interact(key="ctrl-c").text
    waiting(warm, "tty.setraw(0)\nos.read(0, 9)")
    assert "b'\\x03'" in warm.interact(key="ctrl-c").text


# ---- others at the same time ----

def test_a_look_beside_the_call_that_runs_the_cell_takes_nothing_from_it(warm):
    pending = warm.start_cell(f"print('mine')\n{HOLD}print('too')")
    until(lambda: is_running(warm))
    looking = warm.start("tools/call", {"name": "interact", "arguments": {"session_id": "s", "wait": CALL_S}})
    go(warm)
    result = Result(pending.get()["result"])
    look = Result(looking.get()["result"])
    assert result.text == "mine\ntoo\n"
    assert look.state == "done" and "mine" not in look.text


def test_the_answer_of_a_waiting_cell_goes_to_the_call_that_runs_it(warm):
    pending = warm.start_cell("input('who? ')")
    result = Result(pending.get()["result"])
    assert result.state == "waiting_for_input"
    assert warm.cell("1").state == "not_started"
    assert "'me'" in warm.interact(input="me").text


@pytest.mark.parametrize("looks", [0, 1])
def test_a_figure_that_comes_after_a_look_is_in_the_next_answer(warm, looks):
    """And only there: each answer has what no earlier one had."""
    warm.cell("import base64\nfrom IPython.display import Image, display\n"
              f"one = base64.b64decode({PIXEL!r})\ndef show(): display(Image(data=one, format='png'))")
    answers = [warm.cell("show()\n" + BEGUN + HOLD + "show()\nshow()", budget=0)]
    if looks:
        answers.append(warm.interact(budget=0) if "begun" in answers[0].text else warm.interact(until="begun"))
    go(warm)
    last = warm.interact(action="wait")
    assert last.state == "done" and "Figures not shown" not in last.text
    assert sum(len(answer.images) for answer in (*answers, last)) == 3
    assert looks == 0 or len(last.images) == 2
