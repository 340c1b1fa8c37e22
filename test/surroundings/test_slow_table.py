# SPDX-License-Identifier: MIT
"""The table of surroundings: a row is a machine that gives less, or passes on more, than others. In each a server
works, works and tells what is not as usual, or refuses and tells why; and doctor says what cells will meet."""
import contextlib
import dataclasses
import functools
import glob
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import client
import machines
import pytest
from client import Server, environment

WORKS, TELLS, REFUSES = "works", "works and tells", "refuses and tells"
SETPRIV = ["setpriv", "--reuid", str(machines.NOBODY), "--regid", str(machines.NOBODY), "--clear-groups"]


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    verdict: str
    told: str = ""                  # what it tells: in the first answer or on stderr
    doctor: str = ""                # what doctor tells, where that is in other words
    wrapper: tuple = ()             # a command before the program's; {home} and {programs} are folders
    mounts: str = ""                # shell: what root changes in a mount namespace of its own before
    as_root: bool = False           # root runs it, and no ordinary user
    container: bool = False         # podman starts it, which this machine may not let it do
    env: dict = dataclasses.field(default_factory=dict)


def denied(calls):
    """A filter of system calls, as containers and services have them."""
    return ("{programs}/deny_syscalls", calls, "--")


def limited(option):
    return ("sh", "-c", f'ulimit {option} && exec "$@"', "sh")


def python(code):
    """Runs code, then becomes the program."""
    return (sys.executable, "-c", f"import os, resource, signal, sys\n{code}\nos.execvp(sys.argv[1], sys.argv[1:])")


# Whatever root makes is another's for who is not root outside, and for nobody else.
TAKEN = "mount -t tmpfs -o mode=1777 none /var/tmp && mkdir /var/tmp/ptycell && chown 1:1 /var/tmp/ptycell"
# A folder that is no mount, with the machine's folders in it.
CHROOT = """mount -t tmpfs none /mnt && mkdir /mnt/root && for f in /*; do
    if test -L "$f"; then cp -P "$f" /mnt/root; elif test -d "$f" -a "$f" != /mnt; then mkdir "/mnt/root$f" && mount --rbind "$f" "/mnt/root$f"; fi
done; set -- chroot /mnt/root "$@" """
# podman starts no container where both versions of control groups are mounted, and takes its limits from root's.
CGROUP = "{ ! mountpoint -q /sys/fs/cgroup/unified || { umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; }; }"
# An ordinary user has numbers of further users, an empty root, and a process of podman's that ends with the container.
ROOTLESS = CGROUP + f""" && mount -t tmpfs none /mnt && mkdir /mnt/run /mnt/root && cp -P /bin /sbin /lib* /mnt/root &&
chown {machines.NOBODY} /mnt/run && chmod 777 /mnt/root && echo {machines.NOBODY}:100000:65536 > /mnt/subids &&
mount --bind /mnt/subids /etc/subuid && mount --bind /mnt/subids /etc/subgid &&
set -- unshare --pid --fork --kill-child --mount-proc "$@" """


def podman(*options):
    """A container of podman's with the person's home."""
    limits = [f"--ulimit={name}={value}:{value}" for name, kind in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC))
              for value in [min(20000, resource.getrlimit(kind)[1] % (1 << 64))]]
    return ("podman", "--log-level=error", "run", "--rm", "--interactive", "--cgroups=disabled", "--env-host", *limits, *options,
            "--volume={home}:{home}", "--volume={programs}:{programs}")


def root_podman(*options):
    """Root's: its files are the machine's own below an overlay."""
    return (*podman(*options), "--rootfs", "/:O")


def rootless_podman(*options):
    """An ordinary user's, for whom no overlay shows mounts that are root's: its files are the machine's programs."""
    volumes = [f"--volume={path}:{path}:ro" for path in ("/usr", "/etc/alternatives", "/etc/R") if os.path.isdir(path)]
    return ("env", "XDG_RUNTIME_DIR=/mnt/run", *podman("--network=none", *volumes, *options), "--rootfs", "/mnt/root")


NO_NAMESPACES = "tier landlock, not namespaces: setting the host name: Operation not permitted"
PODMAN = "podman run takes the same options"
UNFILTERED = ("--security-opt=seccomp=unconfined", "--security-opt=systempaths=unconfined")
SUBSTITUTES = "close_range getrandom memfd_create mount_setattr openat2 open_tree pidfd_open statx".split()
TABLE = [
    Row("plain", WORKS),
    # ---- homes ----
    Row("home that is not there", TELLS, "'/none/.local/state/ptycell' cannot be used", env={"HOME": "/none", "PTYCELL_HOME": ""}),
    Row("another's folder in TMPDIR", TELLS, "ptycell' cannot be used (it belongs to user", mounts=TAKEN,
        env={"HOME": "/none", "PTYCELL_HOME": "", "XDG_STATE_HOME": "/var/tmp"}),
    Row("home that cannot be written", TELLS, "/.local/state/ptycell' cannot be used (Permission denied)", env={"HOME": "/", "PTYCELL_HOME": ""}),
    Row("named folder that cannot be made", REFUSES, "'/none' cannot be made (Permission denied); set PTYCELL_HOME",
        "/none/sessions cannot be written (live sessions); set PTYCELL_HOME", env={"PTYCELL_HOME": "/none/sessions"}),
    # ---- inherited ----
    *[Row(f"umask {mask}", WORKS, wrapper=("sh", "-c", f'umask {mask} && exec "$@"', "sh")) for mask in ("777", "000")],
    Row("all signals ignored", WORKS, wrapper=("env", "--ignore-signal")),
    Row("all signals blocked", WORKS, wrapper=("env", "--block-signal")),
    Row("200 descriptors", WORKS, wrapper=python("for fd in range(20, 220): os.dup2(0, fd)")),
    # ---- limits ----
    Row("64 descriptors", WORKS, wrapper=limited("-n 64")),
    Row("20 descriptors", REFUSES, "a lack of descriptors, no rule of this machine: raise their limit (ulimit -n) and start ptycell again", wrapper=limited("-n 20")),
    Row("one process", REFUSES, "a lack of processes, no rule of this machine: end some, or raise their limit (ulimit -u) and start ptycell again",
        wrapper=python("resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))")),
    Row("files of 0 bytes", REFUSES, "a lack of room in files, no rule of this machine: raise the limit of their size (ulimit -f) and start ptycell again",
        wrapper=limited("-f 0")),
    # ---- system calls that a filter denies ----
    *[Row(f"{call}, {error}", WORKS, wrapper=denied(f"{call}={number}")) for call in SUBSTITUTES
      for error, number in (("unknown", 38), ("forbidden", 1))],
    Row("all of them, forbidden", WORKS, wrapper=denied(",".join(f"{call}=1" for call in SUBSTITUTES))),
    Row("clone3, forbidden", REFUSES, "forbids clone3, so that no program starts, as Docker's before 20.10.10 does: update Docker",
        wrapper=denied("clone3=1")),
    # ---- missing parts of the file system ----
    Row("no /dev/shm", WORKS, mounts="mount --bind /proc/driver /dev/shm"),
    Row("no /dev/pts", WORKS, mounts="umount -l /dev/pts"),
    Row("no /etc", WORKS, mounts="mount -t tmpfs none /etc"),
    Row("no /proc", REFUSES, "no /proc is mounted here, which ptycell needs", mounts="umount -l /proc"),
    Row("chroot", TELLS, "tier landlock, not namespaces: creating namespaces: Operation not permitted", "This is a chroot, in which Linux makes no user namespaces",
        mounts=CHROOT),
    Row("bwrap", WORKS, wrapper=("bwrap", "--dev-bind", "/", "/", "--")),
    Row("bwrap, little", WORKS, wrapper=("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run",
                                         "--bind", "{home}", "{home}", "--")),
    Row("podman", TELLS, NO_NAMESPACES, PODMAN, wrapper=root_podman(), mounts=CGROUP, as_root=True, container=True),
    Row("podman without its filter", WORKS, wrapper=root_podman(*UNFILTERED), mounts=CGROUP, as_root=True, container=True),
    Row("rootless podman", TELLS, NO_NAMESPACES, PODMAN, wrapper=rootless_podman(), mounts=ROOTLESS, container=True),
    Row("rootless podman without its filter", WORKS, wrapper=rootless_podman(*UNFILTERED), mounts=ROOTLESS, container=True),
    Row("rootless podman without its filter, with masks", TELLS, "code can see names and command lines of all processes",
        wrapper=rootless_podman(UNFILTERED[0]), mounts=ROOTLESS, container=True),
    Row("rootless podman, as its own user", TELLS, NO_NAMESPACES, PODMAN, wrapper=rootless_podman("--userns=keep-id"), mounts=ROOTLESS, container=True),
    Row("/tmp that cannot be written", WORKS, env={"TMPDIR": "/none"}),
]


@pytest.fixture(name="place")
def fixture_place(request):
    row = request.node.callspec.params.get("row") if hasattr(request.node, "callspec") else None
    if row is not None and row.as_root:
        with tempfile.TemporaryDirectory(dir="/tmp") as home:
            os.chmod(home, 0o711)  # a session of root's in tier landlock is a user of its own
            yield pathlib.Path(home)
        return
    with machines.user_home() as home:
        yield home


def command(row, place):
    """What comes before a program's name; an ordinary user runs it."""
    words = [word.format(home=place, programs=machines.programs()) for word in row.wrapper]
    if not row.mounts:
        return words
    own = SETPRIV if machines.IS_ROOT and not row.as_root else []
    return ["unshare", "-m" if machines.IS_ROOT else "-rm", "sh", "-c", f'{row.mounts} && exec "$@"', "sh", *own, *words]


def doctor(row, place):
    done = subprocess.run([*command(row, place), machines.programs() / "ptycell", "doctor"], stdout=subprocess.PIPE,
                          text=True, check=False, env={**environment(place), **row.env}, stdin=subprocess.DEVNULL,
                          **({} if row.mounts else machines.as_user()))
    return done.returncode, " ".join(done.stdout.split())


@functools.cache
def starts_containers(as_root):
    if not machines.IS_ROOT or shutil.which("podman") is None:
        return False
    row = Row("", WORKS, wrapper=root_podman() if as_root else rootless_podman(), mounts=CGROUP if as_root else ROOTLESS, as_root=as_root)
    with machines.user_home() as home:
        return subprocess.run([*command(row, home), "true"], check=False, stdin=subprocess.DEVNULL, capture_output=True,
                              env=environment(home)).returncode == 0


@contextlib.contextmanager
def server_in(row, place):
    with machines.on(place, *command(row, place), as_root=bool(row.mounts), env=row.env) as server:
        yield server


@pytest.mark.parametrize("row", TABLE, ids=[row.name for row in TABLE])
def test_row(row, place):
    if row.container and not starts_containers(row.as_root):
        pytest.skip("podman starts no container here")
    with server_in(row, place) as server:
        result = server.cell("open('output/a.txt', 'w').write('x'); print(6 * 7)")
        said = "\n".join(result.texts)
    said += server.stderr.decode()
    code, advice = doctor(row, place)
    assert ("42\n" in said) == (row.verdict != REFUSES), said
    assert ("It works." in advice) == (row.verdict != REFUSES) == (code == 0), advice
    if row.verdict == WORKS:
        assert server.stderr.decode() == ""
        assert [path.name for path in place.glob("kept/*/a.txt")] == ["a.txt"], said
    assert row.told in said, said
    assert (row.doctor or row.told) in advice, advice


def python_3(minor):
    """The machine's own, or one that pyenv or uv has made."""
    places = ("/usr/bin", "/usr/local/bin", f"~/.pyenv/versions/3.{minor}.*/bin", f"~/.local/share/uv/python/cpython-3.{minor}.*/bin")
    found = [path for place in places for path in sorted(glob.glob(os.path.expanduser(f"{place}/python3.{minor}")))]
    if not found:
        pytest.skip(f"there is no Python 3.{minor} here")
    return found[-1]


@pytest.mark.parametrize("minor, verdict", [(6, REFUSES), (7, REFUSES), (8, REFUSES), (9, WORKS), (10, WORKS), (11, WORKS), (12, WORKS), (13, WORKS)])
def test_python(tmp_path, minor, verdict):
    """Run by who runs the tests, as others may not read what lies in that person's home."""
    program = python_3(minor)
    env = {"PTYCELL_PYTHON": program}
    with Server(tmp_path, env=env) as server:
        said = server.cell("open('output/a.txt', 'w').write('x'); print(6 * 7)").text
        assert server.cell("echo $((6 * 7))", language="bash").text == "42\n"
    done = subprocess.run([client.BUILD / "ptycell", "doctor"], stdout=subprocess.PIPE, text=True, check=False,
                          env={**environment(tmp_path), **env}, stdin=subprocess.DEVNULL)
    advice = " ".join(done.stdout.split())
    if verdict == WORKS:
        assert said == "42\n" and f"{program} (from PTYCELL_PYTHON), version 3.{minor}." in advice
        assert [path.name for path in tmp_path.glob("kept/*/a.txt")] == ["a.txt"]
    else:
        told = f"this is Python 3.{minor}; ptycell needs 3.9 or later"
        assert told in said and "Set PTYCELL_PYTHON to one that works" in said and told in advice


def test_a_machine_without_dev_null_is_told_at_once(place):
    row = Row("no /dev/null", REFUSES, mounts="mount -t tmpfs none /dev")
    done = subprocess.run([*command(row, place), machines.programs() / "ptycell"], input="",
                          capture_output=True, text=True, check=False, env=environment(place))
    told = "opening /dev/null, which ptycell and all programs need: No such file or directory"
    assert done.returncode == 1 and told in done.stderr
    code, advice = doctor(row, place)
    assert code == 1 and told in advice


@pytest.mark.parametrize("words", [[], ["doctor"]], ids=["server", "doctor"])
def test_a_stack_without_room_is_told_at_once(place, words):
    done = subprocess.run([*limited("-s 64"), machines.programs() / "ptycell", *words], input="", capture_output=True, text=True, check=False,
                          env=environment(place), **machines.as_user())
    told = "ptycell: the stack may have 64 KB here, and ptycell needs 256 KB: raise that limit (ulimit -s 256) and start ptycell again\n"
    assert (done.returncode, done.stderr) == (1, told)
