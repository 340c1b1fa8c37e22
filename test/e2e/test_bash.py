# SPDX-License-Identifier: MIT
"""bash as a session: the end of a cell, its status, Ctrl-C, and what persists."""
import shutil
import signal

import pytest
from client import Server
from patience import until
from steps import assert_honest, begin, telling


@pytest.fixture
def sh(server):
    """Runs a cell of bash."""
    def run(code, **arguments):
        result = server.cell(code, language="bash", **arguments)
        assert_honest(result)
        return result
    return run


def test_a_cell_ends_with_its_status_and_the_state_stays(sh):
    """BR01."""
    first = sh("x=5; false")
    assert (first.state, first.status["exit"], first.is_error) == ("done", 1, False)
    assert sh("echo $x $?").text == "5 1\n"
    assert "exit" not in sh("true").status


@pytest.mark.parametrize("code", [
    "for i in 1 2 3; do sleep 1000; echo not-reached; done",
    "while :; do :; done; echo not-reached",
    "sleep 1000; echo not-reached",
    "f() { sleep 1000; }; f; echo not-reached",
    "sleep 1000 | sleep 1000; echo not-reached",
])
@pytest.mark.account
def test_ctrl_c_aborts_the_cell_and_keeps_the_shell(sh, code):
    """BR02: the rest of the cell does not run, the next one finds everything."""
    sh("kept=here; cd /tmp")
    result = sh(code, timeout=0.4)
    assert result.state == "timed_out" and "variables and files are kept" in result.text
    assert "not-reached" not in result.text
    after = sh("echo $kept $PWD")
    assert after.text == "here /tmp\n" and not after.notice


@pytest.mark.account
def test_ctrl_c_aborts_the_cell_that_waits_for_python(sh, server):
    """Once Python has begun: before, it ends with a status of its own, and bash goes on, as at a terminal."""
    sh("kept=here")
    begin(server, "python3 -c 'import time; print(\"begun\", flush=True)\nwhile True: time.sleep(0.01)'; echo not-reached", language="bash")
    result = server.interact(action="interrupt", language="bash")  # Python may miss one just before it sleeps, and sleep on
    assert "KeyboardInterrupt" in result.text and "not-reached" not in result.text
    assert sh("echo $kept").text == "here\n"


@pytest.mark.account
def test_a_program_that_ignores_ctrl_c_is_killed_and_the_shell_is_not(strict_server):
    def sh(code, **arguments):
        return strict_server.cell(code, language="bash", **arguments)
    sh("kept=here")
    result = sh("python3 -c 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(1000)'", timeout=0.4)
    assert result.state in ("done", "timed_out")
    assert sh("echo $kept").text == "here\n"


@pytest.mark.account
def test_read_waits_at_its_prompt_and_is_answered(sh, server):
    """BR03, WT06, OI-08."""
    result = sh('read -p "name? " n; echo got $n')
    assert result.state == "waiting_for_input" and result.cell["prompt"] == "name?"
    assert server.interact(input="bob", language="bash").text.endswith("got bob\n")
    result = sh('read -s -p "secret? " n; echo ${#n}')
    assert result.state == "waiting_for_input" and result.cell["secret"] is True
    answer = server.interact(input="xyzzy", language="sh")
    assert answer.text.endswith("5\n") and "xyzzy" not in answer.text


@pytest.mark.parametrize("code", ["read x; echo not-reached", "cat; echo not-reached",
                                  "select x in a b; do echo not-reached; done"])
@pytest.mark.account
def test_a_cell_that_waits_can_be_interrupted(sh, server, code):
    sh("kept=here")
    assert sh(code).state == "waiting_for_input"
    result = server.interact(action="interrupt", language="bash")
    assert result.state == "interrupted" and "not-reached" not in result.text
    assert sh("echo $kept").text == "here\n"


@pytest.mark.parametrize("code", [
    """trap 'read -p "sure? " a; echo not-reached' EXIT; exit 3""",
    """f() { read -p "sure? " a || :; echo not-reached; }; trap 'f; echo not-reached' EXIT; f2() { exit 3; }; f2"""])
def test_an_exit_trap_that_waits_can_be_interrupted(sh, server, code):
    sh("kept=1")
    assert sh(code).state == "waiting_for_input"
    result = server.interact(action="interrupt", language="bash")
    assert result.state == "done" and "not-reached" not in result.text
    assert sh("echo $kept").text == "1\n"


@pytest.mark.account
def test_programs_of_a_cell_read_what_is_typed(sh, server):
    assert sh("sort; echo end").state == "waiting_for_input"
    server.interact(input="b", language="bash")
    server.interact(input="a", language="bash")
    assert server.interact(key="ctrl-d", language="bash").text.endswith("a\nb\nend\n")


@pytest.mark.parametrize("code", ['echo "open', "echo 'open", "x=(1 2", "if true; then", "f() {", "$(", "`"])
def test_code_that_does_not_end_is_an_error_and_the_next_cell_is_fine(sh, code):
    """BR04, OI-06."""
    assert "unexpected" in sh(code).text
    assert sh("echo fine").text == "fine\n"


@pytest.mark.parametrize("code", ["echo $(foo", 'echo "a$(b "${c:-$(d', "cat <(foo", "f() { x=$((1 + $(foo", "echo $(cat <<E\nfoo",
                                  "eval 'echo $(foo'"])
def test_a_substitution_that_is_not_closed_costs_no_state(sh, code):
    sh("x=5; say() { echo \"$x $(echo \"a\")\"; }; trap 'echo err' ERR")
    for _ in range(5):
        result = sh(code)
        assert (result.state, result.status["exit"]) == ("done", 2) and "matching `)'" in result.text
        for _ in range(3):
            assert sh('y=$(say); echo "$y" "$(say)" `echo "$x"`').text == "5 a 5 a 5\n"


@pytest.mark.parametrize("code, status", [
    ("exit 4", 4), ("f() { exit 4; }; f", 4), ("set -e; false; echo not-reached", 1),
    ("set -e; f() { false; echo not-reached; }; f", 1), ("echo ${nothing:?is not set}", 1),
    ("set -u; echo $nothing; echo not-reached", 1), ("return 3; echo not-reached", 3),
    ("set -euo pipefail; false | cat; echo not-reached", 1), ("set -t; exit 5", 5),
])
def test_the_end_of_a_script_ends_the_cell_with_its_status(sh, code, status):
    """BR05, BR06: and all that a shell can hand over is there in the next cell."""
    sh("x=5; a=(1 2 3); declare -A m=([k]=v); f1() { echo function; }; alias al='echo alias'; "
       "export ex=port; cd /tmp; readonly ro=1; shopt -s extglob; umask 027; exec 7</etc/passwd")
    result = sh(code)
    assert (result.state, result.status["exit"]) == ("done", status)
    assert "not-reached" not in result.text and not result.is_error
    after = sh("set +eu\necho $x ${a[2]} ${m[k]} $ex $ro $PWD $(umask); f1\nal; shopt extglob\n"
               "read -u 7 line; echo ${line%%:*}; echo $?")
    assert after.text.split() == ["5", "3", "v", "port", "1", "/tmp", "0027", "function", "alias",
                                  "extglob", "on", "root", "0"]


def test_an_exit_trap_of_the_users_runs_at_exit(sh):
    sh("trap 'echo cleaned up' EXIT")
    result = sh("exit 3")
    assert result.text == "cleaned up\n" and result.status["exit"] == 3
    assert sh("exit 4").text == ""  # once


@pytest.mark.parametrize("ends", ["exit 7", "(exit 7)", "f() { exit 7; }; f", "set -e; (exit 7)"])
def test_the_status_of_a_cell_is_there_for_the_next_whatever_its_traps(sh, ends):
    for traps in ("", "trap 'echo int' INT", "trap 'echo err' ERR"):
        sh(traps)
        sh(ends)
        assert sh("echo $?").text == "7\n"


@pytest.mark.parametrize("flags", ["", "set -T; "])
def test_a_trap_of_debug_runs_for_what_the_cell_has_and_leaves_the_status(sh, flags):
    sh(flags + "trap 'n=$((n+1))' DEBUG; (exit 7)")
    assert sh("echo $?").text == "7\n"
    sh("trap \"echo 'it'\" DEBUG; (exit 6)")
    assert sh("echo $?").text == "it\n6\n"
    assert sh("trap -p DEBUG").text == "it\ntrap -- 'echo '\\''it'\\''' DEBUG\n"
    assert sh("trap - DEBUG").text == "it\n"
    assert sh("echo $?").text == "0\n"


@pytest.mark.parametrize("leaves", ["exit 3", "set -e; (exit 3)", "f() { exit 3; }; f a"])
def test_traps_and_parameters_outlive_an_exit(sh, leaves):
    sh("set -- one 'two words'; trap 'echo err' ERR; trap 'echo usr' USR1; trap 'echo bye' EXIT")
    assert sh(leaves).text.splitlines()[-1] == "bye"
    assert sh("kill -USR1 $$; false; echo \"$# $2\"").text == "usr\nerr\n2 two words\n"
    assert sh("exit 4").text == ""


@pytest.mark.parametrize("code", ["if", "echo $(foo", "echo 'open", "(("])
def test_a_syntax_error_in_the_first_line_costs_no_traps_nor_options(sh, code):
    """What is set again before each cell stands in that line."""
    sh("trap 'echo err' ERR; trap 'echo bye' EXIT; trap 'echo usr' USR1")
    for _ in range(2):
        assert sh(code).status["exit"] == 2
        assert sh("kill -USR1 $$; false").text == "usr\nerr\n"
    sh("set -x")
    assert sh(code).status["exit"] == 2
    assert sh("echo a").text.endswith("+ echo a\na\n")
    sh("set +x; trap 'last=$BASH_COMMAND' DEBUG; trap - ERR USR1")
    assert sh(code).status["exit"] == 2
    assert sh("true a; echo $last").text == "echo $last\n"
    assert sh("exit 4").text == "bye\n"
    assert sh(code).status["exit"] == 2
    assert sh("exit 4").text == ""


@pytest.mark.parametrize("leaves", ["exit 3", "set -eu; (exit 3)", "f() { exit 3; }; f"])
def test_an_exit_trap_runs_where_it_was_set_and_the_state_stays(sh, leaves):
    """P7."""
    result = sh(f"x=5; tmp=$(mktemp); trap 'echo \"cleaned up $?\"; rm -f $tmp' EXIT\n{leaves}")
    assert (result.text, result.state, result.status["exit"]) == ("cleaned up 3\n", "done", 3)
    assert sh("echo $x; ls $tmp 2>/dev/null").text == "5\n"


SCRIPT = """set -euo pipefail
usage() {
    cat <<"END OF IT"
it's text, without an end of (
END OF IT
}
files=(
    1 # it's
)
x=$(
    case a in a) echo 5 ;; esac # )
)
for ((i = 0; i < 2; i++)); do (( i << 1 )) || :; done
while [[ $# -gt 0 ]]; do case "$1" in -h | --help) usage ;; *) shift ;; esac done
tmp=$(mktemp -d)
trap 'echo cleaned up; rm -rf "$tmp"' EXIT
"""


@pytest.mark.parametrize("ends", ["exit 3", "(exit 3)"])
def test_an_exit_trap_is_found_behind_all_that_scripts_have_before_it(sh, ends):
    result = sh(SCRIPT + ends)
    assert (result.text, result.state, result.status["exit"]) == ("cleaned up\n", "done", 3)
    assert sh("echo $x ${files[0]} $i; ls $tmp 2>/dev/null").text == "5 1 2\n"


@pytest.mark.parametrize("trap", ["echo bye", "exit 4", "builtin exit 4", "set -o posix"])
@pytest.mark.parametrize("leaves", ["exit 4", "set -e; (exit 4)"])
def test_aliases_outlive_an_exit_that_has_a_trap(sh, trap, leaves):
    sh("alias ll='echo alias'")
    assert sh(f"trap '{trap}' EXIT; {leaves}").status["exit"] == 4
    assert sh("shopt -q expand_aliases; echo $?").text == "0\n"
    assert sh("ll 2").text == "alias 2\n"
    sh("shopt -u expand_aliases")
    sh(f"trap '{trap}' EXIT; {leaves}")
    assert sh("shopt -q expand_aliases; echo $?").text == "1\n"


@pytest.mark.parametrize("words", ["", " builtin return __ptycell_return : trap"])
@pytest.mark.parametrize("code", ["ll 1", "ll 1 # builtin exit"])
def test_a_trap_of_exit_has_the_aliases(sh, words, code):
    sh("alias ll='echo alias'" + "".join(f" {word}=nosuch" for word in words.split()))
    assert sh(f"\\trap '{code}' EXIT; \\exit 4").text == "alias 1\n"
    assert sh("ll 2").text == "alias 2\n"


def test_a_trap_of_exit_can_turn_aliases_off(sh):
    sh("trap 'shopt -u expand_aliases' EXIT; exit 4")
    assert sh("shopt -q expand_aliases; echo $?").text == "1\n"


def test_an_exit_trap_may_exit_and_other_signals_share_it(sh):
    result = sh("x=5; trap 'echo bye; exit 9' EXIT USR1; kill -USR1 $$; echo not-reached")
    assert result.text.startswith("bye\n") and "not-reached" not in result.text
    assert sh("echo $x").text == "5\n"


def test_traps_are_listed_as_the_user_set_them(sh):
    """P20."""
    assert sh("trap 'echo u' USR1 EXIT; trap -p; trap - USR1 EXIT; trap").text == (
        "trap -- 'echo u' EXIT\ntrap -- 'echo u' SIGUSR1\n")
    assert sh("f() { trap 'echo returned' RETURN; echo in; }; f; trap - RETURN").text == "in\nreturned\n"


def test_subshells_list_traps_as_the_user_set_them(sh):
    """P20."""
    assert sh("x=$(trap -p EXIT); echo \"[$x]\"; (trap -p); trap -p | cat").text == "[]\n"
    assert sh("echo $(trap) `trap`; cat <(trap); case a in a) trap; (trap) ;; esac").text == "\n"
    first = r"trap -- 'echo '\''first'\''' EXIT" + "\n"
    listed = sh("trap \"echo 'first'\" EXIT; trap 'echo u' USR1; echo \"$(trap -p EXIT)\"; (trap); trap 'echo err' ERR; trap -p ERR; trap - ERR")
    assert listed.text == f"{first}{first}trap -- 'echo u' SIGUSR1\ntrap -- 'echo err' ERR\n"
    assert sh("old=$(trap -p EXIT); trap 'echo second' EXIT; eval \"$old\"; (trap 'echo own' EXIT; trap -p EXIT)").text == (
        "trap -- 'echo own' EXIT\nown\n")
    assert sh("exit 3").text == "first\n"


def test_statuses_of_a_pipeline_are_there_in_every_cell(sh):
    """P6."""
    sh("echo hi")
    assert sh('false | true; echo "${PIPESTATUS[@]}"').text == "1 0\n"
    sh("(exit 3)")
    assert sh('echo "$? ${PIPESTATUS[@]}"').text == "3 3\n"


@pytest.mark.parametrize("code, found", [
    ("false | true", "<true> 0 1 0"), ("IFS=,; false | true | (exit 3)", "<> 3 1 0 3"), ("! true a", "<a> 1 0"), ("true a; (( 0 ))", "<a> 1 1"),
    ("trap 'echo err' ERR; true b | true", "<ERR> 0 0"), ("trap : RETURN; false | true; true last", "<last> 0 0"), ("trap - RETURN; false | true", "<RETURN> 0 1 0"),
    ("true a\nfi", "<a> 2 2"), ("set -v; true a", None), ("alias for=nosuch; true a", None), ("declare -r PIPESTATUS; false | true", "<PIPESTATUS> 0"),
    ("exit 4", None)])
def test_a_cell_finds_what_the_last_command_of_the_one_before_left(sh, code, found):
    """P6, P20: `_` and PIPESTATUS."""
    sh("true true")
    assert "ptycell" not in sh(code).text
    text = sh('echo "<$_> $? ${PIPESTATUS[@]}"').text
    assert text == found + "\n" if found else "\n<" in "\n" + text


def test_options_that_cut_a_cell_are_its_own(sh):
    """B4."""
    cut = sh("set -euo pipefail; false | true; echo not-reached")
    assert "not-reached" not in cut.text and cut.status["exit"] == 1
    after = sh("false | true; echo $?; echo \"[$nothing]\"; false; echo after")
    assert after.text == "0\n[]\nafter\n"


def test_a_restricted_shell_ends_and_the_next_cell_runs(sh):
    """P24."""
    assert sh("set -r").state == "died"
    assert sh("echo fine").text == "fine\n"


def test_an_exit_runs_no_function_that_needs_an_option_to_be_read(server):
    server.cell("shopt -s extglob; touch precious; alias kept='echo alias'", language="bash")
    server.cell("clean() { keep=(!(*.tmp)); rm -f precious; }; after() { echo after; }", language="bash")
    assert server.cell("exit 0", language="bash").status.get("files", []) == []
    assert server.cell("ls precious; after; shopt -q extglob; echo $?; kept", language="bash").text == "precious\nafter\n0\nalias\n"


@pytest.mark.account
def test_ctrl_z_stops_the_job_and_the_cell_goes_on(sh, server):
    """P14."""
    started = sh("bash -c 'echo ready; exec sleep 600'; echo \"after $?\"", budget=0)
    telling(server, "ready", started, language="bash")
    stopped = server.interact(key="ctrl-z", language="bash")
    assert stopped.state == "done" and "Stopped" in stopped.text and "after 148" in stopped.text
    assert "Stopped" in sh("jobs").text
    assert sh("kill -9 %1; echo gone").text.startswith("gone\n")


def test_code_from_other_editors_runs_and_nuls_are_told(sh):
    """W20."""
    assert sh("\ufeffecho fine").text == "fine\n"
    assert sh("echo a\0b").text == "NUL bytes of the code that were left out: 1\nab\n"


def test_a_history_has_no_line_of_ours(sh):
    """P20."""
    assert sh("history").text == ""
    sh("exit 3")
    assert sh("history").text == ""
    sh("set -o history")
    sh("history -s 'echo mine'")
    assert sh("history; set +o history").text.split() == ["1", "echo", "mine"]
    assert sh("history").text == ""


def test_exec_ends_the_shell_and_says_so(sh):
    """BR05."""
    result = sh("x=5; exec sh -c 'echo replaced; exit 9'")
    assert (result.state, result.status["exit"]) == ("died", 9) and "replaced" in result.text
    assert sh("echo ${x-gone}").text == "gone\n"


@pytest.mark.account
def test_exec_of_what_cannot_run_ends_the_shell_and_says_so(sh):
    """Bash has given up its traps by then; what it does not find at all, it says before that."""
    result = sh("x=5; exec /etc/passwd")
    assert (result.state, result.status["exit"]) == ("died", 126) and "exited with code 126, as bash does where `exec` cannot run" in result.text
    sh("x=5; exec nosuchprogram")
    assert sh("echo ${x-gone}").text == "5\n"


def test_a_shell_that_a_sourced_file_ends_says_what_to_do(server):
    code = "echo 'trap \"echo bye\" EXIT; exit 3' >ends.sh; . ./ends.sh"
    result = server.cell(code, language="bash")
    assert result.state == "died" and "an exit after a sourced file has set a trap of EXIT: set such a trap in the cell itself" in result.text
    assert server.cell("(. ./ends.sh); echo $?; kill -9 $$", language="bash").text.startswith("bye\n3\nThe cell died: ")
    assert "a trap of EXIT" not in server.cell("kill -9 $$", language="bash").text


@pytest.mark.account
def test_a_killed_shell_is_told(sh):
    result = sh("kill -9 $$")
    assert result.state == "died" and "SIGKILL" in result.text
    assert sh("echo new").text == "new\n"


@pytest.mark.parametrize("code, name", [("kill -HUP $$", "HUP"), ("f() { kill -USR1 $$; }; f >log", "USR1"), ("bash -c 'kill -ALRM $PPID'; :", "ALRM"),
                                        ("trap - XFSZ; ulimit -f 1; printf %05000d 7 >big", "XFSZ")])
@pytest.mark.account
def test_a_shell_that_a_signal_ended_is_told(sh, code, name):
    result = sh(f"trap 'echo bye >/dev/tty' EXIT; x=5; {code}; echo not-reached")
    assert result.state == "died" and f"SIG{name}" in result.text and "not-reached" not in result.text and "bye\n" in result.text
    assert sh("echo ${x-gone}").text == "gone\n"


@pytest.mark.parametrize("code", ["ulimit -t 1; while :; do :; done", "ulimit -St 1; while :; do :; done"])
@pytest.mark.account
def test_a_limit_of_processor_time_that_code_set_is_told(sh, code):
    result = sh(code)
    assert result.state == "died" and "limit of processor time" in result.text and "memory" not in result.text
    assert "when memory runs out" in sh("ulimit -t 1000; kill -9 $$").text


@pytest.mark.account
def test_a_file_that_becomes_too_large_ends_no_shell(sh):
    """Bash as it starts takes the signal back that it is to ignore, and lost all for what a terminal says as a line."""
    result = sh("x=5; ulimit -Sf 1; printf %05000d 7 >big; echo rc $?")
    assert result.state == "done" and "write error: File too large" in result.text and "rc 1\n" in result.text
    assert sh("ulimit -Sf unlimited 2>/dev/null || ulimit -Sf $(ulimit -Hf); echo $x; trap; trap 'echo no' USR1; trap").text == \
        "5\ntrap -- 'echo no' SIGUSR1\n"
    assert sh("head -c 5000 /dev/zero >large; (ulimit -f 1; head -c 5000 /dev/zero >small) 2>&1; stat -c %s small").text.split()[-1] == "1024"


def test_a_trap_of_the_users_for_files_that_become_too_large_stays(sh):
    listed = "trap -- 'echo large' SIGXFSZ\n"
    assert sh("trap 'echo large' XFSZ; trap -p XFSZ; (trap); kill -XFSZ $$").text == f"{listed}{listed}large\n"
    assert sh("trap -p; kill -XFSZ $$; x=5; exit 3").text == f"{listed}large\n"
    assert sh("trap -p; kill -XFSZ $$; echo $x").text == f"{listed}large\n5\n"
    assert sh("trap '' sigxfsz; trap -p; (trap); trap '' USR1").text == "trap -- '' SIGXFSZ\n" * 2
    assert sh("trap -p; trap - 25 USR1; trap -p").text == "trap -- '' SIGUSR1\ntrap -- '' SIGXFSZ\n"
    assert sh("trap -p; ulimit -Sf 1; printf %05000d 7 >big; echo rc $?").text.endswith("rc 1\n")


def test_a_trap_of_a_deadly_signal_keeps_the_shell(sh):
    assert sh("x=5; trap 'echo caught' HUP USR1; kill -HUP $$; kill -USR1 $$; echo on").text == "caught\ncaught\non\n"
    assert sh("kill -HUP $$; trap 'exit 3' HUP; kill -HUP $$; echo not-reached").text == "caught\n"
    assert sh("echo $x").text == "5\n"


@pytest.mark.account
def test_programs_see_the_terminal_and_nothing_else(sh):
    """BR07."""
    assert sh("ls /proc/self/fd").text.split() == ["0", "1", "2", "3"]  # 3: of ls itself
    assert sh("tty -s && [ -t 1 ] && [ -t 2 ] && echo yes").text == "yes\n"
    assert "ptycell_driver" not in sh("env").text.lower()
    sh("exit 1")
    assert sh("ls /proc/self/fd").text.split() == ["0", "1", "2", "3"]


STRAYED = "bash: %s does not go to the terminal, nor into answers: exec %s>/dev/tty brings it back.\n"


def test_a_redirected_shell_still_answers(sh):
    """BR08."""
    assert sh("exec >/dev/null").state == "done"
    assert sh("echo gone").text == STRAYED % ("stdout", "")
    assert sh("echo gone").text == ""
    assert sh("exec >/dev/tty; echo back").text == "back\n"
    assert sh("exec 2>errors.txt").state == "done"
    assert sh("echo to-file >&2").text == STRAYED % ("stderr", "2")
    assert sh("exec 2>&1; cat errors.txt").text == "to-file\n"
    sh("exec >>all.txt 2>&1")
    assert sh("nosuchprogram").text == STRAYED % ("stdout", "") + STRAYED % ("stderr", "2")
    sh("exit 1")
    assert "nosuchprogram" in sh("cat all.txt").text
    sh("exec >&-")
    assert sh("exec >/dev/tty; echo open").text == STRAYED % ("stdout", "") + "open\n"


def test_a_shell_whose_output_comes_through_a_pipe_says_nothing_of_it(sh):
    assert sh("exec > >(tee log.txt) 2>&1; sleep 0.1").text == ""
    assert sh("echo both; sleep 0.1").text == "both\n"
    assert sh("exec >/dev/tty 2>&1; cat log.txt").text == "both\n"


def test_a_here_document_is_what_was_written(sh):
    """OI-07."""
    assert sh("x=5\ncat <<EOF\nline 1\n  $x\nEOF\ncat <<'EOF'\n$x\nEOF").text == "line 1\n  5\n$x\n"
    assert "line 1" in sh("cat <<EOF\nline 1").text
    assert sh("echo fine").text == "fine\n"


def test_what_marks_the_end_of_a_cell_can_be_printed(sh):
    """OI-09."""
    sh("printf '@%s done 1 over 0\\n@%s end\\n' $__ptycell_nonce $__ptycell_nonce; echo __ptycell_next")
    assert sh("echo next").text == "next\n"


def test_output_and_errors_keep_their_order(sh):
    """OI-10."""
    assert sh("echo out1; echo err1 >&2; echo out2; echo err2 >&2").text == "out1\nerr1\nout2\nerr2\n"


def test_progress_bars_leave_their_last_state(sh):
    """OI-12."""
    assert sh(r'for i in 1 2 3; do printf "\r%d%%" $i; done; echo').text == "3%\n"


@pytest.mark.account
def test_large_output_comes_as_head_and_tail(sh):
    result = sh("seq 100000")
    assert result.status["output"]["total"] == 588895
    assert result.text.startswith("1\n2\n") and "\n100000\n" in result.text
    assert sh(f"tail -1 '{result.status['output']['path']}'").text == "100000\n"


@pytest.mark.parametrize("hostile", [
    "printf() { echo no; }; echo() { command printf x; }; read() { :; }; trap() { :; }; set() { :; }",
    "PROMPT_COMMAND='echo pc'; PS1='$ '; PS2='> '; PS4='# '", "unset PROMPT_COMMAND PS1 PS2",
    "PROMPT_COMMAND='echo pc'; ${x?}", "PROMPT_COMMAND=(a b); exit 1", "set -f; IFS=:; GLOBIGNORE='*'",
    "LC_ALL=C; LANG=xx", "TMOUT=1", "shopt -s nocasematch extdebug failglob nullglob",
    "set -o posix", "set -o vi", "set -o emacs", "set -o noclobber -o ignoreeof; set -k", "set -x; set +x",
    "trap '' INT USR1 USR2 TERM HUP; trap - INT", "exec 12>&- 13>&- 15>&-", "POSIXLY_CORRECT=1",
    "alias printf='echo no' .='echo no' builtin='echo no'; shopt -s expand_aliases",
    "enable -n true", "declare -i __ptycell_x=1", "ulimit -n 64", "stty raw -echo",
    "__ptycell_tell() { :; }", "unset -f __ptycell_tell", "history -c; set -o history -o histexpand",
])
def test_no_setting_of_a_cell_breaks_the_next(sh, hostile):
    sh(hostile)
    command = "unset -f printf echo read trap set; unalias -a\nbuiltin echo plain \"$((1 + 1))\" '!x'"
    assert sh(command).text == "plain 2 !x\n"
    assert sh("(exit 3)").status["exit"] == 3


def test_traps_options_and_tracing_are_the_cells_own(sh):
    sh("trap 'echo debug' DEBUG")
    assert sh("echo 1").text == "debug\n1\n"
    assert sh("trap - DEBUG").text == "debug\n"
    sh("trap 'echo error $LINENO' ERR")
    assert sh("\n\nfalse\n").text == "error 3\n"
    sh("trap - ERR; trap 'echo usr' USR1")
    assert sh("kill -USR1 $$").text == "usr\n"
    sh("set -x")
    traced = sh("echo traced").text
    assert traced.endswith("echo traced\ntraced\n") and "ptycell" not in traced
    assert "ptycell" not in sh("set +x").text
    sh("set -v")
    verbose = sh("echo one\necho two").text
    assert "ptycell" not in verbose and verbose.endswith("two\n")
    assert "ptycell" not in sh("set +v").text


def test_errors_name_their_line(sh):
    assert "line 3: syntax error" in sh("true\n\nif then").text
    assert sh("\n\necho $LINENO; f() {\n false\n caller 0; }\nf").text.splitlines() == ["3", "6 source /dev/fd/247"]
    wrong = sh("echo /dev/fd/247: line 1; echo b\nif; echo a; fi")
    cell = f"cell {wrong.status['cell']}"
    assert wrong.text == (  # P12
        "/dev/fd/247: line 1\nb\n"
        f"{cell}: line 2: syntax error near unexpected token `;'\n"
        f"{cell}: line 2: `if; echo a; fi'\n")


@pytest.mark.account
def test_background_jobs_live_on_and_are_counted(sh):
    first = sh("sleep 1000 &")
    assert first.status["children"] == 1
    assert "Running" in sh("jobs").text and sh("kill %1; wait %1; echo $?").text.endswith("143\n")
    assert "children" not in sh("true").status
    assert sh("mkfifo f; (read line <f; echo late $line) & echo now").text == "now\n"
    seen = [sh("echo word >f").text]
    until(lambda: seen.append(sh("true").text) or "late word" in "".join(seen))


@pytest.mark.account
def test_a_background_reader_of_the_terminal_does_not_hang(sh):
    """WT13."""
    result = sh("set -m; (read x; echo got $x) &\nsleep 0.2; echo on")
    assert result.state == "done" and result.text.endswith("on\n")
    assert "Stopped" in sh("sleep 0.2; jobs").text
    assert "fine" in sh("kill -9 %1; wait 2>/dev/null; echo fine").text


def test_names_that_changed_are_told(sh):
    names = {n["name"]: n for n in sh("x=5; list=(a b c); declare -A m=([k]=v); f() { :; }").status["names"]}
    assert names["list"] == {"name": "list", "type": "array", "shape": "3"}
    assert names["m"]["type"] == "map" and names["f"]["type"] == "function" and names["x"]["shape"] == "1"
    assert "names" not in sh("echo $x; cd /tmp; true | false").status
    assert [n["name"] for n in sh("list+=(d)").status["names"]] == ["list"]
    assert [n["name"] for n in sh("PATH=$PATH:/x").status["names"]] == ["PATH"]


def test_large_values_do_not_make_cells_slow(sh):
    sh("big=$(head -c 3000000 /dev/zero | tr '\\0' x); echo ${#big}")
    assert sh("echo ${#big}").text == "3000000\n"
    huge = sh("huge=$big$big$big$big; echo ${#huge}")
    assert huge.text == "12000000\n" and huge.state == "done"
    assert sh("unset big huge; y=1").state == "done"


def test_code_of_any_size_and_content_arrives(sh):
    """OI-11 in the large: also what a pipe does not hold at once."""
    text = "é漢'\"\\ \t$" * 20000
    quoted = text.replace("'", "'\\''")
    result = sh(f"x='{quoted}'; echo ${{#x}}")
    assert result.text == f"{len(text)}\n"
    assert sh("echo one\r\nif true\r\nthen echo two\r\nfi\r\n").text == "one\ntwo\n"
    assert sh("").state == sh("# only a comment").state == sh("\n\n").state == "done"


@pytest.mark.parametrize("code", ["sh -c 'kill -INT $$'", "x=$(sh -c 'kill -INT $$')", "kill -INT $$"])
@pytest.mark.account
def test_a_program_that_ends_by_SIGINT_ends_the_cell_with_a_word(sh, code):
    result = sh(f"echo a; {code}; echo next")
    assert (result.state, result.status["exit"]) == ("raised", 130)
    assert result.text.startswith("a\n") and "\nA program of the cell ended by SIGINT, or the shell got one" in result.text and "next" not in result.text
    assert sh("echo $?").text == "130\n"


def test_status_of_a_program_killed_by_a_signal(sh):
    assert sh("sh -c 'kill -9 $$'").status["exit"] == 128 + signal.SIGKILL
    assert sh("nosuchcommand").status["exit"] == 127


@pytest.mark.account
def test_an_own_bash_is_used(home, tmp_path):
    own = tmp_path / "own/bin/mybash"
    own.parent.mkdir(parents=True)
    shutil.copy("/bin/bash", own)
    with Server(home, env={"PTYCELL_BASH": str(own)}) as server:
        assert server.cell("echo fine", language="bash").text == "fine\n"
        rows = server.call("session_info", session_id="s").object["languages"]
        assert [row["chosen_by"] for row in rows if row["name"] == "bash"] == ["PTYCELL_BASH"]
    with Server(home, env={"PTYCELL_BASH": "/nowhere/bash"}) as server:
        result = server.cell("echo", language="bash")
        assert result.state == "not_started" and "PTYCELL_BASH" in result.text


@pytest.mark.parametrize("last", ["echo end", "return 0", "echo end\nif", "false", "trap 'echo \"it'\\''s $?\"' RETURN; set +T"])
def test_a_trap_of_RETURN_runs_at_the_end_of_no_cell(sh, last):
    assert sh("f() { trap 'echo \"it'\\''s $?\"' RETURN; }; f").text == "it's 0\n"
    for _ in range(3):
        assert "it's" not in sh(last).text
    assert "it's 0\n" in sh("echo echo in >sourced; . ./sourced").text
    assert sh("trap - RETURN; . ./sourced; trap -p RETURN; (exit 3)").text == "in\n"
    assert sh('echo "$?"').text == "3\n"


def test_a_trap_of_RETURN_shows_nothing_of_the_drivers_under_set_x(sh):
    sh("f() { trap 'echo returned' RETURN; }; f; set -x")
    for ends in (":", "(exit 3)"):
        assert "builtin" not in sh(ends).text
    assert sh('echo "$?"; echo err >&2').text.endswith(" echo 3\n3\n+++ echo err\nerr\n")


@pytest.mark.parametrize("ends", ["true", "false"])
@pytest.mark.parametrize("flags", ["", "set -T; "])
def test_a_trap_of_DEBUG_runs_twice_for_the_drivers_own_at_the_end_of_a_cell(sh, flags, ends):
    """To read it and to take it away."""
    sh(f"{flags}trap 'echo \"$BASH_COMMAND\" >>log' DEBUG; {ends}")
    sh(f": two; {ends}")
    lines = sh("trap - DEBUG; cat log").text.splitlines()
    assert [line for line in lines if "builtin" not in line] == [ends, ": two", ends, "trap - DEBUG"]
    assert len(lines) == 8, lines


def test_a_trap_of_RETURN_runs_for_no_function_of_the_drivers(sh):
    sh("set -T; trap 'echo \"${FUNCNAME[0]}\" >>log' RETURN; f() { :; }; f")
    sh("f")
    assert sh("trap - RETURN; set +T; cat log").text == "f\nf\n"


def test_what_is_traced_elsewhere_has_little_of_the_drivers(sh):
    sh("exec 9>traced; BASH_XTRACEFD=9; set -x; echo a")
    lines = sh("echo b; set +x; cat traced").text.splitlines()
    assert [line.lstrip("+ ") for line in lines if "builtin" not in line and "__ptycell_" not in line] == ["b", "echo a", "echo b", "set +x"]
    assert len(lines) < 12, lines
