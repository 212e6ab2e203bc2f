"""Where the modules that make numbers can be changed, and how: mutmut's operators and some for tables."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation import mutators

SWAPPED = {
    "mean": "median", "median": "mean", "any": "all", "all": "any", "min": "max", "max": "min",
    "nanmin": "nanmax", "nanmax": "nanmin", "nanmean": "nanmedian", "first": "last", "last": "first",
    "head": "tail", "tail": "head", "idxmin": "idxmax", "idxmax": "idxmin", "argmin": "argmax",
    "argmax": "argmin", "floor": "ceil", "ceil": "floor", "sum": "max", "var": "std", "std": "var",
    "minimum": "maximum", "maximum": "minimum", "union": "intersection", "intersection": "union",
    "nunique": "count", "count": "nunique", "cumsum": "cumprod", "notna": "isna", "isna": "notna",
}  # fmt: skip
"""Functions and methods that another stands in for: of the same shape, of another value."""
TOLD = m.Expr(m.Call(m.Attribute(value=m.Name("log") | m.Name("logger") | m.Name("warnings"))))
SILENT = m.SimpleStatementLine([m.Raise() | m.Assert() | TOLD])
"""Statements that only say something, to the log or in an error: no result depends on them."""
ONLY_TOLD = m.If(body=m.IndentedBlock([m.AtLeastN(m.SimpleStatementLine([TOLD]), n=1)]), orelse=None)
"""Conditions that decide nothing but whether something stands in the log."""
COMPOUND = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.FunctionDef, cst.ClassDef, cst.Match)
STATEMENTS = (cst.SimpleStatementLine, cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module, *COMPOUND)
HUSHED = m.Arg(
    keyword=m.OneOf(
        *map(m.Name, ("encoding", "newline", "description", "indent", "sort_keys", "ensure_ascii", "strict"))
    )
)
"""Options that decide how a file is laid out, not what stands in it."""


def dropped_elements(node: cst.List | cst.Tuple) -> Iterator[cst.CSTNode]:
    """Yield a list of names without each of them: a grouping key, a column, a key of a join is forgotten."""
    named = (cst.SimpleString, cst.Name, cst.StarredElement)
    plain = [isinstance(e, cst.StarredElement) or isinstance(e.value, named) for e in node.elements]
    if len(plain) > 1 and all(plain) and any(isinstance(e.value, cst.SimpleString) for e in node.elements):
        for i in range(len(plain)):
            rest = [*node.elements[:i], *node.elements[i + 1 :]]
            if isinstance(node, cst.Tuple) and len(rest) == 1 and not isinstance(rest[0], cst.StarredElement):
                rest = [rest[0].with_changes(comma=cst.Comma())]
            yield node.with_changes(elements=rest)


def swapped_function(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Yield a call of another aggregate: the median for the mean, any for all."""
    name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    if isinstance(name, cst.Name) and name.value in SWAPPED:
        yield node.with_deep_changes(name, value=SWAPPED[name.value])


def swapped_name(node: cst.SimpleString) -> Iterator[cst.CSTNode]:
    """Yield another aggregate where pandas takes its name: `agg("mean")`."""
    if node.raw_value in {"mean", "median", "min", "max", "first", "last", "sum", "nunique"}:
        yield node.with_changes(value=f'"{SWAPPED[node.raw_value]}"')


def dropped_options(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Yield a call without one of its options: `ddof=1`, `kind="stable"`, `dropna=False`."""
    for i, arg in enumerate(node.args):
        if arg.keyword is not None and not m.matches(arg, HUSHED):
            yield node.with_changes(args=[*node.args[:i], *node.args[i + 1 :]])


def forced_condition(node: cst.If | cst.While) -> Iterator[cst.CSTNode]:
    """Yield an `if` that always, and one that never, does what it says."""
    if isinstance(node, cst.If):
        yield node.with_changes(test=cst.Name("True"))
        yield node.with_changes(test=cst.Name("False"))


def dropped_filter(node: cst.CompFor) -> Iterator[cst.CSTNode]:
    """Yield a comprehension without one of its filters."""
    for i in range(len(node.ifs)):
        yield node.with_changes(ifs=[*node.ifs[:i], *node.ifs[i + 1 :]])


def one_operand(node: cst.BooleanOperation) -> Iterator[cst.CSTNode]:
    """Yield one side of `and` or `or`: the other condition is forgotten."""
    for side in (node.left, node.right):
        yield side if side.lpar else side.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def one_less(node: cst.Integer) -> Iterator[cst.CSTNode]:
    """Yield a whole number less one: mutmut has one more only, and a border has two sides."""
    if node.evaluated_value > 0:
        yield node.with_changes(value=repr(node.evaluated_value - 1))


def changed_text(node: cst.SimpleString) -> Iterator[cst.CSTNode]:
    """Yield the first of mutmut's changes to a text."""
    yield from list(mutators.operator_string(node))[:1]


def changed_sentence(node: cst.FormattedStringText) -> Iterator[cst.CSTNode]:
    """Yield a changed piece of a sentence into which values are written."""
    if re.search(r"[A-Za-z]{2}|[±%]", node.value):
        yield node.with_changes(value=f"XX{node.value}XX")


def changed_format(node: cst.FormattedStringExpression) -> Iterator[cst.CSTNode]:
    """Yield a value written with another number of decimals."""
    for spec in node.format_spec or ():
        if isinstance(spec, cst.FormattedStringText) and re.search(r"\.\d", spec.value):
            more = re.sub(r"\.(\d)", lambda d: f".{int(d[1]) + 1}", spec.value)
            yield node.with_deep_changes(spec, value=more)


OPERATORS: dict[str, list[tuple[Any, Callable[[Any], Iterable[cst.CSTNode]]]]] = {
    "key": [((cst.List, cst.Tuple), dropped_elements)],
    "aggregate": [(cst.Call, swapped_function), (cst.SimpleString, swapped_name)],
    "condition": [
        (cst.If, forced_condition),
        (cst.IfExp, mutators.operator_if_exp),
        (cst.CompFor, dropped_filter),
        (cst.UnaryOperation, mutators.operator_remove_unary_ops),
    ],
    "comparison": [
        (cst.ComparisonTarget, mutators.operator_swap_op),
        (cst.CSTNode, mutators.operator_keywords),
    ],
    "boolean": [
        (cst.BooleanOperation, mutators.operator_swap_op),
        (cst.BooleanOperation, one_operand),
        (cst.Name, mutators.operator_name),
    ],
    "arithmetic": [
        (cst.BinaryOperation, mutators.operator_swap_op),
        (cst.AugAssign, mutators.operator_swap_op),
        (cst.UnaryOperation, mutators.operator_swap_op),
        (cst.AugAssign, mutators.operator_augmented_assignment),
    ],
    "number": [(cst.BaseNumber, mutators.operator_number), (cst.Integer, one_less)],
    "option": [
        (cst.Call, dropped_options),
        (cst.Call, mutators.operator_symmetric_string_methods_swap),
        (cst.Call, mutators.operator_unsymmetrical_string_methods_swap),
    ],
    "text": [(cst.SimpleString, changed_text)],
    "sentence": [
        (cst.FormattedStringText, changed_sentence),
        (cst.FormattedStringExpression, changed_format),
    ],
}
"""Operators by the kind of mistake they stand for; a sample takes each kind equally often."""


@dataclass(frozen=True)
class Point:
    """One change of one module.

    Args:
        path: The module, from the repository's root.
        kind: Of `OPERATORS`.
        function: The function or class it is in; `` for a module's own lines.
        lines: First and last line that a test must execute to notice.
        before: The changed lines as they are, blanks at their ends left out.
        after: The same lines after the change.
        number: Its place in the order of the module's points.
    """

    path: str
    kind: str
    function: str
    lines: tuple[int, int]
    before: str
    after: str
    number: int = 0

    @property
    def key(self) -> str:
        """A digest of the content: the same while the statement is, wherever it stands."""
        parts = (self.path, self.function, self.before, self.after)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class Finder(cst.CSTVisitor):
    """Collects what can be changed, without annotations, docstrings, imports and texts that are no result."""

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self) -> None:
        self.found: list[tuple[str, cst.CSTNode, cst.CSTNode, str, tuple[int, int]]] = []
        self.names: list[str] = []

    def visit_Annotation(self, node: cst.Annotation) -> bool:
        return False

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Decorator(self, node: cst.Decorator) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.names.append(node.name.value)

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        self.names.pop()

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.names.append(node.name.value)

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:
        self.names.pop()

    def on_visit(self, node: cst.CSTNode) -> bool:
        if m.matches(node, m.Expr(m.SimpleString() | m.ConcatenatedString())) or m.matches(node, HUSHED):
            return False
        if m.matches(node, SILENT | ONLY_TOLD):
            return False
        for kind, operators in OPERATORS.items():
            for types, operator in operators:
                if isinstance(node, types):
                    self._add(kind, node, operator)
        return super().on_visit(node)

    def _add(self, kind: str, node: cst.CSTNode, operator: Callable[[Any], Iterable[cst.CSTNode]]) -> None:
        function = ".".join(self.names)
        for changed in operator(node):
            self.found.append((kind, node, changed, function, self._lines(node)))

    def _statement(self, node: cst.CSTNode) -> cst.CSTNode:
        while not isinstance(node, STATEMENTS):
            parent = self.get_metadata(ParentNodeProvider, node)
            if isinstance(parent, (*COMPOUND, cst.IndentedBlock, cst.Module)):
                return node
            node = parent
        return node

    def _lines(self, node: cst.CSTNode) -> tuple[int, int]:
        statement = node.test if isinstance(node, cst.If) else self._statement(node)
        where = self.get_metadata(PositionProvider, statement)
        return where.start.line, where.end.line


def difference(old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    """Return the lines that differ, as they were and as they are, without blanks at their ends."""
    parts: tuple[list[str], list[str]] = ([], [])
    for tag, i, k, j, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            parts[0].extend(line.strip() for line in old[i:k])
            parts[1].extend(line.strip() for line in new[j:n])
    return "\n".join(parts[0]), "\n".join(parts[1])


def find(root: Path, path: str) -> list[Point]:
    """Return a module's points; `before` and `after` are empty until `settle` fills them."""
    finder, _ = _found(root, path)
    return [
        Point(path, kind, function, lines, "", "", number)
        for number, (kind, _, _, function, lines) in enumerate(finder.found)
    ]


def settle(root: Path, points: Iterable[Point]) -> list[tuple[Point, str]]:
    """Return points of one module with the lines they change, each beside the changed source."""
    settled = []
    points = list(points)
    finder, module = _found(root, points[0].path)
    for point in points:
        _, node, changed, _, _ = finder.found[point.number]
        new = module.deep_replace(node, changed).code  # type: ignore[union-attr]
        before, after = difference(module.code.splitlines(), new.splitlines())
        settled.append((replace(point, before=before, after=after), new))
    return settled


def _found(root: Path, path: str) -> tuple[Finder, cst.Module]:
    wrapper = MetadataWrapper(cst.parse_module((root / path).read_text(encoding="utf-8")))
    finder = Finder()
    wrapper.visit(finder)
    return finder, wrapper.module
