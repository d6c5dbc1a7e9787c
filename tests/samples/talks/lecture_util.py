from edtrace import Reference, link, text


def article_link(url, title=None):
    link(title=title or "[article]", url=url)


def named_link(name, url):
    text(f"**{name}**: "), link(title="[page]", url=url)


def section_rule(rule="---"):
    text(rule)
