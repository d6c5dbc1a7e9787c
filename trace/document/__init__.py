"""From a recording to the document.

build           the document
locals          what names stood for: the rows, with small numbers for objects
images          the images that prose names
beside          large pictures, which lie beside the document
data            the files that the lecture read
links           links that lead nowhere
references      numbers of figures and equations, footnotes, citations
bibliography    the `.bib` files that these name
unshown         what else in prose a page cannot show
unused          what is left out again: nothing refers to it
encoding        its bytes, and how they reach the disk
decoding        from bytes back to a document
summary         the document in a few numbers and words
times           the file beside it, of what depends on the clock
check           in which sentences two documents differ
closeness       do two values differ by more than rounding explains?
failed_claim    both sides of a false claim, for the terminal
"""
