# SPDX-License-Identifier: MIT
"""`%%capture`, and magics that show their body as HTML, Markdown or the like."""

import sys

from .display import publish_display_data, show_value
from .figures import show_figures
from .own import own
from .run import evaluate_body
from .state import NAMESPACE, State


class Captured:
    """The value that %%capture keeps."""

    def __init__(self, stdout, stderr, outputs):
        self.stdout = stdout
        self.stderr = stderr
        self.outputs = outputs

    def __str__(self):
        return self.stdout

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for output in self.outputs:
            output.display()

    __call__ = show


def magic_capture(line, body, lineno):
    contextlib = own("contextlib")
    io = own("io")

    words = line.split()
    kept = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    outer, shown = State.captured, []
    with contextlib.ExitStack() as stack:
        for name, stream in kept.items():
            if "--no-" + name not in words:
                stack.enter_context(getattr(contextlib, "redirect_" + name)(stream))
        if "--no-display" not in words:
            State.captured = shown
        try:
            value = evaluate_body(body, lineno)
            if value is not None:
                show_value(value)
            show_figures()
        finally:
            State.captured = outer
            target = [word for word in words if not word.startswith("-")]
            if target:
                NAMESPACE[target[0]] = Captured(kept["stdout"].getvalue(), kept["stderr"].getvalue(), shown)


def markup_magic(mime):
    def magic(line, body, lineno):
        publish_display_data({mime: body, "text/plain": body})

    return magic
