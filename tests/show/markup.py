"""How tests read a page as a file: its elements, and what its policy says of them."""

import base64
import hashlib
from html.parser import HTMLParser


class Reader(HTMLParser):
    """The elements of a page in order, with the text inside each script and style."""

    def __init__(self, text):
        super().__init__()
        self.found, self.inside = [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = [tag, dict(attributes), ""]
        self.found.append(self.inside)

    def handle_data(self, data):
        if self.inside:
            self.inside[2] += data

    def handle_endtag(self, tag):
        self.inside = None

    def of(self, tag):
        """Attributes and text of each element of a kind."""
        return [(attributes, text) for name, attributes, text in self.found if name == tag]

    def values(self, *names):
        """The values of these attributes, wherever they are."""
        return [value for _, attributes, _ in self.found for name, value in attributes.items() if name in names]

    @property
    def policy(self):
        """What the page lets run."""
        return next(each["content"] for each, _ in self.of("meta") if each.get("http-equiv"))


def fingerprint(text):
    """What a policy must call a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
