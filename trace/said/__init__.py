"""What lectures written for other tools say by calling: prose, links, pictures, charts.

Such a lecture imports `edtrace` or `lectrace`, or has an `execute_util` of its own, and calls
`text`, `image`, `link`, ... Whatever is said is heard where it is said, whoever called: nothing is
guessed from names in the source.

libraries    which of them a lecture imports, and how such a lecture is run
stand_in     the functions it calls
missing      packages that it imports and that are not here
listening    hears what they say, and what an `execute_util` collects
paragraphs   what several statements say within one step, told apart
pieces       from what was said to Markdown, charts and pictures
media        files that it names: beside the lecture, in its caches, or downloaded
graphs       graphs of nodes and edges as pictures
placing      from what was heard to rows of the document and prose at the calling lines
"""
