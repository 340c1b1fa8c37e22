# SPDX-License-Identifier: MIT
"""Notebook syntax: magics and shell commands."""
import zipfile

import pytest


def test_shell_commands(session):
    assert session.run("!echo hi").output == "hi\n"
    assert session.run("x = !echo a; echo b\nx").value == "['a', 'b']"
    assert session.run("x.n").value == "'a\\nb'"
    assert session.run("for i in range(2):\n    !echo {i} $i\nprint(1)").output == "0 0\n1 1\n1\n"
    assert session.run("!echo a \\\n  b\n1/0").done["line"] == "3"
    assert session.run("!false\n_exit_code").value == "1"


@pytest.mark.parametrize(
    "code, output, value",
    [
        ('s = """\n!not magic\n%nope\n"""\ns', "", "'\\n!not magic\\n%nope\\n'"),
        ("a = (5\n% 3)\na", "", "2"),
        ("x = 5 %2\nx", "", "1"),
        ("x = 5\nx != 3", "", "True"),
        ('s = """\n!text\n"""\n!echo run', "run\n", None),
        ("d = {\n 1: 2,\n}\n!echo d", "d\n", None),
        ("%matplotlib inline\n7", "", "7"),
        ("if True:\n  %cd /\nimport os; os.getcwd()", "/\n", "'/'"),
        ("%%bash\necho hi\nX=1; echo $X", "hi\n1\n", None),
        ("\n%%sh\necho sh", "sh\n", None),
        ("%env A=b\nimport os; os.environ['A']", "env: A=b\n", "'b'"),
        ("%load_ext autoreload\n%autoreload 2", "[%autoreload does nothing here: importlib.reload(module) loads a module anew]\n", None),
        ("get_ipython().run_line_magic('matplotlib', 'inline')\nget_ipython().system('echo s')", "s\n", None),
        ("get_ipython().run_cell_magic('bash', '', 'echo c')", "c\n", None),
        ("%matplotlib --list", "Available matplotlib backends: ['inline']\n", None),
        ("%time 1", None, "1"),
        ("%%capture out\nprint('x')\n1", "", None),
        ("%%capture out\n%matplotlib inline\n!echo lost\n1", "", None),
        ("%%capture\np = %pwd\nq = !echo kept", "", None),
        ("p = %pwd\ntype(p)", "", "<class 'str'>"),
        ("if True: r = !echo if\nr", "", "['if']"),
        ("r: list = !echo typed\nr, __annotations__['r']", "", "(['typed'], <class 'list'>)"),
        ("s = '''\npip install x\nnpm i\n'''\n!echo run", "run\n", None),
    ],
)
def test_notebook_syntax(session, code, output, value):
    result = session.run(code)
    if output is None:
        output = result.output
    assert (result.status, result.output, result.value) == ("ok", output, value)


@pytest.mark.parametrize(
    "code, output, value",
    [
        ("  x = 1\n  x", "", "1"),
        ("    !echo in\n    y = !echo o\n    if y:\n        %pwd -\n    y.n", "in\n", "'o'"),
        ("  %%bash\n  echo b", "b\n", None),
    ],
)
def test_a_cell_may_be_indented_as_a_whole(session, code, output, value):
    result = session.run(code)
    assert (result.status, result.output, result.value) == ("ok", output, value)


@pytest.mark.parametrize("code, line", [("In [1]: x = 2", "1"), ("x\nIn[12]: x", "2"), ("y = x\n\nOut[3]: 1", "3")])
def test_prompts_of_a_pasted_session_are_refused(session, code, line):
    session.run("x = 1")  # so that each is an annotation whose names are there
    result = session.run(code)
    assert result.status == "error" and result.done["line"] == line
    assert "is a prompt of IPython, not code: send the cell without prompts and outputs" in result.done["traceback"]
    assert session.run("x, 'y' in globals(), type(In[1])").value == "(1, False, <class 'str'>)"


def test_the_error_of_an_indented_cell_is_that_of_its_text(session):
    for code, line in (("  x = 1\n y = 2", "2"), ("x = 1\n  y = 2", "2"), ("  x = 1\n  y = (", "2")):
        failed = session.run(code)
        assert failed.done["line"] == line and "During handling" not in failed.done["traceback"], failed


@pytest.mark.parametrize(
    "command, output",
    [
        (r"""echo '{{"a": {x}}}'""", '{"a": 5}'),
        (r"""echo '{{"a": {{"b": {x}}}}}'""", '{"a": {"b": 5}}'),
        (r"""echo '{{"a": 1, "b": "{x}"}}'""", '{"a": 1, "b": "5"}'),
        (r"""echo "{{\"a\": [{{}}, {x}]}}" '{{a{x}b}}'""", '{"a": [{}, 5]} {a5b}'),
        ("echo '{{{{.Names}}}}' '{{.Names}}'", "{{.Names}} {.Names}"),
        ("for i in 1 2; do echo ${{i}} {x} ${HOME:+set} $$i; done", "1 5 set 1\n2 5 set 2"),
        ("echo '{{.Names}}' '{{{x}}}' {x} | awk '{print $1, $2, $3}'", "{{.Names}} {{{x}}} 5"),
        (r"""echo "{\"id\": $x}" '{"id": $x}'""", '{"id": 5} {"id": $x}'),
        (r"""echo "{'a': '$name'} {\"a\": {\"b\": $x, \"c\": {x}}}" """, """{'a': 'n'} {"a": {"b": 5, "c": 5}}"""),
        (r"""echo a b | awk "{print \$2, $x}" """, "b 5"),
        ('f() { echo "in f $x $1"; }; f $x', "in f 5 5"),
        ("echo {log.append(1) or 'once'} {log} {}", "once [1] {}"),
        ("bad=shell; echo $bad.x $half.p", "shell.x .p"),
    ],
)
def test_braces_of_a_command_are_those_of_format_or_each_its_own(session, command, output):
    session.run("class Bad:\n  def __str__(self): 1 / 0\n  p = property(__str__)\n"
                "x, name, log, bad, half = 5, 'n', [], Bad(), Bad()")
    assert session.run("!" + command).output == output + "\n"


@pytest.mark.parametrize(
    "code, output",
    [
        ("path = 'all'\ndef f(path):\n    !echo {path} $path\nf('mine')", "mine mine\n"),
        ("def f(loc):\n    r = !echo {loc} [$loc]\n    print(r)\nf('L')", "['L [L]']\n"),
        ("class K:\n    p = 'own'\n    !echo {p}\n    def m(self):\n        !echo {self.p.upper()} $self.p\nK().m()",
         "own\nOWN own\n"),
        ("sh = get_ipython()\ndef f(i):\n    sh.system('echo {i}')\n    return sh.getoutput('echo $i')\nprint(f(1))",
         "1\n['1']\n"),
        ("print([get_ipython().getoutput('echo {i}') for i in range(2)])", "[['0'], ['1']]\n"),
        ("def f(d):\n    %cd {d}\nf('/')", "/\n"),
        ("def f(v):\n    %env X=$v\nf('w')", "env: X=w\n"),
        ("def f(v):\n    %time !echo {v}\nf('timed')", None),
        ("def f(v):\n    get_ipython().run_line_magic('sx', 'echo {v} >&2')\n    get_ipython().magic('pwd $v')\nf(1)", ""),
        ("def f(k):\n    !echo {[k + i for i in range(2)]}\nf(3)", "[3, 4]\n"),
    ],
)
def test_a_command_in_a_function_takes_the_names_of_the_function(session, code, output):
    result = session.run(code)
    if output is None:
        assert result.output.startswith("timed\nCPU time")
    else:
        assert (result.status, result.output) == ("ok", output)


@pytest.mark.parametrize(
    "command, output",
    [
        ("for q in 1 2; do echo $$q; done", "1\n2\n"),
        ("x=5; echo $$x $x", "5 10\n"),
        ("echo $$x-$q.", "-sh.\n"),
        ("echo '{{x}}' {{{x}}}", "{x} {10}\n"),
        ("echo {s!r} {s!s}", "s h s h\n"),
        ("echo {{'a': {'b': x}}}", "{{a: {b: x}}}\n"),
        ("echo ${#HOME} ${x}. ${HOME:+set}", None),
        ("echo $o.a.b $o.none $q.txt $q.title", "[deep] 1.none sh.txt sh.title\n"),
        ("echo '$x' \"it's $x '$x'\" $x", "$x it's 10 '10' 10\n"),
        ("echo \\$x it\\'s $x", "$x it's 10\n"),
        ("echo '{x}'", "10\n"),
    ],
)
def test_dollars_and_braces_of_a_shell_command(session, command, output):
    session.run(
        "x = 10; q = 'sh'; s = 's h'\nclass O:\n  def __str__(self): return '1'\n"
        "o = O(); o.a = O(); o.a.b = '[deep]'\nimport os; os.environ.pop('x', None); os.environ.pop('q', None)")
    result = session.run("!" + command)
    if output is not None:
        assert (result.status, result.output) == ("ok", output)
    else:
        assert result.output.endswith(" . set\n")


def test_the_line_of_each_magic_takes_names(session, tmp_path):
    session.run("fn = 'dyn.txt'; b = 'two'")
    assert session.run("%%writefile {fn}\n{fn}").output == "Writing dyn.txt\n"
    assert session.run("%%writefile -a $fn\nmore").output == "Appending to dyn.txt\n"
    assert (tmp_path / "dyn.txt").read_text() == "{fn}\nmore\n"
    assert session.run("def f(name):\n    get_ipython().run_cell_magic('file', '{name}', 'x')\nf('other.txt')").output == \
        "Writing other.txt\n"
    session.run("get_ipython().register_magic_function(lambda line: print('<%s>' % line), 'line', 'told')")
    assert session.run("%told {fn} $b").output == "<dyn.txt two>\n"
    assert session.run("%time print('{b}')").output.startswith("{b}\n")


def test_what_is_taken_from_a_command_has_its_errors(session):
    result = session.run("r = !echo out; echo err >&2\nr")
    assert (result.output, result.value) == ("", "['out', 'err']")
    assert session.run("get_ipython().getoutput('echo err >&2')").value == "['err']"


def test_timing(session):
    assert "per loop" in session.run("%timeit -n 100 -r 2 1").output
    assert "per loop" in session.run("%%timeit -n 10 -r 2\nx = 1").output
    result = session.run("%%time\nprint(1)\n6*7")
    assert result.value == "42" and "wall time" in result.output
    assert session.run("%time 1+1").value == "2"
    for code in ("%time !echo one", "%%time\n!echo one", "%%time\nif True:\n  !echo one"):
        assert session.run(code).output.startswith("one\nCPU time")
    assert "per loop" in session.run("%timeit -n 1 -r 1 !true").output
    assert "per loop" in session.run("%%timeit -n 1 -r 1\nx = !echo one").output


def test_errors_in_magic_cells_have_the_right_line(session):
    result = session.run("%%time\nx = !echo 1\n1/0")
    assert result.done["line"] == "3" and "ptycell" not in result.done["traceback"]


@pytest.mark.parametrize("code", ["bad syntax here\n!ls", "def f():\n    return !ls", "!= 3"])
def test_what_is_no_magic_keeps_its_own_error(session, code):
    result = session.run(code)
    assert result.done["ename"] == "SyntaxError"
    assert "__ptycell" not in result.done["traceback"]


@pytest.mark.parametrize("code, line, shown", [
    ("!echo a\nx = = 3", 2, "    x = = 3\n        ^"),
    ("%time 1\ny = 1 +\nz = 2", 2, "    y = 1 +\n"),
    ("!echo a\nprint(1); !echo b", 2, "    print(1); !echo b\n              ^"),
    ("if True:\n!echo a", 2, "    !echo a\n    ^"),
    ("!echo a\n1 = !echo b", 2, "    1 = !echo b\n    ^"),
    ("%pwd\nif True: x = %pwd\n    y", 3, "    y\n"),
])
def test_the_error_of_a_cell_with_magics_is_where_it_is(session, code, line, shown):
    result = session.run(code)
    assert result.done["line"] == str(line) and shown in result.done["traceback"], result.done["traceback"]
    assert "__ptycell" not in result.done["traceback"] and not result.output


def test_unknown_magics_name_the_known_ones(session):
    result = session.run("%nosuch")
    assert result.done["ename"] == "UsageError" and "%timeit" in result.done["evalue"]


@pytest.mark.parametrize("code", ["%sql SELECT 1", "%%sql\nSELECT 1\n"])
def test_a_magic_for_queries_names_the_tool_for_them(session, code):
    assert "magic " + code.split()[0] + ", queries are for exec_sql; there are: " in session.run(code).done["evalue"]


@pytest.mark.parametrize(("code", "language"), [("%%javascript\n1\n", "javascript"), ("%%js\n1\n", "javascript"),
                                                ("%%R\n1\n", "r"), ("%R 1", "r")])
def test_a_magic_for_another_language_says_how_to_run_it(session, code, language):
    said = session.run(code).done["evalue"]
    assert "magic " + code.split()[0] + ', exec_code runs it with language "%s"; there are: ' % language in said


def test_files_and_names(session, tmp_path):
    assert "Writing a.py" in session.run("%%writefile a.py\nfrom_a = 3\n").output
    session.run("%run a.py")
    assert session.run("from_a").value == "3"
    assert "from_a" in session.run("%who").output
    session.run("%reset -f")
    assert session.run("%whos").output == "No names are defined.\n"
    assert session.run("from_a").done["ename"] == "NameError"
    assert session.run("%%capture got\nprint('x')").output == ""
    assert session.run("got.stdout").value == "'x\\n'"


def test_help_by_question_mark(session):
    assert "number of items" in session.run("len?").output
    assert "number of items" in session.run("?len").output


def test_a_failing_script_is_an_error(session):
    assert session.run("%%bash\nexit 3").done["ename"] == "CalledProcessError"


def test_pip_is_that_of_the_interpreter(session):
    result = session.run("!pip --version\n%pip --version")
    version = ".".join(session.ready["version"].split(".")[:2])
    lines = [line for line in result.output.split("\n") if line]
    if "No module named pip" in result.output:
        pytest.skip("no pip")
    assert len(lines) == 2 and all("python %s" % version in line for line in lines)


def write_wheel(path):
    """The smallest package that pip installs without building."""
    info = "cellpkg-1.dist-info/"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("cellpkg.py", "answer = 42\n")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: cellpkg\nVersion: 1\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")


def test_an_installed_package_is_importable_at_once(session, needs, tmp_path):
    needs("pip")
    write_wheel(tmp_path / "cellpkg-1-py3-none-any.whl")
    session.run("import sys; sys.path.insert(0, 'site')\ntry: import cellpkg\nexcept ImportError: pass")
    code = "%pip install -q --no-index --target site ./cellpkg-1-py3-none-any.whl"
    result = session.run(code)
    assert session.run("import cellpkg; cellpkg.answer").value == "42", result.output


@pytest.mark.parametrize("code", ["%load_ext nosuch", "%set_env var", "%env NO_SUCH_VARIABLE", "%run", "%run -q x.py", "%load_ext json"])
def test_a_magic_that_cannot_work_says_so(session, code):
    assert session.run(code).done["ename"] == "UsageError"


@pytest.mark.parametrize("code", ["%precision %e", "%config InlineBackend.figure_format = 'svg'", "%matplotlib qt"])
def test_a_magic_that_does_nothing_says_so(session, code):
    result = session.run(code)
    assert result.status == "ok" and result.output.startswith("[%" + code[1:].split()[0])


def test_time_and_timeit_see_the_names_of_a_function(session):
    code = "def f(k):\n    %%%s\n    return k\nf(3)"
    result = session.run(code % "time print(2*k)")
    assert result.output.startswith("6\nCPU time") and result.value == "3"
    assert "per loop" in session.run(code % "timeit -n 1 -r 1 k + 1").output
    failed = session.run(code % "time print(nosuch)")
    assert failed.done["line"] == "2" and "%time print(nosuch)" in failed.done["traceback"]


def test_a_shell_command_that_fails_is_told_by_its_status(session):
    result = session.run("x = 1\n!exit 4")
    assert (result.status, result.done["code"]) == ("exit", "4") and "x int" in result.done["names"]
    assert session.run("!false\n!true").status == "ok"
    assert session.run("y = !exit 3").done["code"] == "3"
    assert session.run("!kill -9 $$").done["code"] == "137"
    assert session.run("1").status == "ok"


def test_run_takes_options_modules_and_notebooks(session, tmp_path):
    session.run("secret = 7")
    (tmp_path / "r.py").write_text("import sys\nprint(sys.argv, globals().get('secret'), __name__)\nmade = __own = 1\n")
    assert session.run("%run r.py a b").output == "['r.py', 'a', 'b'] None __main__\n"
    assert session.run("%run -i r.py").output == "['r.py'] 7 __main__\n"
    assert session.run("%run -n r.py").output == "['r.py'] None r\n"
    assert "wall time" in session.run("%run -t r.py").output
    assert session.run("made, __own").value == "(1, 1)"
    (tmp_path / "mod.py").write_text("print('as', __name__)")
    assert session.run("%run r a").output == "['r.py', 'a'] None __main__\n"
    assert session.run("%run -m mod").output == "as __main__\n"
    (tmp_path / "n.ipynb").write_text(
        '{"cells": [{"cell_type": "markdown", "source": "x y"}, {"cell_type": "code", "source": ["n = 5\\n", "print(n)"]}]}')
    assert session.run("%run n.ipynb").output == "5\n"
    assert session.run("n").value == "5"
    (tmp_path / "i.ipy").write_text("w = !echo by {n}\nprint(w[0])\n")
    assert session.run("%run i.ipy").output == "by 5\n"
    assert session.run("w.n").value == "'by 5'"


def test_run_finds_the_files_that_patterns_name(session, tmp_path):
    (tmp_path / "r.py").write_text("import sys\nprint(sys.argv[1:])\n")
    for name in ("b 2.csv", "a.csv"):
        (tmp_path / name).touch()
    assert session.run("%run r.py -x *.csv '*.[c]sv' no*.csv").output == \
        "['-x', 'a.csv', 'b 2.csv', 'a.csv', 'b 2.csv', 'no*.csv']\n"
    assert session.run("%run r.py ~/x ~").output == "['%s/x', '%s']\n" % (tmp_path, tmp_path)
    assert session.run("%run -G r.py *.csv").output == "['*.csv']\n"


def test_a_script_keeps_its_place_when_the_folder_is_left(session, tmp_path):
    (tmp_path / "left.py").write_text("import os, inspect\ndef f():\n    return 1 / 0\nos.chdir('/')\n"
                                      "print(inspect.getsource(f))\nf()\n")
    failed = session.run("%run left.py")
    assert failed.output == "def f():\n    return 1 / 0\n\n"
    assert 'File "%s/left.py", line 3, in f\n    return 1 / 0' % tmp_path in failed.done["traceback"]


def test_a_script_has_the_builtins_of_cells(session, tmp_path):
    (tmp_path / "b.py").write_text(
        "display({'a': mine})\nprint('by', __builtins__ is __import__('builtins'))\n"
        "def later():\n    return mine\nget_ipython().system('echo in {later()}')\n")
    session.run("import builtins\nbuiltins.mine = 5\nbuiltins.print = lambda *words, old=print: old('patched', *words)")
    for options in ("", "-i "):
        result = session.run("%%run %sb.py" % options)
        assert (result.status, result.output) == ("ok", "patched by True\nin 5\n"), result
        assert [frame["text/plain"] for frame in result.displays] == ["{'a': 5}"]
    assert session.run("builtins.mine = 6\nlater()").value == "6"


@pytest.mark.parametrize(
    "end, said, code",
    [("sys.exit(0)", "", None), ("sys.exit(3)", "", "3"), ("sys.exit('no input')", "no input\n", "1"), ("exit()", "", None)],
)
def test_a_script_that_exits_ends_alone_and_leaves_its_names(session, tmp_path, end, said, code):
    (tmp_path / "ex.py").write_text("import sys\nQ = Q0 = len(sys.argv)\nprint('in', __file__)\n%s\nQ = 9\n" % end)
    result = session.run("for _ in range(2):\n    %run ex.py a\nprint('after')")
    assert result.output == ("in %s/ex.py\n" % tmp_path + said) * 2 + "after\n"
    assert (result.status, result.done.get("code")) == (("exit", code) if code else ("ok", None))
    assert session.run("Q, __name__").value == "(2, '__main__')"
    assert session.run("%run -e ex.py").status == "ok"


def test_a_script_that_fails_leaves_its_names_and_its_traceback(session, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "bad.py").write_text("import sib\nmade = sib.one\ndef f():\n    return 1 / 0\nf()\n")
    (tmp_path / "sub" / "sib.py").write_text("one = 1\n")
    failed = session.run("%run sub/bad.py")
    assert failed.done["ename"] == "ZeroDivisionError"
    trace = failed.done["traceback"]
    assert "runpy" not in trace and trace.count("  File ") == 3 and 'File "%s/sub/bad.py", line 4, in f' % tmp_path in trace
    assert session.run("import sys\nmade, sys.modules['__main__'].made, 'sub' in ' '.join(sys.path)").value == "(1, 1, False)"
    assert session.run("%run nosuch.py").done["ename"] == "FileNotFoundError"


def test_a_folder_and_an_archive_are_run_by_their_main(session, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("print('folder', __name__)\nf = 1\n")
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "print('archive')\n")
    assert session.run("%run app\n%run app.pyz\nf").output == "folder __main__\narchive\n"


@pytest.mark.parametrize(
    "line, body, output",
    [
        ("-s 'a b' c", "echo $# $1; echo $2", "2 a b\nc\n"),
        ("-s \"$x\" {x}", "echo \"$1\" $2 $0", "v w v bash\n"),
        ("-e -s a", "echo $1\nfalse || echo b", "a\nb\n"),
        ("-s -- -a -- {x}", "echo \"$#: $1|$2|$3\"", "4: -a|--|v\n"),
        ("--out o --err e -s a", "echo $1; echo err >&2", ""),
        ("--out o --err e --no-raise-error", "echo a; echo err >&2; exit 3", ""),
    ],
)
def test_a_cell_of_bash_takes_arguments_and_options(session, line, body, output):
    session.run("x = 'v w'")
    result = session.run("%%bash " + line + "\n" + body)
    assert (result.output, result.done.get("ename")) == (output, None)
    if "--out" in line:
        assert session.run("o, e").value == "('a\\n', 'err\\n')"


def test_what_a_cell_of_bash_cannot_do_is_told(session):
    assert session.run("%%bash --bg\nx").done["ename"] == "UsageError"
    assert session.run("%%bash --out\nx").done["ename"] == "UsageError"
    assert session.run("%%capture c\n%%bash\necho kept").output == ""
    assert session.run("c.stdout").value == "'kept\\n'"


def test_cd_goes_back_and_is_quiet_when_asked(session, tmp_path):
    assert session.run("%cd -").done["ename"] == "UsageError"
    assert session.run("%cd /\n%cd -\n%cd -\n%cd -q /usr").output == "/\n%s\n/\n" % tmp_path
    assert session.run("%pwd").value == "'/usr'"
    assert session.run("%cd nosuch").done["ename"] == "FileNotFoundError" and session.run("%cd -").output == "/\n"


def test_output_is_one_text_when_asked(session):
    assert session.run("get_ipython().getoutput('echo a; echo b', split=False)").value == "'a\\nb'"


def shown_by(result):
    return [frame["text/plain"] for frame in result.displays] + ([result.value] if result.value is not None else [])


@pytest.mark.parametrize("setting", ["get_ipython().ast_node_interactivity = 'all'",
                                     "%config InteractiveShell.ast_node_interactivity = 'all'",
                                     "from IPython.core.interactiveshell import InteractiveShell\n"
                                     "InteractiveShell.ast_node_interactivity = 'all'"])
def test_all_values_of_a_cell_are_shown_when_that_is_asked_for(session, setting):
    session.run(setting)
    assert shown_by(session.run("1\nx = 2\nNone\nx")) == ["1", "2"]
    assert shown_by(session.run("for i in range(2): i\nx = 3")) == ["0", "1"]
    assert shown_by(session.run("import asyncio\n'a'\nawait asyncio.sleep(0, 'b')\n'c';")) == ["'a'", "'b'"]
    failed = session.run("4\n1/0\n5")
    assert shown_by(failed) == ["4"] and failed.done["line"] == "2" and failed.done["ename"] == "ZeroDivisionError"
    assert "x int" in session.run("6\nx = 7").done["names"]


def test_which_values_are_shown_is_a_setting(session):
    session.run("get_ipython().ast_node_interactivity = 'last_expr_or_assign'")
    assert [session.run(code).value for code in ("1\nx = 2", "x += 1", "x: int = 4", "x = 5;", "x, y = 6, 7", "a = b = 8", "8", "z: int", "")] == \
        ["2", "3", "4", None, None, None, "8", None, None]
    session.run("get_ipython().ast_node_interactivity = 'none'")
    assert session.run("x").value is None
    session.run("get_ipython().ast_node_interactivity = 'last'")
    for code, shown in (("1\nfor i in range(2): i", ["0", "1"]), ("1\n2", ["2"]), ("1\nif x: x", ["6"]), ("1\nx = 6", []),
                        ("1\n2;", []), ("", []), ("import asyncio\n1\nif x: await asyncio.sleep(0, 3)", ["3"])):
        assert shown_by(session.run(code)) == shown, code
    for setting in ("get_ipython().ast_node_interactivity = 'al'", "%config InteractiveShell.ast_node_interactivity = 'al'"):
        assert "'al' is none of" in session.run(setting).done["evalue"]
    session.run("get_ipython().ast_node_interactivity = 'last_expr'")
    assert session.run("1\nx").value == "6"


def test_what_notebooks_ask_of_the_lines_of_a_command(session):
    session.run("r = !printf 'one 1\\ntwo  2\\nthree\\n'")
    for code, value in (("r.l == r.list == list(r)", "True"), ("r.grep('T').s", "'two  2 three'"), ("r.grep('^t', prune=True)", "['one 1']"),
                        ("r.grep('2', field=1).n", "'two  2'"), ("r.grep(str.isalpha)", "['three']"),
                        ("r.fields(0)", "['one', 'two', 'three']"), ("r.fields(1, 0).fields(0)", "['1', '2', 'three']"),
                        ("r.fields()", "[['one', '1'], ['two', '2'], ['three']]")):
        assert session.run(code).value == value, code


def test_what_exported_notebooks_ask_of_the_shell(session):
    assert session.run("get_ipython().push({'p': 2})\nget_ipython().ex('q = p + 1')\nget_ipython().ev('p + q')").value == "5"
    assert session.run("q").value == "3"
    assert session.run("get_ipython().ev('nosuch')").done["ename"] == "NameError"
    assert session.run("def f():\n    here = 7\n    get_ipython().push(['here'])\nf()\nhere").value == "7"
    assert session.run("z = 1\nget_ipython().push('q z')\nq").value == "3"


def test_magics_are_registered_as_ipython_does(session, needs):
    needs("IPython")
    session.run("from IPython.core.magic import register_line_magic, register_cell_magic, register_line_cell_magic\n"
                "@register_line_magic\ndef upper(line):\n    return line.upper()\n"
                "@register_cell_magic('body')\ndef say(line, text):\n    print(line, text)\n"
                "@register_line_cell_magic\ndef both(line, text=None):\n    return line, text")
    assert session.run("x = %upper abc\nx").value == "'ABC'"
    assert session.run("%%body one\ntwo").output == "one two\n"
    assert session.run("%both a").value == "('a', None)"
    assert session.run("%%both a\nb").value == "('a', 'b')"


@pytest.mark.parametrize("target, value", [
    ("first, *rest = !printf 'a\\nb\\nc'\nfirst, rest", "('a', ['b', 'c'])"),
    ("d = {}\nfor i in (1, 2):\n    d[str(i)] = !echo {i}\nd", "{'1': ['1'], '2': ['2']}"),
    ("v = [0, 0]\nv[len(v) - 1] = !echo a\nv", "[0, ['a']]"),
    ("(a, b) = !printf 'a\\nb'\nb", "'b'"),
])
def test_lines_of_a_command_go_to_any_target(session, target, value):
    assert session.run(target).value == value


@pytest.mark.parametrize("code", ["print(a = !ls)", "!true\nf(x, y = !ls)"])
def test_a_command_is_no_argument(session, code):
    result = session.run(code)
    assert result.done["ename"] == "SyntaxError" and "!ls)" in result.done["traceback"]
    assert "closed" not in result.done["traceback"]


def test_timeit_gives_what_it_has_measured_when_asked(session):
    result = session.run("t = %timeit -q -n 3 -r 2 -o 1\nt.loops, t.repeat, len(t.all_runs), t.best <= t.average <= t.worst, t.stdev >= 0")
    assert (result.output, result.value) == ("", "(3, 2, 2, True, True)")
    assert session.run("get_ipython().run_cell_magic('timeit', '-n1 -r1 -q -o', 'pass').timings").value.startswith("[")
    assert "2 runs, 3 loops each" in session.run("t").value
    assert "per loop" in session.run("%timeit -n1 -r1 -o 1").output


def test_help_of_literals_and_sources(session):
    assert "Concatenate any number of strings" in session.run("''.join?").output
    session.run("def f(a):\n    'Doc.'\n    return a + 1")
    assert "return a + 1" in session.run("f??").output and "return a + 1" not in session.run("f?").output
    assert "return a + 1" in session.run("??f").output
    unknown = session.run("print(1)\nnosuch?\nf.nosuch?")
    assert (unknown.status, unknown.output) == ("ok", "1\nObject `nosuch` not found.\nObject `f.nosuch` not found.\n")


def test_capture_keeps_values_and_figures(session, needs):
    needs("matplotlib")
    result = session.run("%%capture out\nimport matplotlib.pyplot as plt\nplt.plot([1])\nprint('x')\ndisplay('d')\n3")
    assert not result.displays and result.value is None and result.output == ""
    assert session.run("out.stdout, len(out.outputs), out.outputs[0], 'image/png' in out.outputs[2].data").value == \
        "('x\\n', 3, 'd', True)"
    shown = session.run("out.show()")
    assert shown.output == "x\n" and len(shown.images) == 1
    assert session.run("%%capture --no-stdout\nprint('x')").output == "x\n"


def test_files_of_the_session_are_no_modules_of_a_magic(start, tmp_path):
    session = start()
    for name in "subprocess cProfile pdb runpy contextlib warnings pickle copyreg tempfile shutil functools".split():
        (tmp_path / (name + ".py")).write_text("print('run: %s')\n" % name)
    (tmp_path / "five.txt").write_text("print(5)\n")
    assert session.run("!echo one").output == "one\n"
    assert session.run("%%bash\necho two").output == "two\n"
    assert session.run("%%capture got\nprint(3)").output == ""
    assert session.run("got.stdout").value == repr("3\n")
    assert session.run("%run five.txt").output == "5\n"
    assert "function calls" in session.run("%prun 1").output
    for name in ("subprocess", "cProfile"):
        assert session.run("import %s" % name).output == "run: %s\n" % name
    assert session.run("!echo one").output == "one\n"


def test_the_cells_so_far_and_their_values_have_names(session):
    assert session.run("In[1], len(Out)").value == "('In[1], len(Out)', 0)"
    session.run("5")
    session.run("'six'")
    assert session.run("_, __, _2, _3, Out[2], Out[3]").value == "('six', 5, 5, 'six', 5, 'six')"
    assert session.run("In[2], len(In)").value == "('5', 6)"
    assert session.run("%history -l 2").output == "_, __, _2, _3, Out[2], Out[3]\nIn[2], len(In)\n"
    assert session.run("%history -n 2-3 1").output == "1: In[1], len(Out)\n2: 5\n3: 'six'\n"
    for words in ("2-x", "-f out.py", "-g five 1", "~1/1", "-l x"):
        assert "%history takes numbers of cells" in session.run("%history " + words).done["evalue"]
    assert session.run("%hist -n").output.startswith("1: In[1], len(Out)\n2: 5\n")
    assert session.run("In = 3").done["names"] == "In int" and session.run("In").value == "3"
    for i in range(30):
        session.run(str(i))
    assert session.run("len(Out)").value == "20"
    assert session.run("'_2' in vars(__builtins__)").value == "False"


def test_a_script_of_any_program(session):
    assert session.run("%%script bash\necho hi").output == "hi\n"
    assert session.run("%%python3\nimport sys; print(sys.argv[1:], 6 * 7)").output == "[] 42\n"
    assert session.run("%%script cat -n\na").output.split() == ["1", "a"]
    failed = session.run("%%script bash\nexit 3")
    assert failed.done["ename"] == "CalledProcessError"
    assert session.run("%%script\nx").done["ename"] == "UsageError"


@pytest.mark.parametrize("text, module", [
    ("Missing optional dependency 'tabulate'.  Use pip or conda to install tabulate.", "tabulate"),
    ("Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'.", "pyarrow"), ("other", None)])
def test_a_missing_optional_dependency_is_named(session, text, module):
    assert session.run(f"raise ImportError({text!r})").done.get("missing") == module


def test_classes_of_magics_are_registered_by_themselves_and_by_extensions(session, needs):
    needs("IPython")
    session.run("""open('ext.py', 'w').write('''
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class

@magics_class
class Spells(Magics):
    @line_magic
    def whisper(self, line):
        return line.lower()
    @cell_magic
    def shout(self, line, cell):
        return line + cell.upper()
    @line_cell_magic("both")
    def either(self, line, cell=None):
        return (line, cell)

def load_ipython_extension(shell):
    shell.register_magics(Spells)
''')""")
    session.run("%load_ext ext")
    assert session.run("%whisper ABC").value == "'abc'"
    assert session.run("%%shout a\nb\n").value == "'aB\\n'"
    assert session.run("%both x").value == "('x', None)"
    assert session.run("%%both x\ny\n").value == "('x', 'y\\n')"
    assert session.run("import ext\nget_ipython().register_magics(ext.Spells(get_ipython()))").output == ""
    assert session.run("%whisper DE").value == "'de'"
