"""A model that is opened: nothing of it is drawn, each weight is held once, and it goes on without its file."""

import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Thread

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from regard.attend import Score
from regard.engine.pytorch.columns import columns_together
from regard.fast.undrawn import DRAWS, undrawn
from regard.model import load, save
from regard.recipe import resolve
from regard.registry import part
from small import TARGET, batch, built
from small import model as small

WEIGHTS = "weights.safetensors"
TIED = ["share=true", "predict.readout=tied"]


@pytest.mark.parametrize("name", ["rnnsearch-small", "bert", "gpt2", "albert", "transformer", "lstmn"])
def test_a_recipe_is_opened_without_a_draw(name, tmp_path):
    model = built(resolve(name)).eval()
    save(model, tmp_path / "m")
    dice = torch.get_rng_state()
    again = load(tmp_path / "m")
    assert torch.equal(torch.get_rng_state(), dice)
    assert again.state_dict().keys() == model.state_dict().keys()
    for (place, one), (other, two) in zip(model.named_parameters(), again.named_parameters(), strict=True):
        assert place == other and torch.equal(one, two)
    for one, two in zip(model.buffers(), again.buffers(), strict=True):
        assert torch.equal(one, two)


def test_only_what_is_drawn_rests_and_only_here():
    found, kept = [], [getattr(nn.init, name) for name in DRAWS]

    def elsewhere():
        found.append(nn.init.normal_(torch.zeros(9)))

    with undrawn(), undrawn():
        assert nn.init.normal_(torch.zeros(9)).eq(0).all()
        assert nn.init.ones_(torch.zeros(9)).eq(1).all()
        thread = Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert found[0].ne(0).all()
    with pytest.raises(ZeroDivisionError), undrawn():
        1 / 0  # noqa: B018
    assert [getattr(nn.init, name) for name in DRAWS] == kept


@part("score", "drawn_beside")
class DrawnBeside(Score):
    """A score of somebody's own: what it draws is in no file."""

    function = None

    def __init__(self, query, key):
        super().__init__()
        self.scale = None
        self.project = nn.Linear(key, query)
        self.register_buffer("drawn", nn.init.uniform_(torch.zeros(9), 1, 2), persistent=False)

    def forward(self, query, keys):
        return query @ self.project(keys).mT * self.drawn.mean()


def test_parts_of_somebodys_own_are_built_as_ever(tmp_path):
    model = small(["attend.score=drawn_beside"])
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    score = next(each for each in again.modules() if isinstance(each, DrawnBeside))
    assert score.drawn.ge(1).all()
    assert torch.equal(again.predict.attend.score.project.weight, model.predict.attend.score.project.weight)


@pytest.mark.parametrize("settings", [[], TIED])
def test_weights_may_lie_by_columns_and_stay_tied(settings, tmp_path):
    model = small(settings, source=TARGET)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m", columns_together)
    assert again.predict.readout.product()[0].stride(0) == 1
    assert all(torch.equal(one, two) for one, two in zip(model.parameters(), again.parameters(), strict=True))
    if settings:
        assert again.embed.table.weight is again.predict.readout.table.weight
    torch.testing.assert_close(again.teach(batch()).logits.shape, model.teach(batch()).logits.shape)


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_numbers_of_another_kind_become_ours(kind, tmp_path):
    model = small()
    save(model, tmp_path / "m")
    path = tmp_path / "m" / WEIGHTS
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        told = file.metadata()
    save_file({name: each.to(kind) for name, each in load_file(path).items()}, path, metadata=told)
    for name, each in load(tmp_path / "m").state_dict().items():
        assert torch.equal(each, model.state_dict()[name].to(kind).to(each.dtype))


def test_it_is_trained_without_its_file(tmp_path):
    model = small()
    save(model, tmp_path / "m")
    path = tmp_path / "m" / WEIGHTS
    before, again = path.read_bytes(), load(tmp_path / "m").train()
    optimiser = torch.optim.SGD(again.parameters(), lr=0.1)
    again.teach(batch()).logits.square().sum().backward()
    optimiser.step()
    assert path.read_bytes() == before
    kept = {name: each.clone() for name, each in again.state_dict().items()}
    path.write_bytes(b"\0" * len(before))  # in place: what was mapped would change under the model's feet
    assert all(torch.equal(each, kept[name]) for name, each in again.state_dict().items())


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read where Linux tells it")
def test_each_weight_is_held_once(tmp_path):
    """Drawn first and read from a mapped file, there were two of each."""
    settings = ["predict.embed.width=512", "predict.layers=1", "predict.feed=64", "predict.self_attend.heads=4"]
    save(resolve("gpt2", settings).build(0, 40_000), tmp_path / "large")
    save(resolve("gpt2", settings).build(0, 300), tmp_path / "small")
    script = """
        import sys
        from pathlib import Path
        from regard.model import load

        def peak():
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

        load(sys.argv[1])  # what is imported for it is no weight
        before = peak()
        model = load(sys.argv[2])
        print(peak() - before)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "small"), str(tmp_path / "large")]
    grown = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert grown < 1.5 * (tmp_path / "large" / WEIGHTS).stat().st_size
