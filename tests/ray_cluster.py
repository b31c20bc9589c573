"""A Ray of this machine's cores for as long as standard input is open; its address is the one line of output."""

import sys

import ray

from regard.cluster import connect

with connect():
    sys.__stdout__.write(f"{ray.get_runtime_context().gcs_address}\n")
    sys.__stdout__.flush()
    sys.stdin.read()
