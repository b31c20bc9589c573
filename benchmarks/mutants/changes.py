"""Every change of one place of a module that a test should notice, as text to put in the place of other text.

Changed are comparisons, arithmetic, `and`/`or`, `not` and `~`, numbers, True and False, conditions, the first two
arguments of a call, keyword arguments left out, and statements left out. Only function bodies and default values are
touched; left alone are docstrings, annotations, decorators, formatted strings, what an error says, `__repr__`, and the
defaults of a part's settings, which are a choice and neither right nor wrong.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Swapped, the arguments of these mean the same, or are refused by Python itself.
SWAPPED_IN_VAIN = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "min", "max", "zip", "gcd"}
SWAPPED_IN_VAIN |= {"maximum", "minimum", "add", "mul", "allclose", "equal"}


@dataclass(frozen=True)
class Change:
    """Put `new` in the place of the bytes from `start` to `end`, on `line`, in the function that begins at `function`.

    `was` and `now` are the lines before and after, without their indentation: they name the change where line
    numbers move.
    """

    file: str
    line: int
    function: int
    kind: str
    start: int
    end: int
    new: str
    was: str = ""
    now: str = ""

    def apply(self, source: str) -> str:
        """The changed source."""
        text = source.encode()
        return (text[: self.start] + self.new.encode() + text[self.end :]).decode()


def changes_of(source: str, file: str) -> list[Change]:
    """All changes of a module that still compile."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        for change in _Finder(source, file).of_module():
            after = change.apply(source)
            try:
                compile(after, file, "exec")
            except SyntaxError:
                continue
            found.append(_with_lines(change, source, after))
    return found


def _with_lines(change: Change, source: str, after: str) -> Change:
    """The lines that the change touches, on one line each."""
    before, rest = source.encode()[: change.start].count(b"\n"), source.encode()[change.end :].count(b"\n")
    was, now = (
        " ".join(line.strip() for line in text.split("\n")[before : text.count("\n") + 1 - rest])
        for text in (source, after)
    )
    return Change(**(vars(change) | {"was": was, "now": now}))


class _Finder:
    """Walks a module's functions and yields a change for every place that can be changed."""

    def __init__(self, source: str, file: str) -> None:
        self.tree, self.file, self.function = ast.parse(source), file, 0
        sizes = [len(line) for line in source.encode().splitlines(keepends=True)]
        self.starts = [sum(sizes[:number]) for number in range(len(sizes) + 1)]

    def of_module(self) -> Iterator[Change]:
        yield from self._of_functions(self.tree, False)

    def _of_functions(self, owner: ast.AST, is_part: bool) -> Iterator[Change]:
        for node in ast.iter_child_nodes(owner):
            if isinstance(node, ast.ClassDef):
                yield from self._of_functions(
                    node, any(ast.unparse(each).startswith("part(") for each in node.decorator_list)
                )
            elif isinstance(node, FUNCTIONS):
                yield from self._of_function(node, is_part and node.name == "__init__")
            elif isinstance(node, ast.If | ast.Try) and "TYPE_CHECKING" not in ast.unparse(node):
                yield from self._of_functions(node, False)

    def _of_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, has_settings: bool) -> Iterator[Change]:
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if node.name == "__repr__" or (len(body) == 1 and isinstance(body[0], ast.Raise)):
            return
        outer, self.function = self.function, min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if not has_settings:
            for default in (*node.args.defaults, *node.args.kw_defaults):
                yield from self._visit(default)
        for each in body:
            yield from self._visit(each)
        self.function = outer

    def _visit(self, node: ast.AST | None) -> Iterator[Change]:
        if node is None or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
            return
        if isinstance(node, FUNCTIONS):
            yield from self._of_function(node, False)
            return
        yield from self._own(node)
        if isinstance(node, ast.Raise) or _is_negative(node):
            return
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns", "decorator_list", "format_spec"):
                for each in value if isinstance(value, list) else [value]:
                    if isinstance(each, ast.AST):
                        yield from self._visit(each)

    def _own(self, node: ast.AST) -> Iterator[Change]:
        """The changes of a node itself."""
        for kind, new in _replacements(node):
            place = node.test if kind == "condition" and isinstance(node, ast.If | ast.While | ast.IfExp) else node
            yield self._change(place, kind, new)
        if isinstance(node, ast.comprehension):
            for test in node.ifs:
                if not _tells(test):
                    yield self._change(test, "condition", f"(not ({ast.unparse(test)}))")

    def _change(self, node: ast.AST, kind: str, new: str) -> Change:
        start, end = (
            self.starts[line - 1] + column  # type: ignore[attr-defined]
            for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]
        )
        return Change(self.file, node.lineno, self.function, kind, start, end, new)  # type: ignore[attr-defined]


def _replacements(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What may stand in the place of a node: the kind of change, and the text."""
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            yield "comparison", _with(node, ops=_at(node.ops, number, COMPARISONS[type(operator)]()))
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _has_text(node):
        yield "arithmetic", _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield "logic", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif _is_negative(node):
        yield "number", str(_other(-node.operand.value))  # type: ignore[attr-defined]
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield "not", f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ("truth" if isinstance(node.value, bool) else "number"), str(_other(node.value))
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not _tells(node.test):
        yield "condition", f"(not ({ast.unparse(node.test)}))"
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC and not _has_text(node):
        yield "arithmetic", ast.unparse(_changed(node, op=ARITHMETIC[type(node.op)]()))
    if _may_go(node):
        yield "statement", "pass"


def _calls(node: ast.Call) -> Iterator[tuple[str, str]]:
    name = ast.unparse(node.func).rpartition(".")[2]
    first = node.args[:2]
    if (
        len(first) == 2
        and name not in SWAPPED_IN_VAIN
        and not any(isinstance(each, ast.Starred) for each in first)
        and ast.dump(first[0]) != ast.dump(first[1])
    ):
        yield "arguments", ast.unparse(_changed(node, args=[first[1], first[0], *node.args[2:]]))
    for number, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield "keyword", ast.unparse(_changed(node, keywords=node.keywords[:number] + node.keywords[number + 1 :]))


def _may_go(node: ast.AST) -> bool:
    """Is this a statement that can be left out so that Python itself does not object?"""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and "super()" not in ast.unparse(node)
    if isinstance(node, ast.Assign):
        return all(isinstance(each, ast.Attribute | ast.Subscript) for each in node.targets)
    return isinstance(node, ast.Raise | ast.Break | ast.Continue | ast.Delete)


def _tells(test: ast.expr) -> bool:
    """Is a condition turned round by a change of its own?"""
    return (isinstance(test, ast.Compare) and len(test.ops) == 1 and not isinstance(test.ops[0], _ORDERS)) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _is_negative(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, int | float)
    )


def _has_text(node: ast.AST) -> bool:
    """Does a string stand here? Then it is text that is put together, not numbers."""
    return any(
        isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and isinstance(each.value, str))
        for each in ast.iter_child_nodes(node)
    )


def _other(value: bool | int | float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value < 0 else value + 1
    return 2 * value if value else 1.0


def _at(items: list[ast.cmpop], number: int, new: ast.cmpop) -> list[ast.cmpop]:
    return [*items[:number], new, *items[number + 1 :]]


def _changed(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _with(node: ast.AST, **fields: object) -> str:
    return f"({ast.unparse(_changed(node, **fields))})"
