# SPDX-License-Identifier: MIT
"""What attackers try from inside of a session: the tests put this module into one and call report().

Each function is one attempt in a child of its own. Its answer is what it returns; an error of the
kernel is told by its name, death by a signal as "killed N".
"""
import array
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import termios
import threading
import time

C = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
# (x86-64, aarch64)
NUMBERS = {"acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "clone": (56, 220),
           "clone3": (435, 435), "fsopen": (430, 430), "io_uring_setup": (425, 425), "kcmp": (312, 272),
           "keyctl": (250, 219), "memfd_create": (319, 279), "modify_ldt": (154, None), "mount": (165, 40),
           "mount_setattr": (442, 442), "move_mount": (429, 429), "msgget": (68, 186),
           "name_to_handle_at": (303, 264), "open_tree": (428, 428), "open_tree_attr": (467, 467),
           "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
           "pidfd_open": (434, 434), "pivot_root": (155, 41), "prlimit64": (302, 261),
           "process_vm_readv": (310, 270), "ptrace": (101, 117), "reboot": (169, 142), "request_key": (249, 218),
           "semget": (64, 190), "setns": (308, 268), "shmget": (29, 194), "swapon": (167, 224),
           "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282)}
NAMESPACES = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000,
              "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
AT_FDCWD = -100
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096


def call(name, *args):
    """The system call's value; names its error."""
    number = NUMBERS.get(name, (name, name))[0 if X86 else 1]
    value = C.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    if value < 0:
        raise OSError(ctypes.get_errno(), name)
    return value


def told(attempt):
    """How it went, as JSON can hold it."""
    try:
        return attempt()
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e.errno)) if e.errno else type(e).__name__


def in_child(attempt, seconds=200):
    """What `attempt` returns in a child, or how that ended."""
    end, other = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        try:
            text = json.dumps(told(attempt))
        except BaseException as e:  # an attempt that is wrong itself must show
            text = json.dumps(f"{type(e).__name__}: {e}")
        os.write(other, text.encode())
        os._exit(0)
    os.close(other)
    with os.fdopen(end) as answer:
        text = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return json.loads(text) if text else f"killed {-code}"


def report(group, **facts):
    """Tries all of GROUPS[group]; leaves {attempt: answer} in a file for the server to read."""
    FACTS.update(facts)
    with open(f"{group}.json", "w", encoding="utf-8") as f:
        json.dump({name: in_child(attempt) for name, attempt in GROUPS[group]().items()}, f)


FACTS = {}


# ---- files ----

def reads(path):
    """What it can be read as: the kind, so that an answer never holds a secret."""
    if os.path.isdir(path):
        return sorted(os.listdir(path))
    with open(path, "rb") as f:
        return f"read {len(f.read(100))}"


def writes(path, flags=os.O_WRONLY):
    fd = os.open(path, flags, 0o600)
    os.close(fd)
    return "opened"


def makes_file(folder):
    return writes(os.path.join(folder, f"made-{os.getpid()}"), os.O_WRONLY | os.O_CREAT)


def scribbles(path):
    """Writes what is there already: a sysctl takes the same value again."""
    with open(path, "rb") as f:
        old = f.read(4096)
    with open(path, "wb", buffering=0) as f:
        f.write(old)
    return "written"


def keeps(folder):
    name = os.path.join(folder, f"kept-by-{FACTS['who']}")
    with open(name, "w", encoding="ascii") as f:
        f.write("mine")
    with open(name, encoding="ascii") as f:
        return f.read()


def device(kind):
    name = f"device-{os.getpid()}"
    os.mknod(name, kind | 0o666, os.makedev(1, 3))
    return "made"


def bits(how):
    """The mode that a file or folder gets, when it has s-bits."""
    name = f"bits-{os.getpid()}"
    how(name)
    return "has them" if os.stat(name).st_mode & 0o6000 else "none"


def chmods(mode):
    def change(name):
        writes(name, os.O_CREAT | os.O_WRONLY)
        os.chmod(name, mode)
    return lambda: bits(change)


def fchmods(mode):
    def change(name):
        fd = os.open(name, os.O_CREAT | os.O_WRONLY, 0o600)
        os.fchmod(fd, mode)
    return lambda: bits(change)


def runs(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=150)
    return f"exit {done.returncode}"


def installs(name):
    runs("install", "-m", "2755", "/bin/true", name)


def extracts(name):
    """tar sets the bits that an archive tells, with openat's mode and with fchmodat."""
    import io
    import tarfile
    with tarfile.open("bits.tar", "w") as archive:
        member = tarfile.TarInfo(name)
        member.mode = 0o6755
        archive.addfile(member, io.BytesIO())
    runs("tar", "-xpf", "bits.tar")


def gives_file_capability():
    writes("capable", os.O_CREAT | os.O_WRONLY)
    os.setxattr("capable", "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0))
    return "given"


def hard_links(path):
    os.link(path, f"link-{os.getpid()}")
    return "linked"


def mount_call(name, *args):
    return lambda: call(name, *args)


def files():
    # Real below the person's home; there as names of the session's system only when shared.
    outside = {f"1 read {path}": lambda path=path: reads(path)
               for path in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root", "/root/.ssh", "/home", FACTS["home"],
                            FACTS["home"] + "/.ssh/id_rsa", FACTS["home"] + "/cache", "/var/log", "/var/lib",
                            "/proc/1/root/etc/shadow", "/proc/self/root/etc/shadow",
                            "/proc/self/cwd/../../../../../../etc/shadow", "/run", "/boot", "/sys/kernel")}
    folders = {f"2 write {path}": lambda path=path: makes_file(path)
               for path in ("/", "/usr", "/usr/lib", "/etc", "/bin", "/sbin", "/lib", "/dev", "/home", "/mnt", "/root", "/run",
                            "/var", "/proc", "/proc/self", "/mnt/spool", "/dev/pts", FACTS["home"], FACTS["home"] + "/.ssh")}
    existing = {f"2 write {path}": lambda path=path: writes(path)
                for path in ("/usr/bin/env", "/etc/passwd", "/etc/hosts", "/bin/sh", sys.executable, FACTS["home"] + "/.ssh/id_rsa",
                             "/proc/self/exe", "/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/sda")}
    sysctls = {f"2 write {path}": lambda path=path: scribbles(path)
               for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory",
                            "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces",
                            "/proc/sys/kernel/shmall", "/proc/sysrq-trigger", "/proc/self/uid_map", "/proc/self/setgroups",
                            "/proc/self/loginuid", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs")}
    own = {f"3 write {path}": lambda path=path: keeps(path) for path in (os.getcwd(), os.environ.get("TMPDIR", "/tmp"), "/dev/shm")}
    devices = {"4 character device": lambda: device(stat.S_IFCHR), "4 block device": lambda: device(stat.S_IFBLK)}
    links = {"11 from /usr": lambda: hard_links("/usr/bin/env"), "11 from /etc": lambda: hard_links("/etc/hosts"),
             "11 from home": lambda: hard_links(FACTS["home"] + "/.ssh/id_rsa"),
             "11 from /proc": lambda: hard_links("/proc/self/status")}
    data = os.getcwd().encode()
    mounts = {"14 mount a tmpfs over it": mount_call("mount", b"x", data, b"tmpfs", 0, None),
              "14 mount proc": mount_call("mount", b"proc", data, b"proc", 0, None),
              "14 bind over it": mount_call("mount", b"/etc", data, None, MS_BIND, None),
              "14 remount / writable": mount_call("mount", None, b"/", None, MS_REMOUNT | MS_BIND, None),
              "14 remount /usr writable": mount_call("mount", None, b"/usr", None, MS_REMOUNT | MS_BIND, None),
              "14 remount it read-only": mount_call("mount", None, data, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None),
              "14 umount it": mount_call("umount2", data, 2), "14 umount /proc": mount_call("umount2", b"/proc", 2),
              "14 fsopen": mount_call("fsopen", b"tmpfs", 0),
              "14 mount_setattr": mount_call("mount_setattr", AT_FDCWD, data, 0, bytes(32), 32),
              "14 move_mount": mount_call("move_mount", AT_FDCWD, b"/usr", AT_FDCWD, data, 0)}
    modes = {"10 chmod 4755": chmods(0o4755), "10 chmod 2755": chmods(0o2755), "10 fchmod 6711": fchmods(0o6711),
             "10 open with 06755": lambda: bits(lambda name: os.open(name, os.O_CREAT | os.O_WRONLY, 0o6755)),
             "10 mkdir with 02755": lambda: bits(lambda name: os.mkdir(name, 0o2755)),
             "10 mknod with 04755": lambda: bits(lambda name: os.mknod(name, stat.S_IFREG | 0o4755)),
             "10 install -m 2755": lambda: bits(installs), "10 tar -xp": lambda: bits(extracts),
             "10 file capability": gives_file_capability}
    return {**outside, **folders, **existing, **sysctls, **own, **devices, **links, **mounts, **modes}


# ---- processes ----

def parent(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def supervisor():
    """What holds this session's interpreter: not to be touched from here. (This is a child's child.)"""
    return parent(parent(os.getpid()))


def keepers():
    """Of the session, by name. In tier landlock pid 1 is the host's."""
    return {"pid 1": 1, "the supervisor": supervisor()}


def opens(path):
    if os.path.isdir(path):
        return sorted(os.listdir(path))
    return writes(path, os.O_RDONLY)


def looks(pid):
    return {f"16 {pid[0]}'s {name}": lambda name=name: opens(f"/proc/{pid[1]()}/{name}")
            for name in ("environ", "mem", "maps", "exe", "root", "cwd", "fd", "stack", "auxv", "task/1/mem", "map_files")}


def signals(number, who):
    return lambda: os.kill(who(), number) or "sent"


def reads_memory(who):
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    return call("process_vm_readv", who(), vector, 1, vector, 1, 0)


def takes_descriptor(who):
    return call("pidfd_getfd", call("pidfd_open", who(), 0), 3, 0)


def touches(title, who):
    return {f"17 SIGKILL to {title}": signals(signal.SIGKILL, who), f"17 SIGSTOP to {title}": signals(signal.SIGSTOP, who),
            f"17 SIGTERM to {title}": signals(signal.SIGTERM, who),
            f"17 trace {title}": lambda: call("ptrace", PTRACE_ATTACH, who(), 0, 0),
            f"17 seize {title}": lambda: call("ptrace", PTRACE_SEIZE, who(), 0, 0),
            f"17 read the memory of {title}": lambda: reads_memory(who),
            f"17 take a descriptor of {title}": lambda: takes_descriptor(who),
            f"17 compare with {title}": lambda: call("kcmp", os.getpid(), who(), 0, 0, 0),
            f"17 limits of {title}": lambda: call("prlimit64", who(), resource.RLIMIT_CPU,
                                                  struct.pack("QQ", 1, 1), None),
            f"17 priority of {title}": lambda: os.setpriority(os.PRIO_PROCESS, who(), 19) or "set",
            f"17 affinity of {title}": lambda: os.sched_setaffinity(who(), {0}) or "set"}


def status(*names):
    with open("/proc/self/status", encoding="ascii") as f:
        rows = dict(line.rstrip("\n").split(":", 1) for line in f)
    return {name: rows[name].strip() for name in names}


def visible():
    """The commands of all processes that show in /proc."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
                found[pid] = f.read().strip()
        except OSError:
            pass
    return found


def bystander():
    """A process of the same person outside, when it can be seen in here at all, or has a number here."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if FACTS["bystander"].encode() in f.read().split(b"\0"):
                    return int(pid)
        except OSError:
            pass
    if FACTS["number"]:
        return FACTS["number"]
    raise ProcessLookupError(errno.ESRCH, "not to be seen")


def setuid_programs():
    """Runs those of the system; who gets rights says so by its exit or its effects."""
    found = {}
    for name in ("su", "sudo", "passwd", "mount", "ping", "newgrp", "chsh", "pkexec"):
        for folder in ("/bin", "/usr/bin"):
            path = f"{folder}/{name}"
            if os.path.exists(path) and os.stat(path).st_mode & stat.S_ISUID:
                found[name] = runs(path, *{"su": ("-c", "id"), "sudo": ("-n", "id"), "pkexec": ("id",)}.get(name, ()))
    return found


def sticky_root():
    """A set-user-id program of the system's that we run gives nobody else's rights."""
    for path in ("/usr/bin/su", "/bin/su", "/usr/bin/passwd"):
        if os.path.exists(path):
            child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                with open(f"/proc/{child.pid}/status", encoding="ascii") as f:
                    rows = dict(line.split(":", 1) for line in f)
                return sorted({int(uid) == os.getuid() for uid in rows["Uid"].split()})
            finally:
                child.kill()
    return [True]


def clones(flag):
    """A raw clone: a child, which must not come to be, ends at once."""
    pid = call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return "cloned"


def clones3():
    pid = call("clone3", struct.pack("QQQQQQQQ", NAMESPACES["user"], 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
    if pid == 0:
        os._exit(0)
    return "cloned"


def joins(name):
    fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
    return call("setns", fd, 0)


def memory_file():
    fd = call("memfd_create", b"x", 0)
    os.write(fd, open("/bin/true", "rb").read())
    os.execve(f"/proc/self/fd/{fd}", ["true"], {})


def processes():
    own = {"15 /proc": visible, "20 descriptors": lambda: FACTS["descriptors"], "21 environment": lambda: FACTS["environment"],
           "22 rights": lambda: status("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid",
                                       "Groups"),
           "22 become root": lambda: os.setuid(0) or "root", "22 leave the group": lambda: os.setgroups([]) or "left",
           "22 secure bits": lambda: C.prctl(28, 0, 0, 0, 0), "22 raise a capability": lambda: C.prctl(47, 2, 21, 0, 0),
           "22 core of a helper": lambda: C.prctl(4, 2, 0, 0, 0),
           "23 set-user-id programs": setuid_programs, "23 their user": sticky_root}
    looked, touched = {}, {}
    for title, who in (("pid 1", lambda: 1), ("the supervisor", supervisor)):
        looked.update(looks((title, who)))
        touched.update(touches(title, who))
    foreign = {"19 signal": signals(0, bystander), "19 kill": signals(signal.SIGKILL, bystander),
               "19 environ": lambda: opens(f"/proc/{bystander()}/environ"),
               "19 maps": lambda: opens(f"/proc/{bystander()}/maps"), "19 cwd": lambda: os.readlink(f"/proc/{bystander()}/cwd"),
               "19 fd": lambda: opens(f"/proc/{bystander()}/fd"), "19 trace": lambda: call("ptrace", PTRACE_SEIZE, bystander(), 0, 0),
               "19 memory": lambda: reads_memory(bystander)}
    spaces = {**{f"24 unshare {name}": lambda flag=flag: call("unshare", flag) for name, flag in NAMESPACES.items()},
              **{f"24 clone {name}": lambda flag=flag: clones(flag) for name, flag in NAMESPACES.items() if name != "time"},
              **{f"24 setns {name}": lambda name=name: joins(name) for name in ("user", "mnt", "net", "pid")},
              "24 clone3": clones3, "24 chroot": mount_call("chroot", b"."), "24 pivot_root": mount_call("pivot_root", b".", b"."),
              "24 open_tree": mount_call("open_tree", AT_FDCWD, b"/", 1),
              "24 open_tree_attr": mount_call("open_tree_attr", AT_FDCWD, b"/", 1, None, 0)}
    return {**own, **looked, **touched, **foreign, **spaces, "28 memory file": memory_file}


# ---- the kernel's surface ----

def makes_socket(*arguments):
    return lambda: socket.socket(*arguments) and "made"


def machine_code(code):
    """Runs these bytes."""
    area = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    area.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()


def crashes():
    """Where a child that crashes left its memory."""
    os.makedirs("crash", exist_ok=True)
    before = set(os.listdir("crash"))
    pid = os.fork()
    if pid == 0:
        os.chdir("crash")
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(10)
    code = os.waitpid(pid, 0)[1]
    return {"dumped": os.WCOREDUMP(code), "files": sorted(set(os.listdir("crash")) - before)}


def core_limit(wanted):
    """The limit after an attempt to change it: 0 and a handler of the host's would get our memory."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (wanted, wanted))
    except (OSError, ValueError):
        pass
    return list(resource.getrlimit(resource.RLIMIT_CORE))


def kernel():
    surface = {"36 io_uring_setup": mount_call("io_uring_setup", 1, ctypes.create_string_buffer(120)),
               "36 bpf": mount_call("bpf", 0, ctypes.create_string_buffer(120), 120),
               "36 perf_event_open": mount_call("perf_event_open", ctypes.create_string_buffer(128), 0, -1, -1, 0),
               "36 userfaultfd": mount_call("userfaultfd", 1),
               "36 reboot": mount_call("reboot", 0xfee1dead - (1 << 32), 672274793, 0), "36 syslog": mount_call("syslog", 3, bytes(64), 64),
               "36 acct": mount_call("acct", None), "36 swapon": mount_call("swapon", b"x", 0),
               "36 handle of a file": mount_call("name_to_handle_at", AT_FDCWD, b"/", bytes(200), bytes(8), 0)}
    rings = {"37 session keyring": mount_call("keyctl", 0, -3, 0), "37 user keyring": mount_call("keyctl", 0, -4, 0),
             "37 search": mount_call("keyctl", 10, -3, b"user", b"x", 0), "37 read": mount_call("keyctl", 11, -3, bytes(64), 64),
             "37 add_key": mount_call("add_key", b"user", b"x", b"y", 1, -3),
             "37 request_key": mount_call("request_key", b"user", b"x", None, 0)}
    families = {"ALG": 38, "VSOCK": 40, "PACKET": 17, "KEY": 15, "TIPC": 30, "RDS": 21, "BLUETOOTH": 31, "CAN": 29, "XDP": 44, "SMC": 43,
                "QIPCRTR": 42, "AX25": 3, "NFC": 39, "PPPOX": 24, "CAIF": 37}
    sockets = {**{f"38 AF_{name}": makes_socket(number, socket.SOCK_DGRAM) for name, number in families.items()},
               "38 raw INET": makes_socket(socket.AF_INET, socket.SOCK_RAW, 1),
               "38 raw INET6": makes_socket(socket.AF_INET6, socket.SOCK_RAW, 58),
               "38 ping": makes_socket(socket.AF_INET, socket.SOCK_DGRAM, 1)}
    numbers = {**{f"40 number {n}": lambda n=n: call(n, 0, 0, 0) for n in (470, 600, 1000, 0x7ffffff)}}
    if X86:  # getpid, as x32 and as a call of 32 bits
        numbers["39 x32"] = lambda: call(0x40000000 | 39)
        numbers["39 x32 execve"] = lambda: call(0x40000000 | 520, b"/bin/true", None, None)
        numbers["39 int 0x80"] = lambda: machine_code(b"\xb8\x14\0\0\0\xcd\x80\xc3")
    odd = {"41 ADDR_NO_RANDOMIZE": mount_call("personality", 0x40000), "41 READ_IMPLIES_EXEC": mount_call("personality", 0x400000),
           "41 query": mount_call("personality", 0xffffffff), "42 crash": crashes,
           "42 limit as it is": lambda: list(resource.getrlimit(resource.RLIMIT_CORE)),
           "42 limit set to 0": lambda: core_limit(0), "42 limit raised": lambda: core_limit(1 << 30)}
    if X86:
        odd["41 modify_ldt"] = mount_call("modify_ldt", 0, bytes(64), 64)
    queues = {"56 memfd_create": mount_call("memfd_create", b"x", 0), "56 shmget": mount_call("shmget", 0, 4096, 0o1600),
              "56 msgget": mount_call("msgget", 0, 0o1600), "56 semget": mount_call("semget", 0, 1, 0o1600)}
    shared = {"56 instances of inotify": inotify_instances,
              "56 buffers of TCP": lambda: [tcp_buffers("rmem"), tcp_buffers("wmem")]}
    own = {f"61 raise {name[7:]}": lambda name=name: raises(getattr(resource, name))
           for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE")}
    own["61 oom_score_adj"] = lambda: open("/proc/self/oom_score_adj", "w", encoding="ascii").write("-1000")
    own["61 oom_score_adj of the supervisor"] = lambda: open(f"/proc/{supervisor()}/oom_score_adj", "w", encoding="ascii").write("-1000")
    own["61 renice -5"] = lambda: os.nice(-5)
    own["61 real-time"] = lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) or "set"
    return {**surface, **rings, **sockets, **numbers, **odd, **queues, **shared, **own}


def inotify_instances():
    """How many one session can have at a time."""
    made = []
    try:
        while len(made) < 1000:
            fd = C.inotify_init1(os.O_CLOEXEC)
            if fd < 0:
                break
            made.append(fd)
        return len(made)
    finally:
        for fd in made:
            os.close(fd)


def tcp_buffers(kind):
    """The largest size that a connection's buffer grows to."""
    with open(f"/proc/sys/net/ipv4/tcp_{kind}", encoding="ascii") as file:
        return int(file.read().split()[2])


def raises(limit):
    soft, hard = resource.getrlimit(limit)
    if hard == resource.RLIM_INFINITY:
        return "unlimited"
    try:
        resource.setrlimit(limit, (soft, hard + 1))
    except ValueError:
        return "not allowed"
    return "raised"


# ---- the terminal ----

def types(request):
    def push():
        fcntl.ioctl(0, request, b"#")
        return "typed"
    return push


def line_code():
    """TIOCLINUX reads and pastes a console's text."""
    fcntl.ioctl(0, 0x541C, array.array("B", [3, 0]))
    return "pasted"


def sizes():
    done = subprocess.run(["stty", "size"], stdin=0, stdout=subprocess.PIPE, text=True)
    return done.stdout.split() == [str(os.get_terminal_size(0).lines), str(os.get_terminal_size(0).columns)]


def new_terminal():
    leader, follower = os.openpty()
    os.write(leader, b"echo\n")
    return [os.read(follower, 5).decode(), os.isatty(follower), os.ttyname(follower).startswith("/dev/")]


def other_terminals():
    """Terminals that are not this session's, and can be opened."""
    own = os.stat(0).st_rdev
    found = []
    for name in os.listdir("/dev/pts"):
        path = f"/dev/pts/{name}"
        try:
            if name != "ptmx" and os.stat(path).st_rdev != own:
                os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))
                found.append(path)
        except OSError:
            pass
    return found


def terminal():
    wide = {"31 TIOCSTI": types(termios.TIOCSTI), "31 TIOCSTI with high bits": lambda: call(16 if X86 else 29, 0, 0x5412 | 1 << 40, b"#"),
            "31 TIOCLINUX": line_code, "31 TIOCSETD": lambda: fcntl.ioctl(0, 0x5423, struct.pack("i", 15)) and "set",
            "31 TIOCCONS": lambda: fcntl.ioctl(0, 0x541D) and "taken"}
    good = {"32 ttyname": lambda: os.ttyname(0), "32 tty": lambda: f"exit {subprocess.run(['tty'], stdin=0, stdout=subprocess.DEVNULL).returncode}", "32 isatty": lambda: [os.isatty(fd) for fd in range(3)],
            "32 stty": sizes, "32 openpty": new_terminal, "32 /dev/tty": lambda: open("/dev/tty", encoding="ascii").isatty(),
            "32 other terminals": other_terminals}
    return {**wide, **good}


GROUPS = {"files": files, "processes": processes, "kernel": kernel, "terminal": terminal}


# ---- what takes its time: called by tests one by one ----

def forks_until_full(limit=5000):
    """How many children there can be at once, and the error that ended it."""
    children = []
    try:
        while len(children) < limit:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
        return len(children), "no end"
    except OSError as e:
        return len(children), errno.errorcode[e.errno]
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)


def threads_until_full(limit=5000):
    stop = threading.Event()
    threads = []
    try:
        while len(threads) < limit:
            threads.append(threading.Thread(target=stop.wait))
            threads[-1].start()
        return len(threads), "no end"
    except RuntimeError as e:
        return len(threads) - 1, str(e)
    finally:
        stop.set()
        for thread in threads:
            if thread.ident:
                thread.join()


def fills(folder, piece=1 << 20):
    """Bytes that a folder takes before it is full, which it is not any more afterwards."""
    name, size = os.path.join(folder, "filler"), 0
    try:
        with open(name, "wb", buffering=0) as f:
            while size < 1 << 34:
                size += f.write(bytes(piece))
        return size, "no end"
    except OSError as e:
        return size, errno.errorcode[e.errno]
    finally:
        os.remove(name)


def fills_inodes(folder, limit=200000):
    names = []
    try:
        for i in range(limit):
            name = os.path.join(folder, f"inode{i}")
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
            names.append(name)
        return len(names), "no end"
    except OSError as e:
        return len(names), errno.errorcode[e.errno]
    finally:
        for name in names:
            os.remove(name)
