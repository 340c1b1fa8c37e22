# SPDX-License-Identifier: MIT
"""What JavaScript shows beside its text (JS17)."""
import base64
import shutil

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
                       "rkJggg==")
MAKE = f"const png = Buffer.from('{base64.b64encode(PNG).decode()}', 'base64');\n"


def test_display_shows_at_its_place(session):
    session.start("console.log('a'); display({a: 1}); console.log('b')")
    frame = session.next_frame()
    assert frame.kind == "display" and frame["text/plain"] == "{ a: 1 }\n" and session.output == b"a\n"
    session.send("ack", frame.ident)
    assert session.finish().output == "a\nb\n"


def test_an_object_with_jupyters_symbol_is_what_it_says(session, tmp_path):
    bundle = "[Symbol.for('Jupyter.display')]() { return {'text/html': '<b>h</b>', 'image/png': png} }"
    result = session.run(MAKE + f"const shown = {{ {bundle} }}\ndisplay(shown); shown")
    display, value, _ = result.frames
    for frame in (display, value):
        assert frame.parts["image/png"] == PNG and frame["text/html"] == "<b>h</b>"
    assert display["file"] == "cell-1-figure-1.png" and value["file"] == "cell-1-figure-2.png"
    assert (tmp_path / "output/cell-1-figure-1.png").read_bytes() == PNG


def test_base64_promises_and_raw_bundles(session):
    result = session.run(MAKE + "({async [Symbol.for('Jupyter.display')]() { return {'image/png': png.toString('base64')} }})")
    assert result.frames[0].parts["image/png"] == PNG
    result = session.run("display({'text/plain': 'plain', 'application/json': {a: [1]}}, {raw: true})")
    assert result.frames[0]["text/plain"] == "plain\n" and result.frames[0]["application/json"] == '{"a":[1]}'


def test_pictures_of_canvas_libraries_are_figures(session):
    assert session.run(MAKE + "png").frames[0].parts["image/png"] == PNG
    canvas = "({toDataURL() {}, toBuffer(type) { return type === 'image/png' ? png : null }})"
    assert session.run(canvas).frames[0].parts["image/png"] == PNG
    assert session.run("({toDataURL() {}, async toBuffer() { return png }})").frames[0].parts["image/png"] == PNG


def test_html_comes_as_text_too_and_drawings_are_kept(session, tmp_path):
    result = session.run("({[Symbol.for('Jupyter.display')]: () => ({'text/html': '<h1>T &amp; U</h1><p>words</p>'})})")
    assert result.value == "T & U\nwords"
    result = session.run("({[Symbol.for('Jupyter.display')]: () => ({'image/svg+xml': '<svg/>'})})")
    assert result.value == "[drawing: output/cell-2-figure-1.svg]"
    assert (tmp_path / "output/cell-2-figure-1.svg").read_text() == "<svg/>"


def test_pictures_beyond_the_limit_are_saved_or_told_as_lost(session, tmp_path):
    code = "for (let i = 0; i < 23; i++) display({ 'image/png': Buffer.from([0x89, 80, 78, 71, i]) }, { raw: true })"
    result = session.run(code)
    assert len(result.images) == 20 and "[images beyond 20 in this cell: 3; saved in output/]" in result.output
    assert (tmp_path / "output/cell-1-figure-23.png").read_bytes()[4] == 22
    shutil.rmtree(tmp_path / "output")
    assert "[images beyond 20 in this cell: 3; 3 could not be saved in output/ and are lost]" in session.run(code).output


def test_what_cannot_be_shown_is_an_error_of_the_cell(session):
    result = session.run("({[Symbol.for('Jupyter.display')]() { throw new Error('no picture') }})")
    assert result.status == "error" and result.done["evalue"] == "no picture"
    assert session.run("({[Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('no') }})").status == "error"


def test_order_of_a_thousand_displays(session):
    result = session.run("for (let i = 0; i < 1000; i++) { process.stdout.write(i + ','); display(i) }")
    before = 0
    for i, frame in enumerate(result.displays):
        before += len(f"{i},")
        assert frame["text/plain"] == f"{i}\n" and frame.offset == before


def test_a_page_is_shown_as_its_words(session):
    for page, text in (
            ("<table><tr><th>a<th>b</tr><tr><td>1<td>2</tr></table>", "a | b\n1 | 2"),
            ("<table><tr><th></th><th>a</th></tr><tr><th>0</th><td><p>x</p> y</td></tr></table>", " | a\n0 | x y"),
            ("<p>one<script>var a = '<p>'; if (a<1) {}</script> two<!-- no -->", "one two"),
            ("<pre>a  b\\n  c</pre> f  g\\n h", "a  b\n  c\nf g h"), ("1 < 2 and <b>3</b> &gt; 2", "1 < 2 and 3 > 2")):
        code = "({[Symbol.for('Jupyter.display')]: () => ({'text/html': `%s`})})" % page
        assert session.run(code).frames[0]["text/plain"] == text


def test_a_picture_that_is_too_large_is_an_error_and_the_state_is_kept(session, tmp_path):
    session.run(MAKE + "const large = Buffer.concat([png, Buffer.alloc(9 << 20)])")
    for number, show in enumerate(["large", "display(large)", "({toDataURL() {}, async toBuffer() { return large }})"], 2):
        result = session.run(show)
        assert result.status == "error" and result.done["ename"] == "RangeError"
        assert result.done["evalue"] == (
            f"a picture of {len(PNG) + (9 << 20)} bytes is too large to be shown: at most 8388608 are; "
            f"it is saved as output/cell-{number}-figure-1.png")
        assert [frame.kind for frame in result.frames] == ["done"]
    assert session.run("png.length").value == f"{len(PNG)}"


def test_forms_that_are_only_named_go_without_what_is_in_them(session):
    result = session.run("display({'text/plain': 'p', 'text/html': 'h'.repeat(9e6), 'application/json': 'j'.repeat(9e6)}, {raw: true})")
    frame = result.frames[0]
    assert (frame["text/plain"], frame["text/html"], frame["application/json"]) == ("p\n", "", "")
    result = session.run("const all = {}; for (let i = 0; i < 100; i++) all[`a/${i}`] = 'x'; display(all, {raw: true})")
    assert len(result.frames[0].parts) == 41


def test_names_that_are_too_long_are_not_told(session):
    result = session.run("var x = 1; for (let i = 0; i < 9; i++) globalThis[`n${i}`.repeat(1e6)] = 1")
    assert result.status == "ok" and len(result.done["names"]) <= 50_000
    assert session.run("for (let i = 0; i < 9; i++) delete globalThis[`n${i}`.repeat(1e6)]").status == "ok"
    assert session.run("x").value == "1"


def test_too_many_packages_at_once_are_refused(session):
    result = session.run("%npm install " + " ".join(f"package{i}" for i in range(9000)))
    assert [frame.kind for frame in result.frames] == ["done"] and "ask for fewer at once" in result.done["evalue"]


def test_values_are_shown_after_the_prototype_of_emitters_is_frozen(session):
    session.run("1")
    session.run("Object.freeze(require('events').prototype);")
    result = session.run("({ a: 1 })")
    assert (result.status, result.value) == ("ok", "{ a: 1 }")


def test_the_process_is_shown_once(session):
    assert session.run("({ process })").value == session.run("`{ process: [process ${process.pid}] }`").value.strip("'")
