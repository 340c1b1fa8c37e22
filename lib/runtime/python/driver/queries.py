# SPDX-License-Identifier: MIT
"""Answers the server's question for the session's variables.

Asks nothing that could run session code: a property or a `__repr__` could do anything.
"""

from .channel import channel
from .kinds import ModuleType, is_a, is_pandas, root_of
from .limits import CONTAINER_LIMIT
from .names import ARRAY_MODULES, SIZED, is_users, kind_of, lines_within, shape_of
from .state import NAMESPACE
from .text import PLAIN_CONTAINERS, SCALARS, plain_text, within_budget


def handle_vars(request):
    """Answers with a line for each variable: name, type, shape, bytes, and repr if it is plain."""
    variables = [
        (name, value)
        for name, value in NAMESPACE.copy().items()
        if type(name) is str and is_users(name) and not is_a(value, ModuleType)
    ]
    lines = []
    for name, value in variables[: int(request.parts["limit"])]:
        fields = (name, kind_of(value), shape_of(value), size_text(value), safe_repr(value))
        lines.append("\t".join(map(escape_field, fields)))
    lines = lines_within(lines)
    answer = [("status", "ok"), ("vars", "\n".join(lines))]
    if len(variables) > len(lines):
        answer.append(("total", str(len(variables))))
    channel.answer(request, answer)


def escape_field(text):
    text = text.replace("\\", "\\\\").replace("\t", "\\t")
    return text.replace("\n", "\\n").replace("\r", "\\r")


def size_text(value):
    kind = type(value)
    try:
        if is_pandas(kind) and hasattr(value, "memory_usage"):
            usage = value.memory_usage(index=True)
            return str(int(usage.sum() if hasattr(usage, "sum") else usage))
        if root_of(kind) in ARRAY_MODULES:
            return str(int(value.nbytes))
        # The method of object: a class of the user may define __sizeof__.
        measured = kind if kind in SIZED or kind in SCALARS else object
        return str(int(measured.__sizeof__(value)))
    except Exception:
        return ""


def safe_repr(value):
    """Returns the repr of a plain value, at most 200 characters, else an empty string.

    No class of the user may be inside it: its __repr__ would run.
    """
    kind = type(value)
    if kind in SCALARS:
        return plain_text(value[:200] if kind in (str, bytes) else value)[:200]
    if kind not in PLAIN_CONTAINERS or len(value) >= CONTAINER_LIMIT:
        return ""
    items = list(value) + (list(value.values()) if kind is dict else [])
    is_plain = all(type(item) in SCALARS for item in items)
    return repr(value)[:200] if is_plain and within_budget(value, [CONTAINER_LIMIT]) else ""
