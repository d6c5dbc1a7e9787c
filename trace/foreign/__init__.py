"""Documents of other tools, and lectures taken over from them.

published    a trace that another tool wrote, as a document of ours
contents     the values in it
convert      a lecture that says things by calling, rewritten so that its comments do
"""
