# SPDX-License-Identifier: MIT
"""The bash driver alone: one message a cell, whatever happens and whenever."""
import os
import random
import signal
import time

import pytest


def test_it_greets_with_its_version_and_names(bash):
    assert bash.ready[0] == "ready" and bash.ready[1].startswith(("4.", "5."))
    assert "declare -x PATH=" in bash.names and bash.output == b""


def test_each_cell_has_one_message(bash):
    assert bash.run("echo hi; (exit 3)") == ("over", 3, "hi\n")
    assert bash.run("sleep 1000 &") == ("over", 0, "")
    assert len(bash.jobs.split()) == 1
    assert bash.run("trap 'echo x' USR1 ERR; x=5") == ("over", 0, "")
    assert "trap -- 'echo x' ERR" in bash.traps and 'declare -- x="5"' in bash.names


def test_an_interrupt_is_told_as_one(bash):
    bash.start("echo begun; while :; do :; done; echo no")
    while b"begun" not in bash.output:
        bash.drain()
    bash.interrupt()
    assert bash.message()[2:] == ["interrupted", "130"]
    assert bash.run("echo $?") == ("over", 0, "130\n")


def test_interrupts_between_cells_are_nobodys(bash):
    for _ in range(20):
        bash.interrupt()
        assert bash.run("echo fine")[:2] == ("over", 0)


@pytest.mark.limit(1800)
def test_interrupts_at_any_moment_leave_one_message_a_cell(bash):
    """PY21, for bash: 300 cells, each with one to three interrupts."""
    chance = random.Random(1)
    cells = ["x=1; for i in {1..20000}; do x=$i; done", "sleep 0.053", "for i in {1..30}; do echo $(echo a | cat); done",
             "f() { sleep 0.026; }; f; f"]
    for _ in range(300):
        bash.start(chance.choice(cells))
        for _ in range(chance.randint(1, 3)):
            time.sleep(chance.random() * 0.003)
            while not bash.has_begun():
                time.sleep(0.001)
            bash.interrupt()
        what = bash.message()
        assert what and what[:2] == ["done", str(bash.number)] and what[2] in ("over", "interrupted")
        # What the cell has started may still have something to say, but all of the next one is there.
        state, status, output = bash.run("echo still here")
        assert (state, status) == ("over", 0) and "still here\n" in output


def test_names_that_are_too_much_for_the_pipe_aside_come_whole(bash):
    assert bash.run("x=5; f() { :; }")[:2] == ("over", 0) and not bash.inline
    assert bash.run("big=$(printf %0300000d 7)") == ("over", 0, "")
    assert bash.inline and 'declare -- x="5"' in bash.names and "declare -f f" in bash.names
    assert bash.run("unset big; trap 'echo x' ERR")[:2] == ("over", 0)
    assert not bash.inline and "trap -- 'echo x' ERR" in bash.traps


def test_the_end_of_the_pipe_ends_the_shell(bash):
    os.close(bash.down)
    assert bash.message() is None
    bash.down = os.open("/dev/null", os.O_WRONLY)


def test_a_restarted_shell_is_the_same_process(bash):
    before = bash.run("echo $$; x=5; set -e; false")
    assert before[:2] == ("over", 1)
    assert bash.run("set +e; echo $$ $x")[2] == before[2].strip() + " 5\n"
    for _ in range(5):
        assert bash.run("exit 7")[:2] == ("over", 7)
    assert bash.run("echo $x; ls /proc/$$/fd | wc -l")[2].split() == ["5", bash.run("ls /proc/$$/fd | wc -l")[2].strip()]


def test_a_background_shell_does_not_end_the_cell(bash):
    state, status, output = bash.run("(exit 3) & wait $!; (set -e; false); echo $?; { exit 5; } & wait $!")
    assert (state, status) == ("over", 5) and "\n1\n" in "\n" + output


def test_locals_of_a_function_that_exits_stay_its_own(bash):
    bash.run("g=global; a=(1 2); path=$PATH")
    bash.run("h() { local g=inner; exit 3; }; f() { local PATH=/nowhere IFS=, g=outer a=x own=1; local -r kept=2; h; }")
    assert bash.run("f") == ("over", 3, "")
    shown = bash.run('[[ $PATH == "$path" && $IFS == $\' \\t\\n\' ]] && echo same; echo "$g ${a[*]} ${own-none} ${kept-none}"')
    assert shown == ("over", 0, "same\nglobal 1 2 none none\n")


def test_what_is_declared_without_a_value_outlives_an_exit_of_a_function(bash):
    bash.run("declare -a empty; declare -n ref=g; g=1; f() { local g=2; exit 3; }")
    assert bash.run("f") == ("over", 3, "")
    assert bash.run("declare -p empty ref g") == ("over", 0, 'declare -a empty\ndeclare -n ref="g"\ndeclare -- g="1"\n')


@pytest.mark.parametrize("code", ["exec {a}</dev/null", "exec {a}</dev/null {b}</dev/null {c}</dev/null {d}</dev/null {e}</dev/null",
                                  "exec 11</dev/null 13</dev/null 15</dev/null 19</dev/null", "for i in {3..30}; do eval \"exec $i</dev/null\"; done"])
def test_descriptors_that_a_cell_opens_stay_and_are_in_nobodys_way(bash, code):
    opened = bash.run(code + "; ls -l /proc/$$/fd | grep -c /dev/null")
    assert opened[:2] == ("over", 0)
    for _ in range(3):
        assert bash.run("cat <<X\nhere\nX\necho error >&2")[2] == "here\nerror\n"
    assert bash.run("ls -l /proc/$$/fd | grep -c /dev/null") == opened
    assert bash.run("ls -l /proc/self/fd | grep -c pipe")[2] == "1\n"


@pytest.mark.parametrize("number", [*range(3, 21), 63, 99, 200])
def test_no_number_that_a_cell_may_open_is_the_drivers(bash, number):
    """10 and more were: a cell that used one lost what it wrote, or waited for ever."""
    assert bash.run(f"exec {number}>log; echo one >&{number}; echo seen") == ("over", 0, "seen\n")
    assert bash.run(f"echo two >&{number}; exec {number}</etc/passwd; cat log") == ("over", 0, "one\ntwo\n")
    assert bash.run("exit 3") == ("over", 3, "")
    assert bash.run(f"IFS=: read -u {number} name rest; echo $name; exec {number}<&-") == ("over", 0, "root\n")
    assert bash.run(f"[[ -e /dev/fd/{number} ]] || echo closed") == ("over", 0, "closed\n")
    assert bash.run(f"exec {number}<&-; exit 4") == ("over", 4, "")
    assert bash.run("exec {first}</dev/null; echo $first; read -t 0.01 x") == ("over", 142, "10\n")


@pytest.mark.parametrize("code", ["for i in {10..238}; do eval \"exec $i>/dev/null\"; done", "for i in {10..239}; do eval \"exec $i>/dev/null\"; done",
                                  "for i in {10..240}; do eval \"exec $i>/dev/null\"; done", "for i in {1..240}; do exec {fds[i]}>/dev/null; done"])
def test_an_exit_is_survived_with_all_numbers_in_use(bash, code):
    count = "ls -l /proc/$$/fd | grep -c /dev/null"
    opened = bash.run(f"kept=5; {code}; {count}")
    for _ in range(2):
        assert bash.run("exit 3") == ("over", 3, "")
        assert bash.run(f"{count}; read -t 0.01 x") == ("over", 142, opened[2])
    assert bash.run("echo $kept; cat <<<here; echo error >&2; ls /proc/self/fd | wc -l") == ("over", 0, f"5\nhere\nerror\n{int(opened[2]) + 4}\n")


def test_a_cell_may_close_all_that_a_script_can(bash):
    close = "for i in {3..%d}; do eval \"exec $i<&-\"; done; echo closed"
    assert bash.run(close % 240) == ("over", 0, "closed\n")
    assert bash.run("echo a; cat <<<b; exit 3") == ("over", 3, "a\nb\n")
    assert bash.run(close % 240) == ("over", 0, "closed\n")


@pytest.mark.parametrize("closed", ["241", "243", "247", "248", "249"])
def test_what_the_shell_can_do_without_may_be_closed(bash, closed):
    for code in ("echo a", "${nothing?}"):
        assert bash.run(f"exec {closed}<&-; {code}")[0] == "over"
        assert bash.run("echo a; cat <<<b; read -t 0.01 x") == ("over", 142, "a\nb\n")


@pytest.mark.parametrize("code", ["exec 242<&-", "exec 241<&- 249<&-", "exec 241<&- 249<&-; ${nothing?}",
                                  "for i in {3..254}; do eval \"exec $i<&-\"; done"])
def test_a_shell_ends_and_says_so_when_a_cell_has_closed_what_it_needs(bash, code):
    bash.start(code)
    assert bash.message() is None
    assert os.waitid(os.P_PID, bash.pid, os.WEXITED | os.WNOWAIT).si_status == 1
    bash.drain()
    assert bash.output.endswith(b"bash: this shell ends: descriptors that it needs (241 to 244) were closed.\n")


def test_a_function_that_does_not_parse_as_bash_prints_it_is_told_when_it_is_lost(bash):
    bash.run("until_f() { until touch ran <<E & do touch ran; done\nE\n}\n"
             "case_f() { case $1 in (esac) touch ran;; esac; }\n"
             "zz() { echo zz; }; alias ll='echo alias'; trap 'echo usr1' USR1; set -f; var=kept; readonly IFS")
    state, status, output = bash.run("exit 3")
    assert (state, status) == ("over", 3)
    assert output == "bash: functions that did not outlive the exit: case_f until_f\n"
    _, _, output = bash.run('zz; ll; trap -p USR1; echo "$- $var"; ls; declare -F until_f; declare -F case_f')
    assert "zz\nalias\ntrap -- 'echo usr1' SIGUSR1\n" in output and "f" in output.splitlines()[3].split()[0]
    assert output.endswith(" kept\n")


def test_an_exit_restores_functions_of_any_shell_option(bash):
    bash.run("shopt -s extglob")
    bash.run("f() { case $1 in @(a|b)) echo f;; esac; }; shopt -u extglob")
    assert bash.run("exit") == ("over", 0, "")
    assert bash.run("declare -F f; shopt -q extglob || echo off")[2] == "f\noff\n"
    bash.run("x-y() { echo y; }; set -o posix")
    assert bash.run("exit")[2] == ""
    assert bash.run("set +o posix; x-y")[2] == "y\n"


def test_nothing_of_the_user_runs_while_an_exit_restores(bash):
    bash.run("alias declare='touch ran; :' alias='touch ran; :' set='touch ran; :' exec='touch ran; :'\n"
             "readonly() { touch ran; }; export -f readonly; trap 'touch ran' DEBUG; rm -f ran\n"
             "printf() { touch ran; }; unset() { touch ran; }; shopt() { touch ran; }")
    bash.run("trap - DEBUG; \\rm -f ran")
    assert bash.run("exit")[2] == ""
    assert bash.run("ls; \\declare -F printf")[2] == "printf\n"


def test_jobs_that_an_exit_leaves_behind_are_told(bash):
    _, _, pids = bash.run("sleep 1000 & sleep 1000 & echo $(jobs -p)")
    assert bash.run("exit 2") == (
        "over", 2, f"bash: still running, but no jobs of this shell after the exit: {pids}")
    assert bash.jobs.split() == pids.split()
    bash.run(f"jobs; kill -9 {pids.strip()}; while kill -0 {pids.split()[0]} || kill -0 {pids.split()[1]}; do :; done 2>/dev/null")
    assert bash.jobs == ""


def test_what_a_cell_took_away_or_fixed_outlives_an_exit(bash):
    bash.run("rf() { echo ro; }; readonly -f rf; IGNOREEOF=3; enable -n times; complete -W 'a b' word; unset SECONDS IFS PATH")
    for code in ("exit 5", "f() { local IFS=, PATH=/bin; exit 5; }; f"):
        assert bash.run(code) == ("over", 5, "")
        assert bash.run("rf; declare -pf rf; echo ${IFS-none} ${PATH-none} ${SECONDS-none} $IGNOREEOF; enable -n; complete -p; declare -Fr | while read -r line; do "
                        "[[ $line == *__ptycell_* ]] || echo \"$line\"; done") == (
            "over", 0, "ro\nrf () \n{ \n    echo ro\n}\ndeclare -fr rf\nnone none none 3\nenable -n times\ncomplete -W 'a b' word\ndeclare -fr rf\n")


def test_a_limit_of_files_sizes_is_in_no_exits_way(bash):
    assert bash.run("x=$(head -c 200000 /dev/zero | tr '\\0' q); v=1; ulimit -f 1") == ("over", 0, "")
    for _ in range(2):
        assert bash.run("exit 5") == ("over", 5, "")
        assert bash.run("echo $v ${#x}; echo here | (read y; echo $y)") == ("over", 0, "1 200000\nhere\n")


def test_the_stack_of_folders_outlives_an_exit(bash):
    _, _, stack = bash.run("mkdir 'a b' c; pushd 'a b' >/dev/null; pushd ../c; dirs -l -p")
    assert bash.run("exit") == ("over", 0, "")
    assert bash.run("dirs -l -p")[2] == stack.partition("\n")[2]


def test_a_message_has_nothing_of_the_driver_in_it_that_is_long(bash):
    bash.run("f() { :; }")
    for _ in range(3):
        own = [line for line in bash.names.splitlines() if "__ptycell_" in line or "PROMPT_COMMAND" in line]
        assert sum(map(len, own)) < 1600, own
        assert "\ndeclare -f f\n" in bash.names
        assert bash.run("exit")[:2] == ("over", 0)
    assert "\ndeclare -f f\n" in bash.names


@pytest.mark.parametrize("code", ["f() { echo work; exit 4; }; f >log 2>&1", "f() { set -e; false; }; f >log 2>&1; echo no",
                                  "g() { exit 4; }; f() { g 2>log; }; f >log", "{ exit 4; } >log 2>&1", "exec >log 2>&1; exit 4"])
def test_output_is_seen_again_after_an_exit_that_was_redirected(bash, code):
    assert bash.run(code)[0] == "over"
    assert bash.run("echo seen; echo error >&2")[2] == "seen\nerror\n"
    assert bash.run("read -t 0.01 x </dev/tty; test -t 0 -a -t 1 -a -t 2")[1] == 0


def test_what_the_cell_set_outlives_an_exit(bash):
    bash.run("set -- one 'two words' ''; exec {a}</etc/passwd {b}</dev/null {c}</dev/null {d}</dev/null {e}</etc/passwd 9</etc/passwd 40</etc/passwd")
    opened = "echo $# $2; for i in $a $e 9 40; do read -u $i line && echo ${line%%:*}; done; ls -l /proc/$$/fd | grep -c -e null -e passwd"
    for code, status in (("IFS=,; exit 3", 3), ("set -e; false", 1), ("IFS=$' \\t\\n'; f() { exit 4; }; f a >log", 4), ("set -x; exit 5", 5)):
        assert bash.run(code)[:2] == ("over", status)
    assert "ptycell" not in bash.output.decode()
    assert bash.run(f"set +x; {opened}")[2].splitlines()[-6:] == ["3 two words", *["root"] * 4, "7"]
    assert bash.run("exec {a}<&- {b}<&- {c}<&- {d}<&- {e}<&- 9<&- 40<&-; ls /proc/self/fd | wc -w")[2] == "4\n"


def test_traps_outlive_an_exit_and_do_not_run_while_it_goes_on(bash):
    assert bash.run("set -E; trap 'echo err >>ran' ERR; trap 'echo int' INT; trap 'echo usr' USR1; exit 4") == ("over", 4, "")
    assert "trap -- 'echo int' SIGINT\n" in bash.traps and "trap -- 'echo err >>ran' ERR\n" in bash.traps
    assert bash.run("kill -USR1 $$; ls ran 2>/dev/null; set +E")[2] == "usr\n"
    assert bash.run("exit 5") == ("over", 5, "") and bash.traps.startswith("trap -- '{ __ptycell_status=")
    bash.run("set -T; trap 'echo debug' DEBUG; exit 5")
    assert bash.traps.startswith("trap -- 'echo debug' DEBUG\ntrap -- '{ __ptycell_status=")
    bash.run("set +T; f() { exit 6; }; f")
    assert bash.traps == "kept\n"  # out of reach


@pytest.mark.parametrize("code, last", [
    ("echo one 'two words' >/dev/null", "two words"), ("f() { echo in >/dev/null; }; f a b", "b"), ("f() { :; }; f", "f"), ("x=5", ""),
    ("true a; (( 1 )); [[ x ]]", "a"), ("true a | cat", "b"), ("echo x >e; . ./e nested", "nested"), ("set -T; f() { true in; }; f out; set +T", "+T"),
    ("trap 'x=$_' DEBUG; true last", "last"),
    ("true a; x=${nothing:?}", "a"), ("alias for=nosuch; true a", None), ("set -x; true last", "last"), ("true a\nfi", "a")])
def test_the_last_word_of_a_cell_is_there_for_the_next(bash, code, last):
    """P20."""
    bash.run("true a b")
    bash.run(code.replace("\\n", "\n"))
    assert "__ptycell" not in bash.output.decode()
    state, status, output = bash.run('echo "<$_>" 2>/dev/null')
    assert (state, status) == ("over", 0) and (last is None or output.splitlines()[-1:] == [f"<{last}>"])


def test_coprocs_that_an_exit_ends_are_told(bash):
    bash.run("coproc cat; COPROC_PID_OF=mine; echo coproc x y >/dev/null &\nwait $!")
    state, status, output = bash.run("exit 2")
    assert (state, status) == ("over", 2) and output.startswith("bash: coprocs that did not outlive the exit: COPROC\n")
    assert bash.run("echo ${COPROC-gone} ${COPROC_PID-gone} $COPROC_PID_OF")[2] == "gone gone mine\n"
    assert "coprocs" not in bash.run("exit 2")[2]


def test_local_name_references_stay_their_functions(bash):
    bash.run("a=1 b=2 c=3; declare -n shadow=c seen=a; m=(x y); declare -n part='m[1]'\n"
             "f() { local -n own=a shadow=b; local seen=5; g; }; g() { local -n own=c; exit 4; }")
    assert bash.run("f") == ("over", 4, "")
    assert bash.run("echo ${own-none} $a $b $c; declare -p shadow seen part")[2] == (
        'none 1 2 3\ndeclare -n shadow="c"\ndeclare -n seen="a"\ndeclare -n part="m[1]"\n')


@pytest.mark.parametrize("name", ["HUP", "USR1", "USR2", "PIPE", "ALRM", "XCPU", "VTALRM", "SEGV"])
@pytest.mark.parametrize("code", ["kill -%s $$; echo not-reached", "f() { kill -%s $$; }; f >log; echo not-reached",
                                  "set -e; (kill -%s $$); :; echo not-reached"])
def test_a_deadly_signal_ends_the_shell(bash, name, code):
    ended, status = dies_of(bash, code % name)
    assert (ended, status) == ("", getattr(signal, "SIG" + name))


def test_a_limit_of_the_cells_own_ends_the_shell_by_its_signal(bash):
    assert dies_of(bash, "trap - XFSZ; ulimit -f 1; printf %05000d 7 >big; echo not-reached") == ("", signal.SIGXFSZ)


def test_an_exit_trap_runs_before_a_deadly_signal_ends_the_shell(bash):
    assert bash.run("__ptycell_bye='echo bye'")[:2] == ("over", 0)
    assert dies_of(bash, "kill -USR1 $$") == ("bye\n", signal.SIGUSR1)


@pytest.mark.parametrize("code, status, output", [
    ("set -u; __ptycell_bye='echo \"rm $tmp\"; echo ran'; exit 5", 5, "tmp: unbound variable\n"),
    ("set -u; __ptycell_bye=$'echo ${tmp?}\\necho ran'; exit 5", 5, "tmp: parameter not set\n"),
    ("set -eu; __ptycell_bye='echo $tmp; echo ran'; exit 5", 1, "tmp: unbound variable\n"),
    ("set -e; __ptycell_bye='echo $?; false; echo ran'; exit 5", 1, "5\n"),
    ("set -euo pipefail; __ptycell_bye='echo ${-//[^eu]/}; shopt -q -o pipefail'; exit 5", 5, "eu\n"),
    ("__ptycell_bye='exit 11'; exit 10", 11, ""), ("set -e; __ptycell_bye='exit 0'\nfalse", 0, ""),
    ("__ptycell_bye='false; exit'; exit 10", 10, ""), ("f() { local v=in; __ptycell_bye='echo $v $1; exit 6'; exit 4; }; f arg", 6, "in arg\n"),
    ("__ptycell_bye='false; return 3'; exit 5", 3, "")])
def test_an_exit_trap_has_the_cells_options_and_the_last_word(bash, code, status, output):
    state, ended, said = bash.run("x=5; " + code)
    assert (state, ended) == ("over", status) and said.endswith(output) and "ran" not in said
    assert bash.run("echo $x ${-//[^eu]/}")[2] == "5\n"


@pytest.mark.parametrize("code, status", [
    ("trap 'exit 3' USR1; kill -USR1 $$", 3), ("trap 'exit 3' USR1; f() { kill -USR1 $$; }; f", 3), ("trap 'exit 3' ERR; false", 3),
    ("set -E; trap 'echo no' RETURN; exit 4", 4), ("set -ET; trap 'echo debug' DEBUG ERR RETURN; exit 4", 4), ("echo 'exit 5' >lib; . ./lib", 5), ("f() { . /dev/stdin <<<'exit 6'; }; f", 6),
    ("eval 'exit 7'", 7), ("shopt -s inherit_errexit; set -e; false", 1), ("set -o posix; exit 8", 8),
    ("trap 'echo on' HUP; kill -HUP $$; exit 9", 9), ("kill -TERM $$; exit 2", 2)])
def test_an_exit_is_no_deadly_signal(bash, code, status):
    assert bash.run("x=5; " + code)[:2] == ("over", status)
    assert bash.run("echo $x")[2] == "5\n"


STARVED = "bash: this shell ends: its limit of open files (ulimit -n) has become too low.\n"


def dies_of(bash, code):
    """What a cell wrote that ended the shell, and the signal that did."""
    bash.start(code)
    assert bash.message() is None
    return bash.output.decode(), os.waitid(os.P_PID, bash.pid, os.WEXITED | os.WNOWAIT).si_status


@pytest.mark.parametrize("code, status", [
    ("echo $(foo", 2), ('echo "a$(b "c$(d "e${f:-"$(g', 2), ("cat <(foo", 2), ("cat >(foo", 2), ("echo $(cat <<E\nfoo", 2),
    ("f() { echo $((1+$(foo", 2), ("eval 'echo $(foo'", 2), (". ./broken; true", 0), (". ./broken || exit 3", 3),
    ("trap 'x=\"$(echo 5)\"' DEBUG\necho $(foo", 2),
])
def test_a_substitution_that_is_not_closed_does_not_touch_memory(bash, code, status):
    """Bash 5.2 writes the next quote before the memory of its open quotes: it died in one of the next cells."""
    bash.run("printf 'echo $(foo' >broken; x=5; f() { echo \"$x $(echo \"a\")\"; }")
    for _ in range(10):
        assert bash.run(code)[:2] == ("over", status)
        for _ in range(3):
            assert bash.run('y=$(f); z="${y}"; echo "$y" "$(f)" `echo "$x"`') == ("over", 0, "5 a 5 a 5\n")
        bash.run("trap - DEBUG")


@pytest.mark.parametrize("limit, status", [(19, 3), (18, None), (16, None)])
def test_a_low_limit_of_open_files_leaves_the_shell_what_it_has_open(bash, limit, status):
    assert bash.run(f"kept=5; ulimit -n {limit}; echo a") == ("over", 0, "a\n")
    assert bash.run("echo $kept; cat <<<text") == ("over", 0, "5\ntext\n")
    if status is None:
        assert dies_of(bash, "exit 3")[0].endswith(STARVED)
    else:
        assert bash.run("exit 3") == ("over", status, "") and bash.run("echo $kept")[2] == "5\n"


def test_a_shell_that_may_open_hardly_any_file_ends_and_says_so(bash):
    assert bash.run("ulimit -n 12; echo a") == ("over", 0, "a\n")
    assert dies_of(bash, "echo b") == (STARVED, 1)


@pytest.mark.parametrize("limit", [3, 0])
def test_a_shell_that_may_open_no_file_ends_and_says_so(bash, limit):
    output, status = dies_of(bash, f"ulimit -n {limit}; echo a")
    assert output.startswith("a\n") and output.endswith(STARVED) and status == 1


@pytest.mark.parametrize("ifs", ["3", "1", "0123456789"])
def test_digits_in_IFS_leave_the_status_whole(bash, ifs):
    assert bash.run(f"IFS={ifs}; (exit 131)") == ("over", 131, "")
    assert bash.run('echo "$?"; false') == ("over", 1, "131\n")
    assert bash.run("exit 113") == ("over", 113, "")
    assert bash.run('echo "$? $IFS"; trap -p USR1; (exit 31)') == ("over", 31, f"113 {ifs}\n")


@pytest.mark.parametrize("code, status", [("exit 5", 5), ("set -e; false", 1), ("f() { exit 6; }; f", 6)])
def test_a_trap_of_CHLD_outlives_an_exit(bash, code, status):
    bash.run("n=0; trap 'n=$((n + 1)); echo child' CHLD; x=1")
    assert bash.run(code) == ("over", status, "")
    assert bash.run("echo $x; trap -p CHLD; trap - CHLD") == ("over", 0, "1\ntrap -- 'n=$((n + 1)); echo child' SIGCHLD\n")
    assert bash.run("/bin/true; exit 4") == ("over", 4, "")
    assert bash.run("trap -p CHLD; echo $x") == ("over", 0, "1\n")


@pytest.mark.parametrize("code", ["enable -n trap", "enable -n read", "enable -n printf set exec", "FUNCNEST=1", "FUNCNEST=2; ${nothing?}",
                                  "builtin() { :; }"])
def test_what_the_driver_needs_does_not_end_it_when_a_cell_takes_it_away(bash, code):
    assert bash.run(f"x=5; {code}")[0] == "over"
    assert bash.run("echo $x; exit 3") == ("over", 3, "5\n")
    assert bash.run("echo $x") == ("over", 0, "5\n")


def test_FUNCNEST_is_the_users_in_the_next_cell(bash):
    bash.run("f() { g; }; g() { echo too deep; }; FUNCNEST=1")
    state, status, output = bash.run("echo $FUNCNEST; f")
    assert (state, status) == ("over", 1) and output.startswith("1\n") and "too deep" not in output
    assert bash.run("FUNCNEST=0; f") == ("over", 0, "too deep\n")


@pytest.mark.parametrize("name", ["PROMPT_COMMAND", "FUNCNEST"])
def test_a_shell_ends_and_says_so_when_what_it_has_to_change_is_read_only(bash, name):
    output, status = dies_of(bash, f"readonly {name}=1")
    assert status == 1 and output.endswith(f"bash: this shell ends: {name} is read-only, and it cannot go on without changing it.\n")


def test_a_prompt_that_is_read_only_stays(bash):
    assert bash.run("readonly PS1='x> '; echo a") == ("over", 0, "a\nx> ")
    assert bash.run("echo $PS1") == ("over", 0, "x>\nx> ")


@pytest.mark.parametrize("code", ["TMOUT=1", "readonly TMOUT=1"])
def test_TMOUT_ends_neither_a_cell_nor_a_shell_that_waits(bash, code):
    assert bash.run(f"shopt -p >before; trap 'echo rang' ALRM; {code}") == ("over", 0, "")
    assert bash.run("sleep 1.2; echo on; shopt -p | diff before -; trap -p ALRM") == ("over", 0, "on\ntrap -- 'echo rang' SIGALRM\n")
    time.sleep(1.2)
    assert bash.run("kill -ALRM $$; echo $TMOUT; exit 3") == ("over", 3, "rang\n1\n")
    assert bash.run("sleep 1.2; echo still $TMOUT") == ("over", 0, "still 1\n")


@pytest.mark.parametrize("code", ["unset BASHPID", "unset BASH", "BASH=/bin/false", "alias builtin=false return=false eval=false unset=false"])
def test_a_shell_goes_on_without_what_bash_tells_of_itself(bash, code):
    assert bash.run(f"kept=5; {code}") == ("over", 0, "")
    assert bash.run("exit 3") == ("over", 3, "")
    assert bash.run("echo $kept") == ("over", 0, "5\n")


@pytest.mark.parametrize("code", ["declare -i PS1=5", "declare -n PS1=kept", "declare -n PROMPT_COMMAND=kept"])
def test_a_prompt_with_attributes_shows_nothing_and_changes_nothing(bash, code):
    assert bash.run(f"kept=5; {code}") == ("over", 0, "")
    assert bash.run("echo $kept") == ("over", 0, "5\n")


@pytest.mark.parametrize("code, reason", [("set -r; cd /", "a restricted shell (set -r) cannot say how a cell went")])
def test_a_shell_that_ends_says_the_true_reason(bash, code, reason):
    output, status = dies_of(bash, code)
    assert status == 1 and output.endswith(f"bash: this shell ends: {reason}.\n"), output
