# SPDX-License-Identifier: MIT
"""Large files come in by constant memory. With PTYCELL_FULL=1 they are 5 GB (sparse) and 500 MB."""
import hashlib
import os
import re
import shutil

import pytest
from client import Server
from fetching import Fetch, Site, head
from outside import PROC

FULL = os.environ.get("PTYCELL_FULL") == "1"
MIB = 1 << 20
SPARSE = (5 << 30) if FULL else 256 * MIB
DENSE = (500 if FULL else 64) * MIB
CHUNK = 4 * MIB
PEAK = 24 * MIB  # of a helper, libcurl and OpenSSL in it
SANITIZED = "asan" in os.environ.get("PTYCELL_BUILD", "")


@pytest.fixture
def files(tmp_path):
    """{path: file}: one mostly holes, one random."""
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    sparse, dense = folder / "sparse.bin", folder / "dense.bin"
    with open(sparse, "wb") as f:
        f.truncate(SPARSE)
        for at in (0, SPARSE // 2 + 7, SPARSE - 5):
            f.seek(at)
            f.write(b"data!")
    with open(dense, "wb") as f:
        for _ in range(DENSE // CHUNK):
            f.write(os.urandom(CHUNK))
    for path in (sparse, dense):
        path.chmod(0o644)
    return {"/sparse.bin": sparse, "/dense.bin": dense}


def serving(path, nearly=lambda: None):
    """A page that is the file; `nearly` is called before its last byte, when who takes it is still there."""
    def page(s, _):
        size = path.stat().st_size
        with open(path, "rb") as f:
            s.sendall(head(200, f"Content-Length: {size}"))
            s.sendfile(f, count=size - 1)
            nearly()
            f.seek(size - 1)
            s.sendall(f.read())
    return page


def digest(path):
    hashed = hashlib.blake2b()
    with open(path, "rb") as f:
        while piece := f.read(CHUNK):
            hashed.update(piece)
    return hashed.hexdigest()


def room_for(folder, size):
    if shutil.disk_usage(folder).free < size + (1 << 30):
        pytest.skip("not enough room on the disk")


@pytest.mark.limit(1800)
@pytest.mark.parametrize("name", ["/sparse.bin", "/dense.bin"])
def test_a_large_download_takes_constant_memory(tmp_path, files, name):
    room_for(tmp_path, 2 * DENSE)
    peaks = []
    page = serving(files[name], lambda: peaks.append(peak(fetch.process)))
    with Site({name: page}) as site, open(tmp_path / "part", "w+b") as file:
        fetch = Fetch({"do": "download", "url": site.url(name), "allow_private": True, "size_max": SPARSE,
                       "size_name": "x", "deadline_ms": 500_000}, file)
        out, _ = fetch.process.communicate(timeout=500)
    assert b'"result"' in out
    assert digest(tmp_path / "part") == digest(files[name])
    assert (tmp_path / "part").stat().st_blocks * 512 <= files[name].stat().st_blocks * 512 + 8 * MIB
    assert SANITIZED or peaks[0] < PEAK


def peak(process):
    """The most memory that it ever had, in bytes."""
    status = (PROC / f"{process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


@pytest.mark.limit(1800)
def test_a_server_of_large_files_stays_small(home, tmp_path, files):
    room_for(tmp_path, 3 * DENSE)
    env = {"PTYCELL_ALLOW_PRIVATE_HOSTS": "1", "MAX_DOWNLOAD_SIZE": "6G", "PTYCELL_DISK_MAX": "7G",
           "DOWNLOAD_TIMEOUT": "500", "PTYCELL_SHARE": str(tmp_path / "shared")}
    with Server(home, env=env) as server, \
            Site({name: serving(path) for name, path in files.items()}) as site:
        before = peak(server.process)
        for name, path in files.items():
            answer = server.call("upload_file", wait=550, session_id="s", url=site.url(name))
            assert answer.object and answer.object["size_bytes"] == path.stat().st_size, answer.texts
            copy = server.call("upload_file", wait=550, session_id="s", path=str(path), filename=f"copy-{path.name}")
            assert copy.object and copy.object["size_bytes"] == path.stat().st_size, copy.texts
        assert SANITIZED or peak(server.process) - before < 8 * MIB
        sizes = server.cell("import os\n{n: os.path.getsize('input/' + n) for n in sorted(os.listdir('input'))}").text
        assert eval(sizes) == {"copy-dense.bin": DENSE, "copy-sparse.bin": SPARSE, "dense.bin": DENSE,  # noqa: S307
                               "sparse.bin": SPARSE}
