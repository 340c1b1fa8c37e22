# SPDX-License-Identifier: MIT
"""Downloads the files that "resolve" found, several at once."""
import concurrent.futures
import json
import os
import shutil
import urllib.parse
import urllib.request

from .common import Refusal, write_authorities
from .index import Choice, Problem, fetch_file, kept_path
from .pip import own_index, pip, sources, upstreams
from .policy import seconds_of
from .progress import Progress
from .resolve import LOCKED
from .wheels import look_into, wheels

AT_ONCE = 8  # downloads; an index serves one client no faster with more
SOURCES = "sources"


def fetch(request):
    write_authorities(request)
    with open(LOCKED, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    shutil.rmtree("wheels", ignore_errors=True)
    for folder in ("wheels", SOURCES):
        os.makedirs(folder, exist_ok=True)
    download(rows, upstreams(request))
    for row in rows:
        check_told(row)
    sdists = [os.path.join(SOURCES, row["file"]) for row in rows if not is_wheel(row)]
    if sdists:
        with own_index(request, Choice(minimum_age_s=seconds_of(request["policy"].get("minimum_age"))), whole=True) as request:
            pip("wheel", "--quiet", "--no-deps", "--progress-bar", "off", *sources(request), "--wheel-dir", "wheels", *sdists)
    return {"files": wheels()}


def is_wheel(row):
    return row["file"].endswith(".whl")


def check_told(row):
    """Refuses a wheel that needs other packages than the index says beside it: those were not looked for."""
    if not row.get("metadata") or not is_wheel(row):
        return
    needs, told = ({" ".join(str(text).split()) for text in one["requires"]} for one in (look_into({**row, "sha256": ""}), row))
    if needs != told:
        raise Refusal("Nothing was installed. The file %s needs other packages than its index says (%s)."
                      % (row["file"], ", ".join(sorted(needs ^ told)[:3])))


def download(rows, indexes):
    """Each file to its folder. The first problem is told, and ends the others."""
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
    largest_first = sorted(rows, key=lambda row: -(row.get("size") or 0))
    progress = Progress()
    jobs = [pool.submit(take, row, indexes, progress) for row in largest_first]
    try:
        for job in concurrent.futures.as_completed(jobs):
            job.result()
    except Problem as problem:
        pool.shutdown(wait=False, cancel_futures=True)
        raise Refusal("Nothing was installed. %s" % problem) from None
    pool.shutdown()


def take(row, indexes, progress):
    path = os.path.join("wheels" if is_wheel(row) else SOURCES, row["file"])
    if row["url"].startswith("file:"):
        shutil.copyfile(urllib.request.url2pathname(urllib.parse.urlsplit(row["url"]).path), path)
    elif os.path.exists(kept_path(row)):
        os.replace(kept_path(row), path)
    else:
        fetch_file(indexes, row, path, progress.received)
