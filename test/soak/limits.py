# SPDX-License-Identifier: MIT
"""Limits that are met: by which language, by whom, slowly or at once; what is told, and what lives.

limits.py [FIELDS] [--seed N] [--only WORD]: all fields of the matrix in an order of chance, or so many of
them, or those with WORD in their name. In each a session holds a value in every language that takes part,
and so does another session; then code meets the limit. The value of the other session is always there
afterwards, that of the session but for the fields of LOST, the answers name the limit with its value and setting, and
the next cell runs. Ends with 1 when a field differs.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
import again  # noqa: E402
from client import ALONE, Result, Server, environment  # noqa: E402

MIB = 1 << 20
PYTHON = environment(HERE)["PTYCELL_PYTHON"]  # of the sessions
CONFIG = {"memory_max": 400 * MIB, "disk_max": 60 * MIB, "file_max": 24 * MIB, "tmp_max": 8 * MIB, "processes_max": 60,
          "open_files_max": 512}
TOLD_S = 60
RUNS = re.compile(r"\[\w+#\d+ running ")
ANSWERS = 9  # to one cell that runs on; a hang has more
BEGIN = {"python": "x = 5", "bash": "x=5", "javascript": "var x = 5", "r": "x <- 5"}
LOOK = {"python": "print(x)", "bash": "echo $x", "javascript": "console.log(x)", "r": "cat(x)"}
# The limit, its value and its setting.
WORDS = {
    "memory": "400 MB (memory_max)",
    "disk": "60 MB (disk_max)",
    "file": "24 MB (file_max)",
    "tmp": "8.0 MB (tmp_max)",
    "shm": "400 MB (memory_max)",
    "processes": "60 (processes_max)",
    "descriptors": "512 (open_files_max)",
    "output": "left out",
    "time": "deadline of ",
}
# V8 calls its embedder shortly before its heap is full, but no function of JavaScript: the driver is not asked, and a loop that
# awaits nothing runs no code of it. A thread that watched the heap would take 10 MB of every session and could not keep up: such
# a loop fills the heap of this matrix within a third of a second.
V8_ENDS = "V8 ends its process when its own heap is full"
# Its memory is that of the shell alone: that others end gives it none. A higher limit would be that of all programs which it
# starts, as a limit is inherited. The last copies of a string take milliseconds, in which nothing interrupts it in time.
BASH_ENDS = "bash ends its process when malloc() fails, as at a terminal"
# The session is looked at twice a second. Python and R then get only what is left, but four languages that begin at the same time
# come from below the limit to an eighth above it, together, between two looks. What is far above is ended before it was asked.
BETWEEN_LOOKS = "all grow by more than an eighth of the limit between two looks"
LOST = {
    ("memory", "javascript", "cell"): V8_ENDS, ("memory", "bash", "cell"): BASH_ENDS,
    ("memory", "javascript", "all"): V8_ENDS, ("memory", "bash", "all"): BASH_ENDS,
    ("memory", "r", "all"): BETWEEN_LOOKS,
}
# R has 128 connections. Bash tries for 15 s to make a process, and then waits for the last that it made; descriptors it
# needs itself.
NOT = {("descriptors", "r"), ("processes", "bash"), ("descriptors", "bash")}

SHELL = {  # at once, slowly
    "memory": ("python3 -c 'x = bytearray(900 << 20)'",
               "python3 -c 'import mmap, time\nheld = []\nfor _ in range(150):\n  held.append(mmap.mmap(-1, 4 << 20))\n"
               "  held[-1].write(bytes(4 << 20)); time.sleep(0.03)'"),
    "disk": ("for i in {1..999}; do head -c 4194304 /dev/zero >f$i || break; done",
             "for i in {1..999}; do head -c 4194304 /dev/zero >f$i || break; sleep 0.05; done"),
    "file": ("head -c 40000000 /dev/zero >g", "for i in {1..40}; do head -c 1048576 /dev/zero >>g || break; sleep 0.02; done"),
    "tmp": ("head -c 9000000 /dev/zero >/tmp/g", "for i in {1..40}; do head -c 1048576 /dev/zero >>/tmp/g || break; sleep 0.02; done"),
    "shm": ("for i in {1..99}; do head -c 10000000 /dev/zero >/dev/shm/$i || break; done",
            "for i in {1..999}; do head -c 4194304 /dev/zero >/dev/shm/$i || break; sleep 0.02; done"),
    "processes": ("python3 -c 'import subprocess\nmany = []\ntry:\n  while True: many.append(subprocess.Popen([\"sleep\", \"1000\"]))\n"
                  "finally:\n  for one in many: one.kill(), one.wait()'",
                  "python3 -c 'import subprocess, time\nmany = []\ntry:\n  while True: many.append(subprocess.Popen([\"sleep\", \"1000\"])); time.sleep(0.02)\n"
                  "finally:\n  for one in many: one.kill(), one.wait()'"),
    "descriptors": ("python3 -c 'many = [open(\"/dev/null\") for _ in range(9999)]'",
                    "python3 -c 'import time\nmany = []\nwhile True: many.append(open(\"/dev/null\")); time.sleep(0.002)'"),
    "output": ("head -c 30000000 /dev/zero | tr '\\0' a", "for i in {1..200}; do head -c 10000 /dev/zero | tr '\\0' a; done"),
    "time": ("sleep 1000", "while :; do :; done"),
}
NAP = "await new Promise((go) => setTimeout(go, 20))"
CELLS = {
    "python": {
        "memory": ("y = bytearray(900 << 20)", "import time\ny = []\nwhile True: y.append(b'1' * (8 << 20)); time.sleep(0.02)"),
        "disk": ("i = 0\nwhile True: i += 1; open(f'f{i}', 'wb').write(bytes(4 << 20))",
                 "import time\ni = 0\nwhile True: i += 1; open(f'f{i}', 'wb').write(bytes(4 << 20)); time.sleep(0.05)"),
        "file": ("open('p', 'wb').write(bytes(40 << 20))",
                 "import time\nf = open('p', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush(); time.sleep(0.02)"),
        "tmp": ("open('/tmp/g', 'wb').write(bytes(9 << 20))",
                "import time\nf = open('/tmp/g', 'wb', 0)\nwhile True: f.write(bytes(1 << 20)); time.sleep(0.02)"),
        "shm": ("i = 0\nwhile True: i += 1; open(f'/dev/shm/{i}', 'wb').write(bytes(10 << 20))",
                "import time\ni = 0\nwhile True: i += 1; open(f'/dev/shm/{i}', 'wb').write(bytes(4 << 20)); time.sleep(0.02)"),
        "processes": ("import subprocess\nmany = []\ntry:\n  while True: many.append(subprocess.Popen(['sleep', '1000']))\n"
                      "finally:\n  for one in many: one.kill(), one.wait()",
                      "import subprocess, time\nmany = []\ntry:\n  while True: many.append(subprocess.Popen(['sleep', '1000'])); time.sleep(0.02)\n"
                      "finally:\n  for one in many: one.kill(), one.wait()"),
        "descriptors": ("many = [open('/dev/null') for _ in range(9999)]",
                        "import time\nmany = []\nwhile True: many.append(open('/dev/null')); time.sleep(0.002)"),
        "output": ("print('a' * 30000000)", "for i in range(2000): print('a' * 1000)"),
        "time": ("while True: pass", "import time; time.sleep(1000)"),
    },
    "javascript": {
        "memory": ("const y = []; while (true) y.push(new Array(10000).fill(Math.random()))",
                   f"const y = []; while (true) {{ y.push(new Array(1e6).fill(Math.random())); {NAP} }}"),
        "disk": ("for (let i = 0; ; i++) require('fs').writeFileSync(`f${i}`, Buffer.alloc(4 << 20))",
                 "for (let i = 0; ; i++) { require('fs').writeFileSync(`f${i}`, Buffer.alloc(4 << 20)); " + NAP + " }"),
        "file": ("require('fs').writeFileSync('j', Buffer.alloc(40 << 20))",
                 "while (true) { require('fs').appendFileSync('j', Buffer.alloc(1 << 20)); " + NAP + " }"),
        "tmp": ("require('fs').writeFileSync('/tmp/g', Buffer.alloc(9 << 20))",
                "while (true) { require('fs').appendFileSync('/tmp/g', Buffer.alloc(1 << 20)); " + NAP + " }"),
        "shm": ("for (let i = 0; ; i++) require('fs').writeFileSync(`/dev/shm/${i}`, Buffer.alloc(10 << 20))",
                "for (let i = 0; ; i++) { require('fs').writeFileSync(`/dev/shm/${i}`, Buffer.alloc(4 << 20)); " + NAP + " }"),
        "processes": ("const many = []; try { for (let i = 0; i < 90; i++) { const one = require('child_process').spawn('sleep', ['1000']);"
                      " one.on('error', (e) => console.log(e.message)); many.push(one) }; await new Promise((go) => setTimeout(go, 500)) }"
                      " finally { many.forEach((one) => one.kill()) }",
                      "const many = []; try { for (let i = 0; i < 90; i++) { const one = require('child_process').spawn('sleep', ['1000']);"
                      " await new Promise((go, no) => one.on('error', no).on('spawn', go)); many.push(one) } }"
                      " finally { many.forEach((one) => one.kill()) }"),
        "descriptors": ("for (let i = 0; i < 9999; i++) require('fs').openSync('/dev/null')",
                        "for (let i = 0; i < 9999; i++) { require('fs').openSync('/dev/null'); await new Promise(setImmediate) }"),
        "output": ("console.log('a'.repeat(30000000))", "for (let i = 0; i < 2000; i++) { console.log('a'.repeat(1000)); await new Promise(setImmediate) }"),
        "time": ("while (true);", "await new Promise(() => setTimeout(() => {}, 1e6))"),
    },
    "r": {
        "memory": ("y <- numeric(2e8)", "y <- list(); for (i in 1:999) y[[i]] <- numeric(1e5) + i; while (TRUE) y[[length(y) + 1]] <- numeric(1e5) + 1"),
        "disk": ("for (i in 1:999) writeBin(raw(4e6), paste0('f', i))",
                 "for (i in 1:999) { write.csv(numeric(5e5), paste0('f', i)); Sys.sleep(0.02) }"),
        "file": ("writeBin(raw(4e7), 'r')", "write.csv(numeric(4e6), 'r')", "cat(strrep('a', 4e7), file = 'r')",
                 "for (i in 1:40) { cat(strrep('a', 1e6), file = 'r', append = TRUE); Sys.sleep(0.02) }"),
        "tmp": ("con <- file('/tmp/g', 'w'); for (i in 1:99) writeLines(strrep('a', 1e6), con)",
                "for (i in 1:40) { write.csv(numeric(1e5), paste0('/tmp/g', i)); Sys.sleep(0.02) }"),
        "shm": ("for (i in 1:99) write.csv(numeric(1e6), paste0('/dev/shm/', i))",
                "for (i in 1:999) { saveRDS(raw(8e6), paste0('/dev/shm/', i), compress = FALSE); Sys.sleep(0.02) }"),
        "processes": ("jobs <- list(); tryCatch(for (i in 1:90) jobs[[i]] <- parallel::mcparallel(Sys.sleep(1000)),\n"
                      "  finally = for (one in jobs) tools::pskill(one$pid, 9))",),
        "output": ("cat(strrep('a', 3e7))", "for (i in 1:2000) { cat(strrep('a', 1000), '\\n'); Sys.sleep(0) }"),
        "time": ("while (TRUE) {}", "Sys.sleep(1000)"),
    },
    "bash": {**SHELL, "memory": ("y=$(head -c 900000000 /dev/zero | tr '\\0' a)", "while :; do y+=$(head -c 1000000 /dev/zero | tr '\\0' a); done"),
             "time": ("while :; do :; done", "sleep 1000")},
}
# What a thread cannot end, or nobody hears of.
NOT_IN_THREAD = {("time", "javascript"), ("output", "javascript")}
TRAIN = """import time
try:
    while True: sum(range(1000))
except KeyboardInterrupt:
    end = time.monotonic() + 2
    while time.monotonic() < end: pass
    open('saved', 'w').write('whole')
"""
SAVES_S = 10  # within which it has begun
# Real programs: limit, language, which, modules of Python or programs that it needs, code. What "saves" has a file then.
REAL = (
    ("disk", "python", "to_csv", ("pandas",), "import numpy, pandas\ntable = pandas.DataFrame(numpy.zeros((300000, 8)))\n"
     "for i in range(99): table.to_csv(f'f{i}.csv')"),
    ("memory", "python", "joblib", ("joblib", "numpy"), "import joblib, numpy\n"
     "joblib.Parallel(n_jobs=2)(joblib.delayed(numpy.tile)(numpy.ones(1 << 20), 200) for _ in range(4))"),
    ("memory", "python", "n_jobs", ("sklearn",), "import numpy, sklearn.metrics\n"
     "sklearn.metrics.pairwise_distances(numpy.ones((20000, 10)), n_jobs=2)"),
    ("time", "python", "svd", ("numpy",), "import numpy\nnumpy.linalg.svd(numpy.random.rand(1000, 1000))[0].shape"),
    ("file", "python", "sqlite3", ("sqlite3",), "import sqlite3\nc = sqlite3.connect('d.db')\nc.execute('create table t(a)')\n"
     "for i in range(400): c.execute('insert into t values(zeroblob(100000))')\nc.commit()"),
    ("time", "python", "saves", (), TRAIN),
    ("time", "python", "saves by !", (), f"open('train.py', 'w').write({TRAIN!r})\n!python3 train.py"),
    ("time", "bash", "saves", (), f"cat >train.py <<'END'\n{TRAIN}END\npython3 train.py"),
    ("time", "r", "saves", (), "tryCatch(repeat {}, interrupt = function(e) { Sys.sleep(2); cat('whole', file = 'saved') })"),
    ("time", "javascript", "saves", (), "await new Promise((go) => process.once('SIGINT', () => setTimeout(() => {\n"
     "  require('fs').writeFileSync('saved', 'whole'); go() }, 2000)))"),
    ("memory", "r", "mclapply", (), "print(parallel::mclapply(1:2, function(i) { x <- numeric(2e8); 1 }))"),
    ("memory", "javascript", "worker", (), "const { Worker } = require('worker_threads'); await new Promise((go, no) => new Worker("
     "'const y = []; while (true) y.push(new Array(10000).fill(1.5))', { eval: true }).on('error', no))"),
    ("tmp", "bash", "sort", ("sort", "shuf"), "seq 1 2500000 | shuf >in.txt; sort -S 1M in.txt >out.txt"),
    ("disk", "bash", "clone", ("git",), "git init -q r; head -c 12000000 /dev/urandom >r/a; git -C r add a\n"
     "git -C r -c user.name=a -c user.email=a@b commit -qm a; for i in {1..9}; do git clone -q file://$PWD/r c$i || break; done"),
)
# R's con stays open, and what a full file system said goes unheard until it is closed.
UNREPORTED = {("tmp", "r")}


def quoted(code):
    return '"' + code.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def in_child(language, code):
    if language == "bash":
        return f"({code})"
    if language == "javascript":
        return f"require('child_process').spawnSync('bash', ['-c', {quoted(code)}], {{ stdio: 'inherit' }}).status"
    if language == "r":
        return f"invisible(system2('bash', c('-c', shQuote({quoted(code)}))))"
    return f"import subprocess\nprint(subprocess.run(['bash', '-c', {code!r}]).returncode)"


def in_background(language, code):
    if language == "bash":
        return f"({code}) >/dev/null 2>&1 &"
    if language == "javascript":
        return f"void require('child_process').spawn('bash', ['-c', {quoted(code)}], {{ stdio: 'ignore' }})"
    if language == "r":
        return f"invisible(system2('bash', c('-c', shQuote({quoted(code)})), wait = FALSE, stdout = FALSE, stderr = FALSE))"
    return f"import subprocess\nchild = subprocess.Popen(['bash', '-c', {code!r}], stdout=-3, stderr=-3)"


def missing(language, needed):
    """Those of `needed` that are not there."""
    if language == "bash":
        return [name for name in needed if not shutil.which(name)]
    return [name for name in needed if subprocess.run([PYTHON, "-c", f"import {name}"], check=False, stderr=subprocess.DEVNULL).returncode != 0]


def in_thread(language, code):
    """None in a language without threads."""
    if language == "javascript":
        return ("const { Worker } = require('worker_threads'); await new Promise((go, no) => new Worker("
                f"{quoted('(async () => {' + code + '})()')}, {{ eval: true }}).on('error', no).on('exit', go))")
    if language == "python":
        return f"import threading\nt = threading.Thread(target=exec, args=({code!r}, {{}}), daemon=True)\nt.start(); t.join()"
    return None


def at_once(limit):
    """All languages that can meet the limit, each in the last of its ways."""
    return {language: CELLS[language][limit][-1] for language in languages() if (limit, language) not in NOT}


def languages():
    names = {"javascript": "node", "r": "R", "python": "python3"}
    return [language for language in BEGIN if shutil.which(names.get(language, language))]


def fields_of(limit, language):
    """(who, code)"""
    codes = CELLS[language].get(limit, ()) if (limit, language) not in NOT else ()
    for code in codes:
        yield "cell", code
        threaded = in_thread(language, code)
        if threaded and (limit, language) not in NOT_IN_THREAD and code != "while True: pass":
            yield "thread", threaded
    for code in SHELL[limit]:
        yield "child", in_child(language, code)
    if limit not in ("output", "time"):
        yield "background", in_background(language, f"({SHELL[limit][-1]}); : >over")
    if codes:
        yield "another session", codes[-1]


def fields():
    """(limit, language, who, code); only those that there are."""
    for language in languages():
        for limit in WORDS:
            for who, code in fields_of(limit, language):
                yield limit, language, who, code
        for limit, of, who, needed, code in REAL:
            lacks = missing(language, needed) if of == language else []
            if lacks:
                print(f"skipped: {limit} {language} {who}: there is no {' and no '.join(lacks)} here", flush=True)
            elif of == language:
                yield limit, language, who, code
    for limit in WORDS:
        yield limit, "python", "all", CELLS["python"][limit][-1]


def is_told(server, field, texts):
    limit, language, who, code = field
    if (limit, language) in UNREPORTED and code.startswith("con <-"):
        return True
    end = time.monotonic() + TOLD_S
    while WORDS[limit] not in texts:
        if who != "background" or time.monotonic() > end:
            return False
        if limit not in ("memory", "disk") and server.cell("ls over", language="bash").text == "over\n":
            return True  # nobody waits for it, and nobody hears what it says
        time.sleep(0.5)
        texts += "".join(server.cell(LOOK[language], language=language).texts)
    return True


def seen(server, language, session="s"):
    """The answer of a cell that shows what one before the limit set."""
    return server.cell(LOOK[language], language=language, session=session).text


def keeps(text):
    """Whether the value is there, also behind the notice that an earlier cell's results are saved."""
    return [line for line in text.splitlines() if not line.startswith("The results that were still being saved")][:1] == ["5"]


def saved(server, language):
    server.interact(action="wait", language=language)
    return server.cell("cat saved", language="bash").text.strip() == "whole"


def ended(server, answer, language, session):
    """What is said of a cell until it ends: on a busy machine it takes longer than one answer waits."""
    result = Result(answer.get()["result"])
    texts = "".join(result.texts)
    for _ in range(ANSWERS):
        if not RUNS.match(result.texts[-1]):
            break
        result = server.interact(action="wait", language=language, session=session)
        texts += "".join(result.texts)
    return texts


def run(server, field):
    """What differs, in words; "" when nothing does."""
    limit, language, who, code = field
    timeout = {"timeout": SAVES_S if who.startswith("saves") else 1} if limit == "time" else {}
    codes = at_once(limit) if who == "all" else {language: code}
    room = {"disk_max": 200 * MIB} if (limit, who) == ("file", "all") else {}  # each writes a file of its own
    session = "t" if who == "another session" else "s"
    for one in {"s", session}:
        server.call("session_info", session_id=one, config={**CONFIG, **room})
    for one in codes:
        server.cell(BEGIN[one], language=one)
        server.cell(BEGIN[one], language=one, session=session)
    answers = {one: server.start_cell(code, language=one, session=session, **timeout) for one, code in codes.items()}
    texts = ""
    for one, answer in answers.items():
        texts = ended(server, answer, one, session)
        if not is_told(server, (limit, one, who, codes[one]), texts):
            return f"the limit is not named in {one}: {texts[-700:]!r}"
    if who.startswith("saves") and not saved(server, language):
        return f"what it saved is not there: {texts[-700:]!r}"
    for one in codes:
        server.interact(action="wait", language=one, session=session)
    if who == "another session":
        quiet = [server.cell(LOOK[one], language=one) for one in codes]
        server.call("destroy_session", session_id=session)
        if not all(answer.texts[0].strip() == "5" and len(answer.texts) == 2 for answer in quiet):
            return f"another session is touched: {[answer.texts for answer in quiet]!r}"
    for one in codes:
        if (limit, one, who) not in LOST and not keeps(text := seen(server, one)):
            return f"the state of {one} is lost: {texts[-700:]!r}, and then {text[-700:]!r}"
    if not keeps(seen(server, "python", "other")):
        return "another session lost its state"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    matrix = [field for field in fields() if options.only in " ".join(field[:3])]
    random.Random(options.seed).shuffle(matrix)
    bad = 0
    command = f"scripts/soak limits {options.count or ''} --seed {options.seed}"
    with again.folder("ptycell-limits-", command) as home, Server(pathlib.Path(home), env=ALONE) as server:
        server.cell(BEGIN["python"], session="other")
        for field in matrix[:options.count]:
            said = run(server, field)
            bad += bool(said)
            if said:
                print(f"{' '.join(field[:3])}: {field[3][:200]!r}\n    {said}", flush=True)
            server.call("destroy_session", session_id="s")
        print(f"{len(matrix[:options.count])} fields, {bad} differ", flush=True)
        if bad:
            sys.exit(1)


if __name__ == "__main__":
    main()
