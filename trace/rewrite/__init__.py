"""From a lecture's source to code that reports to the recorder. Pure: nothing runs here.

source          a source file, tokenised and parsed once, with
directives      the comments that tell the tracer what to show
highlighting    which pieces of it are highlighted, and as what
prose           what a viewer shows of it as text, and what it leaves out
short_path      what is taken out of it when only marked sections run
quotes          values in that text, and where they are read
syntax          small questions to a syntax tree
inserted        the names that inserted code uses, and where they live
numbering       functions and statements get their numbers
bindings        which names a function has, and what its statements may do to them
flow            where they have a value
rows            the tables that the rewritten code refers to by these numbers
yields          `yield` and `await`, which leave a function in the middle
joints          what reads all names between two statements
instrument      the compiler pass itself
"""
