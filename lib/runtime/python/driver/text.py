# SPDX-License-Identifier: MIT
"""Shows values as text, bounded in time and in length.

repr() of a huge int is quadratic and that of a large container is slow, so both are cut before
they are formatted.
"""

from .cut import bounded
from .kinds import root_of
from .limits import CONTAINER_LIMIT, ITEMS_LIMIT, LONG_STRING, TEXT_LIMIT
from .own import own
from .state import State
from .tables import is_styler, styled_text

SCALARS = (int, float, bool, complex, str, bytes, type(None))
PLAIN_CONTAINERS = (list, tuple, dict, set, frozenset)


def plain_text(value):
    """Returns repr(value), bounded in time and length."""
    kind = type(value)
    if kind is int:
        return int_text(value)
    if kind is str or kind is bytes or kind is bytearray:
        return string_text(value)
    if kind in PLAIN_CONTAINERS:
        return container_text(value)
    return bounded(object_text(value))


def object_text(value):
    """Returns repr(value), or a better text for SymPy and pandas, of any length."""
    if State.printer is not None and is_sympy(value):
        return State.printer(value)
    text = styled_text(value) if is_styler(type(value)) else repr(value)
    return text if type(text) is str else str.__str__(text)


def int_text(value):
    # repr of a huge int takes quadratic time, and raises above 4,300 digits since 3.11.
    if value.bit_length() > 14000:
        return "<int with about %d digits>" % (value.bit_length() * 0.30103 + 1)
    return repr(value)


def string_text(value):
    if len(value) <= TEXT_LIMIT:
        return bounded(repr(value))
    text = repr(value[:TEXT_LIMIT])[:TEXT_LIMIT]
    return "%s\n... (%s, length %d, not all shown: print shows all)" % (text, type(value).__name__, len(value))


def container_text(value):
    if len(value) < 50:
        if within_budget(value, [CONTAINER_LIMIT]):
            text = repr(value)
            if len(text) <= 100 and "\n" not in text:
                return text
    head, left_out = container_head(value, [ITEMS_LIMIT], ())
    pprint = own("pprint")

    text = bounded(pprint.pformat(head, width=100, compact=True, sort_dicts=False))
    if left_out:
        text += "\n... (%s, length %d, not all shown)" % (type(value).__name__, len(value))
    return text


def within_budget(value, budget):
    """Returns whether the plain containers below value have no more items than `budget`."""
    budget[0] -= 1 + len(value)
    if budget[0] < 0:
        return False
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind in PLAIN_CONTAINERS and not within_budget(item, budget):
            return False
        if kind is int and item.bit_length() > 14000:
            return False
        if (kind is str or kind is bytes) and len(item) > LONG_STRING:
            return False
    return True


class Raw:
    """Text that pprint prints as it is."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def container_head(value, budget, above):
    """Returns a copy with the first items only, and whether it is incomplete.

    Huge ints become words. `above` holds the ids of the containers around it.
    """
    kind = type(value)
    if kind is int and value.bit_length() > 14000:
        return Raw(int_text(value)), False
    if (kind is str or kind is bytes) and len(value) > LONG_STRING:
        return Raw(string_text(value)), False
    if kind not in PLAIN_CONTAINERS:
        return value, False
    if id(value) in above:
        return Raw("{...}" if kind in (dict, set) else "[...]"), False
    if len(above) > 20:
        return Raw("..."), True
    above += (id(value),)
    items, left_out = [], False
    pairs = value.items() if kind is dict else ((None, item) for item in value)
    for key, item in pairs:
        if budget[0] <= 0 or len(items) == CONTAINER_LIMIT:
            left_out = True
            break
        budget[0] -= 1
        item, cut = container_head(item, budget, above)
        left_out = left_out or cut
        items.append((key, item))
    if kind is dict:
        return dict(items), left_out
    # A copy of a part of a set may have another order; the order of a set means nothing.
    items = [item for _, item in items]
    return (items if kind is list else kind(items)), left_out


def is_sympy(value):
    if type(value) in (list, tuple, set):
        return any(root_of(type(item)) == "sympy" for item in value)
    return root_of(type(value)) == "sympy"
