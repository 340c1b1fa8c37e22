# SPDX-License-Identifier: MIT
"""Code that goes on at its deadline or when its call is cancelled: how long it may, and what is told."""
import re

import pytest
from client import ALONE, Result
from patience import until
from steps import BEGUN, HOLD, NEVER_S, all_gone, begin, go, interpreters, listed, overdue, skip_without

DEAF = f"import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{BEGUN}"


def test_code_that_no_interrupt_reaches_is_told_at_its_deadline_and_ends_in_its_grace(server):
    server.cell("kept = 7")
    result = overdue(server, DEAF + HOLD + "print('whole')")
    assert (result.is_error, result.cell.get("state_lost")) == (True, None)
    assert re.search(r"It has not ended yet: it has \d+ s more, until \d\d:\d\d:\d\d, and is then killed", result.text)
    assert '"action":"wait"' in result.texts[-1]
    assert server.cell("echo free", language="bash").text == "free\n"
    other = server.cell("kept")
    assert other.state == "not_started" and f"cell {result.status['cell']} has been running" in other.text
    assert re.search(r"not ended yet and may take until \d\d:\d\d:\d\d at most", other.text), other.texts
    go(server)
    ended = server.interact(action="wait")
    assert ended.state == "done" and "whole\n" in ended.text
    assert "after that it came to an end of its own" in ended.text
    assert server.cell("kept").text == "7\n"


def test_an_interrupt_within_the_grace_is_answered_when_it_does_not_help(server):
    overdue(server, DEAF + HOLD + "print('whole')")
    result = server.interact(action="interrupt")
    assert result.state == "timed_out" and "It has not ended yet" in result.text, result.texts
    go(server)
    assert "whole\n" in server.interact(action="wait").text


def test_an_interpreter_that_ends_by_itself_at_its_deadline_was_not_killed_for_it(server):
    def ended():
        result = server.cell(f"import os, time\ntry:\n    {BEGUN}    time.sleep({NEVER_S})\nexcept KeyboardInterrupt: os._exit(7)", timeout=0.5)
        return "begun" in result.text and result
    result = until(ended)
    assert result.state == "died" and "exited with code 7" in result.text, result.texts
    assert "did not react" not in result.text


def test_the_grace_ends(servers):
    server = servers(env={"PTYCELL_STOP_GRACE": "1"})
    assert "It has not ended yet: it has 1 s more" in overdue(server, DEAF + f"time.sleep({NEVER_S})").text
    ended = server.interact(action="wait")
    assert ended.state == "timed_out" and ended.cell["state_lost"] and "its interpreter was killed" in ended.text


@pytest.mark.parametrize("end", ["destroy", "input", "ttl"])
def test_the_end_of_a_session_does_not_wait_for_the_grace(servers, end):
    limits = {"SESSION_TTL": "1", "CLEANUP_INTERVAL": "1"} if end == "ttl" else {}
    server = servers(env={**ALONE, **limits, "PTYCELL_STOP_GRACE": "3600"})
    child = f"import subprocess\nsubprocess.Popen(['sleep', '{NEVER_S}'])\n"
    assert "It has not ended yet" in overdue(server, DEAF + child + f"time.sleep({NEVER_S})").text
    processes = interpreters(server)
    assert processes
    if end == "destroy":
        assert not server.call("destroy_session", session_id="s").is_error
    elif end == "input":
        assert server.close() == 0
    all_gone(processes)
    if end != "input":
        assert server.call("list_sessions").object["sessions"] == []


SAVES = f"""import time
try:
    {BEGUN}    time.sleep({NEVER_S})
except KeyboardInterrupt:
    end = time.monotonic() + 2
    while time.monotonic() < end: pass
    open('output/whole', 'w').write('saved')
    print('saved')
"""


def outlived(server, code, **arguments):
    """The answer of a cell that its deadline met after its line BEGUN, and that ended by itself."""
    for timeout in (0.3, 3, 30, 100):
        result = server.cell(code, timeout=timeout, **arguments)
        begun = "begun" in result.text
        if "It has not ended yet" in result.text:  # on a busy machine
            result = server.interact(action="wait", language=arguments.get("language", "python"))
        if begun or "begun" in result.text:
            return result
    raise AssertionError(f"it does not begin: {result.texts}")


def test_code_that_takes_long_to_save_is_told_as_such(server):
    begin(server, f"try:\n    {BEGUN}    import time; time.sleep({NEVER_S})\n"
                  "except KeyboardInterrupt:\n" + "".join(f"    {line}\n" for line in HOLD.splitlines()) + "print('saved')")
    result = server.interact(action="interrupt")
    assert result.state == "running" and "the interrupt has reached its code" in result.text, result.texts
    other = server.cell("1")
    assert other.state == "not_started" and "was interrupted, but has not ended yet" in other.text, other.texts
    go(server)
    result = server.interact(action="wait")
    assert result.state == "done" and "saved\n" in result.text, result.texts


@pytest.mark.parametrize("stop", ["deadline", "interrupt", "cancel"])
def test_code_that_saves_at_an_interrupt_is_not_interrupted_again(server, stop):
    if stop == "deadline":
        result = outlived(server, SAVES)
    elif stop == "interrupt":
        begin(server, SAVES)
        result = server.interact(action="interrupt")
    else:
        call = server.start_cell(SAVES)
        until(lambda: "begun" in server.interact(until="begun").text)
        server.cancel(call)
        result = server.interact(action="wait")
    assert "saved\n" in result.text and "Traceback" not in result.text
    assert listed(server, "output/*") == ["output/whole"]


def test_a_program_that_saves_at_an_interrupt_is_not_interrupted_again(server):
    server.cell(f"open('train.py', 'w').write({SAVES!r})")
    result = outlived(server, "python3 train.py; echo after", language="bash")
    assert "saved\n" in result.text and "Traceback" not in result.text
    assert listed(server, "output/*") == ["output/whole"]


def test_a_program_of_a_shell_escape_saves_at_an_interrupt(server):
    server.cell(f"open('train.py', 'w').write({SAVES!r})")
    begin(server, "!python3 train.py")
    result = server.interact(action="interrupt")
    assert (result.state, "saved\n" in result.text) == ("interrupted", True), result.texts
    begin(server, f"%%bash\ntrap '' INT\necho begun\nsleep {NEVER_S}")
    assert "the interrupt has reached its code" in server.interact(action="interrupt").text
    assert server.interact(action="interrupt").state == "interrupted"
    assert listed(server, "output/*") == ["output/whole"]


COUNTS = """import os, time
n = 0
def note(*_):
    global n
    n += 1
"""
GOES_ON = "while not os.path.exists('input/go'): time.sleep(0.01)\n"
TELLS = "print(n, 'came')\n"
TRAINS = f"""{COUNTS}import signal
signal.signal(signal.SIGINT, note)
{BEGUN}{GOES_ON}{TELLS}"""
# Each has a handler of its own, counts interrupts, and goes on.
HANDLERS = {
    "signal": TRAINS,
    "loop": f"""{COUNTS}import asyncio, signal
asyncio.get_running_loop().add_signal_handler(signal.SIGINT, note)
{BEGUN}while not os.path.exists('input/go'): await asyncio.sleep(0.01)
{TELLS}""",
    "runner": f"""{COUNTS}import asyncio, signal
async def main():
    try:
        {BEGUN}        await asyncio.sleep({NEVER_S})
    finally:
        note()
        while not os.path.exists('input/go'): await asyncio.sleep(0.01)
        {TELLS}
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())""",
    "faulthandler": f"""{COUNTS}import faulthandler, signal
with open('dumps', 'w+') as dumps:
    faulthandler.register(signal.SIGINT, dumps, all_threads=False)
    {BEGUN}    {GOES_ON}    faulthandler.unregister(signal.SIGINT)
    n = open('dumps').read().count('Stack (most recent')
{TELLS}""",
    "sigwait": f"""{COUNTS}import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
{BEGUN}signal.sigwait([signal.SIGINT])
{GOES_ON}n = 1 + bool(signal.sigpending())
signal.sigtimedwait([signal.SIGINT], 0)
{TELLS}""",
    "system": f"open('train.py', 'w').write({TRAINS!r})\nimport os; os.system('python3 train.py')",
    "subprocess": f"open('train.py', 'w').write({TRAINS!r})\nimport subprocess, signal\n"
                  "signal.signal(signal.SIGINT, lambda *_: None)\nsubprocess.run(['python3', 'train.py'])",
}


def test_code_with_a_handler_of_its_own_gets_one_interrupt(server):
    for name, code in HANDLERS.items():
        server.cell("kept = 7", session=name)
        begin(server, code, session=name)
    answers = {name: server.start("tools/call", {"name": "interact", "arguments": {"session_id": name, "action": "interrupt"}})
               for name in HANDLERS}
    for name, answer in answers.items():  # each comes when it has not helped for three seconds
        result = Result(answer.get()["result"])
        assert result.state == "running" and "the interrupt has not ended it yet" in result.text, (name, result.texts)
        go(server, session=name)
        assert "1 came" in server.interact(action="wait", session=name).text
        assert server.cell("kept", session=name).text == "7\n"


LISTENS = """process.once('SIGINT', () => { console.log('heard'); setTimeout(() => { console.log('saved'); left(0) }, 300) });
console.log('begun');
"""


@pytest.mark.parametrize("code", ["var left; await new Promise((go) => { left = go; SET })".replace("SET", LISTENS),
                                  "var stop = false; var left = () => { stop = true }\n" + LISTENS +
                                  "while (!stop) { for (let i = 0; i < 1e6; i++); await new Promise(setImmediate) }"])
def test_code_that_listens_for_an_interrupt_is_not_ended_by_it(server, code):
    skip_without("javascript")
    server.cell("var kept = 7", language="javascript")
    begin(server, code, language="javascript")
    result = server.interact(action="interrupt", language="javascript")
    assert result.state == "done" and "saved\n" in result.text, result.texts
    assert server.cell("kept", language="javascript").text == "7\n"


def test_code_that_listens_for_an_interrupt_and_goes_on_is_ended_by_the_second(server):
    skip_without("javascript")
    for code in ("await new Promise(() => {})", "while (true);"):
        begin(server, "process.on('SIGINT', () => {}); console.log('begun'); " + code, language="javascript")
        assert "the interrupt has not ended it yet" in server.interact(action="interrupt", language="javascript").text
        assert server.interact(action="interrupt", language="javascript").state == "interrupted"
        server.cell("process.removeAllListeners('SIGINT')", language="javascript")


def test_a_loop_that_awaits_is_told_to_go_on(server):
    skip_without("javascript")
    begin(server, "console.log('begun'); var n = 0, stop = false\n"
                  "while (!stop) { n++; await new Promise((go) => setTimeout(go, 10)) }", language="javascript")
    result = server.interact(action="interrupt", language="javascript")
    assert result.state == "interrupted" and "a loop around it goes on in the background until its own condition ends it" in result.text
    n = int(server.cell("n", language="javascript").text)
    until(lambda: int(server.cell("n", language="javascript").text) > n)
    server.cell("stop = true; await new Promise((go) => setTimeout(go, 100)); n = 0", language="javascript")
    assert server.cell("await new Promise((go) => setTimeout(go, 100)); n", language="javascript").text == "0\n"


def test_r_saves_at_an_interrupt(server):
    skip_without("r")
    begin(server, "tryCatch({ cat('begun\\n'); repeat {} }, interrupt = function(e) { Sys.sleep(2); cat('saved\\n') })", language="r")
    assert "saved\n" in server.interact(action="interrupt", language="r").text


def test_what_still_ends_is_told_with_the_place_it_is_at(server):
    overdue(server, "def deaf():\n" + "".join(f"    {line}\n" for line in (DEAF + HOLD).splitlines()) + "deaf()\n")
    other = server.cell("kept")
    assert other.state == "not_started" and re.search("; it was last seen in deaf, line [5-9] of <cell", other.text), other.texts
    go(server)
    server.interact(action="wait")


def test_what_still_ends_in_a_program_is_told_with_its_command_line(server):
    server.cell(f"open('deaf.py', 'w').write({DEAF + HOLD!r})")
    overdue(server, "python3 deaf.py --epochs 3", language="bash")
    other = server.cell("echo", language="bash")
    assert other.state == "not_started" and "python3 deaf.py --epochs 3'. Wait" in other.text, other.texts
    go(server)
    server.interact(action="wait", language="bash")


def test_a_loop_of_short_programs_ends_by_one_interrupt(server):
    server.cell("kept=7", language="bash")
    server.cell("""cat >takes.sh <<'END'
trap ': >took; exit 0' INT
echo begun
while :; do sleep 0.01; done
END""", language="bash")
    begin(server, "sh takes.sh; while :; do date >/dev/null; done", language="bash")
    result = server.interact(action="interrupt", language="bash")
    assert result.state == "interrupted", result.texts
    assert server.cell("ls took; echo $kept", language="bash").text == "took\n7\n"


def test_what_follows_a_program_that_saves_at_an_interrupt_is_not_interrupted(server):
    server.cell("""cat >saves.sh <<'END'
trap 'echo saved; exit 0' INT
echo begun
while :; do sleep 0.01; done
END""", language="bash")
    begin(server, "sh saves.sh; date >/dev/null; while [ ! -e input/go ]; do :; done; echo whole", language="bash")
    result = server.interact(action="interrupt", language="bash")
    assert "saved\n" in result.text and "the interrupt has not ended it yet" in result.text
    go(server)
    assert "whole\n" in server.interact(action="wait", language="bash").text


def test_a_shell_that_traps_interrupts_gets_one(server):
    after = f"echo begun; sleep {NEVER_S}; for i in {{1..12}}; do sleep 0.1; done; echo saved"
    for code in ("trap 'stop=1' INT\n" + after, after):  # the trap stays
        begin(server, code, language="bash")
        result = server.interact(action="interrupt", language="bash")
        assert result.state == "done" and "saved\n" in result.text, result.texts
    begin(server, "trap - INT\n" + after, language="bash")
    assert server.interact(action="interrupt", language="bash").state == "interrupted"


def test_a_second_interrupt_is_sent_when_it_is_asked_for(server):
    begin(server, f"import time\nfor _ in range(2):\n    try:\n        {BEGUN}        time.sleep({NEVER_S})\n"
                  "    except KeyboardInterrupt: print('one')\nprint('through')")
    # The second line BEGUN is printed within the second try, where the interrupt is caught.
    assert "one\nbegun" in server.interact(action="interrupt", until="one\nbegun").text
    result = server.interact(action="interrupt")
    assert result.state == "done" and "through" in result.text


def test_a_cancelled_call_ends_nothing_that_no_interrupt_reaches(server):
    server.cell("kept = 7")
    call = server.start_cell(DEAF + HOLD)
    until(lambda: "begun" in server.interact(until="begun").text)
    server.cancel(call)
    # This one is answered when neither has helped for three seconds.
    server.interact(action="interrupt")
    go(server)
    until(lambda: server.cell("kept").text.endswith("7\n"))
