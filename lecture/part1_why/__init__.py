"""Why: how to read this lecture, and why to count at all."""
