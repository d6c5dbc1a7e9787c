"""One run of a lecture.

run            the run as a whole; leaves the interpreter as it was
finder         imports the lecture's modules through the compiler pass
recorder       what the rewritten code calls
untracked      what the collector of garbage need not look at
resume         the part of it for generators and coroutines
pictures       what is kept of a value that is shown
glances        what is kept of what a name stands for, after each statement
headers        headers that are stepped over
tensors        what is kept of a tensor
drawings       what values draw of themselves
dataframes     tables of data frames
markup         HTML made plain
stylesheets    the little of CSS that it needs
rasters        arrays of bytes as pictures
opened         which files beside it a lecture reads
shows          what would open a window
bounds         bounds on the code of a value's own class
limits         the step limit, and watched threads
streams        what is printed
progress       one line on a terminal
failures       what ended a run early
frames         the tracer's own frames, cut out of tracebacks
fingerprint    what floats come out as on this machine, as one short text
"""
