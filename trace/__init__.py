"""Run a lecture, record it, write one JSON document, and show it.

The rooms, in the order in which a lecture passes through them. A room imports only rooms above it
in this list, and what they all stand on:

    errors, events, options, own_builtins, schema, target, terminal    what all rooms stand on
    rewrite/     from a lecture's source to code that reports to the recorder, and to its prose
    meter/       what tensor operators cost: operations, bytes moved, memory
    said/        what lectures written for other tools say by calling their functions
    record/      one run: imports the rewritten modules, calls `main()`, notes what happens
    document/    from a recording to the document: its bytes, its check, its seconds
    foreign/     documents of other tools, and lectures taken over from them
    serve/       where documents lie; how they are shown, watched and published
    arguments, cli, import_and_convert, aliases, __main__    the command, which uses them all

The contracts:

    schema           with the viewer: every field of the document (contract: the same in JSON Schema
                     and JavaScript)
    costs            with lectures: `from trace.costs import measure` (aliases: also by the
                     name that the package has when it is installed)
    pytest_plugin    with pytest: the sections of a lecture are test cases (pytest_claims: which
                     claims they reach)
"""

__version__ = "0.1.0"
