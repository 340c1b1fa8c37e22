# SPDX-License-Identifier: MIT
"""Real programs on a cell's terminal: state, prompt and what is shown are what a person there would say.

A row is a program, the command that starts it, and steps: what is typed, and what is seen then. Programs that are not
installed are skipped, with their name. PTYCELL_PROGRAMS=all runs every row; else those that start fast.
"""
import os

import pytest

EVERY = os.environ.get("PTYCELL_PROGRAMS") == "all"
W, D = "waiting_for_input", "done"


REPOSITORY = ("git init -q g; cd g; git config user.email a@b; git config user.name n; echo a > f; git add f; "
              "git commit -qm m; cd ..")

# What is in the session's folder before these programs run.
PREPARE = {"git": REPOSITORY}
# A server that answers 42 to any query, at the socket that psql looks for.
PREPARE["psql"] = """cat > pg.py <<'END'
import os, socket, struct
def message(kind, body=b""): return kind + struct.pack("!I", len(body) + 4) + body
ready = message(b"Z", b"I")
listener = socket.socket(socket.AF_UNIX); listener.bind(".s.PGSQL.5432"); listener.listen()
if os.fork(): os._exit(0)
client = listener.accept()[0]
client.recv(9999)
client.sendall(message(b"R", struct.pack("!I", 0)) + message(b"S", b"server_version\\0" + b"15.0\\0") + ready)
while client.recv(9999)[:1] == b"Q":
    client.sendall(message(b"T", struct.pack("!H", 1) + b"answer\\0" + struct.pack("!IHIhih", 0, 0, 23, 4, -1, 0))
                   + message(b"D", struct.pack("!HI", 1, 2) + b"42") + message(b"C", b"SELECT 1\\0") + ready)
END
python3 pg.py"""
PREPARE["sshd"] = 'ssh-keygen -q -t ed25519 -N "" -f k; printf "HostKey %s/k\\nUsePAM no\\n" "$PWD" > sshd'
# apt with folders of its own, where one package is installed.
PREPARE["apt-get"] = (r'mkdir -p a/lists/partial a/archives/partial; printf "Package: hello\nStatus: install ok installed\nArchitecture: all\n'
                      r'Version: 1\nMaintainer: m\nDescription: d\n" > a/status')
APT = "apt-get -o Debug::NoLocking=1 -o Dir::State=$PWD/a -o Dir::State::status=$PWD/a/status -o Dir::Cache=$PWD/a"


def line(text):
    return {"input": text}


def raw(text):
    return {"input": text, "raw": True}


def key(name):
    return {"key": name}


# name, program, command, and steps: (typed, state, prompt or None, a piece of the text or "", of the screen where the program has that)
class FULL(str):
    """A piece of the screen of a full-screen program."""


ROWS = [
    ("cat", "cat", "cat", [(None, W, "", ""), (line("hello"), W, "", "hello\n"), (key("ctrl-d"), D, None, "")]),
    ("read", "bash", "read -p 'Name? ' n; echo \"[$n]\"", [(None, W, "Name?", ""), (line("Ada"), D, None, "[Ada]")]),
    ("password", "bash", "read -s -p 'Password: ' n; echo; echo ${#n}", [
        (None, W, "Password:", ""), (line("12345"), D, None, "5")]),
    ("select", "bash", "select x in red blue; do echo \"got $x\"; break; done", [
        (None, W, "#?", "1) red"), (line("2"), D, None, "got blue")]),
    ("bc", "bc", "bc -q", [(None, W, "", ""), (line("6*7"), W, "", "42"), (line("quit"), D, None, "")]),
    ("dc", "dc", "dc", [(None, W, "", ""), (line("6 7 * p"), W, "", "42"), (key("ctrl-d"), D, None, "")]),
    ("ed", "ed", "printf 'one\\ntwo\\n' > e.txt; ed -p '* ' e.txt", [
        (None, W, "*", "8"), (line("2p"), W, "*", "two"), (line("q"), D, None, "")]),
    ("python", "python3", "python3 -q", [(None, W, ">>>", ""), (line("6*7"), W, ">>>", "42"),
                                         (line("def f():"), W, "...", ""), (line("  return 5"), W, "...", ""),
                                         (line(""), W, ">>>", ""), (line("f()"), W, ">>>", "5"), (key("ctrl-d"), D, None, "")]),
    ("python input", "python3", "python3 -c 'print(int(input(\"n: \")) + 1)'", [(None, W, "n:", ""), (line("4"), D, None, "5")]),
    ("getpass", "python3", "python3 -c 'import getpass; print(len(getpass.getpass()))'", [
        (None, W, "Password:", ""), (line("secret"), D, None, "6")]),
    ("pdb", "python3", "printf 'x = 5\\nprint(x)\\n' > p.py; python3 -m pdb p.py", [
        (None, W, "(Pdb)", "x = 5"), (line("n"), W, "(Pdb)", "print(x)"), (line("p x"), W, "(Pdb)", "5"), (line("q"), D, None, "")]),
    ("ipython", "ipython3", "ipython3 --no-banner --simple-prompt", [
        (None, W, "In [1]:", ""), (line("6*7"), W, "In [2]:", "42"), (line("exit"), D, None, "")]),
    ("node", "node", "node -i", [(None, W, ">", ""), (line("6*7"), W, ">", "42"), (line(".exit"), D, None, "")]),
    ("perl", "perl", "perl -e 'print \"Who? \"; $x = <STDIN>; print \"Hi $x\"'", [(None, W, "Who?", ""), (line("Eve"), D, None, "Hi Eve")]),
    ("perl debugger", "perl", "perl -d -e '$x = 5; print $x'", [(None, W, "DB<1>", ""), (line("q"), D, None, "")]),
    ("tclsh", "tclsh", "tclsh", [(None, W, "%", ""), (line("expr 6*7"), W, "%", "42"), (line("exit"), D, None, "")]),
    ("lua", "lua5.4", "lua5.4", [(None, W, ">", "Lua 5.4"), (line("6*7"), W, ">", "42"), (key("ctrl-d"), D, None, "")]),
    ("php", "php", "php -d extension=readline -a", [(None, W, "php >", ""), (line("echo 6*7;"), W, "php >", "42"), (line("exit"), D, None, "")]),
    ("irb", "irb", "irb --nomultiline --noreadline", [(None, W, "irb(main):001:0>", ""), (line("6*7"), W, "irb(main):002:0>", "42"),
                                                      (line("exit"), D, None, "")]),
    ("R", "R", "R --no-save --quiet", [(None, W, ">", ""), (line("6*7"), W, ">", "42"), (line("f <- function() {"), W, "+", ""),
                                       (line("}"), W, ">", ""), (line("q()"), D, None, "")]),
    ("sqlite3", "sqlite3", "sqlite3", [(None, W, "sqlite>", ""), (line("select 6*7;"), W, "sqlite>", "42"),
                                       (line("select"), W, "...>", ""), (line("1;"), W, "sqlite>", "1"), (line(".quit"), D, None, "")]),
    ("gdb", "gdb", "gdb -q -nx", [(None, W, "(gdb)", ""), (line("print 6*7"), W, "(gdb)", "$1 = 42"), (line("quit"), D, None, "")]),
    ("psql", "psql", "psql -h 127.0.0.1 -p 1 -U nobody; echo ended", [(None, D, None, "ended")]),
    ("psql with a server", "psql", "psql -h $PWD -U me shop", [
        (None, W, "shop=>", ""), (line("select 6*7;"), W, "shop=>", " answer\n--------\n     42\n"), (line("select"), W, "shop->", ""),
        (line("1;"), W, "shop=>", "42"), (line("\\q"), D, None, "")]),
    ("psql's password", "psql", "psql -W -h 127.0.0.1 -p 1 -U nobody; echo ended", [(None, W, "Password:", ""), (line("x"), D, None, "ended")]),
    ("mariadb", "mariadb", "mariadb -h 127.0.0.1 -P 1 -u nobody -p; echo ended", [
        (None, W, "Enter password:", ""), (line("x"), D, None, "ended")]),
    ("openssl", "openssl", "openssl passwd -6", [(None, W, "Password:", ""), (line("abc"), W, "Verifying - Password:", ""),
                                                 (line("abc"), D, None, "$6$")]),
    ("ssh-keygen", "ssh-keygen", "ssh-keygen -q -t ed25519 -f k", [
        (None, W, "Enter passphrase (empty for no passphrase):", ""), (line(""), W, "Enter same passphrase again:", ""), (line(""), D, None, "")]),
    ("ssh", "ssh", "ssh -o ProxyCommand=false nobody@nowhere.invalid; echo ended", [(None, D, None, "ended")]),
    ("ssh to a host that it does not know", "sshd",
     'ssh -o ProxyCommand="/usr/sbin/sshd -i -f $PWD/sshd" -o NumberOfPasswordPrompts=1 user@host; echo ended', [
         (None, W, "continue connecting (yes/no/[fingerprint])?", "The authenticity of host 'host"),
         (line("maybe"), W, "Please type 'yes', 'no' or the fingerprint:", ""), (line("yes"), W, "user@host's password:", "Permanently added 'host'"),
         (line("secret"), D, None, "Permission denied")]),
    ("git add -p", "git", "cd g; echo b > f; git add -p; cd ..", [
         (None, W, "(1/1) Stage this hunk [y,n,q,a,d,e,?]?", "+b"), (line("y"), D, None, "")]),
    ("git rebase -i", "git", "cd g && GIT_SEQUENCE_EDITOR=vi git rebase -i --root; cd ..", [
        (None, W, "", FULL("# Commands:\n# p, pick <commit>")), (line(":q!"), D, None, "")]),
    ("rm -i", "rm", "touch r; rm -i r", [(None, W, "rm: remove regular empty file 'r'?", ""), (line("y"), D, None, "")]),
    ("apt", "apt-get", "apt-get remove --dry-run --quiet tar; echo ended", [(None, D, None, "ended")]),
    ("apt without -y", "apt-get", f"{APT} remove hello; echo ended", [
        (None, W, "Do you want to continue? [Y/n]", "will be REMOVED:\n  hello\n"), (line("n"), D, None, "Abort.\nended")]),
    ("more", "more", "seq 100 | more", [(None, W, "--More--", "39"), (raw("q"), D, None, "")]),
    ("less", "less", "seq 100 > l.txt; less l.txt", [(None, W, "", FULL("\n39\nl.txt\n")), (raw(" "), W, "", FULL("40\n")), (raw("q"), D, None, "")]),
    ("less -X", "less", "seq 100 > l.txt; less -X l.txt", [(None, W, "l.txt", "39"), (raw(" "), W, ":", "78"), (raw("q"), D, None, "")]),
    ("man's macros", "man", "man true 2>&1 >/dev/null | grep -c warning", [(None, D, None, "0\n")]),  # P24: they are in /etc/groff
    ("man", "man", "MANPAGER=less man true 2>/dev/null || less l.txt", [(None, W, "", FULL("")), (raw("q"), D, None, "")]),
    ("vim", "vim", "vim -u NONE v.txt", [(None, W, "", FULL("\n~\n")), (raw("ihello"), W, "", FULL("line 1, column 6]\nhello\n~\n")),
                                         (key("escape"), W, "", FULL("line 1, column 5]\nhello\n")),
                                         (line(":wq"), D, None, ""), ]),
    ("vi with a stock configuration", "vim", "vim v.txt", [(None, W, "", FULL("v.txt")), (line(":q!"), D, None, "")]),
    ("nano", "nano", "nano n.txt", [(None, W, "", FULL("^X Exit")), (raw("hello"), W, "", FULL("\nhello\n")),
                                  (key("ctrl-x"), W, "", FULL("Save modified buffer?")), (raw("n"), D, None, "")]),
    ("top", "top", "top -d 100", [(None, W, "", ""), (raw("q"), D, None, "")]),
    ("htop", "htop", "htop -d 100", [(None, W, "", FULL("F10Quit")), (raw("q"), D, None, "")]),
    ("dialog", "dialog", "dialog --yesno 'Go on?' 6 30; echo \"code $?\"", [(None, W, "", "│ Go on?                     │"), (key("enter"), D, None, "code 0")]),
    ("dialog's arrows", "dialog", "dialog --yesno 'Go on?' 6 30; echo \"code $?\"", [(None, W, "", "│ Go on?                     │"), (key("right"), W, "", ""),
                                                                                      (key("enter"), D, None, "code 1")]),
    ("an arrow in curses", "python3", "python3 -c 'import curses\ndef f(s):\n  s.addstr(repr(curses.keyname(s.getch()))); s.getch()\ncurses.wrapper(f)'",
     [(None, W, "", ""), (key("up"), W, "", FULL("KEY_UP")), (key("end"), D, None, "")]),
    ("whiptail", "whiptail", "whiptail --yesno 'Go on?' 8 30; echo \"code $?\"", [(None, W, "", FULL("│ Go on?                     │")), (key("enter"), D, None, "code 0")]),
    ("fzf", "fzf", "printf 'red\\nblue\\n' | fzf", [(None, W, "", FULL("> red\n")), (raw("bl"), W, "", FULL("\n> bl\n")), (key("enter"), D, None, "blue")]),
    ("mc", "mc", "mc -u", [(None, W, "", FULL("10Quit")), (raw("\x1b0"), D, None, "")]),
    ("watch", "watch", "timeout -s INT 2 watch -n 9 echo hello; echo ended", [(None, D, None, "ended")]),
    ("ftp", "ftp", "ftp", [(None, W, "ftp>", ""), (line("bye"), D, None, "")]),
    ("lftp", "lftp", "lftp", [(None, W, "lftp :~>", ""), (line("exit"), D, None, "")]),
    ("telnet", "telnet", "telnet", [(None, W, "telnet>", ""), (line("quit"), D, None, "")]),
    ("bash in bash", "bash", "PS1='inner> ' bash --norc --noprofile -i", [
        (None, W, "inner>", ""), (line("echo $((6*7))"), W, "inner>", "42"), (line("exit"), D, None, "")]),
    ("a menu of curses", "python3", "python3 -c 'import curses; curses.wrapper(lambda s: (s.addstr(0, 0, \"Press a key\"), s.getch()))'", [
        (None, W, "", FULL("column 12]\nPress a key\n")), (raw("x"), D, None, "")]),
    ("a game that polls", "python3", "python3 -c 'import curses\n"
     "def main(s):\n  s.timeout(100)\n  while s.getch() != ord(\"q\"): pass\ncurses.wrapper(main)'", [
         (None, W, "", ""), (raw("q"), D, None, "")]),
]
QUICK = {"cat", "read", "password", "select", "bc", "ed", "python", "pdb", "sqlite3", "rm -i", "more", "less", "less -X", "vim",
         "vi with a stock configuration", "git add -p", "psql with a server", "psql's password", "ssh to a host that it does not know", "apt without -y", "a menu of curses", "an arrow in curses", "a game that polls", "bash in bash"}
PARAMS = [pytest.param(*row[1:], id=row[0]) for row in ROWS if EVERY or row[0] in QUICK]


def settled(server, result, state):
    """The cell's next answer in this state: what is typed may take effect in steps."""
    texts = [result.text]
    while result.state == "running" and state != "running":
        result = server.call("interact", session_id="s")
        texts.append(result.text)
    return result, "".join(texts)


@pytest.mark.parametrize("program, command, steps", PARAMS)
def test_a_program_is_told_as_a_person_would(server, program, command, steps):
    if server.cell(f"PATH+=:/usr/sbin; command -v {program}", language="bash").status.get("exit"):
        pytest.skip(f"{program} is not installed")
    server.cell(PREPARE.get(program, "seq 100 > l.txt"), language="bash")
    for typed, state, prompt, piece in steps:
        if typed is None:
            result = server.cell(command, language="bash")
        else:
            result = server.call("interact", session_id="s", language="bash", **typed)
        result, text = settled(server, result, state)
        told = f"after {typed}: {result.texts}"
        assert result.state == state, told
        if prompt is not None:
            assert result.cell.get("prompt", "").endswith(prompt), told
        assert piece in text, told
        if isinstance(piece, FULL):
            assert "[the screen of a full-screen program; the cursor is in line " in text, told
        else:
            assert "\n\n\n" not in text or "full-screen program" in text, told
