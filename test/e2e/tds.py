# SPDX-License-Identifier: MIT
"""As much of SQL Server as FreeTDS's driver needs to log in, run batches, bind and cancel (MS-TDS 7.4)."""
import socket
import struct
import threading

PACKET_SIZE = 4096
BATCH, RPC, RESPONSE, ATTENTION, TRANSACTION, LOGIN, PRELOGIN = 1, 3, 4, 6, 14, 16, 18
BEGIN, ROLLBACK = 5, 8
PREPARE_AND_EXECUTE, UNPREPARE = 13, 15
DONE_COUNT, DONE_ATTENTION = 0x10, 0x20
COLLATION = bytes([9, 4, 0xd0, 0, 0x34])


def short_text(text):
    return bytes([len(text)]) + text.encode("utf-16-le")


def done(rows=None, status=0):
    return struct.pack("<BHHQ", 0xfd, status | (DONE_COUNT if rows is not None else 0), 0, rows or 0)


def returned(table):
    """The same as the answer of sp_prepexec: its status, and the handle of what it prepared."""
    done_in_procedure = b"\xff" + table[-12:]
    handle = struct.pack("<BHBBIHBBBi", 0xac, 0, 0, 1, 0, 0, 0x26, 4, 4, 1)
    return table[:-13] + done_in_procedure + struct.pack("<Bi", 0x79, 0) + handle + b"\xfe" + done()[1:]


def change(kind, new=b"\0", old=b"\0"):
    return struct.pack("<BHB", 0xe3, 1 + len(new) + len(old), kind) + new + old


def error(number, message):
    text = message.encode("utf-16-le")
    body = struct.pack("<iBBH", number, 1, 16, len(message)) + text + short_text("fake") + short_text("") + \
        struct.pack("<i", 1)
    return struct.pack("<BH", 0xaa, len(body)) + body + done(status=2)


# A column's type: what the metadata says of it, and how a value is written.
INT = b"\x38", lambda v: struct.pack("<i", v)
BIT = b"\x32", lambda v: bytes([v])
FLOAT = b"\x3e", lambda v: struct.pack("<d", v)
BIGINT = b"\x26\x08", lambda v: b"\0" if v is None else b"\x08" + struct.pack("<q", v)
DECIMAL = b"\x6a\x11\x26\x02", lambda v: b"\x11" + bytes([v >= 0]) + abs(v).to_bytes(16, "little")  # hundredths
TEXT = b"\xe7" + struct.pack("<H", 8000) + COLLATION, \
    lambda v: b"\xff\xff" if v is None else struct.pack("<H", 2 * len(v)) + v.encode("utf-16-le")
BINARY = b"\xa5" + struct.pack("<H", 8000), lambda v: struct.pack("<H", len(v)) + v
TIME = b"\x2a\x07", lambda v: b"\x08" + v[1].to_bytes(5, "little") + v[0].to_bytes(3, "little")  # days, 100 ns


def table(columns, rows):
    """`columns`: (name, type)."""
    out = b"\x81" + struct.pack("<H", len(columns))
    for name, (described, _) in columns:
        out += struct.pack("<IH", 0, 9) + described + short_text(name)
    for row in rows:
        out += b"\xd1" + b"".join(write(value) for (_, (_, write)), value in zip(columns, row))
    return out + done(len(rows))


class Closed(Exception):
    pass


class Connection:
    def __init__(self, server, link):
        self.server, self.link = server, link
        self.number = 0

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.link.recv(size - len(data))
            if not more:
                raise Closed
            data += more
        return data

    def receive(self):
        """A message: its kind and what is in it."""
        message = b""
        while True:
            kind, status, size = struct.unpack(">BBH", self.take(8)[:4])
            message += self.take(size - 8)
            if status & 1:
                return kind, message

    def send(self, message):
        room = PACKET_SIZE - 8
        for at in range(0, len(message), room):
            part = message[at:at + room]
            self.number += 1
            self.link.sendall(struct.pack(">BBHHBB", RESPONSE, at + room >= len(message), len(part) + 8, 0,
                                          self.number & 255, 0) + part)

    def log_in(self):
        kind, _ = self.receive()
        assert kind == PRELOGIN
        no_encryption = b"\x00\x00\x0b\x00\x06" b"\x01\x00\x11\x00\x01" b"\xff" b"\x10\0\0\0\0\0" b"\x02"
        self.send(no_encryption)
        kind, login = self.receive()
        assert kind == LOGIN
        self.server.logins.append(self.read_login(login))
        name = "Microsoft SQL Server"
        ack = b"\x01" + struct.pack(">I", 0x74000004) + short_text(name) + bytes([16, 0, 0, 0])
        self.send(change(1, short_text("shop"), short_text("master")) + change(4, short_text(str(PACKET_SIZE)),
                                                                              short_text(str(PACKET_SIZE))) +
                  b"\xad" + struct.pack("<H", len(ack)) + ack + done())

    @staticmethod
    def read_login(login):
        def text(at):
            start, chars = struct.unpack("<HH", login[at:at + 4])
            return login[start:start + 2 * chars]

        password = bytes((b ^ 0xa5) << 4 & 0xf0 | (b ^ 0xa5) >> 4 for b in text(44)).decode("utf-16-le")
        return {"user": text(40).decode("utf-16-le"), "password": password, "read_only": bool(login[26] & 0x20)}

    def answer(self, kind, message):
        headers = struct.unpack("<I", message[:4])[0] if kind != ATTENTION else 0
        if kind == ATTENTION:
            self.send(done(status=DONE_ATTENTION))
        elif kind == TRANSACTION:
            request = struct.unpack("<H", message[headers:headers + 2])[0]
            self.server.seen.append({BEGIN: "begin", ROLLBACK: "rollback"}.get(request, request))
            one = b"\x08" + struct.pack("<Q", 1)
            self.send((change(8, one) if request == BEGIN else change(10, b"\0", one)) + done())
        elif kind == BATCH:
            text = message[headers:].decode("utf-16-le")
            self.server.seen.append(text)
            answer = self.server.answer(text)
            if answer is not None:
                self.send(answer)
        elif kind == RPC and struct.unpack("<HH", message[headers:headers + 4]) == (0xffff, PREPARE_AND_EXECUTE):
            self.server.calls.append(message[headers:])
            answers = [a for part, a in self.server.answers.items() if part.encode("utf-16-le") in message]
            self.send(returned(answers[0]))
        elif kind == RPC and struct.unpack("<HH", message[headers:headers + 4]) == (0xffff, UNPREPARE):
            self.send(struct.pack("<Bi", 0x79, 0) + b"\xfe" + done()[1:])
        else:
            self.server.seen.append(kind)
            self.send(error(50000, "this is no SQL Server"))

    def serve(self):
        try:
            self.log_in()
            while True:
                self.answer(*self.receive())
        except (Closed, OSError):
            self.link.close()


class Tds:
    """Listens on 127.0.0.1:port. `answers`: parts of batches and what is answered, None for nothing."""

    def __init__(self, answers):
        self.answers = {"sys.databases": table([("", INT)], [[1]]), **answers}
        self.logins, self.seen, self.calls, self.links = [], [], [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def answer(self, text):
        for part, answer in self.answers.items():
            if part in text:
                return answer
        return done()

    def accept(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.links.append(link)
            threading.Thread(target=Connection(self, link).serve, daemon=True).start()

    def hang_up(self):
        """On all that are connected."""
        while self.links:
            try:
                self.links.pop().shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
