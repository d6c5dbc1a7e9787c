"""A lecture on what language models cost, in bytes and in FLOPs, written as a program."""
