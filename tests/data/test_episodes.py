"""Episodes: who is shown and who is asked about, by seed, epoch and number."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image

from regard.data.batches import Batches
from regard.data.episodes import Episode, EpisodeItem, Shape, by_class, draw_places
from regard.errors import BrokenData, UsageError
from regard.recipe import resolve
from regard.registry import maker
from regard.task import Task, TaskParts

CLASSES = {f"class-{number}": list(range(3 + number)) for number in range(7)}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Seven classes of five images, each of one grey: what is drawn can be read off its pixels."""
    folder, cells, names = tmp_path_factory.mktemp("images"), [], []
    for number in range(35):
        pixels = np.full((12, 12), 7 * number, np.uint8)
        pixels[:6, :6] += 3  # so that it can be seen how it is turned
        path = folder / f"{number}.png"
        Image.fromarray(pixels).save(path)
        cells.append(str(path))
        names.append(f"class-{number % 7}")
    return Rows(cells, names)


class Rows:
    """Two columns, as a split."""

    def __init__(self, source, target):
        self.columns = {"source": source, "target": target}

    def __len__(self):
        return len(self.columns["source"])

    def __getitem__(self, rows, /):
        return {name: [column[row] for row in rows] for name, column in self.columns.items()}


def parts(count=11, **settings):
    source = maker("side", "episode", **{"ways": 3, "shots": 2, "queries": 4, "size": (12, 12), **settings})
    examples = maker("examples", "episodes", count=count, validation=3)
    return TaskParts.build(
        Task(
            verb="classify",
            source=source,
            target=maker("side", "class"),
            goal=maker("goal", "classify"),
            examples=examples,
        )
    )


def batches(rows, made, **settings):
    return Batches(rows, made.goal, examples=made.examples, pool=len(rows), **{"tokens": 20, **settings})


def number_of(image):
    """Which image of the corpus it is."""
    return round(float(image.min()) * 255) // 7


def test_what_is_shown_is_not_asked_about_and_every_class_has_its_shots():
    shape = Shape(4, 2, 9)
    for seed in range(50):
        support, queries, numbers = draw_places(CLASSES, shape, Random(seed))
        assert Counter(name for name, _ in support) == dict.fromkeys(numbers, 2)
        assert sorted(numbers.values()) == [0, 1, 2, 3] and len(set(support)) == 8 and len(queries) == 9
        assert not set(support) & set(queries) and {name for name, _ in queries} <= set(numbers)
        assert all(place < len(CLASSES[name]) for name, place in support + queries)


def test_classes_are_numbered_anew_and_shown_in_any_order():
    shape, drawn = Shape(3, 1, 1), [draw_places(CLASSES, Shape(3, 1, 1), Random(seed)) for seed in range(600)]
    given = Counter(numbers["class-2"] for _, _, numbers in drawn if "class-2" in numbers)
    places = Counter([name for name, _ in support].index("class-2") for support, _, n in drawn if "class-2" in n)
    for counts in (given, places):
        assert set(counts) == {0, 1, 2} and min(counts.values()) > 0.7 * max(counts.values())
    asked = Counter(numbers[queries[0][0]] for _, queries, numbers in drawn)
    assert min(asked.values()) > 0.7 * max(asked.values()), "no number is the answer more often"
    assert shape.least == 2


def test_a_class_with_too_few_images_is_left_out_and_too_few_classes_are_refused():
    shape = Shape(4, 5)
    chosen = {name for seed in range(50) for name in draw_places(CLASSES, shape, Random(seed))[2]}
    assert chosen == {"class-3", "class-4", "class-5", "class-6"}
    with pytest.raises(BrokenData, match="5-way 5-shot episodes need 5 classes of 6 images or more; found 4"):
        Shape(5, 5).check(CLASSES, "here")


def test_examples_are_by_seed_epoch_and_number(rows):
    def drawn(epochs=1, **settings):
        stream = batches(rows, parts(settings.pop("count", 11)), **settings)
        return [batch for _ in range(epochs) for batch in stream]

    one, other = drawn(2), drawn(2)
    assert all(torch.equal(a.source.data, b.source.data) for a, b in zip(one, other, strict=True))
    assert all(torch.equal(a.target.data, b.target.data) for a, b in zip(one, other, strict=True))
    assert len(one) == 12, "two episodes of ten images a batch, eleven an epoch"
    by_row = {row: batch.source.data[place] for batch in one[:6] for place, row in enumerate(batch.rows)}
    later = {row: batch.source.data[place] for batch in one[6:] for place, row in enumerate(batch.rows)}
    assert set(by_row) == set(later) == set(range(11))
    assert not all(torch.equal(by_row[row], later[row]) for row in by_row), "another epoch, other episodes"
    more = {row: batch.source.data[place] for batch in drawn(count=17) for place, row in enumerate(batch.rows)}
    assert all(torch.equal(by_row[row], more[row]) for row in by_row), "how many there are changes none"
    changed = {row: batch.source.data[place] for batch in drawn(seed=3) for place, row in enumerate(batch.rows)}
    assert not all(torch.equal(by_row[row], changed[row]) for row in by_row)
    still = batches(rows, parts(), shuffle=False)
    assert all(torch.equal(a.source.data, b.source.data) for a, b in zip(list(still), list(still), strict=True))


def test_a_batch_is_what_its_images_say(rows):
    """The number of the class of each image that is shown, and of each that is asked about."""
    for batch in batches(rows, parts()):
        assert batch.source.queries == 4 and batch.count == batch.target.data.numel() == sum(batch.weights)
        for row in range(len(batch)):
            images = [number_of(each) % 7 for each in batch.source.data[row]]
            numbers = dict(zip(images[:6], batch.source.classes[row].tolist(), strict=True))
            assert len(numbers) == 3 and sorted(numbers.values()) == [0, 1, 2]
            assert [numbers[each] for each in images[6:]] == batch.target.data[row].tolist()


def test_processes_and_resumed_runs_see_the_same(rows):
    stream = iter(made := batches(rows, parts()))
    first = [next(stream) for _ in range(3)]
    state = made.state()
    rest = list(stream)
    again = batches(rows, parts())
    again.restore(state)
    assert all(torch.equal(a.source.data, b.source.data) for a, b in zip(rest, again, strict=True))
    whole = next(each for each in first if len(each) == 2)
    shares = [whole.share(place, 2) for place in range(2)]
    assert torch.equal(torch.cat([each.source.data for each in shares]), whole.source.data)
    assert [each.count for each in shares] == [4, 4]


def test_classes_are_turned_in_training_alone_all_images_of_one_alike(rows):
    turned = {number_of(each): each for batch in batches(rows, parts(rotations=True)) for each in batch.source.data[0]}
    corners = Counter()
    for batch in batches(rows, parts(rotations=True)):
        for images in batch.source.data:
            seen = {}
            for each in images:
                bright = [float(each[0, at[0], at[1]]) for at in ((0, 0), (0, 11), (11, 11), (11, 0))]
                seen.setdefault(number_of(each) % 7, set()).add(bright.index(max(bright)))
            assert all(len(each) == 1 for each in seen.values()), "one turn for all images of a class"
            corners.update(corner for each in seen.values() for corner in each)
    assert set(corners) == {0, 1, 2, 3} and turned
    for batch in batches(rows, parts(rotations=True), shuffle=False):
        assert (batch.source.data[..., 0, 0] > batch.source.data[..., 11, 11]).all(), "upright when it is asked"


def test_images_are_moved_in_training_alone(rows):
    plain, moved = (list(batches(rows, parts(shift=shift), shuffle=True)) for shift in (0, 3))
    assert any((a.source.data != b.source.data).any() for a, b in zip(plain, moved, strict=True))
    for one, other in zip(
        batches(rows, parts(), shuffle=False), batches(rows, parts(shift=3), shuffle=False), strict=True
    ):
        assert torch.equal(one.source.data, other.source.data)


def test_questions_are_the_same_each_time(rows):
    side = parts(questions=23).source
    names = rows.columns["target"]
    asked, right = side.draw(rows.columns["source"], names)
    assert (asked, right) == side.draw(rows.columns["source"], names) and len(asked) == len(right) == 23
    home = dict(zip(rows.columns["source"], names, strict=True))
    for episode, name in zip(asked, right, strict=True):
        assert home[episode.query] == name and name in episode.classes and len(episode) == 7
        assert all(home[cell] == label for cell, label in episode.support)
        assert episode.query not in [cell for cell, _ in episode.support]


def test_an_episode_is_encoded_and_its_class_numbered(rows):
    made = parts(shots=1)
    cells = rows.columns["source"]
    episode = Episode(((cells[1], "b"), (cells[0], "a"), (cells[2], "c")), cells[7])
    found = made.example(episode, "a")
    assert isinstance(found.source, EpisodeItem) and found.source.numbers == (0, 1, 2) and found.target == (1,)
    assert [number_of(each) for each in made.source.collate([found.source]).data[0]] == [1, 0, 2, 7]
    assert str(episode) == cells[7]
    with pytest.raises(UsageError, match="'d' is none of the classes of its episode: b, a, c"):
        made.example(episode, "d")


@pytest.mark.parametrize(
    ("support", "told"),
    [
        ("ab", "tells 3 classes apart; the examples are of 2: a, b"),
        ("abcd", "tells 3 classes apart; the examples are of 4: a, b, c, d"),
        ("abca", "is shown 1 image of each class; of 'a' it was given 2"),
    ],
)
def test_examples_that_do_not_fit_are_refused(support, told):
    with pytest.raises(UsageError, match=told):
        parts(shots=1).source.check([(None, name) for name in support])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["task.source.ways=1"], "ways = 1 leaves nothing to tell apart"),
        (["task.source.rotations=true", "task.source.size=[28,32]"], "turns images by a quarter; they are 28 x 32"),
        (["task.target=label"], "finds the 'class' of an 'episode'"),
    ],
)
def test_settings_that_cannot_be(settings, told):
    with pytest.raises(UsageError, match=told):
        TaskParts.build(resolve("snail", settings).task())


def test_episodes_are_drawn_of_their_side_alone():
    with pytest.raises(UsageError, match="the examples 'episodes' are of the source 'episode'"):
        TaskParts.build(resolve("classify-images", ["task.examples=episodes"]).task())


def test_by_class():
    assert by_class(["b", "a", "b"], [1, 2, 3]) == {"a": [2], "b": [1, 3]}
