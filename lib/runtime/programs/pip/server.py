# SPDX-License-Identifier: MIT
"""Asks the server for packages, by named pipes (session/asking.h)."""
import json
import os

from .common import HERE, Refusal

PIPES = os.path.join(HERE, "data", ".cache", "ask")
REQUEST_MAX = 1 << 20  # of the server
TAKEN_S = 10  # until the server has the request


def ask(command, packages, **more):
    """Asks the server. Returns its answer, an object."""
    request = json.dumps({"language": "python", "command": command, "packages": packages, **more}).encode() + b"\n"
    if len(request) > REQUEST_MAX:
        raise Refusal("These are too many packages at once.")
    os.makedirs(PIPES, mode=0o700, exist_ok=True)
    name = os.path.join(PIPES, os.urandom(8).hex())
    paths = [name + ".request", name + ".answer"]
    try:
        for path in paths:
            os.mkfifo(path, 0o666)
        asks = os.open(paths[0], os.O_RDWR)
        told = os.open(paths[1], os.O_RDONLY | os.O_NONBLOCK)
        bell = os.open(os.path.join(os.path.dirname(HERE), "bell", "pipe"), os.O_WRONLY | os.O_NONBLOCK)
        os.write(bell, os.path.basename(name).encode() + b"\n")
        wait(told, TAKEN_S)
        os.set_blocking(told, True)
        first = read_line(told)
        while request and not first:
            request = request[os.write(asks, request):]
        return json.loads(first or read_line(told))
    except OSError as error:
        raise Refusal("The server is not reached: %s." % error) from None
    finally:
        for path in paths:
            try:
                os.unlink(path)
            except OSError:
                pass  # the server has removed it


def wait(descriptor, seconds):
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(seconds * 1000):
        raise Refusal("The server did not take the request within %d s; install_packages may still work." % seconds)


def read_line(told):
    """A line without its end. The first one is empty where the server has taken the request."""
    data = b""
    while not data.endswith(b"\n"):
        one = os.read(told, 1)
        if not one:
            raise Refusal("The server ended the request without an answer.")
        data += one
    return data[:-1]
