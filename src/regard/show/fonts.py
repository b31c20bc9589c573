"""Fonts for labels in any script: what the usual font lacks is looked for in others that the system has."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from functools import cache

# Tried in this order; the first that has a missing letter is used for it.
FAMILIES = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK KR", "Source Han Sans",
    "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback", "IPAexGothic", "IPAGothic", "TakaoGothic",
    "VL Gothic", "NanumGothic", "UnDotum", "Hiragino Sans", "PingFang SC", "PingFang TC", "Apple SD Gothic Neo",
    "Yu Gothic", "Microsoft YaHei", "Microsoft JhengHei", "MS Gothic", "Malgun Gothic", "SimHei",
    "Noto Sans", "Noto Sans Thai", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Khmer",
    "Noto Sans Myanmar", "Noto Sans Ethiopic", "Noto Sans Georgian", "Noto Sans Symbols2", "Noto Emoji",
    "Arial Unicode MS", "Segoe UI Symbol", "Unifont", "STIXGeneral",
)  # fmt: skip
EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC")


class MissingLetters(UserWarning):
    """A figure has letters that no font of this system shows, or shows in the wrong order."""


def families(texts: Iterable[str]) -> list[str]:
    """The font families that show these texts, the usual one first; a warning where letters are left over."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    letters = {letter for text in texts for letter in text if _is_drawn(letter)}
    missing = letters - _has(findfont(FontProperties()))
    found = list(rcParams["font.family"])
    paths = {entry.name: entry.fname for entry in reversed(fontManager.ttflist)} if missing else {}
    for family in FAMILIES:
        shown = missing & _has(paths[family]) if missing and family in paths else set()
        if shown:
            found.append(family)
            missing -= shown
    _warn(missing, {letter for letter in letters if unicodedata.bidirectional(letter) in ("R", "AL")})
    return found


def _is_drawn(letter: str) -> bool:
    """Does a font need a picture of it? White space, controls and marks of direction or joining need none."""
    return not letter.isspace() and unicodedata.category(letter) not in ("Cc", "Cf")


@cache
def _has(path: str) -> frozenset[str]:
    from matplotlib.ft2font import FT2Font

    return frozenset(map(chr, FT2Font(path).get_charmap()))


def _shapes() -> bool:
    """Does matplotlib join and order the letters of every script? From 3.11 on it does."""
    import matplotlib

    return tuple(int(part) for part in matplotlib.__version__.split(".")[:2]) >= (3, 11)


def _warn(missing: set[str], turned: set[str]) -> None:
    if missing:
        names = [unicodedata.name(letter, "") for letter in missing]
        package = "fonts-noto-cjk" if any(name.startswith(EAST_ASIAN) for name in names) else "fonts-noto"
        some = "".join(sorted(missing)[:20]) + (" ..." if len(missing) > 20 else "")
        warnings.warn(
            f"no font on this system shows {some} in a figure: expect boxes. Install one (Debian and Ubuntu: "
            f"apt install {package}; then delete matplotlib's cache), or save an .html page.",
            MissingLetters,
            stacklevel=3,
        )
    elif turned and not _shapes():
        warnings.warn(
            "this matplotlib draws letters from left to right and does not join them, so Arabic, Hebrew and other "
            "right-to-left words look wrong in a figure. Install matplotlib 3.11 or newer, or save an .html page.",
            MissingLetters,
            stacklevel=3,
        )
