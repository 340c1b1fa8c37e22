# SPDX-License-Identifier: MIT
"""Shows matplotlib figures at plt.show() and at the end of a cell.

A figure is drawn once and its empty border cut off: savefig(bbox_inches="tight") looks the same
and draws twice.
"""

import _io
import sys

from .channel import channel
from .display import publish
from .errors import log, print_traceback
from .images import output_name
from .interrupt import in_child
from .kinds import type_name
from .limits import IMAGES_PER_CELL
from .mime import FORMS, parts_of
from .own import own
from .state import State
from .streams import clear_shown, print_note


def figure_forms(figure):
    """Returns the forms of a figure; none if the cell has shown it unchanged."""
    if any(shown is figure for shown in State.cell.figures) and not figure.stale:
        return {}
    State.cell.figures.append(figure)
    saved_as = None if figure.stale else saved_name(figure)
    forms = {"image/png": render_figure(figure)}
    State.cell.saved_as = saved_as
    return forms


def render_figure(figure):
    """Returns the figure as PNG, with its empty border cut off."""
    warnings = own("warnings")

    with warnings.catch_warnings(record=True) as caught:
        data = draw_figure(figure)
    show_warnings(caught)
    return data


def show_warnings(caught):
    """Prints each warning once, and one note for all letters that the font lacks.

    The places of the warnings are in the driver, so they are left out.
    """
    re = own("re")

    texts, letters = [], []
    for warning in caught:
        text = str(warning.message)
        found = re.match(r"Glyph (\d+) .*missing from", text)
        if found is None:
            texts.append("%s: %s" % (type_name(warning.category), text))
        elif int(found[1]) > 32:
            letters.append(chr(int(found[1])))
    if letters:
        texts.append(
            "UserWarning: the figure's font lacks %s, which are drawn as boxes. plt.rcParams['font.family'] takes a list "
            "of the fonts that matplotlib.font_manager knows; the user can install more (Debian: fonts-noto-cjk, "
            "fonts-noto-core)." % "".join(dict.fromkeys(letters))
        )
    for text in dict.fromkeys(texts):
        print_note(text)


def draw_figure(figure):
    import numpy
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    original = canvas = figure.canvas
    if not isinstance(canvas, FigureCanvasAgg):
        canvas = FigureCanvasAgg(figure)
    try:
        canvas.draw()
        pixels = numpy.asarray(canvas.buffer_rgba())
        box = content_box(numpy, pixels, round(figure.dpi * 0.1))
        if box is None or legend_outside(figure, canvas):  # something hangs over the edge
            return tight_png(figure)
        top, bottom, left, right = box
        return encode_pixels(numpy, pixels[top:bottom, left:right])
    finally:
        if original is not canvas:
            figure.set_canvas(original)


def content_box(numpy, pixels, pad):
    """Returns the rows and columns that are not background, or None if content touches the edge."""
    flat = numpy.ascontiguousarray(pixels).view(numpy.uint32)[:, :, 0]
    drawn = numpy.not_equal(flat, flat[0, 0])  # unlike !=, raises if memory does not suffice
    rows, columns = numpy.flatnonzero(drawn.any(1)), numpy.flatnonzero(drawn.any(0))
    height, width = flat.shape
    if not len(rows):
        return 0, height, 0, width
    if rows[0] == 0 or columns[0] == 0 or rows[-1] == height - 1 or columns[-1] == width - 1:
        return None
    return (
        max(rows[0] - pad, 0),
        min(rows[-1] + 1 + pad, height),
        max(columns[0] - pad, 0),
        min(columns[-1] + 1 + pad, width),
    )


def legend_outside(figure, canvas):
    """Returns whether a legend leaves the canvas; one wholly outside leaves no trace at its edge."""
    legends = list(figure.legends)
    legends += [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    if not legends:
        return False
    renderer = canvas.get_renderer()
    width, height = canvas.get_width_height()
    boxes = [legend.get_window_extent(renderer) for legend in legends if legend.get_visible()]
    return any(b.x1 > width or b.y1 > height or b.x0 < 0 or b.y0 < 0 for b in boxes)


def tight_png(figure):
    buffer = _io.BytesIO()
    options = {"compress_level": 1}
    figure.savefig(
        buffer, format="png", dpi=figure.dpi, bbox_inches="tight", pil_kwargs=options
    )
    return buffer.getvalue()


def encode_pixels(numpy, pixels):
    """Returns RGBA pixels as a PNG without row filters.

    For plots it is as small as PIL's and made much faster.
    """
    struct = own("struct")
    zlib = own("zlib")

    channels = 3 if (pixels[:, :, 3] == 255).all() else 4
    height, width = pixels.shape[:2]
    rows = numpy.zeros((height, 1 + width * channels), numpy.uint8)
    rows[:, 1:] = pixels[:, :, :channels].reshape(height, -1)

    def chunk(kind, data):
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    color = 2 if channels == 3 else 6
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(rows, 1))
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")


FORMS.append(("matplotlib.figure", "Figure", figure_forms))


def show_figures(blank=True):
    """Shows and closes all open figures: at plt.show() and at the end of every cell.

    `blank` is False after a cell that failed: figures with empty axes are then left out.
    """
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return
    managers = helpers.Gcf.get_all_fig_managers()
    if not managers or in_child():
        return
    channel.release()  # drawing takes long and may crash the process
    try:
        for manager in managers:
            if blank or is_drawn(manager.canvas.figure):
                show_figure(manager.canvas.figure)
    finally:
        helpers.Gcf.destroy_all()


def is_drawn(figure):
    if figure.lines or figure.patches or figure.texts or figure.images:
        return True
    return any(axes.has_data() or axes.texts or axes.tables for axes in figure.axes)


def show_figure(figure):
    if not (figure.axes or figure.lines or figure.patches or figure.texts or figure.images):
        return
    if State.clears:
        clear_shown()
    try:
        forms = figure_forms(figure)
    except Exception as error:
        print_traceback(error)
        return
    if forms:
        forms["text/plain"] = repr(figure)
        parts = parts_of(forms)
        if State.cell.images <= IMAGES_PER_CELL:
            publish(parts)


def note_images_left_out():
    left_out, lost = State.cell.images_left_out, State.cell.images_lost
    if left_out:
        kept = "%d could not be saved in output/ and are lost" % lost if lost else "saved in output/"
        print_note("[images beyond %d in this cell: %d; %s]" % (IMAGES_PER_CELL, left_out, kept))


def hook_matplotlib(module):
    """Makes matplotlib's folders whenever they are asked for.

    matplotlib makes them once, when it is imported. In a preloaded interpreter they are gone by the
    time that the session begins.
    """
    functools = own("functools")

    def remade(original):
        @functools.wraps(original)
        def folder():
            import os

            path = original()
            os.makedirs(path, exist_ok=True)
            return path

        return folder

    module.get_cachedir = remade(module.get_cachedir)
    module.get_configdir = remade(module.get_configdir)


def hook_pyplot(pyplot):
    original = pyplot.show

    def show(*args, **kwargs):
        if pyplot.get_backend().lower() != "agg":
            return original(*args, **kwargs)
        if kwargs.get("block", True) is not False:  # pyplot.pause() says block=False
            show_figures()

    show.__doc__ = original.__doc__
    pyplot.show = show


def saved_name(figure):
    """Returns the name of the file in output/ that the cell saved the figure in, or None."""
    return next((name for saved, name in reversed(State.cell.saved_figures) if saved is figure), None)


def note_saved(figure, path):
    """Notes that the cell saved the figure in output/, where no second file of it is needed."""
    name = output_name(path)
    if name is None or not name.lower().endswith((".png", ".jpg", ".jpeg")):
        return
    State.cell.saved_figures.append((figure, name))
    if not any(shown is figure for shown in State.cell.figures):
        figure.stale = False  # what is drawn from now on is not in the file


def hook_savefig(module):
    original = module.Figure.savefig

    def savefig(self, fname, *args, **kwargs):
        original(self, fname, *args, **kwargs)
        try:
            note_saved(self, fname)
        except Exception as error:
            log(error)

    savefig.__doc__ = original.__doc__
    module.Figure.savefig = savefig


def hook_figure(module):
    hook_savefig(module)
    original = module.Figure.show

    def show(self, *args, **kwargs):
        if type(self.canvas).__name__ != "FigureCanvasAgg":
            return original(self, *args, **kwargs)
        show_figure(self)

    show.__doc__ = original.__doc__
    module.Figure.show = show
