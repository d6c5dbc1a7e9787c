"""A lecture on what language models cost, in bytes and in FLOPs, written as a program."""

import os

# How torch's threads wait for each other is read when torch is imported, which all programs of this
# package do after these lines. Left alone they ask again and again, which slows them down many
# times over beside other programs; asleep at once, they wake up too late for small operators. So
# they ask for some 10 us and then sleep (benchmarks/RESULTS.md). A user's own setting stays.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")  # of GNU's OpenMP, which torch has on Linux
