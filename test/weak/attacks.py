# SPDX-License-Identifier: MIT
"""attacks.py FACTS: tries, inside of a sandbox, what a session must not be able to do.

FACTS is JSON about the world outside. Prints a line for each attack: its name, a tab, and "stopped"
or "THROUGH". Each runs in a child of its own. Numbers are those of the tests of confinement.
"""
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import termios

C = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
# (x86-64, aarch64)
NUMBERS = {"ptrace": (101, 117), "mount": (165, 40), "unshare": (272, 97), "personality": (135, 92), "bpf": (321, 280),
           "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
           "keyctl": (250, 219), "memfd_create": (319, 279), "shmget": (29, 194), "prlimit64": (302, 261),
           "process_vm_readv": (310, 270), "chroot": (161, 51), "open_by_handle_at": (304, 265)}
CLONE_NEWUSER = 0x10000000
ADDR_NO_RANDOMIZE = 0x0040000


def syscall(name, *args):
    """True when the kernel did it."""
    return C.syscall(NUMBERS[name][0 if X86 else 1], *args) >= 0


def opens(path, flags=os.O_RDONLY):
    os.close(os.open(path, flags))
    return True


def victim():
    """The bystander's number, when it can be seen in here at all."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read() == b"\0".join(word.encode() for word in (*FACTS["bystander"], "")):
                    return int(pid)
        except OSError:
            pass
    raise ProcessLookupError


def keeper():
    """Returns the pid of its supervisor, which session code must never touch."""
    with open("/proc/self/stat", encoding="ascii") as f:
        pid = int(f.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def connects(family, address):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(2)
    s.connect(address)
    return True


def signals(pid):
    os.kill(pid, 0)
    return True


def types_into_terminal():
    fcntl.ioctl(0, termios.TIOCSTI, b"\n")
    return True


def makes(name, mode):
    fd = os.open(name, os.O_CREAT | os.O_WRONLY, 0o600)
    os.fchmod(fd, mode)
    return os.fstat(fd).st_mode & 0o6000 != 0


def lowers_oom_score():
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as f:
        f.write("0")
    return True


def raises_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1))
    return True


def has_capability():
    with open("/proc/self/status", encoding="ascii") as f:
        return any(line.startswith(("CapPrm", "CapEff", "CapInh")) and int(line.split()[1], 16) for line in f)


def sends_from_a_pair():
    """A datagram end of a pair reaches any socket."""
    a, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"x", "\0" + FACTS["datagram"])
    return True


def makes_device():
    os.mknod("device", 0o20666, os.makedev(1, 3))
    return True


ATTACKS = {
    "1 read a file outside": lambda: opens(FACTS["secret"]),
    "1 read /etc/shadow": lambda: opens("/etc/shadow"),
    "2 write a file outside": lambda: opens(FACTS["secret"], os.O_WRONLY),
    "2 write to /tmp of the host": lambda: os.path.exists(FACTS["tmp_file"]) and opens(FACTS["tmp_file"], os.O_WRONLY),
    "2 change the mode of a file outside": lambda: os.chmod(FACTS["secret"], 0o600) is None,
    "4 make a device": makes_device,
    "10 make a set-user-id file": lambda: makes("s", 0o4755),
    "14 mount over its folder": lambda: syscall("mount", b"x", b".", b"tmpfs", 0, 0),
    "15 see a process outside": lambda: victim() > 0,
    "16 open its supervisor's environ": lambda: opens(f"/proc/{keeper()}/environ"),
    "16 open its supervisor's memory": lambda: opens(f"/proc/{keeper()}/mem", os.O_RDWR),
    "17 signal its supervisor": lambda: signals(keeper()),
    "17 trace its supervisor": lambda: syscall("ptrace", 0x4206, keeper(), 0, 0),
    "19 signal a process outside": lambda: signals(victim()),
    "19 read the environment of a process outside": lambda: opens(f"/proc/{victim()}/environ"),
    "19 trace a process outside": lambda: syscall("ptrace", 0x4206, victim(), 0, 0),
    "19 set limits of a process outside": lambda: syscall("prlimit64", victim(), 0, 0, 0),
    "22 have a capability": has_capability,
    "24 make a user namespace": lambda: syscall("unshare", CLONE_NEWUSER),
    "24 change its root": lambda: syscall("chroot", b"."),
    "28 make a memfd": lambda: syscall("memfd_create", b"x", 0),
    "31 type into its terminal": types_into_terminal,
    "36 io_uring": lambda: syscall("io_uring_setup", 1, ctypes.create_string_buffer(120)),
    "36 bpf": lambda: syscall("bpf", 0, ctypes.create_string_buffer(b"\2\0\0\0\4\0\0\0\4\0\0\0\1\0\0\0" + bytes(104)), 120),
    "36 userfaultfd": lambda: syscall("userfaultfd", 1),
    "37 reach a keyring": lambda: syscall("keyctl", 0, -3, 0),
    "38 a crypto socket": lambda: bool(socket.socket(38, socket.SOCK_SEQPACKET)),
    "38 a packet socket": lambda: bool(socket.socket(17, socket.SOCK_RAW)),
    "38 a raw socket": lambda: bool(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)),
    "38 an SCTP socket": lambda: bool(socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)),
    "38 a netfilter socket": lambda: bool(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)),
    "41 change its personality": lambda: syscall("personality", ADDR_NO_RANDOMIZE),
    "45 reach a server on 127.0.0.1": lambda: connects(socket.AF_INET, ("127.0.0.1", FACTS["port"])),
    "46 reach an abstract socket": lambda: connects(socket.AF_UNIX, "\0" + FACTS["abstract"]),
    "46 reach a socket file": lambda: connects(socket.AF_UNIX, FACTS["socket"]),
    "46 reach a socket from a pair": sends_from_a_pair,
    "56 make a shared segment": lambda: syscall("shmget", 0, 4096, 0o1600),
    "61 lower its oom score": lowers_oom_score,
    "61 raise its limits": raises_limit,
    "61 raise its priority": lambda: os.nice(-1) is not None,
}


def gets_through(attack):
    pid = os.fork()
    if pid == 0:
        signal.alarm(200)
        try:
            code = 1 if attack() else 0
        except (OSError, ValueError):
            code = 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


if __name__ == "__main__":
    FACTS = json.loads(sys.argv[1])
    for title, function in ATTACKS.items():
        print(f"{title}\t{'THROUGH' if gets_through(function) else 'stopped'}", flush=True)
