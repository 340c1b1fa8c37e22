# SPDX-License-Identifier: MIT
"""Brings saved variables (saving.py) back into `__main__`.

Modules are imported, definitions of cells are run, and pickles are loaded, which all run code of the
session: nothing here may happen outside its sandbox. Definitions need values, and values need
definitions, so what fails is tried again as long as something else succeeds. A name that a cell has
made meanwhile stays as it is.
"""

import _io
import sys

from .beside import ATTRIBUTE, DEFAULTS, PARTS
from .cells import handle_exec, prepare_process, run_guarded
from .cut import shortened
from .errors import describe_error, log
from .interrupt import check_interrupt
from .kinds import DRIVER_FILE, FunctionType, is_a
from .limits import SAVE_WHY_CHARS
from .names import is_users
from .own import own
from .saving import TRAILER, TRAILER_BYTES, reason
from .sources import sources
from .state import Cell, NAMESPACE, State

NAMED = 60  # names of a list; the others are counted


def handle_restore(request):
    """Loads the file `file` and answers as for a cell, with what is back."""
    if request.outcome is None:
        if request.cell is None:
            cell = request.cell = State.cell = Cell(request.ident, "<restored>", "")
            try:
                prepare_process()
            except Exception as error:
                log(error)
            request.restored = Restored()
            request.outcome = run_guarded(cell, lambda cell: request.restored.load(request.parts["file"]))
        else:
            request.outcome = describe_error(request.trouble, request.cell)
        request.outcome = request.outcome + [("restored", request.restored.text())]
    handle_exec(request)  # it answers: there is an outcome


class Restored:
    def __init__(self):
        self.back, self.left, self.kept, self.again, self.failed = [], [], [], [], []
        self.loaded = False  # one of the pickles
        self.may_pass = False  # what is not back may be loaded later
        self.attributes = []  # (name of its function or class, its name, its value)
        self.defaults = []  # (name of a function that was not back, its defaults)

    def load(self, path):
        with open(path, "rb", buffering=0) as file:
            listed, data = read_values(file.readall())
        sys.path.extend(place for place in listed["path"] if place not in sys.path)
        State.future_flags |= listed["flags"]
        present = {name for name in NAMESPACE if type(name) is str and is_users(name)}
        self.left.extend((name, why) for name, why in listed["left"] if name not in present)
        self.kept.extend(name for name, _ in listed["left"] if name in present)
        figures = open_figures()
        for name, module in listed["modules"]:
            self.take(name, present, lambda module=module: own("importlib").import_module(module))
        for module in listed.get("submodules", ()):
            self.import_submodule(module)
        for name, module in listed.get("imported", {}).items():
            self.take(name, present, lambda name=name, module=module: getattr(own("importlib").import_module(module), name))
        self.load_rest(listed, data, present)
        close_figures(figures)

    def take(self, name, present, make):
        """Binds a name to what `make` returns, unless a cell has bound it."""
        if name in present:
            self.kept.append(name)
            return
        try:
            NAMESPACE[name] = make()
        except Exception as error:
            self.failed.append((name, self.note(error)))
        else:
            self.back.append(name)

    def note(self, error):
        """Returns why something is not back, as yet."""
        self.may_pass = self.may_pass or may_pass(error)
        return shortened(reason(error), SAVE_WHY_CHARS)

    def import_submodule(self, module):
        """Imports a module that code reaches by the name of its package, as urllib.request."""
        if module in sys.modules or module.partition(".")[0] not in self.back:
            return
        check_interrupt()
        try:
            own("importlib").import_module(module)
        except Exception as error:
            self.left.append((module, shortened(reason(error), SAVE_WHY_CHARS)))

    def load_rest(self, listed, data, present):
        segments = []
        for cell, line, source, name in listed["segments"]:
            if name in present:
                self.kept.append(name)
            else:
                segments.append((name, source, lambda place=(cell, line, source, name): define(*place)))
        groups = [(names, lambda start=start, size=size: load_pickle(data[start : start + size]))
                  for names, start, size in listed["groups"]]
        failed = {}
        while True:
            check_interrupt()
            before = len(segments) + len(groups)
            segments = [item for item in segments if not self.define(*item, failed)]
            groups = [item for item in groups if not self.bind(*item, present, failed)]
            if len(segments) + len(groups) == before:
                break
        for function, defaults in self.defaults:
            self.give_defaults(function, defaults, present)
        self.give_attributes(present)
        self.delete_attributes(listed.get("deleted", ()), present)
        missing = [name for name, _, _ in segments] + [name for names, _ in groups for name in names]
        for name in missing:
            if not name.startswith(PARTS):
                self.failed.append((name, self.note(failed[name])))
            elif name[len(ATTRIBUTE if name.startswith(ATTRIBUTE) else DEFAULTS) :].partition(".")[0] in self.back:
                self.left.append((name, shortened(reason(failed[name]), SAVE_WHY_CHARS)))

    def define(self, name, source, run, failed):
        try:
            run()
        except Exception as error:
            failed[name] = error
            return False
        self.back.append(name)
        if self.loaded and calls_others(source):
            self.again.append(name)
        return True

    def bind(self, names, load, present, failed):
        check_interrupt()
        try:
            values = load()
        except Exception as error:
            failed.update(dict.fromkeys(names, error))
            return False
        self.loaded = True
        for name in names:
            if name.startswith(ATTRIBUTE):
                self.attributes.append((*name[len(ATTRIBUTE) :].split(".", 1), values[name]))
            elif name.startswith(DEFAULTS):
                function = name[len(DEFAULTS) :]
                if function.partition(".")[0] in NAMESPACE:
                    self.give_defaults(function, values[name], present)
                else:  # its source may need the other values
                    self.defaults.append((function, values[name]))
            elif name in present:
                self.kept.append(name)
            else:
                NAMESPACE[name] = values[name]
                self.back.append(name)
        return True

    def give_defaults(self, name, defaults, present):
        first, *path = name.split(".")
        if first in present or first not in NAMESPACE:
            return
        try:
            function = own("functools").reduce(member, path, NAMESPACE[first])
        except (AttributeError, KeyError, TypeError):
            return
        if is_a(function, FunctionType):
            function.__defaults__, function.__kwdefaults__ = defaults

    def give_attributes(self, present):
        """Gives them at the end: loading other values may change them."""
        for name, key, value in self.attributes:
            if name in present or name not in NAMESPACE:
                continue
            *path, last = key.split(".")
            try:
                setattr(own("functools").reduce(member, path, NAMESPACE[name]), last, value)
            except Exception as error:
                self.left.append(("%s%s.%s" % (ATTRIBUTE, name, key), shortened(reason(error), SAVE_WHY_CHARS)))

    def delete_attributes(self, deleted, present):
        """Deletes attributes of classes that cells had deleted and that the sources of the classes have made again."""
        for name, key in (attribute.split(".") for attribute in deleted):
            try:
                if name not in present and name in NAMESPACE and key in vars(NAMESPACE[name]):
                    delattr(NAMESPACE[name], key)
            except Exception as error:
                self.left.append(("the deletion of %s.%s" % (name, key), shortened(reason(error), SAVE_WHY_CHARS)))

    def text(self):
        """Returns a line of names each, as session_values.c shows them."""
        if not self.may_pass:  # what is saved need not stay for a second try
            self.left[:0] = [(name, "loading it failed: " + why) for name, why in self.failed]
            self.failed.clear()
        left, failed = (["%s (%s)" % item for item in items] for items in (self.left, self.failed))
        return "\n".join(map(list_names, (self.back, failed, left, self.kept, self.again)))


def may_pass(error):
    """Returns whether an error may not come again: a package is missing or has another version, or memory was short."""
    trace, file = error.__traceback__, ""
    while trace is not None:
        trace, file = trace.tb_next, trace.tb_frame.f_code.co_filename
    is_of_session = file == DRIVER_FILE or file in sources.text  # or of pickle itself, which has no frame
    is_version = is_a(error, AttributeError) and "Can't get attribute" in reason(error) and "__main__" not in reason(error)
    return is_a(error, (ImportError, MemoryError, OSError)) or is_version or not is_of_session


def member(owner, name):
    """Returns what is in a class or function itself: an attribute may be what a descriptor returns."""
    value = vars(owner)[name]
    return value.__func__ if type(value) in (classmethod, staticmethod) else value


def list_names(names):
    names = [" ".join(name.split()) for name in dict.fromkeys(names)]
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (" and %d more" % more if more > 0 else "")


def calls_others(source):
    """Returns whether the definition calls a decorator, or may call what its bases have for subclasses."""
    return source.startswith("@") or source.startswith("class ") and "(" in source.partition(":")[0]


def read_values(data):
    """Returns the list of what is in the file, and its pickles."""
    binascii, json = own("binascii"), own("json")

    body, trailer = data[:-TRAILER_BYTES], data[-TRAILER_BYTES:]
    try:
        size, listed, crc = (int(word, 16) for word in trailer.split()[2:])
    except ValueError:
        size = listed = crc = -1
    if size + listed != len(body) or TRAILER % (size, listed, crc) != trailer or binascii.crc32(body) != crc:
        raise ValueError("the saved variables are damaged: run the cells again (restore_run)")
    return json.loads(body[size:]), memoryview(body)[:size]


def load_pickle(data):
    return own("pickle").Unpickler(_io.BytesIO(data)).load()


def define(cell, line, source, name):
    """Runs one definition of a cell, at its place in the cell's text: tracebacks show it."""
    lines = sources.text[cell].split("\n") if cell in sources.text else []
    lines.extend([""] * (line - len(lines)))
    added = source.split("\n")
    there = lines[line - 1]
    if there:  # two may have been in one line, and one that is run again is there
        added[0] = there if added[0] in (there, *there.split("; ")) else there + "; " + added[0]
    lines[line - 1 : line - 1 + len(added)] = added  # a later definition may be there already
    sources.remember(cell, "\n".join(lines))
    sources.owner[name] = cell
    exec(compile("\n" * (line - 1) + source, cell, "exec", State.future_flags, True), NAMESPACE)


def open_figures():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return set(helpers.Gcf.figs) if helpers is not None else set()


def close_figures(before):
    """Takes figures that were loaded from pyplot, which would show them with the next cell."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    for number in list(helpers.Gcf.figs) if helpers is not None else ():
        if number not in before:
            helpers.Gcf.figs.pop(number)
