# SPDX-License-Identifier: MIT
"""Gives children of multiprocessing a `__main__` with the definitions of the cells.

They run a script that repeats definitions and loads small values, but no other statement: a side
effect must not happen again in each child.
"""

import _ast
import _io
import posix
import sys

from .compile import DEFINITIONS
from .interrupt import in_child
from .kinds import FunctionType, ModuleType, is_a, loaded_class, module_of
from .limits import BROUGHT_BYTES, WRAPPERS
from .names import is_users
from .own import own
from .sources import sources
from .state import NAMESPACE, State
from .statements import LINES, is_set_after, parsed_cell

IMPORTS = (_ast.Import, _ast.ImportFrom)
BRANCHING = tuple(getattr(_ast, name) for name in ("If", "Try", "TryStar", "With", "AsyncWith") if hasattr(_ast, name))
# Of classes, and of what annotations name.
FACTORIES = frozenset("namedtuple NamedTuple TypedDict make_dataclass TypeVar ParamSpec TypeVarTuple NewType".split())


def hook_spawn(spawn):
    """Gives children of spawn and forkserver a script as their `__main__`.

    Without it they look for the main module's file, find none, and die one after the other while
    Pool.map waits for ever.
    """
    original = spawn.get_preparation_data

    def get_preparation_data(name):
        data = original(name)
        if "init_main_from_name" not in data and "init_main_from_path" not in data:
            if not in_child():
                data["init_main_from_path"] = write_definitions()
        return data

    spawn.get_preparation_data = get_preparation_data


# Definitions need values, and values need definitions: a value comes as soon as it can.
DEFINITIONS_SCRIPT = """\
def _load(segments, pickled, defaults, stand, flags, names):
    import io, linecache, pickle
    values = {}
    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            if module != "__main__":
                return super().find_class(module, name)
            first, *rest = name.split(".")
            found = names[first]
            for part in rest:
                found = getattr(found, part)
            return found
    def bring():
        for name in list(pickled):
            try:
                values[name] = names[name] = Unpickler(io.BytesIO(pickled[name])).load()
            except Exception:
                continue
            del pickled[name]
    for cell, line, source, name in segments:
        bring()
        lines = linecache.cache.setdefault(cell, (1, None, [], cell))[2]
        lines.extend(["\\n"] * (line - 1 - len(lines)))
        lines[line - 1:] = source.splitlines(True)
        try:
            exec(compile("\\n" * (line - 1) + source, cell, "exec", flags, True), names)
        except Exception:
            names.pop(name, None)
    bring()
    names.update(values)
    for name, data in defaults.items():
        try:
            names[name].__defaults__, names[name].__kwdefaults__ = Unpickler(io.BytesIO(data)).load()
        except Exception:
            names.pop(name, None)
    for name in list(names):
        if name in pickled or name not in stand and not name.startswith("__"):
            del names[name]
_load(%r, %r, %r, %r, %r, globals())
"""


class DefinitionsFile:
    folder = None
    text = ""


def write_definitions():
    """Writes the script that children run. Returns its path.

    The script defines the current functions and classes of cells, and loads modules and small
    values. A value that it cannot load has no name in the child. Children read the script while the
    next one is started, so it is replaced as a whole.
    """
    import os

    tempfile = own("tempfile")

    if DefinitionsFile.folder is None:
        atexit = own("atexit")

        DefinitionsFile.folder = tempfile.mkdtemp(prefix="ptycell-main-")
        atexit.register(remove_definitions, posix.getpid())
    path = DefinitionsFile.folder + "/cells.py"
    text = DEFINITIONS_SCRIPT % definitions()
    if text != DefinitionsFile.text or not os.path.exists(path):
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)
        DefinitionsFile.text = text
    return path


def remove_definitions(pid):
    if pid == posix.getpid():
        shutil = own("shutil")

        shutil.rmtree(DefinitionsFile.folder, ignore_errors=True)


def definitions():
    """Returns what DEFINITIONS_SCRIPT loads: texts, values, defaults of functions, names."""
    LINES.clear()
    segments = []
    for name in list(sources.text):
        segments.extend(definition_segments(name))
    chosen, pickled, defaults = {}, {}, {}
    for name, value in list(NAMESPACE.items()):
        if type(name) is not str or not is_users(name):
            continue
        place = place_of_definition(name, value, segments)
        if place is None:
            pickled[name] = pickle_briefly(value)
            continue
        chosen[name] = place
        if type(value) is FunctionType and (value.__defaults__ or value.__kwdefaults__):
            defaults[name] = pickle_briefly((value.__defaults__, value.__kwdefaults__)) or b""
    pickled = {name: data for name, data in pickled.items() if data is not None}
    texts = [segment for segment in segments
             if chosen.get(segment[3], segment) is segment and (segment[3] in chosen or not is_in_branch(segment))]
    return texts, pickled, defaults, {*chosen, *pickled}, State.future_flags


def definition_segments(name):
    """Yields (cell, first line, text, name or an empty string) for each definition of a cell that ran.

    Those in `if`, `try` and `with` are among them, though they may not have run.
    """
    tree, lines = parsed_cell(name)
    for node in definitions_in(tree.body) if tree is not None else ():
        if not sources.has_ended(name, node.end_lineno):
            continue
        if isinstance(node, DEFINITIONS):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno] + [item.lineno for item in decorators])
            yield name, first, statement_text(lines, first, node), getattr(node, "name", "")
        elif type(node.targets[0]) is _ast.Name:
            yield name, node.lineno, statement_text(lines, node.lineno, node), node.targets[0].id


def definitions_in(body, nested=False):
    for node in body:
        if isinstance(node, DEFINITIONS) and not (nested and isinstance(node, IMPORTS)):
            yield node
        elif isinstance(node, _ast.Assign) and makes_definition(node.value):
            yield node
        elif type(node) in BRANCHING:
            for part in (node.body, *(handler.body for handler in getattr(node, "handlers", ())),
                         getattr(node, "orelse", ()), getattr(node, "finalbody", ())):
                yield from definitions_in(part, True)


def is_in_branch(segment):
    """Returns whether a definition is in another statement, as `if`; one behind a semicolon need not be."""
    cell, first, text, _ = segment
    before = sources.lines(cell)[first - 1].partition(text.partition("\n")[0])[0]
    if not before or before.isspace():
        return bool(before)
    tree, _ = parsed_cell(cell)
    return tree is None or all(node.lineno != first or type(node) in BRANCHING for node in tree.body)


def makes_definition(node):
    """Returns whether an expression is a lambda or makes a class, as collections.namedtuple()."""
    made_by = getattr(node, "func", None)
    return isinstance(node, _ast.Lambda) or getattr(made_by, "attr", getattr(made_by, "id", "")) in FACTORIES


def place_of_definition(name, value, segments):
    """Returns the segment that has defined the value, or None if the name holds something else."""
    found = [segment for segment in segments if segment[3] == name]
    codes = codes_of(value) if found else ()
    for segment in reversed(found):
        if any(comes_from(code, segment) for code in codes):
            return segment
    if not found:
        return None
    own_class = (
        is_a(value, type) and (value.__module__, value.__qualname__) == ("__main__", name) and not has_methods(value)
    )
    decorated = found[-1][2].startswith("@") and callable(value)
    variable = module_of(type(value)) == "typing" and (value.__module__, value.__name__) == ("__main__", name)
    if not (own_class or decorated or variable) or is_of_module(value):
        return None
    if is_in_branch(found[-1]) and (len({text for _, _, text, _ in found}) > 1 or not own_class):
        return None  # whether that has run is not known
    is_local = type(value) is FunctionType and "<" in value.__qualname__  # no pickle can name it
    return found[-1] if is_local or not is_set_after(name, found[-1]) else None


def is_of_module(value):
    """Returns whether a function or class is that of a module: `import *` says no name."""
    if type(value) is not FunctionType and not is_a(value, type):
        return False
    name, module = value.__module__, sys.modules.get(value.__module__) if type(value.__module__) is str else None
    return is_a(module, ModuleType) and name != "__main__" and vars(module).get(value.__name__) is value


def comes_from(code, segment):
    cell, first, text, _ = segment
    return code.co_filename == cell and code.co_firstlineno in range(first, first + text.count("\n") + 1)


def has_methods(value):
    """Returns whether the statement that made a class has methods, which tell where that was."""
    own_names = ((item, "%s.%s" % (value.__qualname__, key)) for key, item in vars(value).items())
    return any(type(item) is FunctionType and item.__qualname__ == name and item.__code__.co_filename in sources.text
               for item, name in own_names)


def codes_of(value):
    """Returns the code of a function below its wrappers, or of a class's methods."""
    if is_a(value, type):
        return [code for item in vars(value).values() if type(item) is FunctionType for code in codes_of(item)]
    for _ in range(WRAPPERS):
        try:
            value = getattr(value, "__wrapped__", value)
        except Exception:  # of session code
            return []
    return [value.__code__] if type(value) is FunctionType else []


class SmallFile(_io.BytesIO):
    """A file that refuses to grow beyond BROUGHT_BYTES."""

    def write(self, data):
        if self.tell() + memoryview(data).nbytes > BROUGHT_BYTES:
            raise ValueError("too large to be brought to a child")
        return super().write(data)


def pickle_briefly(value):
    """Returns the pickled value, or None if it cannot be pickled or is too large."""
    pickle = own("pickle")

    file = SmallFile()
    pickler = pickle.Pickler(file, 5)
    pickler.dispatch_table = reducers()
    try:
        pickler.dump(value)
    except Exception:
        return None
    return file.getvalue()


def reducers():
    """Returns how a pickle has modules and plain dtypes: by their names."""
    copyreg, importlib = own("copyreg"), own("importlib")

    table = dict(copyreg.dispatch_table)
    table[ModuleType] = lambda module: (importlib.import_module, (module.__name__,))
    dtype = loaded_class("numpy", "dtype")
    if is_a(dtype, type):
        for kind in (dtype, *type.__subclasses__(dtype)):  # most dtypes are of classes of their own
            table.setdefault(kind, lambda value: reduce_dtype(value, dtype))
    return table


def reduce_dtype(value, dtype):
    """Makes the loaded dtype the one that NumPy has: pandas takes objects of another one for those of a copy, and changes them."""
    return (dtype, (value.type,)) if dtype(value.type) is value else value.__reduce_ex__(5)


def statement_text(lines, first, node):
    """Returns the text of a statement alone, not indented: another one on its line may have side effects."""
    text = [line.encode("utf-8", "replace") for line in lines[first - 1 : node.end_lineno]]
    text[-1] = text[-1][: node.end_col_offset]
    for line in {node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))}:
        text[line - first] = text[line - first][node.col_offset :]
    return b"".join(text).decode("utf-8", "replace")
