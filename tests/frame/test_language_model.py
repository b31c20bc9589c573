"""A model without a source: a decoder alone, which is taught and steps from a memory of nothing."""

import pytest
import torch
from datasets import Dataset

from regard.data.corpus import Corpus
from regard.data.tokenizer import END
from regard.errors import RecipeError
from regard.learn.learner import Learner
from regard.model import load, save
from regard.recipe import resolve
from regard.tasks.job import silent
from regard.tasks.setup import set_up

RECIPE = """
embed = "none"
encode = "none"
attend = "none"

[task]
verb = "generate"
source = "nothing"
target = { part = "text", pieces = "words" }

[predict]
part = "plain"
hidden = 16
cell = "gru"
bridge = "zero"
embed = { part = "tokens", width = 8 }

[train]
rate = 0.02
tokens = 97
"""


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "lm.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def ready(recipe, settings=()):
    lines = [" ".join(f"w{(start + place) % 7}" for place in range(2 + start % 5)) for start in range(31)]
    splits = {name: Dataset.from_dict({"target": lines}) for name in ("train", "val")}
    return set_up(resolve(recipe, settings), Corpus("lines", "nothing", "text", splits), None, 3, silent)


def test_it_is_taught_steps_and_learns(recipe, tmp_path):
    made = ready(recipe)
    batch = next(iter(made.batches))
    assert batch.source is None and made.model.specs[0].size == 0
    assert batch.count == batch.target.mask[:, 1:].sum()
    model = made.model.eval()
    taught = model.teach(batch).logits
    state, found = model.predict.start(model.nothing_read(len(batch))), []
    for column in range(batch.target.data.shape[1] - 1):
        stepped = model.step(batch.target.data[:, column], state)
        state = stepped.state
        found.append(stepped.logits)
    real = batch.target.mask[:, 1:]
    assert torch.allclose(taught[real], torch.stack(found, 1)[real], atol=1e-5)
    assert (batch.target.data[:, 0] == END).all()
    learner = Learner(model, made.settings, made.batches.forever(), objectives=made.aims.objectives)
    first = learner.update().nll
    for _ in range(60):
        last = learner.update().nll
    assert last < 0.6 * first
    save(model.eval(), tmp_path / "model", made.files)
    assert torch.equal(load(tmp_path / "model").teach(batch).logits, model.teach(batch).logits)


@pytest.mark.parametrize("count", [2, 3])
def test_its_batches_are_shared_out(recipe, count):
    batch = next(iter(ready(recipe).batches))
    shares = [batch.share(place, count) for place in range(count)]
    assert all(each.source is None for each in shares)
    assert sum(each.count for each in shares) == batch.count


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["encode=recurrent"], "encode: there is nothing to read"),
        (["embed=tokens"], "embed: there is nothing to read"),
        (["task.source=text"], "embed: 'text' is there to be read"),
        (["attend=attention"], "attend: there is nothing to read"),
    ],
)
def test_what_reads_nothing_has_nothing_to_read(recipe, settings, told):
    with pytest.raises(RecipeError, match=told):
        resolve(recipe, settings)
