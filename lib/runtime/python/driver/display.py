# SPDX-License-Identifier: MIT
"""Shows values and displays in the output of the running cell.

Only the main thread may send frames. Displays of other threads wait for the next cell.
"""

from .artists import shown_by_figure
from .bulk_output import settle
from .channel import channel
from .errors import error_line
from .first_rows import table_parts
from .history import remember_value
from .images import FORMATS
from .interrupt import check_interrupt, in_child
from .kinds import is_a, type_name
from .mime import answers_to_anything, bundle_parts, parts_of, text_of_markup
from .state import State
from .streams import clear_shown, flush_streams, may_send, print_note
from .text import PLAIN_CONTAINERS, SCALARS


def show_value(value):
    """Shows the value of the cell's last expression. This is sys.displayhook."""
    if value is None:
        return
    cell = State.cell
    remember_value(cell, value)
    if State.captured is not None or cell.shows_each:
        display(value)
        return
    if shows_itself(value) and show_itself(value):
        return
    if shown_by_figure(value):
        return
    parts = bundle_parts(value)
    if in_child() or not may_send():
        print(dict(parts)["text/plain"])
        return
    if State.clears:
        clear_shown()
    if cell.images:
        flush_streams()  # an image has a place in the output
        channel.send(b"result", cell.ident, parts)
    else:
        channel.hold(b"result", cell.ident, parts + table_parts(value))
    check_interrupt()


def shows_itself(value):
    """Returns whether value has the method `_ipython_display_`, which shows it by itself."""
    kind = type(value)
    if kind in SCALARS or kind in PLAIN_CONTAINERS or is_a(value, type) or answers_to_anything(value):
        return False
    return callable(getattr(value, "_ipython_display_", None))


def show_itself(value):
    """Calls `_ipython_display_`. Returns whether that worked."""
    try:
        value._ipython_display_()
        return True
    except NotImplementedError:
        return False
    except Exception as error:
        print_note("[_ipython_display_ of %s failed: %s]" % (type_name(type(value)), error_line(error)))
        return False


def publish(parts):
    """Shows parts at this place of the output. Returns when the server has noted the place."""
    if in_child():
        text = dict(parts).get("text/plain")
        if text is not None:
            print(text)
        return
    if not may_send():
        State.later.append(parts)
        return
    if State.captured is not None:
        State.captured.append(Shown(parts))
        return
    if State.clears:
        clear_shown()
    publish_now(parts)
    check_interrupt()


def publish_now(parts):
    flush_streams()
    channel.send(b"display", State.cell.ident, parts)
    channel.await_ack()


def publish_later_ones():
    while State.later:
        publish_now(State.later.pop(0))


def display(*objects, raw=False, display_id=None, **_):
    """Shows objects in the output, as IPython's display() does."""
    for item in objects:
        if raw:
            publish_display_data(item)
        elif not (shows_itself(item) and show_itself(item)):
            publish(bundle_parts(item))
    return DisplayHandle(display_id) if display_id else None


class DisplayHandle:
    """The result of display(..., display_id=...); an update is shown as a new output."""

    def __init__(self, display_id):
        self.display_id = display_id

    def display(self, item, **options):
        display(item, **options)

    update = display


def publish_display_data(data, metadata=None, **_):
    bundle = {str(mime).lower(): item for mime, item in dict(data).items() if item is not None}
    if not bundle.keys() & {"text/plain", *FORMATS}:
        shown = text_of_markup(bundle)
        if shown is None and bundle:
            shown = "[only shown as %s]" % ", ".join(bundle)
        if shown is not None:
            bundle["text/plain"] = shown
    parts = parts_of(bundle)
    if parts:
        publish(parts)


def clear_output(wait=False):
    """Removes what the cell has shown, as in a notebook; with `wait` at its next output."""
    settle()
    State.clears = True
    if not wait and may_send():
        clear_shown()


class Shown:
    """One display that was captured."""

    def __init__(self, parts):
        self.parts = parts
        self.data = {mime: data for mime, data in parts if "/" in mime}

    def display(self):
        publish(self.parts)

    def __repr__(self):
        return str(self.data.get("text/plain", "<%s>" % ", ".join(self.data)))
