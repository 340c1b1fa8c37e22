# SPDX-License-Identifier: MIT
"""Sessions whose notebooks run again: {name: (steps, normalisations)}. A step is (LANGUAGE, CODE, DEADLINE?), or
(TOOL, ARGUMENTS)."""
from rerun import breaks, device_notes, durations, echoes, images_beyond, installers, typed_to_programs

LONG = 60
TABLE = "x,y\n1,2\n3,4\n"

PYTHON = {
    "values": ([
        ("python", "x = 1\nprint('hi')\nx + 1"), ("python", "{str(n): list(range(10)) for n in range(12)}"),
        ("python", "set(range(200))"), ("python", "'a' * 300"), ("python", "_"), ("python", "x;"), ("python", "None"),
        ("python", "import sys\nprint('out')\nprint('err', file=sys.stderr)"), ("python", "class A: pass\nA()")], ()),
    "frames": ([
        ("python", "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\ndf"), ("python", "df.describe()"),
        ("python", "df.to_csv('output/t.csv', index=False)\ndf['a']")], ()),
    "exceptions": ([
        ("python", "def f(): 1/0\nf()"), ("python", "raise ValueError('no')"), ("python", "x ="), ("python", "if 1:\nx"),
        ("python", "undefined"), ("python", "class Own(Exception): pass\nraise Own('own')"), ("python", "f")], ()),
    "paths": ([
        ("python", "open('/mnt/data/output/a.txt', 'w').write('q')\nimport os\nprint(os.getcwd())"),
        ("python", "os.listdir('/mnt/data/output'), os.path.exists('input')"), ("python", "open('b.txt', 'w').write('b')"),
        ("python", "import pathlib\npathlib.Path('~').expanduser()")], ()),
    "figures": ([
        ("python", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.title('t');"),
        ("python", "fig, ax = plt.subplots()\nax.plot([3, 1])\nplt.show()\nprint('after')"), ("python", "fig"),
        ("python", "len(ax.lines)"), ("python", "for n in range(22):\n  plt.figure(num=1); plt.plot([n]); plt.show()"), ("python", "import os\nsorted(os.listdir('output'))")], (images_beyond,)),
    "backend": ([
        ("python", "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\nplt.savefig('output/a.png'); plt.show(); plt.close()"),
        ("python", "import matplotlib as mpl; mpl.use('agg')\nfig, ax = plt.subplots(); _ = ax.bar([1], [2])"), ("python", "plt.get_fignums()")], ()),
    "await": ([
        ("python", "import asyncio\nawait asyncio.sleep(0.01)\nprint('a')"), ("python", "async def g(): return 5\nasyncio.run(g())"),
        ("python", "await g()"), ("python", "r = await asyncio.gather(g(), g()); r"),
        ("python", "async with asyncio.Lock() as l: print(l)")], ()),
    "loops": ([
        ("python", "import asyncio\nasync def g(): await asyncio.sleep(0.01); return 4\nloop = asyncio.get_event_loop()\nloop.run_until_complete(g())"),
        ("python", "loop.run_until_complete(asyncio.gather(g(), g()))"), ("python", "loop = asyncio.new_event_loop()\nasync def h(): raise KeyError(await g())"),
        ("python", "loop.run_until_complete(h())"), ("python", "asyncio.set_event_loop(loop)\nloop.run_until_complete(asyncio.gather(g(), g()))"),
        ("python", "task = asyncio.ensure_future(g())"), ("python", "await task"), ("python", "await g(); asyncio.get_event_loop() is None")], ()),
    "program": ([
        ("python", "import argparse\np = argparse.ArgumentParser(); p.add_argument('-n', default=3)\nargs = p.parse_args()"), ("python", "args.n"),
        ("python", "import sys\nsys.argv"), ("python", "sys.stdout.reconfigure(line_buffering=True)\nn = sys.stdout.buffer.write(b'a\\xc3\\xa9\\n')"),
        ("python", "print('b', file=sys.__stdout__)"), ("python", "import io\nw = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('c', file=w, flush=True)"),
        ("python", "import os\nos.get_terminal_size().columns")], ()),
    "magics": ([
        ("python", "%time sum(range(10))"), ("python", "%%writefile output/m.py\nprint('m')"), ("python", "%run output/m.py"),
        ("python", "%cd output\n%pwd"), ("python", "%cd ..\n%env HOME"), ("python", "%%capture c\nprint('z')"), ("python", "c.stdout"),
        ("python", "%%time\nprint(3)")], (durations,)),
    "programs": ([
        ("python", "%%bash\necho hi; exit 0"), ("python", "%%bash\nexit 3"), ("python", "!echo a; ls output"),
        ("python", "x = !echo a b\nx"), ("python", "name = 'n'\n!echo {name} $name"), ("python", "%%sh\necho sh")], ()),
    "typed": ([
        ("python", "n = input('name? ')\nprint('hi', n)", LONG), ("interact", {"input": "Ada"}), ("python", "n"),
        ("python", "import sys\nline = sys.stdin.readline()\nprint(len(line))", LONG), ("interact", {"input": "abc"}),
        ("python", "import getpass\np = getpass.getpass('key? ')\nprint(len(p) > 3)", LONG), ("interact", {"input": "secret word"})], (echoes,)),
    "keys": ([
        ("python", "import sys\nsys.stdin.read()", LONG), ("interact", {"input": "ab"}), ("interact", {"key": "ctrl-d"}),
        ("python", "input('n? ')", LONG), ("interact", {"key": "ctrl-d"}), ("python", "input('m? ')", LONG), ("interact", {"key": "ctrl-c"}),
        ("python", "!read -p 'k? ' k; echo $k >output/k\na = input('a? ')", LONG), ("interact", {"input": "K"}), ("interact", {"input": "A"}),
        ("python", "import subprocess\nb = [subprocess.run(['head', '-1'], capture_output=True).stdout for _ in range(2)]", LONG),
        ("interact", {"input": "B"}), ("interact", {"input": "C"}), ("python", "open('output/k').read(), a, b, subprocess.run(['cat']).returncode"),
        ("interact", {"key": "ctrl-d"})], (typed_to_programs, echoes)),
    "ended": ([
        ("python", "x = 5"), ("python", "import os; os._exit(3)"), ("python", "x"), ("python", "import time; time.sleep(100)", 0.3),
        ("python", "print('on')"), ("bash", "v=1"), ("bash", "kill -9 $$"), ("bash", "echo v=$v")], ()),
    "threads": ([
        ("python", "import threading\nt = threading.Thread(target=lambda: print('from a thread')); t.start(); t.join()"),
        ("python", "from concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor(2).map(len, ['a', 'bb']))"),
        ("python", "import multiprocessing as mp\nmp.get_context('fork').Pool(2).map(len, ['a', 'bb'])")], ()),
    "modules": ([
        ("python", "open('mine.py', 'w').write('def f(): return 41\\n')\nimport mine\nmine.f()"), ("python", "mine.f() + 1"),
        ("bash", "python3 -c 'import mine; print(mine.f())'"), ("python", "import json\njson.dump({'a': 1}, open('output/a.json', 'w'))")], ()),
    "exits": ([
        ("python", "import sys\ndef main(): print('main'); return 0\nsys.exit(main())"), ("python", "x = 4\nexit(3)"), ("python", "sys.exit('gone')"),
        ("python", "raise SystemExit(2)\nprint('never')"), ("python", "import asyncio\nasync def g(): quit(x)\nawait g()"), ("python", "asyncio.run(g())"),
        ("python", "import argparse\nargparse.ArgumentParser('p').parse_args(['--no'])"), ("python", "y = '\0'"), ("python", "x"),
        ("python", "try: sys.exit(1)\nexcept SystemExit as e: print(repr(e))")], ()),
    "displays": ([
        ("python", "display('shown', 5)"), ("python", "from IPython.display import HTML\n1"),
        ("python", "class R:\n  def __repr__(self): return 'R!'\n[R(), R()]"), ("python", "print('no end', end='')"),
        ("python", "for n in range(3): print(n, end='\\r')\nprint()")], ()),
}

BASH = {
    "state": ([
        ("bash", "a=1; f() { echo f $1; }"), ("bash", "f $a; pwd; cd output; echo hi > b.txt; ls"), ("bash", "pwd; cd ..")], ()),
    "status": ([
        ("bash", "false"), ("bash", "echo $?; ls /nope"), ("bash", "(exit 7)"), ("bash", "nocmd"), ("bash", "true"), ("bash", "exit 3"),
        ("bash", "echo $?"), ("bash", "f() { exit 5; }; f"), ("bash", "f() { return 2; }; f")], ()),
    "options": ([
        ("bash", "set -euo pipefail; x=1; echo a"), ("bash", "false; echo on $x $nope; false | true; echo $?"), ("bash", "set -e; y=2; false; echo no"),
        ("bash", "echo $? $y; set -u; exit 3"), ("bash", "echo $?; [ -f nope ] || return 3; echo no >output/no"), ("bash", "echo $?; ls output; break"),
        ("bash", "echo ${x:?gone} ${gone:?}; echo no"), ("bash", "set -- a b; if then"), ("bash", "echo $1")], (breaks,)),
    "traps": ([
        ("bash", "v=1; trap 'echo bye $v' EXIT"), ("bash", "v=2; exit 4"), ("bash", "echo $? $v; exit 5"), ("bash", "(trap 'echo sub' EXIT; echo in)"),
        ("bash", "f() { echo f; }; trap f EXIT; trap - EXIT; exit 3"), ("bash", "trap 'echo int' INT; trap f 0"), ("bash", "exit"), ("bash", "f; echo $v"),
        ("bash", "trap 'echo t; exit 9' EXIT; exit 1"), ("bash", "echo $? $v; trap 'exit' EXIT; v=3; exit 4"), ("bash", "echo $? $v; trap 'echo err' ERR; ! true"),
        ("bash", "echo $?; trap 'echo err' ERR; false; trap - ERR"), ("bash", "false; echo -e 'a\\tb'")], ()),
    "shell": ([
        ("bash", "alias ll='ls -l'\nll | wc -l"), ("bash", "if then"), ("bash", "for i in 1 2 3; do echo $i; done | tac\nprintf 'a\\rb\\n'"),
        ("bash", "export Q=3; python3 -c 'import os; print(os.environ[\"Q\"])'"), ("bash", "declare -A m=([k]=v); echo ${m[k]}"),
        ("bash", "cat <<E\nhere $Q\nE"), ("bash", "stty size; set -- a b; echo $#"), ("bash", "echo out; echo err >&2"), ("bash", "echo $1 $2")], ()),
    "asked": ([
        ("bash", "read -p 'x? ' x; echo got $x", LONG), ("interact", {"language": "bash", "input": "7"}), ("bash", "echo $x"),
        ("bash", "read -p 'y? ' y; read -p 'z? ' z; echo $y $z", LONG), ("interact", {"language": "bash", "input": "1"}),
        ("interact", {"language": "bash", "input": "2"})], (echoes,)),
    "files": ([
        ("upload_file", {"filename": "a.csv", "content": TABLE}), ("bash", "wc -l input/a.csv; sort -r /mnt/data/input/a.csv"),
        ("bash", "tar cf output/a.tar --mtime=@0 --owner=0 --group=0 --mode=600 input/a.csv; tar tf output/a.tar")], ()),
}

JAVASCRIPT = {
    "values": ([
        ("javascript", "const a = 1; let b = {x: 1, y: [1, 2, 3]}; a + 1"), ("javascript", "console.log(b); b"),
        ("javascript", "const a = 2; class A {}; function f() { return a }; f()"), ("javascript", "let {p, q} = {p: 1, q: 2}; [p, q, new Map([[1, 2]])]"),
        ("javascript", "12345678901234567890n"), ("javascript", "[{a: {b: {c: {}}}}, Array(150).fill(1)]"), ("javascript", "'it\\'s'"), ("javascript", "undefined"), ("javascript", "null"),
        ("javascript", "console.error('e'); [1, 2, 3].map((n) => n * 2)")], ()),
    "errors": ([
        ("javascript", "throw new TypeError('no')"), ("javascript", "nope.x"), ("javascript", "syntax error here"),
        ("javascript", "class Own extends Error { constructor(m) { super(m); this.name = 'Own' } }\nthrow new Own('o')"),
        ("javascript", "await Promise.reject(new RangeError('far'))")], ()),
    "unasked": ([
        ("javascript", "process.stdout.write('a\\n')"), ("javascript", "console.log(1); process.stderr.write('b\\n');"), ("javascript", "setTimeout(() => 0, 1);"), ("javascript", "setTimeout(() => 0, 1)"),
        ("javascript", "const server = require('http').createServer(() => {}); server.listen(0);"), ("javascript", "server.close();"), ("javascript", "true"),
        ("javascript", "let t = true; t;"), ("javascript", "({a: 1});"), ("javascript", "Object.create(null);"), ("javascript", "new Map([[1, 2]]);")], ()),
    "redeclared": ([
        ("javascript", "const a = 1; let b = 1; function f() { return 1 }\nvar v = 1"), ("javascript", "let a = 3; const b = 2\nlet f = 7, v = 2; [a, b, f, v]"),
        ("javascript", "const {x, y: [z]} = {x: 1, y: [2]}"), ("javascript", "let {x} = {x: 5}; let z = 6\nx + z"), ("javascript", "let a = 1; let a = 2"),
        ("javascript", "console.log('once'); new Function('let q; let q')")], ()),
    "modules": ([
        ("javascript", "import fs from 'fs'; import {join as j} from 'node:path'\nfs.writeFileSync('/mnt/data/output/j.txt', 'q'); j('a', 'b')"),
        ("javascript", "import * as os from 'os'\ntypeof os.cpus"), ("javascript", "const m = await import('fs/promises'); typeof m.readFile"),
        ("javascript", "export const e = 1; export default function ff() { return e }\nexport { e }"), ("javascript", "export let two = 2;export class C {}\nff() + two"),
        ("javascript", "export default 5"),
        ("javascript", "fs.writeFileSync('a.json', '[1]'); (await import('./a.json', {with: {type: 'json'}})).default"),
        ("javascript", "import d from './a.json' with {type: 'json'}; d"),
        ("javascript", "fs.writeFileSync('own.mjs', `import os from 'os'\nexport const h = typeof os.cpus\n`); fs.readFileSync('own.mjs', 'utf8')"),
        ("javascript", "const {url, dirname, filename} = import.meta; [url, dirname, filename, import.meta.resolve('./own.mjs')]"),
        ("javascript", "require('path').basename('/a/b')"), ("javascript", "fs.writeFileSync('own.js', 'exports.f = () => 9'); require('./own.js').f()")], ()),
    "exits": ([
        ("javascript", "let a = 1; process.exit(3); console.log('no')"), ("javascript", "process.on('exit', (c) => console.log('bye', c)); process.exit()"),
        ("javascript", "await 1; process.exit(2)"), ("javascript", "setTimeout(() => process.exit(2), 10); await new Promise(() => {})"),
        ("javascript", "async function f() { process.exit(1) }\nf()"), ("javascript", "a"),
        ("javascript", "setTimeout(() => process.exit(2), 20); await new Promise((r) => setTimeout(() => r('late'), 200))"), ("javascript", "1"),
        ("javascript", "await new Promise((r) => setTimeout(() => r('own'), 400))"),
        ("javascript", "require.main === module"), ("javascript", "__filename"), ("javascript", "Symbol('s')")], ()),
    "promises": ([
        ("javascript", "const sleep = (ms) => new Promise((r) => setTimeout(r, ms))\nasync function main() { await sleep(300); console.log('done'); return 4 }\nmain()"),
        ("javascript", "main().then((v) => v + 1)"), ("javascript", "async function bad() { await sleep(9); throw new TypeError('no') }\nbad()"),
        ("javascript", "(async () => { await sleep(100); return 'iife' })()"), ("javascript", "const p = sleep(9); 5"), ("javascript", "{a: 1}"),
        ("javascript", "{ let z = 1; console.log(z) }"), ("javascript", "require('path').join(__dirname, 'output')"), ("javascript", "throw 5"),
        ("javascript", "throw 'text'"), ("javascript", "throw {a: 1}")], ()),
    "async": ([
        ("javascript", "await new Promise(r => setTimeout(r, 5)); 'str'"), ("javascript", "const g = async () => 5; await g()"),
        ("javascript", "for await (const x of [1, 2]) console.log(x)"), ("javascript", "await Promise.all([g(), g()])")], ()),
}

R = {
    "values": ([
        ("r", "x <- c(1, 2, 3)\nmean(x)"), ("r", "df <- data.frame(a = 1:2, b = c('x', 'y')); df; summary(x)"), ("r", "for (i in 1:3) print(i); 1:60"),
        ("r", "invisible(3); y <- 3; cat('hi\\n'); message('msg')"), ("r", "list(a = 1, b = 'z')"), ("r", "f <- function(n) n + 1; f(2)"), ("r", "factor(c('a', 'b'))")], ()),
    "errors": ([
        ("r", "try(stop('tried'))"), ("r", "stop('bad')"), ("r", "f <- function() stop('in f'); f()"), ("r", "x[["), ("r", "as.numeric('a')"), ("r", "nothere"),
        ("r", "w <- function() { warning('careful'); 5 }\nw()")], ()),
    "exits": ([
        ("r", "x <- 2; quit(status = 3); cat('no')"), ("r", "f <- function() q('no'); f()"), ("r", ".Last <- function() cat('last\\n'); quit()"),
        ("r", "tryCatch(quit(), error = function(e) 1, finally = cat('fin\\n'))"), ("r", "x")], ()),
    "warnings": ([
        ("r", "options(warn = -1); as.numeric('q'); warning('hidden')"), ("r", "options(warn = 1); f <- function() { warning('w'); 2 }; f(); as.numeric('q')"),
        ("r", "options(warn = 2); f(); cat('no')"), ("r", "as.numeric('q')"), ("r", "options(warn = 0); f(); str(list(a = 1)); cat('a\\tb\\n')")], ()),
    "files": ([
        ("upload_file", {"filename": "a.csv", "content": TABLE}), ("r", "d <- read.csv('input/a.csv'); colSums(d)"),
        ("r", "write.csv(d, '/mnt/data/output/r.csv', row.names = FALSE); getwd()")], ()),
    "figures": ([("r", "plot(1:3)"), ("r", "hist(c(1, 2, 2, 3)); cat('drawn\\n')"), ("r", "x <- 1\nx")], ()),
    "devices": ([
        ("r", "plot(1:3)"), ("r", "lines(3:1); abline(h = 2)"), ("r", "plot(1:2); plot(1:2)"), ("r", "par(mfrow = c(1, 2)); plot(1)"), ("r", "plot(2)"),
        ("r", "dev.off()"), ("r", "library(lattice); xyplot(1 ~ 1)"), ("r", "png('output/a.png'); plot(1:3)"), ("r", "abline(h = 1)"),
        ("r", "dev.off(); file.exists('output/a.png')"), ("r", "p <- recordPlot(); graphics.off()"), ("r", "p; dev.off()"), ("r", "dev.off()"),
        ("r", "par(mar = rep(99, 4)); plot(1)"), ("r", "par(mar = rep(2, 4)); plot(3)"), ("r", "x <- 1")], (device_notes,)),
}

MIXED = {
    "few": ([
        ("upload_file", {"filename": "a.csv", "content": TABLE}), ("python", "x = open('/mnt/data/input/a.csv').read()\nx"),
        ("bash", "wc -l input/a.csv; v=5; false"), ("bash", "echo $v $?; exit 3"), ("python", "1/0"), ("exec_sql", {"query": "SELECT sum(x) AS s FROM a"}),
        ("javascript", "const a = 1; a + 1"), ("python", "n = input('name? ')\nn", LONG), ("interact", {"input": "Ada"}),
        ("python", "open('output/r.txt', 'w').write(n)")], (echoes,)),
    "languages": ([
        ("upload_file", {"filename": "a.csv", "content": TABLE}), ("python", "print(open('input/a.csv').read())"), ("bash", "wc -l input/a.csv"),
        ("r", "read.csv('input/a.csv')"), ("javascript", "require('fs').readFileSync('input/a.csv', 'utf8').length"),
        ("upload_file", {"filename": "b.txt", "content": "b"}), ("python", "open('input/b.txt').read()")], ()),
    "queries": ([
        ("upload_file", {"filename": "a.csv", "content": TABLE}), ("exec_sql", {"query": "SELECT sum(x) AS s FROM a"}),
        ("python", "1 + 1"), ("exec_sql", {"query": "SELECT nothing FROM a"}), ("bash", "echo on"),
        ("exec_sql", {"query": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 100) SELECT n, zeroblob(70000 * (n = 5)) AS b FROM r"}),
        ("bash", "cat input/sql_result_*.csv | wc -l; cat input/sql_result_*.bin | wc -c; ls input | wc -l; rm input/sql*"),
        ("exec_sql", {"query": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 200) SELECT n FROM r"}),
        ("python", "import glob\n[len(open(name).readlines()) for name in glob.glob('input/sql_*')]")], ()),
    "folders": ([
        ("bash", "find . | sort"), ("r", "list.files(all.files = TRUE)"), ("javascript", "require('fs').readdirSync('.')"),
        ("python", "import os\nsorted(os.listdir())"), ("bash", "(nope); git init -q .; git status --short"),
        ("python", "import matplotlib.pyplot\nsorted(os.listdir())")], ()),
    "figures": ([
        ("python", "import matplotlib.pyplot as plt\nfig = plt.figure(); plt.plot([1, 2])\nplt.show()\nplt.plot([3, 1])\nplt.show()"), ("python", "import os\nfig"),
        ("exec_sql", {"query": "SELECT 1 AS one"}), ("r", "plot(1:3); plot(2:1)"), ("python", "plt.plot([4]); open('output/cell-5-figure-1.png', 'rb').read(4)"),
        ("python", "sorted(os.listdir('output'))"), ("python", "plt.plot([5]); plt.savefig('output/own.png'); plt.show(); plt.plot([6]); plt.show()"),
        ("python", "sorted(os.listdir('output'))"), ("bash", "zip -q output/all.zip output/*.png; unzip -l output/all.zip | grep -c png; rm output/all.zip")], ()),
    "open_files": ([
        ("python", "import csv\nout = open('output/t.csv', 'w', newline='')\ncsv.writer(out).writerows([n, n] for n in range(3))"),
        ("python", "open('output/t.csv').read()"), ("bash", "wc -l <output/t.csv"), ("python", "raw = open('raw', 'wb'); text = open('text', 'w+'); n = raw.write(b'a') + text.write('one')"),
        ("python", "open('raw').read(), open('text').read()"), ("r", "con <- file('output/r.txt', 'w'); writeLines('hello', con)"), ("bash", "cat output/r.txt"),
        ("r", "writeLines('more', con)"), ("python", "open('output/r.txt').read()")], ()),
    "environment": ([("python", "import os\nos.environ['Q'] = '5'"), ("python", "!echo $Q"), ("bash", "echo q=$Q"), ("bash", ""), ("javascript", " \n"), ("python", "")], ()),
    "overwritten": ([
        ("upload_file", {"filename": "a.txt", "content": "one"}), ("python", "open('input/a.txt').read()"),
        ("upload_file", {"filename": "a.txt", "content": "two, longer", "overwrite": True}), ("python", "open('input/a.txt').read()")], ()),
}

INSTALLED = {"installed": ([
    ("install_packages", {"packages": ["alpha"]}), ("python", "import alpha\nalpha.__name__"),
    ("python", "%pip install beta\nimport beta\nbeta.__name__")], (installers,))}

SECRETS = {"secrets": ([
    ("python", "import os\nlen(os.environ['API_TOKEN']) > 8"), ("python", "print(os.environ['API_TOKEN'])"),
    ("bash", "echo $API_TOKEN"), ("python", "'sk-live-0123456789' == os.environ['API_TOKEN']")], ())}

ALL = {f"{kind}-{name}": session for kind, sessions in
       {"python": PYTHON, "bash": BASH, "javascript": JAVASCRIPT, "r": R, "mixed": MIXED}.items()
       for name, session in sessions.items()}
