# SPDX-License-Identifier: MIT
"""What the modules of pip, uv and conda share: places, and how they speak."""
import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # the folder `ask` of the packages
MODULES = os.path.join(HERE, "modules")
PROGRAMS = os.path.join(HERE, "bin")
PACKAGES = os.path.join(os.path.dirname(HERE), "python")
PACKAGES_MAX = 200  # of the server, in one request, with options
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tar.xz", ".txz")
FOR = " --for="  # behind a request, with the name of the project that makes it
PROJECT = "--project=%s"  # drops the requests that a project made before
NAMED = r"[\w.-]+\s*(\[[^\]]*\])?\s*@\s*"  # before a URL


class Refusal(Exception):
    """A sentence for the reader, and the status of the program."""


def say(text, stream=None):
    print(text, file=stream or sys.stdout, flush=True)


def name_of(text):
    return re.sub(r"[-_.]+", "-", re.match(r"\s*([\w.-]*)", text)[1]).lower()


def files_folder():
    return os.path.realpath(os.path.join(HERE, "data", ".cache", "packages"))


def project_of(path):
    """The folder or file of a path that may have extras, or of a URL that may have a name before it."""
    from urllib.parse import unquote, urlsplit

    path = re.sub(r"^%s(?=file:)|\[[^\]/]*\]$" % NAMED, "", path)
    if path.startswith("file:"):
        path = unquote(urlsplit(re.split(r"\s+;", path)[0]).path)
    return os.path.realpath(os.path.expanduser(path))


def extras_of(path):
    found = re.match(NAMED + "file:", path) or re.search(r"(\[[^\]/]*\])?$", path)
    return re.findall(r"[^\[\],\s]+", found[1] or "")


def place_of(item):
    from urllib.parse import unquote, urlsplit

    return os.path.realpath(unquote(urlsplit(item["download_info"]["url"]).path))
