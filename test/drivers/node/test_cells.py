# SPDX-License-Identifier: MIT
"""What a cell of JavaScript means: names, values, modules, errors (JS01-JS09, JS13, JS16)."""
import itertools
import re

import pytest

NUMBERS = itertools.count()


def apart(*texts):
    """The texts with names that no other test of a session has: of one letter, and `data`, `load` and `count`."""
    number = next(NUMBERS)
    return [re.sub(r"\b(?:[A-Za-z]|data|load|count)\b", rf"\g<0>{number}", text) for text in texts]


def values(session, *cells):
    """Runs them all; the last one's value."""
    for cell in cells:
        result = session.run(cell)
        assert result.status == "ok", result
    return result.value


# ---- names ----


def test_let_const_and_class_can_be_declared_again_in_any_mix(session):
    assert values(session, "const a=1; let b=2; class K{}", "const a=5, b=7", "[a, b]") == "[ 5, 7 ]"
    assert values(session, "let a=9", "const K=3", "class K {}", "const K=4", "[a, K]") == "[ 9, 4 ]"


@pytest.mark.one_node
@pytest.mark.parametrize("first, code, value", [
    ("function load() { return 1 }\nlet data = 1", "const data = 2\nconst load = () => data\nload()", "2"),
    ("var total = 0\nlet items = [1]", "let items = [2]\nitems.push(total)\nlet total = 5\n;[items, total]", "[ [ 2, 0 ], 5 ]"),
    ("let a = 1; var b = 2", "let a = 3, b = 4, c = a + b\n;[a, b, c]", "[ 3, 4, 7 ]"), ("let a = 1; var b = 2", "var a = 3,\n  b = 4; [a, b]", "[ 3, 4 ]"),
    ("let a = 1; var b = 2", "let { a, b, c } = { a: 3, b: 4, c: 5 }, d = 6\n;[a, b, c, d]", "[ 3, 4, 5, 6 ]"),
    ("let a = 1; var b = 2", "const d = 6, [a, [b] = [7]] = 'x', c = 5\n;[a, b, c, d]", "[ 'x', 7, 5, 6 ]"), ("var b = 2", "let b\nb", None),
    ("let a = 1; var b = 2", "export let b = 3, a = 4; export const c = 5\n;[a, b, c]", "[ 4, 3, 5 ]"), ("var b = 2", "export default class b {}\nb.name", "'b'")])
def test_a_declaration_may_have_names_that_stand_as_both_kinds(session, first, code, value):
    values(session, first)
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("first, code, value", [
    ("const load = () => 'old'", "const r = main()\nfunction main() { return load() }\nfunction load() { return 'new' }\nr", "'new'"),
    ("const { dirname } = require('path')", "dirname('a/b')\n\nfunction dirname(p) { return 'mine:' + p }", "'mine:a/b'"),
    ("let f = 1, g = 2", "module.exports = { f, g }\nfunction f() { return g() } async function* g() {}\nmodule.exports.f() + ''", "'[object AsyncGenerator]'"),
    ("let f = 1", "f()\nexport default function f() { return 6 }", "6"), ("let f = 1, g = 2", "f() + g()\nexport async function* g() {} export function f() { return 6 }", "'6[object AsyncGenerator]'"),
    ("let f = 1", "5\nfunction f() { return 2 }", "5"), ("let f = 1", "function f() { return 2 }", None), ("let f = 1", "#!/usr/bin/node\n'use strict'\nf()\nfunction f() { return this }", None),
    ("let f = 1", "f.name + f\nfunction f() { import('os') }", "\"ffunction f() { import('os') }\""), ("let f = 1", "let x = 2; f()\nfunction f() { return x }", "2"),
    ("let f = 1", "f()\nfunction f() { return 3 }\nfunction f() { return 4 }", "4"), ("let f = 1, x = 2", "var x = f()\nfunction f() { return 5 }\nx", "5")])
def test_a_function_whose_name_stands_is_there_before_its_place(session, first, code, value):
    values(session, first)
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("const y = 1\nfunction f() { return base }\n(async () => { y })()\nf()", "2"), ("const y = base\nfunction f() {}\n[1, 2].map((v) => v + y)", "[ 3, 4 ]"),
    ("const y = base\nfunction f() {}\n`a`", "'a'"), ("const y = base\nfunction f() {}\n+5", "5"), ("const y = base\nasync function f() {\n}\n/a/g", "/a/g")])
def test_a_function_whose_name_stands_ends_the_statement_before_it(session, code, value):
    values(session, "let f = 1, base = 2")
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, place", [
    ("\nf()\n  function f() { null.x }", "3:23)\n    at cell-2.js:2:1"), ("function f() { null.x }; f()", "1:21)\n    at cell-2.js:1:26"),
    ("'use strict'; function f() { nowhere = 1 }\nf()", "1:38)\n    at cell-2.js:2:1"), ("let x = 1; function f(\n) { null.x }; f()", "2:10)\n    at cell-2.js:2:15"),
    ("var f\n; function g() {\n}; function f() {\n null.x }; f()", "4:7)\n    at cell-2.js:4:12")])
def test_a_function_whose_name_stands_keeps_its_places(session, code, place):
    assert session.run("const f = none(), x = none(), g = 1").status == "error"  # so that f has no value
    assert f"    at f (cell-2.js:{place}" in session.run(code).done["traceback"]


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("let n = 0\nfunction f() { n++; f = () => 'second'; return 'first' }\nf() + ' ' + f()", "'first second'"),
    ("function f() { const v = 3; f = function () { return v }; return f() }\nf()", "3"), ("function f() { return f }\nconst g = f; f = 5; g()", "5"),
    ("'use strict'; function f() { f = 6 }\nf(); f", "6"), ("async function /* f */ f (f) { return f }\nf.name + f", "'fasync function /* f */ f (f) { return f }'")])
def test_the_name_of_a_function_is_a_variable_within_it(session, code, value):
    values(session, "let f = 1")
    assert values(session, code) == value


@pytest.mark.one_node
def test_a_function_whose_name_stood_calls_what_the_name_is_later(session):
    values(session, "let f = 1", "function f(n) { return n ? f(0) : 'old' }\nconst g = f; 0", "function f() { return 'new' }")
    assert values(session, "g(1)") == "'new'"


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("for (var i = 0, n = 2; i < n; i++) ;[i, n]", "[ 2, 2 ]"), ("for (var a of [5]);a", "5"), ("for (var [a, { i }] of [[5, { i: 6 }]]);\n[a, i]", "[ 5, 6 ]"),
    ("{ var a = 6 } a", "6"), ("{ var { a } = { a: 6 } } a", "6"), ("try { throw 1 } catch (e) { var a = e } a", "1"), ("switch (1) { case 1: var a = 13 } a", "13"),
    ("while (1) { var a = 15; break } a", "15"), ("if (1) var a = 11\na", "11"), ("if (1)\n  var a = 11\na", "11"), ("{ var a, n = 2 } n", "2"),
    ("{ var { a, n } = { a: 1, n: 2 } } n", "2"), ("if (1) var n = 1, a = 2; n + a", "3"), ("{ a = 7; var a } a", "7"), ("{ { var a = 3 } }\n[i, a]", "[ 3, 3 ]"), ("do {} while (0)\nvar a = 4, i = 5\na + i", "9"), ("lbl: var a = 12\na", "12"), ("if (0) ; else var a = 13\na", "13"),
    ("for await (var a of [5]) { var i = a } i", "5"), ("function g() { var a = 2 } { var i = () => { var a = 4 } } g(); i(); a", "1"),
    ("class A { m() { var a = 4 } static { var a = 5 } }; { var i } new A().m(); a", "1")])
def test_a_variable_of_a_block_may_stand_already(session, code, value):
    values(session, "let a = 1; const i = 3")
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("var i = 1\nvar i = 2\ni", "2"), ("var i = 1; var i = 2, v = 3; [i, v]", "[ 2, 3 ]"), ("var i\nfunction i() { return 'fn' }\ntypeof i", "'function'"),
    ("i = 7; var i; i", "7"), ("var { i, n } = { i: 1, n: 2 }; var [i, ...m] = [3, 4]; [i, n, m]", "[ 3, 2, [ 4 ] ]"), ("5; var i = 2", "5"),
    ("'use strict'; var i = 1, i = 2; i", "2"), ("var i = i || 5; i", "5"), ("var n, i; var i = () => n; i.name", "'i'"), ("var i = await 6; var i; i", "6"),
    ("var none = 1; for (var none = 2;;) { break } none", "2"), ("for (var i of [1]) {}\nvar i = 2\ni", "2")])
def test_a_variable_may_be_declared_more_than_once(session, code, value):
    session.run("let i = 0; var v = 1; let none = nothing()")
    assert values(session, code) == value


@pytest.mark.one_node
def test_a_function_is_declared_once(session):
    values(session, "let f = 0")
    for code in ("let f = 1; function f() {}", "function f() {}\nconst f = 1", "var f = 1; let f = 2"):
        assert session.run(code).done["evalue"] == "Identifier 'f' has already been declared"


@pytest.mark.one_node
@pytest.mark.parametrize("code", [
    "const w = 2, o = { catch(e) { var data = e; return data } }\no.catch(1)", "const w = 2, o = { a: 1, async if(e) { var data = e } }\no.if()",
    "const w = 2, o = { get for() { var data = 1 }, b: { while(e) { { var data = e } } } }\no.b.while()", "const w = 2, f = () => ({ *with() { for (var data of [1]); } })\n;[...f().with()]",
    "const w = 2, o = { switch: 1, await(e) { for (var data = 1; data < 2; data++); } }\no.await()", "const w = 2, o = { f: function (e) { var data = 1 } }\no.f()",
    "const w = 2; function f(e = Number(1))\n{ var data = 1 } f()", "const w = 2; [...function* f()\n{ var data = 1 }()]", "const w = 2; [...function*()\n{ var data = 1 }()]",
    "const w = 2, o = { 'a b'()\n{ var data = 1 }, [3]() { var data = 2 }, 4() { var data = 3 } }; o['a b'](o[3](o[4]()))",
    "const w = 2; class A { 'm'()\n{ var data = 1 } static async* n()\n{ var data = 2 } }; new A().m(); await A.n().next()"])
def test_a_variable_of_a_method_is_its_own(session, code):
    values(session, "let data = 'keep'; var w = 1")
    assert values(session, code, "data") == "'keep'"


@pytest.mark.one_node
@pytest.mark.parametrize("code", [
    "const w = 2; switch (1) { case 1: { if (w) { var data = 5 } } }", "const w = 2; label: { for (;;) { var data = 5; break label } }",
    "const w = 2; switch (1) { case 1: { try { throw 5 } catch (e) { var data = e } } }",
    "const w = 2; try { throw 5 } catch (e) { if (e) { var data = e } }", "const w = 2; for await (const i of [5]) { var data = i }",
    "Number(1)\n{ var data = 5 }", "(() => 1)()\n\n{ var data = 5 }", "do { w } while (0)\n{ var data = 5 }", "if (w) Number(1)\n{ for (var data of [5]); }",
    "2 * Number(1) // c\n{ var data = 5 }", "w.if?.(1)\n{ var data = 5 }"])
def test_a_variable_of_a_block_is_the_cells(session, code):
    values(session, "let data = 1; var w = 1")
    assert values(session, code, "data") == "5"


@pytest.mark.one_node
@pytest.mark.parametrize("line", [
    "const r = Promise.resolve(1).catch(() => 0)", "const s = Symbol.for('x')", "const r = o?.with(0)", "await (o)", "await o.switch(1)", "const q = { if(e) {} }.if(1)",
    "count++", "count--", "count++ / 2 / 1", "count\n++\ncount", "do count++\nwhile (count < 5)", "do { count++ } while (count < 5)",
    "do { while (0); } while (0)", "do while (0); while (0)", "count = 5.", "count = 5. / 2 / 1", "count = 0..toString()", "of = of / 2 / of", "count = of"])
@pytest.mark.parametrize("code, value", [("let data = 5\ndata", "5"), ("const { data } = { data: 8 }\ndata", "8"), ("var load = 3; load", "3"), ("function load() { return 7 }\nload()", "7")])
def test_a_declaration_may_follow_a_line_without_a_semicolon(shared, line, code, value):
    first, code = apart("var data = 1, of = 1; let load = 2, count = 3, o = [1]; o.switch = Number", f"{line}\n{code}")
    assert values(shared, first, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("class data { x = 4 }\nfunction load() { return new data().x }\nload()", "4"), ("class data { x = 4 }; { var load = 6 } load", "6"),
    ("if (true) {\nvar load = 5 };\n;[1, 2].map(String); load", "5"), ("{ { var load = 5 } }\nString(1, 2), load", "5")])
def test_what_stands_beside_a_declaration_is_left_alone(session, code, value):
    values(session, "var data = 1; let load = 2")
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("if (true) { var load = [1] }", None), ("'v'; { var load = 5 }", "'v'"), ("for (const x of [1, 2]) { var load = x }", None), ("if (true) var load = 5", None),
    ("'v'; { var load }", "'v'"), ("'v'; { var { load } = { load: 5 }, n = 2 }", "'v'"), ("var{load}={load:5}", None), ("var[load]=[5]", None)])
def test_a_variable_of_a_block_has_no_value(session, code, value):
    values(session, "let load = 2")
    assert session.run(code).value == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("const Hono = class Hono { x = 1 }; new Hono().x", "1"), ("var g = function g() { return 1 }.bind(null); g()", "1"), ("class Hono { x = 2 }\nnew Hono().x", "2"),
    ("var h = function h() { return 1 }, k = 2; h() + k", "3"), ("var h = async function h() { return 1 }(); h", "1"), ("var g = true && function g() { return 2 } || 3; g()", "2")])
def test_the_name_of_an_expression_may_stand_already(session, code, value):
    values(session, "function Hono() {}\nlet g = 1, h = 2")
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code", [
    "const c = 1; c = 2", "const c = 1\nc = 2", "const c = 1; c += 1", "const c = 1; c++", "const c = 1; --c",
    "const c = 1; function f() { c = 2 }\nf()", "const c = 1; if (c) { c = 2 }", "const c = 1, d = () => (c = 2); d()",
    "const {c} = {c: 1}; c = 2", "const [b, c] = [0, 1]; c = 2", "export const c = 1; `${c = 2}`", "const c = 'a'; c += 'b'", "const c = 1n; c += 1n"])
def test_a_constant_is_not_assigned_to(session, code):
    result = session.run(code)
    assert (result.status, result.done["ename"]) == ("error", "TypeError")
    assert result.done["evalue"] == "Assignment to constant variable."
    assert f"cell-1.js:{1 + code.count(chr(10)) * (not code.endswith('f()'))}" in result.done["traceback"]
    assert values(session, "c") in ("1", "'a'", "1n")


def test_the_place_of_an_assignment_to_a_constant_is_its_own(session):
    session.run("const constant = 1, c = 2; 0")
    assert "at cell-2.js:1:10\n" in session.run("constant = 2").done["traceback"]


@pytest.mark.one_node
@pytest.mark.parametrize("code", [
    "c /* a */ = 2", "c // a\n = 2", "-- c", "++\nc", "(c) = 2", "( c )++", "(c) /* a */ += 2", "for ({ c } of [{ c: 2 }]);", "for ([c] of [[2]]);", "for await ([x, c] of [[2, 3]]);",
    "c = 2", "c++", "[1].forEach((x) => { c = x })", "while ((c = 0)) {}", "[c] = [2]", "var x; [x, c = 5] = [2]", "var x; [x, ...c] = [2]",
    "({ c } = { c: 2 })", "var x; ({ x, y: c = 3 } = {})", "({ c = 4 } = {});", "if (true) { [c] = [2] }", "if (true) [ c ] = [2]",
    "function f() {}\n[c, f.x] = [2]", "function f() { ;[c] = [2] }\nf()", "({ ...c } = { c: 2 })", "var x; for ([x, c] = [1, 2];;) { break }"])
def test_a_constant_of_an_older_cell_is_not_assigned_to(shared, code):
    first, code, *later = apart("const c = 1; 0", code, "let c = 2; c++; c", "c = 7; c", "const c = 3", "var d = c; d++; d")
    values(shared, first)
    assert shared.run(code).done["evalue"] == "Assignment to constant variable."
    assert values(shared, *later[:2]) == "7"
    assert values(shared, *later[2:]) == "4"


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("n++\nrun()", "'ran'"), ("n--\nc", "7"), ("function add() {\n  n++\n  run()\n}\nadd(); calls", "1"), ("const m = n++\nrun()", "'ran'"),
    ("class A { #n = 1; m() { this.#n++\n run() } }\nnew A().m(); calls", "1"), ("for (let i = 0; i < 2; i++)\n  run()\ncalls", "2"), ("[n][0]++\nc", "7")])
def test_a_constant_behind_a_line_that_counts_is_itself(session, code, value):
    values(session, "const run = () => { calls++; return 'ran' }, c = 7; let n = 0; var calls = 0")
    assert values(session, code) == value


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("const f = (c) => { c = 2; return c }\nf(1)", "2"), ("const f = (c = 3) => c; f()", "3"), ("{ let c = 1; c = 5; c }", "5"),
    ("class A { c = 4 }\nnew A().c", "4"), ("function f({c = 6}) { c++; return c }\nf({})", "7"), ("const o = {c: 1}; o.c = 8; o.c", "8"),
    ("const f = c => { c = 9; return c }\nf()", "9"), ("for (let c = 0; c < 2; c++); 10", "10"), ("for (let i = 0, c = 5; i < 1; i++) { c = 11 }\n11", "11"),
    ("try { throw 1 } catch (c) { c = 12; c }", "12"), ("class B { static c = 13; m(c = 1) { c = 2 } }\nB.c", "13"),
    ("function g() { var x = 1, c = 2; c = 14; return c }\ng()", "14"), ("'c = 1 ' + /c=1/.source // c = 2", "'c = 1 c=1'"),
    ("{ let x = 1, [c] = [3]; c }", "3"), ("const f = ([c] = [3]) => c; f()", "3"), ("const f = (...c) => { c = 5; return c }; f()", "5"), ("const [b, ...d] = [1, 2], f = ([...c]) => { c = d; return c }; f([])", "[ 2 ]"), ("const f = ({ c } = { c: 3 }) => { c++; return c }; f()", "4"),
    ("function f([c] = [3]) /* c */ { return c }\nf()", "3"), ("class A { x = 1; [c] = 4 }\nnew A()[1]", "4"), ("const o = [0, 1]; o[c] = 5; o[1]", "5"),
    ("const o = [0, 1]; o\n[c] = [5]; o[1]", "[ 5 ]"), ("{ let { x: [c] = [3] } = {}; c }", "3"), ("var x; ({ c: x } = { c: 6 }); x", "6"),
    ("var x; [x = c, x] = [undefined, 7]; x", "7"), ("var x; ({ y: x = c ? 8 : c } = {}); x", "8"), ("({ c } == 1)", "false"), ("[c] == 1", "true"),
    ("const o = { m([c] = [3]) { return c } }; o.m()", "3"), ("const f = async ([c] = [3]) => c; await f()", "3"), ("[c].map((x) => x)", "[ 1 ]"),
    ("class A { static [c] = 4; m() {} [c] = 5 }\n[A[1], new A()[1]]", "[ 4, 5 ]"), ("for (const [c] = [3];;) { break } 3", "3"),
    ("function g() { let x = 1, [c] = [14]; return c }\ng()", "14"), ("function g() { var { c } = { c: 15 }; [c] = [16]; return c }\ng()", "16"),
    ("class A { #c = 4; m() { this.#c = 5; return this.#c } }\nnew A().m()", "5"),
    ("let x = 1; if (c) ++x; while (!c) --x; x", "2"), ("const f = (x) => x; let x = 1; f(c) + ++x", "3"), ("let x = 2\nx++\n(c)\nx", "3"), ("let x = 5; x -- - c", "4"),
    ("let x = 5; (c) + + x", "6"), ("for (const [c] of [[3]]); 3", "3"), ("c == 2 || c === 3 || c >= 4 || c <= -1", "false"), ("c ??= 4; c", "1"), ("let y = 2 * c; y", "2"), ("let y = 2 ** c; y", "2"), ("let { y = c } = {}; y", "1"), ("let { x, y: [z = c] } = { y: [] }; z", "1"), ("({ set c(c) { c = 1 } }).c = 5", "5")])
def test_what_only_looks_like_a_constant_is_assigned_to(shared, code, value):
    first, code, value, constant, assignment = apart("const c = 1; 0", code, value, "c", "c = 2")
    assert values(shared, first, code) == value
    assert values(shared, constant) == "1"
    assert shared.run(assignment).done["evalue"] == "Assignment to constant variable."


@pytest.mark.one_node
@pytest.mark.parametrize("head, tail", [("const x = '", "'"), ("const x = `", "`"), ("const x = 1 ", ""), ("const x = 1 // ", "")])
def test_a_cell_may_be_large(shared, head, tail):
    assert shared.run(f"{head}{(' ' if head[-1] == ' ' else 'a') * 8_000_000}{tail}").status == "ok"


@pytest.mark.one_node
@pytest.mark.parametrize("declaration", [
    "const b = 1, c = 2", "const b = 1,\n  c = 2;", "const b = (1, 2), c = () => b, d = 3", "const b = [1, 2]\n  , c = { d: 1, e: 2 }",
    "const f = (x, y) => x, c = function () {}, d = x => x, e = class {}", "const { u: [c] } = { u: [1] }", "const [b, c = 4] = [1]",
    "const { x, y: c = 1 } = {}", "const { c, y: z = { w: 3 } } = {}", "const { b = [1, 2], c } = {}", "const b = 1, { x: { c } } = { x: {} }",
    "const [[b], [, c]] = [[], []]", "const b = `${[1, 2]}`, c = /[,;]/"])
@pytest.mark.parametrize("code", ["c = 2", "c++", "[c] = [2]", "for (c of [2]);", "for (c in [2]) ;", "for await (c of [2]);"])
def test_each_name_of_a_declaration_is_a_constant(shared, declaration, code):
    values(shared, f"{declaration}\n0")
    assert shared.run(code).done["evalue"] == "Assignment to constant variable."
    shared.run("var b, c, d, e, f, x, z")


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("c = 1; B = 3", "3"), ("const x = 1\nc = 2, B = 3; B", "3"), ("const x = 1\n++c, B = 3; B", "3"), ("const x = 1\n!c, B = 3; B", "3"),
    ("const x = () => {\n}\nc = 2, B = 3; B", "3"), ("const x = 1; c = 2, B = 3; B", "3"), ("const { y: x = c ? c : B } = {}; B = 3", "3"),
    ("const { [B]: x } = {}; B = 3", "3"), ("const x = [c, B]; B = 3", "3"), ("const [x = [c, B]] = []; B = 3", "3"),
    ("const x = { c, B }; B = 3", "3"), ("const x = f => { let c, B }; B = 3", "3"), ("const x = (c, B) => { B = 3; return B }; x()", "3"),
    ("const x = 1, f = function (c, B) { B = 3; return B }; f()", "3"), ("const { x, ...y } = { x: B }; B = 3", "3"),
    ("const x = c in [], y = B; B = 3", "3")])
def test_only_names_of_the_declaration_are_constants(session, code, value):
    assert values(session, "var c = 1, B = 2; 0", code, "B = 4", code.replace("const", "let")) == value
    assert values(session, "B = 5") == "5"


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [("c &&= 2", None), ("c ||= 2", "1"), ("c ??= 2", "1"), ("zero ||= 2", None), ("zero &&= 2", "0"), ("none ??= 2", None),
                                         ("none ||= c", None), ("c === 1 && (zero ??= 2)", "0"), ("none &&= nowhere", "undefined"), ("c &&= (() => 3)()", None)])
def test_an_assignment_that_depends_on_the_constant(shared, code, value):
    values(shared, "const c = 1, zero = 0, none = undefined; 0")
    result = shared.run(f"[{code}]")
    if value is None:
        assert result.done["evalue"] == "Assignment to constant variable."
        assert f"at cell-{shared.ident}.js:1:" in result.done["traceback"]
    else:
        assert result.value == f"[ {value} ]"
    assert values(shared, "[c, zero, none]") == "[ 1, 0, undefined ]"


def test_the_value_is_made_before_an_assignment_to_a_constant_fails(session):
    values(session, "const c = 1n, seen = []; 0")
    for code in ("c += seen.push(1)", "c -= 1n", "c **= Symbol()", "c++", "--c"):
        assert session.run(code).done["evalue"] == "Assignment to constant variable."
    assert values(session, "seen") == "[ 1 ]"


@pytest.mark.one_node
@pytest.mark.parametrize("code", ["const none", "const none;", "const a = 1, none", "const a = 1, none;\n2", "const a = 1,\n  none, b = 2", "const none // = 1"])
def test_a_constant_without_a_value_is_an_error(shared, code):
    assert shared.run(code).done["evalue"] == "Missing initializer in const declaration"
    assert values(shared, "const a = 1; typeof none") == "'undefined'"


@pytest.mark.one_node
@pytest.mark.parametrize("code", ["const /* a */ x /* b */ = 1", "const // a\n x\n = 1", "const[x]=[1]", "const{x}={x:1}", "const x\n=1, y\n=2", "const x=1,[y]=[2]"])
def test_a_constant_with_a_value_is_one(session, code):
    values(session, "var x = 7")
    assert values(session, code, code, "x") == "1"


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("class A extends (class {}) { x = 5 }\nnew A()", "A { x: 5 }"), ("class C extends (() => class { n = 1 })() { static x = 5 }\nC.x", "5"),
    ("class D extends class { x = 4 } { n = 5 }\nnew D()", "D { x: 4, n: 5 }"), ("class E extends f({ x: class { n = 4 } }) { x = 5 }\nnew E()", "E { x: 5 }"),
    ("class F extends f(class {}) { [x] = 4; n = 5 }\nnew F()", "F { '1': 4, n: 5 }")])
def test_fields_of_a_class_that_extends_one_in_place_keep_their_names(shared, code, value):
    assert values(shared, "const x = 1, n = 3; function f() { return class {} } 0", code) == value


def test_functions_see_the_new_declaration(session):
    assert values(session, "let a=1; function f() { return a }", "const a=2", "f()") == "2"


@pytest.mark.each_case
@pytest.mark.parametrize("first", ["function f(){}", "var f=1", "let f=1", "const f=1", "class f{}",
                                   "async function f(){}", "let {f}={f:1}"])
@pytest.mark.parametrize("second, value", [
    ("const f=()=>1; f()", "1"), ("let f=2; f", "2"), ("var f=3; f", "3"), ("function f() { return 4 }\nf()", "4"),
    ("class f {}\ntypeof new f()", "'object'"), ("async function f() { return 5 }\nawait f()", "5"),
    ("function* f() { yield 6 }\n[...f()]", "[ 6 ]")])
def test_any_declaration_follows_any_other(shared, first, second, value):
    first, second, typeof = (re.sub(r"\bf\b", f"f{shared.ident}", code) for code in (first, second, "typeof f"))
    assert values(shared, first, second) == value
    assert values(shared, typeof) != "'undefined'"


def test_destructuring(session):
    assert values(session, "const {x,y}={x:1,y:2}; x+y") == "3"
    assert values(session, "const [p, {q = 4}, ...r] = [1, {}, 3, 4]; [p, q, r]") == "[ 1, 4, [ 3, 4 ] ]"


def test_the_same_name_twice_in_one_cell_is_an_error(session):
    result = session.run("let a=1\nlet a=2")
    assert result.status == "error" and "already been declared" in result.done["evalue"]


def test_a_declaration_whose_value_failed_can_be_made_again(session):
    assert session.run("const v = nothing()").status == "error"
    assert values(session, "const v = 1", "v") == "1"


def test_names_of_builtins_can_be_taken(session):
    assert values(session, "const process = 1, crypto = 2, fs = 3; [process, crypto, fs]") == "[ 1, 2, 3 ]"


def test_names_persist(session):
    assert values(session, "let x=41", "typeof x") == "'number'"


def test_a_call_may_span_lines(session):
    assert session.run("console.log(1 +\n2)").output == "3\n"


def test_what_a_cell_changed_is_told(session):
    session.run("let list = [1]; const text = 'ab'; function f() {} class C {}\nglobalThis.g = new Map()")
    done = session.run("list.push(2); g.set(1, 2); let other = 5").done
    assert sorted(done["names"].split("\n")) == ["g Map 1", "list Array 2", "other number"]
    assert "names" not in session.run("list.length").done
    assert session.run("delete globalThis.g").done["names"] == "-g"


def test_names_of_any_text_are_told_apart(session):
    done = session.run("for (const name of ['a b', '-q', 'n\\nl', 'back\\\\slash', '']) globalThis[name] = 1").done
    assert sorted(done["names"].split("\n")) == [" number", "\\-q number", "a\\sb number", "back\\\\slash number", "n\\nl number"]
    assert sorted(session.variables()) == ["", "-q", "a b", "back\\\\slash", "n\\nl"]
    assert session.run("delete globalThis['a b']; delete globalThis['-q']").done["names"] == "-a\\sb\n-\\-q"


def test_names_of_modules_are_not_told(session):
    assert "names" not in session.run("import fs from 'fs'; import * as p from 'path'; const os = require('os')").done


def test_looking_at_names_runs_nothing_of_the_users(session):
    session.run("""var calls = 0
const trap = new Proxy({}, { get() { calls++ }, getPrototypeOf() { calls++; return null },
  ownKeys() { calls++; return [] } })
const odd = { get constructor() { calls++ }, [Symbol.for('nodejs.util.inspect.custom')]() { calls++ } }
Object.defineProperty(globalThis, 'lazy', { get() { calls++ }, enumerable: true, configurable: true })""")
    names = session.variables()
    assert names["trap"][0] == "Proxy" and names["odd"][0] == "Object" and "lazy" not in names
    assert values(session, "calls") == "0"


def test_variables_have_type_shape_bytes_and_preview(session):
    session.run("let n = 1.5, s = 'tab\\t', list = [1, 2], o = {a: 1}, t = new Float64Array(3), deep = {a: {}}, f = () => 1")
    names = session.variables()
    assert names["n"] == ["number", "", "", "1.5"]
    assert names["s"] == ["string", "4", "4", "'tab\\\\t'"]
    assert names["list"] == ["Array", "2", "", "[ 1, 2 ]"]
    assert names["o"] == ["Object", "", "", "{ a: 1 }"]
    assert names["t"] == ["Float64Array", "3", "24", ""]
    assert names["deep"][3] == "" and names["f"] == ["function", "", "", ""]


# ---- modules ----


def test_static_imports_of_node(session):
    cell = 'import fs from "fs"; import {join as J, sep} from "path"; import * as p from "node:path"'
    assert values(session, cell, '[typeof fs.readFileSync, J("a", "b"), sep, p.sep]') == "[ 'function', 'a/b', '/', '/' ]"


def test_modules_of_the_workspace(session, tmp_path):
    (tmp_path / "m.mjs").write_text("export const z = 5; export default 6")
    (tmp_path / "c.js").write_text("module.exports = 8")
    (tmp_path / "data.json").write_text('{"n": 7}')
    package = tmp_path / "node_modules/pack"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "pack", "version": "1.2.3", "main": "i.js"}')
    (package / "i.js").write_text("exports.who = 'pack'")
    assert values(session, 'import d, {z} from "./m.mjs"\n[d, z]') == "[ 6, 5 ]"
    assert values(session, 'require("./c.js")') == "8"
    assert values(session, 'require("./data.json").n') == "7"
    assert values(session, 'require("pack").who') == "'pack'"
    assert values(session, 'import {who} from "pack"\nwho') == "'pack'"
    assert values(session, '(await import("./m.mjs")).z') == "5"
    assert values(session, 'import json from "./data.json" with { type: "json" }; json.n') == "7"


def test_a_module_that_has_changed_is_loaded_anew(session, tmp_path):
    for number in (1, 22):
        (tmp_path / "m.mjs").write_text(f"export const z = {number}")
        (tmp_path / "c.js").write_text(f"module.exports = {number}")
        assert values(session, 'import {z} from "./m.mjs"; [z, require("./c.js")]') == f"[ {number}, {number} ]"


@pytest.mark.each_case
@pytest.mark.parametrize("name, text", [
    ("h.js", "module.exports = { v: %d }"), ("h.cjs", "exports.v = %d"), ("j.json", '{ "v": %d }')])
def test_both_loaders_see_a_file_that_has_changed(session, tmp_path, name, text):
    attributes = " with { type: 'json' }" if name == "j.json" else ""
    imported = f"import h from './{name}'{attributes}\nh.v"
    required = f"require('./{name}').v"
    for number, code in enumerate([imported, imported, required, required, imported, required, imported]):
        (tmp_path / name).write_text(text % 10**number)
        assert [values(session, code) for code in (code, required, imported)] == [str(10**number)] * 3


@pytest.mark.each_case
@pytest.mark.parametrize("code", ["await import('./outer.mjs')", "import { b } from './outer.mjs'", "await import('./inner.mjs')"])
def test_a_module_that_does_not_compile_is_told_with_its_line(session, tmp_path, code):
    (tmp_path / "fine.mjs").write_text("export const c = 1")
    (tmp_path / "outer.mjs").write_text("import { c } from './fine.mjs'\nexport { a as b } from './inner.mjs'")
    (tmp_path / "inner.mjs").write_text("\n\nexport const a = ;\n")
    done = session.run(f"\n{code}").done
    assert (done["ename"], done["evalue"], done["line"]) == ("SyntaxError", "Unexpected token ';'", "2")
    assert f"{tmp_path}/inner.mjs:3\nexport const a = ;\n                 ^\n\nSyntaxError: Unexpected token ';'\n    at " in done["traceback"]
    assert "node:" not in done["traceback"]


@pytest.mark.each_case
@pytest.mark.parametrize("code", ["await import('./m.js')", "await import('./outer.mjs')"])
def test_a_module_by_its_text_alone_that_does_not_compile_is_told_with_its_line(session, tmp_path, code):
    by_its_text = values(session, "!!process.features.require_module") == "true"
    (tmp_path / "c.js").write_text("with ({}) {} // no module")
    (tmp_path / "outer.mjs").write_text("import './c.js'; import './m.js'")
    (tmp_path / "m.js").write_text("export const a = 1;\nlet b = ;\n")
    traceback = session.run(code).done["traceback"]
    if by_its_text:
        assert f"\n{tmp_path}/m.js:2\nlet b = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n    at " in traceback
    else:
        assert f"{tmp_path}/m.js:1\nexport const a = 1;\n^^^^^^\n\nSyntaxError: Unexpected token 'export'\n    at " in traceback


@pytest.mark.each_case
def test_a_failed_import_is_told_of_the_cell_that_repeats_it(session, tmp_path):
    (tmp_path / "m.mjs").write_text("export const n = ;")
    session.run("await import('./m.mjs')")
    done = session.run("let q = 1\nawait import('./m.mjs')").done
    assert done["line"] == "2" and "at cell-2.js:2:7" in done["traceback"]


@pytest.mark.each_case
@pytest.mark.parametrize("inner, outer, text, outer_text, load", [
    ("in.cjs", "out.cjs", "exports.v = %d", "exports.v = require('./in.cjs').v", "require('./%s').v"),
    ("in.mjs", "out.mjs", "export const v = %d", "export { v } from './in.mjs'", "(await import('./%s')).v"),
    ("in.cjs", "out.mjs", "exports.v = %d", "import { v } from './in.cjs'; export { v }", "(await import('./%s')).v")])
def test_a_file_that_another_has_loaded_is_loaded_anew_when_it_has_changed(session, tmp_path, inner, outer, text, outer_text, load):
    (tmp_path / inner).write_text(text % 1)
    (tmp_path / outer).write_text(outer_text)
    assert values(session, load % outer) == "1"
    (tmp_path / inner).write_text(text % 22)
    assert values(session, load % inner, load % inner) == "22"
    (tmp_path / inner).write_text(text % 333)
    assert values(session, load % outer, load % inner) == "333"
    (tmp_path / inner).write_text(text % 4444)
    (tmp_path / outer).write_text(f"{outer_text} // anew")
    assert values(session, load % outer, load % inner) == "4444"


def test_a_file_is_loaded_anew_when_one_has_changed_that_it_has_required(session, tmp_path):
    """As a script run anew: no two versions of a file stand side by side."""
    texts = {"sub.js": "exports.v = 1", "helper.js": "module.exports = require('./sub'); require('./main')", "main.js": "const h = require('./helper'); exports.get = () => h.v",
             "alone.js": "exports.n = Math.random()"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert values(session, "const { n } = require('./alone'); require('./main').get()") == "1"
    (tmp_path / "sub.js").write_text("exports.v = 22")
    assert values(session, "[require('./main').get(), require('./helper').v, require('./sub').v, require('./main').get()]") == "[ 22, 22, 22, 22 ]"
    assert values(session, "(await import('./main.js')).get() === 22 && require('./alone').n === n") == "true"
    (tmp_path / "sub.js").unlink()
    assert session.run("require('./main')").done["evalue"].startswith("Cannot find module './sub'")


@pytest.mark.each_case
def test_a_new_file_has_what_it_imports_as_it_is_now(session, tmp_path):
    (tmp_path / "m.mjs").write_text("export const n = 1")
    assert values(session, "import { n } from './m.mjs'; n") == "1"
    (tmp_path / "m.mjs").write_text("export const n = 22")
    (tmp_path / "x.mjs").write_text("import { n } from './m.mjs'\nexport const y = n * 2")
    assert values(session, "import { y } from './x.mjs'; y") == "44"


@pytest.mark.each_case
@pytest.mark.parametrize("wrong", ["export const n = ;", "throw new Error('m')", "export const n = await Promise.reject(new Error('m'))", None])
def test_a_file_whose_import_failed_is_loaded_when_that_is_corrected(session, tmp_path, wrong):
    texts = {"x.mjs": "import './kept.mjs'; export { n } from './m.mjs'", "kept.mjs": "globalThis.loads = (globalThis.loads ?? 0) + 1"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    if wrong is not None:
        (tmp_path / "m.mjs").write_text(wrong)
    for _ in range(2):
        assert session.run("import { n } from './x.mjs'").status == "error"
    (tmp_path / "m.mjs").write_text("export const n = 333")
    assert values(session, "import { n } from './x.mjs'; [n, loads]") == "[ 333, 1 ]"


@pytest.mark.each_case
def test_what_fails_for_want_of_something_else_is_loaded_once_that_is_there(session, tmp_path):
    (tmp_path / "m.mjs").write_text("if (!globalThis.there) throw new Error('not there'); import 'late'; export const n = 1")
    assert "late" in session.run("await import('./m.mjs')").done["evalue"]
    package = tmp_path / "node_modules/late"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "late", "main": "i.js"}')
    (package / "i.js").write_text("")
    assert session.run("await import('./m.mjs')").done["evalue"] == "not there"
    assert values(session, "globalThis.there = true; (await import('./m.mjs')).n") == "1"


@pytest.mark.each_case
def test_a_file_that_has_changed_is_loaded_anew_by_its_url(session, tmp_path):
    url = f"{tmp_path.as_uri()}/m.mjs"
    codes = [f"(await import('{url}')).n", f"(await import(new URL('{url}'))).n", f"(await import('{tmp_path}/m.mjs')).n", "(await import('./m.mjs')).n"]
    for number, code in enumerate(codes * 2):
        (tmp_path / "m.mjs").write_text(f"export const n = {10**number}")
        assert values(session, *codes, code) == str(10**number)


@pytest.mark.each_case
@pytest.mark.parametrize("inner, outer, text, load", [
    ("in.mjs", "exports.get = async () => (await import('./in.mjs')).n", "export const n = %d", "require('./out.cjs')"),
    ("in.cjs", "exports.get = () => require('./in.cjs').n", "exports.n = %d", "require('./out.cjs')"),
    ("in.mjs", "export const get = async () => (await import('./in.mjs')).n", "export const n = %d", "await import('./out.mjs')")])
def test_a_function_of_a_file_loads_what_has_changed(session, tmp_path, inner, outer, text, load):
    (tmp_path / load.split("'")[1]).write_text(outer)
    session.run(f"const {{ get }} = {load}")
    for number in (1, 22, 333):
        (tmp_path / inner).write_text(text % number)
        assert values(session, "await get()", "await get()") == str(number)


@pytest.mark.each_case
def test_a_query_of_the_codes_own_is_the_urls(session, tmp_path):
    (tmp_path / "m q.mjs").write_text("export const url = import.meta.url")
    assert values(session, "(await import('./m q.mjs?a=1')).url") == f"'{tmp_path.as_uri()}/m%20q.mjs?a=1'"
    assert values(session, "(await import('./m%20q.mjs')).url") == f"'{tmp_path.as_uri()}/m%20q.mjs'"


@pytest.mark.each_case
@pytest.mark.parametrize("name", ["m.mjs", "m.js"])
def test_an_es_module_that_has_changed_is_required_anew(session, tmp_path, name):
    if values(session, "!!process.features.require_module") != "true":
        (tmp_path / name).write_text("export const n = 1")
        assert session.run(f"require('./{name}')").done["ename"] == ("Error" if name == "m.mjs" else "SyntaxError")
        return
    (tmp_path / "x.mjs").write_text(f"export {{ n }} from './{name}'")
    for number in (1, 22, 333):
        (tmp_path / name).write_text(f"export const n = {number}")
        assert values(session, f"[require('./{name}').n, (await import('./{name}')).n, require('./x.mjs').n]") == f"[ {number}, {number}, {number} ]"
        assert session.run(f"require('./{name}') === require('./{name}')").value == "true"
    (tmp_path / name).write_text("export const n = 1; throw new Error('m')")
    assert session.run("require('./x.mjs')").done["evalue"] == "m"
    (tmp_path / name).write_text("export const n = 4444")
    assert values(session, "require('./x.mjs').n") == "4444"


@pytest.mark.each_case
def test_a_module_that_has_not_changed_keeps_its_state(session, tmp_path):
    texts = {"state.mjs": "export const made = {}; export let n = 0", "user.mjs": "export { made } from './state.mjs'; export const n = 1"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    session.run("import { made } from './state.mjs'; made.of = 'cell'")
    (tmp_path / "user.mjs").write_text(texts["user.mjs"] + "1")
    assert values(session, "import { made as m, n } from './user.mjs'; [m === made, m, n]") == "[ true, { of: 'cell' }, 11 ]"


def test_a_node_that_cannot_load_a_module_anew_is_told_of(start, tmp_path):
    session = start(broken=("[[Scopes]]", "[[Nothing]]"))
    (tmp_path / "x.mjs").write_text("export { n } from './m.mjs'")
    for number, shown in ((1, "[ 1, 1 ]"), (22, "[ 1, 22 ]")):
        (tmp_path / "m.mjs").write_text(f"export const n = {number}")
        (tmp_path / "c.cjs").write_text(f"exports.n = {number}")
        cell = session.run("import { n } from './x.mjs'; [n, require('./c.cjs').n]")
        assert cell.value == shown
    assert cell.output.startswith("[m.mjs has changed, but this Node keeps what an import has loaded: ")
    assert "c.cjs" not in cell.output


def test_a_folder_that_is_gone_is_not_found(session, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/index.js").write_text("exports.n = 1")
    assert values(session, "require('./lib').n") == "1"
    (tmp_path / "lib").rename(tmp_path / "lib2")
    assert session.run("require('./lib')").done["evalue"].startswith("Cannot find module './lib'")


def test_a_relative_name_is_one_of_the_current_folder(session, tmp_path):
    for folder in (tmp_path, tmp_path / "lib"):
        folder.mkdir(exist_ok=True)
        (folder / "x.cjs").write_text(f"module.exports = '{folder.name}'")
    (tmp_path / "lib/only.cjs").write_text("module.exports = 'only'")
    assert values(session, "process.chdir('lib')", "[require('./x.cjs'), require('../x.cjs'), require('./only.cjs')]") == f"[ 'lib', '{tmp_path.name}', 'only' ]"
    assert values(session, "[(await import('./x.cjs')).default, (await import('../x.cjs')).default]") == f"[ 'lib', '{tmp_path.name}' ]"
    assert values(session, "require.resolve('./x.cjs')") == f"'{tmp_path}/lib/x.cjs'"
    assert session.run("process.chdir('..'); require('./only.cjs')").done["evalue"].startswith("Cannot find module './only.cjs'")
    assert values(session, "process.cwd = () => { throw 1 }; require('./x.cjs')") == f"'{tmp_path.name}'"


COUNTER = "export let x = 1; export function inc() { x++ }; export default 7; export { x as y }"


@pytest.fixture
def counter(session, tmp_path):
    """A session with a module whose exports change."""
    (tmp_path / "m.mjs").write_text(COUNTER)
    return session


@pytest.mark.each_case
@pytest.mark.parametrize("statement, name", [
    ("import { x, inc } from './m.mjs'", "x"), ("import { x as z, inc } from './m.mjs'", "z"),
    ("import seven, { y, inc } from './m.mjs'", "y"), ("import { inc } from './m.mjs'; import { x } from './m.mjs'", "x"),
    ("import * as all from './m.mjs'; const { inc } = all", "all.x")])
def test_an_imported_name_has_the_value_that_its_module_has(counter, statement, name):
    assert values(counter, f"{statement}; inc(); {name}") == "2"
    assert values(counter, f"inc(); {name}") == "3"
    assert values(counter, f"function read() {{ return {name} }} 0", "inc(); read()") == "4"


def test_changes_of_imported_names_are_told(counter):
    assert sorted(counter.run("import { x, inc } from './m.mjs'; import seven from './m.mjs'").done["names"].split("\n")) == [
        "inc function", "seven number", "x number"]
    assert counter.run("inc()").done["names"] == "x number"
    assert counter.variables()["x"] == ["number", "", "", "2"]


@pytest.mark.one_node
@pytest.mark.parametrize("first", ["var x = 5", "let x = 5", "const x = 5", "function x() {}", "class x {}", "globalThis.x = 5",
                                   "import { y as x } from './m.mjs'", "import x from './m.mjs'", "nowhere; import { x } from './m.mjs'"])
@pytest.mark.parametrize("statement, value", [
    ("import { x } from './m.mjs'", "1"), ("import x from './m.mjs'", "7"), ("import * as x from './m.mjs'", "1"),
    ("import x, * as z from './m.mjs'", "7"), ("import z, { x } from './m.mjs'", "1"), ("import { x, y } from './m.mjs'", "1"),
    ("var x = 8", "8"), ("let x = 8", "8"), ("const x = 8", "8"), ("x = 8", "8"), ("function x() {}; x.x = 8", "8"),
    ("class x { static x = 8 }", "8")])
def test_an_import_stands_beside_any_declaration(shared, first, statement, value):
    constant = first.startswith(("const", "import")) and statement == "x = 8"
    file, module, first, look, statement, last = apart("m.mjs", COUNTER, first, "x.x ?? x", statement, "let x = 9; x")
    (shared.folder / file).write_text(module)
    shared.run(first)
    before = shared.run(look).value
    assert shared.run(statement).status == ("error" if constant else "ok")
    assert values(shared, look) == (before if constant else value)
    assert values(shared, last) == "9"


@pytest.mark.one_node
@pytest.mark.parametrize("code", ["x = 8", "x++", "[x] = [8]", "d ||= 8; d &&= 8", "d += 1", "all = 8", "for (all of [8]);", "z = 8",
                                  "import { x as q } from './m.mjs'; q = 8", "function f() { z = 8 }\nf()"])
def test_an_imported_name_is_not_assigned_to(counter, code):
    """As in a module."""
    counter.run("import d, { x, y as z, inc } from './m.mjs'; import * as all from './m.mjs'")
    assert counter.run(code).done["evalue"] == "Assignment to constant variable."
    assert values(counter, "const g = (x, d = 1) => { x = d; d++; return x }\n[x, d, all.x, g()]") == "[ 1, 7, 1, 1 ]"
    assert values(counter, "inc(); x") == "2"
    assert values(counter, "var x = 5; let d = 6, all = 7; x++; d++; all++; [x, d, all]", "x = 1; d = 2; all = 3; [x, d, all]") == "[ 1, 2, 3 ]"


def test_a_name_that_an_import_did_not_get_is_assigned_to(counter):
    counter.run("import { none } from './m.mjs'")
    assert values(counter, "none = 8; none") == "8"


def test_an_import_after_globals_are_frozen(counter):
    assert values(counter, "Object.freeze(globalThis); 0", "import { x } from './m.mjs'; x") == "1"


def test_what_an_import_did_not_get_is_not_there(counter):
    for code in ("import { x } from './none.mjs'", "import { x, none } from './m.mjs'", "import { x } from './m.mjs'; let 1"):
        assert counter.run(code).status == "error"
        assert values(counter, "typeof x") == "'undefined'"
    assert "Cannot access 'x' before initialization" in counter.run("x; import { x } from './m.mjs'").done["evalue"]
    assert "has already been declared" in counter.run("let x = 1; import { x } from './m.mjs'").done["evalue"]


@pytest.mark.each_case
@pytest.mark.parametrize("statement", ["import x from 'nosuch'", "import { x } from 'nosuch'", "import * as x from 'nosuch'", "import 'nosuch'",
                                       "import { nosuch } from 'fs'", "import fs, {\n  nosuch } from 'fs'"])
def test_an_import_that_fails_has_its_own_place(shared, statement):
    done = shared.run(f"1; {statement}").done
    assert done["traceback"].startswith(f"cell-{shared.ident}.js:1\n1; {statement.partition(chr(10))[0]}\n   ^\n")
    assert f"    at cell-{shared.ident}.js:1:4" in done["traceback"]


def test_an_import_has_no_value(counter):
    for code in ("import './m.mjs'", "import {} from './m.mjs'", "import { x } from './m.mjs'", "import d from './m.mjs'"):
        assert counter.run(code).value is None


def test_an_import_of_a_name_that_is_not_there_is_an_error(session):
    result = session.run('import {nothing} from "fs"')
    assert result.status == "error" and "does not provide an export named 'nothing'" in result.done["evalue"]


def test_errors_that_a_cell_made_are_told_apart(shared):
    for code in ("throw new Error('EFBIG')", "function f() { throw new TypeError('ENOSPC') }; f()", "throw 'EMFILE'", "await Promise.reject(new Error('EFBIG'))"):
        assert shared.run(code).done.get("raised") == "1", code
    for code in ("require('fs').readFileSync('/nowhere')", "await require('fs/promises').readFile('/nowhere')", "new Array(-1)", "JSON.parse('{')",
                 "Buffer.alloc(-1)", "1 +", "try { require('fs').readFileSync('/nowhere') } catch (e) { throw e }"):
        assert "raised" not in shared.run(code).done, code


@pytest.mark.each_case
@pytest.mark.parametrize("code", ["import _ from 'nowhere-1'", "require('nowhere-1')", "await import('nowhere-1')",
                                  "require('nowhere-1/part')"])
def test_a_missing_package_is_named(shared, code):
    assert shared.run(code).done["missing"] == "nowhere-1"


@pytest.mark.parametrize("code", ["require('pack/package.json')", "await import('pack/none.js')", "require('@own/pack/none')"])
def test_a_package_that_lacks_a_file_is_not_missing(session, tmp_path, code):
    for name in ("pack", "@own/pack"):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
    result = session.run(code)
    assert result.status == "error" and "missing" not in result.done


@pytest.mark.one_node
@pytest.mark.parametrize("code, value", [
    ("class A { import(x) { return x } static import(x) { return -x } }\n[new A().import(1), A.import(2)]", "[ 1, -2 ]"),
    ("Object.keys({ import(a) {} })", "[ 'import' ]"), ("Object.keys({ a: 1, async import(a) {}, b() {} })", "[ 'a', 'import', 'b' ]"),
    ("class A { async *import() {} async import2() {} get import() { return 4 } }\nnew A().import", "4"),
    ("class A { #import(x) { return x } m() { return this.#import(5) } }\nnew A().m()", "5"), ("({ import /* a */ (a = (1)) /* b */ { return a } }).import()", "1"),
    ("class A { x = 1; import(a) { return import('os') } }\ntypeof (await new A().import()).tmpdir", "'function'"),
    ("{ import('os')\n{ 6 } }", "6"), ("typeof ({ ...await import('os') }).tmpdir", "'function'"), ("({ ...import.meta }).dirname === __dirname", "true")])
def test_a_method_may_be_called_import(shared, code, value):
    assert values(shared, code) == value


@pytest.mark.each_case
@pytest.mark.parametrize("code", ["async () => await import('os')", "() => import.meta", "function f() { return import('os') }", "class A { m() { import('os') } }"])
def test_the_text_of_a_function_is_as_written(shared, code):
    assert values(shared, f"({code}).toString() === {code!r} && `${{{code}}}` === {code!r} && Function.prototype.toString.call({code}) === {code!r}") == "true"
    assert values(shared, "`${Function.prototype.toString}`") == "'function () { [native code] }'"
    assert "impo" in shared.run("import('fs').none()").done["evalue"] and "\u00f8" not in shared.run("import('fs').none()").done["traceback"]


def test_an_import_within_text_that_is_run_is_explained(shared):
    for code in ("eval(\"import('os')\")", "new Function(\"return import('os')\")()", "require('vm').runInThisContext(\"import('os')\")"):
        assert "write the import() into the cell" in shared.run(code).done["traceback"]


def test_idioms_of_script_files(session, tmp_path):
    assert values(session, "__dirname") == f"'{tmp_path}'"
    assert values(session, "require.main === module") == "true"
    assert values(session, "import.meta.dirname") == f"'{tmp_path}'"
    assert values(session, "export const e = 1; export default function g() { return 2 }", "[e, g()]") == "[ 1, 2 ]"
    assert values(session, "#!/usr/bin/env node\n5") == "5"


@pytest.mark.parametrize("code, value", [
    ("const a = 1\nexport { a, a as b };\na", "1"), ("let a = 2\nexport {\n a }\nvar b = a; b", "2"), ("export { }", None), ("export default 5", "5"),
    ("let a = 3\nexport default a", "3"), ("export default { a: 4 };", "{ a: 4 }"), ("export default () => 5", "[Function (anonymous)]"),
    ("export default async () => { await 1 }", "[AsyncFunction (anonymous)]"), ("export default [6]", "[ 6 ]"), ("export default/a/g", "/a/g"),
    ("export default class {}", "[class (anonymous)]"), ("export default function () {}", "[Function (anonymous)]"),
    ("export default class K {}\nK.name", "'K'"), ("export default function* g() {}\ng.name", "'g'"), ("export default async function f() {}\nf.name", "'f'")])
def test_what_a_script_file_exports_stays_in_the_session(session, code, value):
    result = session.run(code)
    assert (result.status, result.value) == ("ok", value)
    column = 0 if session.ready["version"].startswith("18.") else 15  # V8 gave the expression's beginning there
    assert session.run("\nexport default nowhere").done["traceback"].startswith(f"cell-2.js:2\nexport default nowhere\n{' ' * column}^\n")


@pytest.mark.parametrize("code", ["await import('./none.mjs')", "import x from './none.mjs'", "import('nowhere-1')"])
def test_a_module_that_is_not_there_is_told_with_the_cells_line(session, code):
    """Node names its own [eval], and ten lines of how it looked for it."""
    result = session.run(f"1\n{code}").done
    cell = f"cell-{session.ident}.js"
    assert result["traceback"].startswith(f"{cell}:2\n{code}\n") and result["line"] == "2"
    assert f" imported from {cell}\n    at {cell}:2:" in result["traceback"]
    assert "node:internal" not in result["traceback"] and "[eval]" not in result["evalue"]
    assert "ERR_MODULE_NOT_FOUND" in result["traceback"]
    caught = session.run("await import('./none.mjs').catch((e) => [e.code, e.message.split(' ').pop()])").value
    assert caught == f"[ 'ERR_MODULE_NOT_FOUND', 'cell-{session.ident}.js' ]"


@pytest.mark.one_node
@pytest.mark.parametrize("code", ['"import(x) const y"', "`import(x) ${'const'} import z from 'q'`", "/import\\(x\\)/.source",
                                  "let r = 6 / 2; r / 3 // import(\n", "`${`${'import('}`}`", "({import: 1}).import"])
def test_only_code_is_rewritten(shared, code):
    assert shared.run(code).status == "ok", code
    assert "\u00f8" not in shared.run(code).value


# ---- values ----


@pytest.mark.parametrize("code, value", [
    ("1+1", "2"), ("undefined", None), ("null", "null"), ("-0", "-0"), ("10n", "10n"), ("'a'", "'a'"),
    ("Symbol('x')", "Symbol(x)"), ("{a: 1}", "{ a: 1 }"), ("{let q = 1; q}", "1"), ("new Map([[1, 2]])", "Map(1) { 1 => 2 }"),
    ("let v = 1", None), ("[1, 2];", "[ 1, 2 ]"), ("async () => 1", "[AsyncFunction (anonymous)]"),
    ("({a: {b: {c: {d: {e: {f: 1}}}}}})", "{\n  a: {\n    b: { c: { d: { e: [Object] } } }\n  }\n}")])
def test_the_last_value_is_shown(shared, code, value):
    assert shared.run(code).value == value


def test_large_values_are_cut(session):
    cut = session.run("'x'.repeat(1e7)").value
    assert cut.startswith("'xxx") and cut.endswith(" characters left out: console.log shows all]")
    assert len(cut) == 10**6 + len(cut[cut.rindex("\n"):])
    assert "100 more items" in session.run("new Array(300).fill(0)").value
    assert len(session.run("Array.from({length: 1e5}, (_, i) => 'item' + i)").value) < 1.1e6


def test_the_codes_own_options_hold_for_values(session):
    session.run("const { inspect } = require('util'); inspect.defaultOptions.maxArrayLength = null; inspect.defaultOptions.depth = 0")
    assert "more item" not in session.run("new Array(300).fill(0)").value
    assert session.run("({ a: {} , b: [[]] })").value == "{ a: {}, b: [Array] }"
    session.run("inspect.defaultOptions = { maxArrayLength: 100, depth: 2 }")
    assert "100 more items" in session.run("new Array(300).fill(0)").value


def test_what_nobody_asked_for_is_not_shown(session):
    for code in ("process.stdout.write('x')", "setTimeout(() => {}, 1);",
                 "require('http').createServer().listen(0).unref();"):
        assert session.run(code).value is None


def test_await_and_the_value_after_it(session):
    assert values(session, "await new Promise(r => setTimeout(r, 20)); 7") == "7"
    assert values(session, "const v = await Promise.resolve(3)", "v") == "3"
    assert values(session, "let sum = 0; for await (const n of (async function* () { yield 1; yield 2 })()) sum += n\nsum") == "3"


def test_a_promise_as_last_value_is_awaited(session):
    code = "async function main() { await new Promise(r => setTimeout(r, 20)); console.log('ran'); return 4 }\nmain();"
    result = session.run(code)
    assert result.output == "ran\n" and result.value == "4"
    failed = session.run("(async () => { await 1; throw new Error('late') })()")
    assert failed.status == "error" and failed.done["evalue"] == "late"


# ---- errors ----


def test_an_error_has_the_cells_place_and_no_frames_of_ours(session):
    for _ in range(6):
        session.run("1")
    done = session.run("let a = 1\n\n  missing(a)").done
    trace = done["traceback"]
    assert trace == ("cell-7.js:3\n  missing(a)\n  ^\nReferenceError: missing is not defined\n"
                     "    at cell-7.js:3:3\n")
    assert done["ename"] == "ReferenceError" and done["line"] == "3"


@pytest.mark.one_node
@pytest.mark.parametrize("code, line, column", [
    ("import { strict as assert } from 'node:assert'; assert.equal(1, 2)", 1, 56), ("import { strict as assert } from 'node:assert'; (+", 1, 51),
    ("import {\n  strict as assert,\n} from 'node:assert'; nowhere", 3, 23), ("let b = 5, a = 6; nowhere", 1, 19), ("var x; f();\n  function f() { nowhere }", 2, 18),
    ("\n\nf()\nfunction f() { nowhere }", 4, 16), ("const d = import('os'); import e from 'fs'; import g from 'os'; nowhere", 1, 65),
    ("[c ||= 5, nowhere]", 1, 11), ("nowhere; import { join } from 'path'", 1, 1)])
def test_a_place_is_that_of_the_cells_text(shared, code, line, column):
    shared.run("let a = 1, f = 2; var b = 2; const c = 1; 0")
    assert re.search(r"^ *\^$", shared.run(code).done["traceback"], re.MULTILINE).group().index("^") == column - 1
    shared.run("var assert, d, e, g, join, x; delete globalThis.join")


@pytest.mark.each_case
@pytest.mark.parametrize("code", [
    "function f() { null.x }\nf()", "await Promise.reject(new Error('e'))", "JSON.parse('{')",
    "async function f() { await 1; throw new TypeError('e') }\nawait f()",
    "await new Promise((_, no) => setTimeout(() => no(new Error('e')), 1))", "eval('1 +')",
    "const e = new Error('e', {cause: new Error('why')}); throw e", "[1].map(() => { throw new Error('e') })",
    "import('./none.mjs')", "new (class A { constructor() { throw new RangeError('e') } })()"])
def test_no_frame_is_ours(shared, code):
    result = shared.run(code)
    assert result.status == "error"
    for word in ("ptycell", "Session.post", "node:inspector", "setImmediate"):
        assert word not in result.done["traceback"]


OURS = re.compile("ptycell|Session.post|node:inspector|runInThisContext")


@pytest.mark.each_case
@pytest.mark.parametrize("code", [
    "try { null.x } catch (e) { console.error(e); console.log(e.stack) }", "console.trace('here')",
    "console.log(new Error('e', {cause: new TypeError('why')}))", "console.log([{deep: new Error('e')}])",
    "setImmediate(() => console.log(new Error('e'))); await new Promise(r => setTimeout(r, 5))",
    "const o = {}; Error.captureStackTrace(o); console.log(o.stack)",
    "display({get [Symbol.for('Jupyter.display')]() { console.log(new Error('e')); return undefined }})"])
def test_no_stack_that_is_printed_has_our_frames(shared, code):
    output = shared.run(code).output
    assert "cell-" in output and not OURS.search(output)


def test_an_error_as_value_has_no_frame_of_ours(session):
    assert session.run("new Error('e')").value == "Error: e\n    at cell-1.js:1:1"


def test_fields_and_cause_of_an_uncaught_error_are_whole(session):
    trace = session.run("require('fs').readFileSync('/no/such')").done["traceback"]
    assert re.search(r":1:15 \{\n  errno: -2,\n(?:  .*\n)+\}\n$", trace)
    trace = session.run("function f() { throw new Error('e', {cause: new TypeError('why')}) }\nf()").done["traceback"]
    assert re.search(r"cell-2.js:2:1 \{\n  \[cause\]: TypeError: why\n(?:      at .*\n)+\}\n$", trace)


def test_code_may_format_stacks_itself(session):
    session.run("const before = Error.prepareStackTrace; Error.prepareStackTrace = (e, trace) => trace.length > 0")
    assert session.run("new Error('e').stack").value == "true"
    session.run("Error.prepareStackTrace = before")
    assert session.run("new Error('e').stack").value == "'Error: e\\n    at cell-4.js:1:1'"


def test_a_promise_that_nothing_can_settle_is_told(session):
    session.start("new Promise(() => {})")
    while b"last value" not in session.output:
        session.drain()
    session.interrupt()
    assert session.finish().status == "interrupted"
    session.start("await new Promise(() => {})")
    session.read_until("awaits a promise; nothing seems left to settle it")
    session.interrupt()
    assert session.finish().status == "interrupted"
    assert session.run("new Promise(r => setTimeout(r, 1500, 5))").output == ""
    assert session.run("await new Promise(r => setTimeout(r, 1500, 5))").output == ""
    hash_long = "const t = Date.now(); do { await util.promisify(crypto.pbkdf2)('a', 'b', 1e6, 64, 'sha512') } while (Date.now() - t < 1500)"
    assert session.run(f"const crypto = require('crypto'), util = require('util'); {hash_long}").output == ""


@pytest.mark.each_case
@pytest.mark.parametrize("thrown, text", [
    ("new Proxy({}, { has() { throw 1 } })", "Uncaught {}"), ("new Proxy(new Error('pe'), { has() { throw 1 } })", "Error: pe"),
    ("(() => { const made = Proxy.revocable({}, {}); made.revoke(); return made.proxy })()", "Uncaught <Revoked Proxy>")])
def test_an_error_that_cannot_be_looked_at_is_shown(shared, thrown, text):
    result = shared.run(f"throw {thrown}")
    assert result.status == "error" and text in result.done["traceback"]


@pytest.mark.parametrize("code", ["let NaN = 3", "const Infinity = 5; Infinity", "let undefined = 4", "class NaN {}"])
def test_a_name_that_cannot_be_changed_is_not_declared_anew(shared, code):
    assert "has already been declared" in shared.run(code).done["evalue"]


# Functions of V8's that each cell replaces by one that throws, and puts back; but for those that Node itself calls by name between cells.
REPLACED = """globalThis.all = { __proto__: null, list: [], at: 0, replace: Reflect.defineProperty, next() {
  const { object, name, own } = all.list[all.at]
  const thrown = () => { throw new Error('replaced') }
  all.replace(object, name, { __proto__: null, ...('value' in own ? { value: thrown } : { get: thrown }), configurable: true })
}, restore() { const { object, name, own } = all.list[all.at++]; all.replace(object, name, own) } }
for (const of of [Object, Function, Array, String, RegExp, Promise, Map, Set, WeakMap, Symbol, Number, BigInt, Error, Date, JSON, Math, Reflect, Atomics, Buffer])
  for (const object of of.prototype ? [of, of.prototype] : [of])
    for (const name of Reflect.ownKeys(object)) {
      const own = { __proto__: null, ...Reflect.getOwnPropertyDescriptor(object, name) }
      if (own.configurable && (own.get || typeof own.value === 'function') && name !== 'constructor' &&
          !(object === Array.prototype && name === 'pop') && !(name === 'then' && process.version < 'v20') && name !== Symbol.species && name !== 'prepareStackTrace') all.list.push({ object, name, own })
    }
for (const name of ['connect', 'disconnect', 'post']) {
  const object = require('inspector').Session.prototype
  all.list.push({ object, name, own: Reflect.getOwnPropertyDescriptor(object, name) })
}
all.list.length"""


def test_any_function_of_v8s_may_be_replaced(session):
    for at in range(int(session.run(REPLACED).value)):
        value = session.run("all.next(); process.stdout.write('out\\n'); [1, { a: 'é' }]")
        error = session.run("let x = await 3;\nnowhere(x)")
        last = session.run("all.restore(); all.at")
        assert (value.value, value.output, last.value) == ("[ 1, { a: 'é' } ]", "out\n", f"{at + 1}"), session.run(f"all.list[{at}]").value
        assert (error.done["ename"], error.done["line"]) == ("ReferenceError", "2"), session.run(f"all.list[{at}]").value


@pytest.mark.each_case
@pytest.mark.parametrize("name", ["own", "bound", "method", "toJSON", "params", "statement", "text", "type", "interrupted", "stack", "bigint", "timeout",
                                  "stripTypeScriptTypes", "enumerable", "get", "value", "signal", "encoding", "result", "exceptionDetails"])
@pytest.mark.parametrize("how", ["value: true", "value: { code: 1 }", "set() { throw new Error('set') }, get() { throw new Error('get') }"])
def test_all_objects_may_have_any_property(shared, name, how):
    shared.run(f"Object.defineProperty(Object.prototype, '{name}', {{ __proto__: null, {how}, configurable: true }}); 1")
    results = [shared.run(code) for code in ("5", "import { join } from 'path'; typeof join", "const c = 1; c + await 2", "\nnowhere", "nope(", "c = 2")]
    shared.run(f"delete Object.prototype.{name}; var c, join")
    assert [result.value for result in results[:3]] == ["5", "'function'", "3"]
    assert [result.done["ename"] for result in results[3:]] == ["ReferenceError", "SyntaxError", "TypeError"]


@pytest.mark.parametrize("code, text", [("Object.prototype.error = {}; 5", "Object.prototype.error hides V8's answer, and is deleted"),
                                        ("Object.prototype.then = function () {}; 5", "Object.prototype.then hides V8's answer, and is deleted"),
                                        ("Object.prototype.then = (r) => r('mine'); 5", "Object.prototype.then hides V8's answer, and is deleted"),
                                        ("Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } }); 5", "what it answers cannot be told: Inspector error")])
def test_an_answer_of_v8s_that_the_code_spoils_is_told(start, code, text):
    session = start()
    session.run("1")
    session.await_guard()
    result = session.run(code)
    assert (result.status, result.done["ename"]) == ("error", "NoAnswerError") and text in result.done["traceback"]
    last = session.run("Promise, 6")
    assert last.value == "6" if "deleted" in text else last.done["ename"] == "NoAnswerError"
    assert session.run("console.log('goes on')").output.startswith("goes on\n")


@pytest.mark.parametrize("code", [
    "require('child_process').exec('true', () => {})", "setTimeout(() => {}, 1)", "require('fs').createReadStream('/dev/null')",
    "require('net').createServer()"])
def test_a_handle_as_value_is_one_line(shared, code):
    value = shared.run(code).value
    assert value.startswith("[") and len(value) < 60 and "\n" not in value


def test_a_handle_within_a_value_is_its_name(shared):
    shared.run("var { spawn } = require('child_process'), server = require('net').createServer(); server.a = 'a'.repeat(300)")
    assert shared.run("({ server, list: [process.stdin], m: new Map([[server, 1]]) })").value == (
        "{ server: [Server], list: [ [ReadStream] ], m: Map(1) { [Server] => 1 } }")
    assert shared.run("var child = spawn('true'); ({ child, own: process })").value.startswith("{ child: [ChildProcess, process ")
    assert "server: [Server]" in shared.run("throw Object.assign(new Error('e'), { server })").done["traceback"]
    assert "_handle" in shared.run("console.log(server)").output


def test_an_emitter_of_the_codes_shows_its_data(shared):
    shared.run("{ class Game extends require('events') { players = ['a'.repeat(300)]; from = process.stdin }; globalThis.game = new Game() }")
    assert "aaaaa" in shared.run("game").value and "from: [ReadStream]" in shared.run("[game]").value
    shared.run("require('events').prototype[require('util').inspect.custom] = () => 'mine'")
    assert shared.run("[game]").value == "[ mine ]"
    shared.run("delete require('events').prototype[require('util').inspect.custom]; delete globalThis.game")


@pytest.mark.parametrize("base", ["stream').Transform", "stream').Readable", "stream').Writable", "stream').PassThrough", "stream')"])
def test_a_stream_of_the_codes_shows_its_fields(shared, base):
    shared.run(f"{{ const Base = require('{base}; class Mine extends Base {{ rows = [1, 2]; _n = 'a'.repeat(9); self = this; from = process.stdin }}\n"
               "class Small extends Mine {}\nglobalThis.mine = new Mine(); globalThis.small = new Small() }")
    fields = "{ rows: [ 1, 2 ], _n: 'aaaaaaaaa', self: [Circular *1], from: [ReadStream] }"
    for code, text in (("mine", f"<ref *1> Mine {fields}"), ("[mine]", f"[ <ref *1> Mine {fields} ]"), ("small", f"<ref *1> Small {fields}")):
        assert " ".join(shared.run(code).value.split()) == text
    assert "_events" in shared.run("console.log(mine)").output
    shared.run("delete globalThis.mine; delete globalThis.small")


def test_small_emitters_show_themselves(session):
    session.run("class Own extends require('events') { x = 1 }")
    assert "x: 1" in session.run("Object.setPrototypeOf({x: 1}, Own.prototype)").value


def test_an_error_in_a_function_of_an_earlier_cell_shows_its_line(session):
    session.run("function f() {\n  throw new Error('there')\n}")
    trace = session.run("f()").done["traceback"]
    assert trace.startswith("cell-1.js:2\n  throw new Error('there')\n")
    assert "at f (cell-1.js:2:9)\n    at cell-2.js:1:1\n" in trace


@pytest.mark.parametrize("code, line, message", [
    ("let 1x", "1", "Invalid or unexpected token"), ("\nfoo(", "2", "Unexpected end of input"),
    ("a\n b c", "2", "Unexpected identifier"), ("return 5", "1", "Illegal return statement")])
def test_a_syntax_error_has_its_line(shared, code, line, message):
    done = shared.run(code).done
    assert done["ename"] == "SyntaxError" and done["line"] == line and message in done["evalue"]
    assert done["traceback"].startswith(f"cell-{shared.ident}.js:{line}\n")


def test_thrown_values_that_are_no_errors(session):
    for code, text in (("throw 5", "5"), ("throw {code: 5}", "{ code: 5 }"), ("throw null", "null"), ("throw undefined", "undefined"),
                       ("throw new Proxy({}, {get() { throw 1 }})", "{}")):
        result = session.run(code)
        assert result.status == "error" and text in result.done["traceback"], code


def test_an_error_that_cannot_be_shown_is_an_error(session):
    code = "const e = new Error('x'); Object.defineProperty(e, 'stack', {get() { throw 1 }}); "
    code += "e[Symbol.for('nodejs.util.inspect.custom')] = () => { throw 2 }; throw e"
    assert session.run(code).status == "error"
    assert values(session, "1+1") == "2"


@pytest.mark.each_case
@pytest.mark.parametrize("code, ename, evalue, why", [
    ("throw Object.defineProperty(new TypeError('q'), 'stack', {get() { throw new Error('st') }})", "TypeError", "q", "st"),
    ("Error.prepareStackTrace = () => { throw 1 }; throw new Error('pp2')", "Error", "pp2", "1"),
    ("Error.prepareStackTrace = () => { throw 1 }; null.x", "TypeError", "Cannot read properties of null (reading 'x')", "1"),
    ("throw Object.defineProperty(new Error('m'), Symbol.for('nodejs.util.inspect.custom'), {get() { throw null }})", "Error", "m", "null")])
def test_an_error_whose_own_code_fails_at_showing_it_keeps_its_message(session, code, ename, evalue, why):
    """J2; Node 22 and later leave out a stack that fails."""
    result = session.run(code)
    assert result.status == "error" and result.done["ename"] == ename and result.done["evalue"] == evalue
    assert result.done["traceback"] in (
        f"[{ename}: {evalue}]\n", f"{ename}: {evalue}\n    [it cannot be shown in full: its own code threw {why}]\n")


@pytest.mark.parametrize("name", ["name", "message", "code", "stack"])
def test_an_error_with_a_property_that_throws_keeps_the_others(session, name):
    result = session.run(f"throw Object.defineProperty(new RangeError('q'), '{name}', {{get() {{ throw new Error('st') }}}})")
    assert result.status == "error" and result.done["traceback"] != "An error that cannot be shown.\n"
    assert result.done["evalue"] == ("" if name == "message" else "q")
    assert result.done["ename"] == "RangeError"


def test_endless_recursion_and_its_message(session):
    result = session.run("function r() { return r() }\nr()")
    assert result.status == "error" and result.done["ename"] == "RangeError"
    assert values(session, "1+1") == "2"


def test_a_rejection_that_nobody_handles_is_shown_and_survived(session):
    result = session.run("Promise.reject(new Error('lost')); 1")
    assert result.status == "ok" and result.value == "1"
    assert "Uncaught (in promise)" in result.output and "Error: lost\n    at cell-1.js:1:16\n" in result.output
    assert session.run("Promise.reject({ code: 5 }); 2").output == "Uncaught (in promise) { code: 5 }\n"
    assert values(session, "2") == "2"


def test_a_timer_that_throws_is_shown_and_survived(session):
    session.run("setTimeout(() => { throw new Error('late') }, 20);")
    assert "Uncaught cell-1.js:1" in session.read_until("Error: late")
    assert values(session, "2") == "2"


def test_uncaught_errors_are_told_after_a_test_of_node_test(session):
    assert session.run("const { test } = require('node:test'); await test('t', () => {}); 1").status == "ok"
    assert "Uncaught (in promise)" in session.run("Promise.reject(new Error('lost')); 2").output
    session.run("setTimeout(() => { throw new Error('late') }, 50);")
    assert "Error: late" in session.read_until("Error: late")


def test_whoever_listens_for_uncaught_errors_gets_them(session):
    session.run("process.on('uncaughtException', (e) => console.log('mine', e.message)); setTimeout(() => { throw new Error('x') }, 50);")
    assert session.read_until("mine x\n") == "mine x\n"


def test_timers_and_servers_go_on_between_cells(session):
    session.run("let ticks = 0; const timer = setInterval(() => ticks++, 5);")
    session.run("const server = require('http').createServer((q, a) => a.end('served')); await new Promise(r => server.listen(0, '127.0.0.1', r))")
    while int(values(session, "ticks")) <= 5:
        pass
    assert values(session, "await (await fetch(`http://127.0.0.1:${server.address().port}`)).text()") == "'served'"


# ---- TypeScript ----


def test_types_are_taken_away_or_said_to_be_too_much(session, major):
    result = session.run("const z: number = 4; z")
    if major >= 22:
        assert result.value == "4" and result.output == ""
        assert values(session, "interface P { a: string }\nfunction g<T>(p: T): T { return p }\ng<P>({a: 'b'}).a") == "'b'"
        assert session.run("\nlet q: string = nothing()").done["line"] == "2"
    else:
        assert "TypeScript, which needs Node 22.13 or later" in result.done["traceback"]


def test_what_types_alone_cannot_do_is_said(session, major):
    trace = session.run("enum Colour { Red }").done["traceback"]
    assert "not enough here" in trace if major >= 22 else "needs Node 22.13" in trace


@pytest.mark.one_node
@pytest.mark.parametrize("code", ["const v = x!", "const v = x!.y", "abstract class A {}", "declare const zz: any", "import type { Foo } from 'bar'",
                                  "import type Foo from 'bar'"])
def test_typescript_is_recognised(shared, code):
    values(shared, "var x = {}; 0")
    result = shared.run(code)
    if int(shared.ready["version"].partition(".")[0]) >= 22:
        assert result.status == "ok", result.done["traceback"]
    else:
        assert "needs Node 22.13" in result.done["traceback"] and "'let'" not in result.done["evalue"]


@pytest.mark.one_node
@pytest.mark.parametrize("code, what", [("@decorator class D {}", "decorators"), ("@a.b(1)\nexport class D {}", "decorators"), ("<div>hi</div>", "JSX or HTML"),
                                        ("const x = <A b={1} />", "JSX or HTML"), ("function f() { return <>{a}</> }", "JSX or HTML")])
def test_what_no_node_runs_is_recognised(shared, code, what):
    assert f"This looks like {what}, which Node does not run." in shared.run(code).done["traceback"]


def test_a_default_import_may_be_called_type(counter):
    assert values(counter, "import type from './m.mjs'; type") == "7"
    assert values(counter, "import from from './m.mjs'; from") == "7"
    assert counter.run("import xfrom './m.mjs'").status == "error"


def test_plain_mistakes_do_not_blame_typescript(session):
    for code in ("let 1x = {", "const o = { a: 1, b: 2 }\nfoo(", 'console.log("done at, time: now" +)', 'f("(x: y", +)', "let x = 1; let x = { a: 1, b: Infinity }"):
        assert "TypeScript" not in session.run(code).done["traceback"]


@pytest.mark.each_case
@pytest.mark.parametrize("code", ["Error.prepareStackTrace = undefined", "delete Error.prepareStackTrace",
                                  "{ const was = Error.prepareStackTrace; Error.prepareStackTrace = () => 5; Error.prepareStackTrace = was }"])
def test_stacks_are_the_codes_also_without_a_function_for_them(session, code):
    session.run(code)
    assert session.run("new Error('x').stack").value.strip("'") == "Error: x\\n    at cell-2.js:1:1"
    assert session.run("console.error(new Error('x'))").output == "Error: x\n    at cell-3.js:1:15\n"
    assert session.run("nowhere").done["traceback"].endswith("is not defined\n    at cell-4.js:1:1\n")
    assert session.run_interrupted(f"{code}; while (true) {{}}").status == "interrupted"


def test_a_function_for_stacks_gets_no_place_of_the_driver(session):
    session.run("Error.prepareStackTrace = (error, sites) => sites.map((site) => `${site}`); function f() { return new Error('x').stack }")
    assert session.run("f()").value == "[ 'f (cell-1.js:1:99)', 'cell-2.js:1:1' ]"
    session.run("{ const was = Error.prepareStackTrace; Error.prepareStackTrace = undefined; Error.prepareStackTrace = was }")
    assert session.run("f()").value == "[ 'f (cell-1.js:1:99)', 'cell-4.js:1:1' ]"
