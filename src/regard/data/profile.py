"""Which language a text is in, told by its commonest little words.

It knows a dozen languages; of all others it says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from regard.data.languages import code_of

# Little words that are frequent in one of these languages and rare in the others.
_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "cs": "je že jsem jako není který která jsou bylo nebo při před podle jeho muž dva",
        "da": "og er det jeg ikke med af til på har som for hvad vil også mand",
        "de": "der die das und ist nicht ich mit ein eine einer einem auf für sich auch wird zwei mann",
        "en": "the and is of to that with his they this are was have it a man you at on",
        "es": "el los las que y una por con del está para como pero hombre su es más",
        "fi": "ja on ei se että hän oli ovat mutta kun niin myös tämä mitä",
        "fr": "le les des et est une dans du que qui pour sur avec pas il au homme deux",
        "hu": "és hogy egy nem az van volt csak meg ez mint már kell",
        "it": "il gli che di è una per con della non sono nel uomo del più anche",
        "nl": "het een van en niet dat zijn met voor op ik ook maar wordt bij man twee",
        "pl": "się nie na że jest do jak ale był jego które przez już dwa mężczyzna",
        "pt": "os uma não com para que em do da é dos mais mas por homem ele",
        "ru": "что это как из за был не на он по но от или для было они",
        "sv": "och det att som är inte jag på av för med den har ett till man två",
    }.items()
}
_CLEAR = 0.08  # the share of little words from which on a text is plainly in a language
_TWICE = 2.0  # how much more of them than of the language it is said to be
_ENOUGH = 5  # little words below which nothing is plain


def looks_like(words: Mapping[str, int], claimed: str) -> str | None:
    """The language a text is plainly in, where that is not the one it is said to be."""
    code = code_of(claimed)
    if code not in _WORDS:
        return None
    shares = {language: known_share(words, little) for language, little in _WORDS.items()}
    best = max(shares, key=lambda language: shares[language])
    enough = shares[best] * sum(words.values()) >= _ENOUGH
    clear = enough and best != code and shares[best] > _CLEAR and shares[best] > _TWICE * shares[code]
    return best if clear else None


def known_share(words: Mapping[str, int], known: Collection[str]) -> float:
    """The share of running words that are known."""
    total = sum(words.values())
    return sum(count for word, count in words.items() if word in known) / total if total else 0.0
