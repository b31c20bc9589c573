"""What happens to requests when too many come, when clients are slow or leave, and when a server or a worker ends."""

import http.client
import os
import re
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

import serving
from regard.serve import start
from regard.serve.slots import Slots, left_of
from served import BODY, HEAD, PATIENT, ask, children, is_ready, load, until
from served import serving as started
from serving import LINES, running, slow, spoken, translator

# --- too many, too slow, gone ------------------------------------------------------------------------------


def test_a_full_queue_refuses_at_once_and_the_rest_is_answered_together():
    model = slow()
    with running({"toy": model}, queue=3, batch=2) as server, ThreadPoolExecutor(9) as pool:
        first = pool.submit(ask, server.port)
        until(lambda: model.asked)
        waiting = [pool.submit(ask, server.port) for _ in range(3)]
        until(lambda: len(server.desk.batches.waiting) == 3)
        for path, told in (("/translate", BODY), ("/api/v1/score", '{"source": "ja", "target": "yes"}')):
            status, headers, answer = ask(server.port, told, path=path)
            assert status == 503 and headers["Retry-After"] == "1" and "busy" in str(answer)
        assert {each.result()[0] for each in (first, *waiting)} == {200}
        assert [len(each) for each in model.asked] == [1, 2, 1]
        assert ask(server.port)[0] == 200


def test_who_leaves_frees_the_place():
    model, free = spoken(), Event()
    model.asked, own = [], model.search
    model.search = lambda *given, **more: model.asked.append(given) or (free.wait(PATIENT) and own(*given, **more))
    with running({"toy": model}, queue=2, batch=1) as server, ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, server.port)
        until(lambda: model.asked)
        gone = []
        for _ in range(2):
            line = http.client.HTTPConnection("127.0.0.1", server.port)
            line.request("POST", "/translate", BODY, HEAD)
            gone.append(line)
        until(lambda: len(server.desk.batches.waiting) == 2)
        assert ask(server.port)[0] == 503
        for line in gone:
            line.close()
        until(lambda: not server.desk.batches.waiting)  # at once, and not when the next batch is made
        free.set()
        assert pool.submit(ask, server.port).result()[0] == 200 and first.result()[0] == 200
        assert len(model.asked) == 2  # those who left were not answered
        until(lambda: server.desk.counters.busy == 0)


def test_a_request_that_takes_too_long_is_told_so():
    with running({"toy": slow(1.0)}, patience=0.4) as server:
        status, _, answer = ask(server.port)
        assert status == 504 and "0.4 seconds" in answer["error"]
        line = socket.create_connection(("127.0.0.1", server.port))
        line.sendall(b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
        assert line.recv(99).startswith(b"HTTP/1.1 408 ")  # a body that never ends
        line.close()


def test_a_line_without_a_request_is_closed(monkeypatch):
    monkeypatch.setattr(start, "HEAD", 0.4)
    with running({"toy": spoken()}) as server:
        for begun in (b"", b"POST /trans", b"GET /languages HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /l"):
            line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENT)
            line.sendall(begun)
            found = b"".join(iter(lambda line=line: line.recv(4096), b""))
            assert found.startswith(b"HTTP/1.1 200 ") == begun.startswith(b"GET")
            line.close()


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_lines_are_the_same_on_any_loop(monkeypatch, loop):
    """On uvloop connections once hung: a type that was checked in tests refused its transports."""
    pytest.importorskip(loop)
    monkeypatch.setattr(start, "HEAD", 0.4)
    monkeypatch.setattr(serving, "options", lambda asked: start.options(asked) | {"loop": loop})
    with running({"toy": spoken()}) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENT)
        assert [ask(server.port, line=line)[0] for _ in range(3)] == [200] * 3
        line.close()
        head = b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        whole = head + b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY.encode())
        large = head + b"Content-Length: 500000\r\n\r\n" + BODY.encode().ljust(500_000)
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENT) as other:
            other.sendall(whole * 5 + large + whole)  # pipelined, and a body beyond what is read ahead
            found = b"".join(iter(lambda: other.recv(65536), b""))  # until the line is closed, unasked
        assert found.count(b"HTTP/1.1 200 ") == 7


def test_who_does_not_read_his_answer_is_cut_off():
    with running({"toy": spoken()}, patience=0.4) as server:
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", server.port))
        line.settimeout(PATIENT)
        line.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 200)
        until(lambda: server.desk.counters.busy)
        until(lambda: server.desk.counters.busy == 0)
        line.close()
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENT) as other:
            other.sendall(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert other.recv(99).startswith(b"HTTP/1.1 200 "), "the others are answered"


def test_no_more_bytes_are_taken_in_than_there_is_room_for():
    with running({"toy": spoken()}, body=1000) as server:
        lines = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENT) for _ in range(18)]
        for line in lines:
            line.sendall(b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n" + b" " * 990)
        refused = until(lambda: [line for line in lines if _answered(line)])
        assert len(refused) == 2 and all(line.recv(99).startswith(b"HTTP/1.1 503 ") for line in refused)
        assert ask(server.port, BODY[:20])[0] in (400, 503)
        for line in lines:
            line.close()
        until(lambda: server.desk.counters.busy == 0)
        assert ask(server.port)[0] == 200


def _answered(line):
    line.setblocking(False)
    try:
        return bool(line.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        line.settimeout(PATIENT)


def test_what_a_process_was_answering_can_be_told_when_it_is_gone(tmp_path):
    slots = Slots(tmp_path)
    names = [f"{number:032x}" for number in range(5)]
    for name in names[:4]:
        slots.take(name)
    slots.free(names[1])
    slots.take(names[4])
    slots.free(names[0])
    assert sorted(left_of(tmp_path, os.getpid())) == sorted([names[2], names[3], names[4]])
    assert left_of(tmp_path, 1) == []
    Slots(None).take("x")


# --- the end -----------------------------------------------------------------------------------------------


@pytest.fixture
def served(tmp_path):
    with started(tmp_path) as found:
        yield found


def test_a_server_that_is_ended_answers_all_that_it_accepted(served, tmp_path):
    process, port = served()
    told, stopped = [], Event()
    with ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(load, port, told, stopped) for _ in range(8)]
        until(lambda: len(told) > 30)
        process.send_signal(signal.SIGTERM)
        assert [each.result() for each in clients] == ["told"] * 8
    assert process.wait(PATIENT) == 0
    right = (200, {"translatedText": translator().translate(LINES[0]).text})
    assert [each for each in told if each != right] == []
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_worker_that_is_killed_is_replaced_and_what_it_was_at_is_told(served, tmp_path):
    process, port = served("--workers", "2")
    workers = until(lambda: found if len(found := children(process.pid)) == 2 else None)
    told, stopped = [], Event()
    with ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(load, port, told, stopped) for _ in range(8)]
        until(lambda: len(told) > 30)
        os.kill(workers[0], signal.SIGKILL)
        assert ask(port)[0] == 200  # the other answers meanwhile
        until(lambda: re.search(rf"worker {workers[0]} ended", (tmp_path / "log").read_text()))
        until(lambda: len(children(process.pid)) == 2)
        stopped.set()
        lost = [each for each in clients if each.exception()]
    assert all(isinstance(each.exception(), ConnectionError) for each in lost)
    assert {each[0] for each in told} == {200}
    said = re.search(r"ended \(-9\)(?: while it answered (\d+) requests)?", (tmp_path / "log").read_text())
    assert int(said[1] or 0) <= len(lost)
    until(lambda: is_ready(port))
    assert ask(port)[0] == 200
    line = http.client.HTTPConnection("127.0.0.1", port)
    line.request("GET", "/metrics")
    metrics = line.getresponse().read().decode()
    line.close()
    assert "regard_workers_lost_total 1\n" in metrics and f"regard_requests_lost_total {said[1] or 0}\n" in metrics
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENT) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
