"""Train a language model: `python -m lecture.train --config small`.

Without `--text` it learns from the made-up stories. All it writes goes to one folder: tokens,
checkpoints, a log, and a picture of the log. Stopped or killed, it goes on with `--resume` from its
newest checkpoint as if nothing had happened, and with `--steps` further than was planned. With
several processes:

    torchrun --nproc-per-node 2 -m lecture.train --config small

They average gradients after the backward pass, with `--average ddp` during it; with
`--sharding full` they share out the model itself.

What it is made of:

cli.py            the command line
session.py        from the first step to the last: what is logged, saved and said
config.py         the numbers that define a run, and where they may come from
corpus.py         from text to a file of tokens
schedule.py       the learning rate of each step
clipping.py       one norm over all gradients
loop.py           a step of training, and everything that it changes
saving_memory.py  ways to train a larger model in the same memory
parallel.py       several processes that train one model
sharding.py       a model that is shared out among processes, and its checkpoints
checkpoints.py    files from which a run goes on as if it had never stopped
ending.py         how a run ends when it is asked to
metrics.py        a line for each step, and a picture of all lines
scoring.py        what a text costs a model, a table of pairs, or a blind guess
judging.py        what a run is compared with
story_run.py      the run of the lecture
errors.py         what goes wrong because of what a run was given
"""
