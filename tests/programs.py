"""Generated programs: every kind of statement, one to a line, and each of them ends.

A program is a module with a `main()` that prints what it computes. Numbers come from `random`, so
that a program also shows whether it draws the same ones.
"""

from hypothesis import strategies as st

IN_FINALLY = None
"""For `in_loop`: inside a `finally`. There is no `break` there, since Python's line events do not
tell whether it ran or an exception left the block."""

HEAD = [
    "import asyncio, random, signal",
    "from contextlib import asynccontextmanager, contextmanager",
    "",
]
HELPERS = [
    "@contextmanager",
    "def room(name):",
    "    print('enter', name)",
    "    try:",
    "        yield name",
    "    finally:",
    "        print('leave', name)",
    "",
    "def fact(n):",
    "    if n < 1:",
    "        return 1",
    "    return n * fact(n - 1)",
    "",
    "def count(n):",
    "    for i in range(n):",
    "        got = yield i",
    "        if got:",
    "            print('got', got)",
    "",
    "def chain(n):",
    "    result = yield from count(n)",
    "    yield result",
    "",
    "async def ticks(n):",
    "    for i in range(n):",
    "        await asyncio.sleep(0)",
    "        yield i",
    "",
    "async def listed(items):",
    "    return [item async for item in items]",
    "",
    "async def nap(n):",
    "    await asyncio.sleep(0)",
    "    if n == 3:",
    "        raise KeyError(n)",
    "    return n",
    "",
    "@asynccontextmanager",
    "async def hall(name):",
    "    print('enter', name)",
    "    try:",
    "        yield await nap(name)",
    "    finally:",
    "        await nap(0)",
    "",
    "def on_signal(number, frame):",
    "    KEPT.append([number])",
    "    if number == signal.SIGUSR2:",
    "        raise ValueError(number)",
    "",
    "class Thing:",
    "    def __init__(self, x):",
    "        self.x = x",
    "        self.items = []",
    "    def add(self, x):",
    "        self.items.append(x)",
    "        self.last = x",
    "        return self",
    "",
    "KEPT = []",
    "",
    "def touch(xs, *more, **named):",
    "    xs.append(len(xs))",
    "    more = [*more, named]",
    "    xs[0] = more",
    "    return xs",
    "",
    "def keep(x):",
    "    KEPT.append(x)",
    "",
    "def stir():",
    "    for x in KEPT:",
    "        if isinstance(x, list):",
    "            x[:] = [0]",
    "        else:",
    "            x.x = 0",
    "",
]

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-3, 9).map(str)
ATOMS = NAMES | NUMBERS


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """An expression over the names a, b, c; it may raise."""
    x, y = draw(ATOMS), draw(ATOMS)
    return draw(
        st.sampled_from(
            [
                x,
                f"{x} + {y}",
                f"{x} * {y} - 1",
                f"{x} // {y}",
                f"fact({x} % 5)",
                f"sum(count({x} % 4))",
                f"len([i for i in range(abs({x}) % 4) if i != {y}])",
                f"(lambda n: n + {y})({x})",
                f"int(random.random() * 9) + {x}",
                f"{x} if {y} > 2 else {y}",
                f"max({x}, {y})",
                f"[{x}, {y}][{x} % 3]",
            ]
        )
    )


CONDITIONS = st.builds(
    lambda x, operator, y: f"{x} {operator} {y}",
    ATOMS,
    st.sampled_from(["<", "==", "!=", ">=", "in (1, 2, 3) or", "and"]),
    NAMES,
)

OBJECTS = st.sampled_from(
    [
        *("p = [a, b]", "q = p", "q = [p, c]", "p.append(c)", "p[0] = a", "p[:] = []", "p += [b]"),
        *("p = p + [a]", "r = {'p': p, 'c': c}", "r['n'] = q", "r.clear()", "touch(p)", "touch(q)"),
        *(
            "touch(p, q, k=a)",
            "keep(p)",
            "keep(o)",
            "stir()",
            "o = Thing(p)",
            "o.x = q",
            "o.add(a)",
        ),
        *("o.add(p)", "q = o.items", "r = (p, a)", "q = touch([a])", "p, q = q, p", "del q"),
        *("p.append(p)", "o.x = o", "r = lambda: p.append(1)", "r()", "b = len(p)", "o.last = q"),
        *("r = [p.append(i) for i in range(2)]", "q = [[a], [b]]", "q.pop()", "p = list(q)"),
        *("o.__dict__.clear()", "p = q = []", "r = {1, a}", "r = f'{a}{b}'", "p = touch(touch(p))"),
    ]
)
"""Objects that several names share, and what changes them."""

SIMPLE = st.one_of(
    OBJECTS,
    st.builds(lambda n, e: f"{n} = {e}", NAMES, expressions()),
    st.builds(lambda n, e: f"{n} += {e}", NAMES, expressions()),
    st.builds(lambda e: f"print({e})", expressions()),
    st.builds(lambda e: f"assert {e}, 'no'", CONDITIONS),
    st.builds(lambda n, e: f"first, *_{n} = [{e}, 2]", NAMES, expressions()),
    st.builds(lambda n, e: f"print({n} := {e})", NAMES, expressions()),
    st.sampled_from(
        ["pass", "raise ValueError(a)", "return a", "del b", "b = 1", "a: int = 2", "global G"]
    ),
    st.sampled_from(["print(list(chain(a % 3)))", "g = count(3)", "next(g)", "g.send(a)"]),
    st.sampled_from(["g.close()", "g.throw(KeyError)", "print(random.random())"]),
    st.sampled_from(["signal.raise_signal(signal.SIGUSR1)", "signal.raise_signal(signal.SIGUSR2)"]),
)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def blocks(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    """One to four statements."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, in_loop))
    return lines


@st.composite
def statements(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    """One statement, with what is inside it."""
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        if in_loop and draw(st.integers(0, 4)) == 0:
            return [draw(st.sampled_from(["break", "continue"]))]
        return [draw(SIMPLE)]
    kind = draw(st.sampled_from([*COMPOUND]))
    return draw(COMPOUND[kind](depth - 1, in_loop))


@st.composite
def ifs(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    lines = [f"if {draw(CONDITIONS)}:", *indented(draw(blocks(depth, in_loop)))]
    if draw(st.booleans()):
        lines += [f"elif {draw(CONDITIONS)}:", *indented(draw(blocks(depth, in_loop)))]
    if draw(st.booleans()):
        lines += ["else:", *indented(draw(blocks(depth, in_loop)))]
    return lines


def _inside(in_loop: bool | None) -> bool | None:
    return IN_FINALLY if in_loop is IN_FINALLY else True


@st.composite
def fors(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    iterable = draw(st.sampled_from(["range(3)", "count(2)", "chain(2)", "(1, 2)", "a"]))
    lines = [f"for {draw(NAMES)} in {iterable}:", *indented(draw(blocks(depth, _inside(in_loop))))]
    if draw(st.booleans()):
        lines += ["else:", *indented(draw(blocks(depth, in_loop)))]
    return lines


@st.composite
def whiles(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    k = f"k{depth}"  # loops inside each other count for themselves, so that every one ends
    lines = [
        f"{k} = 3",
        f"while {k}:",
        f"    {k} -= 1",
        *indented(draw(blocks(depth, _inside(in_loop)))),
    ]
    if draw(st.booleans()):
        lines += ["else:", *indented(draw(blocks(depth, in_loop)))]
    return lines


@st.composite
def tries(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    lines = ["try:", *indented(draw(blocks(depth, in_loop)))]
    final = draw(st.booleans())
    if not final or draw(st.booleans()):
        error = draw(st.sampled_from(["Exception", "ValueError", "(TypeError, KeyError)"]))
        body = draw(blocks(depth, in_loop)) + draw(st.sampled_from([[], ["raise"], ["print(e)"]]))
        lines += [f"except {error} as e:", *indented(body)]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(blocks(depth, in_loop)))]
    if final:
        lines += ["finally:", *indented(draw(blocks(depth, IN_FINALLY)))]
    return lines


@st.composite
def withs(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    return [f"with room({draw(ATOMS)}) as c:", *indented(draw(blocks(depth, in_loop)))]


@st.composite
def matches(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    lines = [f"match {draw(ATOMS)}:"]
    for pattern in draw(
        st.lists(st.sampled_from(["1", "2 | 3", "int(b) if b > 2", "[a]"]), min_size=1)
    ):
        lines += indented([f"case {pattern}:", *indented(draw(blocks(depth, in_loop)))])
    if draw(st.booleans()):
        lines += indented(["case _:", *indented(draw(blocks(depth, in_loop)))])
    return lines


@st.composite
def defs(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    body = draw(blocks(depth, False))
    start = draw(st.sampled_from([[], ["nonlocal a"], ["'''Docs.'''"], ["yield a"]]))
    call = "print(list(f(1, 2)))" if start == ["yield a"] else "print(f(1, 2))"
    if start == ["nonlocal a"]:
        start = [draw(st.sampled_from(["nonlocal a", "nonlocal a, p"]))]
        return ["def f(b, c=3):", *indented(start + body), call]
    return ["def f(b, c=3, a=4, g=None, p=p, q=p, o=o):", *indented(start + body), call]


def own_lines(lines: list[str]) -> list[int]:
    """Return which lines of a body are not inside a function or class of its own."""
    own, inner = [], None
    for index, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if inner is not None and indent > inner:
            continue
        inner = indent if line.lstrip().startswith(("def ", "class ", "async def ")) else None
        own += [index] if inner is None else []
    return own


@st.composite
def changed_lines(draw: st.DrawFn, lines: list[str], changes: dict[str, list[str]]) -> list[str]:
    """Lines of a body, of which some are replaced: by what they begin with -> by what."""
    lines = [*lines]
    for index in own_lines(lines):
        text = lines[index].lstrip()
        for begin, others in changes.items():
            if text.startswith(begin) and draw(st.integers(0, 3)):
                other = draw(st.sampled_from(others)) + text.removeprefix(begin)
                lines[index] = lines[index].removesuffix(text) + other
                break
    return lines


GENERATOR = {
    "pass": ["yield a", "a = yield b", "b = yield from count(2)"],
    "print(": ["b = yield ("],
}
COROUTINE = {
    "pass": ["await nap(a)", "a = await nap(2)", "print([i async for i in ticks(2)])"],
    "print(": ["b = await nap("],
    "for ": ["async for "],
    "with room(": ["async with hall("],
}


@st.composite
def generators(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    body = draw(changed_lines(draw(blocks(depth, False)), GENERATOR))
    use = draw(
        st.sampled_from(
            ["print([*f(1)])", "print(next(f(1)))", "g = f(1)", "a = sum(f(a), start=b)"]
        )
    )
    return ["def f(b, c=3, a=4, g=None, p=p, q=p, o=o):", *indented(["yield a", *body]), use]


@st.composite
def coroutines(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    body = draw(changed_lines(draw(blocks(depth, False)), COROUTINE))
    body = [line.replace("async for a in a", "for a in a") for line in body]
    for plain in ("range(3)", "count(2)", "chain(2)"):
        body = [
            line.replace(plain, "ticks(2)") if line.lstrip().startswith("async for") else line
            for line in body
        ]
    start = draw(st.sampled_from([[], ["await nap(b)"], ["yield a"]]))
    call = "f(1, 2)" if start != ["yield a"] else "anext(f(1, 2))"
    run = draw(st.sampled_from([f"print(asyncio.run({call}))", f"{call}.close()"]))
    if start == ["yield a"]:
        body = [line for line in body if "return" not in line]
        run = "print(asyncio.run(listed(f(1, 2))))"
    return [
        "async def f(b, c=3, a=4, g=None, p=p, q=p, o=o):",
        *indented([*start, *body, "pass"]),
        run,
    ]


@st.composite
def classes(draw: st.DrawFn, depth: int, in_loop: bool | None) -> list[str]:
    body = [line for line in draw(blocks(depth, False)) if "return" not in line]
    method = ["def m(self, a=1, b=2, c=3, g=None, p=p):", *indented(draw(blocks(depth, False)))]
    if any(line.strip() in ("", "global G") for line in body) or not body:
        body = ["pass"]
    body = ["x = 1"] if any(word in " ".join(body) for word in ("break", "continue")) else body
    name = f"C{depth}"
    return [f"class {name}:", *indented(["'''Docs.'''", *body, *method]), f"print({name}().m())"]


COMPOUND = {
    "if": ifs,
    "for": fors,
    "while": whiles,
    "try": tries,
    "with": withs,
    "match": matches,
    "def": defs,
    "generator": generators,
    "coroutine": coroutines,
    "class": classes,
}


def is_python(source: str) -> bool:
    try:
        compile(source, "", "exec")
    except SyntaxError:
        return False
    return True


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a module."""
    body = draw(blocks(3, False))
    lines = [*HEAD, *HELPERS, "def main():", "    random.seed(1)", "    a, b, c = 1, 2, 3"]
    lines += [f"    signal.signal(signal.{name}, on_signal)" for name in ("SIGUSR1", "SIGUSR2")]
    lines += ["    g = count(2)", "    p, q, r, o = [1], [2], {}, Thing(0)"]
    return "\n".join([*lines, *indented(body), "    return a", ""])


PROGRAMS = programs().filter(is_python)
