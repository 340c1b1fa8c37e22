# SPDX-License-Identifier: MIT
"""Saves the session's variables, for a later interpreter of the session (restoring.py).

They go to the server over a pipe, in frames: `values` with a piece of the file, then `saved`, or
from a copy `failed`. The file has pickles, then a list in JSON of what is in them, then TRAILER. Each name is
pickled alone first, which finds those that cannot be, and their sizes. Names that share an object
are then pickled together, so that they share it later, too.

Pickling runs code of the values' classes. It therefore happens in a copy of the interpreter
(copying.py). When the interpreter is about to end, it happens in the interpreter itself, for a
time that the request names.
"""

import _signal
import posix
import sys

from .beside import ATTRIBUTE, PARTS, beside_source, deleted_attributes, registered_functions
from .channel import VALUES_FD, channel, encode_frame
from .copying import Copy, copy_number, set_copy_number, start_copy, why_no_copy
from .cut import shortened
from .errors import error_text
from .kinds import FunctionType, ModuleType, is_a, loaded_class, type_name
from .limits import (
    MODULE_SECONDS, SAVE_BLOCK, SAVE_DEFINITIONS, SAVE_MEASURE_SECONDS, SAVE_NAME_SECONDS, SAVE_ROOM,
    SAVE_WHY_CHARS, SAVE_WRITE_SECONDS, SECRET_MIN,
)
from .loop import loop_has_work
from .module_files import has_values, is_edited, modules_of_session, modules_with, objects_of_modules, submodules_of
from .names import is_users, shape_of
from .own import own
from .remade import values_set_later, why_not_from_source
from .sharing import UNCHANGING, is_flat, objects_of
from .sources import sources
from .spawn import definition_segments, place_of_definition, reducers
from .state import NAMESPACE, State
from .statements import LINES, is_set_after

TRAILER = b"ptycell-values 1 %016x %016x %08x\n"  # bytes of pickles, of the list, CRC of both
TRAILER_BYTES = len(TRAILER % (0, 0, 0))
HOLDS_SECRET = "it holds a secret"
WEIGHT_UNKNOWN = 1000  # of an object of which only its class knows what is in it
NO_ROOM = "no room beside the others"
NO_TIME = "no time was left for it"


class Barred:
    """Values that ended the copy that saved them. They are not saved again."""

    names = []  # that the last copy saved, in its order
    values = {}  # name -> id of the value


def handle_save(request):
    """Starts to save; the answer says whether that could begin. With `here` it comes when that is over."""
    parts = request.parts
    names = [name for name in list(NAMESPACE) if type(name) is str and is_users(name)]
    bar_culprit()
    problem = "" if "here" in parts else why_no_copy()
    if not problem and not is_pipe():
        problem = "the code closed a descriptor of the interpreter"
    if not problem:
        Barred.names = names
        if "here" in parts:
            problem = save_values(request.ident, parts, names)
            State.resting = not problem
        else:
            try:
                problem = start_copy(lambda: save_in_copy(request.ident, parts, names))
            except OSError as error:  # the session has as many processes as it may
                problem = shortened(reason(error), SAVE_WHY_CHARS)
    channel.answer(request, [("status", "no" if problem else "ok"), ("text", problem)])


def weight_of(value):
    """Returns about how many objects a value has in it, without looking at each."""
    if is_a(value, UNCHANGING + (ModuleType,)):
        return 0
    array = loaded_class("numpy", "ndarray")
    if array is not None and type(value) is array and not value.dtype.hasobject:
        return 1
    sides = shape_of(value).split("x")
    return own("math").prod(map(int, sides)) if sides[0] else WEIGHT_UNKNOWN


def is_pipe():
    """Returns whether the descriptor is still the pipe to the server: a closed one is soon another file."""
    try:
        return State.values_pipe == posix.fstat(VALUES_FD)[:3]
    except OSError:
        return False


def bar_culprit():
    """Notes the value at which the last copy ended before it was done."""
    number = copy_number(1) if Copy.page is not None else 0
    if 0 < number <= len(Barred.names):
        name = Barred.names[number - 1]
        Barred.values[name] = id(NAMESPACE.get(name))
        set_copy_number(1, 0)


def save_in_copy(ident, parts, names):
    problem = save_values(ident, parts, names)
    if problem:
        Pipe(ident).send(b"failed", [("why", problem)])


def forms_of_secrets(texts):
    """Returns the bytes of each text, and those that it has in an array of letters, such as NumPy's."""
    texts = [text for text in texts if len(text.encode()) >= SECRET_MIN]
    byte_order_mark = len("".encode("utf-32"))
    return [text.encode() for text in texts] + [text.encode("utf-32")[byte_order_mark:] for text in texts]


def save_values(ident, parts, names):
    """Saves. Returns why that failed, or an empty string."""
    limit = int(parts["limit"]) - SAVE_ROOM
    secrets = forms_of_secrets(parts.get("secrets", "").split("\0"))
    pipe = Pipe(ident)
    seconds = int(parts["here"]) / 1000 if "here" in parts else None
    try:
        saver = Saver(pipe, limit, secrets, seconds)
        with Alarms(saver.stop if "here" in parts else None):
            saver.save(names, int(parts["cell"]))
        return ""
    except BaseException as error:
        return shortened(reason(error), SAVE_WHY_CHARS)


class Alarms:
    """Takes the alarm from session code for a while, and the interrupt for `stop`."""

    why = ""  # what the alarm that is set says
    held = 0  # calls in progress that an alarm must not end (as_one)
    late = False  # an alarm came during one

    def __init__(self, stop):
        self.stop = stop

    def __enter__(self):
        signal, time = own("signal"), own("time")

        known = self.stop is not None and _signal.getsignal(_signal.SIGINT) is not None
        self.interrupt = _signal.signal(_signal.SIGINT, self.stop) if known else None
        self.handler = _signal.signal(_signal.SIGALRM, on_alarm)
        self.left, self.interval = signal.setitimer(signal.ITIMER_REAL, 0)
        self.started = time.monotonic()

    def __exit__(self, *error):
        signal, time = own("signal"), own("time")

        if self.interrupt is not None:
            _signal.signal(_signal.SIGINT, self.interrupt)
        if self.handler is not None:  # else code in C had set it
            _signal.signal(_signal.SIGALRM, self.handler)
        if self.left:
            left = self.left - (time.monotonic() - self.started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-6), self.interval)


def as_one(work):
    """Makes an alarm wait for the end of the call: half a frame, or one that is not counted, would lose all values."""

    def done(*args):
        Alarms.held += 1
        try:
            return work(*args)
        finally:
            Alarms.held -= 1
            if Alarms.late and not Alarms.held:
                on_alarm(None, None)

    return done


class Pipe:
    """The pipe to the server as a file that is written."""

    def __init__(self, ident):
        self.ident = ident
        self.waiting = []
        self.held = 0
        self.size = 0
        self.crc = 0

    @as_one
    def write(self, data):
        data = bytes(data) if type(data) is not bytes else data
        self.size += len(data)
        self.waiting.append(data)
        self.held += len(data)
        if self.held >= SAVE_BLOCK:
            self.flush()
        return len(data)

    @as_one
    def flush(self):
        binascii = own("binascii")

        data, self.waiting, self.held = b"".join(self.waiting), [], 0
        self.crc = binascii.crc32(data, self.crc)
        for start in range(0, len(data), SAVE_BLOCK):
            self.send(b"values", [("data", data[start : start + SAVE_BLOCK])])

    @as_one
    def send(self, kind, parts):
        frame = memoryview(encode_frame(kind, self.ident, parts))
        while len(frame):
            frame = frame[posix.write(VALUES_FD, frame) :]


class Scale:
    """A file that measures what is written, and looks for secrets in it."""

    def __init__(self, limit, secrets, why="larger than the room for all"):
        self.limit, self.secrets, self.why = limit, secrets, why
        self.overlap = max(map(len, secrets), default=1) - 1
        self.size = 0
        self.tail = b""

    def write(self, data):
        self.add(data)
        if self.secrets:
            data = self.tail + bytes(data)
            self.look(data)
            self.tail = data[-self.overlap :] if self.overlap else b""
        return len(data)

    def add_buffer(self, buffer):
        """Measures a buffer that the pickle would have in it."""
        view = buffer.raw()
        self.add(view)
        if self.secrets:
            self.look(view.tobytes())

    def add(self, data):
        self.size += memoryview(data).nbytes
        if self.size > self.limit:
            raise LeftOut(self.why)

    def look(self, data):
        if any(secret in data for secret in self.secrets):
            raise LeftOut(HOLDS_SECRET)


class LeftOut(Exception):
    """Why a value is not saved."""


class TooLate(Exception):
    """The time for all values is over: nothing is saved."""


def on_alarm(signum, frame):
    Alarms.late = Alarms.held > 0
    if not Alarms.late:
        raise LeftOut(Alarms.why)


def reason(error):
    if isinstance(error, LeftOut):
        return str(error)
    text = " ".join(error_text(error).split())
    return text or type_name(type(error))


class Saver:
    def __init__(self, pipe, limit, secrets, seconds=None):
        self.pipe, self.limit, self.secrets = pipe, limit, secrets
        self.began = own("time").monotonic()
        self.end = None if seconds is None else self.began + seconds
        self.until = None if seconds is not None else self.began + SAVE_MEASURE_SECONDS  # the rest is left out then
        self.left = []  # [name, why]
        self.deleted = []  # attributes of classes
        self.registered = {}  # index of a definition -> name of the function that it is registered with
        self.sizes = {}
        self.objects = {}  # name -> ids of the objects in it that can change
        self.parts = set()  # ids of parts of what cannot change
        self.needed = {}  # name -> names of functions and classes that it is not loaded without
        self.started = own("time").process_time()

    def save(self, names, cell):
        LINES.clear()
        segments = [s for name in list(sources.text) for s in definition_segments(name) if s[3]]
        modules, chosen, values, imported = [], [], {}, modules_with(names)
        for number, name in sorted(enumerate(names, 1), key=lambda item: weight_of(NAMESPACE.get(item[1]))):
            set_copy_number(1, number)
            value = NAMESPACE.get(name)
            if is_a(value, ModuleType):
                self.take_module(name, value, modules)
            elif name in imported:
                pass  # a copy would be another object than the module's
            elif Barred.values.get(name) == id(value):
                self.left.append((name, "saving it did not end, or ended the process"))
            else:
                try:
                    self.take_value(name, value, segments, chosen, values)
                except TooLate:
                    raise
                except Exception as error:  # of the value's own code
                    self.left.append((name, shortened(reason(error), SAVE_WHY_CHARS)))
            set_copy_number(1, 0)
        self.until = self.until and self.began + SAVE_WRITE_SECONDS
        taken = self.within_time(lambda: self.take_definitions(segments, chosen))
        self.leave_out_undefined({segment[3] for segment in taken})
        groups = self.write_groups(values)
        self.until = None
        self.within_time(lambda: self.finish(cell, groups, (modules, imported), taken))

    def take_value(self, name, value, segments, chosen, values):
        place = place_of_definition(name, value, segments)
        why = place and why_not_from_source(name, value, place, segments)
        if why:
            self.left.append((name, why))
            return
        parts = [(name, value)] if place is None else list(beside_source(name, value, place))
        if place is not None:
            chosen.append(place)
            self.left.extend(values_set_later(name, value, place))
            self.left.extend(self.take_registered(name, value, segments))
            self.deleted.extend(deleted_attributes(name, value, place))
            if is_a(value, type) and is_set_after(name, place):
                self.left.append(("what a later statement made of class " + name, "it is as it was defined"))
        for part, item in parts:
            values[part] = item
            self.measure(part, item)

    def take_registered(self, name, value, segments):
        """Notes the definitions of functions that a generic function has. Yields (what, why) for those without one."""
        lost = 0
        for index in registered_functions(name, value, segments):
            lost += index is None
            self.registered.setdefault(index, name)
        if lost:
            yield "%d of the functions registered with %s" % (lost, name), "their definitions are not found"

    def stop(self, signum, frame):
        """Ends the save as if its time were over: the session is used again."""
        signal = own("signal")

        self.end = 0
        if signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.setitimer(signal.ITIMER_REAL, 1e-6)

    def take_module(self, name, value, modules):
        module = value.__dict__.get("__name__")
        if type(module) is str and sys.modules.get(module) is value:
            modules.append((name, module))
        else:
            self.left.append((name, "a module that is not imported"))

    def measure(self, name, value):
        scale = Scale(self.limit, self.secrets)
        pickler = new_pickler(scale, scale.add_buffer)
        if is_a(value, FunctionType) and ATTRIBUTE + value.__qualname__ == name:
            self.left.append((name, "it was wrapped after its definition"))  # its pickle would only name it
            return
        try:
            self.within_time(lambda: pickler.dump(value))
            flat = is_flat(value)
            objects, needed, parts = ({id(value)}, (), ()) if flat else self.within_time(lambda: objects_of(pickler), SAVE_MEASURE_SECONDS)
        except TooLate:
            raise
        except BaseException as error:
            self.left.append((name, shortened(reason(error), SAVE_WHY_CHARS)))
            return
        self.sizes[name] = scale.size
        self.objects[name], self.needed[name] = objects, needed
        self.parts.update(parts)

    def within_time(self, work, seconds=SAVE_NAME_SECONDS):
        """Returns what a function returns, which is interrupted if it takes too long."""
        signal, time = own("signal"), own("time")

        ends = self.end if self.end is not None else self.until
        left = seconds if ends is None else min(ends - time.monotonic(), seconds)
        if left <= 0 and self.end is None:
            raise LeftOut(NO_TIME)
        Alarms.why = NO_TIME if left < seconds else "saving it took longer than %d s" % seconds
        try:
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, left)
                return work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if self.end is not None and time.monotonic() >= self.end:
                raise TooLate("the interpreter ended before all were saved")

    def write_groups(self, values):
        """Writes the values; of those that are too large together the smallest."""
        total, groups = 0, []
        if self.end is None or sum(self.sizes.values()) > self.limit:  # else it is not worth its time
            self.leave_out_common(values)
        for group in sorted(self.group_names(), key=self.sum_of):
            start = self.pipe.size
            try:
                total += self.size_together(group, values, self.limit - total)
                self.within_time(lambda: new_pickler(self.pipe).dump({name: values[name] for name in group}))
            except TooLate:
                raise
            except Exception as error:
                self.left.extend((name, shortened(reason(error), SAVE_WHY_CHARS)) for name in group)
                continue
            groups.append((group, start, self.pipe.size - start))
        return groups

    def sum_of(self, group):
        return sum(self.sizes[name] for name in group)

    def size_together(self, group, values, room):
        """Returns the size of a group; what its names share counts once if there is no room for it twice."""
        size = self.sum_of(group)
        if size > room:
            if len(group) == 1:
                raise LeftOut(NO_ROOM)
            scale = Scale(room, [], NO_ROOM)
            self.within_time(lambda: new_pickler(scale, scale.add_buffer).dump({name: values[name] for name in group}))
            size = scale.size
        return size

    def group_names(self):
        """Returns lists of names; those that share an object are in one."""
        owner, parent, groups = {}, {}, {}  # parent leads from a name to the first one of its group

        def first_of(name):
            while parent[name] != name:
                parent[name] = name = parent[parent[name]]
            return name

        for name, ids in self.objects.items():
            parent[name] = name
            for other in {owner.setdefault(key, name) for key in ids}:
                parent[first_of(name)] = first_of(other)
        for name in self.objects:
            groups.setdefault(first_of(name), []).append(name)
        return list(groups.values())

    def leave_out_undefined(self, defined):
        """Leaves out what could not be loaded, as its functions and classes are not saved."""
        for name, needed in self.needed.items():
            for lost in sorted(needed - defined)[:1] if needed else ():
                del self.sizes[name], self.objects[name]
                why = "its definition is not found" if lost == name else "it needs %s, whose definition is not saved" % lost
                self.left.append((name, shortened(why, SAVE_WHY_CHARS)))

    def leave_out_common(self, values):
        """Takes objects of modules and parts of what cannot change from those that names share.

        What a name holds itself stays.
        """
        seen, shared = set(), set()
        for ids in self.objects.values():
            shared.update(seen & ids)
            seen |= ids
        shared.difference_update(map(id, values.values()))
        if shared:
            named = set(map(id, values.values()))
            left_out = objects_of_modules(seen - named) | (self.parts - named)
            for ids in self.objects.values():
                ids -= left_out

    def holds_secret(self, text):
        data = text.encode("utf-8", "surrogatepass")
        return any(secret in data for secret in self.secrets)

    def take_definitions(self, segments, chosen):
        taken = []
        for index, segment in enumerate(segments):
            if not any(segment is place for place in chosen):
                if index not in self.registered:
                    continue
                segment = (*segment[:3], self.registered[index])
            if self.holds_secret(segment[2]):
                self.left.append((segment[3], HOLDS_SECRET))
            else:
                taken.append(segment)
        return self.fitting(taken)

    def fitting(self, segments):
        """Returns the definitions for which the list has room; of too many the smallest."""
        json = own("json")

        room, left = SAVE_DEFINITIONS, set()
        for size, index in sorted((len(json.dumps(segment)), index) for index, segment in enumerate(segments)):
            room -= size
            if room < 0:
                self.left.append((segments[index][3], NO_ROOM))
                left.add(index)
        return [segment for index, segment in enumerate(segments) if index not in left]

    def finish(self, cell, groups, imports, segments):
        json = own("json")
        modules, imported = imports
        submodules = submodules_of([name for name, module in modules if name == module])

        size = self.pipe.size
        goes_on = self.end is None and loop_has_work()  # the tasks end with the interpreter
        if goes_on:
            self.left.append(("what background tasks changed later", "they went on after the variables were saved"))
        modules_made_here = modules_of_session()
        self.left.extend(("changes to module " + name, "it is imported anew") for name, module in modules_made_here if has_values(module))
        self.left.extend(("module %s as it was" % name, "its file has changed since the import")
                         for name, module in modules_made_here if is_edited(module))
        left = [(name, HOLDS_SECRET if self.holds_secret(why) else why) for name, why in self.left]
        path = [place for place in sys.path if type(place) is str and not self.holds_secret(place)]
        listed = json.dumps({
            "cell": cell, "groups": groups, "left": left, "modules": modules, "imported": imported, "submodules": submodules,
            "segments": segments,
            "flags": State.future_flags, "path": path, "deleted": self.deleted,
        }).encode("ascii")
        self.pipe.write(listed)
        self.pipe.flush()
        self.pipe.write(TRAILER % (size, len(listed), self.pipe.crc))
        self.pipe.flush()
        variables = [name for group, _, _ in groups for name in group if not name.startswith(PARTS)]
        saved = len(variables) + len(segments) + len(modules) + len(imported)
        seconds = own("time").process_time() - self.started + len(sys.modules) * MODULE_SECONDS
        self.pipe.send(b"saved", [("names", str(saved)), ("ms", str(int(seconds * 1000))), ("changing", str(int(goes_on)))])


def new_pickler(file, buffers=None):
    """Returns a pickler that takes modules, too, by their names."""
    pickle = own("pickle")

    pickler = pickle.Pickler(file, 5, buffer_callback=buffers)
    pickler.dispatch_table = reducers()
    memmap, marks = loaded_class("numpy", "memmap"), sys.modules.get("dataclasses")
    if memmap is not None:
        pickler.dispatch_table[memmap] = reduce_memmap
    for mark in ("MISSING", "_HAS_DEFAULT_FACTORY") if marks is not None else ():  # there is one of each
        pickler.dispatch_table[type(getattr(marks, mark, None))] = lambda value, mark=mark: mark
    return pickler


def reduce_memmap(array):
    """Refuses an array that is a file: what a copy of it is given would not be in the file."""
    if array._mmap is not None and array.mode in ("r+", "w+"):
        raise LeftOut("its values are those of a file: open it again")
    return array.__reduce_ex__(5)
