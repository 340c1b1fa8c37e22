# SPDX-License-Identifier: MIT
"""Takes the words out of an HTML page, for a model that cannot see it rendered."""

from .own import own

PAGE_LIMIT = 4_000_000  # characters of a page that are read
NOT_SHOWN = ("script", "style", "template", "title", "iframe", "video", "audio")
BLOCKS = frozenset(
    "address article aside blockquote br caption center dd div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody tfoot thead tr ul".split()
)


def text_of_html(page):
    """Returns the words of a page: a line for each block and row, with `|` between cells.

    End tags may be missing, as HTML allows.
    """
    html = own("html")
    re = own("re")

    token = r"""<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][\w-]*)(?:"[^"<]*"|'[^'<]*'|[^'"<>])*>|<|[^<]+"""
    words = Words()
    for match in re.finditer(token, page[:PAGE_LIMIT], re.S):
        if match[2]:
            words.tag(match[2].lower(), bool(match[1]))
        elif not match[0].startswith("<!"):
            words.text(html.unescape(match[0]))
    return words.result()


class Words:
    """Gathers the lines of a page from its tags and texts."""

    def __init__(self):
        self.lines = [""]
        self.hidden = None  # the tag whose content is not shown
        self.cells = 0  # of the current row, so far
        self.preformatted = False

    def tag(self, name, ends):
        if self.hidden or (name in NOT_SHOWN and not ends):
            self.hidden = None if ends and name == self.hidden else self.hidden or name
        elif name in ("td", "th"):
            if not ends:
                self.lines[-1] += " | " if self.cells else ""
                self.cells += 1
        elif name in BLOCKS:
            in_row = self.cells and name not in ("tr", "table", "tbody", "thead", "tfoot")
            if in_row:
                self.text(" ")
            else:
                self.lines.append("")
                self.cells = 0
            self.preformatted = name == "pre" and not ends

    def text(self, text):
        if self.hidden:
            return
        if self.preformatted:
            first, *others = text.split("\n")
            self.lines[-1] += first
            self.lines += others
            return
        line = self.lines[-1]
        words = " ".join(text.split())
        before = " " if text[:1].isspace() and line and not line.endswith(" ") else ""
        after = " " if text[-1:].isspace() and words else ""
        self.lines[-1] = line + before + words + after

    def result(self):
        return "\n".join(line.rstrip() for line in self.lines if line.strip())
