# SPDX-License-Identifier: MIT
"""Whether the indexes still say what they said when pip resolved the same request: then its result holds, without pip.

What pip finds depends on the request, on the pages that it read, and on the packages of this Python. The server sends what
`seen` made of the last two, for a request that it has a set for.
"""
import concurrent.futures
import hashlib
import json
import os
import sys

from .common import PROXY
from .index import ACCEPTED, PAGES, PROBLEMS, Problem, Upstreams, digest_of, notes, read_whole, seconds_fresh, twice

PAGES_MAX = 1000
PAGES_AT_ONCE = 16  # they are small, and mostly "not modified"


def python_now():
    """Returns a digest that changes with this Python's packages and with this program."""
    folders = [(folder, os.stat(folder).st_mtime_ns) for folder in sys.path if os.path.isdir(folder)]
    return hashlib.sha256(json.dumps([sys.version, getattr(sys, "orig_argv", []), folders]).encode()).hexdigest()


def seen(request):
    """Returns what pip's result depended on, or {} where more counts: the day, folders, a file without a hash, an index that failed."""
    pages = [json.loads(line) for line in notes(PAGES)]
    if (request["builds"] or request["folders"] or request["policy"].get("minimum_age") or notes(PROBLEMS) or None in pages
            or not 0 < len(pages) <= PAGES_MAX):
        return {}
    return {"seen": {"python": python_now(), "pages": pages}}


def still(request):
    """Returns the answer of `resolve` if nothing has changed, else None."""
    known = request.get("seen")
    if not known or known["python"] != python_now():
        return None
    indexes = Upstreams(request["indexes"], request["trusted"], PROXY if request["proxied"] else None)
    pool = concurrent.futures.ThreadPoolExecutor(min(PAGES_AT_ONCE, len(known["pages"])))
    jobs = [pool.submit(twice, lambda page=page: fresh_if_same(indexes, *page)) for page in known["pages"]]
    try:
        fresh = [job.result() for job in jobs]
    except Problem:
        return None  # pip's run says what is wrong
    finally:
        pool.shutdown(cancel_futures=True)  # no thread may hold a lock of libc when pip is forked
    return None if None in fresh else {"same": True, "fresh": min(fresh)}


def fresh_if_same(indexes, url, digest, tag):
    """Returns for how many seconds the page may be used again, or None if it has changed."""
    with indexes.open(url, ACCEPTED, {"If-None-Match": tag} if tag else {}) as answer:
        if answer.status == 304 and tag:
            return seconds_fresh(answer.headers)
        return seconds_fresh(answer.headers) if digest_of(answer, read_whole(answer)) == digest else None
