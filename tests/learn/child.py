"""A tiny training on the `copy` toy for tests: in this process, or in a child that kills itself at a given moment."""

import multiprocessing
import os
import shutil
import signal
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

import regard.learn.state
import regard.model
from regard.data.batches import Batches, Examples
from regard.data.builtin import examples
from regard.data.tokenizer import Tokenizer
from regard.errors import Interrupted
from regard.learn.course import Budget
from regard.learn.events import Step, Validation
from regard.learn.place import Place
from regard.learn.run import run
from regard.learn.settings import Standard
from regard.recipe import resolve
from regard.registry import maker

RECIPE = Path(__file__).parents[1] / "small.toml"
PAIRS = list(examples("copy", split="train", size=97, seed=3))
TOKENIZER = Tokenizer.train((pair.source for pair in PAIRS), kind="words")
COMMON = {"rate": 0.01, "tokens": 211, "log": 2, "save_steps": 3, "save_minutes": 0.0} | {
    "precision": "fp32",
    "tensorboard": False,
}
# Two trainings which between them use whatever a state has to hold.
KINDS = {
    "soft": (
        ["predict.dropout=0.2"],
        Standard(
            **COMMON,
            accumulate=2,
            smoothing=0.1,
            validate_steps=4,
            schedule=maker("schedule", "plateau", patience=0),
            average=maker("average", "ema", decay=0.9),
        ),
    ),
    "hard": (
        ["attend.choice=hard", "attend.choice.expected=0.3", "embed.dropout=0.1"],
        Standard(
            **COMMON,
            optimiser=maker("optimiser", "sgd", momentum=0.9),
            validate_steps=0,
            forcing="scheduled",
            ramp=5,
            schedule=maker("schedule", "cosine", warmup=2),
            average=maker("average", "last", count=2, every=2),
        ),
    ),
}
STEPS = 11


def small_model(overrides=(), seed=5):
    """The tests' small model for the toy's vocabulary, with the same first weights every time."""
    torch.manual_seed(seed)
    return resolve(RECIPE, overrides).build(len(TOKENIZER), len(TOKENIZER))


def stream(**settings):
    """The toy's batches."""
    return Batches(Examples(PAIRS), TOKENIZER, TOKENIZER, **{"tokens": 211, "pool": 41, "seed": 7} | settings)


def falling(model):
    """A validation that draws random numbers, as sampling would, and finds the model ever worse."""
    torch.rand(3)
    return Validation({"score": -float(sum(each.abs().sum() for each in model.parameters()))}, ("one -> two",))


def train(folder, kind="soft", *, resume=False, steps=STEPS, tell=lambda event: None):
    """Run one of the two trainings."""
    overrides, settings = KINDS[kind]
    model = small_model(overrides)
    validate = falling if settings.validate_steps else None
    place = Place(Path(folder), resume=resume, files={"source.tokenizer.json": "{}"})
    return run(model, stream(), settings, place, budget=Budget(steps=steps), validate=validate, seed=13, tell=tell)


def die():
    """Go at once, as after kill -9: nothing is flushed, closed or tidied."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying(function, call, *, before):
    """The function, which dies at its n-th call: before it has done anything, or just after."""
    calls = []

    def wrapped(*arguments, **keywords):
        calls.append(1)
        if len(calls) == call and before:
            die()
        result = function(*arguments, **keywords)
        if len(calls) == call:
            if function is save_file:  # only the beginning of it has reached the disk
                os.truncate(arguments[1], Path(arguments[1]).stat().st_size // 2)
            die()
        return result

    return wrapped


# What the writers do, in the order they do it: where it is done, and by which name.
STAGES = {
    "model's weights": (regard.model, "save_model"),
    "wait for the disk": (os, "fsync"),
    "folder's name": (Path, "rename"),
    "old folder": (shutil, "rmtree"),
    "state's tensors": (regard.learn.state, "save_file"),
    "state's name": (Path, "replace"),
}


def child(folder, kind, resume, kill):
    """The body of a child process. `kill` is a step's number, (stage, call, before or after) or a signal."""
    torch.set_num_threads(1)

    def tell(event):
        if not isinstance(event, Step):
            return
        if isinstance(kill, signal.Signals):
            if event.number == 4:  # where a validation is due, which then waits for the resume
                os.kill(os.getpid(), kill)
        elif event.number == kill:
            die()

    if isinstance(kill, tuple):
        stage, call, before = kill
        home, name = STAGES[stage]
        setattr(home, name, dying(getattr(home, name), call, before=before))
    try:
        train(folder, kind, resume=resume, tell=tell)
    except Interrupted as error:
        sys.exit(error.exit_code)


def clean_context():
    """One clean process imports everything once, and every child is a copy of it."""
    context = multiprocessing.get_context("forkserver")
    heavy = ["torch._dynamo", "torch.distributed.fsdp", "accelerate", "datasets", "regard.learn.run"]
    context.set_forkserver_preload(heavy)
    return context


def spawn(folder, kind, *, resume=False, kill=None):
    """Start a child."""
    process = clean_context().Process(target=child, args=(str(folder), kind, resume, kill))
    process.start()
    return process
