# SPDX-License-Identifier: MIT
"""A proxy in front of a storage that spoils the first request of a kind in one way, which may be "stall": no answer."""
import base64
import hashlib
import http.client
import re
import socket
import threading

from client import WAIT_S
from fetching import head
from proxies import Host, read_head

LOGIN = b"<html><form action=/login>Please log in</form></html>"
BAD_DIGEST = head(400, "x-ms-error-code: Md5Mismatch", "Content-Length: 37") + b"<Error><Code>BadDigest</Code></Error>"
WAYS = ["reset", "half", "slow", "lost", "byte", "no_etag", "wrong_etag", "login", "redirect", "403", "404", "500", "200"]


def kind_of(first_line):
    """What a request asks for, of its first line."""
    method, path = first_line.split(" ")[:2]
    kinds = {"restype=container": "container", r"comp=block&|partNumber=": "part", "comp=blocklist": "finish",
             r"\?uploads=": "begin", "uploadId=": "abort" if method == "DELETE" else "finish"}
    for pattern, kind in kinds.items():
        if re.search(pattern, path) and (method != "GET"):
            return kind
    return {"PUT": "whole", "HEAD": "look"}.get(method, "read")


def is_of(request, body):
    """Whether the body is that of its Content-MD5; the S3 of the tests does not look."""
    digest = re.search(rb"(?i)\r\ncontent-md5: *([^\r]+)", request)
    return not digest or base64.b64decode(digest[1]) == hashlib.md5(body).digest()


def whole_answer(s, method):
    with http.client.HTTPResponse(s, method=method) as answer:
        answer.begin()
        content = answer.read()
        fields = [f"{name}: {value}" for name, value in answer.getheaders()
                  if name.lower() not in ("connection", "keep-alive", "transfer-encoding", "content-length")]
        length = answer.getheader("Content-Length") if method == "HEAD" else len(content)
        return head(answer.status, *fields, f"Content-Length: {length}") + content


class Between(Host):
    """Passes requests to `port` of loopback. Each of `spoil`, (kind, way), is done once; `before`, a function of the
    kind, is called with each request that came whole, before it goes on."""

    def __init__(self, port, *spoil, before=lambda kind: None):
        self.to, self.spoil, self.before = port, list(spoil), before
        self.kinds = []
        self.lock = threading.Lock()
        super().__init__(self.talk)

    def way(self, kind):
        with self.lock:
            self.kinds.append(kind)
            for index, (which, way) in enumerate(self.spoil):
                if which == kind:
                    del self.spoil[index]
                    return way
        return None

    def talk(self, s, said):
        read_head(s, said)
        kind = kind_of(said.split(b"\r\n")[0].decode())
        way = self.way(kind)
        request, body = self.take(s, said, way)
        if request is None:
            return
        self.before(kind)
        if way == "stall":
            assert s.recv(1) == b""  # until it is given up
            return
        answer = self.answer(request, body, way)
        for byte in answer if way == "slow" else []:
            s.sendall(bytes([byte]))
        if answer is not None and way != "slow":
            s.sendall(answer)

    def take(self, s, said, way):
        """Head and body of a request; the head is None when the connection broke on the way."""
        top, _, body = said.partition(b"\r\n\r\n")
        length = int((re.search(rb"(?i)\ncontent-length: (\d+)", top) or [0, 0])[1])
        if way == "reset":
            return None, b""
        if re.search(rb"(?i)\nexpect:", top):
            s.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < (length // 2 if way == "half" else length) and (got := s.recv(4096 if way == "slow" else 1 << 20)):
            body += got
        if way == "half" or len(body) < length:
            return None, b""
        return bytes(re.sub(rb"(?i)\r\nexpect:[^\r]*", b"", top)) + b"\r\n\r\n", bytes(body)

    def answer(self, request, body, way):
        faked = {"login": head(200, "Content-Type: text/html", f"Content-Length: {len(LOGIN)}") + LOGIN,
                 "redirect": head(302, "Location: http://127.0.0.1:9/", "Content-Length: 0"),
                 "403": head(403, "Content-Length: 0"), "404": head(404, "Content-Length: 0"),
                 "500": head(500, "Content-Length: 0"), "200": head(200, "Content-Length: 0")}
        if way in faked:
            return faked[way]
        if way == "byte" and body:
            body = body[:-1] + bytes([body[-1] ^ 1])
            if not is_of(request, body):
                return BAD_DIGEST
        with socket.create_connection(("127.0.0.1", self.to), WAIT_S) as s:
            s.sendall(request + body)
            answer = whole_answer(s, request.partition(b" ")[0].decode())
        if way == "lost":
            return None
        if way == "no_etag":
            return re.sub(rb"(?i)\r\netag:[^\r]*", b"", answer, count=1)
        if way == "wrong_etag":
            return re.sub(rb"(?i)(\r\netag: *\"?)[^\r\"]*", rb"\g<1>0123456789abcdef0123456789abcdef", answer, count=1)
        return answer
