"""What tensor operators cost. Only `switch` and `ledger` can be imported without torch.

ledger           what is reported, and to whom
switch           turns the meter on for a block
mode             the dispatch mode below torch's operators
operators        the price of one call of an operator, from
products         FLOPs of matrix products
rates            FLOPs of everything else, by convention
traffic          bytes read and written
unseen           what runs where no mode of ours is: compiled regions, other threads
optimizers       which there are, and what they keep
allocator        what CUDA's own allocator says
when_imported    to be told when a module has been imported
"""
