"""From a recording to the document.

places          which step each note of the recorder belongs to
build           the document
encoding        its bytes, and how they reach the disk
times           the file beside it, of what depends on the clock
check           in which sentences two documents differ
failed_claim    both sides of a false claim, for the terminal
"""
