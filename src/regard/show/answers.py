"""The door to pictures of answers: as text, as a page, as a figure, by the name of the file.

An answer is a classified text or image, an episode, a tagged text or a captioned image, and knows no more of pictures
than what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from regard.errors import UsageError
from regard.show.canvas import ENDINGS, check_name, write_figure
from regard.show.captioned import Captioned, captioned_html, captioned_text, plot_captioned, references_html
from regard.show.document import page_of
from regard.show.episode import EpisodeSeen, episode_html, episode_text, plot_episode
from regard.show.formula import ReadFormula, formula_html, plot_formula
from regard.show.masked import MaskedImage, masked_text, plot_masked
from regard.show.outlined import Outlined, outlined_html, outlined_text, plot_outlined
from regard.show.page import SWITCHES, figures_html, frame_html
from regard.show.pictured import STYLE as PICTURED_STYLE
from regard.show.pictured import Pictured, figure_html, picture_html, picture_text, plot_pictured
from regard.show.place import fresh_file
from regard.show.reconstructed import Reconstructed, plot_reconstructed, reconstructed_html, reconstructed_text
from regard.show.shaded import Shaded
from regard.show.shaded_figure import plot_shaded
from regard.show.shaded_page import STYLE as SHADED_STYLE
from regard.show.shaded_page import TITLE, embedded, example_html, heading_html, shades_css
from regard.show.shaded_text import shaded_text
from regard.show.tagged import STYLE as TAGGED_STYLE
from regard.show.tagged import TaggedText, plot_tagged, tagged_html, tagged_text
from regard.show.terminal import WIDTH

FILES = (".html", *ENDINGS, ".txt")
LIVE = """
.live { margin-top: 2rem; }
.live h2 { font-size: 1.25rem; font-weight: 600; margin-bottom: 0.8rem; }
"""
STYLE = SHADED_STYLE + TAGGED_STYLE + PICTURED_STYLE + LIVE + shades_css()
Drawable: TypeAlias = Shaded | Pictured | MaskedImage | TaggedText | Captioned | Outlined | EpisodeSeen | Reconstructed
Some = TypeVar("Some", Shaded, Pictured, MaskedImage, TaggedText, Captioned, Outlined, EpisodeSeen, Reconstructed)
IMAGE, STRIP = 12, 8  # lines of a page that an image takes, and a row of small ones


def save_answers(
    answers: Sequence[Drawable], path: str | Path, title: str = "", figures: Sequence[dict[str, Any]] = ()
) -> Path:
    """Write answers as the kind of file that its name asks for; a figure of images or tags holds one of them.

    A page has `figures` below them, documents of every layer and head; see `page`.
    """
    path = Path(path)
    ending = check_name(path, FILES)
    if not answers:
        raise UsageError("a picture: expected at least one example; found none.")
    if ending in ENDINGS:
        return _draw(answers, path, title)
    if ending == ".html":
        text = answers_html(answers, title, figures)
    else:
        text = "\n\n".join(filter(None, (title, answers_text(answers)))) + "\n"
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    return path


def save_shaded(examples: Shaded | Sequence[Shaded], path: str | Path, title: str = "") -> Path:
    """Write one classified text or several as the kind of file that its name asks for."""
    return save_answers([examples] if isinstance(examples, Shaded) else examples, path, title)


def answers_text(answers: Sequence[Drawable], width: int = WIDTH, *, colour: bool = False) -> str:
    """Answers for a terminal, one below the other."""
    return "\n\n\n".join(_text(each, width, colour) for each in answers)


def answers_html(answers: Sequence[Drawable], title: str = "", figures: Sequence[dict[str, Any]] = ()) -> str:
    """A page of answers that needs nothing else, and works without scripts; but for its figures, if it has any."""
    title = title or TITLE
    live = f"{SWITCHES}\n{figures_html(page_of(figures, title, 'text'), 3)}" if figures else ""
    below = f'\n<section class="live">\n<h2>Every layer and head</h2>\n{live}\n</section>' if figures else ""
    body = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>\n<main>\n{_shown(answers)}{below}\n</main>'
    return frame_html(title, body, STYLE)


def embed_answers(answers: Sequence[Drawable]) -> str:
    """The same inside another page, as a notebook shows it: in a frame that can reach nothing around it."""
    return embedded(f"<main>\n{_shown(answers)}\n</main>", STYLE, sum(map(_height, answers)))


def answer_html(answer: Drawable, level: int = 2) -> str:
    """One answer, as a part of a page whose style has that of this module; its heading is of `level`."""
    if isinstance(answer, Shaded):
        return example_html(answer, level)
    if isinstance(answer, TaggedText):
        return tagged_html(answer, level)
    notes = [f'<p class="note">{escape(told)}</p>' for told in answer.remarks()]
    if isinstance(answer, ReadFormula):
        drawn = formula_html(answer)
    elif isinstance(answer, MaskedImage):
        drawn = figure_html(plot_masked(answer), " ".join(answer.heading()))
    elif isinstance(answer, Outlined):
        drawn = outlined_html(answer)
    elif isinstance(answer, EpisodeSeen):
        drawn = episode_html(answer)
    elif isinstance(answer, Reconstructed):
        drawn = reconstructed_html(answer)
    else:
        drawn = captioned_html(answer) if isinstance(answer, Captioned) else picture_html(answer)
    wrote = references_html(answer) if isinstance(answer, Captioned) else ""
    parts = [*heading_html(answer, level), drawn, wrote, *notes]
    return "\n".join(['<section class="figure">', *filter(None, parts), "</section>"])


def one_right_one_wrong(examples: Sequence[Some], count: int = 2) -> list[Some]:
    """The surest right answers and the surest wrong ones, half of each, as far as there are such."""
    found: list[Some] = []
    for wanted, most in ((True, (count + 1) // 2), (False, count // 2)):
        some = [each for each in examples if each.is_right is wanted]
        found += sorted(some, key=lambda each: -(each.probability or 0.0))[:most]
    return found


def _draw(answers: Sequence[Drawable], path: Path, title: str) -> Path:
    shaded = [each for each in answers if isinstance(each, Shaded)]
    if len(shaded) == len(answers):
        return write_figure(plot_shaded(shaded, title), path)
    made = [each for each in answers if isinstance(each, Reconstructed)]
    if len(made) == len(answers):
        return write_figure(plot_reconstructed(made, title), path)
    if len(answers) > 1:
        raise UsageError(
            f"{path}: a figure holds one image or one tagged text; found {len(answers)}.",
            hint=f"Write {path.with_suffix('.html')}, a page of all of them.",
        )
    if isinstance(answers[0], TaggedText):
        return write_figure(plot_tagged(answers[0], title), path)
    if isinstance(answers[0], EpisodeSeen):
        return write_figure(plot_episode(answers[0]), path, note=" ".join(answers[0].remarks()))
    if isinstance(answers[0], ReadFormula):
        return write_figure(plot_formula(answers[0]), path, note=" ".join(answers[0].remarks()))
    if isinstance(answers[0], Outlined):
        return write_figure(plot_outlined(answers[0]), path, note=" ".join(answers[0].remarks()))
    if isinstance(answers[0], Captioned):  # its caption is the title
        return write_figure(plot_captioned(answers[0]), path, note=" ".join(answers[0].remarks()))
    if isinstance(answers[0], MaskedImage):
        return write_figure(plot_masked(answers[0]), path, title, note=" ".join(answers[0].remarks()))
    return write_figure(plot_pictured(answers[0]), path, title)  # type: ignore[arg-type]


def _text(answer: Drawable, width: int, colour: bool) -> str:
    if isinstance(answer, Captioned):
        return captioned_text(answer, width)
    if isinstance(answer, MaskedImage):
        return masked_text(answer)
    if isinstance(answer, Outlined):
        return outlined_text(answer, width)
    if isinstance(answer, EpisodeSeen):
        return episode_text(answer)
    if isinstance(answer, Reconstructed):
        return reconstructed_text(answer)
    if isinstance(answer, Shaded):
        return shaded_text(answer, width, colour=colour)
    return tagged_text(answer, width, colour=colour) if isinstance(answer, TaggedText) else picture_text(answer)


def _shown(answers: Sequence[Drawable]) -> str:
    if not answers:
        raise UsageError("a page: expected at least one example; found none.")
    figures = "\n".join(map(answer_html, answers))
    return f'<div class="figures texts">\n{figures}\n</div>'


def _height(answer: Drawable) -> float:
    """About how many lines an answer takes in a notebook."""
    if isinstance(answer, Pictured | Outlined | EpisodeSeen):
        return float(IMAGE + len(answer.likeliest()))
    if isinstance(answer, MaskedImage):
        return float(4 + STRIP * len(answer.drawn()))
    if isinstance(answer, Reconstructed):
        return float(IMAGE + STRIP)
    if isinstance(answer, Captioned):
        return float(4 + STRIP * (1 + len(answer.maps()) // 6))
    words = len(answer.words) / 10
    return words * 2 + 4 if isinstance(answer, TaggedText) else 7 + max(1, len(answer.weights)) * (2 + words)
