"""Documents of other tools, and lectures taken over from them.

published    a trace that another tool wrote, as a document of ours
contents     the values in it
convert      a lecture that says things by calling, rewritten so that its comments do
spoken       which statements only say something, and what stands in the way of a comment
wording      how a comment says what a statement said
templates    texts that a program puts together, as prose with values
prose        texts that were said, as Markdown in comments
imports      what a converted lecture imports no more
"""
