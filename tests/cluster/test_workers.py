"""Blocks over workers: in order, in bounded memory, again when a worker is lost, and an end to that."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from cluster_jobs import WAIT, Shouting, until
from regard.chunks import Chunk, numbered
from regard.cluster import AHEAD, TRIES, Share, connect, share, translate_chunks, workers
from regard.errors import BrokenData, ModelError, RegardError, ShapeError

TWO = Share(workers=2, threads=1, claim=0.5)


@pytest.mark.parametrize(
    ("nodes", "workers", "threads", "expected"),
    [
        ([2], None, None, Share(2, 1, 1)),
        ([8], 3, None, Share(3, 2, 2)),
        ([8, 8], 3, None, Share(3, 4, 4)),  # five threads each would leave the third without a place
        ([7, 3], None, 2, Share(4, 2, 2)),
        ([2], 5, None, Share(5, 1, 0.4)),
        ([2], 2, 3, Share(2, 3, 1.0)),
        ([0, 5], 1, None, Share(1, 5, 5)),
        ([1], None, 3, Share(1, 3, 1.0)),
    ],
)
def test_cores_are_shared_out(nodes, workers, threads, expected):
    assert share(nodes, workers, threads) == expected


def test_a_block_names_its_lines():
    assert [str(block) for block in numbered([["a"] * 1000, ["b"], ["c"] * 3])] == [
        "lines 1 to 1,000",
        "line 1,001",
        "lines 1,002 to 1,004",
    ]


def test_the_package_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RegardError, match=r"pip install 'regard\[ray\]'"), connect():
        pass


# --- with a Ray of the tests ---------------------------------------------------------------------------------


def test_no_ray_is_started_for_who_has_none(tmp_path):
    """Ray would, by itself, for the first worker that is asked for."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'regard[ray]'")
    with pytest.raises(RegardError, match="no connection to a Ray cluster"):
        next(translate_chunks(Shouting(tmp_path), blocks("a"), TWO))
    assert not ray.is_initialized()


@pytest.fixture(scope="module")
def ray(ray_address):
    """A connection for all tests below."""
    with connect(ray_address) as nodes:
        assert sum(nodes) >= 1
        yield nodes


def blocks(*groups):
    return list(numbered([group.split() for group in groups]))


def bounded(turn):
    """What `turn` gives, or raises; a hang is a failure."""
    heard = Queue()

    def run():
        try:
            heard.put((turn(), None))
        except BaseException as error:
            heard.put((None, error))

    Thread(target=run, daemon=True).start()
    found, error = heard.get(timeout=2 * WAIT)
    if error is not None:
        raise error
    return found


def lines(job, given, say=lambda line: None):
    return bounded(lambda: [line for each in translate_chunks(job, given, TWO, say) for line in each.lines])


def test_the_order_is_that_of_the_input(ray, tmp_path):
    """The first block takes longest, the notes go with their blocks, and the model is opened once a worker."""
    given = blocks("wait wait a", "b", "c d", *(f"e{place}" for place in range(17)))
    found = bounded(lambda: list(translate_chunks(Shouting(tmp_path), given, TWO)))
    assert [each.lines for each in found] == [[line.upper() for line in block.lines] for block in given]
    assert [each.notes for each in found] == [[f"{block} done"] for block in given]
    assert 1 <= len(list(tmp_path.glob("opened.*"))) <= 2


def test_nothing_in_is_nothing_out(ray, tmp_path):
    assert lines(Shouting(tmp_path), []) == []


def test_a_killed_worker_is_replaced_and_its_block_translated_again(ray, tmp_path):
    said = []

    def kill():
        until(lambda: (tmp_path / "held").exists() and (tmp_path / "held").read_text())
        os.kill(int((tmp_path / "held").read_text()), signal.SIGKILL)

    Thread(target=kill, daemon=True).start()
    given = blocks("a", "b hang c", *(f"d{place}" for place in range(13)))
    found = lines(Shouting(tmp_path), given, said.append)
    assert found == [line.upper() for block in given for line in block.lines]
    assert said == ["A worker was lost: lines 2 to 4 go to another."]


def test_a_block_that_always_kills_its_worker_ends_the_command(ray, tmp_path):
    said = []
    with pytest.raises(RegardError, match=f"{TRIES} workers died at lines 3 to 4") as caught:
        lines(Shouting(tmp_path), blocks("a b", "c die", "d", "e"), said.append)
    assert "fewer --workers" in caught.value.hint
    assert len(said) == TRIES - 1


def test_a_model_that_kills_whoever_loads_it_ends_the_command(ray, tmp_path):
    with pytest.raises(RegardError, match="workers died while they loaded the model"):
        lines(Shouting(tmp_path, "die"), blocks("a"))


def test_an_error_of_the_job_is_raised_as_it_is(ray, tmp_path):
    with pytest.raises(ModelError, match=r"^no such model.\n  Give another.$"):
        lines(Shouting(tmp_path, "wrong"), blocks("a"))
    made = translate_chunks(Shouting(tmp_path), blocks("wait a", "wrong", "b"), TWO)
    assert bounded(lambda: next(made)).lines == ["WAIT", "A"]  # what comes before the error is written
    with pytest.raises(ShapeError, match="does not fit"):
        bounded(lambda: next(made))


def test_an_error_of_the_input_comes_after_what_was_read(ray, tmp_path):
    def broken():
        yield from blocks("a", "b c")
        raise BrokenData("line 4: expected UTF-8.")

    made = translate_chunks(Shouting(tmp_path), broken(), TWO)
    assert [bounded(lambda: next(made)).lines for _ in range(2)] == [["A"], ["B", "C"]]
    with pytest.raises(BrokenData, match="line 4"):
        bounded(lambda: next(made))


def test_no_more_is_read_than_there_is_room_for(ray, tmp_path):
    """While the first block is held up, the others wait for it, and the input for them."""
    read = []

    def endless():
        while True:
            read.append(len(read))
            yield Chunk(read[-1], ["wait" if read[-1] == 0 else "a"])

    made = translate_chunks(Shouting(tmp_path), endless(), TWO)
    assert bounded(lambda: next(made)).lines == ["WAIT"]
    assert len(read) <= AHEAD * TWO.workers + 2  # one more is in the reader's hand, one place was freed just now
    made.close()


def test_a_line_is_answered_before_the_next_is_there(ray, tmp_path):
    asked = Queue()
    made = translate_chunks(Shouting(tmp_path), iter(asked.get, None), TWO)
    for place, word in enumerate(("a", "b")):
        asked.put(Chunk(place, [word]))
        assert bounded(lambda: next(made)).lines == [word.upper()]
    asked.put(None)
    assert bounded(lambda: next(made, "end")) == "end"


def test_waiting_for_a_place_is_said(ray, tmp_path, monkeypatch):
    """A cluster without room: no worker starts, which is said once, and the wait goes on."""
    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    said = Queue()
    made = translate_chunks(Shouting(tmp_path), blocks("a"), Share(1, 1, 1 + sum(ray)), said.put)

    def wait():
        with suppress(RegardError):  # the connection ends before the wait does
            next(made, None)

    Thread(target=wait, daemon=True).start()
    assert "No worker has started yet" in said.get(timeout=WAIT)


OWN_PROCESS = """
import sys
from pathlib import Path
from cluster_jobs import Shouting
from regard.chunks import Chunk
from regard.cluster import Share, connect, translate_chunks
from regard.errors import RegardError

with connect():
    try:
        list(translate_chunks(Shouting(Path(sys.argv[1])), [Chunk(0, ["die"])], Share(1, 1, 1)))
    except RegardError as error:
        sys.stderr.write(error.message)
print("and back")
"""


def test_standard_output_is_for_results(tmp_path):
    """Ray prints to it when a worker dies; not while we are connected."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'regard[ray]'")
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", OWN_PROCESS, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=2 * WAIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "and back\n"), done.stderr
    assert "3 workers died at line 1" in done.stderr
