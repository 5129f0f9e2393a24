"""A page as a browser reads it: its parts, and whether its HTML is whole."""

from html.parser import HTMLParser

VOID = ("meta", "col", "img")


class Page(HTMLParser):
    """Ids, links, pictures and text; every tag has to be closed in its turn."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.links, self.pictures, self.texts = [], [], [], [], []
        self.feed(html)
        assert self.open == []
        assert "nan" not in html

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told["href"]] if "href" in told else []
        self.pictures += [told["src"]] if tag == "img" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        """Closed at once, as in SVG."""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)
