# SPDX-License-Identifier: MIT
"""How much an installer may take, and what is kept of packages for other sessions."""
import os
import subprocess

import pytest
from client import BUILD
from indexes import Index, wheel
from patience import until
from steps import all_gone, family, install

HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
pytestmark = pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here")


@pytest.fixture
def index():
    index = Index(wheel("alpha", "1.0"), wheel("beta", "1.0"),
                  wheel("large", "1.0", files={"large.bin": bytes(3 << 20), "large.py": "x = 1\n"}),
                  wheel("many", "1.0", files={f"many/m{n}.py": "" for n in range(400)}))
    yield index
    index.close()


@pytest.fixture
def start(servers, index):
    return lambda *flags: servers("--pip-index", index.url, *flags)


# ---- limits of an installer


def test_an_installer_may_take_so_much_room(start, home):
    result = install(start("--install-max", "2M"), "large")
    assert result.is_error and "PTYCELL_INSTALL_MAX" in result.texts[0], result.texts
    assert not list((home / "cache/packages/sets").iterdir())
    assert install(start("--install-max", "64M"), "large", "many").object["packages"] == ["large 1.0", "many 1.0"]


def test_an_installer_may_take_so_long(start, index):
    index.hold.clear()
    try:
        result = install(start("--install-timeout", "1"), "alpha")
        assert result.is_error and "not done after 1 s (PTYCELL_INSTALL_TIMEOUT)" in result.texts[0], result.texts
    finally:
        index.hold.set()


# ---- the cache


def entries(home):
    """{package: its entry} of the cache, which may change meanwhile."""
    found = {}
    for entry in (home / "cache/packages/sets").iterdir():
        for name in ("alpha", "beta", "large"):
            if (entry / f"files/{name}.py").exists():
                found[name] = entry
    return found


def test_what_was_unused_for_longest_is_taken_away_and_nothing_that_is_in_use(start, home):
    server = start("--packages-max", "1M")
    for name in ("alpha", "beta"):
        install(server, name, session=name)
    server.call("destroy_session", session_id="alpha")
    until(lambda: (entries(home)["alpha"] / "files/alpha.py").stat().st_nlink == 1)
    for name, entry in entries(home).items():
        os.utime(entry / "manifest", (1000, 1000))
    assert install(server, "large", session="large").object["packages"] == ["large 1.0"]
    until(lambda: "alpha" not in entries(home))
    assert {"beta", "large"} <= set(entries(home))  # sessions have them, whatever their size
    assert server.cell("import beta; beta.version", session="beta").text.strip() == "'1.0'"
    again = install(server, "alpha", session="alpha2")
    assert again.object["packages"] == ["alpha 1.0"] and not again.object["cached"]


def test_wheels_that_were_unused_for_longest_are_taken_away(start, home):
    server = start("--packages-max", "1M")
    install(server, "alpha", session="alpha")
    [kept] = (home / "cache/packages/wheels").iterdir()
    os.utime(kept, (1000, 1000))
    install(server, "large", session="large")
    until(lambda: not kept.exists())
    assert len(list((home / "cache/packages/wheels").iterdir())) == 1  # large, which was kept just now (TRIM_FRESH_S)
    assert install(server, "beta", session="alpha").object["packages"] == ["alpha 1.0", "beta 1.0"]


def test_the_next_server_takes_away_what_a_killed_installer_left(start, home):
    server = start()
    install(server, "alpha")
    processes = family(server.process.pid)  # a helper that tidies up may be among them
    server.process.kill()
    server.process.wait()
    all_gone(processes)
    left = home / "cache/packages/sets/.new-aaaaaaaaaaaaaaaa"
    (left / "files").mkdir(parents=True)
    (left / "files/half.py").write_text("x = ")
    record = home / "cache/packages/index/.new-bbbbbbbbbbbbbbbb"
    record.write_text("{")
    os.utime(record, (1000, 1000))
    server = start()
    server.cell("1")  # it installs nothing itself
    until(lambda: not left.exists() and not record.exists())
    assert install(server, "alpha").object["cached"]


def test_a_helper_packs_to_the_byte_and_the_file(tmp_path):
    """The limits at their edge, on what would be stored."""
    source = tmp_path / "work/site"
    source.mkdir(parents=True)
    for n in range(3):
        (source / f"{n}").write_bytes(bytes(100))
    for bytes_max, files_max, problem in ((300, 3, None), (299, 3, "PTYCELL_INSTALL_MAX"), (300, 2, "more files than")):
        order = '{"op": "pack", "from": "site", "to": "x", "entry": true, "bytes_max": %d, "files_max": %d}\n' % (bytes_max, files_max)
        target = tmp_path / f"to-{bytes_max}-{files_max}"
        target.mkdir()
        fds = [os.open(path, os.O_RDONLY) for path in (tmp_path / "work", target)]
        done = subprocess.run(["bash", "-c", f"exec 3<&{fds[0]} 4<&{fds[1]}; exec \"$0\"", str((BUILD / "ptycell-files").resolve())],
                              input=order, capture_output=True, text=True, pass_fds=fds, check=False)
        for fd in fds:
            os.close(fd)
        assert (problem is None) == ("result" in done.stdout) and (problem or "") in done.stdout, done
        assert len(list(target.iterdir())) == (problem is None)
