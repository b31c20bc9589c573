"""A tiny training on the `copy` toy for tests: in this process, or in a child that kills itself at a given moment."""

import multiprocessing
import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file

import regard.learn.run
import regard.learn.state
import regard.model.folder
from regard.data.batches import InMemory
from regard.data.builtin import examples
from regard.data.pairs import pair_batches
from regard.data.tokenizer import Tokenizer
from regard.errors import Interrupted
from regard.learn.events import Step, Validation
from regard.learn.folder import RunFolder
from regard.learn.learner import Learner
from regard.learn.run import Aims, Budget
from regard.learn.settings import TrainSettings
from regard.learn.train import run
from regard.recipe import resolve
from regard.registry import maker
from regard.task import TaskParts

RECIPE = Path(__file__).parents[1] / "small.toml"
PAIRS = list(examples("copy", split="train", size=97, seed=3))
TOKENIZER = Tokenizer.train((pair.source for pair in PAIRS), kind="words")
COMMON = {"rate": 0.01, "tokens": 211, "log": 2, "save_steps": 3, "save_minutes": 0.0} | {
    "precision": "fp32",
    "tensorboard": False,
}
HALF = COMMON | {"precision": "bf16"}
TRANSFORMER = [
    *("encode.part=transformer", "encode.feed=13", "encode.attend.heads=2", "encode.dropout=0.1"),
    *("attend.part=heads", "attend.heads=2", "predict.part=transformer", "predict.feed=13", "predict.layers=2"),
    *("predict.self_attend.heads=2", "predict.embed.width=8", "predict.dropout=0.1", "embed.dropout=0.1"),
]
# Trainings which between them use whatever a state has to hold.
KINDS = {
    "soft": (
        ["predict.dropout=0.2", "task.goal.smoothing=0.1"],
        TrainSettings(
            **COMMON,
            accumulate=2,
            validate_steps=4,
            schedule=maker("schedule", "plateau", patience=0),
            average=maker("average", "ema", decay=0.9),
        ),
    ),
    "hard": (
        [
            *("attend.choice=hard", "attend.choice.expected=0.3", "attend.choice.harden=7", "embed.dropout=0.1"),
            "attend.choice.baseline=learned",
            *("task.goal.forcing=scheduled", "task.goal.sampling_ramp=5"),
        ],
        TrainSettings(
            **COMMON,
            optimiser=maker("optimiser", "sgd", momentum=0.9),
            validate_steps=0,
            schedule=maker("schedule", "cosine", warmup=2),
            average=maker("average", "last", count=2, every=2),
        ),
    ),
    "hard, bf16": (
        ["attend.choice=hard", "attend.choice.expected=0.3", "predict.dropout=0.1"],
        TrainSettings(**HALF, validate_steps=5),
    ),
    "guided, bf16": (
        [*TRANSFORMER, "task.goal.guide=links", "task.goal.guide_step=after", "task.goal.guide_weight=0.3"],
        TrainSettings(
            **HALF,
            validate_steps=4,
            schedule=maker("schedule", "inverse_square_root", warmup=3),
            average=maker("average", "ema", decay=0.9),
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
    return pair_batches(InMemory(PAIRS), TOKENIZER, TOKENIZER, **{"tokens": 211, "pool": 41, "seed": 7} | settings)


def falling(model):
    """A validation that draws random numbers, as sampling would, and finds the model ever worse."""
    torch.rand(3)
    return Validation({"score": -float(sum(each.abs().sum() for each in model.parameters()))}, ("one -> two",))


def train(folder, kind="soft", *, resume=False, steps=STEPS, minutes=None, tell=lambda event: None, **changes):
    """Run one of the trainings."""
    overrides, settings = KINDS[kind]
    settings = replace(settings, **changes)
    model, budget = small_model(overrides), Budget(minutes, None if minutes else steps)
    validate = falling if settings.validate_steps or settings.validate_minutes else None
    place = RunFolder(Path(folder), resume=resume, files={"source.tokenizer.json": "{}"})
    aims = Aims(writing(model), validate)
    return run(model, stream(linked=is_guided(model)), settings, place, budget=budget, aims=aims, seed=13, tell=tell)


def writing(model):
    """What the recipe of a model says is minimised."""
    return TaskParts.build(model.recipe.task()).goal.objectives(model)


def is_guided(model):
    """Does its recipe draw an attention to links?"""
    return model.recipe.task.settings["goal"].settings["guide"] != "none"


def ask_no_machine():
    """In a process of its own: bf16 is what the settings say, and no other process is asked whether it is faster."""
    regard.learn.run.use_bf16 = lambda precision: precision == "bf16"


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
            if function is save_file:  # only the beginning has reached the disk, under the name or the library's own
                path = Path(arguments[1])
                os.truncate(path, path.stat().st_size // 2)
                path.with_name(".tmpq9Gigx").write_bytes(path.read_bytes())
            die()
        return result

    return wrapped


# What the writers do, in the order they do it: where it is done, and by which name.
STAGES = {
    "model's weights": (regard.model.folder, "save_model"),
    "wait for the disk": (os, "fsync"),
    "folder's name": (Path, "rename"),
    "old folder": (shutil, "rmtree"),
    "state's tensors": (regard.learn.state, "save_file"),
    "state's name": (Path, "replace"),
}


def child(folder, kind, resume, kill):
    """The body of a child process. `kill` is a step's number, (stage, call, before or after) or a signal."""
    torch.set_num_threads(1)
    ask_no_machine()

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


MINUTES, PACE = 0.5, 2.25  # of a training by the clock: its budget, and seconds an update


def clocked(folder, resume, kill, start):
    """The body of a child process with a clock of its own, which moves with each update; all goes by the clock."""
    torch.set_num_threads(1)
    learners, begin = [], Learner.__init__

    def watched(self, *arguments, **keywords):
        learners.append(self)
        begin(self, *arguments, **keywords)

    def tell(event):
        if isinstance(event, Step) and event.number == kill:
            die()

    Learner.__init__ = watched
    regard.learn.run.time.monotonic = lambda: start + PACE * getattr(learners[0], "number", 0)
    by_the_clock = {"validate_steps": 0, "validate_minutes": 0.1, "save_steps": 0, "save_minutes": 0.05, "log": 1}
    schedule = maker("schedule", "cosine", warmup=2)
    train(folder, resume=resume, minutes=MINUTES, tell=tell, schedule=schedule, **by_the_clock)


def clean_context():
    """One clean process imports everything once, and every child is a copy of it."""
    context = multiprocessing.get_context("forkserver")
    heavy = ["torch._dynamo", "torch.distributed.fsdp", "accelerate", "datasets", "regard.learn.train"]
    context.set_forkserver_preload(heavy)
    return context


def spawn(folder, kind, *, resume=False, kill=None):
    """Start a child."""
    return started(child, str(folder), kind, resume, kill)


def started(function, *arguments):
    """A process that does it."""
    process = clean_context().Process(target=function, args=arguments)
    process.start()
    return process
