"""After: using a model, many devices, and the whole lecture on one page."""
