# SPDX-License-Identifier: MIT
"""Storages that results are uploaded to, really running: Azurite, and an S3 server that checks signatures."""
import base64
import email.utils
import hmac
import json
import os
import pathlib
import platform
import re
import ssl
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
from client import WAIT_S
from fetching import Fetch, Site, head

TESTS = pathlib.Path(__file__).resolve().parents[1]
MODULES = TESTS / "storage/node_modules"
AZURITE_KEY = ("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/"
               "KBHBeksoGMGw==")
FULL = os.environ.get("PTYCELL_FULL") == "1"


def node():
    """The Node that both servers need."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "none")
    path = TESTS / f"nodes/node_modules/node24-{machine}/bin/node"
    if not path.exists() or not MODULES.exists():
        pytest.skip("no Node 24 or no storage servers; scripts/install-deps test brings them")
    return str(path)


class Program:
    """A server that says its port on standard output. Use as a context manager."""

    def __init__(self, command, said, **popen):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, **popen)
        self.port = None
        seen = []
        for line in self.process.stdout:
            seen.append(line)
            found = re.search(said, line)
            if found:
                self.port = int(found[1])
                return
        raise AssertionError("".join(seen))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Azurite(Program):
    """`certificate`: (certificate, key) for TLS."""

    def __init__(self, folder, certificate=None):
        scheme = "https" if certificate else "http"
        tls = ["--cert", str(certificate[0]), "--key", str(certificate[1])] if certificate else []
        super().__init__(
            [node(), str(MODULES / "azurite/dist/src/blob/main.js"), "--blobHost", "127.0.0.1",
             "--blobPort", "0", "--disableTelemetry", "--silent", "--location", str(folder), *tls],
            r"listens on https?://127\.0\.0\.1:(\d+)", cwd=folder)
        self.endpoint = f"{scheme}://127.0.0.1:{self.port}/devstoreaccount1"

    def connection(self, key=AZURITE_KEY):
        return (f"DefaultEndpointsProtocol={self.endpoint.partition(':')[0]};AccountName=devstoreaccount1;"
                f"AccountKey={key};BlobEndpoint={self.endpoint};")

    def listed(self, container="box"):
        """The names of all objects in a container; none where there is no container."""
        date, account = email.utils.formatdate(usegmt=True), f"/devstoreaccount1/{container}"
        signed = ["GET", *[""] * 11, f"x-ms-date:{date}", "x-ms-version:2021-12-02", f"/devstoreaccount1{account}", "comp:list",
                  "restype:container"]
        mac = hmac.digest(base64.b64decode(AZURITE_KEY), "\n".join(signed).encode(), "sha256")
        status, content = by_curl(
            f"{self.endpoint}/{container}?restype=container&comp=list", "-H", f"x-ms-date: {date}", "-H", "x-ms-version: 2021-12-02",
            "-H", f"Authorization: SharedKey devstoreaccount1:{base64.b64encode(mac).decode()}")
        assert status in (200, 404), content
        return set(re.findall(r"<Name>([^<]*)</Name>", content.decode()))

    def order(self, container="box", key=AZURITE_KEY):
        return {"azure": {"connection": self.connection(key), "container": container}}

    def environment(self, container="box"):
        return {"AZURE_BLOB_CONNECTION_STRING": self.connection(),
                "AZURE_BLOB_CONTAINER_NAME": container}


class S3(Program):
    def __init__(self, folder):
        self.folder = folder
        super().__init__([node(), str(TESTS / "storage/s3.cjs"), str(folder), "box"],
                         r"port (\d+)", cwd=folder)
        self.endpoint = f"http://127.0.0.1:{self.port}"

    def listed(self, bucket="box"):
        status, content = by_curl(f"{self.endpoint}/{bucket}?list-type=2", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", "S3RVER:S3RVER",
                                   "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD")
        assert status == 200, content
        return set(re.findall(r"<Key>([^<]*)</Key>", content.decode()))

    def parts_left(self, name):
        """Whether parts of this object were neither put together nor thrown away."""
        return any(path.read_text() == name for path in self.folder.rglob("*_uploads/*/key"))

    def order(self, bucket="box", secret="S3RVER"):
        return {"s3": {"bucket": bucket, "endpoint": self.endpoint, "key_id": "S3RVER", "secret": secret}}

    def environment(self, bucket="box"):
        return {"PTYCELL_S3_BUCKET": bucket, "PTYCELL_S3_ENDPOINT": self.endpoint,
                "PTYCELL_S3_ACCESS_KEY_ID": "S3RVER", "PTYCELL_S3_SECRET_ACCESS_KEY": "S3RVER"}


class Folder:
    """A folder as a descriptor."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def fileno(self):
        return self.fd

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


class Stored:
    """What came of an order to upload `names` (paths below a folder): its lines, by path."""

    def __init__(self, folder, target, names, link_seconds=600, size_max=1 << 40, **order):
        files = [{"path": urllib.request.quote(os.fsencode(name)), "name": f"s1/{os.fsdecode(name)}",
                  "size_max": size_max} for name in names]
        order = {"do": "store", "link_seconds": link_seconds, "files": files, **target, **order}
        with Folder(folder) as held:
            self.said, self.last = Fetch(order, held).end()
        self.files = {names[line["file"]]: line for line in self.said if "file" in line}
        self.text = json.dumps(self.said) + json.dumps(self.last)

    def url(self, name):
        return self.files[name]["url"]


def get(url, ca=None):
    """(status, headers, bytes) of a download, as a browser would do it."""
    handlers = [urllib.request.ProxyHandler({})]
    if ca is not None:
        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca)))
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=WAIT_S) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def by_curl(url, *options):
    """(status, bytes) of a download by the program curl."""
    done = subprocess.run(["curl", "--silent", "--show-error", "--noproxy", "*", "--write-out", "\n%{http_code}", *options, url], check=True,
                          capture_output=True, timeout=WAIT_S)
    content, _, status = done.stdout.rpartition(b"\n")
    return int(status), content


class Trouble:
    """A storage of ours that answers each request with the next of `answers`, when `open` is set."""

    def __init__(self, *answers, container=None):
        self.answers = list(answers)
        self.lock = threading.Lock()
        self.container = container  # the answer to who makes it, if it has one of its own
        self.open = threading.Event()
        self.open.set()
        self.site = Site({"*": self.answer})

    def answer(self, s, path):
        assert self.open.wait(WAIT_S), path
        with self.lock:
            answer = self.next_answer(path)
        if answer is None:
            s.close()
        else:
            s.sendall(answer)

    def next_answer(self, path):
        if self.container and "restype=container" in path:
            self.answers = self.answers[-1:]
            return self.container
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def connection(self):
        return f"AccountName=acct;AccountKey=c2VjcmV0;BlobEndpoint={self.site.url('')}"

    def order(self):
        return {"azure": {"connection": self.connection(), "container": "box"}}

    def environment(self):
        return {"AZURE_BLOB_CONNECTION_STRING": self.connection(), "AZURE_BLOB_CONTAINER_NAME": "box"}


CREATED = head(201, "Content-Length: 0")


def azure_error(status, code, *fields):
    return head(status, f"x-ms-error-code: {code}", "Content-Length: 0", *fields)
