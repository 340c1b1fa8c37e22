# SPDX-License-Identifier: MIT
"""What a person meets on the command line: help, doctor, config."""
import json
import os
import pty
import re
import shlex
import sqlite3
import stat
import subprocess

import pytest
from client import WAIT_S

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BUILD = os.path.abspath(os.environ.get("PTYCELL_BUILD", os.path.join(ROOT, "build/dev")))
PTYCELL = os.path.join(BUILD, "ptycell")
HOSTS = ["claude-desktop", "claude-code", "vscode", "cursor", "windsurf", "zed", "gemini", "lm-studio", "cline", "inspector", "json"]


@pytest.fixture(name="home")
def fixture_home(tmp_path):
    """A home folder that is also the current one, with a blank in its name."""
    home = tmp_path / "my home"
    home.mkdir()
    return home


def run(home, *args, **env):
    plain = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PTYCELL_HOME": str(home / "live"), **env}
    return subprocess.run([PTYCELL, *args], cwd=home, env=plain, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)


def test_doctor_says_how_much_the_results_of_all_sessions_take(home):
    env = {"PTYCELL_KEEP": str(home / "kept"), "PTYCELL_KEEP_TOTAL": "1M"}
    assert "results take 0B of 1.0M (PTYCELL_KEEP_TOTAL)\n" in run(home, "doctor", **env).stdout
    folder = home / "kept" / "2026-01-02-old-abcd"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * 1_000_000)
    assert "977K of 1.0M (PTYCELL_KEEP_TOTAL); at the limit new ones are not saved: delete" in run(home, "doctor", **env).stdout
    (folder / "b").write_bytes(b"x" * 48_576)
    assert "1.0M of 1.0M (PTYCELL_KEEP_TOTAL); new ones are not saved: delete folders there" in run(home, "doctor", **env).stdout


def entry_of(printed):
    root = json.loads(printed)
    (servers,) = root.values()
    assert list(servers) == ["ptycell"]
    return servers["ptycell"]


# ---- help ----

@pytest.mark.parametrize("below", ["", "/results"])
def test_doctor_says_that_no_results_can_be_where_a_link_leads_nowhere(home, below):
    """As to a disk that is not mounted."""
    (home / "link").symlink_to(home / "away/results")
    done = run(home, "doctor", PTYCELL_KEEP=f"{home}/link{below}")
    assert f"link{below} cannot be written (results kept for you); set PTYCELL_KEEP" in done.stdout and done.returncode == 1


@pytest.mark.parametrize("words", ["--help", "-h", "doctor --help", "--drain --help"])
def test_help_names_commands_and_the_common_settings(home, words):
    done = run(home, *words.split())
    assert done.returncode == 0 and done.stderr == ""
    for word in ["ptycell doctor", "ptycell config HOST", "ptycell help [TOPIC]", "--env-file", "--exec-timeout SECONDS",
                 "PTYCELL_KEEP", "--share FOLDER[:rw]", "--log WORD"]:
        assert word in done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 100


def test_help_lists_the_topics_and_shows_each_as_it_is_written(home):
    listed = re.findall(r"^  (\w+) +\S", run(home, "help").stdout, re.MULTILINE)
    pages = {name[:-len(".md")] for name in os.listdir(os.path.join(ROOT, "cmd/server/help"))}
    assert set(listed) == pages and len(listed) == len(pages)
    for name in listed:
        done = run(home, "help", name)
        with open(os.path.join(ROOT, "cmd/server/help", name + ".md"), encoding="utf-8") as f:
            assert (done.returncode, done.stdout, done.stderr) == (0, f.read(), "")


def test_an_unknown_topic_is_answered_with_where_they_are_listed(home):
    done = run(home, "help", "setings\x1b[31m")
    assert done.returncode == 2 and done.stdout == ""
    assert "'setings" in done.stderr and "ptycell help" in done.stderr and "\x1b" not in done.stderr


def test_version_is_one_line(home):
    done = run(home, "--version")
    assert done.returncode == 0
    assert re.fullmatch(r"ptycell \d+\.\d+\.\d+\n", done.stdout)


def test_an_unknown_command_is_answered_with_those_there_are(home):
    done = run(home, "docter\x1b[31m")
    assert done.returncode == 2 and done.stdout == ""
    assert "no command 'docter'" in done.stderr and "doctor, config, help, ps, resume, watch, attach, log, export, open and stop" in done.stderr
    assert "\x1b" not in done.stderr


def test_on_a_terminal_ptycell_says_what_it_is_waiting_for(home):
    master, slave = pty.openpty()
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PTYCELL_HOME": str(home / "live")}
    with subprocess.Popen([PTYCELL], cwd=home, env=env, stdin=slave, stdout=slave, stderr=slave) as server:
        os.close(slave)
        shown = b""
        while b"ptycell --help" not in shown:
            shown += os.read(master, 4096)
        os.write(master, b"\x04")
        assert server.wait(timeout=WAIT_S) == 0
    os.close(master)
    assert b"ptycell config claude-desktop" in shown and b"Ctrl-D" in shown


def call(tool, **arguments):
    return {"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_a_bad_value_is_one_line_on_stderr_and_every_tools_answer(home):
    requests = [
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}},
        call("list_sessions"), call("exec_code", session_id="a", language="python", code="1"),
        call("session_info", session_id="a", config={}),
    ]
    done = subprocess.run([PTYCELL, "--drain", "--output-chars=499"], cwd=home, text=True, timeout=WAIT_S, check=True,
                          env={"HOME": str(home), "PTYCELL_HOME": str(home / "live"), "PATH": "/usr/bin:/bin"},
                          input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True)
    sentence = ("The setting --output-chars has the value '499', but it takes a whole number, 500 to 200000. "
                "Correct it and start ptycell again.")
    assert done.stderr == f"ptycell: {sentence}\n"
    answers = {a["id"]: a["result"] for a in map(json.loads, done.stdout.splitlines())}
    assert answers["hello"]["serverInfo"]["name"] == "ptycell"
    for tool in ["list_sessions", "exec_code", "session_info"]:
        assert answers[tool]["isError"] and answers[tool]["content"][0]["text"] == sentence


# ---- doctor ----

def test_doctor_says_that_it_works_and_changes_nothing(home):
    done = run(home, "doctor")
    assert done.returncode == 0, done.stdout
    assert "python     /usr/bin/python3" in done.stdout
    assert "settings   OK\n" in done.stdout
    assert "It works." in done.stdout
    assert re.search(r"^sandbox    (namespaces|bwrap|landlock), the [a-z]+ of three tiers$", done.stdout, re.M)
    assert "shares     none of your folders" in done.stdout
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("text, words", [
    ('{"python": {"blok": []}}', "The policy file 'policy.json': python.blok is not known"), ('{"ruby": {}}', "The policy file 'policy.json': policy.ruby is not known"),
    ('{"python": {"rules": {"x": "warn"}}}', "The policy file 'policy.json': python.rules.x is none of"), (None, "The policy file: opening '")])
def test_doctor_names_a_policy_file_with_which_nothing_runs(home, text, words):
    if text:
        (home / "policy.json").write_text(text)
    done = run(home, "doctor", PTYCELL_POLICY=str(home / "policy.json"))
    told = " ".join(done.stdout.split())
    assert done.returncode == 1 and "settings " + words in told and "It works." not in told, done.stdout
    assert told.count("policy.json") == 1


def test_doctor_starts_each_interpreter_and_names_its_version(home):
    (home / "data").mkdir()
    done = run(home, "doctor", "--share", f"{home}/data:rw", PTYCELL_AUDIT=str(home / "audit.jsonl"),
               PTYCELL_HOME=str(home / "two/more"))
    assert done.returncode == 0, done.stdout
    assert re.search(r"^python     /usr/bin/python3 \(from PATH\), version 3\.\d+\.\d+$", done.stdout, re.M)
    assert re.search(r"^bash       .*/bash \(from PATH\), version 5\.\d+", done.stdout, re.M)
    assert [p.name for p in home.rglob("*")] == ["data"]


@pytest.mark.parametrize("name, program", [
    ("PTYCELL_PYTHON", "/bin/true"), ("PTYCELL_PYTHON", "/bin/cat"), ("PTYCELL_NODE", "/bin/true")])
def test_doctor_does_not_take_a_program_for_an_interpreter(home, name, program):
    done = run(home, "doctor", **{name: program})
    told = " ".join(done.stdout.split())
    assert f"({program}) exited with code" in told and f"Set {name} to one that works" in told
    assert done.returncode == 1 and "It does not work yet" in told


def test_doctor_lists_odbc_drivers_and_connects_to_nothing_unasked(home):
    (home / "odbcinst.ini").write_text("[ODBC]\nTrace = no\n[Own Driver]\nDriver = /nowhere.so\n", encoding="utf-8")
    done = run(home, "doctor", ODBCSYSINI=str(home), PTYCELL_SQL_SHOP="Driver={Own Driver};Pwd=s3cret")
    assert "databases  files, shop\n" in done.stdout and "ODBC drivers Own Driver\n" in done.stdout
    assert done.returncode == 0 and "s3cret" not in done.stdout + done.stderr


def test_doctor_says_where_results_are_uploaded_and_no_key(home):
    env = {"AZURE_BLOB_CONNECTION_STRING": "AccountName=acct;AccountKey=c2VjcmV0", "BLOB_SAS_EXPIRY_HOURS": "3"}
    done = run(home, "doctor", **env)
    assert ("Azure Blob container 'code-interpreter-artifacts' at https://acct.blob.core.windows.net, "
            "links good for 3 h") in " ".join(done.stdout.split())
    assert "c2VjcmV0" not in done.stdout + done.stderr
    assert "none; results are only kept on this machine" in run(home, "doctor").stdout


def test_doctor_databases_asks_each_configured_database(home):
    sqlite3.connect(home / "a.db").close()
    env = {"PTYCELL_SQL_GOOD": f"sqlite:{home}/a.db", "PTYCELL_SQL_GONE": f"sqlite:{home}/none.db",
           "PTYCELL_SQL_FAR": "Driver={/nowhere.so};Server=h;Pwd={s3;cret}"}
    done = run(home, "doctor", "databases", **env)
    assert re.search(r"^good       answers SELECT 1 after \d+ ms$", done.stdout, re.M)
    assert re.search(r"^gone       unable to open database file$", done.stdout, re.M)
    assert re.search(r"^far        connecting to the database .'ptycell doctor' lists the drivers found here.: .*/nowhere.so", done.stdout, re.M)
    assert done.returncode == 1 and "cret" not in done.stdout + done.stderr
    assert run(home, "doctor", "databases", PTYCELL_SQL_GOOD=env["PTYCELL_SQL_GOOD"]).returncode == 0
    assert run(home, "doctor", "databases").returncode == 0 and [p.name for p in home.iterdir()] == ["a.db"]


def test_doctor_without_python_gives_one_apt_line(home):
    done = run(home, "doctor", PATH="/nowhere")
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if "apt install" in line and line.startswith("  ")]
    assert "apt install python3 python3-numpy python3-pandas python3-matplotlib python3-pil" in line
    assert "bash" in line.split()
    assert "It does not work yet" in done.stdout


def test_doctor_has_a_wrong_python_corrected_not_installed(home):
    done = run(home, "doctor", PTYCELL_PYTHON="/nowhere/python3")
    assert done.returncode == 1 and "/nowhere/python3" in done.stdout
    assert "correct PTYCELL_PYTHON" in done.stdout and "To install" not in done.stdout


def test_doctor_tells_another_python_from_debians(home):
    prefix = home / "venv"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib/python3.11/site-packages/pandas-2.0.1.dist-info").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    (prefix / "bin/python3").symlink_to("/usr/bin/python3")
    done = run(home, "doctor", "--python", str(prefix / "bin/python3"))
    assert done.returncode == 0
    assert "with pandas 2.0.1" in done.stdout
    assert f"'{prefix}/bin/python3' -m pip install numpy matplotlib pillow" in done.stdout
    assert "apt install" not in done.stdout


def test_doctor_refuses_a_python_that_is_too_old(home):
    old = home / "python3.8"
    old.write_text("#!/bin/sh\ntouch ran\n")
    old.chmod(0o755)
    done = run(home, "doctor", "--python", str(old))
    assert done.returncode == 1 and "this is Python 3.8; ptycell needs 3.9 or later" in done.stdout
    assert not (home / "ran").exists()


def test_doctor_repeats_what_is_wrong_with_the_settings(home):
    (home / "env").write_text("EXEC_TIMEOUT=soon\nPORT=8000\n")
    done = run(home, "doctor", "--env-file", "env")
    assert done.returncode == 1
    assert "EXEC_TIMEOUT has the value 'soon' in line 1 of 'env'" in done.stdout
    assert "PORT has no effect" in done.stdout


def test_doctor_says_what_to_do_when_the_shell_does_not_find_it(home):
    (home / "bin").mkdir()
    (home / "bin/ptycell").symlink_to(PTYCELL)
    assert f'export PATH="{BUILD}:$PATH"' in run(home, "doctor").stdout
    found = run(home, "doctor", PATH=f"{home}/bin:/usr/bin:/bin").stdout
    assert "export PATH" not in found and "Next: ptycell config" in found


def test_doctor_finds_a_folder_that_cannot_be_made(home):
    (home / "file").write_text("")
    done = run(home, "doctor", PTYCELL_HOME=str(home / "file/live"))
    assert done.returncode == 1
    assert "cannot be written" in done.stdout and "PTYCELL_HOME" in done.stdout


def test_doctor_finds_a_folder_that_a_server_would_refuse(home):
    (home / "live").mkdir()
    (home / "live").chmod(0o777)
    done = run(home, "doctor")
    assert done.returncode == 1 and f"chmod 700 '{home}/live'" in " ".join(done.stdout.split())


# ---- config: printing ----

@pytest.mark.parametrize("host", HOSTS)
def test_each_host_gets_json_with_an_absolute_command(home, host):
    done = run(home, "config", host)
    assert done.returncode == 0
    entry = entry_of(done.stdout)
    assert entry["command"] == PTYCELL and entry["args"] == []
    member = {"vscode": "servers", "zed": "context_servers"}.get(host, "mcpServers")
    assert list(json.loads(done.stdout)) == [member]
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("host, place", [
    ("claude-desktop", "{home}/.config/Claude/claude_desktop_config.json"),
    ("claude-desktop", "%APPDATA%\\Claude\\claude_desktop_config.json"),
    ("claude-code", " .mcp.json"),
    ("claude-code", "claude mcp add --scope user ptycell -- " + PTYCELL),
    ("vscode", ".vscode/mcp.json"),
    ("cursor", "{home}/.cursor/mcp.json"),
    ("windsurf", "{home}/.codeium/windsurf/mcp_config.json"),
    ("zed", "{home}/.config/zed/settings.json"),
    ("codex", "{home}/.codex/config.toml"),
    ("codex", "codex mcp add ptycell -- " + PTYCELL),
    ("gemini", "{home}/.gemini/settings.json"),
    ("goose", "{home}/.config/goose/config.yaml"),
    ("lm-studio", "{home}/.lmstudio/mcp.json"),
    ("cline", "{home}/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("inspector", "npx @modelcontextprotocol/inspector --config mcp.json --server ptycell"),
])
def test_stderr_says_where_the_entry_goes(home, host, place):
    assert place.format(home=home) in run(home, "config", host).stderr


def test_an_unknown_host_is_answered_with_those_there_are(home):
    for args in (["config"], ["config", "emacs"]):
        done = run(home, *args)
        assert done.returncode == 2 and done.stdout == ""
        assert all(host in done.stderr for host in [*HOSTS, "codex", "goose"])
    assert run(home, "config", "--help").stdout.startswith("Usage:")


def test_flags_become_arguments_and_a_files_path_absolute(home):
    (home / "my env").write_text("EXEC_TIMEOUT=9\n")
    done = run(home, "config", "cursor", "--exec-timeout", "600", "--env-file", "my env", "--env-file=my env")
    assert entry_of(done.stdout)["args"] == ["--exec-timeout", "600", "--env-file", f"{home}/my env",
                                             f"--env-file={home}/my env"]


def test_a_share_that_is_not_there_is_told_and_written(home):
    (home / "there").mkdir()
    done = run(home, "config", "cursor", "--share", f"{home}/there", "--share", f"{home}/nothere:rw")
    assert entry_of(done.stdout)["args"] == ["--share", f"{home}/there", "--share", f"{home}/nothere:rw"]
    assert f"The share '{home}/nothere' is not there now. Make it before the host starts ptycell: a server looks for its shares once.\n" in done.stderr
    assert f"{home}/there'" not in done.stderr and done.returncode == 0


@pytest.mark.parametrize("flag, said", [
    ("--exec-timeout=0", "--exec-timeout has the value '0'"),
    ("--wls", "no flag '--wls'"),
    ("--env-file=nowhere", "'nowhere' of --env-file cannot be read"),
])
def test_flags_that_the_server_would_refuse_are_refused(home, flag, said):
    done = run(home, "config", "cursor", flag)
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr


def test_a_share_that_the_server_would_refuse_is_refused(home):
    for share, why in [("/", "holds home folders"), ("/etc", "system folder"), (str(home), ":home")]:
        done = run(home, "config", "cursor", "--write", "--share", share)
        assert done.returncode == 2 and done.stdout == "" and why in done.stderr
    assert not config_file(home).exists()


def test_other_forms_than_json_are_printed_and_never_written(home):
    toml = run(home, "config", "codex", "--log", "info").stdout
    assert toml == f'[mcp_servers.ptycell]\ncommand = "{PTYCELL}"\nargs = ["--log","info"]\n'
    yaml = run(home, "config", "goose", "--log", "info").stdout
    assert yaml.startswith("extensions:\n  ptycell:\n") and f'    cmd: "{PTYCELL}"\n    args: ["--log","info"]\n' in yaml
    for host in ("codex", "goose"):
        done = run(home, "config", host, "--write")
        assert done.returncode == 1 and "ptycell" in done.stdout and "is not JSON" in done.stderr
    assert list(home.iterdir()) == []


def test_by_ssh_the_shell_of_the_other_side_gets_each_argument_whole(home):
    (home / "it's").mkdir()
    done = run(home, "config", "claude-desktop", "--ssh", "me@box", "--share", f"{home}/it's")
    entry = entry_of(done.stdout)
    assert entry["command"] == "ssh" and entry["args"][:2] == ["-T", "me@box"]
    line = " ".join(entry["args"][2:])
    assert shlex.split(line) == [PTYCELL, "--share", f"{home}/it's"]
    assert run(home, "config", "cursor", "--ssh", "me@box", "--write").returncode == 2
    for args in (["--ssh", "-oProxyCommand=x"], ["--ssh", "me@box", "--wsl"]):
        done = run(home, "config", "cursor", *args)
        assert done.returncode == 2 and done.stdout == "" and "--ssh takes" in done.stderr
    for flag in ("--ssh", "--file"):
        done = run(home, "config", "cursor", flag)
        assert done.returncode == 2 and done.stderr == f"The flag {flag} needs a value behind it.\n"


def fake_python(home, name, *packages):
    """A Python as far as `config` looks: a program, and the names of what is installed beside it."""
    program = home / name / "bin/python3"
    for package in packages:
        (home / name / f"lib/python3.11/site-packages/{package}-1.0.dist-info").mkdir(parents=True)
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_a_python_with_pandas_that_only_this_shell_finds_is_pinned(home):
    python = fake_python(home, "data", "pandas", "matplotlib")
    path = f"{python.parent}:/usr/bin:/bin"
    done = run(home, "config", "cursor", PATH=path)
    assert entry_of(done.stdout)["args"] == ["--python", str(python)] and f"the Python '{python}'" in done.stderr
    assert entry_of(run(home, "config", "cursor", "--python", "/usr/bin/python3", PATH=path).stdout)["args"] == [
        "--python", "/usr/bin/python3"]
    (home / "env").write_text("PTYCELL_PYTHON=/usr/bin/python3\n")
    assert entry_of(run(home, "config", "cursor", "--env-file=env", PATH=path).stdout)["args"] == [f"--env-file={home}/env"]


def test_a_python_without_pandas_is_passed_over_for_one_with_it(home):
    bare = fake_python(home, "bare", "pandas")
    done = run(home, "config", "cursor", PATH=f"{bare.parent}:/usr/bin:/bin")
    args = entry_of(done.stdout)["args"]
    # Where the machine's own has no pandas either, none is named.
    assert args in ([], ["--python", "/usr/bin/python3"])
    assert ("has pandas and matplotlib" in done.stderr) == (args != [])
    told = run(home, "doctor", PATH=f"{bare.parent}:/usr/bin:/bin").stdout
    assert ("/usr/bin/python3 has pandas and matplotlib: set PTYCELL_PYTHON to it, or let ptycell config HOST name it" in told) == (args != [])
    assert (f"'{bare}' -m pip install" in told) == (args == [])
    named = run(home, "doctor", "--python", str(bare)).stdout
    assert f"'{bare}' -m pip install" in named and "set PTYCELL_PYTHON to it" not in named


def test_for_wsl_the_entry_starts_wsl_exe_without_a_shell(home):
    (home / "env").write_text("")
    done = run(home, "config", "claude-desktop", "--wsl", "--env-file", "env", WSL_DISTRO_NAME="Debian")
    entry = entry_of(done.stdout)
    assert entry["command"] == "wsl.exe"
    assert entry["args"] == ["-d", "Debian", "--exec", PTYCELL, "--env-file", f"{home}/env"]
    assert "does not cross into WSL" in done.stderr


def test_the_example_is_what_claude_desktop_gets(home):
    printed = run(home, "config", "claude-desktop").stdout
    with open(os.path.join(ROOT, "mcp-config.json.example"), encoding="utf-8") as f:
        assert f.read() == printed.replace(PTYCELL, "/usr/local/bin/ptycell")


@pytest.mark.parametrize("host", HOSTS)
def test_the_printed_entry_starts_a_server(home, host):
    entry = entry_of(run(home, "config", host, "--exec-timeout", "7").stdout)
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}}
    done = subprocess.run([entry["command"], *entry["args"]], input=json.dumps(request) + "\n", cwd="/",
                          env={"HOME": str(home), "PTYCELL_HOME": str(home / "live")}, stdout=subprocess.PIPE,
                          text=True, timeout=WAIT_S, check=True)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "ptycell"


# ---- config: writing ----

def config_file(home):
    return home / ".cursor/mcp.json"


def backups(path):
    return sorted(path.parent.glob(path.name + ".*.bak"))


def write_config(home, text):
    path = config_file(home)
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def test_writing_makes_folders_and_a_file_for_its_owner_only(home):
    done = run(home, "config", "cursor", "--write")
    assert done.returncode == 0 and done.stdout == "" and "Created " in done.stderr
    path = config_file(home)
    assert entry_of(path.read_text())["command"] == PTYCELL
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["mcp.json"]


def test_writing_keeps_everything_else_and_a_copy(home):
    old = {"theme": "dark", "n": 1.5, "mcpServers": {
        "other": {"command": "x", "env": {"é": "\n"}},
        "ptycell": {"command": "/old", "args": ["--drain"], "env": {"EXEC_TIMEOUT": "5"}}}, "z": [None, True]}
    path = write_config(home, json.dumps(old))
    path.chmod(0o640)
    assert run(home, "config", "cursor", "--write").returncode == 0
    expected = json.loads(json.dumps(old))
    expected["mcpServers"]["ptycell"].update(command=PTYCELL, args=[])
    new = json.loads(path.read_text(encoding="utf-8"))
    assert new == expected and list(new) == list(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (backup,) = backups(path)
    assert json.loads(backup.read_text(encoding="utf-8")) == old
    assert len(list(path.parent.iterdir())) == 2


def test_writing_twice_changes_nothing(home):
    path = write_config(home, " \n")
    assert run(home, "config", "cursor", "--write").returncode == 0
    before = path.stat()
    done = run(home, "config", "cursor", "--write")
    assert done.returncode == 0 and "already" in done.stderr
    assert path.stat().st_ino == before.st_ino and len(backups(path)) == 1


@pytest.mark.parametrize("text, said", [
    ('{"mcpServers": {', "not valid JSON"),
    ('{"a": 1, "a": 2}', "not valid JSON"),
    ('{"a": "//", }', "not valid JSON"),
    ('{\n// mine\n"a": "\\"//"}', "has comments, which would be lost"),
    ('{"a": 1 /* one */}', "has comments, which would be lost"),
    ("[]", "no object"),
    ('{"mcpServers": []}', "'mcpServers' is an array, not an object"),
    ('{"mcpServers": {"ptycell": "x"}}', "'ptycell' is a string, not an object"),
])
def test_a_file_that_cannot_be_merged_stays_and_the_entry_is_printed(home, text, said):
    path = write_config(home, text)
    done = run(home, "config", "cursor", "--write")
    assert done.returncode == 1
    assert said in done.stderr and "was not changed" in done.stderr
    assert entry_of(done.stdout)["command"] == PTYCELL
    assert path.read_text() == text and len(list(path.parent.iterdir())) == 1


def test_a_symbolic_link_stays_one(home):
    real = home / "dotfiles.json"
    real.write_text("{}")
    link = home / "link.json"
    link.symlink_to(real)
    assert run(home, "config", "cursor", "--write", "--file", "link.json").returncode == 0
    assert link.is_symlink() and entry_of(real.read_text())["command"] == PTYCELL


def test_a_place_that_cannot_be_written_is_named(home):
    (home / ".cursor").write_text("")
    done = run(home, "config", "cursor", "--write")
    assert done.returncode == 1 and "was not changed" in done.stderr
    assert (home / ".cursor").read_text() == ""


def test_where_no_file_is_known_one_is_asked_for(home):
    for args in (["inspector"], ["claude-desktop", "--wsl"]):
        done = run(home, "config", *args, "--write")
        assert done.returncode == 2 and "--file FILE" in done.stderr
    done = run(home, "config", "inspector", "--write", "--file", str(home / "a/b/mcp.json"))
    assert done.returncode == 0 and entry_of((home / "a/b/mcp.json").read_text())


# ---- the table of settings ----

def settings_table(page, *args):
    return subprocess.run([os.path.join(ROOT, "scripts/settings-table"), *args, str(page)],
                          env={**os.environ, "PTYCELL_BUILD": BUILD}, stdout=subprocess.PIPE, text=True, check=False)


def test_the_table_is_checked_and_put_in(tmp_path):
    page = tmp_path / "settings.md"
    page.write_text("a\n<!-- settings -->\nstale\n<!-- /settings -->\nb\n")
    assert settings_table(page, "--check").returncode == 1
    assert "stale" in page.read_text()
    assert settings_table(page).returncode == 0
    assert settings_table(page, "--check").returncode == 0
    text = page.read_text()
    assert text.startswith("a\n") and text.endswith("b\n") and "stale" not in text
    assert "| `PTYCELL_MAX_SESSIONS` | `--max-sessions` | 128 | 1 to 4096 |" in text


def test_a_page_without_marks_is_refused(tmp_path):
    page = tmp_path / "settings.md"
    page.write_text("nothing\n")
    assert settings_table(page).returncode == 1
    assert page.read_text() == "nothing\n"
