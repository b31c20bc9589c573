"""Trainings of several processes for tests: started together on this machine, and never waited for without end."""

import hashlib
import json
import os
import signal
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from learn.child import COMMON, ask_no_machine, clean_context, falling, is_guided, small_model, stream, writing
from learn.child import TRANSFORMER as DRAWING
from regard.attend.hard import BY_PIECE
from regard.errors import RegardError
from regard.learn import run as running
from regard.learn.events import Step, Validation
from regard.learn.folder import RunFolder
from regard.learn.run import Aims, Budget
from regard.learn.settings import TrainSettings
from regard.learn.state import weights_of
from regard.learn.train import run
from regard.registry import maker

LIMIT = 300  # seconds, on a machine that does other things too; whoever is not done by then hangs
STEPS = 5
TRANSFORMER = [
    *("encode.part=transformer", "encode.feed=13", "encode.attend.heads=2", "predict.part=transformer"),
    *("predict.feed=13", "predict.layers=2", "predict.self_attend.heads=2", "predict.embed.width=8"),
    *("encode.dropout=0", "predict.dropout=0"),
]
# Adam divides a gradient by its own size: the usual epsilon would show the rounding of those that are nearly zero.
SETTINGS = TrainSettings(
    **COMMON,
    optimiser=maker("optimiser", "adam", epsilon=1e-4),
    accumulate=2,
    validate_steps=2,
    average=maker("average", "ema"),
)
GUIDED = ["task.goal.guide=links", "task.goal.guide_weight=0.3"]
# What is changed in the small recipe, and in the settings. Nothing draws a number in training but the last three.
KINDS = {
    "recurrent": ([], {}),
    "transformer": (TRANSFORMER, {}),
    "hard": (["attend.choice=hard", "attend.choice.baseline=learned"], {}),
    "tied": (["share=true", "predict.readout=tied"], {"optimiser": maker("optimiser", "sgd", momentum=0.5)}),
    "dropout": (["predict.dropout=0.3", "embed.dropout=0.2"], {"average": maker("average", "last", count=2, every=1)}),
    "drawn, bf16": (["attend.choice=hard", "predict.dropout=0.2"], {"precision": "bf16"}),
    "guided, bf16": ([*DRAWING, *GUIDED], {"precision": "bf16"}),
}


def batches(linked=False):
    """The toy's batches, some of a single pair: of two processes, one has nothing to read then."""
    return stream(tokens=71, linked=linked)


def train(folder, kind="recurrent", *, resume=False, steps=STEPS, tell=None, validate=falling, **changes):
    """Train in this process's place among the others; leave a note of how it ended beside the folder."""
    if kind == "hard":
        torch.multinomial = _likeliest
    overrides, own = KINDS[kind]
    model = small_model(["task.goal.smoothing=0.1", *overrides])
    settings, told = replace(SETTINGS, **own, **changes), []
    for name, each in model.named_buffers():
        if name.endswith("seen"):
            each.fill_(BY_PIECE)  # the first reward of all has no other to be judged by than its own share's

    def hear(event):
        told.append(type(event).__name__)
        if tell is not None:
            tell(event)

    place, budget = RunFolder(Path(folder), resume=resume), Budget(steps=steps)
    aims = Aims(writing(model), validate)
    outcome = run(model, batches(is_guided(model)), settings, place, budget=budget, aims=aims, seed=13, tell=hear)
    _note(folder, number=outcome.number, reason=outcome.reason, told=told, weights=_digest(model))


def train_setup(folder, ready, *, resume=False, steps=STEPS, tell=lambda event: None):
    """Train what a task has made ready, in this process's place among the others, and leave a note of its weights."""
    place = RunFolder(Path(folder), resume=resume, files=ready.files)
    budget, aims = Budget(steps=steps), ready.aims
    run(ready.model, ready.batches, ready.settings, place, budget=budget, aims=aims, seed=13, tell=tell)
    _note(folder, weights=_digest(ready.model))


def _likeliest(shares, count):
    """Instead of a draw, which depends on who draws: the key of the greatest share."""
    return shares.argmax(-1, keepdim=True)


def _digest(model):
    """A few letters that differ if one bit of a weight does."""
    values = [each.detach() for each in weights_of(model).values()]
    if any(hasattr(each, "full_tensor") for each in values):
        return None
    return hashlib.sha256(b"".join(each.numpy().tobytes() for each in values)).hexdigest()[:16]


def _note(folder, **values):
    rank = os.environ.get("RANK", "0")
    Path(f"{folder}.{rank}.json").write_text(json.dumps(values), encoding="utf-8")


def notes(folder, count=2):
    """What each process wrote down at its end."""
    return [json.loads(Path(f"{folder}.{rank}.json").read_text(encoding="utf-8")) for rank in range(count)]


# --- what may go wrong, each in a process of a given rank ---------------------------------------------------


def is_rank(rank):
    return os.environ.get("RANK", "0") == str(rank)


def dying(folder, kind="recurrent", *, rank=None, number, **changes):
    """All processes die, or only one of them, as after kill -9, when the main one has told of an update."""

    def die(event):
        if isinstance(event, Step) and event.number == number:
            os.kill(os.getpid(), signal.SIGKILL)

    if rank is None:  # a launcher kills the rest, and so does `ended`
        train(folder, kind, tell=die, **changes)
        return
    update = running.Run.advance

    def advance(self):
        if is_rank(rank) and self.learner.number == number:
            os.kill(os.getpid(), signal.SIGKILL)
        update(self)

    running.Run.advance = advance
    train(folder, kind, **changes)


def signalled(folder, *, rank, number):
    """One process gets a signal in its third update."""
    update = running.Run.advance

    def advance(self):
        if is_rank(rank) and self.learner.number == 2:
            os.kill(os.getpid(), number)
        update(self)

    running.Run.advance = advance
    train(folder)


def full_disk(folder):
    """The main process cannot write its second state."""
    write, calls = running.write_state, []

    def fail(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        write(*arguments)

    running.write_state = fail
    train(folder)


def unequal_clocks(folder):
    """Each process has a clock of its own, and the budget, the rate and the validations go by the clock."""
    pace, now = (1.0 if is_rank(0) else 1.7), iter(range(10**6))
    running.time.monotonic = lambda: next(now) * pace
    settings = replace(SETTINGS, validate_steps=0, validate_minutes=0.2, schedule=maker("schedule", "cosine"))
    model, place = small_model(), RunFolder(Path(folder))
    outcome = run(model, batches(), settings, place, budget=Budget(minutes=1.0), aims=Aims(validate=falling), seed=13)
    _note(folder, number=outcome.number, reason=outcome.reason, weights=_digest(model))


def losing_patience(folder):
    """A validation that finds nothing better after the first."""
    values = iter([3.0, 2.0, 1.0, 0.0])
    train(folder, patience=2, validate_steps=1, validate=lambda model: Validation({"bleu": next(values)}))


# --- starting them and waiting for them ----------------------------------------------------------------------


def start(count, function, *arguments, **keywords):
    """Start processes that find one another as a launcher's do. Each is a copy of one clean process."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    context = clean_context()
    world = (count, port)
    processes = [
        context.Process(target=_one, args=(rank, world, function, arguments, keywords)) for rank in range(count)
    ]
    for each in processes:
        each.start()
    return processes


def _one(rank, world, function, arguments, keywords):
    """The body of one process."""
    count, port = world
    torch.set_num_threads(1)
    ask_no_machine()
    if count > 1:
        found = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in found.items()})
        os.environ.update(MASTER_ADDR="127.0.0.1", OMP_NUM_THREADS="1")
    try:
        function(*arguments, **keywords)
    except RegardError as error:
        _note(arguments[0], error=str(error), kind=type(error).__name__)
        sys.exit(error.exit_code)


def ended(processes, *, kill_rest=False):
    """The exit codes, once all have ended by themselves, or once the first has and the rest are killed for it."""
    until = time.monotonic() + LIMIT
    while any(each.is_alive() for each in processes) and time.monotonic() < until:
        if kill_rest and not all(each.is_alive() for each in processes):
            for each in processes:
                each.kill()
        time.sleep(0.02)
    hanging = [rank for rank, each in enumerate(processes) if each.is_alive()]
    for each in processes:
        each.kill()
        each.join()
    assert not hanging, f"processes {hanging} hang"
    return [each.exitcode for each in processes]


def together(count, function, *arguments, **keywords):
    """Start, wait, and give the exit codes."""
    return ended(start(count, function, *arguments, **keywords))
