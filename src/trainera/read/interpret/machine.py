"""The machine that reads a program: its state and its parts."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from trainera.read.facts import Decisions
from trainera.read.interpret.agreement import Agreement
from trainera.read.interpret.assignments import Assignments
from trainera.read.interpret.attributes import Attributes
from trainera.read.interpret.batches import Batches
from trainera.read.interpret.calls import Calls
from trainera.read.interpret.comprehensions import Comprehensions
from trainera.read.interpret.conditions import Conditions
from trainera.read.interpret.definitions import Definitions
from trainera.read.interpret.expressions import Expressions
from trainera.read.interpret.functions import Functions
from trainera.read.interpret.gathering import Gathering
from trainera.read.interpret.heap import Heap
from trainera.read.interpret.library import Libraries, Library
from trainera.read.interpret.loader_names import LoaderNames
from trainera.read.interpret.loops import Loops
from trainera.read.interpret.methods import Methods
from trainera.read.interpret.names import Names
from trainera.read.interpret.namespaces import Namespaces
from trainera.read.interpret.notes import Notes
from trainera.read.interpret.objects import Objects
from trainera.read.interpret.operators import Operators
from trainera.read.interpret.outliving import Outliving
from trainera.read.interpret.own_rows import OwnRows
from trainera.read.interpret.patterns import Patterns
from trainera.read.interpret.special import SpecialMethods
from trainera.read.interpret.state import Frame, Path, Program
from trainera.read.interpret.statements import Statements
from trainera.read.interpret.subscripts import Subscripts
from trainera.read.interpret.unknown import Unknown
from trainera.read.interpret.writes import Writes
from trainera.read.source.file import SourceFile
from trainera.read.values import Value
from trainera.read.values.join import by_any_name, element

Handler = Callable[[Any, Frame], None]
Evaluator = Callable[[Any, Frame], Value]


class Machine:
    """Follows a program. Every part is an object of its own, and they share the state."""

    def __init__(
        self,
        files: dict[str, SourceFile],
        decisions: Decisions,
        libraries: Sequence[Callable[["Machine"], Library]],
    ) -> None:
        self.program = Program(files, decisions)
        self.path = Path()
        self.notes = Notes(files, self.path)
        self.names = Names(self)
        self.namespaces = Namespaces(self)
        self.objects = Objects(self)
        self.special = SpecialMethods(self)
        self.gathering = Gathering(self)
        self.heap = Heap(self)
        self.loader_names = LoaderNames(self)
        self.agreement = Agreement(self)
        self.conditions = Conditions(self)
        self.patterns = Patterns(self)
        self.own_rows = OwnRows(self)
        self.writes = Writes(self)
        self.outliving = Outliving(self)
        self.assignments = Assignments(self)
        self.definitions = Definitions(self)
        self.statements = Statements(self)
        self.loops = Loops(self)
        self.expressions = Expressions(self)
        self.attributes = Attributes(self)
        self.subscripts = Subscripts(self)
        self.comprehensions = Comprehensions(self)
        self.operators = Operators(self)
        self.calls = Calls(self)
        self.functions = Functions(self)
        self.methods = Methods(self)
        self.unknown = Unknown(self)
        self.batches = Batches(self)
        self.libraries = Libraries([make(self) for make in libraries])
        self.eval = self.expressions.eval
        self.run = self.statements.run
        self.statements.handlers = statement_handlers(self)
        self.expressions.handlers = expression_handlers(self)

    def joined(self, value: Value) -> Value:
        """What any of the items of a value is."""
        return element(value)

    def by_any_name(self, value: Value) -> Value:
        """The same, looked up by a name that is known when the script runs."""
        return by_any_name(element(value))

    def begin_reading(self) -> None:
        """Forgets what another reading finds again."""
        self.program.begin_reading()
        self.path.begin_reading()
        self.notes.begin_reading()


def statement_handlers(machine: Machine) -> dict[type[ast.stmt], Handler]:
    """Who follows which statement."""
    assignments, definitions = machine.assignments, machine.definitions
    loops, statements = machine.loops, machine.statements
    return {
        ast.Assign: assignments.do_assign,
        ast.AnnAssign: assignments.do_annassign,
        ast.AugAssign: assignments.do_augassign,
        ast.FunctionDef: definitions.do_functiondef,
        ast.AsyncFunctionDef: definitions.do_functiondef,
        ast.ClassDef: definitions.do_classdef,
        ast.Import: definitions.do_import,
        ast.ImportFrom: definitions.do_importfrom,
        ast.Global: definitions.do_global,
        ast.Nonlocal: definitions.do_nonlocal,
        ast.For: loops.do_for,
        ast.AsyncFor: loops.do_for,
        ast.While: loops.do_while,
        ast.Break: loops.do_break,
        ast.Continue: loops.do_continue,
        ast.Expr: statements.do_expr,
        ast.If: statements.do_if,
        ast.Return: statements.do_return,
        ast.Raise: statements.do_raise,
        ast.Try: statements.do_try,
        getattr(ast, "TryStar", ast.Try): statements.do_try,
        ast.With: statements.do_with,
        ast.AsyncWith: statements.do_with,
        ast.Match: statements.do_match,
        getattr(ast, "TypeAlias", ast.Pass): statements.do_typealias,
        ast.Delete: statements.do_delete,
        ast.Assert: statements.do_assert,
    }


def expression_handlers(machine: Machine) -> dict[type[ast.expr], Evaluator]:
    """Who follows which expression."""
    expressions, operators = machine.expressions, machine.operators
    comprehensions = machine.comprehensions
    return {
        ast.Constant: expressions.constant,
        ast.Name: expressions.name,
        ast.Call: machine.calls.call,
        ast.Attribute: machine.attributes.read,
        ast.Subscript: machine.subscripts.read,
        ast.BinOp: expressions.binary,
        ast.UnaryOp: operators.unary,
        ast.Compare: operators.compare,
        ast.BoolOp: expressions.logical,
        ast.IfExp: expressions.conditional,
        ast.Tuple: expressions.sequence,
        ast.List: expressions.sequence,
        ast.Starred: expressions.starred,
        ast.Set: expressions.set,
        ast.Dict: comprehensions.dictionary,
        ast.JoinedStr: expressions.text,
        ast.NamedExpr: expressions.named,
        ast.Lambda: expressions.function,
        ast.ListComp: comprehensions.comprehension,
        ast.SetComp: comprehensions.comprehension,
        ast.GeneratorExp: comprehensions.comprehension,
        ast.DictComp: comprehensions.comprehension,
        ast.Slice: expressions.slice,
        ast.Await: expressions.awaited,
        ast.Yield: expressions.given,
        ast.YieldFrom: expressions.given_each,
    }
