# SPDX-License-Identifier: MIT
"""The demo's conversation as an HTML page, and a part of it as the SVG picture of README.md."""
import base64
import html
import struct
import textwrap

WIDTH, MARGIN, LINE, COLUMNS = 860, 24, 18, 98
COLORS = {"user": "#dbeafe", "note": "none", "code": "#1f2937", "text": "#f3f4f6"}

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>ptycell: a conversation</title><style>
body { font: 16px/1.5 sans-serif; max-width: 54em; margin: 2em auto; padding: 0 1em }
pre { font: 13px/1.4 monospace; padding: .8em 1em; border-radius: 8px; overflow-x: auto; margin: .4em 0 }
.user { background: #dbeafe; border-radius: 8px; padding: .8em 1em }
.note { margin: 1.4em 0 .2em; font-weight: bold }
.code { background: #1f2937; color: #f9fafb }
.text { background: #f3f4f6 }
img { max-width: 100%%; border: 1px solid #ddd; border-radius: 8px }
</style></head><body>
%s
</body></html>
"""


class Transcript:
    """Parts in their order: (kind, text). A picture's text is its PNG in base64."""

    def __init__(self):
        self.parts = []

    def add(self, kind, text):
        self.parts.append((kind, text.rstrip("\n")))

    def html(self):
        made = []
        for kind, text in self.parts:
            if kind == "picture":
                made.append(f'<img alt="the plot" src="data:image/png;base64,{text}">')
            else:
                tag = "pre" if kind in ("code", "text") else "p"
                made.append(f'<{tag} class="{kind}">{html.escape(text)}</{tag}>')
        return PAGE % "\n".join(made)

    def svg(self, wanted):
        """The parts below the notes of `wanted`, and what the user said."""
        made, y, shown = [], MARGIN, False
        for kind, text in self.parts:
            shown = text in wanted if kind == "note" else shown
            if shown or kind == "user":
                drawn, height = draw(kind, text, y)
                made.append(drawn)
                y += height
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + MARGIN // 2}">\n'
                f'<rect width="100%" height="100%" rx="12" fill="#ffffff" stroke="#d1d5db"/>\n{"".join(made)}</svg>\n')


def draw(kind, text, y):
    """One part of the picture and its height."""
    if kind == "picture":
        width, height = struct.unpack(">II", base64.b64decode(text[:64])[16:24])
        shown = 560
        height = height * shown // width
        return (f'<image x="{MARGIN}" y="{y}" width="{shown}" height="{height}" href="data:image/png;base64,{text}"/>\n',
                height + LINE)
    lines = [part for line in text.split("\n") for part in textwrap.wrap(line, COLUMNS, subsequent_indent="    ",
                                                                         replace_whitespace=False, drop_whitespace=False) or [""]]
    prose = kind in ("user", "note")
    style = ('font-family="sans-serif" font-size="15"' if prose else 'font-family="monospace" font-size="13"')
    color = "#f9fafb" if kind == "code" else "#111827"
    height = LINE * len(lines) + (8 if kind == "note" else 20)
    made = f'<rect x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="8" fill="{COLORS[kind]}"/>\n'
    made += f'<text {style} fill="{color}" xml:space="preserve">\n'
    for number, line in enumerate(lines, 1):
        made += f'<tspan x="{MARGIN + (0 if kind == "note" else 14)}" y="{y + 5 + LINE * number}">{html.escape(line)}</tspan>\n'
    return made + "</text>\n", height + 8
