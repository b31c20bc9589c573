"""Back-pointers by hand."""

import torch

from regard.search.backpointers import Backpointers, Finished, place_in_group
from regard.types import Attended


def finished(owner, step, row, score):
    score = torch.tensor(score, dtype=torch.float64)
    return Finished(torch.tensor(owner), torch.full((len(owner),), step), torch.tensor(row), 2 * score, score)


def looked(values):
    """One row of weights for each value, that value in the first of two columns."""
    weights = torch.tensor([[[value, 1 - value]] for value in values])
    return (Attended(weights, lambda: weights),)


def test_places_by_hand():
    assert place_in_group(torch.tensor([0, 0, 2, 2, 2, 5])).tolist() == [0, 1, 0, 1, 2, 0]
    assert place_in_group(torch.tensor([], dtype=torch.long)).tolist() == []


def test_the_best_of_each_sentence_and_of_equals_the_earlier():
    found = Finished.join(
        [finished([0, 1], 0, [0, 1], [-3.0, -1.0]), finished([0, 0, 1], 1, [5, 6, 7], [-3.0, -2.0, -4.0])]
    )
    best = found.best(2)
    assert best.owner.tolist() == [0, 0, 1, 1]
    assert best.row.tolist() == [6, 0, 1, 7]
    assert best.score.tolist() == [-2.0, -3.0, -1.0, -4.0]
    assert found.best(1).row.tolist() == [6, 1]


def test_pieces_and_weights_follow_the_back_pointers():
    """Two sentences; the winner of the first crosses over from row to row."""
    backpointers = Backpointers(record=True)
    backpointers.enter(torch.arange(2))
    backpointers.look(looked([0.1, 0.2]))  # step 0: rows 0 and 1, one a sentence
    backpointers.go_on(torch.tensor([0, 0, 1]), torch.tensor([5, 6, 7]))
    backpointers.look(looked([0.3, 0.4, 0.5]))  # step 1: rows 0 and 1 of sentence 0, row 2 of sentence 1
    backpointers.finished.append(finished([1], 1, [2], [-1.0]))
    backpointers.go_on(torch.tensor([1, 0]), torch.tensor([8, 9]))
    backpointers.look(looked([0.6, 0.7]))
    backpointers.finished.append(finished([0, 0], 2, [0, 1], [-1.5, -2.5]))
    backpointers.go_on(torch.tensor([], dtype=torch.long), torch.tensor([], dtype=torch.long))
    found = backpointers.read(2, torch.tensor([[True, True], [True, False]]))
    (first, second), (other,) = found[0], found[1]
    assert (first.ids, second.ids, other.ids) == ((6, 8), (5, 9), (7,))
    assert (first.score, first.likelihood) == (-1.5, -3.0)
    assert torch.allclose(first.weights[0][0], torch.tensor([[0.1, 0.9], [0.4, 0.6], [0.6, 0.4]]))
    assert torch.allclose(second.weights[0][0, :, 0], torch.tensor([0.1, 0.3, 0.7]))
    assert torch.allclose(other.weights[0], torch.tensor([[[0.2], [0.5]]]))  # one column: the other is padding


def test_nothing_is_kept_that_nobody_asked_for():
    backpointers = Backpointers(record=False)
    backpointers.enter(torch.arange(1))
    backpointers.look((Attended(torch.zeros(1, 1, 1), lambda: 1 / 0),))
    backpointers.finished.append(finished([0], 0, [0], [-1.0]))
    backpointers.go_on(torch.tensor([], dtype=torch.long), torch.tensor([], dtype=torch.long))
    (found,) = backpointers.read(1, torch.ones(1, 2, dtype=torch.bool))[0]
    assert (found.ids, found.weights) == ((), ())


def test_a_sentence_that_entered_later_is_read_from_its_own_first_step():
    """The first ends at step 1, when another begins; what was read off is forgotten."""
    backpointers, real = Backpointers(record=True), torch.tensor([[True, True], [True, False], [True, False]])
    backpointers.enter(torch.arange(2))
    backpointers.look(looked([0.1, 0.2]))
    assert backpointers.steps(torch.tensor([0, 1])) == 0
    backpointers.go_on(torch.tensor([0, 1]), torch.tensor([5, 6]))
    backpointers.look(looked([0.3, 0.4]))
    backpointers.finished.append(finished([0], 1, [0], [-1.0]))
    backpointers.go_on(torch.tensor([1]), torch.tensor([7]))
    ((first,),) = backpointers.read(1, real[:2], alive=torch.tensor([1])).values()
    assert (first.ids, first.weights[0].shape) == ((5,), (1, 2, 2))
    backpointers.enter(torch.tensor([2]))
    assert backpointers.steps(torch.tensor([1, 2])).tolist() == [2, 0]
    backpointers.look(looked([0.5, 0.6]))  # step 2: the second sentence's third step, the third's first
    backpointers.finished.append(finished([1], 2, [0], [-2.0]))
    backpointers.go_on(torch.tensor([1]), torch.tensor([8]))
    assert list(backpointers.read(1, real, alive=torch.tensor([2]))) == [1]
    assert (backpointers.first, len(backpointers.looks), len(backpointers.pieces)) == (2, 1, 1), (
        "who is alive began with step 2"
    )
    backpointers.look(looked([0.7]))
    backpointers.finished.append(finished([2], 3, [0], [-3.0]))
    backpointers.go_on(torch.tensor([], dtype=torch.long), torch.tensor([], dtype=torch.long))
    (last,) = backpointers.read(1, real)[2]
    assert (last.ids, last.score) == ((8,), -3.0)
    assert torch.allclose(last.weights[0][0], torch.tensor([[0.6], [0.7]]))
