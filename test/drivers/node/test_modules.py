# SPDX-License-Identifier: MIT
"""Modules: a file that has changed is loaded anew, whoever asks for it, and one that has not keeps its identity."""
import pytest
from test_cells import values

pytestmark = pytest.mark.each_case


def write(folder, **texts):
    """Files by their names, in which `__` is a dot."""
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.mark.parametrize("code, name, text", [
    ("require('./app').load('./p.js')", "p.js", "module.exports = %d"), ("require('./p.js')", "p.js", "module.exports = %d"),
    ("(await require('./app').find('./p.mjs')).default", "p.mjs", "export default %d"), ("(await import('./p.mjs')).default", "p.mjs", "export default %d")])
def test_what_a_function_has_loaded_is_loaded_anew(session, tmp_path, code, name, text):
    """Also when it changed before the next cell."""
    write(tmp_path, app__js="exports.load = (name) => require(name); exports.find = (name) => import(name)")
    (tmp_path / name).write_text(text % 1)
    session.run(f"const app = require('./app'); {'app.load' if name == 'p.js' else 'await app.find'}('./{name}')")
    for number in (22, 333):
        (tmp_path / name).write_text(text % number)
        assert values(session, code) == str(number)


def test_a_function_loads_anew_what_the_same_cell_has_changed(session, tmp_path):
    write(tmp_path, app__js="exports.load = (name) => require(name)", p__js="module.exports = 1")
    assert values(session, "const app = require('./app'); const first = app.load('./p.js'); require('fs').writeFileSync('p.js', 'module.exports = 22'); [first, app.load('./p.js')]") == "[ 1, 22 ]"


def test_what_the_modules_of_a_runner_import_is_loaded_anew(session, tmp_path):
    write(tmp_path, sum__mjs="export const sum = (a, b) => a - b", one__mjs="import { sum } from './sum.mjs'; export default sum(1, 2)",
          run__mjs="export const run = async () => (await import('./one.mjs')).default")
    assert values(session, "const { run } = await import('./run.mjs'); await run()") == "-1"
    write(tmp_path, sum__mjs="export const sum = (a, b) => a + b")
    assert values(session, "await run()") == "3"


@pytest.mark.parametrize("code", ["createRequire(import.meta.url)('./c.json').v", "module.require('./c.json').v"])
def test_a_require_of_the_codes_own_loads_anew(session, tmp_path, code):
    session.run("import { createRequire } from 'node:module'")
    for number in (1, 22):
        write(tmp_path, c__json=f'{{"v": {number}}}')
        assert values(session, code) == str(number)


@pytest.mark.parametrize("code", ["await run()", "(await import('./plugin.mjs')).x"])
@pytest.mark.parametrize("wrong", [None, "export const y = ;", "export const z = 1", "throw new Error('m'); export const y = 1"])
def test_what_a_function_failed_to_import_is_loaded_once_that_is_corrected(session, tmp_path, wrong, code):
    write(tmp_path, app__mjs="export const run = async () => (await import('./plugin.mjs')).x", plugin__mjs="import { y } from './dep.mjs'; export const x = y + 1")
    if wrong is not None:
        write(tmp_path, dep__mjs=wrong)
    assert session.run("const { run } = await import('./app.mjs'); await run()").status == "error"
    write(tmp_path, dep__mjs="export const y = 41")
    assert values(session, code) == "42"


def test_what_a_function_failed_to_import_for_another_cause_is_loaded_without_it(session, tmp_path):
    write(tmp_path, app__mjs="export const run = async () => (await import('./key.mjs')).key", key__mjs="if (!process.env.KEY) throw new Error('no key'); export const key = process.env.KEY")
    assert session.run("const { run } = await import('./app.mjs'); await run()").done["evalue"] == "no key"
    assert values(session, "process.env.KEY = 'k'; await run()") == "'k'"


@pytest.mark.parametrize("never", ["await new Promise(() => {})", "import './never2.mjs'"])
def test_an_import_without_end_does_not_keep_what_failed(session, tmp_path, never):
    write(tmp_path, never__mjs=never, never2__mjs="globalThis.never = (globalThis.never ?? 0) + 1; await new Promise(() => {})", x__mjs="import { n } from './conf.mjs'; export { n }",
          needs__mjs="if (!globalThis.there) throw new Error('not there')\nexport const n = 1")
    session.run("import('./never.mjs').then(() => {}); 1")
    assert session.run("await import('./x.mjs')").status == session.run("await import('./needs.mjs')").status == "error"
    write(tmp_path, conf__mjs="export const n = 1")
    assert values(session, "globalThis.there = 1; import('./never.mjs'); [(await import('./x.mjs')).n, (await import('./needs.mjs')).n, globalThis.never ?? 1]") == "[ 1, 1, 1 ]"


def test_an_import_that_was_interrupted_while_it_waited_is_begun_anew(session, tmp_path):
    write(tmp_path, slow__mjs="import './state.mjs'\nprocess.stdout.write('begun')\nif (!globalThis.quick) await new Promise((done) => setTimeout(done, 1e8))\nexport const n = 1",
          state__mjs="globalThis.loads = (globalThis.loads ?? 0) + 1")
    session.run("await import('./state.mjs')")
    assert session.run_interrupted("await import('./slow.mjs')").status == "interrupted"
    assert values(session, "globalThis.quick = true; [(await import('./slow.mjs')).n, loads]") == "[ 1, 1 ]"


@pytest.mark.parametrize("text", [
    "import { n } from '#lib'; export { n }", "import { n } from 'own/lib'; export { n }", "import { n } from /* of */ './lib.mjs'; export { n }",
    "const name = 'lib'; export const { n } = await import(`./${name}.mjs`)", "import { n } from 'linked'; export { n }"])
def test_importers_are_known_by_whatever_name_they_use(session, tmp_path, text):
    write(tmp_path, package__json='{"name": "own", "imports": {"#lib": "./lib.mjs"}, "exports": {"./lib": "./lib.mjs"}}', x__mjs=text)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "node_modules/linked").symlink_to(tmp_path / "part")
    write(tmp_path / "part", package__json='{"name": "linked", "exports": "./i.mjs"}')
    for number in (1, 22, 333):
        for file in ("lib.mjs", "part/i.mjs"):
            (tmp_path / file).write_text(f"export const n = {number}")
        assert values(session, "(await import('./x.mjs')).n") == str(number)


@pytest.mark.parametrize("code", ["(await import('#lib')).n", "(await import('linked')).n", "require('linked').n"])
def test_a_file_of_the_sessions_own_is_loaded_anew_by_a_bare_name(session, tmp_path, code):
    write(tmp_path, package__json='{"name": "own", "imports": {"#lib": "./lib.cjs"}}')
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "node_modules/linked").symlink_to(tmp_path / "part")
    for number in (1, 22, 333):
        for file in ("lib.cjs", "part/index.js"):
            (tmp_path / file).write_text(f"exports.n = {number}")
        assert values(session, code) == str(number)


@pytest.mark.parametrize("load", ["const lib = import('./m.mjs'); exports.get = async () => (await lib).n", "const m = require('module').createRequire(__filename)('./c'); exports.get = () => m.n"])
def test_a_file_that_keeps_what_it_loaded_is_loaded_anew_with_it(session, tmp_path, load):
    write(tmp_path, x__cjs=load)
    for number in (1, 22):
        write(tmp_path, m__mjs=f"export const n = {number}", c__js=f"exports.n = {number}")
        assert values(session, "await require('./x.cjs').get()") == str(number)


def test_many_modules_are_forgotten_at_once(session, tmp_path):
    """Each imports the one before and one that all of them import: no module is looked at more than a few times."""
    count = 200
    write(tmp_path, util__mjs="export const u = 1", v0__mjs="export const v = 0")
    for i in range(1, count + 1):
        (tmp_path / f"v{i}.mjs").write_text(f"import {{ u }} from './util.mjs'; import {{ v as w }} from './v{i - 1}.mjs'; export const v = w + u")
    code = f"const fs = require('fs'); (await import('./v{count}.mjs')).v"
    assert values(session, code) == str(count)
    write(tmp_path, util__mjs="export const u = 22")
    reads = "globalThis.reads = 0; const { readFileSync } = fs; fs.readFileSync = (...a) => { reads++; return readFileSync(...a) };"
    assert values(session, f"{reads} (await import('./v{count}.mjs')).v") == str(22 * count)
    assert values(session, "(await import('./v1.mjs')).v") == "22"


def test_data_that_the_code_has_written_back_keeps_its_identity(session, tmp_path):
    write(tmp_path, data__json="[]", db__js="""const fs = require('fs'); const data = require('./data.json')
        exports.add = (x) => { data.push(x); fs.writeFileSync('data.json', JSON.stringify(data, null, 1)); return data }""")
    assert values(session, "const db = require('./db'); db.add(1)", "require('./db').add(2)", "db.add(3)") == "[ 1, 2, 3 ]"
    write(tmp_path, data__json="[9]")
    assert values(session, "require('./db').add(4)") == "[ 9, 4 ]"


def test_a_module_loads_what_it_has_written_itself(session, tmp_path):
    write(tmp_path, gen__js="module.exports = 0", w__js="require('fs').writeFileSync('gen.js', 'module.exports = 22'); exports.v = require('./gen')")
    assert values(session, "require('./gen')", "[require('./w').v, require('./gen')]") == "[ 22, 22 ]"


def test_a_name_means_what_is_there_now(session, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/index.js").write_text("module.exports = 'index'")
    assert values(session, "require('./lib')") == "'index'"
    write(tmp_path, lib__js="module.exports = 'file'")
    assert values(session, "require('./lib')") == "'file'"


def test_a_link_means_the_file_that_it_names_now(session, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "i.js").write_text(f"module.exports = '{name}'")
    for name in ("one", "two", "one"):
        for link, target in (("link.js", f"{name}/i.js"), ("current", name)):
            (tmp_path / link).unlink(missing_ok=True)
            (tmp_path / link).symlink_to(target)
        assert values(session, "[require('./link'), require('./link.js'), require('./current/i'), (await import('./current/i.js')).default].join()") == f"'{','.join([name] * 4)}'"


def test_a_package_json_is_read_anew_or_what_changed_is_told(session, tmp_path, major):
    """T9: Node 21 and later keep what they have read."""
    (tmp_path / "pk").mkdir()
    write(tmp_path, a__js="module.exports = 'a'", b__js="module.exports = 'b'", package__json='{"imports": {"#cfg": "./a.js"}}')
    write(tmp_path / "pk", one__js="module.exports = 1", two__js="module.exports = 22", package__json='{"main": "one"}')
    code = "[require('#cfg'), (await import('#cfg')).default, require('./pk')]"
    assert values(session, code) == "[ 'a', 'a', 1 ]"
    write(tmp_path, package__json='{"imports": {"#cfg": "./b.js"}}')
    write(tmp_path / "pk", package__json='{"main": "two"}')
    result = session.run(code)
    if major < 21:
        assert (result.value, result.output) == ("[ 'b', 'b', 22 ]", "")
    else:
        assert result.value == "[ 'a', 'a', 1 ]"
        for folder in (tmp_path, tmp_path / "pk"):
            assert f"[{folder}/package.json has changed, but this Node keeps what it has read there: start a new interpreter" in result.output
    write(tmp_path, package__json='{"imports": {"#cfg": "./b.js"}, "dependencies": {}}')
    assert session.run(code).output == ""


def test_a_package_json_that_comes_later_counts_or_is_told(session, tmp_path, major):
    (tmp_path / "late").mkdir()
    write(tmp_path / "late", index__js="module.exports = 'index'", real__js="module.exports = 'real'")
    assert values(session, "require('./late')") == "'index'"
    write(tmp_path, package__json='{"name": "mine", "main": "index.js", "type": "commonjs"}')  # as `npm init` does
    assert session.run("require('./late')").output == ""
    write(tmp_path / "late", package__json='{"main": "real"}')
    result = session.run("require('./late')")
    if major < 21:
        assert result.value == "'real'"
    else:
        assert result.value == "'index'" and "late/package.json has changed, but this Node keeps" in result.output


@pytest.mark.parametrize("code", ["require('./app').load('./lib.mjs')", "require('./lib.mjs')", "await require('./app').find('./lib.mjs')",
                                  "await import('./lib.mjs')", "await (await import('./late.mjs')).find()"])
def test_a_syntax_error_of_a_module_has_its_place(session, tmp_path, code, major):
    """T11"""
    if major < 20 and "require(" in code and "find" not in code:
        write(tmp_path, app__js="exports.load = (name) => require(name)", lib__mjs="")
        assert "ERR_REQUIRE_ESM" in session.run(code).done["traceback"]
        return
    write(tmp_path, app__js="exports.load = (name) => require(name); exports.find = (name) => import(name)",
          late__mjs="export const find = () => import('./lib.mjs')", lib__mjs="export const a = 1\nexport const b = ;\n")
    done = session.run(code).done
    assert done["ename"] == "SyntaxError"
    assert f"{tmp_path}/lib.mjs:2\nexport const b = ;\n                 ^\n\nSyntaxError: Unexpected token ';'" in done["traceback"]
    write(tmp_path, lib__mjs="export const a = 1\n")
    assert session.run(code).status == "ok"


def test_a_file_that_is_gone_is_not_found(session, tmp_path):
    """T12: by its code, as a fresh Node says."""
    write(tmp_path, lib__mjs="export default 1", app__mjs="export const load = () => import('./lib.mjs')")
    code = "const { load } = await import('./app.mjs'); await Promise.all([import('./lib.mjs'), load()]); 1"
    assert values(session, code) == "1"
    (tmp_path / "lib.mjs").unlink()
    failed = "const codeOf = (promise) => promise.then(() => 0, (error) => error.code); [await codeOf(import('./lib.mjs')), await codeOf(load())]"
    assert values(session, failed) == "[ 'ERR_MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND' ]"
    write(tmp_path, lib__mjs="export default 22")
    assert values(session, "[(await import('./lib.mjs')).default, (await load()).default]") == "[ 22, 22 ]"


def test_a_package_that_the_code_writes_itself_is_loaded_anew(session, tmp_path):
    """T13; what npm has installed does not change."""
    mine = tmp_path / "node_modules/mine"
    mine.mkdir(parents=True)
    code = "[require('mine'), (await import('mine')).default]"
    for number in (1, 22):
        write(mine, index__js=f"module.exports = {number}")
        assert values(session, code) == f"[ {number}, {number} ]"
    (mine.parent / ".package-lock.json").write_text("{}")
    theirs = tmp_path / "node_modules/theirs"
    theirs.mkdir()
    for number in (1, 22):
        write(theirs, index__js=f"module.exports = {number}")
        assert values(session, code.replace("mine", "theirs")) == "[ 1, 1 ]"
