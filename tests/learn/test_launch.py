"""`regard train --processes`: one command starts them, Ctrl-C saves and stops them all, a resume ends the run."""

import json
import os
import signal
import subprocess
import sys
import time

import regard

LIMIT = 300  # seconds, on a machine that does other things too
SMALL = ["train", "rnnsearch-small", "--data", "copy", "--size", "67", "-s", "attend.score.hidden=8"]
SMALL += [f"-s{key}=8" for key in ("embed.width", "encode.hidden", "predict.hidden", "predict.embed.width")]
SMALL += ["-spredict.readout.hidden=8", "-strain.precision=fp32", "-strain.log=1", "-strain.validate_steps=0"]


def command(folder, *more):
    """Start Regard with these words; it has a session of its own, as in a terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", "regard", *SMALL, "--out", str(folder), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"},
    )


def updates(folder):
    """How many updates the log has told of."""
    log = folder / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.exists() else []
    return sum(json.loads(line)["event"] == "step" for line in lines if line.endswith("\n"))


def test_two_processes_from_one_command(tmp_path):
    run = command(tmp_path / "run", "--minutes", "60", "--processes", "2")
    until = time.monotonic() + LIMIT
    while updates(tmp_path / "run") < 3 and run.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    output, told = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, told
    assert output == ""
    assert told.count("SIGINT: stopped after update") == 1, "only the main process speaks"
    assert told.count("parameters") == 1
    assert "Traceback" not in told
    made = updates(tmp_path / "run")
    again = command(tmp_path / "run", "--steps", str(made + 2), "--processes", "2", "--resume")
    output, told = again.communicate(timeout=LIMIT)
    assert (again.returncode, output) == (0, ""), told
    assert told.count("The best model is in") == 1
    assert "Warning" not in told
    assert regard.load(tmp_path / "run").translate("a b", beam=1).text is not None


def test_a_mistake_is_told_once(tmp_path):
    """By the command itself if it is the recipe, and else by the main process."""
    _, told = command(tmp_path / "run", "--steps", "1", "--processes", "2", "-sattend.score=sharp").communicate()
    assert told.count("the recipe has one mistake") == 1
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("mine")
    run = command(tmp_path / "run", "--steps", "1", "--processes", "2")
    output, told = run.communicate(timeout=LIMIT)
    assert output == ""
    assert told.count("is there already, and is not empty") == 1
    assert run.returncode == 2, told
    assert "terminate called" not in told, "an end while connections are open aborts the process at times"
