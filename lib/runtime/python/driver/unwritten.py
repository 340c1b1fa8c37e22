# SPDX-License-Identifier: MIT
"""Writes what files of session code hold in their buffers when a cell ends.

A file that is not closed, or is held by a traceback, has its last kilobytes in the process alone.
The user gets a copy of the file, which would lack them. At a terminal they are written when Python ends.
"""

import _io
import _stat
import gc
import posix
import weakref

from .own import own
from .streams import print_note

POLLED = 32  # descriptors: what code opens gets the lowest that is free
FREE_MIN = 8  # of these; a file above them is seen at once unless so many were open with it and are closed

FILE_EVENTS = 0x5  # POLLIN and POLLOUT: a file never has to wait
POLLNVAL = 0x20  # the descriptor is free
SEEK_CUR = 1  # posix does not name it

FILE_TYPES = (_io.TextIOWrapper, _io.BufferedWriter, _io.BufferedRandom)


class OpenFiles:
    """Finds the files that session code has open, by its descriptors and then its objects.

    All objects are looked through only when other regular files are open than at the last look.
    """

    def __init__(self):
        self.poller = None  # of the lowest descriptors
        self.none_open = None  # what was open while no regular file was
        self.regular = set()
        self.files = []  # weak references

    def write(self):
        """Writes what is in the buffers of all of them, and reports what could not be written."""
        now_open = self.poll_lowest()
        if now_open and now_open == self.none_open:
            return
        regular = regular_files()
        self.none_open = now_open if shows_new_files(now_open) and not regular else None
        if regular != self.regular or not all(map(writes_on, self.files)):
            self.regular = regular
            self.files = [weakref.ref(file) for file in written_files(regular)] if regular else []
        lost = [write_buffer(reference()) for reference in self.files]
        for note in filter(None, lost):
            print_note(note)

    def poll_lowest(self):
        """Returns which of the lowest descriptors are free, and whether the others can be read and written at once."""
        try:
            if self.poller is None:
                self.poller = make_poller()
            return self.poller.poll(0)
        except (AttributeError, ImportError, MemoryError, OSError, RuntimeError):  # patched; the limit is lower; a thread is in it
            return []


def make_poller():
    poller = own("select").poll()
    for fd in range(POLLED):
        poller.register(fd)
    return poller


def shows_new_files(polled):
    """Returns whether a file that is opened later changes what poll() says: enough are free, and none of the others looks like a file."""
    events = [event for _, event in polled]
    return events.count(POLLNVAL) >= FREE_MIN and FILE_EVENTS not in events


def writes_on(reference):
    """Returns whether the file of this reference is there and not closed."""
    file = reference()
    try:
        return file is not None and not file.closed
    except Exception:  # detached from what it wrote to
        return False


def regular_files():
    """Returns descriptor, device and inode of each open regular file."""
    found = set()
    try:
        descriptors = posix.listdir("/proc/self/fd")
    except OSError:
        return found
    for fd in map(int, descriptors):
        try:
            status = posix.fstat(fd)
        except OSError:  # that of the list
            continue
        if _stat.S_ISREG(status.st_mode):
            found.add((fd, status.st_dev, status.st_ino))
    return found


def classes_below(base):
    """Returns the classes of session code that inherit from a type, also over others."""
    return [kind for direct in type.__subclasses__(base) for kind in [direct, *classes_below(direct)]]


def written_files(regular):
    """Returns the file objects on these descriptors that may have something to write.

    The bytes below a text file are written with it, or stay with what it has read.
    """
    descriptors = {fd for fd, _, _ in regular}
    found = []
    types = FILE_TYPES + tuple(kind for base in FILE_TYPES for kind in classes_below(base) if type.__getattribute__(kind, "flush") is base.flush)
    for thing in gc.get_objects():
        if type(thing) in types:
            try:
                if thing.fileno() in descriptors and thing.writable():
                    found.append(thing)
            except BaseException:  # closed, or has no descriptor; session code may be behind it
                pass
    below_text = {id(file.buffer) for file in found if isinstance(file, _io.TextIOWrapper)}
    return [file for file in found if id(file) not in below_text]


def goes_on_elsewhere(file):
    """Returns whether this text file is read as well, and is not at its end: then what is in its buffers decides where a read goes on.

    At its end nothing is left to read, so that writing changes no later read. It is there, too, if what waits in the
    buffers comes behind the last byte.
    """
    if not isinstance(file, _io.TextIOWrapper) or not file.readable():
        return False
    end = posix.fstat(file.fileno()).st_size
    return not file.buffer.tell() >= posix.lseek(file.fileno(), 0, SEEK_CUR) == end


def write_buffer(file):
    """Returns a note if the file did not take all. The rest stays in the buffer, for the next cell.

    Session code may be behind the file, and raise what it likes.
    """
    try:
        if not goes_on_elsewhere(file):
            file.flush()
    except OSError as error:
        return note_lost(file, error)
    except (AttributeError, ValueError):  # was freed, closed or detached meanwhile
        pass
    except BaseException as error:
        return note_lost(file, type(error).__name__)
    return None


def note_lost(file, why):
    try:
        return "[what was written to %r is not all in the file: %s]" % (getattr(file, "name", "?"), why)
    except BaseException:  # of session code behind the name
        return "[what was written to an open file is not all in the file]"


open_files = OpenFiles()
