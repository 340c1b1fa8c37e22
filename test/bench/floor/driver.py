# SPDX-License-Identifier: MIT
"""The smallest useful driver inside the interpreter: read a frame on fd 3, run it, answer.

Part of the measuring floor (floor.c): no safety, no features.
"""
import _ast
import os
import sys
from posix import read, write

CONTROL = 3


def receive(count):
    data = b""
    while len(data) < count:
        more = read(CONTROL, count - len(data))
        if not more:
            raise EOFError
        data = data + more if data else more
    return data


def send(kind, body):
    data = len(body).to_bytes(4, "little") + kind + body
    while data:
        data = data[write(CONTROL, data):]


def send_figures():
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return
    for number in plt.get_fignums():
        import io
        figure = plt.figure(number)
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=figure.dpi, bbox_inches="tight")
        plt.close(figure)
        send(b"I", png.getvalue())


def run(source, names):
    """Runs a cell; the repr of its last expression, or nothing."""
    tree = compile(source, "<cell>", "exec", 0x400)  # PyCF_ONLY_AST
    last = None
    if tree.body and type(tree.body[-1]) is _ast.Expr:
        last = _ast.Expression(tree.body.pop().value)
    if tree.body:
        exec(compile(tree, "<cell>", "exec"), names)
    if last is None:
        return ""
    value = eval(compile(last, "<cell>", "eval"), names)
    return "" if value is None else repr(value)


def main():
    import __main__
    out, err = sys.stdout, sys.stderr
    out.reconfigure(line_buffering=False)  # blocks of 8 KiB: five times faster than a write a line
    while True:
        source = receive(int.from_bytes(receive(4), "little")).decode()
        value = ""
        try:
            value = run(source, __main__.__dict__)
            send_figures()
        except SystemExit:
            return
        except BaseException:
            import traceback
            traceback.print_exc()
        out.flush()
        err.flush()
        send(b"R", value.encode("utf-8", "replace"))


os.environ.setdefault("MPLBACKEND", "agg")
try:
    main()
except EOFError:
    pass
