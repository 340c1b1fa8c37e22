# SPDX-License-Identifier: MIT
# Code rules: finds in a cell's text what the user does not want to run. The server sends this file
# to the driver only if a rule is on, and the driver asks it with the tree that it will compile.
# Rules are no protection against an attacker, who can reach any name in other ways: confinement is.
import _ast
import builtins
import sys

ModuleType = type(sys)

IMPORTS = frozenset(
    "_ctypes _interpreters _pickle _posixshmem _posixsubprocess _socket _xxsubinterpreters "
    "asyncio.subprocess bdb builtins cffi code codeop concurrent.futures.process ctypes ftplib "
    "http.client http.server imaplib imp importlib marshal mmap multiprocessing nntplib pdb "
    "pexpect pickle poplib posix pty ptyprocess runpy shelve smtplib socket socketserver "
    "subprocess telnetlib urllib.request webbrowser xmlrpc".split()
)
BUILTINS = frozenset("__import__ breakpoint compile eval exec".split())
ATTRIBUTES = frozenset(
    "asyncio.create_subprocess_exec asyncio.create_subprocess_shell asyncio.open_connection "
    "asyncio.start_server builtins.__import__ builtins.breakpoint builtins.compile builtins.eval "
    "builtins.exec concurrent.futures.ProcessPoolExecutor gc.get_objects gc.get_referents "
    "gc.get_referrers get_ipython().ev get_ipython().ex get_ipython().getoutput "
    "get_ipython().magic get_ipython().run_cell get_ipython().run_cell_magic get_ipython().run_line_magic "
    "get_ipython().system os.exec* os.fork os.forkpty os.popen os.posix_spawn* os.spawn* "
    "os.startfile os.system sys._current_frames sys._getframe sys.addaudithook sys.meta_path "
    "sys.modules sys.path_hooks sys.setprofile sys.settrace".split()
)
DUNDERS = frozenset(
    "__base__ __bases__ __builtins__ __closure__ __code__ __func__ __getattribute__ __globals__ "
    "__import__ __loader__ __mro__ __reduce__ __reduce_ex__ __self__ __spec__ __subclasses__ "
    "ag_code ag_frame cr_code cr_frame f_back f_builtins f_code f_globals f_locals "
    "gi_code gi_frame tb_frame".split()
)
MAGICS = frozenset(("debug", "run"))
SHELL_MAGICS = frozenset(
    "cat cp head ls mkdir mv pip rm rmdir sx system tail conda mamba micromamba uv".split()
)
SHELL_CELLS = frozenset(("bash", "sh", "script", "!"))
CODE_MAGICS = frozenset(("time", "timeit", "prun", "capture"))
DRIVER_CALLS = "__ptycell_"
MADE_BY_CODE = "a shell line or magic that code makes"

BLOCKS = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda, _ast.ClassDef)
COMPREHENSIONS = (_ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
ASSIGNMENTS = (_ast.Assign, _ast.AnnAssign, _ast.NamedExpr)
CAPTURES = tuple(
    getattr(_ast, name) for name in ("MatchAs", "MatchStar", "MatchMapping") if hasattr(_ast, name)
)


def stdlib_names():
    """Returns what sys.stdlib_module_names is from Python 3.10 on."""
    import os

    names = {name.partition(".")[0] for name in os.listdir(os.path.dirname(os.__file__))}
    return frozenset(names.union(sys.builtin_module_names))


STDLIB = getattr(sys, "stdlib_module_names", None) or stdlib_names()
LISTS = {
    "imports": ("import", IMPORTS),
    "builtins": ("builtin", BUILTINS),
    "attributes": ("attribute", ATTRIBUTES),
    "dunders": ("dunder", DUNDERS),
    "shell": ("shell", ()),
    "magics": ("magic", MAGICS),
}
KINDS = {kind: rule for rule, (kind, _) in LISTS.items()}
NAMES_MAX = 10


def candidates(kind, name, among):
    """Yields a name, then the modules above it or the patterns that it fits, the longest first."""
    yield name
    if kind == "import":
        while "." in name:
            name = name.rpartition(".")[0]
            yield name
    if kind == "attribute":
        patterns = [each for each in among if each.endswith("*") and name.startswith(each[:-1])]
        yield from sorted(patterns, key=len, reverse=True)


class Rules:
    """The user's modes: of rules, and of single names, which override their rule."""

    def __init__(self, text):
        self.modes = dict(line.rsplit(" ", 1) for line in text.split("\n") if line)
        self.names = {}
        for key in self.modes:
            kind, colon, name = key.partition(":")
            if colon:
                self.names.setdefault(kind, {})[name] = self.modes[key]

    def mode_of(self, rule, name):
        """Returns the mode of a name: the user's own row for it or its pattern, else its rule's."""
        kind, listed = LISTS[rule]
        own = self.names.get(kind, {})
        for candidate in candidates(kind, name, own):
            if candidate in own:
                return own[candidate]
        if any(candidate in listed for candidate in candidates(kind, name, listed)):
            return self.modes.get(rule, "off")
        return "off"

    def shell_mode(self, command):
        """Returns (mode, key). The key names the first word if that suffices to allow the command."""
        word = (command.split() or [""])[0]
        own = self.names.get("shell", {}).get(word)
        plain = word and is_plain(command)
        key = "shell:" + word if plain or own not in (None, "off") else "shell"
        if own is not None and (own != "off" or plain):
            return own, key
        return self.modes.get("shell", "off"), key


class ClassNames(dict):
    """The names that a class binds: functions inside do not see them."""


class Checker:
    """Checks one cell."""

    def __init__(self, rules, namespace, parse, source):
        self.rules = rules
        self.namespace = namespace
        self.parse = parse
        self.lines = source.encode("utf-8", "replace").split(b"\n")  # nodes count bytes
        self.hits = []  # (mode, rule, key, what, line, column)
        # Names of the cell, then of the functions, classes and comprehensions around a node. The
        # value is the path of a module or of its part, "" for others, None for a deleted name.
        self.scopes = [{}]
        self.called = set()  # names of the driver in the calls that magics became

    # -- what was found

    def hit(self, rule, key, what, node, mode):
        """Notes a hit. `key` is the key that the user would set to "off"."""
        if mode != "off":
            self.hits.append((mode, rule, key, what, node.lineno, self.column(node)))

    def column(self, node):
        """Returns the column of a node in characters, from 1."""
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else b""
        return len(line[: node.col_offset].decode("utf-8", "replace")) + 1

    def name_hit(self, rule, name, what, node):
        mode = self.rules.mode_of(rule, name)
        self.hit(rule, "%s:%s" % (LISTS[rule][0], name), what, node, mode)
        return mode != "off"

    # -- names

    def scope_of(self, name):
        """Returns the scope in which Python would find a name; None if the cell does not bind it."""
        for scope in reversed(self.scopes):
            if name in scope and (scope is self.scopes[-1] or type(scope) is not ClassNames):
                return scope
        return None

    def bind(self, name, path=""):
        scope = self.scopes[-1]
        if type(scope) is not ClassNames:
            scope = self.scope_of(name)  # a function's names exist from its beginning
        (self.scopes[0] if scope is None else scope)[name] = path

    def unbind(self, name):
        scope = self.scope_of(name)
        if type(scope) is ClassNames:
            del scope[name]
        elif scope is None or scope is self.scopes[0]:
            self.scopes[0][name] = None

    def is_own(self, name):
        """Returns whether a name is anything but the builtin of that name."""
        scope = self.scope_of(name)
        if scope is not None:
            return scope[name] is not None and not scope[name].startswith("builtins.")
        missing = self.namespace
        value = self.namespace.get(name, missing)
        return value is not missing and value is not getattr(builtins, name, missing)

    def path_of(self, node):
        """Returns the path of an expression that begins with a module, else an empty string."""
        kind = type(node)
        if kind is _ast.Name:
            return self.path_of_name(node.id)
        if kind is _ast.Attribute:
            base = self.path_of(node.value)
            return self.canonical(base, node.attr) if base else ""
        if kind is _ast.NamedExpr:
            return self.path_of(node.value)
        if kind is _ast.IfExp:
            return self.path_of(node.body) or self.path_of(node.orelse)
        if kind is _ast.Call:
            called = node.func.id if type(node.func) is _ast.Name else ""
            if "get_ipython" in (called, self.path_of(node.func).rpartition(".")[2]):
                return "get_ipython()"
            if self.is_call_of(node, "getattr") and self.constant(node, 1) is not None:
                base = self.path_of(node.args[0])
                return self.canonical(base, self.constant(node, 1)) if base else ""
            if self.is_call_of(node, "__import__") and self.constant(node, 0) is not None:
                return self.constant(node, 0).partition(".")[0]
        return ""

    def path_of_name(self, name):
        scope = self.scope_of(name)
        if scope is not None:
            return scope[name] or ""
        value = self.namespace.get(name)
        return self.module_name(value, name) if type(value) is ModuleType else ""

    def canonical(self, base, attr):
        """Returns the path of an attribute. Modules keep their own path: warnings.sys is sys."""
        module = sys.modules.get(base)
        if type(module) is ModuleType:
            value = vars(module).get(attr)
            if type(value) is ModuleType:
                return self.module_name(value, "%s.%s" % (base, attr))
        elif attr in IMPORTS and base.partition(".")[0] in STDLIB:
            return attr  # not loaded yet: most probably the module of this name
        return "%s.%s" % (base, attr)

    def module_name(self, module, otherwise):
        name = vars(module).get("__name__")
        if type(name) is not str or sys.modules.get(name) is not module:
            return otherwise
        return {"posixpath": "os.path"}.get(name, name)

    def is_call_of(self, node, name):
        return (
            type(node) is _ast.Call
            and type(node.func) is _ast.Name
            and node.func.id == name
            and not self.is_own(name)
        )

    def constant(self, node, index):
        if len(node.args) > index and type(node.args[index]) is _ast.Constant:
            value = node.args[index].value
            return value if type(value) is str else None
        return None

    # -- the tree

    def visit(self, root):
        """Checks every node, in the order of evaluation, without recursion."""
        todo = [root]
        while todo:
            step = todo.pop()
            if isinstance(step, _ast.AST):
                self.check_node(step)
                todo.extend(reversed(self.steps(step)))
            else:
                step()

    def steps(self, node):
        """Returns the children of a node, and between them functions that bind names."""
        kind = type(node)
        if kind in BLOCKS:
            body = node.body if type(node.body) is list else [node.body]
            before = children_of(node, without="body")
            return [*before, lambda: self.enter(node), *body, self.scopes.pop]
        if kind in COMPREHENSIONS:
            return self.steps_of_comprehension(node)
        if kind in ASSIGNMENTS:
            return self.steps_of_assignment(node)
        if kind is _ast.ExceptHandler and node.name:
            return self.steps_of_handler(node)
        return children_of(node)

    def enter(self, node):
        if type(node) is not _ast.Lambda:
            self.bind(node.name)
        if type(node) is _ast.ClassDef:
            self.scopes.append(ClassNames())
        else:
            self.scopes.append(dict.fromkeys(local_names(node), ""))

    def steps_of_handler(self, node):
        """Returns the steps of `except ... as name`, whose name is deleted at its end."""
        return [
            *children_of(node, without="body"),
            lambda: self.bind(node.name),
            *node.body,
            lambda: self.unbind(node.name),
        ]

    def steps_of_comprehension(self, node):
        """Returns the steps of a comprehension, whose first iterable is evaluated outside."""
        first = node.generators[0].iter
        names = bound_in([generator.target for generator in node.generators])
        parts = [part for generator in node.generators for part in children_of(generator)]
        return [
            first,
            lambda: self.scopes.append(dict.fromkeys(names, "")),
            *[part for part in parts if part is not first],
            *children_of(node, without="generators"),
            self.scopes.pop,
        ]

    def steps_of_assignment(self, node):
        if node.value is None and type(node.target) is _ast.Name:
            return children_of(node, without="target")  # `name: type` binds nothing
        targets = node.targets if type(node) is _ast.Assign else [node.target]
        given = [pair for target in targets for pair in self.given(target, node.value)]
        return [*children_of(node), lambda: [self.bind(name, path) for name, path in given]]

    def given(self, target, value):
        """Returns (name, path) for each name that an assignment gives a path."""
        if type(target) is _ast.Name:
            path = self.path_of(value)
            return [(target.id, path)] if path else []
        if {type(target), type(value)} <= {_ast.Tuple, _ast.List}:
            return [pair for two in zip(target.elts, value.elts) for pair in self.given(*two)]
        return []

    def check_node(self, node):
        method = CHECKS.get(type(node))
        if method is not None:
            method(self, node)

    def check_import(self, node):
        self.locate_aliases(node)
        for alias in node.names:
            self.module_hit(alias.name, alias)
            bound = name_of_alias(alias)
            self.bind(bound, alias.name if alias.asname else bound)

    def locate_aliases(self, node):
        """Gives the names of an import their places, which the tree has only from Python 3.10 on."""
        if not hasattr(node.names[0], "lineno"):
            for alias, (line, column) in zip(node.names, places_of_names(node, self.lines)):
                alias.lineno, alias.col_offset = line, column

    def check_import_from(self, node):
        if node.level or node.module is None:
            return
        is_hit = self.module_hit(node.module, node)
        self.locate_aliases(node)
        for alias in node.names:
            path = self.canonical(node.module, alias.name)
            if alias.name == "*":
                self.check_star(node.module, alias)
            elif is_hit or not self.module_hit(path, alias):
                self.attribute_hit(path, alias)
            self.bind(name_of_alias(alias), path)

    def check_star(self, module, node):
        for path in sorted(ATTRIBUTES.union(self.rules.names.get("attribute", ()))):
            if path.startswith(module + "."):
                self.attribute_hit(path, node)

    def module_hit(self, name, node):
        return self.name_hit("imports", name, "the module %s" % name, node)

    def attribute_hit(self, path, node):
        """Notes a hit of a path or of its tail: a.os.system is os.system."""
        parts = path.split(".")
        for start in range(len(parts) - 1):
            tail = ".".join(parts[start:])
            if self.name_hit("attributes", tail, tail, node):
                return True
        return False

    def check_name(self, node):
        name = node.id
        if name.startswith(DRIVER_CALLS):
            if node not in self.called:
                self.hit_made_by_code(node)
            return
        if type(node.ctx) is _ast.Store:
            self.bind(name)
        elif type(node.ctx) is _ast.Del:
            self.unbind(name)
        elif not self.is_own(name) or is_dunder(name):
            self.check_load(name, node)

    def check_load(self, name, node):
        self.name_hit("builtins", name, "the builtin %s" % name, node)
        if is_dunder(name):
            self.name_hit("dunders", name, name, node)

    def check_attribute(self, node):
        self.name_hit("dunders", node.attr, node.attr, node)
        base = self.path_of(node.value)
        if not base:
            return
        path = self.canonical(base, node.attr)
        # The whole path is checked once, at its end or where it leaves a module.
        if not self.attribute_hit(path, node) and path != base and self.is_module(path):
            self.module_hit(path, node)

    def is_module(self, path):
        return path in sys.modules or path in IMPORTS

    def check_call(self, node):
        func = node.func
        if type(func) is _ast.Name and func.id.startswith(DRIVER_CALLS):
            self.called.add(func)
            self.check_magic(func.id[len(DRIVER_CALLS) :].strip("_"), node)
            return
        for name, index in (("getattr", 1), ("hasattr", 1), ("__import__", 0)):
            if self.is_call_of(node, name) and self.constant(node, index) is not None:
                self.check_constant(name, node, self.constant(node, index))

    def check_constant(self, name, node, text):
        """Checks getattr(x, "__code__") as x.__code__, and __import__("socket") as an import."""
        if name == "__import__":
            self.module_hit(text, node)
        elif name == "getattr":
            self.name_hit("dunders", text, text, node)
            path = self.path_of(node)
            if path and not self.attribute_hit(path, node) and self.is_module(path):
                self.module_hit(path, node)

    def check_match(self, node):
        for attr in node.kwd_attrs:
            self.name_hit("dunders", attr, attr, node)

    def check_capture(self, node):
        for name in bound_by(node):
            self.bind(name)

    # -- lines of notebooks

    def check_magic(self, kind, node):
        texts = [self.constant(node, i) for i in range(len(node.args))]
        if kind == "shell" and texts and texts[0] is not None:
            self.check_shell(texts[0], node)
        elif kind == "line" and texts and texts[0] is not None:
            name, _, line = texts[0].strip().partition(" ")
            self.check_line_magic(name, line.strip(), node)
        elif kind == "cell" and len(texts) > 2 and None not in texts[:3]:
            self.check_cell_magic(texts[0], texts[1], texts[2], node)
        elif kind != "help":
            self.hit_made_by_code(node)

    def hit_made_by_code(self, node):
        """Notes a hit of both rules: which of the two it is shows at run time only."""
        for rule in ("shell", "magics"):
            self.hit(rule, rule, MADE_BY_CODE, node, self.rules.modes.get(rule, "off"))

    def check_shell(self, command, node):
        command = command.strip()
        mode, key = self.rules.shell_mode(command)
        self.hit("shell", key, "the shell command %s" % quoted(command), node, mode)
        self.check_braces(command, node)

    def check_braces(self, line, node):
        for code in braces(line):
            self.check_code(code, node, "eval")

    def check_line_magic(self, name, line, node):
        if name in SHELL_MAGICS:
            self.check_shell(line if name in ("sx", "system") else "%s %s" % (name, line), node)
            return
        if name in CODE_MAGICS:
            self.check_code(without_options(name, line), node, "exec")
        else:
            self.check_braces(line, node)
        self.name_hit("magics", name, "the magic %%%s" % name, node)

    def check_cell_magic(self, name, line, body, node):
        self.check_braces(line, node)
        if name in SHELL_CELLS:
            word = name if name != "script" else (line.split() or [""])[0]
            own = self.rules.names.get("magic", {}).get(name)
            mode = own or self.rules.modes.get("shell", "off")
            self.hit("shell" if own is None else "magics", "magic:" + name,
                     "a cell of %%%%%s" % word, node, mode)
            return
        if name in CODE_MAGICS:
            lines = node.args[3].value if len(node.args) > 3 else node.lineno
            self.check_code("\n" * lines + body, None, "exec")
            if name == "timeit":
                self.check_code(without_options(name, line), node, "exec")
        self.name_hit("magics", name, "the magic %%%%%s" % name, node)

    def check_code(self, code, node, mode):
        """Checks code within a line. Its hits get the place of `node`, or their own if it is None."""
        tree = self.parse(code, "<rules>")
        if tree is None:
            return
        first = len(self.hits)
        outer, self.lines = self.lines, code.encode("utf-8", "replace").split(b"\n")
        self.visit(tree)
        self.lines = outer
        if node is not None:
            self.hits[first:] = [
                hit[:4] + (node.lineno, self.column(node)) for hit in self.hits[first:]
            ]


CHECKS = {
    _ast.Import: Checker.check_import,
    _ast.ImportFrom: Checker.check_import_from,
    _ast.Name: Checker.check_name,
    _ast.Attribute: Checker.check_attribute,
    _ast.Call: Checker.check_call,
}
if hasattr(_ast, "MatchClass"):
    CHECKS[_ast.MatchClass] = Checker.check_match
CHECKS.update(dict.fromkeys(CAPTURES, Checker.check_capture))


def places_of_names(node, lines):
    """Returns (line, column in bytes) of each name in an import statement."""
    import io
    import tokenize

    part = lines[node.lineno - 1 : node.end_lineno]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    text = b"\n".join(part).decode("utf-8", "replace") + "\n"
    places = []
    begins = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string in ("import", ","):
            begins = True
        elif begins and (token.type == tokenize.NAME or token.string == "*"):
            row, column = token.start
            before = len(token.line[:column].encode("utf-8", "replace"))
            places.append((node.lineno + row - 1, before + (node.col_offset if row == 1 else 0)))
            begins = False
    return places


def is_dunder(name):
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def quoted(text):
    return "'%s'" % (text if len(text) <= 60 else text[:57] + "...").replace("\n", " ")


def is_plain(command):
    """Returns whether a command is one program with words, and nothing else that would run."""
    import shlex

    if any(mark in command for mark in "$`{}\n\r\\!"):
        return False
    lexer = shlex.shlex(command, posix=False, punctuation_chars=True)
    lexer.commenters = ""
    try:
        return not any(word.strip("();<>|&") == "" for word in lexer)
    except ValueError:
        return False


def braces(line):
    """Returns the expressions that a line may evaluate before it runs: texts in innermost braces."""
    found = [part.rpartition("{")[2] for part in line.split("}")[:-1] if "{" in part]
    return [code[:-2] if code[-2:] in ("!r", "!s", "!a") else code for code in found]


def without_options(name, line):
    """Returns the code of a magic; for %timeit, the code behind its options."""
    while name == "timeit":
        word, rest = first_word(line)
        value = word[2:]
        if word[:2] in ("-n", "-r") and not value:
            value, rest = first_word(rest)
        if not (value.isdecimal() if word[:2] in ("-n", "-r") else word in ("-q", "-o")):
            break
        line = rest
    return line


def first_word(line):
    words = line.split(None, 1) + ["", ""]
    return words[0], words[1]


def children_of(node, without=None):
    """Returns the children of a node in the order of evaluation: values come before their targets."""
    children = []
    for field in sorted(node._fields, key=lambda field: field not in ("value", "iter")):
        value = getattr(node, field, None) if field != without else None
        if isinstance(value, _ast.AST):
            children.append(value)
        elif type(value) is list:
            children.extend(item for item in value if isinstance(item, _ast.AST))
    return children


def name_of_alias(alias):
    return alias.asname or alias.name.partition(".")[0]


def bound_by(node):
    """Returns the names that a node itself binds."""
    kind = type(node)
    if kind is _ast.Name:
        names = [node.id] if type(node.ctx) is _ast.Store else []
    elif kind in (_ast.Import, _ast.ImportFrom):
        names = [name_of_alias(alias) for alias in node.names]
    elif kind in CAPTURES or kind in BLOCKS or kind is _ast.ExceptHandler:
        names = [getattr(node, "name", None) or getattr(node, "rest", None)]
    else:
        names = []
    return [name for name in names if name]


def bound_in(nodes):
    """Returns the names that would be local to a function made of these nodes."""
    names, elsewhere = set(), set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if type(node) in (_ast.Global, _ast.Nonlocal):
            elsewhere.update(node.names)
        names.update(bound_by(node))
        if type(node) not in BLOCKS:
            # The target of a comprehension is local to it; a name that `:=` binds in it is not.
            own = "target" if type(node) is _ast.comprehension else None
            todo.extend(children_of(node, without=own))
    return names - elsewhere


def local_names(function):
    """Returns the names that are local to a function: parameters, and names that it binds."""
    args = function.args
    every = args.args + args.kwonlyargs + getattr(args, "posonlyargs", [])
    names = {arg.arg for arg in every + [a for a in (args.vararg, args.kwarg) if a]}
    return names | bound_in(function.body if type(function.body) is list else [function.body])


def place(hit):
    return "line %d, column %d" % hit[4:]


def list_hits(hits, lead):
    lines = []
    for hit in hits[:NAMES_MAX]:
        lines.append("%s: %s, by the code rule '%s'" % (place(hit), hit[3], hit[1]))
    if len(hits) > NAMES_MAX:
        lines.append("and %d more" % (len(hits) - NAMES_MAX))
    return "%s\n%s" % (lead, "\n".join("  " + line for line in lines))


def keys_of(hits):
    keys = []
    for hit in hits:
        key = hit[2].replace('"', '\\"')
        if key not in keys:
            keys.append(key)
    return ", ".join('"%s": "off"' % key for key in keys[:NAMES_MAX])


def make_check(text):
    rules = Rules(text)

    def check(tree, namespace, parse, source):
        """Returns (refusal, warning), each a text or None."""
        checker = Checker(rules, namespace, parse, source)
        checker.visit(tree)
        hits = sorted(set(checker.hits), key=lambda hit: (hit[4:], hit[2]))
        refused = [hit for hit in hits if hit[0] == "enforce"]
        warned = [hit for hit in hits if hit[0] == "warn"]
        refusal = warning = None
        if refused:
            refusal = list_hits(refused, "Nothing of this cell was run. Refused are:") + (
                "\nThe user can allow it in the file of PTYCELL_POLICY, for new sessions: "
                '{"python": {"rules": {%s}}}. Otherwise do it another way.' % keys_of(refused)
            )
        elif warned:
            warning = list_hits(warned, "[code rules: the user would rather not see this]")
        return refusal, warning

    return check
