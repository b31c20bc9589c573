"""The door to pictures of classified texts: as text, as a page, as a figure, by the name of the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.errors import UsageError
from regard.show.canvas import ENDINGS, check_name
from regard.show.place import fresh_file
from regard.show.shaded import Shaded
from regard.show.shaded_text import shaded_texts

FILES = (".html", *ENDINGS, ".txt")


def save_shaded(examples: Shaded | Sequence[Shaded], path: str | Path, title: str = "") -> Path:
    """Write one classified text or several as the kind of file that its name asks for."""
    path, many = Path(path), [examples] if isinstance(examples, Shaded) else list(examples)
    ending = check_name(path, FILES)
    if not many:
        raise UsageError("a picture: expected at least one example; found none.")
    if ending == ".html":
        from regard.show.shaded_page import write_shaded

        return write_shaded(many, path, title)
    if ending in ENDINGS:
        from regard.show.shaded_figure import draw_shaded

        return draw_shaded(many, path, title)
    with fresh_file(path) as draft:
        text = "\n\n".join(filter(None, (title, shaded_texts(many))))
        draft.write_text(text + "\n", encoding="utf-8", errors="surrogatepass", newline="\n")
    return path


def one_right_one_wrong(examples: Sequence[Shaded]) -> list[Shaded]:
    """The surest right answer and the surest wrong one, as far as there are such: what a page begins with."""
    found = []
    for wanted in (True, False):
        some = [each for each in examples if each.is_right is wanted]
        if some:
            found.append(max(some, key=lambda each: each.probability or 0.0))
    return found
