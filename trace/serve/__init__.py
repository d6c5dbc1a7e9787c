"""Where documents lie, and how they are shown, watched and published.

library        where documents lie, and the index that tells the viewer of them
server         serves the viewer on this machine
translating    traces of other tools, which pages have it read
overlay        what is served besides the files of the viewer
afar           what readers on other machines get: parts of documents, compressed texts
packing        documents as they travel: smaller, and large ones in parts
comments       the viewer's code without its comments
watch          runs a lecture again after each change, with
process        the run in a process of its own
standby        the next one, which has imported what takes long
changes        which files a document was made from, and whether one has changed
rewording      a lecture whose text alone has changed
course         what several lectures have in common: title, author, groups
news           what open pages are told
publication    `--html` and `--site`
plain          the plain pages of a site, of
book           sections and chapters of a document, and
markdown       what a text says as HTML
one_file       the viewer and one document in a single file
new            `--new`: writes a small lecture to begin with, which lies in template/
"""
