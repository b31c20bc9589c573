"""Shapes and types of every function of Regard, checked in its first calls in each test.

Later calls see the same, several times as slowly. What checks a function is made when it is first called: most tests
run a small part of all functions, and every process of the test run imports them all.
"""

import inspect
from collections import Counter
from functools import wraps
from random import Random

import jaxtyping
from beartype._check.code import codemain
from jaxtyping import _decorator

CALLS = 8  # of each function that are checked in a test

calls: Counter = Counter()  # of this test so far; cleared when the next one starts
_eager = jaxtyping.jaxtyped


def jaxtyped(function=None, *, typechecker):
    """In place of jaxtyping's decorator: check the first calls of a plain function, and all else as it does."""
    if function is None:
        return lambda decorated: jaxtyped(decorated, typechecker=typechecker)
    if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
        return _eager(function, typechecker=typechecker)
    checked = None

    @wraps(function)
    def first_calls(*given, **named):
        nonlocal checked
        if jaxtyping.config.jaxtyping_disable or calls[function] >= CALLS:
            return function(*given, **named)
        calls[function] += 1
        if checked is None:
            checked = _eager(function, typechecker=typechecker)
        return checked(*given, **named)

    return first_calls


def install(modules):
    """Check these modules, which have not been imported yet."""
    # Which item of a list is looked at is drawn: not from the numbers that a training keeps and goes on with.
    codemain.getrandbits = Random(0).getrandbits
    jaxtyping.jaxtyped = _decorator.jaxtyped = jaxtyped  # the second for methods of classes
    jaxtyping.install_import_hook(modules, "beartype.beartype")
