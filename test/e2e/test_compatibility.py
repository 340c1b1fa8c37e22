# SPDX-License-Identifier: MIT
"""What people's code needs of a system works inside of the sandbox (sandbox.md 1.4)."""
import shutil

import pytest

# What each cell prints last.
CELLS = {
    "numpy": ("import numpy as np\nprint(int(np.linalg.inv(np.eye(50) * 2).sum() * 2))", "50"),
    "pandas": ("import pandas as pd\npd.DataFrame({'a': [1, 2]}).to_csv('t.csv')\nprint(pd.read_csv('t.csv').a.sum())", "3"),
    "matplotlib": ("import os, matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
                   "plt.plot([1, 2]); plt.title('x'); plt.savefig('p.png'); plt.close()\n"
                   "print(os.path.getsize('p.png') > 1000)", "True"),
    "sqlite": ("import sqlite3\nc = sqlite3.connect('d.db'); c.execute('pragma journal_mode=wal')\n"
               "c.execute('create table t(x)'); c.execute('insert into t values(7)'); c.commit()\n"
               "print(c.execute('select x from t').fetchone()[0])", "7"),
    "ssl": ("import ssl\nprint(len(ssl.create_default_context().get_ca_certs()) >= 0)", "True"),
    "venv": ("import subprocess, sys, venv\nvenv.create('v', with_pip=False)\n"
             "print(subprocess.run(['v/bin/python', '-c', 'import sys; print(sys.prefix != sys.base_prefix)'],"
             " capture_output=True, text=True).stdout.strip())", "True"),
    "tempfile": ("import tempfile\nwith tempfile.NamedTemporaryFile('w') as f: print(f.write('abc'))", "3"),
    "asyncio server": ("""import asyncio
async def serve(r, w):
    w.write((await r.readline()).upper()); await w.drain(); w.close()
async def main():
    s = await asyncio.start_server(serve, '127.0.0.1', 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
    w.write(b'hello\\n'); print((await r.readline()).decode().strip()); w.close(); s.close()
_ = asyncio.run(main())""", "HELLO"),
    "http over ipv6 loopback": ("""import http.server, socket, threading, urllib.request
class S(http.server.ThreadingHTTPServer): address_family = socket.AF_INET6
s = S(('::1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f'http://[::1]:{s.server_port}/').status); s.shutdown()""", "200"),
    "ctypes callback": ("""import ctypes
T = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
a = (ctypes.c_int * 3)(3, 1, 2)
ctypes.CDLL(None).qsort(a, 3, 4, T(lambda x, y: x[0] - y[0])); print(list(a))""", "[1, 2, 3]"),
    "threads": ("import concurrent.futures as f\nwith f.ThreadPoolExecutor(16) as p: print(sum(p.map(abs, range(-50, 0))))", "1275"),
    "unix socket": ("""import socket
a, b = socket.socketpair(); a.send(b'x'); s = socket.socket(socket.AF_UNIX); s.bind('own.sock'); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect('own.sock'); print(b.recv(1).decode())""", "x"),
    "openpty": ("import os, pty\nm, s = os.openpty(); os.write(s, b'p'); print(os.read(m, 1).decode(), os.ttyname(s) != '')", "p True"),
    "terminal": ("import os\nprint(os.ttyname(0).startswith('/dev/pts/'), os.isatty(1), open('/dev/tty').isatty())",
                 "True True True"),
    "own limits and priority": ("import os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.nice(1)\n"
                                "os.sched_setaffinity(0, os.sched_getaffinity(0)); print('ok')", "ok"),
    "user and host": ("import os, pwd, socket\nprint(pwd.getpwuid(os.getuid()).pw_name != '', socket.gethostbyname('localhost'))",
                      "True 127.0.0.1"),
    "time zone": ("import zoneinfo, datetime\nprint(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())",
                  "2:00:00"),
    "gcc": ("""import subprocess
open('a.c', 'w').write('#include <stdio.h>\\nint main(void) { return puts("built") < 0; }\\n')
print(subprocess.run('gcc -o a a.c && ./a', shell=True, capture_output=True, text=True))""", "built"),
    "bash job control": ("""import subprocess
print(subprocess.run(['bash', '-ic', 'sleep 60 & jobs; kill %1; wait %1; echo ended $?'], stdin=0,
                     capture_output=True, text=True).stdout)""", "ended 143"),
    "tar, install, permissions": ("""import subprocess
print(subprocess.run('mkdir -p d && echo x > d/f && chmod 750 d/f && tar cf d.tar d && rm -r d && tar xf d.tar &&'
    ' install -m 755 d/f g && ln -s g h && cp -a d e && stat -c %a d/f g', shell=True, capture_output=True, text=True))""",
                                  "750\\n755"),
}
MULTIPROCESSING = """import multiprocessing as mp
from multiprocessing import shared_memory
def work(x): return x * x
def count(d, lock):
    with lock: d['n'] = d.get('n', 0) + 1
for method in 'fork', 'spawn':
    with mp.get_context(method).Pool(2) as p: print(method, p.map(work, [1, 2, 3]))
with mp.Manager() as m:
    d, lock = m.dict(), m.Lock()
    ps = [mp.Process(target=count, args=(d, lock)) for _ in range(3)]
    for p in ps: p.start()
    for p in ps: p.join()
    print('manager', d['n'])
s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 7
o = shared_memory.SharedMemory(s.name); print('shared', o.buf[0]); o.close(); s.close(); s.unlink()
"""
NODE = """const { Worker } = require('worker_threads'); const cp = require('child_process'); const net = require('net');
const wasm = new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,6,1,4,0,65,42,11]));
console.log('wasm', new WebAssembly.Instance(wasm).exports.f());
console.log('child', cp.execSync('echo c').toString().trim());
console.log('buffer', Buffer.alloc(100 << 20).length >> 20);
new Worker("require('worker_threads').parentPort.postMessage('worker w')", { eval: true }).on('message', console.log);
const s = net.createServer(c => c.end('served')).listen(0, '127.0.0.1', () =>
  net.connect(s.address().port, '127.0.0.1').on('data', d => { console.log('net', d.toString()); s.close(); }));
"""
R = """library(parallel); cat('mclapply', unlist(mclapply(1:3, function(i) i * i, mc.cores = 2)), '\\n')
png('r.png', type = 'cairo'); plot(1:3); invisible(dev.off()); cat('png', file.size('r.png') > 500, '\\n')
"""


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    """One server for all, in the strongest tier that there is; weaker ones lack some of this."""
    from client import Server
    with Server(tmp_path_factory.mktemp("home")) as server:
        server.cell("1")
        tier = server.call("session_info", session_id="s").object["confinement"].get("tier")
        if tier == "landlock":
            pytest.skip("tier landlock has no sockets and no shared memory")
        yield server


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_can_use(confined, name):
    code, expected = CELLS[name]
    if name == "gcc" and not shutil.which("gcc"):
        pytest.skip("no gcc here")
    result = confined.cell(code)
    assert result.state == "done" and expected in result.text, result.text


def test_multiprocessing(confined):
    text = confined.cell(MULTIPROCESSING).text
    for line in ("fork [1, 4, 9]", "spawn [1, 4, 9]", "manager 3", "shared 7"):
        assert line in text


def run_script(confined, program, name, script):
    """As a file: the limits of its arguments are not what this is about."""
    confined.cell(f"_ = open({name!r}, 'w').write({script!r})")
    return confined.cell(f"import subprocess\nr = subprocess.run([{program!r}, {name!r}], capture_output=True, text=True)\n"
                         "print(r.stdout, r.stderr)").text


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_node(confined):
    text = run_script(confined, "node", "t.js", NODE)
    for line in ("wasm 42", "child c", "buffer 100", "worker w", "net served"):
        assert line in text, text


@pytest.mark.skipif(not shutil.which("Rscript"), reason="no R here")
def test_r(confined):
    text = run_script(confined, "Rscript", "t.R", R)
    assert "mclapply 1 4 9" in text and "png TRUE" in text, text
