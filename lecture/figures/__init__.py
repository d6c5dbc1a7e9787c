"""Diagrams and charts, drawn from the values that a section has at hand; a module for each chapter.

Diagrams are small SVG pictures; charts are Altair. Both leave the background to the page and take
lines and text in its colours, so that they read on light and on dark. Diagrams are about 400 wide
at most, which keeps their letters legible on a phone. Charts leave fonts and colours to the page,
too: a chart's own configuration does not become part of the document.
"""
