from edtrace import image, link, text

from lecture_util import article_link, named_link, section_rule


def main():
    text("# Data")
    text("Data does not fall from the sky.")
    web()
    filters()
    deduplication()
    section_rule()
    text("That is all for today.")


def web():
    text("## The web")
    named_link("Common Crawl", "https://example.org/crawl")
    text("- a crawl each month since 2008")
    text("- about 3 billion pages in each")
    text("Two formats:")
    text("- WARC: the raw response")
    text("- WET: text, *lossy*")
    article_link("https://example.org/warc", title="on formats")
    image("https://example.org/pictures/crawl.png", width=500)
    text("What is missing:")
    text("- what is behind a login")
    text("- what robots.txt forbids")


def filters():
    text("## Filters")
    text("Rules of thumb (Gopher):")
    rules = ["50 to 100,000 words", "mean length of words 3 to 10", "80 % of words have a letter"]
    for rule in rules:
        text("- " + rule)
    text("A classifier:")
    text("- positive: what Wikipedia links to")
    text("- negative: anything")
    document = "Buy now!!! Best price!!!"  # @inspect document
    is_good = document.count("!") < 3  # @inspect is_good
    if is_good:
        text("Kept.")
    text("Filtering costs diversity.")


def deduplication():
    text("## Deduplication")
    text("Exact: hash, sort, drop.")
    text("Near: **MinHash**.")
    a, b = {"a", "b", "c"}, {"b", "c", "d"}
    jaccard = len(a & b) / len(a | b)  # @inspect jaccard
    text("The Jaccard similarity of two sets is $|A \\cap B| / |A \\cup B|$.")
    text("The chance that two hashes agree is just that.")
    text("Papers:")
    for title, url in [("Broder", "https://example.org/b"), ("Lee", "https://example.org/l")]:
        text("- "), link(title=title, url=url)
