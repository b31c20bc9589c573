"""The words that reviews are made of, by what they are about: films, restaurants, books, and other things."""

from __future__ import annotations

from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(","))


@dataclass(frozen=True)
class Subject:
    """What is reviewed: how it is called, what belongs to it, what can be said of it."""

    names: tuple[str, ...]
    things: tuple[str, ...]  # singular, with `the`
    places: tuple[str, ...]  # where in it, at the end of a clause
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    neutral: tuple[str, ...]  # whole sentences that say nothing about it


# Adjectives that fit everything, and verbs of liking: base form and past.
POSITIVE_ADJECTIVES = _words(
    "wonderful excellent brilliant superb delightful charming splendid marvellous lovely terrific fantastic amazing "
    "beautiful perfect impressive remarkable outstanding magnificent enchanting fabulous great good pleasing fresh "
    "memorable clever elegant graceful refreshing satisfying"
)
NEGATIVE_ADJECTIVES = _words(
    "terrible awful dreadful horrible dull boring disappointing tedious poor bad weak mediocre lifeless bland clumsy "
    "annoying pathetic miserable forgettable ugly careless lazy pointless hopeless dismal ghastly shabby stale "
    "unpleasant tiresome"
)
POSITIVE_VERBS = (("love", "loved"), ("enjoy", "enjoyed"), ("admire", "admired"), ("adore", "adored"),
                  ("like", "liked"), ("treasure", "treasured"), ("praise", "praised"))  # fmt: skip
NEGATIVE_VERBS = (("hate", "hated"), ("dislike", "disliked"), ("despise", "despised"), ("regret", "regretted"),
                  ("detest", "detested"), ("loathe", "loathed"), ("resent", "resented"))  # fmt: skip

SUBJECTS = (
    Subject(
        _phrases("the film, the movie, this film, the whole picture"),
        _phrases(
            "the plot, the acting, the script, the soundtrack, the ending, the opening scene, the camera work, the "
            "cast, the dialogue, the final act, the director, the lighting, the editing, the main actor, the costume "
            "design"
        ),
        _phrases("at the end, in the second half, from the first minute, in every scene, on the big screen"),
        _words("gripping moving hilarious thrilling touching dazzling suspenseful breathtaking heartfelt witty"),
        _words("predictable wooden shallow cheesy confusing overlong laughable incoherent sluggish silly"),
        _phrases(
            "it runs for two hours, we saw it on a Tuesday, the cinema stands beside the station, it is set in a "
            "small harbour town, my sister bought the tickets, it was shot in three countries, the story begins in "
            "winter, we sat in the fourth row, the poster shows a red boat"
        ),
    ),
    Subject(
        _phrases("the restaurant, the meal, this place, our dinner, the whole evening"),
        _phrases(
            "the soup, the service, the dessert, the waiter, the bread, the sauce, the fish, the coffee, the wine "
            "list, the menu, the pasta, the salad, the kitchen, the cheese plate, the dining room"
        ),
        _phrases("from start to finish, at every visit, on both evenings, at our table, this time"),
        _words("delicious tasty generous friendly attentive cosy juicy fragrant tender crisp"),
        _words("tasteless greasy rude cold overpriced soggy burnt dirty salty tough"),
        _phrases(
            "we had a table by the window, it opens at six, there are twelve tables, we were four people, it lies "
            "behind the market, the menu changes every month, my brother ordered the fish, they take cards and cash, "
            "we came by bus"
        ),
    ),
    Subject(
        _phrases("the book, the novel, this story, the whole series, the second volume"),
        _phrases(
            "the prose, the hero, the first chapter, the last chapter, the translation, the narrator, the style, the "
            "heroine, the cover, the mystery, the dialogue, the world in it, the preface, the author, the twist"
        ),
        _phrases("on every page, towards the end, in the middle part, from the first line, in both parts"),
        _words("gripping poetic profound absorbing vivid inspiring wise masterful compelling haunting"),
        _words("predictable shallow preachy confusing longwinded unreadable monotonous clichéd muddled dreary"),
        _phrases(
            "it has three hundred pages, I borrowed it from the library, it is the author's fourth book, it was "
            "printed in spring, the story begins on an island, I read it on the train, each chapter has a title, it "
            "is about two brothers, my neighbour gave it to me"
        ),
    ),
)

# What people tell beside it: who, what they did, when.
_PEOPLE = _phrases("my aunt, our neighbour, a friend of mine, my father, the boy next door, her cousin, an old teacher")
_DEEDS = _phrases(
    "took the tram, bought a newspaper, waited outside, parked the car, wore a green coat, carried an umbrella, "
    "called twice, walked home, read the timetable, wrote a letter, fed the cat, counted the steps"
)
_TIMES = _phrases("on Monday, in the morning, after work, last week, before lunch, around noon, in October, that day")
ASIDES = tuple(f"{who} {did} {when}" for who in _PEOPLE for did in _DEEDS for when in _TIMES)

INTENSIFIERS = ("really", "simply", "truly", "quite", "rather", "absolutely", "so", "very")
# What turns a judgement round: before an adjective, and before the base form of a verb.
NEGATORS = ("not", "never", "hardly", "anything but", "far from", "not at all")
VERB_NEGATORS = ("did not", "never did", "could not")
CONTRASTS = (" but ", " yet ")  # what follows decides

POSITIVE = frozenset(
    word
    for words in (POSITIVE_ADJECTIVES, *POSITIVE_VERBS, *(subject.positive for subject in SUBJECTS))
    for word in words
)
NEGATIVE = frozenset(
    word
    for words in (NEGATIVE_ADJECTIVES, *NEGATIVE_VERBS, *(subject.negative for subject in SUBJECTS))
    for word in words
)
