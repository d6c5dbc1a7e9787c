"""Where the names that instrumented code uses live: where no program comes upon them.

What never changes is a constant of the code object, what changes during a run an attribute of one
module object, which is a constant, too. Syntax trees hold marks in the place of these constants;
`with_constants` puts them in once the tree is compiled. The question with which each function
begins asks for that module by the one name that the lecture's own module has for it, since
`torch.compile` follows names, and constants of no kind but Python's own.
"""

import ast
import secrets
import types
from collections.abc import Callable

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

HOME = "__@__"
"""In the modules of a lecture. No source can spell it, `import *` leaves it out."""
MARK = f"\0{secrets.token_hex(8)}"
"""What stands for a constant: a text that no source holds."""

_ACTIVATION = "@a"
"""A variable of the function itself."""
_ASKED_AT_ENTRY = {"@watch", "@off", "@compiling", "@threads", "@elsewhere"}
CONSTANT = {
    *("@step", "@next", "@gettrace", "@outer", "@second"),
    *("@map", "@pick", "@chain", "@first", "@repeat"),
    *("@NameError", "@BaseException", "@unreadable"),
}
"""What is the same as long as the lecture runs, and harms nobody afterwards."""


def load(identifier: str) -> ast.expr:
    """A name that is read, or what stands for an inserted one.

    >>> ast.unparse(load("x")), ast.unparse(load("@off"))
    ('x', '__@__.@off')
    """
    if identifier[0] != "@" or identifier == _ACTIVATION:
        return ast.Name(identifier, ast.Load())
    if identifier in CONSTANT:
        return ast.Constant(MARK + identifier)
    if identifier in _ASKED_AT_ENTRY:
        return ast.Attribute(ast.Name(HOME, ast.Load()), identifier, ast.Load())
    return ast.Attribute(ast.Constant(MARK), identifier, ast.Load())


def load_wait(reading: int) -> ast.expr:
    """What says how long a reading of all names has to wait: of each its own constant."""
    return ast.Constant(f"{MARK}{reading}")


def call(function: str, *arguments: ast.expr) -> ast.Call:
    """A call of an inserted function."""
    return ast.Call(load(function), list(arguments), [])


def note(function: str, *numbers: int) -> ast.stmt:
    """A statement that calls an inserted function with numbers."""
    return ast.Expr(call(function, *(ast.Constant(number) for number in numbers)))


def bring_home(body: list[ast.stmt]) -> None:
    """Let a module begin with the name that its functions ask for."""
    place = 0
    for statement in body:
        match statement:
            case ast.Expr(ast.Constant(str())) if place == 0:
                place = 1
            case ast.ImportFrom("__future__"):
                place = body.index(statement) + 1
    home = ast.Assign([ast.Name(HOME, ast.Store())], ast.Constant(MARK))
    body.insert(place, ast.copy_location(home, body[place - 1]) if place else home)


def with_constants(code: types.CodeType, constant: Callable[[str], object]) -> types.CodeType:
    """Replace each mark in a code object, and in those inside it, by what it stands for: of ``""``
    the module, of a number what `load_wait` asks, of a name in `CONSTANT` that."""

    def put(value: object) -> object:
        if type(value) is str and value.startswith(MARK):
            return constant(value.removeprefix(MARK))
        return with_constants(value, constant) if isinstance(value, types.CodeType) else value

    return code.replace(co_consts=tuple(map(put, code.co_consts)))
