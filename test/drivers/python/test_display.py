# SPDX-License-Identifier: MIT
"""Values that are more than text: figures, images, tables, MIME bundles."""
import json
import struct

import pytest

import harness

PNG = b"\x89PNG\r\n\x1a\n"


def size_of(png):
    assert png.startswith(PNG)
    return struct.unpack(">II", png[16:24])


@pytest.fixture(scope="module")
def plotter(python, codes, font_cache, tmp_path_factory):
    """A session that has pyplot, whose import takes longer than most figures."""
    if not harness.has_module(python, "matplotlib"):
        pytest.skip("%s has no matplotlib" % python)
    folder = tmp_path_factory.mktemp("plots")
    (folder / "output").mkdir()
    one = harness.Session(python, cwd=str(folder), output=str(folder / "output"), marshal=codes(python),
                          env={"HOME": str(folder), "MPLCONFIGDIR": font_cache})
    one.folder = folder
    assert one.run("import matplotlib.pyplot as plt").status == "ok"
    yield one
    one.close()


@pytest.fixture
def plots(plotter):
    """That session without a figure and a file of others. Tests of what an import does have one of their own."""
    assert plotter.run("plt.close('all')").images == []
    for path in (plotter.folder / "output").iterdir():
        path.unlink()
    return plotter


def test_a_data_frame_is_compact_text_with_its_shape(plots, needs):
    needs("pandas")
    result = plots.run("import pandas as pd\ndf = pd.DataFrame({'a': range(200)}); df")
    frame = [f for f in result.frames if f.kind == "result"][0]
    assert list(frame.parts) == ["text/plain", "table"]
    assert "[200 rows x 1 columns]" in result.value
    assert "rows" not in plots.run("df.head(2)").value
    assert "Length: 200" in plots.run("df.a").value


def table_of(session, code):
    """The table of a value as its rows, the names first; None if it has none."""
    frames = [f for f in session.run(code).frames if f.kind == "result"]
    if "table" not in frames[-1]:
        return None
    table = json.loads(frames[-1]["table"])
    return [table["columns"], *table["rows"]]


FRAMES = {
    "kinds": ("pd.DataFrame({'i': [1, 2], 'f': [1.5, None], 's': ['x', None], 'b': [True, False], 'u': pd.array([1, None], dtype='Int64')})",
              [["", "i", "f", "s", "b", "u"], ["0", "1", "1.5", "x", "True", "1"], ["1", "2", "NaN", "None", "False", "<NA>"]]),
    "times": ("pd.DataFrame({'t': pd.date_range('2024-01-01', periods=2)}, index=pd.date_range('2024-01-01', periods=2, freq='h'))",
              [["", "t"], ["2024-01-01 00:00:00", "2024-01-01"], ["2024-01-01 01:00:00", "2024-01-02"]]),
    "levels": ("pd.DataFrame({'y': [1, 1], 'k': ['a', 'b'], 'v': [1, 2]}).pivot(index='k', columns='y')",
               [["\ny\nk", "v\n1"], ["a", "1"], ["b", "2"]]),
    "same names": ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", [["", "a", "a"], ["0", "1", "2"]]),
    "no rows": ("pd.DataFrame({'a': [1.5]})[:0]", [["", "a"]]),
    "no columns": ("pd.DataFrame(index=[1])", None),
    "series": ("pd.Series([1])", None),
    "lists": ("pd.DataFrame({'a': [[1, [2]], {'k': 'v' * 200}]})",
              [["", "a"], ["0", "[1, [2]]"], ["1", "{'k': '%s...%s'}" % ("v" * 47, "v" * 48)]]),
    "text": ("pd.DataFrame({'a': ['x\\ny', '\\ud800', ' ']})", [["", "a"], ["0", "x\ny"], ["1", "\ud800"], ["2", " "]]),
    "large": ("import numpy\npd.DataFrame({'a': [pd.Series(range(9)), numpy.arange(768)]})",
              [["", "a"], ["0", "Series (length 9)"], ["1", "ndarray (length 768)"]]),
    "texts of other classes": ("import enum, numpy\nclass Kind(str, enum.Enum):\n    A = 'y' * 25\n"
                               "pd.DataFrame({'a': [numpy.str_('x' * 25), Kind.A]})",
                               [["", "a"], ["0", "x" * 25], ["1", "Kind.A"]]),
    "refused": ("class Odd(pd.DataFrame):\n    iloc = None\n    def __repr__(self): return 'odd'\nOdd({'a': [1]})", None),
}


@pytest.mark.parametrize("code, expected", FRAMES.values(), ids=FRAMES)
def test_a_data_frame_has_its_first_rows_as_texts(plots, needs, code, expected):
    needs("pandas")
    plots.run("import pandas as pd")
    assert table_of(plots, code) == expected


def test_a_frame_with_very_many_levels_or_long_names_has_no_table_that_is_too_large(plots, needs):
    needs("pandas")
    plots.run("import pandas as pd")
    levels = "pd.MultiIndex.from_tuples([tuple('\\x01' * 200 for _ in range(3000))], names=['\\x01' * 200] * 3000)"
    assert table_of(plots, f"pd.DataFrame({{'a': [1]}}, index={levels})") is None
    assert table_of(plots, f"pd.DataFrame([[1]], columns={levels})") is None
    names = "['\\x01' * 99_999 + str(n) for n in range(20)]"
    (head, *rows) = table_of(plots, f"pd.DataFrame([range(20)] * 100, columns={names})")
    assert head[1] == "\x01" * 100 + "\u2026" and len(rows) == 100


COLUMNS = ([0.5, 100, None], [1e-7, 1], [1e7, 2.25], [1e7, 2.123456], [1e20, -1e20], ["inf", 1.25], [None], [0.1 + 0.2, 1 / 3],
           [-0.0, 0], [1e6, 999999.5])
OPTIONS = ("('display.precision', 6)", "('display.precision', 2)", "('display.float_format', '{:.3f}'.format)",
           "('display.chop_threshold', 0.4)")


@pytest.mark.parametrize("option", OPTIONS)
def test_numbers_are_written_as_pandas_writes_them(plots, needs, option):
    needs("pandas")
    plots.run(f"import pandas as pd\npd.set_option{option}\nframes = [pd.DataFrame({{'a': x}}, dtype=float) for x in {COLUMNS!r}]")
    for number, column in enumerate(COLUMNS):
        texts = plots.run(f"print(frames[{number}].to_string(index=False, header=False))").output.split()
        assert [row[1] for row in table_of(plots, f"frames[{number}]")[1:]] == texts, column
    plots.run("pd.reset_option('display', silent=True)")


LISTS = """import pandas as pd
class Lists(pd.api.extensions.ExtensionDtype):
    name, type, kind = 'list<item: int64>[pyarrow]', list, 'O'
class Column(pd.api.extensions.ExtensionArray):
    dtype = Lists()
    def __init__(self, values): self.values = values
    def __len__(self): return len(self.values)
    def __getitem__(self, index): return Column(self.values[index])
    def __iter__(self): raise MemoryError
    def isna(self): return pd.isna(pd.Series(self.values)).to_numpy()
    def copy(self): return self
class Frame(pd.DataFrame):
    def __repr__(self): return 'frame'
pd.ArrowDtype = Lists
frame = Frame({'a': pd.Series(Column([[1], None, [2]]))})
"""


def test_lists_of_pyarrow_are_not_made_lists_of_python(start, needs):
    """By a stand-in with the methods that are used."""
    needs("pandas")
    session = start()
    session.run(LISTS)
    text = "list<item: int64>[pyarrow]"
    assert table_of(session, "frame") == [["", "a"], ["0", text], ["1", "<NA>"], ["2", text]]


POLARS = """TYPES = {'flat': 'List(Int64)', 'deep': 'List(List(Int64))', 'pair': "Struct({'a': Int64})", 'text': 'String', 'raw': 'Binary'}
class Column:
    def __init__(self, values, dtype='Object'): self.values, self.dtype = values, dtype
    def to_list(self):
        assert self.dtype == 'Object'
        return list(self.values)
    def each(self, function): return Column([value if value is None else function(value) for value in self.values])
    def is_null(self): return Column([value is None for value in self.values])
    list = str = bin = property(lambda self: self)
    def head(self, count): return self.each(lambda value: value[:count])
    def slice(self, start, count): return self.each(lambda value: value[start:count])
    def len(self): return self.each(len)
    def size(self): return self.each(len)
class DataFrame:
    def __init__(self, data): self.data = data
    columns = property(lambda self: list(self.data))
    shape = property(lambda self: (len(next(iter(self.data.values()), [])), len(self.data)))
    def head(self, count): return DataFrame({name: values[:count] for name, values in self.data.items()})
    def get_column(self, name): return Column(self.data[name], TYPES.get(name, 'Object'))
    def __repr__(self): return "shape: %r" % (self.shape,)
    def _repr_html_(self): return "<table>"
"""


@pytest.mark.parametrize("name, values, texts", [
    ("flat", "[[1, 2], None, list(range(50_000))]", ["[1, 2]", "null", "[%s, ...]" % ", ".join(map(str, range(20)))]),
    ("deep", "[[[1]], None, [[2]] * 50_000]", ["List (length 1)", "null", "List (length 50000)"]),
    ("pair", "[{'a': 1}, None]", ["Struct({'a': Int64})", "null"]),
    ("text", "['x', None, 'y' * 50_000]", ["x", "null", "y" * 8192 + "\u2026"]),
    ("raw", "[b'ab', None]", ["Binary (length 2)", "null"])])
def test_what_values_of_polars_hold_is_not_made_python(session, tmp_path, name, values, texts):
    """By the stand-in, which fails where a column is asked for all that its values hold."""
    (tmp_path / "polars.py").write_text(POLARS)
    assert table_of(session, f"import polars as pl\npl.DataFrame({{'{name}': {values}}})") == [[name], *([text] for text in texts)]


def test_a_frame_of_polars_has_its_first_rows_as_texts(session, tmp_path):
    """By a stand-in with the methods that are used."""
    (tmp_path / "polars.py").write_text(POLARS)
    session.run("import polars as pl")
    result = session.run("pl.DataFrame({'a': [1, None, 0.1], 'b': ['x', [1], 'z']})")
    assert list(result.frames[0].parts) == ["text/plain", "table"]
    assert table_of(session, "_") == [["a", "b"], ["1", "x"], ["null", "[1]"], ["0.1", "z"]]
    assert len(table_of(session, "pl.DataFrame({'c%d' % n: range(101) for n in range(21)})")) == 101
    assert [len(row) for row in table_of(session, "_")] == [20] * 101
    assert table_of(session, "pl.DataFrame({})") is None
    assert table_of(session, "class Odd(pl.DataFrame): head = None\nOdd({'a': [1]})") is None


def test_a_plot_without_show_is_one_image(session, needs, tmp_path):
    needs("matplotlib")
    result = session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.title('t')")
    assert len(result.images) == 1
    frame = result.images[0]
    assert frame.kind == "display" and "Figure" in frame["text/plain"]
    assert frame["file"] == "cell-1-figure-1.png"
    assert (tmp_path / "output" / frame["file"]).read_bytes() == frame.parts["image/png"]
    assert session.run("plt.get_fignums()").value == "[]"
    assert session.run("1").images == []


@pytest.mark.parametrize("code", [
    "plt.plot([1, 2])", "plt.title('t')", "plt.hist([1, 2, 2])", "plt.hist([[1, 2], [2, 3]])", "plt.pie([1, 2])",
    "plt.boxplot([1, 2, 5])", "plt.bar([1], [2])", "plt.errorbar([1, 2], [1, 2], yerr=1)", "plt.subplots(2, 2)",
    "plt.subplots(2, 2)[1]", "plt.gca().set(xlim=(0, 1), xlabel='x')", "plt.contour([[1, 2], [3, 4]])", "{'a': plt.gca()}",
    "plt.plot([1]); plt.show(); plt.gca()",
    "from matplotlib.animation import FuncAnimation; FuncAnimation(plt.figure(), lambda i: plt.plot([i]), frames=2)"])
def test_what_a_figure_shows_is_not_told_beside_it(plots, code):
    assert plots.run(code).value is None


@pytest.mark.parametrize("code, value", [
    ("plt.plot([1]), 2", ", 2)"), ("{'axes': plt.gca(), 'p': 0.5}", "'p': 0.5"), ("[plt.gca(), 'x']", "'x'"),
    ("a = plt.gca(); plt.close('all'); a", "Axes"), ("plt.plot([1]); plt.axis()", "("), ("plt.plot([1]); [1, 2]", "[1, 2]"),
    ("plt.plot([1]); []", "[]"), ("plt.plot([1]); {}", "{}"), ("plt.gca, plt.plot([1])", "function gca")])
def test_what_is_more_than_what_a_figure_shows_is_told(plots, code, value):
    assert value in plots.run(code).value


def files_of(plots):
    return sorted(path.name for path in (plots.folder / "output").iterdir())


@pytest.mark.parametrize("save", ["plt.savefig('output/a.png')", "plt.gcf().savefig('output/a.png', dpi=50)",
                                  "import pathlib; plt.savefig(pathlib.Path('output/a.png'), bbox_inches='tight')",
                                  "plt.savefig('output/b.jpg'); plt.savefig('output/a.png')"])
def test_a_figure_that_the_cell_saved_has_no_second_file(plots, save):
    frame, = plots.run("plt.plot([1, 2]); %s; plt.show()" % save).images
    assert frame["file"] == "a.png" and not any("figure" in name for name in files_of(plots))


@pytest.mark.parametrize("code", [
    "plt.plot([1]); plt.savefig('output/a.png'); plt.title('later')", "plt.plot([1]); plt.savefig('a.png')",
    "plt.plot([1]); plt.savefig('output/a.svg')", "plt.plot([1]); plt.savefig('output/a.png'); plt.figure(); plt.plot([2])"])
def test_what_is_not_in_that_file_has_one_of_its_own(plots, code):
    result = plots.run(code)
    assert "figure" in result.images[-1]["file"] and result.images[-1]["file"] in files_of(plots)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.gif"])
def test_a_file_in_output_that_is_shown_has_no_second_file(plots, needs, name):
    needs("PIL")
    plots.run("from PIL import Image as P; P.new('RGB', (9, 9)).save('output/%s')" % name)
    frame, = plots.run("from IPython.display import Image; i = Image(filename='output/%s'); i" % name).images
    assert frame["file"] == name and files_of(plots) == [name]
    plots.run("P.new('RGB', (8, 8)).save('output/%s')" % name)
    frame, = plots.run("i").images
    assert "figure" in frame["file"] and len(files_of(plots)) == 2


def test_a_savefig_of_an_earlier_cell_is_none_of_this(plots):
    plots.run("fig = plt.figure(); fig.gca().plot([1]); fig.savefig('output/a.png')")
    assert "figure" in plots.run("fig").images[0]["file"]


def test_two_figures_come_in_order(plots):
    code = "plt.figure(figsize=(4, 4)); plt.plot([1])\nplt.figure(figsize=(6, 4)); plt.plot([1])"
    widths = [size_of(frame.parts["image/png"])[0] for frame in plots.run(code).images]
    assert len(widths) == 2 and widths[0] <= 400 < widths[1] <= 600


def test_a_figure_as_value_comes_once(plots):
    result = plots.run("fig, ax = plt.subplots(); ax.plot([1, 2]); fig")
    assert len(result.images) == 1
    assert len(plots.run("fig").images) == 1
    assert len(plots.run("ax.set_title('x')\ndisplay(fig)\ndisplay(fig)").images) == 1


def test_show_stands_between_the_prints(plots):
    code = "plt.plot([1]); print('before'); plt.show(); print('after'); plt.show()"
    result = plots.run(code)
    assert len(result.images) == 1
    assert result.output[: result.images[0].offset] == "before\n" and result.output.endswith("after\n")


def test_show_works_after_use_agg(session, needs):
    needs("matplotlib")
    code = "import matplotlib; matplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nplt.plot([3]); plt.show()"
    result = session.run(code)
    assert len(result.images) == 1 and result.output == ""


def test_a_failing_cell_still_shows_its_figures(plots):
    result = plots.run("plt.plot([1, 2])\n1/0")
    assert len(result.images) == 1 and result.done["ename"] == "ZeroDivisionError"


def test_a_failing_cell_shows_no_figure_in_which_nothing_was_drawn(plots):
    result = plots.run("fig, (a, b) = plt.subplots(2)\nplt.title('Sales')\n1/0")
    assert result.images == [] and result.done["ename"] == "ZeroDivisionError"
    for drawn in ("a.bar([1], [2])", "a.imshow([[1]])", "a.scatter([1], [2])", "a.text(0, 0, 'x')", "fig.suptitle('x')",
                  "a.fill_between([0, 1], [1, 2])"):
        assert len(plots.run(f"fig, (a, b) = plt.subplots(2)\n{drawn}\n1/0").images) == 1, drawn
    assert len(plots.run("fig, a = plt.subplots(); None").images) == 1


def test_a_legend_outside_the_axes_is_not_cut_off(plots):
    inside = plots.run("plt.plot([1], label='a' * 30); plt.legend()")
    outside = plots.run("plt.plot([1], label='a' * 30); plt.legend(bbox_to_anchor=(1.05, 1))")
    beyond = plots.run("plt.plot([1], label='a' * 30); plt.legend(bbox_to_anchor=(2.5, 1))")
    widths = [size_of(r.images[0].parts["image/png"])[0] for r in (inside, outside, beyond)]
    assert widths[0] < widths[1] < widths[2]


def test_the_empty_border_is_cut_off(plots):
    code = "fig = plt.figure(figsize=(6, 4)); fig.text(.5, .5, 'x');"
    width, height = size_of(plots.run(code).images[0].parts["image/png"])
    assert width < 60 and height < 60


def test_large_figures_are_scaled_and_saved_whole(plots):
    result = plots.run("fig = plt.figure(figsize=(30, 10)); plt.plot([1, 2]);")
    frame = result.images[0]
    assert max(size_of(frame.parts["image/png"])) == 1280
    whole = (plots.folder / "output" / frame["file"]).read_bytes()
    assert size_of(whole)[0] > 2000


def test_photographs_become_jpeg(plots, needs):
    needs("numpy")
    code = "import numpy as np\nplt.figure(figsize=(12, 12)); plt.imshow(np.random.rand(900, 900, 3)); plt.axis('off');"
    frame = plots.run(code).images[0]
    assert frame.parts["image/jpeg"].startswith(b"\xff\xd8")


def test_a_small_photograph_is_shown_as_jpeg_and_a_drawing_of_that_size_as_png(session, needs, tmp_path):
    """The rule: a PNG of more than 100,000 bytes that is more than three times the size of its JPEG."""
    needs("PIL", "numpy")
    photo = """import numpy as np
from PIL import Image
x, y = np.mgrid[0:300, 0:400]
rays = np.stack([x / 2, y / 2, (x + y) / 4], -1) + np.random.default_rng(1).normal(0, 6, (300, 400, 3))
image = Image.fromarray(rays.clip(0, 255).astype(np.uint8))"""
    frame = session.run(photo + "\nimage").images[0]
    assert frame.parts["image/jpeg"].startswith(b"\xff\xd8")
    whole = (tmp_path / "output" / frame["file"]).read_bytes()
    assert whole.startswith(b"\x89PNG") and 100_000 < len(whole) <= 300_000 and len(frame.parts["image/jpeg"]) * 3 < len(whole)
    frame = session.run("image.crop((0, 0, 150, 150))").images[0]  # a small PNG stays one
    assert "image/png" in frame
    dots = "Image.fromarray((np.random.default_rng(1).random((1000, 1000)) < .5).astype(np.uint8) * 255)"
    frame = session.run(dots).images[0]
    assert 100_000 < len(frame.parts["image/png"]) <= 300_000


@pytest.mark.parametrize("mode", ["I;16", "I;16B", "I"])
def test_a_picture_of_16_bit_greys_is_shown_by_its_full_range(session, needs, tmp_path, mode):
    """PIL clips greys above 255 when it converts them to 8 bits."""
    needs("PIL", "numpy")
    session.run("""import numpy as np
from PIL import Image
def ramp(side):
    noise = np.random.default_rng(1).normal(0, 300, (side, side))
    greys = (np.linspace(0, 65535, side) + noise).clip(0, 65535)
    if MODE == 'I':
        return Image.fromarray(greys.astype(np.int32))
    return Image.frombytes(MODE, (side, side), greys.astype('>u2' if MODE == 'I;16B' else '<u2').tobytes())
MODE = %r""" % mode)
    for side in (50, 400, 1600):  # a PNG, one that is larger than its JPEG, one that is scaled
        shown = session.run("ramp(%d)" % side).images[0].parts
        (tmp_path / "shown").write_bytes(shown.get("image/jpeg") or shown["image/png"])
        greys = session.run("""image = Image.open(%r)
greys = np.asarray(image.convert('I')) / (1 if image.mode == 'L' or image.mode == 'RGB' else 257)
[int(greys[:, int(greys.shape[1] * at)].mean()) for at in (.25, .5, .75)]""" % str(tmp_path / "shown")).value
        assert all(abs(grey - 255 * at) < 10 for grey, at in zip(eval(greys), (.25, .5, .75))), greys


def test_at_most_twenty_images_a_cell_are_shown_and_all_are_saved(plots):
    code = "for i in range(23): plt.figure(figsize=(1, 1)).text(0, 0, i)"
    result = plots.run(code)
    assert len(result.images) == 20 and "[images beyond 20 in this cell: 3; saved in output/]" in result.output
    figures = list(plots.folder.glob("output/*-figure-*.png"))
    assert len(figures) == 23 and all(figure.read_bytes().startswith(b"\x89PNG") for figure in figures)


def test_a_picture_for_which_there_is_no_room_leaves_no_file(plots):
    plots.run("import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)")
    plots.run("resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))")
    assert "file" not in plots.run("plt.plot([1]);").images[0]
    plots.run("resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)")
    assert list((plots.folder / "output").iterdir()) == []


def test_a_missing_output_folder_does_not_matter(start, needs, tmp_path):
    needs("matplotlib")
    session = start(output=str(tmp_path / "nowhere"))
    frame = session.run("import matplotlib.pyplot as plt\nplt.plot([1]);").images[0]
    assert "file" not in frame


def test_an_animation_by_pause_is_one_image(plots):
    code = "for i in range(3): plt.plot([i]); plt.pause(.01)"
    assert len(plots.run(code).images) == 1


def test_child_scripts_can_import_pyplot(plots):
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import matplotlib.pyplot as p; p.plot([1]); print(p.get_backend())'])"
    assert plots.run(code).output.strip().lower() == "agg"


def test_pil_images_are_shown(session, needs, tmp_path):
    needs("PIL")
    result = session.run("from PIL import Image\nim = Image.new('RGB', (50, 40), 'red'); im")
    assert size_of(result.images[0].parts["image/png"]) == (50, 40)
    result = session.run("print('a'); im.show(); print('b')")
    assert len(result.displays) == 1 and result.displays[0].offset == 2
    frame = session.run("Image.new('CMYK', (4000, 100))").images[0]
    assert size_of(frame.parts["image/png"])[0] == 1280
    assert size_of((tmp_path / "output" / frame["file"]).read_bytes())[0] == 4000


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_pictures_of_other_kinds_are_shown_and_kept_as_they_are(session, needs, tmp_path, kind):
    needs("PIL")
    session.run("from PIL import Image\nimport io\nfile = io.BytesIO()\n"
                "Image.new('RGB', (50, 40), 'red').save(file, %r, save_all=True, append_images=[Image.new('RGB', (50, 40))])\n"
                "class P:\n    def _repr_mimebundle_(self, **_): return {'image/%s': file.getvalue()}" % (kind, kind))
    # As IPython names the data that it gets without a name.
    named = "display({'image/png': file.getvalue()}, raw=True)"
    for code in ("P()", "display({'image/%s': file.getvalue()}, raw=True)" % kind, named):
        frame = session.run(code).images[0]
        assert size_of(frame.parts["image/png"]) == (50, 40) and "image/" + kind not in frame
        assert frame["file"].endswith("." + kind)
        assert (tmp_path / "output" / frame["file"]).read_bytes()[:3] == {"gif": b"GIF", "webp": b"RIF"}[kind]
    session.run("Image.open = None")
    without = session.run("P()")
    assert not without.images and without.output == "[a picture that PIL does not read: output/cell-6-figure-1.%s]\n" % kind


IPYTHON = """import sys, types
core = tmp = None
import os
os.makedirs('IPython/core', exist_ok=True)
open('IPython/__init__.py', 'w').close(); open('IPython/core/__init__.py', 'w').close()
open('IPython/display.py', 'w').write('from IPython.core.display_functions import display\\n')
open('IPython/core/display_functions.py', 'w').write('def display(*a): print("<IPython object>")\\ndef publish_display_data(*a): pass\\n')
from IPython.display import display as show
class HTML:
    def _repr_html_(self): return '<b>x</b>'
"""


def test_display_of_ipython_is_ours(session):
    session.run(IPYTHON)
    result = session.run("show(HTML())")
    assert result.displays[0]["text/html"] == "<b>x</b>" and "<IPython" not in result.output


def test_markup_without_a_repr_is_told_in_words(session):
    code = "class H:\n  def _repr_html_(self): return '<style>b {}</style><p>a &lt; <b>b</b></p><p>c</p>'\nH()"
    assert session.run(code).value == "a < b\nc"
    assert session.run("class M:\n  def _repr_markdown_(self): return '# t'\nM()").value == "# t"


def test_objects_with_every_attribute_are_plain_text(session):
    result = session.run("import unittest.mock as m; m.MagicMock()")
    assert list(result.frames[0].parts) == ["text/plain"] and "MagicMock" in result.value
    result = session.run("class R:\n  def __getattr__(self, k): return lambda *a, **k: 'junk'\nR()")
    assert list(result.frames[0].parts) == ["text/plain"]
    assert "class" in session.run("class H:\n  def _repr_html_(self): return 'x'\nH").value


def test_mime_bundles(session):
    code = (
        "class Z:\n  def _repr_mimebundle_(self, include=None, exclude=None):\n"
        "    return {'application/vnd.x+json': {'a': 1}, 'text/plain': 'Z!', 'bad name': 1}\nZ()"
    )
    frame = session.run(code).frames[0]
    assert frame.parts == {"application/vnd.x+json": b'{"a": 1}', "text/plain": b"Z!"}
    code = "class Q:\n  def _repr_svg_(self): return '<svg/>'\n  def __repr__(self): return 'Q!'\nQ()"
    assert session.run(code).frames[0].parts == {"image/svg+xml": b"<svg/>", "text/plain": b"Q!"}
    code = "class W:\n  def _repr_html_(self): raise ValueError('oops')\n  def _repr_png_(self): raise NotImplementedError\nW()"
    result = session.run(code)
    assert "_repr_html_ of W failed: ValueError: oops" in result.output and result.value.startswith("<__main__.W")


def test_display_takes_several_objects(session):
    result = session.run("display(1, 'a'); display({'text/plain': 'raw'}, raw=True)")
    assert [f["text/plain"] for f in result.displays] == ["1", "'a'", "raw"]


PLOTLY = """import os
os.makedirs('plotly', exist_ok=True)
open('plotly/__init__.py', 'w').close()
open('plotly/basedatatypes.py', 'w').write('''
class Trace: type = "bar"
class BaseFigure:
    data = [Trace()]
    class layout:
        class title: text = "Sales"
    def show(self): print("opened a browser")
    def to_html(self, include_plotlyjs): return "<html>" + include_plotlyjs
    def to_json(self): return "{}"
    def _repr_mimebundle_(self, include=None, exclude=None): raise ValueError("no renderer")
''')
from plotly.basedatatypes import BaseFigure
"""


def test_plotly_figures_are_outlined_and_saved(session, tmp_path):
    session.run(PLOTLY)
    result = session.run("BaseFigure().show()")
    assert result.displays[0]["text/plain"] == "<plotly figure, traces: bar, title: 'Sales'>"
    assert result.output == ""
    assert (tmp_path / "output" / result.displays[0]["file"]).read_text() == "<html>cdn"


FIGURES = {
    "lines": "plt.plot([1, 4, 2], label='a'); plt.title('Title'); plt.xlabel('x'); plt.legend()",
    "bars": "plt.bar(['a', 'b'], [3, 5], color=['r', 'g']); plt.grid(True)",
    "picture": "plt.imshow(np.arange(100).reshape(10, 10)); plt.colorbar()",
    "text alone": "fig.text(.4, .6, 'words', fontsize=30)",
    "transparent": "fig.patch.set_alpha(0); plt.plot([1, 2]); plt.gca().patch.set_alpha(0.5)",
    "several": "fig.subplots(2, 2)[1][0].scatter(range(9), range(9))",
}

# What is cut off is background, what is left is the canvas; and savefig's own tight box looks the same.
COMPARE = """import io, numpy as np, matplotlib.pyplot as plt
fig = plt.figure(figsize=(6, 4), dpi=100)
%s
driver = display.__globals__
def pixels(png):
    image = plt.imread(io.BytesIO(png))
    return image if image.shape[2] == 4 else np.dstack([image, np.ones(image.shape[:2], 'f')])
def content(image):
    drawn = (image != image[0, 0]).any(2)
    rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    return rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
def cut(image):
    top, bottom, left, right = content(image)
    return image[top:bottom, left:right]
raw = io.BytesIO(); fig.savefig(raw, format='png', dpi=100)
whole, ours = pixels(raw.getvalue()), pixels(driver['render_figure'](fig))
tight = pixels(driver['tight_png'](fig))
plt.close(fig)
(a, b), (c, d) = content(ours)[::2], content(whole)[::2]
top, left = c - a, d - b
same = (whole[top:top + ours.shape[0], left:left + ours.shape[1]] == ours).all()
off = max(abs(x - y) for x, y in zip(ours.shape, tight.shape))
one, other = cut(ours), cut(tight)
size = [min(x, y) for x, y in zip(one.shape, other.shape)]
difference = abs(one[:size[0], :size[1], :3] - other[:size[0], :size[1], :3]).mean()
print(same, (cut(whole) == one).all(), ours.shape != whole.shape, off <= 16, difference < 0.03, off, difference)"""


@pytest.mark.parametrize("what", FIGURES)
def test_a_cropped_figure_is_the_canvas_and_looks_as_saved_tight(plots, needs, what):
    needs("numpy")
    result = plots.run(COMPARE % FIGURES[what])
    assert result.output.split()[:5] == ["True"] * 5, result


def texts(result):
    return [frame["text/plain"] for frame in result.displays]


def test_a_styled_table_is_shown_as_it_is_styled(plots, needs):
    needs("pandas", "jinja2")
    plots.run("import pandas as pd\ndf = pd.DataFrame({'share': [0.123, 0.5], 'secret': [1, 2]}, index=['x', 'y z'])")
    if plots.run("hasattr(df.style, 'to_string')").value == "False":
        assert plots.run("df.style.format('{:.1f}')").value == plots.run("df").value
        return
    shown = "     share  secret\nx    12.3%       1\ny z  50.0%       2"
    assert plots.run("df.style.format({'share': '{:.1%}'})").value == shown
    assert texts(plots.run("display(df.style.format({'share': '{:.1%}'}).set_caption('Cap'))"))[0] == "Cap\n" + shown
    hidden = plots.run("df.style.hide(axis='columns', subset=['secret']).hide(axis='index').highlight_max(color='red')")
    assert hidden.value == "share\n0.123000\n0.500000"
    assert plots.run("pd.DataFrame({'a': range(100)}).style").value.count("\n") < 70
    bare = plots.run("df.style.apply(lambda row: 1 / 0)").value
    assert bare == plots.run("df").value + "\n(shown without its style: ZeroDivisionError: division by zero)"


# What is styled, and its text.
STYLED = {
    "levels": (
        "pd.DataFrame({('X', 'p'): [1, 2, 3], ('X', 'q'): [4, 5, 6], ('Y', 'q'): [7, 8, 9]},"
        " index=pd.MultiIndex.from_tuples([('a', 1), ('a', 2), ('b', 1)], names=['l1', 'l2'])).style",
        "        X  X  Y\n        p  q  q\nl1  l2\na    1  1  4  7\na    2  2  5  8\nb    1  3  6  9",
    ),
    "controls": (
        "pd.DataFrame({'a': ['multi\\nline', 'tab\\there', '<b>x</b>', 'r\\rr']}, index=['i', 'j\\nk', 'l', 'm']).style",
        "                a\ni     multi\\nline\nj\\nk    tab\\there\nl        <b>x</b>\nm            r\\rr",
    ),
    "long": ("pd.DataFrame({'a': ['x' * 300, 'y']}).style", "%sa\n0  %s\n1  %sy" % (" " * 102, "x" * 300, " " * 99)),
    "tooltips": ("pd.DataFrame({'a': [1]}).style.set_tooltips(pd.DataFrame({'a': ['why']}))", "   a\n0  1"),
    "no rows": ("pd.DataFrame({'a': []}).style", "  a"),
    "nothing": ("pd.DataFrame().style", "Empty DataFrame\nColumns: []\nIndex: []"),
    "other text": ("pd.DataFrame({'a': [None, 'b', 1.5, pd.NA]}).style.hide(axis='index')", "a\nNone\nb\n1.500000\n<NA>"),
}


@pytest.mark.parametrize("what", STYLED)
def test_a_styled_table_has_all_its_rows_and_columns(plots, needs, what):
    needs("pandas", "jinja2")
    plots.run("import pandas as pd")
    if plots.run("hasattr(pd.DataFrame().style, 'to_string')").value == "False":
        pytest.skip("pandas before 1.5 shows the data")
    code, text = STYLED[what]
    assert plots.run(code).value == text


def test_a_wide_and_long_styled_table_is_cut_at_its_ends_alone(plots, needs):
    needs("pandas", "jinja2")
    plots.run("import pandas as pd\nwide = pd.DataFrame([range(90)] * 100).style")
    if plots.run("hasattr(wide, 'to_string')").value == "False":
        pytest.skip("pandas before 1.5 shows the data")
    option = "with pd.option_context('display.max_rows', %s, 'display.max_columns', %s): display(wide)"
    for rows, columns in ((60, 20), (10, None), (None, 20)):
        table, shape = texts(plots.run(option % (rows, columns)))[0].split("\n\n")
        assert shape == "[100 rows x 90 columns]"
        lines = table.split("\n")
        assert len(lines) == 1 + (rows + 1 if rows else 100)
        assert {len(line.split()) for line in lines[1:]} == {1 + (columns + 1 if columns else 90)}
        assert (set(lines[-1].split()) == {"..."}) == (rows is not None)


@pytest.mark.parametrize(
    "page, text",
    [
        ("<table><tr><th>a<th>b</tr><tr><td>1<td>2</tr></table>", "a | b\n1 | 2"),
        ("<table><tr><th></th><th>a</th></tr><tr><th>0</th><td><p>x</p> y</td></tr></table>", " | a\n0 | x y"),
        ("<style>#a, #b { color: red }", ""),
        ("<p>one<script>var a = '<p>'; if (a<1) {}</script> two<!-- no -->",
         "one two\n[page: output/cell-1-figure-1.html]"),
        ("<p>a</p><video src='x'>Your browser cannot</video><audio>nor this", "a\n[page: output/cell-1-figure-1.html]"),
        ("<iframe srcdoc='&lt;p>inner'></iframe>", "[page: output/cell-1-figure-1.html]"),
        ("<ul><li>a &amp; b<li title='x>y'>c</ul>d<br>e", "a & b\nc\nd\ne"),
        ("<pre>a  b\n  c</pre> f  g\n h", "a  b\n  c\nf g h"),
        ("1 < 2 and <b>3</b> > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_a_page_is_shown_as_its_words(session, tmp_path, page, text):
    value = session.run("class H:\n    def _repr_html_(self): return %r\nH()" % page).value
    assert value == text or (not text and value.startswith("<__main__.H"))
    kept = [file.read_text() for file in (tmp_path / "output").iterdir()]
    assert kept == ([page] if "[page: " in text else [])


def test_a_page_that_output_cannot_take_is_told(session, tmp_path):
    (tmp_path / "output").rmdir()
    session.run("class H:\n    def _repr_html_(self): return '<script>run()</script>'")
    assert session.run("H()").value == "[a page: it could not be kept in output/]"


@pytest.mark.parametrize(
    "bundle, text",
    [
        ({"text/html": "<b>x</b>"}, "x"),
        ({"text/latex": "$x$"}, "$x$"),
        ({"application/json": {"a": 1}}, '{"a": 1}'),
        ({"image/svg+xml": "<svg/>"}, "[drawing: output/cell-1-figure-1.svg]"),
        ({"application/x-own": "1"}, "[only shown as application/x-own]"),
    ],
)
def test_a_raw_bundle_without_text_is_shown(session, bundle, text):
    assert texts(session.run("display(%r, raw=True)" % bundle)) == [text]


def test_objects_that_show_themselves_do(session):
    session.run("class H:\n    def _ipython_display_(self): print('shown'); display('so')")
    for code in ("H()", "display(H())"):
        result = session.run(code)
        assert (result.output, texts(result), result.value) == ("shown\n", ["'so'"], None)


def test_an_object_that_fails_to_show_itself_is_shown_as_others_are(session):
    session.run("class H:\n    def __repr__(self): return 'an H'\n    def _ipython_display_(self): raise self.error('why')")
    session.run("class A(H): error = KeyError\nclass B(H): error = NotImplementedError")
    for name, told in (("A", "[_ipython_display_ of A failed: KeyError: 'why']\n"), ("B", "")):
        result = session.run(name + "()")
        assert (result.status, result.value, result.output) == ("ok", "an H", told)
        result = session.run("display(%s())" % name)
        assert (result.status, texts(result), result.output) == ("ok", ["an H"], told)


def test_why_an_object_cannot_be_shown_is_told_once(session):
    code = "class W:\n  def _repr_html_(self): raise ValueError('oops')\n  _repr_png_ = _repr_html_\nW()"
    assert session.run(code).output == "[_repr_html_ of W failed: ValueError: oops]\n"
    assert session.run("W()").output == "[_repr_html_ of W failed: ValueError: oops]\n"


def test_what_is_no_picture_is_shown_as_text(session, tmp_path):
    result = session.run("class E:\n    def __repr__(self): return 'an E'\n    def _repr_png_(self): return b'nothing'\nE()")
    assert result.value == "an E" and result.images == [] and not list((tmp_path / "output").iterdir())


def test_a_glyph_that_no_font_has_is_told_once_a_figure(plots):
    """W7: in every figure."""
    code = "plt.rcParams['font.family'] = 'DejaVu Sans'\nplt.title('\u65e5\u672c\u65e5')\nNone"
    for _ in range(2):
        output = plots.run(code).output
        assert output.count("\u65e5\u672c") == 1 and "fonts-noto-cjk" in output and output.count("\n") == 1


def test_init_printing_of_sympy_leaves_other_values_alone(session, needs):
    needs("sympy")
    needs("PIL")
    session.run("import sympy\nsympy.init_printing()")
    assert session.run("sympy.sqrt(2) / 2").value == "\u221a2\n\u2500\u2500\n2 "
    session.run("from PIL import Image")
    assert session.run("Image.new('RGB', (4, 4))").images
    assert session.run("[1, 'a']").value == "[1, 'a']"
    assert session.run("_").value == "[1, 'a']"


def test_clear_output_takes_back_what_was_shown(session):
    result = session.run("for i in range(3):\n    clear_output(wait=True)\n    print(i)" if False else
                         "from IPython.display import clear_output\nfor i in range(3):\n    clear_output(wait=True)\n    print(i)"
    )
    kinds = [frame.kind for frame in result.frames]
    assert kinds.count("clear") == 3 and result.output == "0\n1\n2\n"
    assert session.run("clear_output()").frames[0].kind == "clear"
    assert "clear" not in [frame.kind for frame in session.run("clear_output(wait=True)").frames]


HIDDEN = """
import sys
class Without:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition('.')[0] == 'IPython' and sys.meta_path[-1].__name__ == 'StandIn':
            return sys.meta_path[-1].find_spec(name)
sys.meta_path.insert(0, Without)
"""


def test_notebooks_find_names_of_ipython_where_it_is_not_installed(session):
    session.run(HIDDEN)
    session.run("from IPython.display import display, HTML, Image, Markdown, JSON, clear_output, SVG")
    assert texts(session.run("display(HTML('<b>x</b>'), Markdown('*y*'))")) == ["x", "*y*"]
    assert session.run("JSON({'a': [1]})").value == '{"a": [1]}'
    assert session.run("Image('none.png')").done["ename"] == "FileNotFoundError"
    assert session.run("import IPython\nIPython.__loader__.__name__").value == "'StandIn'"
    assert session.run("from IPython import get_ipython\nget_ipython().run_line_magic('pwd', '')").value.startswith("'/")


def test_the_installed_ipython_comes_before_the_stand_in(session, needs):
    needs("IPython")
    assert session.run("import IPython\nIPython.__file__").value.startswith("'/")
    assert texts(session.run("from IPython.display import HTML, JSON, SVG, display\ndisplay(HTML('<i>x</i>'))")) == ["x"]
    assert texts(session.run("display(JSON({'a': 1}))")) == ['{"a": 1}']
    assert session.run("from IPython import get_ipython as g\ng() is get_ipython()").value == "True"


# ---- sounds ----

WAV = """import io, wave
file = io.BytesIO()
with wave.open(file, "wb") as sound:
    sound.setnchannels(1); sound.setsampwidth(2); sound.setframerate(8000)
    sound.writeframes(bytes(COUNT))
from IPython.display import Audio, display
"""


@pytest.fixture(name="sounds", params=["IPython", "the stand-in"])
def fixture_sounds(session, needs, request):
    """A session in which one cell has run."""
    if request.param == "IPython":
        needs("IPython")
    session.run(HIDDEN if request.param == "the stand-in" else "1")
    return session


def test_a_sound_is_sent_and_saved(sounds, tmp_path):
    result = sounds.run(WAV.replace("COUNT", "1000") + "Audio(file.getvalue())")
    frame = next(f for f in result.frames if f.kind == "result")
    assert frame["text/plain"] == "[sound: output/cell-2-sound-1.wav]"
    assert frame.parts["audio/wav"] == (tmp_path / "output/cell-2-sound-1.wav").read_bytes()
    result = sounds.run("open('a.wav', 'wb').write(file.getvalue())\ndisplay(Audio('a.wav'), Audio(filename='a.wav'))")
    assert [f["text/plain"] for f in result.displays] == [f"[sound: output/cell-3-sound-{n}.wav]" for n in (1, 2)]


def test_a_long_sound_is_only_saved(sounds):
    for size, sent in ((400_000 - 44, True), (400_000 - 43, False)):
        result = sounds.run(WAV.replace("COUNT", str(size)) + "display(Audio(file.getvalue()))")
        (frame,) = result.displays
        assert ("audio/wav" in frame) == sent
        assert frame["text/plain"].startswith("[sound: output/")


def test_samples_become_a_sound(sounds):
    code = "from IPython.display import Audio\nsound = Audio([0, .5, -1], rate=8000)\nimport wave, io"
    read = "w = wave.open(io.BytesIO(sound.data)); (w.getframerate(), w.getnchannels(), w.readframes(9).hex())"
    assert sounds.run(f"{code}\n{read}").value == "(8000, 1, '0000ff3f0180')"
    assert sounds.run("sound = Audio([[1, 1], [0, 0]], rate=8000)\n" + read).value == "(8000, 2, 'ff7f0000ff7f0000')"
    assert "rate must be specified" in sounds.run("Audio([1])").done["evalue"]
    assert "No audio data" in sounds.run("Audio()").done["evalue"]
    assert "only WAV, MP3" in sounds.run("Audio(b'what')").value


def test_a_sound_at_an_url_is_refused(session):
    session.run(HIDDEN + "from IPython.display import Audio")
    assert "not what lies at an URL" in session.run("Audio('https://example.com/a.mp3')").done["evalue"]


# ---- what a frame has no room for ----

LARGE = "class Large:\n    def _repr_png_(self): return b'\\x89PNG' + bytes((9 << 20) - 4)\n"


@pytest.mark.parametrize("show", ["Large()", "display(Large())", "[display(Large())]", "print('a'); Large()"])
def test_a_picture_that_is_too_large_is_an_error_and_the_state_is_kept(session, tmp_path, show):
    session.run("x = 1\n" + LARGE)
    result = session.run(show)
    assert result.status == "error" and result.done["ename"] == "ValueError"
    assert result.done["evalue"] == ("a picture of 9437184 bytes is too large to be shown: at most 8388608 are; "
                                     "it is saved as output/cell-2-figure-1.png")
    assert result.images == []
    assert (tmp_path / "output/cell-2-figure-1.png").stat().st_size == 9 << 20
    assert session.run("x").value == "1"


def test_forms_that_are_only_named_go_without_what_is_in_them(session):
    bundle = "{'text/plain': 'p', 'text/html': 'h' * 9_000_000, 'application/json': ['j' * 9_000_000]}"
    result = session.run(f"class F:\n    def _repr_mimebundle_(self, **_): return {bundle}\nF()")
    frame = result.frames[0]
    assert (frame["text/plain"], frame["text/html"], frame["application/json"]) == ("p", "", "")
    result = session.run("display({'a/%d' % i: 'x' for i in range(100)} | {'text/plain': 'p'}, raw=True)")
    assert result.value is None and result.displays[0]["text/plain"] == "p" and len(result.displays[0].parts) == 41


@pytest.mark.parametrize("code", ["globals()['n' * 9_000_000] = 1", "globals().update({'m%d' % i * 9000: 1 for i in range(20)})"])
def test_names_that_are_too_long_are_not_told(session, code):
    result = session.run("x = 1\n" + code)
    assert result.status == "ok" and len(result.done.parts.get("names", b"")) <= 50_000
    told = session.ask_variables(10)
    assert len(told["vars"]) <= 50_000 and int(told["total"]) > told["vars"].count("\n")
    assert session.run("x").value == "1"


@pytest.mark.parametrize("code", ["'\\U000e0001' * 1_000_001", "['\\U000e0001' * 999_999] * 3"])
def test_what_a_repr_makes_of_a_value_is_bounded(session, code):
    assert 900_000 < len(session.run(code).value) < 1_000_200


def test_too_many_packages_at_once_are_refused(session):
    result = session.run("%pip install " + " ".join("package%d" % i for i in range(9000)))
    assert [frame.kind for frame in result.frames] == ["done"]
    assert "ask for fewer at once" in result.done["evalue"]


def test_a_figure_that_memory_does_not_suffice_for_is_told_so(session, needs):
    needs("matplotlib")
    session.run("import matplotlib.pyplot as plt, resource\nplt.plot([1]); plt.close()")
    session.run("plt.plot([1]);")
    # The canvas takes 400 MB; what finds its borders 100 more.
    session.run("pages = int(open('/proc/self/statm').read().split()[0])\n"
                "resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (460 << 20), -1))")
    output = session.run("plt.figure(figsize=(100, 100), dpi=100); plt.plot([1]);").output
    assert "MemoryError" in output and "Attribute" not in output
