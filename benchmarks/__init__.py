"""What the project costs, measured: a program for each kind of cost, and `RESULTS.md`."""

import lecture  # noqa: F401  (says how torch's threads wait, before anything imports torch)
