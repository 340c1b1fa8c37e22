# SPDX-License-Identifier: MIT
"""Adapts libraries to a session: what would open a window or a browser is shown in the cell."""

import sys

from .bulk_output import settling
from .display import clear_output, display, publish_display_data
from .errors import error_line
from .images import STARTS, output_name, pil_forms, save_output
from .mime import FORMS
from .own import own
from .sounds import sound_forms
from .stand_in import for_cells
from .state import State
from .streams import print_note


def hook_pil(module):
    def show(self, title=None, **_):
        """Shows the image in the output of the cell."""
        display(self)

    module.Image.show = show


def hook_subprocess(subprocess):
    subprocess.Popen._execute_child = settling(subprocess.Popen._execute_child)


def hook_threading(threading):
    threading.Thread.start = settling(threading.Thread.start)


def hook_multiprocessing(util):
    util.spawnv_passfds = settling(util.spawnv_passfds)


# How many elements a call with m by n matrices needs at least, for the results of each and for LAPACK; the right side has r columns.
LINALG_ROOM = {
    "inv": lambda m, n, r: (n * n, 2 * n * n),
    "solve": lambda m, n, r: (n * r, n * n + n * r),
    "solve1": lambda m, n, r: (n, n * n),
    "det": lambda m, n, r: (1, n * n),
    "slogdet": lambda m, n, r: (2, n * n),
    "cholesky_lo": lambda m, n, r: (n * n, n * n),
    "cholesky_up": lambda m, n, r: (n * n, n * n),
    "eig": lambda m, n, r: (2 * n * n, 4 * n * n),
    "eigvals": lambda m, n, r: (2 * n, n * n),
    "eigh_lo": lambda m, n, r: (n * n, 3 * n * n),
    "eigh_up": lambda m, n, r: (n * n, 3 * n * n),
    "eigvalsh_lo": lambda m, n, r: (n, n * n),
    "eigvalsh_up": lambda m, n, r: (n, n * n),
    "qr_r_raw": lambda m, n, r: (n, m * n + 32 * n),
    "qr_reduced": lambda m, n, r: (m * min(m, n), m * n + m * min(m, n)),
    "qr_complete": lambda m, n, r: (m * m, m * n + m * m),
    "lstsq": lambda m, n, r: (n * r, m * n + min(m, n) ** 2 + 2 * n + (max(m, n) + n + 128) * r),
    "svd": lambda m, n, r: (n, m * n),
    "svd_s": lambda m, n, r: ((m + n) * min(m, n), m * n + (m + n) * min(m, n) + 4 * min(m, n) ** 2),
    "svd_f": lambda m, n, r: (m * m + n * n, m * n + m * m + n * n + 4 * min(m, n) ** 2),
}
LINALG_BLOCKS = 256  # elements a row, or column where there are fewer, that LAPACK takes beside them, to work in blocks
LINALG_REST = 1 << 15  # elements for what else a call allocates, and for what lies between free blocks


def hook_linalg(module):
    """Makes NumPy raise MemoryError where LAPACK gets no memory.

    NumPy before 2.3.4 raises nothing then: inv() returns zeros.
    """
    for name, call in list(vars(module).items()):
        room = LINALG_ROOM.get(name.replace("_m", "").replace("_n", ""))
        if room is not None:
            setattr(module, name, with_room(call, room))


def with_room(call, room):
    numpy = sys.modules["numpy"]

    def checked(matrix, *args, **kwargs):
        m, n = matrix.shape[-2:]
        r = args[0].shape[-1] if args and args[0].ndim else 0
        stack = matrix.size // (m * n or 1)
        if args and args[0].ndim > 2:  # each of several right sides has a result
            stack = max(stack, args[0].size // (args[0].shape[-2] * r or 1))
        arrays = (matrix, *args[:1])
        kind = complex if any(array.dtype.kind == "c" for array in arrays) else float
        converted = sum(array.size for array in arrays if array.dtype != kind)
        results, work = room(m, n, r)
        needed = results * stack + converted + work + LINALG_BLOCKS * min(m, n) + LINALG_REST
        numpy.empty(needed, kind)
        return call(matrix, *args, **kwargs)

    return checked


def hook_ipython(module):
    module.display = display
    module.publish_display_data = publish_display_data
    module.clear_output = clear_output


def hook_getipython(module):
    module.get_ipython = for_cells(module.get_ipython)


def hook_sympy(module):
    """Keeps init_printing() from replacing sys.displayhook, which also shows figures and tables."""

    def take_printer(stringify, **settings):
        State.printer = lambda value: stringify(value, **settings)

    module._init_python_printing = take_printer


def hook_plotly(module):
    def show(self, *args, **kwargs):
        """Shows the figure in the output of the cell."""
        display(self)

    module.BaseFigure.show = show


def plotly_forms(figure):
    """Returns the forms of a plotly figure: its page is saved as a file, the model gets an outline.

    plotly draws a picture only with the package kaleido.
    """
    forms = {"text/plain": plotly_outline(figure)}
    if module_exists("kaleido"):
        try:
            forms["image/png"] = figure.to_image(format="png")
            return forms
        except Exception:
            pass
    try:
        page = figure.to_html(include_plotlyjs="cdn")
        forms["application/vnd.plotly.v1+json"] = figure.to_json()
    except Exception as error:
        print_note("[the figure cannot be shown: %s]" % error_line(error))
        return forms
    State.cell.images += 1
    name = save_output(page.encode(), "html")
    if name:
        forms["file"] = name
    else:
        print_note("[the figure could not be kept in output/]")
    return forms


def file_forms(image):
    """Notes the file in output/ that IPython's Image shows: no second file of it is needed.

    Returns None, as the object says itself what it can be shown as.
    """
    name = output_name(getattr(image, "filename", None))
    data = getattr(image, "data", None)
    if name is None or not isinstance(data, bytes) or not data.startswith(tuple(STARTS)):
        return
    try:
        with open(image.filename, "rb") as file:
            if file.read() == data:
                State.cell.saved_as = name
    except OSError:
        pass


FORMS.append(("PIL.Image", "Image", pil_forms))
FORMS.append(("IPython.core.display", "Image", file_forms))
FORMS.append(("IPython.display", "Image", file_forms))  # of the stand-in
FORMS.append(("plotly.basedatatypes", "BaseFigure", plotly_forms))
FORMS.append(("IPython.lib.display", "Audio", sound_forms))
FORMS.append(("IPython.display", "Audio", sound_forms))  # of the stand-in


def plotly_outline(figure):
    try:
        traces = [str(getattr(trace, "type", "trace")) for trace in figure.data]
        title = getattr(getattr(figure.layout, "title", None), "text", None)
    except Exception:
        return "<plotly figure>"
    return "<plotly figure, traces: %s%s>" % (
        ", ".join(traces[:20]) or "none",
        ", title: %r" % title if title else "",
    )


def module_exists(name):
    util = own("importlib.util")

    try:
        return name in sys.modules or util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
