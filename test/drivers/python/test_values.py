# SPDX-License-Identifier: MIT
"""Saves the variables of one interpreter and brings them back in another."""
import contextlib
import fcntl
import glob
import os
import select
import signal
import struct
import termios
import time

import pytest

import harness
from patience import WAIT_S, until

LIMIT = 64 << 20


class Saved:
    def __init__(self, data, end):
        self.data, self.end = data, end


def ask(session, **parts):
    """Asks the driver to save; returns its answer."""
    session.ident += 1
    session.send("save", session.ident, [(name, str(value)) for name, value in {"cell": 7, "limit": LIMIT, **parts}.items()])
    return session.next_frame()


def collect(session):
    """What comes over the pipe, to the end."""
    data, got, deadline = b"", bytearray(), time.monotonic() + WAIT_S
    while True:
        left = deadline - time.monotonic()
        assert left > 0 and select.select([session.values], [], [], left)[0], "it does not end"
        got += os.read(session.values, 1 << 20)
        while (frame := take(got)) is not None:
            if frame.kind != "values":
                return Saved(data, frame)
            data += frame.parts["data"]


def take(buffer):
    reader = object.__new__(harness.Session)
    reader.buffer = buffer
    return reader._take_frame()


def saver_of(session):
    """The process that saves: a copy of the interpreter, and no child of it."""
    pipe = os.readlink(f"/proc/self/fd/{session.values}")
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # another process ended meanwhile
            pid = int(path.split("/")[2])
            if pid not in (os.getpid(), session.pid) and os.readlink(path) == pipe:
                return pid
    return None


def state_of(pid, name):
    with open(f"/proc/{pid}/status") as file:
        return next(line.split("\t")[1] for line in file if line.startswith(name + ":"))


def is_full(pipe):
    held = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    return held == fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)


def save(session, **parts):
    answer = ask(session, **parts)
    assert answer["status"] == "ok", answer
    return collect(session)


def restore(session, saved, tmp_path):
    path = tmp_path / "saved-values"
    path.write_bytes(saved.data)
    session.ident += 1
    session.send("restore", session.ident, [("file", str(path))])
    done = session.next_frame()
    path.unlink()
    back, done.failed, done.left, done.kept, done.again = (done.get("restored", "\n\n\n\n")).split("\n")
    done.back = [name for name in back.split(", ") if name]
    return done


def carry(start, tmp_path, *cells, then=(), **parts):
    """Runs cells in one interpreter; returns another with their variables, and what is told."""
    first = start()
    for cell in cells:
        assert first.run(cell).status == "ok"
    saved = save(first, **parts)
    assert saved.end.kind == "saved", saved.end
    first.close()
    second = start()
    for cell in then:
        second.run(cell)
    return second, restore(second, saved, tmp_path)


def test_values_modules_functions_and_classes_come_back(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "import math as m, collections.abc\nfrom math import sqrt\nx = [1, {'a': (2, 3)}]",
        "FACTOR = 3\ndef times(n, by=FACTOR): return n * by + OFFSET\nOFFSET = 1\ndouble = lambda n: 2 * n",
        "class Point:\n    size = FACTOR\n    def __init__(self, a): self.a = a\np = Point(x)\nFACTOR = 10",
    )
    assert sorted(told.back) == ["FACTOR", "OFFSET", "Point", "collections", "double", "m", "p", "sqrt", "times", "x"]
    assert told.left == told.kept == ""
    assert session.run("x, m.pi > 3, sqrt(4), double(4), p.a, p.a is x, Point(1).a").value == (
        "([1, {'a': (2, 3)}], True, 2.0, 8, [1, {'a': (2, 3)}], True, 1)")
    assert session.run("OFFSET = 2\ntimes(2)").value == "8", "a function sees today's names, and its old defaults"
    assert "line 2, in times" in session.run("times(None)").done["traceback"]


def test_attributes_of_classes_and_functions_come_back(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "import abc, enum\nK = 5\nclass C:\n    count = 0\n    size = K\n    def __init__(self): C.count += 1\n"
        "    def __reduce__(self): return C, ()\nK = 6\none, two = C(), C()",
        "class Base(abc.ABC):\n    kinds = []\n    def __init_subclass__(cls): Base.kinds.append(cls)\nclass Kind(Base): pass",
        "def f(): f.calls += 1; return f.calls\nf.calls = 0\nf.seen = seen = []\nf()",
        "class E(enum.Enum): A = 1\ne = E.A",
    )
    assert told.left == told.again == ""
    assert session.run("C.count, C.size, K, type(one) is C").value == "(2, 5, 6, True)"
    assert session.run("Base.kinds == [Kind], f(), f.seen is seen, e is E.A").value == "(True, 2, True, True)"


def test_an_object_that_a_decorator_made_has_its_state_again(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "import functools\nclass Counted:\n    def __init__(self, f):\n        functools.update_wrapper(self, f)\n        self.f, self.calls, self.seen = f, 0, []\n"
        "    def __call__(self, n):\n        self.calls += 1\n        self.seen.append(n)\n        return self.f(n)\n"
        "def plain(f): return lambda n: f(n)\n@Counted\n@plain\ndef f(n): return 2 * n\nf(1), f(2)\nseen = f.seen")
    assert told.left == told.failed == ""
    assert session.run("f(3), f.calls, seen is f.seen, seen").value == "(6, 3, True, [1, 2, 3])"


def test_a_class_all_of_whose_methods_are_decorated_comes_back(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "import functools\ndef ten(g):\n    @functools.wraps(g)\n    def inner(*a): return 10 * g(*a)\n    return inner\n"
        "class A:\n    @ten\n    def m(self): return 1\na = A()")
    assert told.left == told.failed == ""
    assert session.run("a.m(), type(a) is A").value == "(10, True)"


def test_an_attribute_that_is_not_saved_is_named(start, tmp_path):
    session, told = carry(start, tmp_path, "import _thread\nclass C:\n    lock = _thread.allocate_lock()\n    n = 1")
    assert told.left == "attribute C.lock (cannot pickle '_thread.lock' object)"
    assert session.run("C.n").value == "1"


def test_methods_that_were_put_into_a_class_later_come_back_or_are_named(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "def plain(f):\n    def inner(*a): return f(*a)\n    return inner\n"
        "class C:\n    def area(self): return 1\n    def shown(self): return 1\n    @plain\n    def same(self): return 1\n    made = plain(lambda self: 1)\n"
        "    @property\n    def wide(self): return 1\n    @staticmethod\n    def stat(): return 1",
        "def area(self): return 2\nC.area = C.more = area\nC.shown = lambda self: 2\nC.wide = property(lambda self: 2)\n"
        "C.__repr__ = area\ndef f(): return 1\nf.help = area\nf.own = lambda: 2\nc = C()",
        "import functools\ndef wrap(g): return functools.wraps(g)(lambda: g())\n@wrap\n@plain\ndef both(): return 3\n"
        "class W:\n    size = functools.wraps(len)(lambda self: 1)",
    )
    assert [item.split(" (")[0] for item in told.left.split("), ")] == [
        "attribute C.shown", "attribute C.wide", "attribute f.own"]
    assert session.run("W().size(), c.area(), c.more(), c.same(), c.made(), both(), C.__repr__(c), f.help is area").value == "(1, 2, 2, 1, 1, 3, 2, True)"


def test_a_class_whose_base_was_defined_anew_is_not_taken_for_the_new_ones(start, tmp_path):
    session, told = carry(
        start, tmp_path, "class A:\n    def who(self): return 'old'", "class B(A): pass\nclass Other: pass\nb = B()",
        "class A:\n    def who(self): return 'new'\nclass C(A): pass\nc = C()")
    assert told.left == "B (its base A was defined anew), b (it needs B, whose definition is not saved)"
    assert session.run("c.who()").value == "'new'"


def test_a_function_whose_decorator_was_defined_anew_is_named(start, tmp_path):
    decorator = "def made(f):\n    return lambda: %d\n"
    session, told = carry(start, tmp_path, decorator % 1 + "@made\ndef f(): pass\ndef other(f): return lambda: 3\n@other\ndef g(): pass",
                          decorator % 2 + "@made\ndef h(): pass")
    assert told.left == "f (its decorator made was defined anew)"
    assert session.run("g(), h()").value == "(3, 2)"


def test_a_class_is_not_taken_for_an_earlier_one_of_its_name(start, tmp_path):
    session, told = carry(start, tmp_path, "class A:\n    def who(self): return 'old'", "class B:\n    kind = 'old'",
                          "for _ in '1':\n    class A:\n        def who(self): return 'new'\na = A()")
    assert sorted(told.back) == ["B", "_"] and told.left == "A (its definition is not found), a (it needs A, whose definition is not saved)"


def test_what_belongs_to_a_module_is_not_copied(start, tmp_path):
    (tmp_path / "mine.py").write_text("kept = []\n")
    session, told = carry(start, tmp_path, "import sys, warnings\nfrom sys import path\nfrom warnings import filters\n"
                          "from mine import kept\nkept.append(1)\nsame = path")
    assert session.run("path is sys.path, filters is warnings.filters, kept, same == path").value == "(True, True, [1], True)"
    assert "path" in told.back and told.left == "changes to module mine (it is imported anew)" and told.failed == ""


def test_own_modules_are_named_as_they_are_imported_anew(start, tmp_path):
    (tmp_path / "mine.py").write_text("seen = []\nclass Mode: fast = False\ndef see(n): seen.append(n)\n")
    (tmp_path / "other.py").write_text("class Plain:\n    def m(self): pass\n")
    session, told = carry(start, tmp_path, "import json, other\nfrom mine import Mode, see\nsee(1)\nMode.fast = True")
    assert sorted(told.back) == ["Mode", "json", "other", "see"]
    assert told.left == "changes to module mine (it is imported anew)"


def test_a_module_whose_file_has_changed_since_is_named(start, tmp_path):
    (tmp_path / "mine.py").write_text("def f(): return 'old'\n")
    session, told = carry(start, tmp_path, "from mine import f", "open('mine.py', 'w').write(\"def f(): return 'newer'\\n\")", "f()")
    assert told.left == "module mine as it was (its file has changed since the import)"
    assert session.run("f()").value == "'newer'"


def test_modules_that_the_server_has_installed_are_no_own_ones(start, tmp_path):
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "theirs.py").write_text("seen = []\n")
    session, told = carry(start, tmp_path, f"import os, sys\nsys.path.append({str(tmp_path / 'packages')!r})\n"
                          "os.environ['PYTHONPATH'] = sys.path[-1]\nimport theirs\nn = 1")
    assert session.run("n").value == "1" and "theirs" not in told.left


def test_submodules_are_imported_again(start, tmp_path):
    session, told = carry(start, tmp_path, "import wsgiref.simple_server, xml.dom.minidom")
    assert session.run("wsgiref.simple_server.WSGIServer.__name__, xml.dom.minidom.Node.__name__").value == "('WSGIServer', 'Node')"
    assert told.left == ""


def test_what_was_wrapped_after_its_definition_is_named(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "import functools\ndef ten(g):\n    @functools.wraps(g)\n    def inner(*a): return 10 * g(*a)\n    return inner\n"
        "def two(g): return lambda *a: 2 * g(*a)\ndef both(g): return two(ten(g))\nalias = functools.partial(two)",
        "def f(): return 1\nf = ten(f)\ndef c(): return 1\nc = functools.lru_cache(c)\n@ten\ndef t(): return 1\nt = two(t)\n"
        "class A:\n    def m(self): return 1\n    def n(self): return 1\n    @ten\n    def o(self): return 1\nA.m = ten(A.m)",
        "@ten\n@two\ndef p(): return 1\n@both\ndef q(): return 1\n@alias\ndef r(): return 1\n@functools.lru_cache\ndef s(): return 1")
    why = "it was wrapped after its definition"
    assert sorted(told.left.split(", ")) == [f"{name} ({why})" for name in ("attribute A.m", "c", "f", "t")]
    assert session.run("p(), q(), r(), s(), A().n(), A().o()").value == "(20, 20, 2, 1, 1, 10)"


def test_a_class_that_a_later_statement_replaced_is_named(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "import dataclasses\nclass A:\n    n: int = 1\n    def m(self): pass\nclass B:\n    def m(self): pass\nA = dataclasses.dataclass(A)")
    assert told.left == "what a later statement made of class A (it is as it was defined)"
    assert sorted(told.back) == ["A", "B", "dataclasses"]


def test_a_name_that_had_a_decorated_definition_has_its_later_value(start, tmp_path):
    """The source of the definition would bring back the earlier one."""
    (tmp_path / "mine.py").write_text("from dataclasses import dataclass\ndef load(n): return 'file'\n@dataclass\nclass Row:\n    a: int = 2\n")
    session, told = carry(
        start, tmp_path,
        "import functools\nfrom dataclasses import dataclass\n@functools.lru_cache\ndef load(n): return 'cell'\n@dataclass\nclass Row:\n    a: int = 1\n"
        "@functools.lru_cache\ndef root(n): return 0\n@functools.lru_cache\ndef f(n): return n\n@functools.lru_cache\ndef tens(n): return n\n"
        "@functools.lru_cache\ndef p(n, m): return n\n@functools.lru_cache\ndef h(n): return 'old'\n@functools.lru_cache\ndef kept(n): return n",
        "from mine import load\nfrom mine import *\nfrom math import sqrt as root\nrow = Row(7)\ndef g(n): return 100 * n\nf = g\n"
        "def ten(g):\n    @functools.wraps(g)\n    def inner(*a): return 10 * g(*a)\n    return inner\ntens = ten(tens)\np = functools.partial(p, 7)\n"
        "for _ in '1':\n    def h(n): return 'new'")
    assert session.run("load(1), Row().a, isinstance(row, Row), root(4), f(2), kept(3)").value == "('file', 2, True, 2.0, 200, 3)"
    assert session.run("[name for name in ('tens', 'p', 'h') if name in globals()]").value == "[]"
    assert "tens (it was wrapped after its definition)" in told.left and "p (" in told.left and "h (its definition is not found)" in told.left


def test_attributes_of_inner_classes_and_of_those_with_a_metaclass_come_back(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "class Meta(type):\n    kinds = {}\n    def __init__(cls, *a): Meta.kinds[cls.__name__] = cls\n"
        "class M(metaclass=Meta):\n    count = 0\nM.count = 5\n"
        "class Outer:\n    class Inner:\n        count = 0\n        def f(self): pass\nOuter.Inner.count = x = [6]")
    assert told.left == told.failed == ""
    assert session.run("M.count, Meta.kinds['M'] is M, Outer.Inner.count is x, x").value == "(5, True, True, [6])"


def test_variables_of_annotations_come_back(start, tmp_path):
    session, told = carry(start, tmp_path, "from typing import *\nT = TypeVar('T')\nId = NewType('Id', int)\n"
                          "class Box(Generic[T]):\n    def __init__(self): self.items = []\nbox = Box[int]()")
    assert told.left == told.failed == ""
    assert session.run("box.items, Box[Id].__args__[0] is Id, Box.__parameters__ == (T,)").value == "([], True, True)"


def test_defaults_are_those_of_the_time_of_the_definition(start, tmp_path):
    """Of methods, of what dataclasses and named tuples make, and below decorators that keep what they wrap."""
    session, told = carry(
        start, tmp_path,
        "import functools\nfrom collections import namedtuple\nfrom dataclasses import dataclass, field\nN = 5\n"
        "def kept(f):\n    @functools.wraps(f)\n    def inner(*a): return f(*a)\n    return inner\n"
        "class A:\n    def m(self, n=N): return n\n    @staticmethod\n    def s(n=N): return n\n    @classmethod\n    def c(cls, *, n=N): return n\n"
        "    @kept\n    def k(self, n=N): return n\n    @functools.lru_cache\n    def l(self, n=N): return n\n    class B:\n        def m(self, n=N): return n\n@kept\ndef f(n=N): return n\n@functools.lru_cache\ndef g(n=N): return n\n"
        "@dataclass\nclass D:\n    n: int = N\n    m: int = field(default=N)\n    made: list = field(default_factory=lambda: [N])\n"
        "P = namedtuple('P', 'a n', defaults=[N])", "N = 7")
    assert told.left == told.failed == ""
    assert session.run("A().m(), A.s(), A.c(), A.B().m(), A().k(), A().l(), f(), g(), D().n, D().m, D().made, P(1).n, N").value == (
        "(5, 5, 5, 5, 5, 5, 5, 5, 5, 5, [7], 5, 7)")


def test_what_a_definition_makes_of_a_variable_that_was_set_later_is_named(start, tmp_path):
    scale = "def scale(k):\n    def apply(f): return lambda *a: k * f(*a)\n    return apply\n"
    session, told = carry(
        start, tmp_path,
        scale + "import enum\nfrom collections import namedtuple\nN, M, NAMES, UNUSED = 2, 2, ['a'], 1\n@scale(N)\ndef f(): return 1\n"
        "@scale(M)\ndef g(n=M): return 1\nclass E(enum.Enum):\n    A = N\nclass C:\n    @scale(N)\n    def m(self): return UNUSED\n"
        "P = namedtuple('P', NAMES)\ndef change():\n    global N\n    N = 9\nUNUSED = 1",
        "change()\nNAMES = ['b']\ndef local():\n    M = 9\n[M for M in (1,)]",
        "@scale(NAMES)\ndef h(): return 1")
    assert [item.split(" (")[0] for item in told.left.split("), ")] == [
        f"the {used} that {name} was made with" for used, name in (("N", "f"), ("N", "E"), ("N", "C"), ("NAMES", "P"))]
    assert session.run("g(), h()").value == "(2, ['b'])"


@pytest.mark.parametrize("code", ["missing\n", "return 1\n", "int('x'); "])
def test_a_definition_that_a_failed_cell_did_not_reach_is_not_taken(start, tmp_path, code):
    first = start()
    first.run("from dataclasses import dataclass\n@dataclass\nclass D:\n    a: int = 1\nclass Plain: pass\nPlain.n = 1")
    assert first.run("def early(): return 1\n" + code + "pass\n@dataclass\nclass D:\n    a: int = 2\n    b: int = 3\nclass Plain(D): pass").status == "error"
    saved = save(first)
    second = start()
    told = restore(second, saved, tmp_path)
    assert told.failed == told.left == ""
    assert second.run("D(), Plain.n, Plain.__bases__ == (object,)").value == "(D(a=1), 1, True)"
    assert ("early" in told.back) == (not code.startswith("return"))


def test_definitions_of_a_cell_with_magics_come_back(start, tmp_path):
    session, told = carry(
        start, tmp_path, "from dataclasses import dataclass\n@dataclass\nclass D:\n    a: int = 1",
        "%time 1\n@dataclass\nclass D:\n    a: int = 2\n    b: int = 3\ndef f(): return D()")
    assert told.failed == told.left == ""
    assert session.run("f()").value == "D(a=2, b=3)"


def test_methods_under_other_names_come_back(start, tmp_path):
    body = "    def m(self, n=0): return 1\n    def n(self): return 2\n    k = m\n    x: object = n\n"
    session, told = carry(
        start, tmp_path, f"class A:\n{body}A.__rmul__ = A.more = A.m\nclass B:\n{body}B.old, B.m = B.m, B.n\ndef f(): return 3\nf.me = f")
    assert told.left.startswith("attribute B.old (") and "), " not in told.left
    assert session.run("2 * A(), A().more(), A().k(), A().x(), B().m(), f.me()").value == "(1, 1, 1, 2, 2, 3)"


def test_values_in_descriptors_of_a_class_come_back(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "class Field:\n    def __init__(self): self.values = {}\n    def __get__(self, item, owner): return self.values.get(item.key, 'none')\n"
        "    def __set__(self, item, value): self.values[item.key] = value\n"
        "class C:\n    x = Field()\n    def __init__(self, key): self.key = key\nc = C(1)\nc.x = 5")
    assert told.failed == told.left == ""
    assert session.run("c.x, C(2).x").value == "(5, 'none')"


def test_attributes_that_were_deleted_stay_deleted(start, tmp_path):
    session, told = carry(
        start, tmp_path, "from dataclasses import dataclass, field\nclass C:\n    a = 1\n    __b = 2\n    c = 3\n    def m(self): pass\n    def n(self): pass\n"
        "@dataclass\nclass D:\n    a: list = field(default_factory=list)\n    b: int = 1", "del C.a, C._C__b, C.m, D.b")
    assert told.failed == told.left == ""
    assert session.run("[name for name in ('a', '_C__b', 'c', 'm', 'n') if hasattr(C, name)], hasattr(D, 'b'), D()").value == "(['c', 'n'], False, D(a=[], b=1))"


def test_functions_that_were_registered_later_come_back_or_are_named(start, tmp_path):
    generic = "from functools import singledispatch\n@singledispatch\ndef f(x): return 'any'\n"
    cells = (generic + "@f.register(int)\ndef _(x): return 'int'", "@f.register\n@f.register(bytes)\ndef _(x: str): return 'text'\n"
             "@f.register\ndef of_list(x: list): return 'list'", "class A: pass\n@f.register\ndef _(x: A): return 'A'")
    calls = "f(None), f(1), f(b''), f(''), f([]), f(A())"
    session, told = carry(start, tmp_path, *cells)
    assert told.failed == told.left == "" and sorted(told.back) == ["A", "_", "f", "of_list", "singledispatch"]
    third = start()
    told = restore(third, save(session), tmp_path)
    assert told.failed == told.left == "" and third.run(calls).value == "('any', 'int', 'text', 'text', 'list', 'A')"
    session, told = carry(start, tmp_path, *cells, then=["def f(x): return 'new'"])
    assert session.run("f(1)").value == "'new'" and "f" in told.kept.split(", ")
    session, told = carry(start, tmp_path, generic + "f.register(int, lambda x: 1)")
    assert told.left == "1 of the functions registered with f (their definitions are not found)"


def test_tasks_that_go_on_are_told(start, tmp_path):
    session, told = carry(start, tmp_path, "import asyncio\nawait asyncio.sleep(0)\nn = 1")
    assert told.left == ""
    first = start()
    first.run("import asyncio\nasync def wait(): await asyncio.sleep(1000)\nasyncio.create_task(wait())\nNone")
    saved = save(first)
    assert saved.end["changing"] == "1"
    assert restore(start(), saved, tmp_path).left == "what background tasks changed later (they went on after the variables were saved)"
    assert save_here(first, 60000).end["changing"] == "0"


def test_an_alarm_tears_no_frame(start, tmp_path):
    """One comes while the pipe is full."""
    session = start()
    session.run("large, other = bytes(5_000_000), [1]")
    assert ask(session)["status"] == "ok"
    saver = until(lambda: saver_of(session))
    until(lambda: state_of(saver, "State")[0] == "S" and is_full(session.values))
    waited = state_of(saver, "voluntary_ctxt_switches")
    until(lambda: state_of(saver, "voluntary_ctxt_switches") != waited)  # the alarm came, and it waits again
    saved = collect(session)
    told = restore(start(), saved, tmp_path)
    assert "other" in told.back and "large (saving it took longer than 2 s)" in told.left


def test_a_class_without_methods_in_a_branch_comes_back_after_its_cell_ran_twice(start, tmp_path):
    cell = "from dataclasses import dataclass\ntry:\n    @dataclass\n    class Option:\n        a: int = 1\nexcept OSError:\n    pass\noption = Option(2)"
    session, told = carry(start, tmp_path, cell, cell)
    assert {"Option", "option"} <= set(told.back), told.left
    assert session.run("option, type(option) is Option").value == "(Option(a=2), True)"


def test_definitions_behind_a_semicolon_come_back(start, tmp_path):
    cell = ("import typing; T = typing.TypeVar('T')\nK = typing.TypeVar('K'); V = typing.TypeVar('V')\n"
            "from collections import namedtuple; Point = namedtuple('Point', 'x y')\n"
            "x = [1,\n2]; U = typing.TypeVar('U')\n"
            "class Store(typing.Generic[K, V]):\n    def __init__(self): self.d = {}\nstore, points = Store(), [Point(1, 2)]\n"
            "if True: x = 1; W = typing.TypeVar('W')")
    session, told = carry(start, tmp_path, cell, cell)
    assert {"T", "K", "V", "U", "Point", "Store", "store", "points"} <= set(told.back), told.left
    assert session.run("type(points[0]) is Point, Store.__parameters__ == (K, V), store.d").value == "(True, True, {})"
    assert told.left.startswith("W (")  # whether its definition has run is not known


def test_definitions_in_branches_come_back(start, tmp_path):
    session, told = carry(
        start, tmp_path,
        "def twice(f): return lambda x: 2 * f(x)\nimport contextlib, functools\n"
        "try:\n    import nothing_of_this_name\nexcept ImportError:\n    def one(v, *, scale=3):\n        \"\"\"Of\n  lines.\"\"\"\n        return v * scale\n"
        "    class Error(Exception): pass\n"
        "if not True:\n    @twice\n    def two(x): return 'no'\nelif True:\n    with contextlib.suppress(OSError):\n"
        "        @functools.lru_cache(\n  maxsize=None)\n        def two(x):\n            return x + 1\n"
        "else:\n    def two(x): return 'no'\nif True: three = lambda x: x + 3\n"
        "class Point:\n    x = 1\nif False:\n    class Point:\n        x = 2\n"
        "if __name__ == '__main__':\n\tclass Tab:\n\t\tdef get(self):\n\t\t\treturn 'tab'\nerror, tab = Error(1), [Tab()]",
        "if False:\n    def four(): return 'no'\nfour = Error('four')")
    assert {"one", "Error", "two", "three", "Tab", "error", "tab", "four"} <= set(told.back), told.left + told.failed
    assert session.run("one(2), one.__doc__, two(1), three(1), error, tab[0].get(), four").value == (
        "(6, 'Of\\n  lines.', 2, 4, Error(1), 'tab', Error('four'))")
    again = restore(start(), save(session), tmp_path)
    assert {"one", "Error", "two", "three", "Tab", "error", "tab"} <= set(again.back), again.left + again.failed
    assert told.left == "Point (its definition is not found)"  # which of the two has run is not known


def test_definitions_in_branches_of_a_cell_with_magics_and_of_one_that_failed_come_back(start, tmp_path):
    first = start()
    first.run("%cd .\n!echo a\nif True:\n    %pwd\n    class A: pass\n    def f():\n        return 1\na = A()")
    first.run("if True:\n    def g():\n        return 2\n    1 / 0\n    def f():\n        return 'no'")
    session = start()
    told = restore(session, save(first), tmp_path)
    assert {"A", "f", "g", "a"} <= set(told.back), told.left + told.failed
    assert session.run("f(), g(), type(a) is A").value == "(1, 2, True)"


def test_a_decorated_definition_that_may_not_have_run_is_not_taken(start, tmp_path):
    session, told = carry(
        start, tmp_path, "class Model:\n    def __init__(self, f=None): self.f = 'made'\n    def __call__(self): return self.f\n"
        "f = Model()\nif False:\n    @Model\n    def f(): pass")
    assert session.run("f()").value == "'made'"


def test_what_needs_a_definition_that_is_not_saved_is_named(start, tmp_path):
    session, told = carry(
        start, tmp_path, "exec('def f(): pass')\nexec('class C: pass')\nc, held, classes, x = C(), {'f': [f]}, [C], 1\n"
        "import abc\nexec('class M(abc.ABC): pass')\nm = M()\ndef g(): pass\nfine = [g, abc.ABC]")
    assert sorted(told.back) == ["abc", "fine", "g", "x"] and told.failed == ""
    assert sorted(told.left.split("), ")) == [
        "C (its definition is not found", "M (its definition is not found", "c (it needs C, whose definition is not saved",
        "classes (it needs C, whose definition is not saved", "f (its definition is not found",
        "held (it needs f, whose definition is not saved", "m (it needs M, whose definition is not saved)"]


def test_an_attribute_that_could_not_be_loaded_is_named(start, tmp_path):
    (tmp_path / "mine.py").write_text("class Mine: pass\n")
    first = start()
    first.run("from mine import Mine\nclass C:\n    a = 1\nC.a = Mine()\ndef f(n=1): return n\nf.__defaults__ = (C.a, )")
    saved = save(first)
    (tmp_path / "mine.py").unlink()
    second = start()
    told = restore(second, saved, tmp_path)
    assert {"C", "f"} <= set(told.back)
    assert sorted(told.left.split(", ")) == [f"{name} (No module named 'mine')" for name in ("attribute C.a", "defaults of f")]


def test_an_array_that_is_a_file_is_named(start, tmp_path, python):
    if not harness.has_module(python, "numpy"):
        pytest.skip("no numpy")
    session, told = carry(
        start, tmp_path, "import numpy\nnumpy.arange(4).tofile('f')\nmade = numpy.memmap('f', 'i8', 'r+')\nin_it = [made[1:]]\n"
        "read = numpy.memmap('f', 'i8', 'r')\ncopied = made.copy()\ncopied[0] = 9")
    why = "its values are those of a file: open it again"
    assert told.left == f"in_it ({why}), made ({why})"
    assert session.run("int(read[3]), int(copied[0])").value == "(3, 9)"


def test_a_default_may_be_a_variable_that_changes(start, tmp_path):
    session, told = carry(start, tmp_path, "kept = []\ndef add(item, to=kept):\n    to.append(item)\n    return to\nadd(1)")
    assert told.failed == told.left == ""
    assert session.run("add(2) is kept, kept").value == "(True, [1, 2])"


def test_a_decorator_that_changes_what_was_loaded_is_told(start, tmp_path):
    session, told = carry(
        start, tmp_path, "calls = []\ndef note(f):\n    calls.append(f.__name__)\n    return f\n@note\ndef noted(): pass",
        "def plain(f): return f\n@plain\ndef early(): pass")
    assert told.again == "noted"


def test_a_class_whose_making_changes_what_was_loaded_is_told(start, tmp_path):
    session, told = carry(
        start, tmp_path, "names = []\nclass Base:\n    def __init_subclass__(cls): names.append(cls.__name__)\nclass Kind(Base): pass")
    assert told.again == "Kind"


def test_a_second_life_saves_what_the_first_defined(start, tmp_path):
    session, _ = carry(start, tmp_path, "def f(): return 5\nclass A: pass\na = A()")
    saved = save(session)
    third = start()
    assert sorted(restore(third, saved, tmp_path).back) == ["A", "a", "f"]
    assert third.run("f(), type(a) is A").value == "(5, True)"


def test_definitions_in_one_line_stay_for_later_lives(start, tmp_path):
    session, _ = carry(start, tmp_path, "square = lambda v: v * v; cube = lambda v: [n ** 3 for n in (\n    v, 1)]\nbe = lambda: 'a; b'; e = lambda: 'c'")
    for _ in range(2):
        saved, session = save(session), start()
        told = restore(session, saved, tmp_path)
        assert sorted(told.back) == ["be", "cube", "e", "square"], told.left
        assert session.run("square(2), cube(2), be(), e()").value == "(4, [8, 1], 'a; b', 'c')"


def test_many_names_that_share_an_object_are_saved(start, tmp_path):
    session, told = carry(start, tmp_path, "shared = []\nfor i in range(10000): globals()['v%d' % i] = [shared, i]")
    assert told.back[-1] == "v57 and 9942 more" and told.failed == told.left == ""
    assert session.run("all(globals()['v%d' % i][0] is shared for i in range(10000))").value == "True"


def test_a_definition_that_waits_for_a_value_leaves_the_later_ones(start, tmp_path):
    """A third life has them too, and inspect their sources."""
    session, _ = carry(start, tmp_path, "x = [1]\ndef f(a=x): return a\nclass A:\n    a = 1\ndef g():\n    return 9")
    assert session.run("import inspect\ninspect.getsource(A)").value == "'class A:\\n    a = 1\\n'"
    assert session.run("import inspect\ninspect.getsource(g), inspect.getsource(f)").value == (
        "('def g():\\n    return 9\\n', 'def f(a=x): return a\\n')")
    saved = save(session)
    third = start()
    assert restore(third, saved, tmp_path).failed == ""
    assert third.run("f() is x, g()").value == "(True, 9)"


def test_what_cannot_be_saved_is_named_and_the_rest_is_saved(start, tmp_path):
    (tmp_path / "f").write_text("x")
    session, told = carry(
        start, tmp_path,
        "import threading, sqlite3, _thread\nfile = open('f')\ngen = (i for i in [1])\nlock = _thread.allocate_lock()\n"
        "db = sqlite3.connect(':memory:')\nmake = lambda: (lambda: 1)\ninner = make()\nok = 1\n"
        "class Odd:\n    def __reduce__(self): raise ValueError('not\\nme')\nodd = Odd()",
    )
    assert session.run("ok").value == "1"
    for name in ("file", "gen", "lock", "db", "inner", "odd"):
        assert name + " (" in told.left and name not in told.back, told.left
    assert "odd (not me)" in told.left and "cannot pickle '_io.TextIOWrapper' object" in told.left


def test_shared_objects_are_shared_again(start, tmp_path):
    session, told = carry(start, tmp_path, "a = []\nb = {'a': a}\nc = [b]\nlone = []\nring = []\nring.append(ring)")
    assert session.run("b['a'] is a, c[0] is b, ring[0] is ring").value == "(True, True, True)"


def test_one_value_that_cannot_be_loaded_costs_only_itself(start, tmp_path):
    (tmp_path / "mine.py").write_text("class Mine: pass\n")
    first = start()
    first.run("import mine\nm = mine.Mine()\nother = [1]")
    saved = save(first)
    (tmp_path / "mine.py").unlink()
    second = start()
    told = restore(second, saved, tmp_path)
    assert told.back == ["other"]
    assert told.left == "" and told.failed == "mine (No module named 'mine'), m (No module named 'mine')"


def test_arrays_share_no_fate_by_the_type_of_their_items(start, python, tmp_path):
    """Models are of classes whose class is ABCMeta, and all arrays of floats have one dtype."""
    if not harness.has_module(python, "numpy"):
        pytest.skip("no numpy")
    session, told = carry(
        start, tmp_path,
        "import abc\nimport numpy as np\nx = np.ones(3)\nclass Model(abc.ABC):\n    def __init__(self, f): self.a, self.f = np.ones(2), f\n"
        "class E(Exception):\n    def __init__(self, a, b): super().__init__(b)\nbad, good, both = Model(E(1, 2)), Model(None), [x]")
    assert sorted(told.back) == ["E", "Model", "abc", "both", "good", "np", "x"], told.left
    assert told.left.startswith("bad (loading it failed: ")
    assert session.run("both[0] is x").value == "True"


def test_tables_and_figures_share_no_fate_by_what_their_classes_have(start, python, tmp_path):
    """Each pickle of a DataFrame has a list of its class in it, and each one of a figure has arrays of matplotlib."""
    if not harness.has_module(python, "pandas") or not harness.has_module(python, "matplotlib"):
        pytest.skip("no pandas or no matplotlib")
    session, told = carry(
        start, tmp_path,
        "import numpy as np, pandas as pd\nfrom matplotlib.figure import Figure\nclass E(Exception):\n    def __init__(self, a, b): super().__init__(b)\n"
        "def figure(n):\n    made = Figure()\n    ax = made.subplots()\n    ax.plot(np.ones(n), 'o-', label='l')\n    ax.imshow(np.eye(2))\n    ax.legend()\n    return made\n"
        "def frame(n): return pd.DataFrame({'a': np.ones(n)})\n"
        "little, large, bad = frame(2), frame(200_000), pd.DataFrame({'e': [E(1, 2)]})\nshort, long = pd.Series([1]), pd.Series(np.ones(200_000))\n"
        "small, big = figure(2), figure(200_000)\n"
        "listed, options = [little], {'list': pd.DataFrame._metadata}\n"
        "first = large.head(2)\n"
        "kind = np.dtype([('x', int), ('y', float)])\nfew, many = np.zeros(2, kind), np.zeros(200_000, kind)\n"
        "rng_a, rng_b = (np.random.mtrand._rand, np.ones(2)), (np.random.mtrand._rand, np.ones(200_000))",
        limit=(1 << 20) + 1_000_000)
    assert {"little", "first", "short", "small", "listed", "options", "few", "rng_a"} <= set(told.back), told.left + told.failed
    assert "large (" in told.left and "long (" in told.left and "big (" in told.left and "many (" in told.left and "rng_b (" in told.left
    assert session.run("listed[0] is little, len(small.axes)").value == "(True, 1)"


def test_parts_of_a_table_share_no_fate_by_its_labels(start, python, tmp_path):
    if not harness.has_module(python, "pandas"):
        pytest.skip("no pandas")
    session, told = carry(
        start, tmp_path,
        "import datetime, numpy as np, pandas as pd\nn, held = 60_000, [1]\n"
        "large = pd.DataFrame({'d': pd.date_range('2026', periods=3, tz='Europe/Berlin').repeat(n // 3), 'c': pd.Categorical(['x', 'y'] * (n // 2)),\n"
        "    'o': [datetime.date(2026, 1, 1), held] * (n // 2), 'v': np.ones(n)}).set_index(['d', 'c'])\n"
        "labels = pd.DataFrame({'a': [1], 'b': [2]})\nmodel, model_2, model_3 = [[labels.columns.values, bytes(n)] for n in (1, 300_000, 310_000)]\n"
        "part, column = large.head(1), large.v[:2]\nfirst, both = [large.index[:2]], pd.DataFrame({'o': [held]})",
        limit=(1 << 20) + 500_000)
    assert {"part", "column", "first", "both", "held", "model", "model_2"} <= set(told.back), told.left + told.failed
    assert {name.partition(" ")[0] for name in told.left.split("), ")} == {"large", "model_3"}
    assert session.run("both.o[0] is held, part.index.names, first[0].names").value == "(True, FrozenList(['d', 'c']), FrozenList(['d', 'c']))"


def test_what_a_name_holds_is_shared_though_a_module_has_it_too(start, tmp_path):
    session, told = carry(start, tmp_path, "import string\nmine = []\nstring.extra = mine\na, b = [mine], {'m': mine}")
    assert session.run("a[0] is mine and b['m'] is mine").value == "True"


def test_an_array_too_large_for_the_limit_leaves_room_for_small_ones(start, python, tmp_path):
    if not harness.has_module(python, "numpy"):
        pytest.skip("no numpy")
    session, told = carry(
        start, tmp_path, "import numpy as np\nsmall = np.ones(100)\nlarge, larger = np.ones(90_000), np.ones(100_000)", limit=(1 << 20) + 1_000_000)
    assert sorted(told.back) == ["large", "np", "small"] and told.left == "larger (no room beside the others)"


def test_what_is_made_to_be_saved_is_not_taken_for_shared(start, tmp_path):
    """It is gone when the next value is saved, which may have something in its place."""
    session, told = carry(
        start, tmp_path,
        "class A:\n    def __init__(self, f): self.f = f\n    def __reduce__(self): return A, (self.f,), {'n': [(1, self.f)]}\n"
        "    def __setstate__(self, state): self.state = state\n"
        "class E(Exception):\n    def __init__(self, a, b): super().__init__(b)\n"
        "for i in range(20): exec('v%d = A(%s)' % (i, 'E(1, 2)' if i == 10 else 'str'))")
    assert len([name for name in told.back if name.startswith("v")]) == 19, told.left


def test_names_that_are_there_stay(start, tmp_path):
    session, told = carry(start, tmp_path, "x = 1\ny = 2\ndef f(): return 1\nit, file = [open('w', 'w') for _ in '12']",
                          then=["x = 'new'\ndef f(): return 2\nfile = 3"])
    assert told.back == ["y"] and sorted(told.kept.split(", ")) == ["f", "file", "x"] and told.left.startswith("it (") and "file (" not in told.left
    assert session.run("x, y, f()").value == "('new', 2, 2)"


def test_what_takes_too_long_is_named(start, tmp_path):
    session, told = carry(
        start, tmp_path, "class Slow:\n    def __reduce__(self):\n        while True: pass\nslow = Slow()\nx = 1")
    assert "slow (saving it took longer than 2 s)" in told.left
    assert session.run("x").value == "1"


def test_many_that_take_too_long_do_not_cost_the_others(start, tmp_path):
    first = start()
    first.run("import time\nclass Slow:\n    def __reduce__(self):\n        time.sleep(60)\nfine = [[1]]\n"
               "a, b, c, d, e, f = [Slow() for _ in range(6)]")
    told = restore(start(), save(first), tmp_path)
    assert "fine" in told.back and "a (saving it took longer than 2 s)" in told.left and "f (no time was left for it)" in told.left


def test_small_values_are_measured_first(start, tmp_path):
    session, told = carry(
        start, tmp_path, "import time\nclass Slow:\n    def __reduce__(self):\n        time.sleep(60)\n"
        "a, b, c, d = ([Slow()] * 2000 for _ in 'abcd')\nsmall, k, __private = [[1]], 5, 3\ndef f(n={}): return k")
    assert {"small", "k", "f", "Slow", "__private"} <= set(told.back) and "d (no time was left for it)" in told.left
    assert session.run("__private, f()").value == "(3, 5)"


def test_what_ends_the_copy_is_named_the_next_time(start):
    session = start()
    session.run("import os\nclass End:\n    def __reduce__(self): os._exit(3)\nend = End()\nx = 1")
    assert ask(session)["status"] == "ok"
    assert session.run("x").value == "1"
    deadline = time.monotonic() + WAIT_S
    saved = None
    while saved is None and time.monotonic() < deadline:
        assert ask(session)["status"] == "ok"
        if select.select([session.values], [], [], 0.2)[0]:
            saved = collect(session)
    assert b"saving it did not end, or ended the process" in saved.data


def test_the_limit_leaves_the_largest_out(start, tmp_path):
    session, told = carry(
        start, tmp_path, "small = b'x' * 1000\nlarge = b'x' * 1_500_000\nhuge = b'x' * 5_000_000",
        limit=(1 << 20) + 1_500_500)
    assert told.back == ["small"]
    assert "large (no room beside the others)" in told.left and "huge (larger than the room for all)" in told.left


def test_what_names_share_counts_once(start, tmp_path):
    session, told = carry(
        start, tmp_path, "small = [b'x' * 1000]\nlarge = [bytearray(1_000_000)]\nlisted = {'a': large}\none = bytearray(1_100_000)\nother = [one, bytearray(300_000)]",
        limit=(1 << 20) + 1_500_500)
    assert sorted(told.back) == ["large", "listed", "small"] and sorted(told.left.split(", ")) == ["one (no room beside the others)", "other (no room beside the others)"]
    assert session.run("listed['a'] is large").value == "True"


def test_just_at_the_limit_all_is_saved(start, tmp_path):
    code = "small = b'x' * 1000\nlarge = b'x' * 1_000_000"
    sizes = "import pickle\nsum(len(pickle.dumps(v, 5)) for v in (small, large))"
    first = start()
    first.run(code)
    room = int(first.run(sizes).value)
    assert sorted(carry(start, tmp_path, code, limit=(1 << 20) + room)[1].back) == ["large", "small"]
    assert carry(start, tmp_path, code, limit=(1 << 20) + room - 1)[1].back == ["small"]


def test_definitions_without_room_are_named_and_the_rest_is_saved(start, tmp_path):
    first = start()
    first.run("x = 1\ndef small(): return 2")
    for name in ("large", "larger"):
        text = "é" * (70_000 if name == "large" else 120_000)  # 6 bytes each in JSON
        first.run("def %s():\n    return %r\nk = 3" % (name, text))
    saved = save(first)
    assert len(saved.data) < 1 << 20
    second = start()
    told = restore(second, saved, tmp_path)
    assert sorted(told.back) == ["k", "large", "small", "x"]
    assert "larger (no room beside the others)" in told.left


def test_secrets_are_not_saved(start, tmp_path):
    session, told = carry(
        start, tmp_path, "token = 'hunter22hunter'\nheaders = {'A': 'Bearer ' + token}\nraw = token.encode() * 2\nx = 1",
        secrets="another\0hunter22hunter")
    assert told.back == ["x"]
    assert told.left.count("it holds a secret") == 3


def test_a_secret_in_an_array_of_letters_is_not_saved(start, tmp_path):
    """There each letter has four bytes."""
    session, told = carry(
        start, tmp_path, "import array\ntoken = array.array('u', 'Bearer hunter22hunter')\nother = array.array('u', 'hunter')",
        secrets="hunter22hunter")
    assert sorted(told.back) == ["array", "other"] and "token (it holds a secret)" in told.left


def test_a_secret_in_an_array_of_texts_is_not_saved(start, tmp_path, python):
    if not harness.has_module(python, "numpy"):
        pytest.skip("no numpy")
    session, told = carry(
        start, tmp_path, "import numpy\nfew = numpy.array(['hunter22hunter'])\n"
        "many = numpy.array(['x' * 40] * 50000 + ['hunter22hunter'])\nx = numpy.array(['hunter'])", secrets="hunter22hunter")
    assert sorted(told.back) == ["numpy", "x"] and told.left.count("it holds a secret") == 2


def test_no_text_of_the_file_has_a_secret(start):
    """Neither a definition, nor the reason why a value is left out, nor a folder of modules."""
    first = start()
    first.run(
        "import sys\ntoken = 'hunter22' + 'hunter'\ndef log_in(): return 'hunter22hunter'\nsys.path.append('/x/' + token)\n"
        "class Odd:\n    def __reduce__(self): raise ValueError('not with ' + token)\nodd = Odd()")
    saved = save(first, secrets="hunter22hunter")
    assert b"hunter22hunter" not in saved.data
    for name in (b"log_in", b"odd"):
        assert b'["%s", "it holds a secret"]' % name in saved.data


def test_the_copy_is_unseen(start):
    """By code that waits for children, the terminal and the next cells; a pipe ends although the copy lives."""
    session = start()
    session.run(
        "import os, time\nclass Slow:\n    def __reduce__(self):\n        print('noise')\n        time.sleep(1)\n        open('made', 'w').write('x')\n"
        "slow = Slow()\nr, w = os.pipe()")
    assert ask(session)["status"] == "ok"
    result = session.run("os.close(w)\nos.read(r, 1)")
    assert result.value == "b''" and "children" not in result.done
    assert session.run("os.wait()").done["ename"] == "ChildProcessError"
    saved = collect(session)
    assert b"slow" in saved.data
    assert "noise" not in session.run("os.path.exists('made') and os.stat('made').st_size").output


def test_an_interrupt_between_cells_does_not_end_the_copy(start):
    session = start()
    session.run("import time\nclass Slow:\n    def __reduce__(self):\n        time.sleep(0.5)\n        return list, ()\nslow = Slow()")
    assert ask(session)["status"] == "ok"
    session.interrupt()
    assert collect(session).end.kind == "saved"


@pytest.mark.parametrize("code, why", [
    ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()", "the code has threads"),
    ("import signal\nsignal.signal(signal.SIGCHLD, lambda *a: None)", "the code handles SIGCHLD"),
    ("import os\nos.close(5)", "the code closed a descriptor of the interpreter"),
    ("import os\nr, w = os.pipe()\nos.dup2(w, 5)", "the code closed a descriptor of the interpreter"),
])
def test_no_copy_where_none_is_safe(start, code, why):
    session = start()
    session.run(code)
    answer = ask(session)
    assert (answer["status"], answer["text"]) == ("no", why)


def test_at_the_end_the_interpreter_saves_itself(start, tmp_path):
    first = start()
    first.run("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\nx = 5")
    first.ident += 1
    first.send("save", first.ident, [("cell", "7"), ("limit", str(LIMIT)), ("here", "60000")])
    saved = collect(first)
    second = start()
    assert "x" in restore(second, saved, tmp_path).back


def save_here(session, milliseconds):
    session.ident += 1
    session.send("save", session.ident, [("cell", "7"), ("limit", str(LIMIT)), ("here", str(milliseconds))])
    saved = collect(session)
    assert session.next_frame()["status"] == "ok"
    return saved


def test_at_the_end_the_interpreter_saves_for_its_time_only(start):
    session = start()
    session.run("import time\nclass Slow:\n    def __reduce__(self): time.sleep(1e6)\nslow, x = Slow(), 5")
    answer = ask(session, here=20)
    assert (answer["status"], answer["text"]) == ("no", "the interpreter ended before all were saved")
    assert session.run("x").value == "5"


def test_an_interrupt_ends_a_save_of_the_interpreter_itself(start):
    session = start()
    session.run("import os, signal, time\nclass Used:\n    def __reduce__(self):\n        os.kill(os.getpid(), signal.SIGINT)\n        time.sleep(1e6)\nused, x = Used(), 5")
    assert ask(session, here=60000)["status"] == "no"
    assert session.run("x").value == "5"


def test_the_alarm_of_the_code_outlives_a_save(start):
    session = start()
    session.run("import signal\ndef on_alarm(number, frame): pass\nsignal.signal(signal.SIGALRM, on_alarm)\nsignal.alarm(100000)\nx = 5")
    assert save_here(session, 60000).end.kind == "saved"
    assert session.run("signal.getsignal(signal.SIGALRM) is on_alarm, 0 < signal.alarm(0) <= 100000").value == "(True, True)"


def test_flat_containers_are_shared_by_names(start, tmp_path):
    cells = [f"{name} = {value}\n{name}_2 = {name}\n{name}_3 = [{name}, {{'a': {name}}}]" for name, value in [
        ("a", "[1, 'x', None]"), ("b", "{1: 2.0, 'k': b'v'}"), ("c", "{1, 2}")]]
    session, told = carry(start, tmp_path, *cells, "deep = [[1], [2]]\nrow = deep[0]")
    assert len(told.back) == 11
    assert session.run("all(x is y is z[0] is z[1]['a'] for x, y, z in ((a, a_2, a_3), (b, b_2, b_3), (c, c_2, c_3))), row is deep[0]").value == "(True, True)"


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:-1], lambda data: data[:10] + b"?" + data[11:], lambda data: data + b"x",
    lambda data: b"x" * 60, lambda data: data[100:],
])
def test_a_damaged_file_is_not_loaded(start, tmp_path, damage):
    first = start()
    first.run("x = 'some text'\n" * 3)
    saved = save(first)
    second = start()
    told = restore(second, Saved(damage(saved.data), None), tmp_path)
    assert told["status"] == "error" and "damaged" in told["evalue"]
    assert second.run("'x' in dir()").value == "False"


def test_loading_can_be_interrupted(start, tmp_path):
    first = start()
    first.run("import time\ndef wait():\n    print('loads', flush=True)\n    while True: time.sleep(0.01)\n"
              "class Slow:\n    def __reduce__(self): return wait, ()\nslow = Slow()")
    saved = save(first)
    second = start()
    path = tmp_path / "saved"
    path.write_bytes(saved.data)
    second.send("restore", 99, [("file", str(path))])
    second.read_until("loads")
    second.interrupt()
    done = second.next_frame()
    assert done["status"] == "interrupted", done
    assert second.run("1").value == "1"


def test_figures_are_back_and_not_shown(start, python, tmp_path):
    if not harness.has_module(python, "matplotlib"):
        pytest.skip("no matplotlib")
    session, told = carry(start, tmp_path, "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\nNone")
    assert {"fig", "ax", "plt"} <= set(told.back), told.left
    assert session.run("1").images == []
    assert session.run("ax.figure is fig").value == "True"


def test_tables_are_back(start, python, tmp_path):
    if not harness.has_module(python, "pandas"):
        pytest.skip("no pandas")
    session, told = carry(start, tmp_path, "import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': np.arange(5), 'b': list('abcde')})\nv = np.ones(3)")
    assert {"df", "v", "pd", "np"} <= set(told.back), told.left
    assert session.run("v[0] = 2\nint(df.a.sum()), ''.join(df.b), float(v.sum())").value == "(10, 'abcde', 4.0)"


def test_what_only_reads_a_table_does_not_change_it_when_it_is_back(start, python, tmp_path):
    """In pandas `astype(str)` changes its table if the dtype of the objects is not the one that NumPy has."""
    if not harness.has_module(python, "pandas"):
        pytest.skip("no pandas")
    session, told = carry(
        start, tmp_path, "import pandas as pd, numpy as np\ndf = pd.DataFrame({'city': ['Ulm', None, 7], 'n': [1, 2, 3]})\n"
        "plain = [np.dtype(c) for c in np.typecodes['All'] if c not in 'SUVMm']\n"
        "def others(): return [np.dtype(k) for k in ('S', 'S3', 'U2', '>i4', 'V4', 'M8[s]', [('x', int), ('y', 'O')])]\n"
        "kept, noted = others(), np.dtype('O', metadata={'a': 1})")
    assert {"df", "plain", "kept", "noted"} <= set(told.back), told.left
    assert session.run("text = df['city'].astype(str)\ndf.city.tolist(), df.city.dtype is np.dtype('O')").value == "(['Ulm', None, 7], True)"
    assert session.run("all(kind is np.dtype(kind.char) for kind in plain), kept == others(), noted == 'O'").value == "(True, True, True)"


def test_attributes_that_refuse_questions_cost_no_class(start, tmp_path):
    session, told = carry(start, tmp_path, "class Keys(dict):\n    __getattr__ = dict.__getitem__\nclass A:\n    settings = Keys(a=1)\n    def one(self): return self.settings.a\na = A()")
    assert {"A", "Keys", "a"} <= set(told.back), told.left
    assert session.run("a.one()").value == "1"


def test_a_private_method_comes_back_with_its_class(start, tmp_path):
    session, told = carry(start, tmp_path, "class A:\n    def __one(self): return 1\n    def two(self): return 1 + self.__one()\na = A()")
    assert {"A", "a"} <= set(told.back) and "_A__one" not in str(told.left), told.left
    assert session.run("a.two()").value == "2"
