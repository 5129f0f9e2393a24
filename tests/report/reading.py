"""A page as a browser reads it: its parts, and whether its HTML is well-formed."""

import re
from html.parser import HTMLParser

VOID = ("meta", "col", "img", "br", "line", "rect", "circle")


class Page(HTMLParser):
    """Ids, links, pictures, tables and text; tags must be closed in order.

    `inside` has the text of each element with an id, `marked` the texts of all elements of a class,
    `tables` the cells of each table row by row, `shapes` the attributes of each shape of an SVG.
    """

    def __init__(self, html):
        super().__init__()
        self.open, self.links, self.pictures, self.texts = [], [], [], []
        self.ids, self.inside, self.marked, self.tables, self.shapes = [], {}, {}, [], []
        self.feed(html)
        assert self.open == []
        values = [value for _, given in self.shapes for value in given.values()]
        assert not re.search(r"\bnan\b", " ".join([self.text, *values]))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.pictures += [given["src"]] if tag == "img" else []
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("line", "rect", "circle"):
            self.shapes.append((tag, given))
        if tag not in VOID:
            self.open.append((tag, given, len(self.texts)))

    def handle_endtag(self, tag):
        name, given, start = self.open.pop()
        assert name == tag
        text = " ".join("".join(self.texts[start:]).split())
        if "id" in given:
            self.inside[given["id"]] = text
        for kind in given.get("class", "").split():
            self.marked.setdefault(kind, []).append(text)
        if tag in ("td", "th"):
            self.tables[-1][-1].append(text)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join("".join(self.texts).split())
