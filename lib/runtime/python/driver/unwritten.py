# SPDX-License-Identifier: MIT
"""Writes what files of session code hold in their buffers when a cell ends.

A file that is not closed, or is held by a traceback, has its last kilobytes in the process alone.
The user gets a copy of the file, which would lack them. At a terminal they are written when Python ends.
"""

import _io
import _stat
import fcntl
import gc
import posix
import weakref

from .streams import print_note

FREE_TAKEN = 8  # a file is seen at once unless so many lower descriptors were open with it and are closed

SEEK_CUR = 1  # posix does not name it

FILE_TYPES = (_io.TextIOWrapper, _io.BufferedWriter, _io.BufferedRandom)


class OpenFiles:
    """Finds the files that session code has open, by its descriptors and then its objects.

    All objects are looked through only when other regular files are open than at the last look.
    """

    def __init__(self):
        self.none_open = None  # what was open while no regular file was
        self.regular = set()
        self.files = []  # weak references

    def write(self):
        """Writes what is in the buffers of all of them, and reports what could not be written."""
        now_open = open_descriptors()
        if now_open and now_open == self.none_open:
            return
        regular = regular_files()
        self.none_open = None if regular else now_open
        if regular != self.regular or not all(map(writes_on, self.files)):
            self.regular = regular
            self.files = [weakref.ref(file) for file in written_files(regular)] if regular else []
        lost = [write_buffer(reference()) for reference in self.files]
        for note in filter(None, lost):
            print_note(note)


def open_descriptors():
    """Returns each descriptor below the lowest free ones, with its flags: those of a file differ from a socket's.

    Returns None if too few are free.
    """
    taken = []
    try:
        for _ in range(FREE_TAKEN):
            taken.append(posix.dup(0))
    except OSError:
        pass
    for fd in taken:
        posix.close(fd)
    if len(taken) < FREE_TAKEN:
        return None
    below = set(range(taken[-1])).difference(taken)
    return taken, [flags_of(fd) for fd in sorted(below)]


def flags_of(fd):
    try:
        return fcntl.fcntl(fd, fcntl.F_GETFL)
    except OSError:  # a thread closed it meanwhile
        return None


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


def written_files(regular):
    """Returns the file objects on these descriptors that may have something to write.

    The bytes below a text file are written with it, or stay with what it has read.
    """
    descriptors = {fd for fd, _, _ in regular}
    found = []
    for thing in gc.get_objects():
        if type(thing) in FILE_TYPES:
            try:
                if thing.fileno() in descriptors and thing.writable():
                    found.append(thing)
            except BaseException:  # closed, or has no descriptor; session code may be behind it
                pass
    below_text = {id(file.buffer) for file in found if type(file) is _io.TextIOWrapper}
    return [file for file in found if id(file) not in below_text]


def goes_on_elsewhere(file):
    """Returns whether this text file is read as well, and is not at its end: then what is in its buffers decides where a read goes on.

    At its end nothing is left to read, so that writing changes no later read. It is there, too, if what waits in the
    buffers comes behind the last byte.
    """
    if type(file) is not _io.TextIOWrapper or not file.readable():
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
