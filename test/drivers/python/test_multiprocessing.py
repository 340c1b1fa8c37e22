# SPDX-License-Identifier: MIT
"""multiprocessing with functions from cells, in every start method."""
import pytest

SETUP = """é = 1; import multiprocessing as mp, math, functools; print("side effect")
K = 10
data = [1, 2]
print("side effect")
def deco(f):
  @functools.wraps(f)
  def g(*a): return f(*a) + K
  return g
@deco
def sq(x): return x * x
class C:
  def __init__(self, v): self.v = v
  def run(self): return self.v * len(data)
def call(c): return c.run()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_find_functions_of_cells(session, method):
    session.run(SETUP)
    code = "with mp.get_context(%r).Pool(2) as p: print(p.map_async(sq, range(4)).get(timeout=200))" % method
    result = session.run(code)
    assert result.status == "ok", result.done["traceback"] + result.output
    assert "[10, 11, 14, 19]" in result.output
    assert "side effect" not in result.output  # MP03


def test_process_pool_executor(session):
    session.run(SETUP)
    code = (
        "from concurrent.futures import ProcessPoolExecutor as E\n"
        "with E(2, mp_context=mp.get_context('spawn')) as e: r = list(e.map(sq, range(4)))\nr"
    )
    assert session.run(code).value == "[10, 11, 14, 19]"


def test_methods_of_classes_of_cells(session):
    session.run(SETUP)
    code = "with mp.get_context('spawn').Pool(2) as p: r = p.map_async(call, [C(1), C(2)]).get(timeout=200)\nr"
    assert session.run(code).value == "[2, 4]"


def test_a_lambda_is_refused_and_nothing_hangs(session):
    session.run(SETUP)
    code = "with mp.get_context('spawn').Pool(2) as p: p.map_async(lambda x: x, [1]).get(timeout=200)"
    assert "PicklingError" in session.run(code).done["ename"]


def test_joblib(session, needs):
    needs("joblib")
    session.run(SETUP)
    code = "from joblib import Parallel, delayed\nParallel(n_jobs=2)(delayed(sq)(i) for i in range(3))"
    assert session.run(code).value == "[10, 11, 14]"


def test_an_interrupted_join_ends_the_children(session):
    session.run("import multiprocessing as mp, time\nmp.set_start_method('fork')\ndef w(): time.sleep(1000)")
    code = "ps = [mp.Process(target=w) for _ in range(2)]\n[p.start() for p in ps]\nprint('begun', flush=True)\n[p.join() for p in ps]"
    assert session.run_interrupted(code, seen="begun").status == "interrupted"
    assert session.run("[p.join(200) for p in ps]; [p.exitcode for p in ps]").value == "[1, 1]"


def test_errors_in_children_show_the_cell(session):
    session.run("import multiprocessing as mp\ndef bad(x):\n  return 1/x")
    result = session.run("with mp.get_context('spawn').Pool(1) as p: p.map_async(bad, [0]).get(timeout=200)")
    assert result.done["ename"] == "ZeroDivisionError"
    assert 'File "<cell 1>", line 3' in result.done["traceback"]
    assert "    return 1/x" in result.done["traceback"]


def test_helpers_of_multiprocessing_are_no_children(session):
    session.run(SETUP)
    code = "with mp.get_context('forkserver').Pool(2) as p: r = p.map_async(sq, range(4)).get(timeout=200)\np.join()"
    assert "children" not in session.run(code).done


CHILD = "with mp.get_context('%s').Pool(1) as p: r = p.map_async(%s, [%s]).get(timeout=200)\nr"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_have_values_as_they_are_now(session, method):
    session.run("import multiprocessing as mp\nscale = 1")
    session.run("scale = scale * 10; scale += 5")
    session.run("def g(x): return x * scale")
    assert session.run(CHILD % (method, "g", "1")).value == "[15]"


def test_children_have_no_names_that_are_deleted_and_none_that_never_ran(session):
    session.run("import multiprocessing as mp\nscale = 1; gone = 2\ndef old(): return 1\ndef gone_too(): pass")
    session.run("1 / 0; scale = 99\ndef old(): return 2\ndef never(): pass")
    session.run("del gone, gone_too\ndef g(x): return scale, old(), sorted({'gone', 'gone_too', 'never', '_load'} & set(globals()))")
    assert session.run(CHILD % ("spawn", "g", "1")).value == "[(1, 1, [])]"


def test_children_have_nothing_rather_than_something_wrong(session):
    session.run("import multiprocessing as mp, threading\nlock = 1; f = 1\nlarge = [1]\ndef h(): return 1")
    session.run("lock = threading.Lock(); large = bytes(5000000); h = (i for i in [1])")
    session.run("def g(x): return sorted({'lock', 'large', 'h'} & set(globals()))")
    assert session.run(CHILD % ("spawn", "g", "1")).value == "[[]]"


def test_children_have_instances_modules_defaults_and_lambdas(session):
    session.run("import multiprocessing as mp, xml.dom as dom\nK = 1\nclass C:\n  def __init__(self, v): self.v = v")
    session.run("c = C(4); f = lambda x: x + K\ndef g(x, k=K): return c.v, k, f(x), dom.__name__, type(c) is C\nK = 2")
    assert session.run(CHILD % ("spawn", "g", "1")).value == "[(4, 1, 3, 'xml.dom', True)]"


def test_what_a_cell_set_elsewhere_is_not_repeated_in_children(session):
    session.run("import multiprocessing as mp, sys\nold = sys.stdout; sys.stdout = None")
    session.run("sys.stdout = old")
    session.run("def g(x): print('child', x, flush=True)")
    assert "child 1" in session.run(CHILD % ("spawn", "g", "1")).output


def test_children_have_classes_that_a_call_made(session):
    session.run("import multiprocessing as mp, collections\nfrom collections import namedtuple")
    session.run("P = namedtuple('P', 'x y'); Q = collections.namedtuple('Q', 'z')\ndef g(p): return p.x, Q(3).z")
    code = "with mp.get_context('spawn').Pool(1) as p: r = p.map_async(g, [P(1, 2)]).get(timeout=9)\nr"
    assert session.run(code).value == "[(1, 3)]"


def test_an_interrupt_in_a_fork_is_pythons_own(session):
    result = session.run("import os, signal, traceback\npid = os.fork()\nif pid == 0:\n"
                         "    try:\n        signal.raise_signal(2)\n"
                         "    except KeyboardInterrupt:\n        traceback.print_exc()\n"
                         "    print(signal.getsignal(2) is signal.default_int_handler, flush=True)\n"
                         "    os._exit(0)\nos.waitpid(pid, 0)[1]")
    assert "KeyboardInterrupt" in result.output and "on_sigint" not in result.output
    assert result.output.endswith("True\n") and result.value == "0"
    assert session.run("import threading\nmade = []\ndef fork():\n    pid = os.fork()\n    if pid == 0:\n"
                       "        os._exit(7 if signal.getsignal(2) is signal.default_int_handler else 1)\n"
                       "    made.append(os.waitpid(pid, 0)[1])\n"
                       "t = threading.Thread(target=fork); t.start(); t.join()\nmade").value == "[%d]" % (7 << 8)


def test_what_only_reads_a_table_does_not_change_it_in_a_child(session, needs):
    needs("pandas")
    session.run("import multiprocessing as mp, pandas as pd\ndf = pd.DataFrame({'city': ['Ulm', None]})\n"
                "def read(n): return df['city'].astype(str).tolist() and df.city.isna().sum()")
    code = "with mp.get_context('spawn').Pool(1) as p: r = p.map_async(read, [1]).get(timeout=200)\nprint(r)"
    assert session.run(code).output == "[1]\n"
