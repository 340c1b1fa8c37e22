# SPDX-License-Identifier: MIT
"""process.exit(): it ends the cell as it would end `node -e`, and loses nothing (JS15, P17)."""
import os
import subprocess

import node_harness
import patience
import pytest
from test_processes import COLLECTOR, HOOKED

MAIN = """async function main() { return 42 }
main().then((v) => { console.log('ok', v); process.exit(0) }).catch((e) => { console.error('FAILED', e); process.exit(1) })"""
CAUGHT = "try { process.exit(3) } catch (e) { console.log('caught', e) } finally { console.log('finally') } console.log('gone on')"
PUT_OFF = """setTimeout(() => console.log('ran'), 0); setImmediate(() => console.log('ran')); setInterval(() => console.log('ran'), 1).unref();
require('timers/promises').setTimeout(1).then(() => console.log('ran')); require('timers').setImmediate(console.log, 'ran')"""
WAITS = "; setTimeout(() => {}, 1e6); (async () => { await new Promise(() => {}) })()"
QUEUED = "for (const then of [process.nextTick, (f) => Promise.resolve().then(f), queueMicrotask]) then(() => console.log('ran', then))"
QUEUED_CAUGHT = f"{QUEUED}; Promise.reject(1); {CAUGHT}"
EXITS = [  # as scripts
    MAIN, MAIN.replace("return 42", "await null; throw 43"), CAUGHT, f"while (true) {{ {CAUGHT} }}",
    "try { console.log('work'); process.exit(0) } catch (e) { console.error('FAILED', e); process.exit(1) }",
    "for (const f of ['a', 'b']) try { if (f == 'b') process.exit(1); console.log(f) } catch {}",
    "try { throw 1 } catch {} finally { process.exit(4) } console.log('gone on')",
    "process.on('exit', (code) => console.log('bye', code)); " + CAUGHT,
    "process.on('exit', () => { try { process.exit(9) } catch { console.log('caught') } }); process.exit(1)",
    f"Promise.resolve().then(() => {{ {CAUGHT} }}).catch(() => console.log('caught')); 'v'",
    f"Promise.reject(1).finally(() => {{ {CAUGHT} }}){WAITS}",
    f"[1, 2].map(async (x) => {{ await null; {CAUGHT} }})",
    f"setTimeout(() => {{ {CAUGHT} }}, 1){WAITS}", f"setTimeout(process.exit, 1, 3){WAITS}",
    f"setImmediate(() => {{ {CAUGHT} }}){WAITS}", f"process.nextTick(() => {{ {CAUGHT} }}){WAITS}",
    f"process.nextTick(process.exit, 3){WAITS}", f"queueMicrotask(() => {{ {CAUGHT} }}){WAITS}",
    f"const e = new (require('events'))(); e.on('x', () => {{ {CAUGHT} }}); e.emit('x'); console.log('gone on')",
    f"require('fs').readFile('/dev/null', () => {{ {CAUGHT} }}){WAITS}",
    f"require('child_process').execFile('true', () => {{ {CAUGHT} }}){WAITS}",
    f"process.once('uncaughtException', () => {{ {CAUGHT} }}); setTimeout(() => {{ throw 1 }}, 1){WAITS}",
    f"process.once('unhandledRejection', () => {{ {CAUGHT} }}); Promise.reject(1){WAITS}",
    f"require('vm').runInNewContext('f()', {{ f() {{ {CAUGHT} }} }}, {{ timeout: 60000 }})",
    f"[...(function* () {{ {CAUGHT} }})()]", f"JSON.stringify({{ toJSON() {{ {CAUGHT} }} }})",
    f"console.log({{ [Symbol.for('nodejs.util.inspect.custom')]() {{ {CAUGHT} }} }})",
    f"new (require('async_hooks').AsyncResource)('t').runInAsyncScope(() => {{ {CAUGHT} }})",
    f"require('./exits.cjs'); console.log('gone on')",
    f"import('./exits.mjs').then(() => console.log('gone on')){WAITS}",
    QUEUED_CAUGHT, f"Promise.resolve().then(() => {{ {QUEUED_CAUGHT} }}){WAITS}",
    *[f"{f}(() => {{ {QUEUED_CAUGHT} }}){WAITS}" for f in ("setTimeout", "setImmediate", "process.nextTick", "queueMicrotask")],
    f"require('fs').readFile('/dev/null', () => {{ {QUEUED_CAUGHT} }}){WAITS}",
    f"{PUT_OFF}; {CAUGHT}", f"setTimeout(() => {{ {CAUGHT} }}, 0); setTimeout(() => console.log('ran'), 0)",
    *[f"{f}(() => {{ {PUT_OFF}; {CAUGHT} }}){WAITS}" for f in ("setTimeout", "setImmediate", "process.nextTick", "Promise.resolve().then")],
    f"setImmediate(() => {{ {CAUGHT} }}); setImmediate(() => console.log('ran')){WAITS}",
]


@pytest.fixture
def folder(shared):
    """Of the session, with modules that exit."""
    path = shared.run("process.cwd()").value.strip("'")
    for name in ("exits.cjs", "exits.mjs"):
        with open(f"{path}/{name}", "w") as file:
            file.write(f"console.log('module'); {CAUGHT}")
    return path


@pytest.mark.parametrize("code", EXITS)
def test_a_cell_exits_as_a_script_does(shared, node, folder, code):
    bare = subprocess.run([node, "-e", code], cwd=folder, env=node_harness.harness.ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    shared.run("var x = 'kept'")
    result = shared.run(f"{{ {code} }}")
    assert (result.status, result.done["code"], result.output) == ("exit", f"{bare.returncode}", bare.stdout)
    assert shared.run("await new Promise((r) => setTimeout(r, 1)); x").value == "'kept'"


def test_an_exit_has_the_code_that_a_listener_left_which_throws(shared, node):
    code = "process.on('exit', () => { process.exitCode = 4; throw new Error('thrown') }); process.exit(2)"
    result = shared.run(code)
    assert (result.status, result.done["code"]) == ("exit", "4") and "Error: thrown" in result.output
    assert subprocess.run([node, "-e", code], stderr=subprocess.DEVNULL).returncode == 4


@pytest.mark.each_case
@pytest.mark.parametrize("hooks", ["1", HOOKED])
def test_exits_leave_node_whole(start, folder, hooks):
    """Its lists of timers, ticks and immediates, its stack of callbacks, and what collects what they held."""
    session = start(cwd=folder)
    session.run("let kept = 1")
    session.run(COLLECTOR)
    session.run(hooks)
    for i in range(210):
        result = session.run(f"{{ {EXITS[i % len(EXITS)]} }}")
        assert result.status == "exit" and "caught" not in result.output and "gone on" not in result.output
        code = "await new Promise((r) => setTimeout(r, 1)); await new Promise((r) => process.nextTick(r)); collect(); kept"
        assert session.run(code).value == "1"


def test_an_exit_of_what_a_cell_put_off_is_its_own(shared):
    result = shared.run("setTimeout(() => process.exit(4), 0); 'v'")
    assert (result.status, result.done["code"], result.value, result.output) == ("exit", "4", "'v'", "")
    result = shared.run("setTimeout(() => process.exit(4), 0); nowhere")
    assert result.status == "error" and "[process.exit(4) between cells: the interpreter goes on]" in result.output


def test_an_interval_that_exits_ends(shared):
    assert shared.run("setInterval(() => process.exit(5), 1); await new Promise(() => {})").status == "exit"
    assert shared.run("await new Promise((r) => setTimeout(r, 10)); 1").value == "1"


def test_timers_of_older_cells_outlive_an_exit(session):
    session.run("let ticks = 0; const timer = setInterval(() => { ticks++; setTimeout(() => ticks++, 0) }, 1);")
    assert session.run("await new Promise((r) => setTimeout(r, 5)); process.exit(3)").status == "exit"
    session.run("ticks = 0")
    assert session.run("while (ticks < 3) await new Promise((r) => setTimeout(r, 1)); 'ticks'").value == "'ticks'"


@pytest.mark.each_case
@pytest.mark.parametrize("code", ["process.exit('abc')", "process.exit({})", "process.exit(true)", "process.exit(1.5)",
                                  "await Promise.reject(new Error('x')).catch(process.exit)"])
def test_a_code_that_node_refuses_is_an_error(shared, node, code):
    expected = "Error" if not shared.ready["version"].startswith("18.") else None  # which takes them all
    result = shared.run(code)
    assert (result.status == "error" and expected in result.done["ename"]) if expected else result.status == "exit"
    assert shared.run("process.exitCode").value is None
    assert shared.run("process.exit('7')").done["code"] == "7"


def test_an_exit_leaves_methods_that_the_code_has_replaced(session):
    session.run("Array.prototype[Symbol.iterator] = function* () { yield 'it' }; 1")
    assert session.run("process.exit(2)").done["code"] == "2"
    assert session.run("const [a] = [4]; a").value == "'it'"


def test_an_exit_between_cells_is_told(session, tmp_path):
    session.run("const look = setInterval(() => { if (!require('fs').existsSync('go')) return; clearInterval(look)\n"
                "try { process.exit(3) } catch { console.log('caught') } }, 1); 1")
    (tmp_path / "go").touch()
    patience.until(lambda: session.drain() or b"\n" in session.output)
    assert session.output.replace(b"\r", b"") == b"[process.exit(3) between cells: the interpreter goes on]\n"
    assert session.run("2").value == "2"


def test_an_exit_of_a_worker_is_the_workers(shared):
    code = "const worker = new (require('worker_threads').Worker)('process.exit(6)', { eval: true })\n"
    assert shared.run(code + "await new Promise((r) => worker.once('exit', r))").value == "6"


@pytest.mark.each_case
@pytest.mark.parametrize("load", ["require('./torn.cjs')", "(await import('./torn.mjs')).default"])
@pytest.mark.parametrize("end", ["exit", "interrupt"])
def test_a_module_that_was_ended_is_loaded_anew(shared, load, end):
    last = "process.exit(3)" if end == "exit" else "process.stdout.write('loading'); while (true) {}"
    shared.run(f"require('fs').writeFileSync('torn.cjs', `if (globalThis.again) module.exports = 7; else {{ {last} }}`)\n"
               f"require('fs').writeFileSync('torn.mjs', `if (!globalThis.again) {{ {last} }} export default 7`); globalThis.again = 0; 1")
    if end == "exit":
        assert shared.run(load).status == "exit"
    else:
        assert shared.run_interrupted(load, seen="loading").status == "interrupted"
    shared.run("globalThis.again = 1")
    assert shared.run(load).value == "7"


@pytest.mark.each_case
def test_what_a_module_imports_that_was_ended_is_loaded_anew(session, tmp_path):
    (tmp_path / "kept.mjs").write_text("globalThis.loads = (globalThis.loads ?? 0) + 1")
    (tmp_path / "inner.mjs").write_text("import './kept.mjs'; if (!globalThis.again) process.exit(3); export default 7")
    (tmp_path / "middle.mjs").write_text("export { default } from './inner.mjs'")
    (tmp_path / "outer.mjs").write_text("export default (await import('./middle.mjs')).default")
    session.run("await import('./kept.mjs')")
    for name in ("middle", "outer"):
        assert session.run(f"await import('./{name}.mjs')").status == "exit"
    session.run("again = true")
    assert [session.run(f"[(await import('./{name}.mjs')).default, loads]").value for name in ("outer", "middle", "inner")] == ["[ 7, 1 ]"] * 3


def test_a_listener_may_exit_when_the_session_ends(session):
    session.run("process.on('exit', () => { console.log('bye'); process.exit(9) })")
    session.send("quit", 0)
    _, status = os.waitpid(session.pid, 0)
    session.pid = None
    assert os.waitstatus_to_exitcode(status) == 9
