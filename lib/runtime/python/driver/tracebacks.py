# SPDX-License-Identifier: MIT
"""Formats the traceback of an error as the user expects it.

Frames of the driver and of what runs a cell are removed. The middle of a very deep stack is left
out before formatting, because a million frames take ten seconds.
"""

import _io
import _thread
import builtins
import sys

from .cut import shortened
from .kinds import DRIVER_FILE
from .limits import FRAMES_KEPT, SUGGESTED, TEXT_LIMIT
from .own import own, with_own_modules
from .sources import sources

excepthook = sys.__excepthook__


def traceback_frames(tb):
    frames = []
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    return frames


def link_frames(frames):
    for tb, following in zip(frames, frames[1:] + [None]):
        if tb.tb_next is not following:
            tb.tb_next = following
    return frames[0] if frames else None


def strip_driver_frames(error):
    """Removes the frames of the driver, of what runs a cell and of the signal handler."""
    frames = traceback_frames(error.__traceback__)
    if frames and frames[0].tb_frame.f_code.co_filename in (DRIVER_FILE, "<string>"):
        # Frames of the event loop may stand between the driver's and the cell's.
        cells = (i for i, tb in enumerate(frames) if is_cell(tb.tb_frame.f_code.co_filename))
        frames = frames[next(cells, 0) :]
    frames = [tb for tb in frames if tb.tb_frame.f_code.co_filename != DRIVER_FILE]
    error.__traceback__ = link_frames(frames)


def is_cell(name):
    return name in sources.text


def chained(error):
    """Returns the error, its causes and contexts, and the members of groups; 100 at most."""
    seen, queue = [], [error]
    while queue and len(seen) < 100:
        item = queue.pop()
        if item is None or any(item is other for other in seen):
            continue
        seen.append(item)
        queue += [item.__cause__, item.__context__]
        queue += getattr(item, "exceptions", ()) if is_group(item) else ()
    return seen


def is_group(error):
    group = getattr(builtins, "BaseExceptionGroup", None)
    return group is not None and isinstance(error, group)


SKIPPED = "ptycell-frames-left-out"


def format_error(error):
    """Returns the text of a traceback, with the middle of very deep stacks left out.

    The chain of frames is shortened before formatting and restored after it.
    """
    traceback = own("traceback")

    cuts = {}
    for item in chained(error):
        frames = traceback_frames(item.__traceback__)
        if len(frames) > 2 * FRAMES_KEPT:
            head = frames[FRAMES_KEPT - 1]
            cuts[id(item)] = head, head.tb_next, len(frames) - 2 * FRAMES_KEPT
            head.tb_next = frames[-FRAMES_KEPT]
    try:
        summary = with_own_modules(lambda: traceback.TracebackException(type(error), error, error.__traceback__))
        mark_cuts(traceback.FrameSummary, summary, error, cuts)
        if sys.version_info < (3, 12):
            for entry, cause in own("itertools").islice(paired(summary, error), SUGGESTED):
                entry._str += suggestion(cause)
        text = with_own_modules(lambda: "".join(summary.format()))
    finally:
        for head, following, _ in cuts.values():
            head.tb_next = following
    return shortened(name_cuts(text), TEXT_LIMIT)


class ThreadCapture(_io.StringIO):
    """Captures what one thread writes to a stream; other threads write to the stream itself."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.thread = _thread.get_ident()

    def write(self, text):
        return super().write(text) if _thread.get_ident() == self.thread else self.stream.write(text)


def suggestion(error):
    """Returns `. Did you mean: 'name'?` or an empty string.

    Before 3.12 Python adds this only where it prints an error itself.
    """
    if not isinstance(error, (NameError, AttributeError)):
        return ""
    sys.stderr = capture = ThreadCapture(getattr(sys, "stderr", None))
    try:
        excepthook(type(error), error, error.__traceback__)
    finally:
        if sys.stderr is capture:
            sys.stderr = capture.stream
    found = own("re").search(r"\. Did you mean: '[^'\n]*'\?$", capture.getvalue().rstrip())
    return found[0] if found else ""


def mark_cuts(new_frame, summary, error, cuts):
    """Puts a stand-in frame where frames are missing; name_cuts() makes a sentence of it."""
    for entry, cause in paired(summary, error):
        if id(cause) in cuts:
            count = cuts[id(cause)][2]
            stand_in = new_frame(SKIPPED, count, "-", lookup_line=False, line="")
            entry.stack.insert(FRAMES_KEPT, stand_in)


def paired(summary, error):
    """Yields the summaries of an error, its causes, contexts and members, each with its error."""
    pairs, seen = [(summary, error)], set()
    while pairs:
        summary, error = pairs.pop()
        if summary is None or error is None or id(summary) in seen:
            continue
        seen.add(id(summary))
        yield summary, error
        pairs.append((summary.__cause__, error.__cause__))
        pairs.append((summary.__context__, error.__context__))
        members = getattr(summary, "exceptions", None)
        if members:
            pairs += zip(members, error.exceptions)


def name_cuts(text):
    if SKIPPED not in text:
        return text
    lines = []
    for line in text.split("\n"):
        if line.lstrip(" |+-").startswith('File "%s"' % SKIPPED):
            line = "  ... %s frames left out ..." % line.split(" line ")[1].partition(",")[0]
        lines.append(line)
    return "\n".join(lines)
