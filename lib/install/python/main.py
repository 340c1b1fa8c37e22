# SPDX-License-Identifier: MIT
"""Installs Python packages, in a sandbox of its own: one request on descriptor 3, one answer.

"where" reports which index pip uses when the user names none; it has no network. Then three steps
follow, each in a new sandbox. "resolve" has the network of the indexes: pip finds files, asking
index.py for everything, and the policy is applied to them. "fetch" downloads them to wheels/.
"unpack" has no network: the policy is applied to the files themselves, and pip unpacks them to
site/. No code of a package runs in any of them, unless builds are allowed, and then only in
"resolve" and "fetch": the verdict of "unpack" is of a process that no package's code was ever near.

scripts/pack-driver makes one program of these modules when ptycell is built.
"""
import json
import os
import shutil

from .common import CHANNEL, Refusal, packaging, write_authorities
from .fetch import fetch
from .index import Problem, find_files, split_pattern, twice
from .pip import pip, upstreams
from .resolve import resolve
from .wheels import unpack

REQUEST_MAX = 4 << 20


def where(_):
    """pip's own index, and where that has its files."""
    packaging()
    try:
        from pip._internal.models.index import PyPI as index
    except ImportError:
        raise Refusal("this pip does not tell its index; the user can name one: PTYCELL_PIP_INDEX.") from None
    return {"url": index.simple_url, "hosts": [index.file_storage_domain]}


def check(request):
    """Whether pip works and its indexes answer, for the user; an index need not have what is asked for."""
    packaging()
    write_authorities(request)
    tool = "pip %s" % pip("--version").split()[1]
    try:
        for word in request["indexes"]:
            twice(lambda word=word: find_files(upstreams({**request, "indexes": [split_pattern(word)[1]]}), "pip"))
    except Problem as problem:
        raise Refusal("pip does not get through: %s" % problem) from None
    return {"tool": tool}


def read_request():
    data = b""
    while not data.endswith(b"\n") and len(data) < REQUEST_MAX:
        chunk = os.read(CHANNEL, 65536)
        if not chunk:
            break
        data += chunk
    return json.loads(data)


def answer(request):
    for folder in ("tmp", "cache"):
        os.makedirs(folder, exist_ok=True)
    try:
        steps = {"where": where, "resolve": resolve, "fetch": fetch, "unpack": unpack, "check": check}
        return {"ok": True, **steps[request["step"]](request)}
    except Refusal as refusal:
        return {"ok": False, "text": str(refusal)}
    finally:
        shutil.rmtree("tmp", ignore_errors=True)


def main():
    os.set_inheritable(CHANNEL, False)
    line = json.dumps(answer(read_request())).encode() + b"\n"
    while line:
        line = line[os.write(CHANNEL, line):]


if __name__ == "__main__":
    main()
