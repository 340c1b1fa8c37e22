# SPDX-License-Identifier: MIT
"""Runs pip in a process of its own, with an index of our own, and explains its complaints."""
import contextlib
import gc
import importlib
import os
import runpy
import sys
import traceback

from .common import AUTHORITIES, CHANNEL, PROXY, Refusal
from .explain import explain
from .index import FOLDER_S, Index, Upstreams, fresh, problems
from .progress import Progress
from .requests import indexes_of


class PipRefusal(Refusal):
    """What pip complains about."""


def enter_environment():
    """Leaves pip, and what it starts, those variables that are of use to them."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": os.getcwd(), "TMPDIR": os.path.abspath("tmp"),
                   "LC_ALL": "C.UTF-8", "PIP_CONFIG_FILE": os.devnull}
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        if os.path.exists(AUTHORITIES):
            environment[name] = os.path.abspath(AUTHORITIES)
        elif name in os.environ:
            environment[name] = os.environ[name]
    os.environ.clear()
    os.environ.update(environment)


def import_pip():
    """Imports what takes pip longest, once for all its runs; a pip that has it elsewhere does so itself."""
    gc.disable()  # it would look through all that is imported, again and again
    with contextlib.suppress(ImportError):
        importlib.import_module("pip._internal.cli.main")
        importlib.import_module("pip._internal.commands.install")
    gc.freeze()
    gc.enable()


def become_pip(arguments, output):
    """Makes a fork what `python -m pip` is; its exit status stays."""
    os.close(CHANNEL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["pip", *arguments]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


def run_pip(*arguments):
    """Runs pip in a process of its own: whether it worked, and what it said."""
    enter_environment()
    import_pip()
    output, inside = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become_pip(["--isolated", "--no-input", "--no-color", "--disable-pip-version-check",
                        "--cache-dir", os.path.abspath("cache"), *arguments], inside)
        except SystemExit as end:
            status = int(bool(end.code))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(inside)
    with open(output, "rb") as said:
        text = said.read().decode("utf-8", "replace")
    return os.waitpid(child, 0)[1] == 0, text


def pip(*arguments):
    """Its complaints become a Refusal."""
    ok, said = run_pip(*arguments)
    if not ok:
        raise PipRefusal(explain(said, "--no-index" in arguments))
    return said


def sources(request):
    """pip's options for where packages come from."""
    options = ["--index-url", request["own"]] if "own" in request else ["--no-index"]
    for folder in request["folders"]:
        options += ["--find-links", folder]
    return options


@contextlib.contextmanager
def own_index(request, choice, whole):
    """The request with the URL of the server that pip asks; its sentences go before pip's."""
    if not request["indexes"]:
        yield {**request, "fresh": lambda: FOLDER_S}
        return
    with Index(upstreams(request), choice, whole, Progress().received) as own:
        try:
            yield {**request, "own": own.url, "fresh": fresh}
        except PipRefusal as refusal:
            raise Refusal("Nothing was installed. %s" % "\n".join(problems()) if problems() else str(refusal)) from None


def upstreams(request):
    return Upstreams(request["indexes"], request["trusted"], PROXY if request["proxied"] else None, indexes_of(request), request.get("wheels"))
