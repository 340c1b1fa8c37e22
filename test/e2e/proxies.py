# SPDX-License-Identifier: MIT
"""ptycell-proxy alone: its order, its listener, names of our own, and hosts for it to reach."""
import json
import os
import pathlib
import socket
import socketserver
import ssl
import subprocess
import threading

import pytest
from client import BUILD, WAIT_S


def own_names(hosts, command, resolv="/etc/resolv.conf"):
    """`command` in a mount namespace where these files are those of /etc, as the user that we are."""
    script = 'mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
    return own_mounts(script, [str(hosts), str(resolv)], command)


def own_mounts(script, arguments, command):
    """`command` in a mount namespace in which `script` (a shell's, $0 the first of `arguments`) mounted things."""
    first, then = ["unshare", "-m"], []
    if os.geteuid():
        first = ["unshare", "-U", "-r", "-m"]
        then = ["unshare", "-U", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
    if subprocess.run([*first, *then, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no mount namespace here, so no names of our own")
    return [*first, "sh", "-c", script, *arguments, *then, *command]


class Proxy:
    """A running ptycell-proxy. Use as a context manager."""

    def __init__(self, folder, hosts, names="", resolv="/etc/resolv.conf", **order):
        self.names = folder / "hosts"
        self.name(names)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        script = f"exec 3<&{self.listener.fileno()}; exec \"$0\""
        command = ["bash", "-c", script, str((BUILD / "ptycell-proxy").resolve())]
        self.process = subprocess.Popen(
            own_names(self.names, command, resolv), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, pass_fds=[self.listener.fileno()])
        line = json.dumps({"hosts": hosts, "bytes_max": 1 << 30, **order})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def name(self, lines):
        """What names mean from here on: lines of /etc/hosts."""
        with open(self.names, "w", encoding="ascii") as f:
            f.write(lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Ends its input; returns the rows of its last report by host and port."""
        if self.process.stdin.closed:
            return None
        self.process.stdin.close()
        lines = [json.loads(line) for line in self.process.stdout]
        assert self.process.wait(WAIT_S) == 0, self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        self.listener.close()
        return {(row["host"], row["port"]): row for row in lines[-1]["result"]["hosts"]}

    def connect(self):
        return socket.create_connection(self.listener.getsockname(), WAIT_S)

    def ask(self, request):
        """Everything that comes back to these bytes."""
        with self.connect() as s:
            s.sendall(request)
            return read_all(s)

    def tunnel(self, host, port):
        """A connection through CONNECT, and the head that opened it."""
        s = self.connect()
        s.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = s.recv(1)
            assert byte, head
            head += byte
        return s, head


def read_all(s):
    parts = []
    try:
        while True:
            parts.append(s.recv(65536))
            if not parts[-1]:
                break
    except ConnectionResetError:
        pass
    return b"".join(parts)


class Host:
    """A TCP server on loopback that keeps what each connection said: `talk` gives the answers."""

    def __init__(self, talk):
        self.said = []
        host = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.settimeout(WAIT_S)
                said = bytearray()
                host.said.append(said)
                try:
                    talk(self.request, said)
                except (OSError, ValueError):  # it went away
                    pass

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class NameServer:
    """A name server that answers the next question for an address with the next of `answers`, and then no more."""

    def __init__(self, folder, *answers):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        address = f"127.{os.getpid() >> 8 & 255}.{os.getpid() & 255}.53"
        try:
            self.socket.bind((address, 53))
        except PermissionError:
            pytest.skip("only root may be a name server")
        self.resolv = folder / "resolv.conf"
        self.resolv.write_text(f"nameserver {address}\noptions timeout:30\n")
        self.answers = list(answers)
        self.asked = []
        self.ended = threading.Event()
        self.socket.settimeout(0.05)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.socket.close()

    def _serve(self):
        while not self.ended.is_set():
            try:
                question, who = self.socket.recvfrom(512)
            except TimeoutError:
                continue
            end = question.index(b"\0", 12) + 5
            is_v4 = question[end - 4:end - 2] == b"\0\1"
            self.asked.append(question[12:end - 5])
            if is_v4 and not self.answers:
                continue
            record = b""
            if is_v4:
                record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(self.answers.pop(0))
            flags = b"\x81\x80\0\1" + (b"\0\1" if record else b"\0\0") + bytes(4)
            self.socket.sendto(question[:2] + flags + question[12:end] + record, who)


def read_head(s, said):
    while b"\r\n\r\n" not in said:
        piece = s.recv(65536)
        if not piece:
            return
        said += piece


def answer_once(s, said):
    """An HTTP server that answers one request with 200 and closes."""
    read_head(s, said)
    s.sendall(b"HTTP/1.1 200 OK\r\nKeep-Alive: 5\r\nContent-Length: 5\r\n\r\nhello")
    s.shutdown(socket.SHUT_WR)
    while piece := s.recv(65536):
        said += piece


class Authority:
    """A certificate authority and one certificate for `names`."""

    def __init__(self, folder, *names):
        self.ca = pathlib.Path(folder) / "ca.pem"
        key, request, self.chain = (pathlib.Path(folder) / n for n in ("key.pem", "csr.pem", "chain.pem"))
        ca_key, extensions = pathlib.Path(folder) / "ca.key", pathlib.Path(folder) / "ext"
        extensions.write_text("subjectAltName=" + ",".join(f"DNS:{n}" for n in names))
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", ca_key, "-out", self.ca, "-subj", "/CN=test", "-days", "2")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                "-out", request, "-subj", "/CN=host")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", ca_key, "-CAcreateserial",
                "-out", self.chain, "-extfile", extensions, "-days", "2")
        self.chain.write_text(self.chain.read_text() + key.read_text())

    def serve(self, talk):
        """A Host that speaks TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain)

        def talk_tls(s, said):
            with context.wrap_socket(s, server_side=True) as tls:
                talk(tls, said)
                tls.unwrap()

        return Host(talk_tls)

    def client(self):
        return ssl.create_default_context(cafile=str(self.ca))


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
