# SPDX-License-Identifier: MIT
"""`%run`: runs a script, a module or a notebook.

The names that it leaves become names of the cells, even if it fails or exits.
"""

import _io
import builtins
import sys

from .errors import exit_code
from .kinds import ModuleType
from .magics_syntax import UsageError
from .magics_timing import timed
from .own import own
from .programs import note_exit
from .run import evaluate
from .sources import sources
from .state import MAIN, NAMESPACE


def magic_run(line):
    shlex = own("shlex")

    options, words = set(), shlex.split(line)
    while words and words[0].startswith("-") and words[0] != "-":
        options.add(words.pop(0))
    unknown = options - {"-i", "-e", "-n", "-t", "-m", "-G"}
    if unknown or not words:
        raise UsageError("%%run takes a file, or a module behind -m, and the options -i -e -n -t -G%s" % (
            "; not " + " ".join(sorted(unknown)) if unknown else ""))
    if "-G" not in options:
        words[1:] = [name for word in words[1:] for name in files_named(word)]
    work = lambda: run_file(words, options)
    return timed(work) if "-t" in options else work()


def files_named(pattern):
    """Returns the files that a pattern names, sorted, or the pattern itself."""
    import os

    pattern = os.path.expanduser(pattern)
    return sorted(own("glob").glob(pattern)) or [pattern]


def run_file(words, options):
    import os

    path = os.path.expanduser(words[0])
    saved, sys.argv = sys.argv, words
    try:
        if path.endswith((".ipynb", ".ipy")):
            run_notebook(path)
        elif "-m" in options:
            keep_names(own("runpy").run_module(words[0], run_name="__main__", alter_sys=False))
        else:
            if not os.path.exists(path) and os.path.isfile(path + ".py"):
                path += ".py"
            sys.argv = [path, *words[1:]]
            name = "__main__" if "-n" not in options else os.path.splitext(os.path.basename(path))[0]
            run_script(path, name, NAMESPACE if "-i" in options else {})
    except SystemExit as error:
        code = exit_code(error)
        if "-e" not in options:
            note_exit(code)
    finally:
        sys.argv = saved
        sys.modules["__main__"] = MAIN


def run_script(path, name, given):
    """Runs a file as a module of its own, and gives its names to the cells."""
    import os

    if path.endswith(".pyc") or own("pkgutil").get_importer(path) is not None:  # a folder or an archive
        keep_names(own("runpy").run_path(path, init_globals=given, run_name=name))
        return
    path = os.path.abspath(path)  # the script may change the working folder
    with _io.open_code(path) as file:
        code = compile(file.read(), path, "exec", 0, True)
    module, folder = ModuleType(name), os.path.dirname(path)
    module.__dict__.update({"__builtins__": builtins, **given, "__name__": name, "__file__": path})
    before = sys.modules.get(name)
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        exec(code, module.__dict__)
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
        keep_names(module.__dict__)


def keep_names(names):
    NAMESPACE.update((k, v) for k, v in list(names.items()) if not (k.startswith("__") and k.endswith("__")))


def run_notebook(path):
    """Runs the cells of a notebook as if they stood in this one. A file `.ipy` is one cell."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".ipy"):
        run_text(text, path)
        return
    for number, cell in enumerate(own("json").loads(text).get("cells", []), 1):
        if cell.get("cell_type") == "code":
            run_text("".join(cell.get("source", "")), "%s, cell %d" % (path, number))


def run_text(source, name):
    sources.remember(name, source)
    evaluate(source, name)
