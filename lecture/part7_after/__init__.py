"""After: using a model, and the whole lecture on one page."""
