"""Training: optimizers, memory, data and everything else that a run is made of."""
