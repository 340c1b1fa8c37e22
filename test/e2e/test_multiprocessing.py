# SPDX-License-Identifier: MIT
"""multiprocessing with functions that only cells define (MP of the interpreters' design)."""
import pytest
from patience import until
from steps import BEGUN, begin, own_seconds, with_word

SETUP = """import functools, multiprocessing as mp
print("side effect")
K = 10
def deco(f):
  @functools.wraps(f)
  def g(*a): return f(*a) + K
  return g
@deco
def square(x): return x * x
class Scale:
  def __init__(self, by): self.by = by
  def times(self, x): return self.by * x
"""


@pytest.fixture
def cells(server):
    server.cell(SETUP)
    return lambda code, **more: server.cell(code, **more)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_finds_the_functions_of_cells(cells, method):
    result = cells(f"with mp.get_context('{method}').Pool(2) as p: r = p.map(square, range(4))\nr")
    # MP03: children define what the cells defined and repeat nothing else.
    assert result.text == "[10, 11, 14, 19]\n"
    assert "children" not in result.status


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_an_executor_finds_the_functions_of_cells(cells, method):
    result = cells("from concurrent.futures import ProcessPoolExecutor as Executor\n"
                   f"with Executor(2, mp_context=mp.get_context('{method}')) as e: r = list(e.map(square, range(4)))\nr")
    assert result.text == "[10, 11, 14, 19]\n"


def test_a_pool_calls_the_method_of_an_instance(cells):
    assert cells("with mp.get_context('spawn').Pool(2) as p: r = p.map(Scale(3).times, [1, 2])\nr").text == "[3, 6]\n"


def test_what_a_child_prints_is_in_the_answer_and_no_other_cell_runs_again(cells):
    cells("def speak(x): print('child', x, flush=True)")
    result = cells("with mp.get_context('spawn').Pool(1) as p: p.map(speak, [1, 2]); p.close(); p.join()")
    assert result.text == "child 1\nchild 2\n"


def test_a_lambda_is_refused_and_nothing_hangs(cells):
    result = cells("with mp.get_context('spawn').Pool(2) as p: p.map(lambda x: x, [1])")
    assert result.state == "raised" and "PicklingError" in result.text
    assert cells("K").text == "10\n"


def test_joblib_runs_them_too(cells):
    if cells("import joblib").state == "raised":
        pytest.skip("no joblib for this Python (apt install python3-joblib)")
    result = cells("joblib.Parallel(n_jobs=2)(joblib.delayed(square)(i) for i in range(3))")
    assert result.text == "[10, 11, 14]\n"


def test_an_interrupted_join_ends_the_children(cells, server):
    word = own_seconds("8181")
    cells(f"import subprocess\ndef child(): subprocess.run(['sleep', '{word}'])")
    begin(server, "ps = [mp.get_context('fork').Process(target=child) for _ in range(2)]\n"
          f"for p in ps: p.start()\n{BEGUN}for p in ps: p.join()")
    until(lambda: len(with_word(word)) == 2)
    result = server.interact(action="interrupt")
    assert result.state == "interrupted" and "KeyboardInterrupt" in result.text
    until(lambda: not with_word(word))
    assert cells("[p.join() for p in ps]; [p.is_alive() for p in ps], K").text.endswith("([False, False], 10)\n")


def test_a_cell_that_falls_through_a_fork_is_answered_once(server):
    result = server.cell("import os\npid = os.fork()\nprint('parent' if pid else 'child', flush=True)\n"
                         "if pid: os.wait()")
    assert sorted(result.text.split()) == ["child", "parent"]
    assert server.cell("pid > 0").text == "True\n"
    assert not server.strays()


def test_a_forked_child_cannot_answer_for_the_cell(server):
    result = server.cell("import os\npid = os.fork()\nif not pid:\n  display('from the child')\n  raise ValueError('child')\n"
                         "os.waitpid(pid, 0)\n5")
    assert result.state == "done" and result.text.endswith("5\n")
    assert server.cell("6").text == "6\n"
