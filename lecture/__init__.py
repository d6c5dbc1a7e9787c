"""A lecture on what language models cost, in bytes and in FLOPs, written as a program."""

import os

# torch's threads wait for each other by asking again and again, unless this is set before torch is
# imported, which all programs of this package do after this line. Beside other programs that slows
# them down many times over; alone it gains nothing (benchmarks/RESULTS.md). A user's own setting
# stays.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
