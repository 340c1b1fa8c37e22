# SPDX-License-Identifier: MIT
"""JavaScript sessions through the server (JS01-JS17, WT07, OI-02 to OI-12)."""
import shutil

import pytest
from client import Result, Server
from patience import until
from steps import go, is_running, listed

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="no node on PATH")


@pytest.fixture
def js(server):
    return lambda code, **arguments: server.cell(code, language="javascript", **arguments)


def test_aliases_name_one_interpreter(server):
    server.cell("let x = 5", language="JavaScript")
    for language in ("js", "node", "typescript", "ts", "JS", "Node"):
        assert server.cell("x", language=language).text == "5\n"
    ready = [row["name"] for row in server.call("session_info", session_id="s").object["languages"] if row["state"] == "ready"]
    assert ready == ["javascript"]


def test_relative_files_lie_in_the_sessions_folder(js):
    result = js("require('fs').writeFileSync('output/a.txt', 'hi'); process.cwd() === __dirname")
    assert result.text == "true\n" and "output/a.txt" in result.texts[-1] and "saved" in result.status


def test_declarations_persist_and_can_be_made_again(js):
    js("let x=41; const c=1; class K {}")
    assert js("typeof x").text == "'number'\n"
    js("const x=7; let c=2; const K=3")
    assert js("[x, c, K]").text == "[ 7, 2, 3 ]\n"


def test_a_call_may_span_lines(js):
    assert js("console.log(1 +\n2)").text == "3\n"


def test_output_is_as_it_was_written(js):
    text = "> a\nundefined\n... b\n  c..\n"
    assert js(f"process.stdout.write({text!r})").text == text


def test_process_exit_is_answered_at_once(js):
    result = js("console.log('last'); process.exit(0)")
    assert result.state == "done" and result.text == "last\n" and result.status["exit"] == 0
    assert js("const kept = 1; process.exit(3)").status["exit"] == 3
    assert js("kept").text == "1\n"
    result = js("process.reallyExit(4)")
    assert result.state == "died" and "exited with code 4" in result.text
    assert js("1+1").text == "2\n"


def test_no_text_is_a_marker(js):
    for marker in ("##end_of_execution##", "done 1 0", "[s#1 done 0.00 s]"):
        result = js(f"console.log({marker!r}); console.log('after')")
        assert result.text == f"{marker}\nafter\n" and result.state == "done"


def test_stdout_and_stderr_keep_their_order(js):
    assert js("for (let i = 0; i < 3; i++) { console.log('o' + i); console.error('e' + i) }").text == "o0\ne0\no1\ne1\no2\ne2\n"


def test_a_warm_cell_takes_no_time(js):
    js("1")
    until(lambda: js("true").status["seconds"] < 0.9)  # it was a second each


def test_closed_descriptors_come_back_within_the_sandbox(js):
    js("1")
    assert "[the code closed stdout; it is open again]" in js("for (const fd of [0, 1, 2]) require('fs').closeSync(fd)").text
    assert js("console.log('out'); console.error('err')").text == "out\nerr\n"


def test_a_read_of_the_terminal_that_does_not_wait_is_explained(js):
    js("process.stdin.resume(); await new Promise((r) => setTimeout(r, 1)); process.stdin.pause()")
    result = js("require('fs').readFileSync(0, 'utf8')")
    assert "EAGAIN" in result.text and "rl.question" in result.text and "processes_max" not in result.text


def test_progress_bars_collapse(js):
    assert js("for (let i = 0; i <= 100; i++) process.stdout.write(`\\r${i} %`); console.log()").text == "100 %\n"


def test_an_error_has_the_cells_place(js):
    result = js("const a = 1\n\n  missing(a)")
    assert result.is_error and result.state == "raised"
    assert "cell-1.js:3\n  missing(a)\n  ^\nReferenceError: missing is not defined\n    at cell-1.js:3:3\n" in result.text


def test_what_happens_between_cells_is_background_output(server, js):
    js("const fs = require('fs'); const timer = setInterval(() => { if (!fs.existsSync('input/go')) return;\n"
       "  clearInterval(timer); console.log('tick');\n"
       "  setImmediate(() => fs.writeFileSync('ticked', '')); throw new Error('late') }, 5);")
    go(server)
    until(lambda: "ticked" in listed(server, "ticked"))
    result = js("1")
    assert "[background output since the last cell]\ntick\nUncaught" in result.text and "Error: late" in result.text
    assert result.text.endswith("[output of this cell]\n1\n")


@pytest.mark.parametrize("code", ["console.log('late')", "require('child_process').execSync('echo late', { stdio: 'inherit' })"])
def test_what_comes_before_a_cell_begins_is_background_output(server, js, code):
    """Also when the cell was sent before."""
    js("const fs = require('fs'); setTimeout(() => setTimeout(() => { fs.writeFileSync('busy', ''); while (!fs.existsSync('input/go'));\n"
       f"  {code} }}, 5)); 1")
    until(lambda: "busy" in listed(server, "busy"))
    answer = server.start_cell("console.log('mine'); 2", language="js")
    until(lambda: is_running(server))
    go(server)
    assert Result(answer.get()["result"]).text == "[background output since the last cell]\nlate\n[output of this cell]\nmine\n2\n"
    assert js("3").text == "3\n"


ENDLESS = ["while (true) {}", "await new Promise(() => {})", "await 1; while (true) {}", "require('child_process').execSync('sleep 1000')",
           "for (;;) console.log('x'.repeat(100))"]


@pytest.mark.parametrize("code", ENDLESS)
@pytest.mark.parametrize("first", [True, False])
def test_a_deadline_interrupts_and_keeps_the_state(js, code, first):
    for timeout in (0.7, 7, 70):  # a busy machine may not have started Node within the shortest
        session = f"after{timeout}"
        js("let kept = 1", session=session) if not first else None
        result = js(code, session=session, timeout=timeout)
        assert result.state == "timed_out", result.texts
        if "variables and files are kept" in result.text:
            break
    assert js("typeof kept", session=session).text == ("'undefined'\n" if first else "'number'\n")


def test_a_cancelled_cell_is_interrupted(server, js):
    js("let kept = 1")
    answer = server.start_cell("while (true) {}", language="js")
    until(lambda: is_running(server))
    server.cancel(answer)
    assert js("kept").text == "1\n"


def test_what_cannot_be_interrupted_is_killed_and_told(js):
    js("let kept = 1")
    result = js("process.on('SIGTERM', () => {}); setTimeout(() => { while (true) {} }, 1); await new Promise(() => {})", timeout=0.5)
    assert result.state in ("timed_out", "died")
    assert js("1+1").text == "2\n"


def test_a_first_cell_that_interrupts_itself_goes_on(js):
    result = js("process.kill(process.pid, 'SIGINT'); 4")
    assert (result.state, result.text) == ("done", "4\n")
    assert js("5").text == "5\n"


def test_a_session_in_which_v8_evaluates_nothing_more_is_lost_with_a_word(js):
    first = js("process['ki' + 'll'](process.pid, 'SIG' + 'INT'); 4")
    texts = first.text if first.state == "died" else js("5").text
    assert "V8 evaluates nothing more in this process" in texts
    assert js("6").text == "6\n"


def test_a_package_that_lacks_a_file_is_not_said_to_be_missing(js):
    result = js("require('fs').mkdirSync('node_modules/pack', { recursive: true }); require('pack/package.json')")
    assert result.state == "raised" and "is not installed" not in result.text


def test_figures_are_images_and_files(server, js):
    code = """const zlib = require('zlib')
const chunk = (type, data) => { const body = Buffer.concat([Buffer.from(type), data]); const out = Buffer.alloc(8)
  let c, crc = -1; for (const b of body) { c = (crc ^ b) & 255; for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; crc = (crc >>> 8) ^ c }
  out.writeUInt32BE(data.length, 0); out.writeInt32BE(~crc, 4); return Buffer.concat([out.subarray(0, 4), body, out.subarray(4)]) }
const head = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0])
const png = Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(Buffer.alloc(200))), chunk('IEND', Buffer.alloc(0))])
console.log('before'); display(png); console.log('after')"""
    result = js(code)
    assert [image["mimeType"] for image in result.images] == ["image/png"]
    assert result.text.startswith("before\n[figure 1]\nafter\n")


def test_names_and_variables(server, js):
    result = js("const rows = [1, 2, 3]; function total() { return rows.length }")
    assert "names rows Array 3, total function" in result.texts[-1] or ("rows Array 3" in result.texts[-1] and "total function" in result.texts[-1])


def test_python_and_javascript_share_the_folder_and_nothing_else(server, js):
    server.cell("open('shared.json', 'w').write('[1, 2]'); x = 'python'")
    assert js("x = JSON.parse(require('fs').readFileSync('shared.json', 'utf8'))").text == "[ 1, 2 ]\n"
    js("process.reallyExit(9)")
    assert server.cell("x").text == "'python'\n"


def test_a_missing_package_is_named(js):
    result = js("import _ from 'nowhere-1'")
    assert result.state == "raised" and "The package 'nowhere-1' is not installed for this Node" in result.text


def test_without_node_the_answer_says_how_to_get_it(home):
    with Server(home, env={"PTYCELL_NODE": "/nowhere/node"}) as server:
        result = server.cell("1", language="js")
        assert result.state == "not_started" and "PTYCELL_NODE" in result.text


def test_a_node_that_is_too_old_is_said(home):
    folder = home / "old/bin"
    folder.mkdir(parents=True)
    old = folder / "node"
    old.write_text(f"#!/bin/sh\nexec {shutil.which('node')} --require={folder}/old.cjs \"$@\"\n")
    old.chmod(0o755)
    (folder / "old.cjs").write_text("Object.defineProperty(process, 'versions', {value: {node: '16.20.2'}})\n"
                                  "Object.defineProperty(process, 'version', {value: 'v16.20.2'})")
    with Server(home, env={"PTYCELL_NODE": str(old)}) as server:
        result = server.cell("1", language="js")
        assert result.state == "not_started" and "ptycell needs Node.js 18 or later; this is v16.20.2" in result.text


MAKE_A_CERTIFICATE = """openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 \\
    -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>log || cat log"""
ASK_A_SITE_WITH_IT = """
    const site = require('https').createServer({ key: fs.readFileSync('key.pem'), cert: fs.readFileSync('cert.pem') },
        (request, response) => response.end('trusted'));
    await new Promise((ready) => site.listen(0, 'localhost', ready));
    await fetch(`https://localhost:${site.address().port}/`).then((answer) => answer.text(), (error) => error.cause.code)
        .finally(() => site.close())"""


@pytest.mark.parametrize("passed, said", [({}, "DEPTH_ZERO_SELF_SIGNED_CERT"),
                                          ({"PTYCELL_ENV_NODE_EXTRA_CA_CERTS": "cert.pem"}, "trusted")])
def test_certificates_that_the_person_names_are_trusted(home, passed, said):
    """Node reads that file when it starts."""
    with Server(home, env=passed) as server:
        assert server.cell(MAKE_A_CERTIFICATE, language="bash").text == ""
        assert server.cell(ASK_A_SITE_WITH_IT, language="js").text == f"'{said}'\n"
