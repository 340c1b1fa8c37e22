# SPDX-License-Identifier: MIT
# Makes a folder "work" with input/ and output/ beside this notebook. The cells run there, as they did in the session.
# Cells of other languages run in a process that keeps its state. "/mnt/data" in a cell stands for the folder.
def ptycell(secrets):
    import asyncio, base64, builtins, codecs, contextlib, copy, fcntl, filecmp, gc, hashlib, importlib, io, json, os, pathlib, pickle, pty, re, select, shutil, stat, struct, subprocess, sys, tempfile, termios, threading, warnings
    from importlib import metadata
    from IPython.display import Image, display

    PROGRAMS = {"bash": ("bash", "--norc", "--noprofile", "-ic", r"""
if [[ $1 ]]; then
  . "$1" 2>/dev/null
  rm "$1"
  shift
fi
unset HISTFILE
exit() { builtin exit "$@" 2>/dev/null; }
trap() { # one of a cell for EXIT runs before ours
  builtin trap "$@" || return
  [[ $1 == - && $* == *ERR* ]] && builtin trap : ERR # else bash sets it again after this function
  local set=$(builtin trap -p EXIT)
  if [[ $BASHPID == $$ && $set != *ptycell_anew* ]]; then
    ptycell_trap=$set
    builtin trap ptycell_anew EXIT
  fi
}
ptycell_end() { printf '\036%d\037\037\036' "$ptycell_status" >&9; }
ptycell_anew() { # a cell that calls exit ends, and the shell's state stays
  ptycell_status=$?
  builtin set +eu +o pipefail
  eval "set -- ${ptycell_trap#trap}"
  unset ptycell_trap
  exit() { # in the trap
    [[ $BASHPID == $$ ]] || builtin exit "$@"
    ptycell_status=${1:-$ptycell_status}
    ptycell_leave
  }
  eval "$2"
  ptycell_leave
}
ptycell_leave() {
  local state=$(mktemp)
  { declare -p; declare -f; alias -p; shopt -p; printf 'cd %q\n' "$PWD"; } >"$state"
  ptycell_end
  exec bash --norc --noprofile -ic "$BASH_EXECUTION_STRING" bash "$state" 2>&9
}
builtin trap ptycell_anew EXIT
while IFS= read -r -u 8 ptycell_cell; do
  for ptycell_once in 1; do # a `break` of the cell ends this loop
    if (exit "${ptycell_status:-0}"); then # the cell finds it in $?, and no trap for ERR sees it
      . "$ptycell_cell"
    else
      . "$ptycell_cell"
    fi
  done
  ptycell_status=$?
  builtin set +eu +o pipefail # they hold to the end of their cell
  ptycell_end
done
builtin trap - EXIT"""), "javascript": ("node", "-e", r"""{
const fs = require('fs'), module_ = require('module'), util = require('util'), inspector = new (require('inspector').Session)()
const anchor = process.cwd() + '/cell.js', own = module_.createRequire(anchor), main = new module_(anchor, null)
main.filename = anchor
main.paths = module_._nodeModulePaths(process.cwd())
own.main = main
process.nextTick(() => { globalThis.module = main }) // Node puts its own back before that
Object.assign(globalThis, { require: own, exports: main.exports, __filename: anchor, __dirname: process.cwd(), ptycellImport: (name, options) => import(/^[./]/.test(name) || !module_.builtinModules.includes(
  name.replace(/^node:/, '')) ? require('url').pathToFileURL(own.resolve(name)) : name, options) })
ptycellImport.meta = { url: require('url').pathToFileURL(anchor).href, dirname: __dirname, filename: anchor, resolve: (name) => require('url').pathToFileURL(own.resolve(name)).href }
inspector.connect()
const post = (method, args) => new Promise((take, fail) => inspector.post(method, args, (e, r) => e ? fail(e) : take(r)))
let runs = 0, cells = 0
const end = (status, name, text, cell = runs) => { // it may have ended by an exit, and another one may run now
  if (!runs || cell !== runs) return
  fs.writeSync(9, `\x1e${status}\x1f${name}\x1f${text}\x1e`)
  runs = 0
}
const EXIT = new Error('exit')
process.exit = (code = process.exitCode) => { // it ends the cell, and nothing else
  const listeners = process.listeners('exit')
  process.removeAllListeners('exit')
  for (const listener of listeners) listener.call(process, code ?? 0)
  end(0, '', '')
  throw EXIT
}
const names = (text) => text.replace(/\*\s*as\s+/, '').replace(/\bas\b/g, ':')
const imported = (all, what, from, attributes) => {
  const call = `await ptycellImport('${from}'${attributes ? `, { with: ${attributes} }` : ''})`
  if (!what) return call
  const [, first, rest] = /^\s*([\w$]+)?\s*,?\s*(.*?)\s*$/s.exec(what)
  const parts = first ? [`{ default: ${first} }`] : []
  return parts.concat(rest ? [names(rest)] : []).map((part) => `const ${part} = ${call}`).join('; ')
}
const script_of = (text) => text.replace(/(?<=^|;)[ \t]*import\s+(?:([\w$*{][^;'"]*?)\s+from\s+)?['"]([^'"]+)['"](?:\s*with\s*(\{[^}]*\}))?/gm, imported)
  .replace(/\bimport\.meta\b/g, 'ptycellImport.meta').replace(/(?<=^|;)[ \t]*export(?:\s+default\s+|\s+(?=(?:const|let|var|class|function|async)\b)|\s*\{[^}]*\}(?!\s*from\b))/gm, '')
const evaluate_once = (text) => post('Runtime.evaluate', { expression: text.replace(/(^|[^.\w$])import\(/g, '$1ptycellImport('),
  replMode: true, awaitPromise: true })
// What kept a cell from running at all: a cell that ran has a place in the stack.
const problem_of = ({ exceptionDetails }) => {
  const told = exceptionDetails && exceptionDetails.exception.description || ''
  return /<anonymous>:\d/.test(told) ? '' : told
}
const taken = (outcome) => (/^SyntaxError: Identifier '([\w$]+)' has already been declared/.exec(problem_of(outcome)) || [])[1]
const declared = (text, name, kind) => text.replace(
  RegExp(`(?<=^|;)([ \\t]*)(?:let|const|var)(?=\\s+(?:[^;\\n]*?[,{[:]\\s*)?${name.replace(/\$/g, '\\$&')}(?![\\w$]))`, 'gm'), `$1${kind}`)
// A name can be declared again here in the way that it was declared first.
const evaluate = async (text, tried = []) => {
  const outcome = await evaluate_once(text), name = taken(outcome)
  for (const kind of name && !tried.includes(name) ? ['let', 'const', 'var'] : []) {
    const anew = declared(text, name, kind), other = anew === text ? outcome : await evaluate(anew, [...tried, name])
    if (!tried.concat(name).includes(taken(other))) return other
  }
  return outcome
}
// A text that a cell writes to a file may be a module, too: it stays as it is where the cell itself is a script.
// A cell in braces is an object where it can be one; of a cell whose value is a promise the session waits for that.
const evaluate_cell = async (text) => {
  const object = /^\s*\{[^;]*\}\s*$/.test(text) && await evaluate(`(${text})`)
  const outcome = object && !problem_of(object) ? object : await evaluate_script(text)
  return outcome.result.subtype === 'promise' ? post('Runtime.awaitPromise', { promiseObjectId: outcome.result.objectId }) : outcome
}
const evaluate_script = async (text) => {
  const outcome = await evaluate(text)
  return /^SyntaxError: (Cannot use (import statement|'import.meta')|Unexpected token '(export|with)')/.test(problem_of(outcome)) ? evaluate(script_of(text)) : outcome
}
const show = 'function () { "use strict"; if (/^(Timeout|Immediate)$/.test(this.constructor?.name)) return `[${this.constructor.name}]`; return require("util").inspect(this, { depth: 4, maxArrayLength: 200, breakLength: 100 }) }'
// Values that no user asked for, such as those of `process.stdout.write("x")`, `server.listen(0);` and `setTimeout(f, 9);`.
const quiet = show.replace(/if/, 'if (/^(Timeout|Immediate)$/.test(this.constructor?.name) || this instanceof require("events")) return ""; if')
const writes = /(?:^|[\n;])\s*process\.std(?:out|err)\.write\([^\n]*\)\s*;?\s*$/
const fault = `function () { return this instanceof Error ? [this.name, this.message] :
  [this.constructor ? this.constructor.name : 'Object', require('util').inspect(this)] }`
const call = async (object, what) => (await post('Runtime.callFunctionOn', { functionDeclaration: what,
  objectId: object.objectId, returnByValue: true })).result.value
const run = async (file) => {
  const cell = runs = ++cells
  const text = fs.readFileSync(file, 'utf8'), { result, exceptionDetails } = await evaluate_cell(text)
  if (exceptionDetails) {
    const thrown = exceptionDetails.exception
    const [name, told] = thrown.objectId ? await call(thrown, fault) : ['Uncaught', util.inspect(thrown.value)]
    return end(1, name, told, cell)
  }
  end(0, '', result.objectId ? await call(result, /;\s*$/.test(text) ? quiet : show) : result.type === 'undefined' || result.value === true && writes.test(text) ? '' :
    util.inspect(result.unserializableValue ? eval(result.unserializableValue) : result.value), cell)
}
process.on('uncaughtException', (e) => e === EXIT || console.error(e))
require('readline').createInterface({ input: fs.createReadStream(null, { fd: 8 }) }).on('line', run)
}"""), "r": (
        "R", "--quiet", "--no-save", "--no-restore", "--no-readline", "--no-echo", "--interactive")}
    R_LOOP = r"""
local({
  commands <- file("/dev/fd/8", "r", raw = TRUE)
  folder <- tempfile("figures")
  dir.create(folder)
  figures <- 0
  shown <- list() # the steps of the plot shown last, by device
  open_device <- function(...) { # it stays open, so that later cells draw on their plot
    grDevices::bmp("/dev/null", 960, 640, res = 96, type = "cairo", antialias = "none")
    grDevices::dev.control("enable")
    shown[[as.character(grDevices::dev.cur())]] <<- NULL
  }
  options(width = 120, device = open_device)
  is_ours <- function(device) device > 1 && identical(attr(.Devices[[device]], "filepath"), "/dev/null")
  prepares <- function(step) is.list(routine <- step[[2]][[1]]) && routine$name %in% c("C_par", "C_layout", "C_strWidth", "C_strHeight")
  show_plot <- function(device = grDevices::dev.cur()) { # if it has changed
    current <- grDevices::dev.cur()
    if (!is_ours(device)) return(invisible())
    on.exit(grDevices::dev.set(current))
    grDevices::dev.set(device)
    plot <- grDevices::recordPlot()
    steps <- Filter(Negate(prepares), plot[[1]])
    if (length(steps) == 0 || identical(steps, shown[[as.character(device)]])) return(invisible())
    shown[[as.character(device)]] <<- steps
    figures <<- figures + 1
    grDevices::png(file.path(folder, sprintf("%04d.png", figures)), 960, 640, res = 96)
    tryCatch(grDevices::replayPlot(plot), finally = grDevices::dev.off())
  }
  show_plots <- function() for (device in grDevices::dev.list()) try(show_plot(device), silent = TRUE) # one that failed fails again
  begin_page <- function(...) {
    try(show_plot(), silent = TRUE)
    shown[[as.character(grDevices::dev.cur())]] <<- NULL
  }
  setHook("before.plot.new", function(...) if (graphics::par("page")) begin_page())
  setHook("before.grid.newpage", begin_page)
  preceded <- function(fun, code) {
    body(fun) <- call("{", code, body(fun))
    fun
  }
  warned <- list()
  say <- function(...) base::cat(..., sep = "", file = stderr())
  where <- function(condition, before, after) {
    call <- conditionCall(condition)
    if (is.null(call) || identical(call[[1]], quote(eval))) "" else paste0(before, deparse(call)[1], after)
  }
  tell <- function() {
    if (length(warned) == 1) say("Warning message:\n", warned[[1]], "\n")
    if (length(warned) > 1) say("Warning messages:\n", paste0(seq_along(warned), ": ", warned, "\n"))
    warned <<- list()
  }
  note <- function(w) {
    level <- getOption("warn")
    if (level > 1) return() # R makes an error of it
    if (level == 1) say("Warning", where(w, " in ", " "), ": ", conditionMessage(w), "\n")
    if (level == 0) warned[[length(warned) + 1]] <<- paste0(where(w, "In ", " : "), conditionMessage(w))
    invokeRestart("muffleWarning")
  }
  show <- function(v) if (v$visible) if (isS4(v$value)) methods::show(v$value) else print(v$value)
  run <- function(code) for (e in code) {
    withCallingHandlers(show(withVisible(eval(e, globalenv()))), warning = note)
    tell()
  }
  quit <- function(save = "default", status = 0, runLast = TRUE) { # it ends the cell, and nothing else
    if (runLast && exists(".Last", globalenv())) get(".Last", globalenv())()
    invokeRestart("ptycell_quit")
  }
  attach(list(q = quit, quit = quit, dev.off = preceded(grDevices::dev.off, bquote(.(show_plot)(which))),
    graphics.off = preceded(grDevices::graphics.off, bquote(.(show_plots)())),
    replayPlot = preceded(grDevices::replayPlot, bquote(.(begin_page)()))), name = "ptycell", warn.conflicts = FALSE)
  failure <- function(path) {
    code <- tryCatch(parse(path, keep.source = TRUE), error = identity)
    if (inherits(code, "error")) return(list("parseError", conditionMessage(code)))
    e <- tryCatch(withRestarts({ run(code); NULL }, ptycell_quit = function() NULL), error = identity)
    if (is.null(e)) return(NULL)
    say("Error", where(e, " in ", " "), ": ", conditionMessage(e), "\n")
    list(class(e)[1], conditionMessage(e))
  }
  write_open_files <- function() for (number in setdiff(getAllConnections(), 0:2)) try({ # others may read the files
    connection <- getConnection(number)
    about <- summary(connection)
    if (about$class == "file" && about$opened == "opened" && about$`can write` == "yes" && seek(connection) >= 0) flush(connection)
  }, silent = TRUE)
  repeat {
    path <- readLines(commands, 1)
    if (length(path) == 0) break
    unlink(Sys.glob(file.path(folder, "*")))
    failed <- failure(path)
    write_open_files()
    tell()
    show_plots()
    say("\036", as.integer(!is.null(failed)), "\037", if (is.null(failed)) folder else failed[[1]], "\037", if (!is.null(failed)) failed[[2]], "\036")
  }
})
"""


    class Ptycell:
        def __init__(self, secrets):
            self.ip, self.home, self.programs, self.queue = get_ipython(), pathlib.Path.cwd(), {}, b""
            self.aside, self.programs_aside, self.is_next = {}, {}, False
            self.brought = {}  # {name: (value, digest)} of what saved variables were
            self.recorded, self.wanted, self.number, self.figures, self.snapshots = [], [], 0, [], {}
            self.stopped, self.had_failed = [], False
            with contextlib.suppress(Exception):  # a notebook that cannot be read has no numbers
                self.read_notebook()
            self.use_backend = None
            names = ("work" if n == 1 else f"work-{n}" for n in range(1, 10**6))
            self.work = next(path for path in map(self.home.joinpath, names) if not path.exists())
            self.packages = self.work / ".packages"
            self.files_of_cells = tempfile.TemporaryDirectory()  # outside of the folder that cells list
            self.cell_files = pathlib.Path(self.files_of_cells.name)
            for folder in ("input", "output"):
                (self.work / folder).mkdir(parents=True)
            os.chdir(self.work)
            for name in secrets:  # without a value the name is shown, as the recorded outputs show it
                os.environ.setdefault(name, f"[secret {name}]")
            os.environ.update(PYTHONPATH=f"{self.packages}:{os.environ.get('PYTHONPATH', '')}", HOME=str(self.work),
                              R_LIBS=str(self.packages), XDG_CACHE_HOME=str(self.work / ".cache"),
                              MPLCONFIGDIR=str(self.work / ".cache/matplotlib"), NO_COLOR="1", COLUMNS="120", LINES="40")
            sys.path[:0] = [str(self.work), str(self.packages)]
            self.ip.input_transformers_cleanup.append(self.localize)
            self.ip.register_magic_function(self.cell, "cell", "ptycell")
            self.ip.register_magic_function(self.pip, "line", "pip")
            self.run_async, asyncio.run = asyncio.run, self.run_loop
            self.run_until_complete = asyncio.BaseEventLoop.run_until_complete
            asyncio.BaseEventLoop.run_until_complete = lambda loop, future: self.run_beside(loop, future)
            self.imitate_terminal()
            self.showtraceback, self.ip.showtraceback = self.ip.showtraceback, self.show_error
            self.ip.events.register("pre_run_cell", self.begin_cell)
            self.ip.events.register("post_run_cell", self.end_cell)
            if hasattr(self.ip.display_pub, "register_hook"):  # a kernel's
                self.ip.display_pub.register_hook(lambda message: (self.save_figure(message["content"].get("data", {})), message)[1])
            show, self.ip.displayhook.write_format_data = self.ip.displayhook.write_format_data, lambda data, *more: (self.save_figure(data), show(data, *more))
            type(self.ip.exiter).__call__ = lambda _, code=None: sys.exit(code)
            warnings.filterwarnings("ignore", "To exit: use")
            if hasattr(self.ip, "kernel"):
                self.ask, self.ip.kernel.raw_input, self.ip.kernel.getpass = self.ip.kernel.raw_input, self.answer, self.answer_hidden
            sys.stdin = Terminal(self)
            self.env = dict(os.environ)  # of other languages, and of Python's next interpreter, whatever Python's cells change
            self.env_aside, self.folder_aside = {}, self.work

        def localize(self, lines):
            """Puts the folder and the values of secrets into a cell's text."""
            text = re.sub(r"/mnt/data(?![\w.-])", lambda _: str(self.work), "".join(lines))
            if "matplotlib" in sys.modules or "matplotlib" in text and not text.startswith("%%"):
                self.keep_backend()
            text = re.sub(r"\A(%%ptycell[^\n]*)\s*\Z", "\\1\n\n", text)  # Jupyter runs no magic without a body
            if "\0" in text and not text.startswith("%%"):
                compile(text, "cell", "exec")  # it fails as in the session; the kernel would not answer
            return re.sub(r"\[secret (\w+)\]", lambda m: os.environ.get(m[1], m[0]), text).splitlines(keepends=True)

        # ---- the number that a cell had, and what has it ----

        def read_notebook(self):
            """Notes the session's cells, and which cells' variables come back. The kernel gets no numbers."""
            this = self.ip.history_manager.input_hist_raw[-1]
            for path in sorted(self.home.glob("*.ipynb")):
                with contextlib.suppress(Exception):  # another one may have any content
                    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
                    if any("".join(cell["source"]) == this for cell in cells):
                        self.recorded = [cell for cell in cells if re.fullmatch("cell-[0-9]+", cell["id"])]
                        calls = "\n".join("".join(cell["source"]) for cell in cells if cell["id"].startswith("before-"))
                        self.wanted = [int(number) for number in re.findall(r'^ptycell\.restored\("python", (\d+)\)$', calls, re.M)]
                        return

        def begin_cell(self, info):
            found = next((n for n, cell in enumerate(self.recorded) if "".join(cell["source"]) == info.raw_cell and runs_again(cell)), None)
            passed = [] if found is None else self.recorded[:found + 1]
            del self.recorded[:len(passed)]
            *before, cell = passed or [{"id": "cell-0", "outputs": []}]
            self.stopped += [each["id"][5:] for each in before if not runs_again(each)]
            self.number, self.had_failed = int(cell["id"][5:]), any(output["output_type"] == "error" for output in cell["outputs"])
            text = "".join("".join(output.get("text", "")) for output in cell["outputs"])
            self.figures = re.findall(r"\[figure(?: (\d+)|: [^\n]*)\]", text)  # without a number: the cell saved it itself
            for first, count in re.findall(r"\[images beyond (\d+) in this cell: (\d+); saved", text):
                self.figures += range(int(first) + 1, int(first) + int(count) + 1)

        def save_figure(self, forms):
            """The session has what a cell shows among its results."""
            picture = forms.get("image/png")
            if self.number and picture and self.figures:
                number = self.figures.pop(0)
                file = self.work / "output" / f"cell-{self.number}-figure-{number}.png"
                with contextlib.suppress(OSError, ValueError, TypeError):  # the cell has shown it all the same
                    data = picture if isinstance(picture, bytes) else base64.b64decode(picture)
                    if number and file.parent.is_dir() and not file.exists():
                        file.write_bytes(data)

        # ---- a cell that exits: it ends, and nothing else ----

        def show_error(self, exc_tuple=None, *args, **options):
            kind, error = (exc_tuple or sys.exc_info())[:2]
            if not kind or not issubclass(kind, SystemExit):
                self.showtraceback(exc_tuple, *args, **options)
            elif error.code is not None and not isinstance(error.code, int):
                print(error.code, file=sys.stderr)

        def end_cell(self, result):
            if not self.is_next:
                self.leave_terminal()
            self.is_next = False
            self.write_open_files()
            if self.number:
                self.take_snapshot()
            if isinstance(result.error_in_exec, SystemExit):
                result.error_in_exec = None
            if result.error_in_exec and self.number and self.stopped and not self.had_failed:
                print(f"[not so in the session; cells that were stopped there are not run again: {', '.join(self.stopped)}]", file=sys.stderr)
                result.error_in_exec = None  # the cells behind it run

        def write_open_files(self):
            """Writes what open files have in their buffers, as the session did at the end of a cell: others may read the files."""
            files = [thing for thing in gc.get_objects() if type(thing) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)]
            below = set()  # the bytes below a text file are written with it, or not at all
            for file in files:
                with contextlib.suppress(Exception):
                    below.add(id(file.buffer))
            for file in files:
                with contextlib.suppress(Exception):  # it is closed, or code of the session is behind it
                    if id(file) not in below and stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.writable() and not self.reads_on(file):
                        file.flush()

        def reads_on(self, file):
            """Returns whether a text file is read as well and is not at its end: a flush would change what it reads next."""
            return type(file) is io.TextIOWrapper and file.readable() and not (
                file.buffer.tell() >= os.lseek(file.fileno(), 0, os.SEEK_CUR) == os.fstat(file.fileno()).st_size)

        def run_loop(self, main, **options):
            """asyncio.run() where Jupyter's own loop runs."""
            done = []
            thread = threading.Thread(target=lambda: done.append(self.outcome(main, options)))
            thread.start()
            thread.join()
            if isinstance(done[0], BaseException):
                raise done[0]
            return done[0][0]

        def outcome(self, main, options):
            try:
                return [self.run_async(main, **options)]
            except BaseException as problem:
                return problem

        def run_beside(self, loop, future):
            """loop.run_until_complete() where Jupyter's own loop may run."""
            running, loop = asyncio._get_running_loop(), future.get_loop() if asyncio.isfuture(future) else loop
            if running and loop is running:
                return self.run_within(loop, future)
            asyncio._set_running_loop(None)
            try:
                return self.run_until_complete(loop, future)
            finally:
                asyncio._set_running_loop(running)

        def run_within(self, loop, future):
            """Runs Jupyter's own loop on, from the cell that it runs."""
            task, cell, waiting = asyncio.ensure_future(future, loop=loop), asyncio.current_task(loop), len(loop._ready)
            asyncio.tasks._leave_task(loop, cell)
            try:
                while not task.done():
                    loop._run_once()
            finally:
                asyncio.tasks._enter_task(loop, cell)
                for _ in range(waiting):  # it has counted those that were ready
                    loop.call_soon(int)
            return task.result()

        def keep_backend(self):
            """matplotlib.use("agg") changes nothing: Jupyter shows no figures of that backend, the session did."""
            with contextlib.suppress(Exception):  # the cell itself says what is wrong with it
                import matplotlib
                if matplotlib.use is not self.use_backend:
                    self.use = matplotlib.use
                    matplotlib.use = self.use_backend = lambda backend, **options: (
                        None if backend.lower() == "agg" else self.use(backend, **options))

        def imitate_terminal(self):
            """What code finds of its program and its terminal."""
            sys.argv, sys.__stdout__, sys.__stderr__ = [""], sys.stdout, sys.stderr
            os.get_terminal_size = lambda fd=1: os.terminal_size((120, 40))
            for stream in (sys.stdout, sys.stderr):
                stream.buffer, stream.reconfigure = Bytes(stream), lambda **options: None

        # ---- what came into the session ----

        def input(self, path, size, sha256=None, source=None):
            """Puts an input where the session had it."""
            for file in sorted(self.home.glob("input*/**/*"), key=lambda file: (file.name != pathlib.Path(path).name, file)):
                if file.is_file() and file.stat().st_size == size and sha256 in (None, self.digest(file)):
                    (self.work / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, self.work / path)
                    return
            raise FileNotFoundError(f"{path} ({size} bytes, SHA-256 {sha256}, from {source}) is not beside this notebook: put it into input/")

        def digest(self, file):
            digest = hashlib.sha256()
            with file.open("rb") as data:
                for part in iter(lambda: data.read(1 << 20), b""):
                    digest.update(part)
            return digest.hexdigest()

        def install(self, language, *packages):
            """Installs packages beside the working folder, unless they are here."""
            for name, version in packages:
                if language == "python" and self.version(name) == version:
                    continue
                command = {"python": [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(self.packages), f"{name}=={version}"],
                           "javascript": ["npm", "install", "--silent", "--no-save", f"{name}@{version}"],
                           "r": ["Rscript", "-e", f"dir.create('.packages', FALSE); install.packages('{name}', '.packages')"]}[language]
                if subprocess.run(command, cwd=self.work, stdin=subprocess.DEVNULL).returncode != 0:
                    print(f"{name} {version} could not be installed", file=sys.stderr)
            importlib.invalidate_caches()

        def version(self, name):
            try:
                return metadata.version(name)
            except metadata.PackageNotFoundError:
                return None

        def pip(self, line):
            """%pip: what the session installed is here already."""
            if line.split()[:1] != ["install"]:
                subprocess.run([sys.executable, "-m", "pip", *line.split()])

        # ---- the session lost state, which comes back only where it was brought back ----

        def lost(self, language, why=None):
            """The session lost this interpreter's state here."""
            if language != "python":
                return self.put_aside(language)
            self.aside.update(self.left_by_cells())
            self.brought = {}
            self.ip.reset(new_session=False)
            self.env_aside.update(os.environ.items() - self.env.items())
            os.environ.clear()
            os.environ.update(self.env)
            with contextlib.suppress(FileNotFoundError):  # a cell removed its folder
                if os.getcwd() != str(self.work):
                    self.folder_aside = os.getcwd()
            os.chdir(self.work)

        def variables(self):
            return {name: value for name, value in self.ip.user_ns.items()
                    if name not in self.ip.user_ns_hidden and not re.fullmatch(r"_+|_i*\d*|__.*|_(dh|ih|oh|exit_code)", name)}

        def left_by_cells(self):
            """The variables but those that came back and are as they were: what cells left since they were saved is newer."""
            return {name: value for name, value in self.variables().items() if self.brought.get(name, (self,))[0] is not value
                    or self.brought[name][1] != self.digest_of(value)}

        def take_snapshot(self):
            """Notes the variables as a cell left them, if they come back. Later cells may change small ones, of which it has copies."""
            wanted = [number for number in self.wanted if number >= self.number]
            if not wanted:
                return
            copies, last = {}, max(self.snapshots, default=None)
            if last is not None and not any(last <= number < self.number for number in self.wanted):
                del self.snapshots[last]  # the one of this cell takes its place
            self.snapshots[self.number] = {name: self.copy_of(value, copies) for name, value in self.variables().items()}

        def copy_of(self, value, copies):
            try:
                return copy.deepcopy(value, copies) if isinstance(self.digest_of(value), bytes) else value
            except (Exception, SystemExit):  # it is code of the session
                return value

        def digest_of(self, value):
            """Returns an object that equals no other one for what is large, or cannot be copied."""
            measure = Measure(4 << 20)
            try:
                pickle.Pickler(measure).dump(value)
                return measure.digest.digest()
            except (Exception, SystemExit):
                return object()

        def put_aside(self, language):
            """Of a second program the first one gets the cells, should they run again."""
            program = self.programs.pop(language, None)
            if program and language in self.programs_aside:
                self.programs_aside[language]["later"] += program["ran"]
                self.stop(program)
            elif program:
                self.programs_aside[language] = program

        def resumed(self):
            """A later life of the session begins without state."""
            for language in ("python", *PROGRAMS):
                self.lost(language)

        def restored(self, language=None, cell=0):
            """Saved variables of Python came back as they were after a cell, or all that cells left: they ran again."""
            at = max((number for number in self.snapshots if number <= cell), default=None)
            back = self.aside if at is None else self.snapshots[at]
            if language and not cell:
                back = {}  # no variable was saved
            left, copies = self.left_by_cells(), {}
            back = {name: self.copy_of(value, copies) if language else value for name, value in back.items() if name not in left}
            self.ip.user_ns.update(back)
            self.brought = {name: (value, self.digest_of(value)) for name, value in back.items()} if language else {}
            if language is None:
                os.environ.update(self.env_aside)
                with contextlib.suppress(FileNotFoundError):
                    os.chdir(self.folder_aside)
                for each in PROGRAMS:
                    self.put_aside(each)
                self.programs, self.programs_aside = self.programs_aside, {}
                self.run_later()

        def run_later(self):
            """Files stay as they are."""
            if not any(program["later"] for program in self.programs.values()):
                return
            aside = pathlib.Path(tempfile.mkdtemp()) / "work"
            self.copy_folder(self.work, aside)
            for language, program in list(self.programs.items()):
                cells, program["later"] = program["later"], []
                for code, self.queue in cells:
                    self.exchange(language, code)
            self.queue = b""
            self.put_back(aside)
            shutil.rmtree(aside.parent)

        def put_back(self, aside):
            """Gives the working folder its files again. Those that are open stay the same files; a shell may be in a folder."""
            for top, folders, files in os.walk(self.work, topdown=False):
                for path in (pathlib.Path(top, name) for name in files + folders):
                    kept = aside / path.relative_to(self.work)
                    kinds = [stat.S_IFMT(self.mode_of(each)) for each in (path, kept)]
                    if kinds[0] == kinds[1] != stat.S_IFLNK:  # it stays
                        if kinds[0] == stat.S_IFREG and not filecmp.cmp(path, kept):
                            shutil.copy2(kept, path)
                    elif kinds[0] == stat.S_IFDIR:
                        path.rmdir()
                    else:
                        path.unlink()
            self.copy_folder(aside, self.work, dirs_exist_ok=True, ignore=lambda top, names: [
                name for name in names if stat.S_IFMT(self.mode_of(self.work / os.path.relpath(top, aside) / name)) not in (0, stat.S_IFDIR)])

        def copy_folder(self, source, target, **options):
            """Copies a folder with its pipes and sockets, too."""
            shutil.copytree(source, target, symlinks=True, **options, copy_function=lambda file, copy: (
                shutil.copy2(file, copy) if stat.S_ISREG(self.mode_of(file)) else os.mknod(copy, self.mode_of(file))))

        def mode_of(self, path):
            return os.lstat(path).st_mode if os.path.lexists(path) else 0

        # ---- typed input ----

        def typed(self, text):
            """The next cell reads this from its terminal, and so do programs that it starts."""
            self.is_next = True
            self.put_on_terminal(text.encode())

        def put_on_terminal(self, text):
            self.queue, (master, slave) = text, self.open_terminal()
            mode = termios.tcgetattr(slave)
            mode[3] &= ~(termios.ECHO | termios.ISIG)
            if max(map(len, self.queue.split(b"\n"))) > 4000:  # no terminal keeps such a line whole
                mode[3] &= ~termios.ICANON
            mode[6][termios.VEOL] = b"\x03"
            termios.tcsetattr(slave, termios.TCSANOW, mode)
            os.dup2(slave, 0)
            os.close(slave)
            self.ip.system = self.system
            threading.Thread(target=self.feed, args=(master, self.queue + 8 * b"\x04"), daemon=True).start()

        def feed(self, master, text):
            with contextlib.suppress(OSError):
                while text:
                    text = text[os.write(master, text[:256]):]
                while os.read(master, 1 << 16):  # until its other end is closed
                    pass
            os.close(master)

        def leave_terminal(self):
            self.queue = b""
            self.ip.__dict__.pop("system", None)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.close(null)

        def take_line(self):
            """Reads the rest of a line from the terminal. Returns nothing at the end of input (Ctrl-D)."""
            line = b""
            while not line.endswith((b"\n", b"\x03")):
                char = os.read(0, 1)
                if char in (b"", b"\x04"):
                    break
                line += char
            self.queue = self.queue[len(line) or 1:]
            if line.endswith(b"\x03"):
                raise KeyboardInterrupt
            return line.decode(errors="replace")

        def take_answer(self, prompt, shown):
            print(prompt, end="")
            line = self.take_line()
            print(line.rstrip("\n") if shown else "")
            if not line:
                raise EOFError
            return line.rstrip("\n")

        def answer(self, prompt=""):
            return self.take_answer(prompt, True) if self.queue else self.ask(prompt)

        def answer_hidden(self, prompt="", stream=None):
            return self.take_answer(prompt, False) if self.queue else self.ask(prompt)

        def system(self, command):
            """Runs a program for `!` in a cell to which something was typed."""
            command, (master, slave), output = self.ip.var_expand(command, depth=1), self.open_terminal(), b""
            process = subprocess.Popen(command, shell=True, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
            os.close(slave)
            while (more := self.read_program(master)) is not None:
                output += more
            os.close(master)
            self.ip.user_ns["_exit_code"] = process.wait()
            sys.stdout.write(clean(output.decode(errors="replace")))
            self.put_on_terminal(self.queue)

        # ---- other languages ----

        def open_terminal(self):
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            return master, slave

        def start(self, language):
            command, (master, slave) = PROGRAMS[language], self.open_terminal()
            commands, ours = os.pipe()
            mode = termios.tcgetattr(slave)

            def enter():
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                source, tty = fcntl.fcntl(commands, fcntl.F_DUPFD, 10), fcntl.fcntl(slave, fcntl.F_DUPFD, 10)
                os.dup2(source, 8)
                os.dup2(tty, 9)

            if language == "r":  # it reads its first line from the terminal, as it reads what is typed later
                termios.tcsetattr(slave, termios.TCSANOW, [*mode[:3], mode[3] & ~termios.ECHO, *mode[4:]])
            process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=self.work, start_new_session=True,
                                       preexec_fn=enter, close_fds=False, env={**self.env, "TERM": "dumb"})
            program = {"process": process, "master": master, "commands": ours, "rest": b"", "ran": [], "later": []}
            if language == "r":
                loop = self.cell_files / "loop.R"
                loop.write_text(R_LOOP)
                os.write(master, f"source({json.dumps(str(loop))})\n".encode())
            os.close(commands)
            os.close(slave)
            self.programs[language] = program
            return program

        def stop(self, program):
            os.close(program["commands"])
            os.close(program["master"])
            program["process"].kill()
            program["process"].wait()

        def exchange(self, language, code):
            """Runs code and returns its output with the words that end it; None in their place when the program has ended."""
            program = self.programs.get(language) or self.start(language)
            file = self.cell_files / f".cell.{language}"
            file.write_text(code)
            os.write(program["commands"], f"{file}\n".encode())
            output, master = b"", program["master"]
            while True:
                found = re.search(b"\x1e([0-9]+)\x1f([^\x1e]*?)\x1f([^\x1e]*)\x1e", output)
                if found:
                    return output[:found.start()], [part.decode(errors="replace").replace("\r\n", "\n") for part in found.groups()]
                more = self.read_program(master)
                if more is None:
                    self.stop(self.programs.pop(language))
                    return output, None
                output += more

        def read_program(self, master):
            """Returns output of a program, which gets the next line when it seems to wait for input; None when it has ended."""
            try:
                if self.queue and not select.select([master], [], [], 0.3)[0]:
                    line, end, self.queue = self.queue.partition(b"\n")
                    os.write(master, line + end)
                return os.read(master, 1 << 16)
            except KeyboardInterrupt:
                os.write(master, b"\x03")
                return b""
            except OSError:
                return None

        def cell(self, line, code):
            """%%ptycell LANGUAGE [STATUS]: runs a cell of another language; STATUS is what a bash cell ended with."""
            language, *status = line.split()
            typed = self.queue
            output, end = self.exchange(language, code)
            self.queue = b""
            if end and (language == "bash" or end[0] == "0"):
                self.programs[language]["ran"].append((code, typed))
            output = re.sub(rf"(bash: )?{re.escape(str(self.cell_files))}/\.cell\.bash: ", "bash: ", output.decode(errors="replace"))
            sys.stdout.write(clean(output))
            if end is None:
                raise RuntimeError(f"{PROGRAMS[language][0]} has ended")
            if language == "bash":
                self.ip.user_ns["_exit_code"] = int(end[0])
                if status and status != end[:1]:
                    print(f"[exit status {end[0]}; it was {status[0]} in the session]", file=sys.stderr)
                return None
            if language == "r" and end[0] == "0":
                for figure in sorted(pathlib.Path(end[1]).glob("*.png")):
                    display(Image(figure.read_bytes()))
            if end[0] != "0":
                raise type(end[1], (Exception,), {})(end[2])
            return Shown(end[2]) if end[2] and language == "javascript" else None


    class Measure:
        """A file that fails when more is written than it takes."""

        def __init__(self, room):
            self.room, self.digest = room, hashlib.sha256()

        def write(self, data):
            self.digest.update(data)
            self.room -= memoryview(data).nbytes
            if self.room < 0:
                raise ValueError("it is larger")


    class Bytes(io.RawIOBase):
        """What takes bytes of an output that is text in Jupyter."""

        def __init__(self, text):
            self.text, self.decoder = text, codecs.getincrementaldecoder("utf-8")("replace")

        def writable(self):
            return True

        def write(self, data):
            self.text.write(self.decoder.decode(bytes(data)))
            return len(data)

        def flush(self):
            self.text.flush()

        def close(self):
            pass


    class Terminal(io.TextIOBase):
        """Standard input of Python's cells: it shows what was typed, as a terminal does."""

        def __init__(self, owner):
            self.owner = owner

        def readline(self, size=-1):
            line = self.owner.take_line()
            print(line, end="")
            return line

        def read(self, size=-1):
            return "".join(iter(self.readline, ""))

        def isatty(self):
            return True

        def close(self):
            pass

    class Shown(str):
        __repr__ = str.__str__


    def runs_again(cell):
        return "skip-execution" not in cell["metadata"].get("tags", [])


    def clean(text):
        """Terminal output as a screen shows it."""
        text = re.sub("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\^_])", "", text)
        lines = []
        for line in text.replace("\r\n", "\n").expandtabs().split("\n"):
            shown, at = [], 0
            for char in line:
                if char == "\r":
                    at = 0
                elif char == "\b":
                    at = max(at - 1, 0)
                else:
                    shown[at:at + 1] = [char]
                    at += 1
            lines.append("".join(shown).rstrip())
        return "\n".join(lines)

    builtins.ptycell = Ptycell(secrets)
