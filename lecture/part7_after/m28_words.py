"""The words whose sentence in the text needs the sentences around it, defined to stand alone."""

import re

_WORDS = """
activation checkpointing: Activation checkpointing keeps few activations in the forward pass and
    computes the others again in the backward pass: more FLOPs for less memory.
activation function: An activation function, such as ReLU or SiLU, is applied to each number between
    two linear layers; without it both would be one matrix.
activations: Activations are the numbers that layers compute in the forward pass; those that the
    backward pass needs are kept until then, or computed again.
active: A parameter is active for a token if the token meets it; in a mixture of experts most are
    not.
all-gather: In an all-gather each rank brings a part, and every rank gets all parts.
all-reduce: In an all-reduce the numbers of all ranks are added up, and every rank gets all sums.
all-to-all: In an all-to-all each rank sends every other rank the part that is for it.
attention: Attention gives each token a weighted mean of the values of the tokens that it sees; the
    weights come from comparing queries with keys. In a Transformer, tokens meet nowhere else.
backpropagation: Backpropagation goes from the loss back through all layers and computes the
    gradient of each parameter by the chain rule.
backward pass: The backward pass goes from the loss back to the parameters and computes all
    gradients; it costs about twice the forward pass.
batch: A batch is a number of sequences that share a step, of the optimizer or of decoding.
batch normalization: Batch normalization subtracts from each feature its mean over the rows of a
    batch and divides by the standard deviation.
batch size: The batch size, B, is how many sequences a batch has.
best observed: The best observed rate is the highest FLOP/s that a machine reached in large matmuls
    that we timed; it stands in for a peak.
bf16: bf16 is a format of 16 bits with the exponent of fp32, 8 bits, and a fraction of 7: the same
    range with fewer digits.
bias: A bias is what is subtracted from the exponent field of a float to get its exponent; in a
    linear layer it is a vector that is added to the result.
bias correction: Bias correction divides Adam's averages by the share of their weights that they
    have seen, since they begin at 0.
bits per byte: Bits per byte is the loss of a text, to the base 2, over its bytes; unlike the loss
    per token it compares models with different tokenizers.
block: A block is the part that a Transformer repeats: attention and a feed-forward network, each of
    which adds to the vectors. On a GPU, a block is a group of threads that share a multiprocessor.
brain floating point: Brain floating point is the long name of bf16, 16 bits with the exponent of
    fp32.
broadcast: In a broadcast every rank gets what one rank has.
broadcasting: Broadcasting repeats an axis of size 1, or one that is missing, so that two shapes fit
    each other.
bubble: The bubble of a pipeline is the part of the time in which its stages wait for one another.
buckets: Buckets hold pairs of tokens by a count that they have, or had, one bucket for each count.
    Those of data parallelism hold gradients that travel together.
cache: A cache is a small, fast memory that keeps lines of a larger one while they are likely to be
    used again.
causal mask: The causal mask hides from each token all tokens after it: their scores become −∞, so
    their weights are 0.
chain rule: The chain rule says that rates of change along a chain of operations are multiplied.
checkpoint: A checkpoint is a file with all that is needed to go on with a training run: parameters,
    state of the optimizer, step, and states of the generators. In activation checkpointing, a
    checkpoint is an activation that is kept.
Chinchilla: The Chinchilla rule spends a budget of FLOPs on about 20 tokens for each parameter.
code point: A code point is the number that Unicode gives to a character.
collective: A collective is a communication in which all ranks take part, such as an all-reduce.
compute-bound: An operation is compute-bound if the peak of the arithmetic limits it: its arithmetic
    intensity is above the machine balance.
context: The context of a model is the most tokens that it can look at.
context parallelism: Context parallelism shares out the tokens of each sequence among several GPUs.
contiguous: A tensor is contiguous if its elements lie in storage in the order of its axes, the last
    axis fastest, without gaps.
convention: A convention is an agreed price, such as 20 FLOPs for an exponential.
copy on write: Copy on write lets an array that is mapped from a file change and leaves the file as
    it is: the system copies a page at the first write to it.
CPU: A CPU is the processor that runs the programs of a machine, also those that ask a GPU to
    compute.
critical batch size: The critical batch size is the batch size at which a step makes half the
    progress that the exact gradient would make; far above it a larger batch hardly helps.
data parallelism: In data parallelism every rank takes its share of each batch; in its plain form
    each has a copy of the model, and an all-reduce averages the gradients before the step.
decode: To decode is to write one token after the other, each after a pass of the model; it reads
    weights for a few rows. Of a tokenizer, to decode is to turn ids into text.
decoding: Decoding writes one token after the other, each after a pass of the model.
dense: Dense matmuls multiply all numbers, zeros included; data sheets may also give a rate for
    sparse ones, mostly twice as high.
dtype: The dtype of a tensor is the type of its elements, such as `torch.bfloat16`.
entropy: The entropy of a source is the least mean loss that any model of it can reach.
epoch: An epoch is one pass through the training data.
eps: The eps of a format is the step from 1 to the next number.
experts: The experts of a layer are several feed-forward networks, of which a router chooses a few
    for each token.
fan-in: The fan-in of a layer is the number of inputs that are summed up for each output.
features: The features of a token are the numbers that describe it, D of them in a Transformer.
feed-forward network: The feed-forward network of a block is two or three linear layers with an
    activation function; it works on each token by itself.
FlashAttention: FlashAttention is fused attention: it goes through keys and values in blocks, and
    the scores never lie in HBM.
FLOP/s: FLOP/s is a rate: how many FLOPs a machine does in a second.
formula: A formula gives what the meter computes from shapes that it saw: $2mnk$ for a matmul.
forward pass: The forward pass computes the result of a model from its inputs, layer by layer.
fraction: The fraction of a float, or mantissa, is the digits after the point.
frozen: A parameter is frozen if training does not change it.
full precision: Full precision means fp32 in machine learning.
fully sharded data parallelism: Fully sharded data parallelism, FSDP, shares out parameters,
    gradients and the optimizer's state among the ranks; each gathers a block when it needs it.
fused: A fused kernel does several operations, and writes nothing between them to memory.
gain: The gain of a normalization layer is a learnt number for each feature that multiplies it.
gradient: The gradient has one number for each parameter: the rate at which the loss grows with it.
gradient accumulation: Gradient accumulation adds up the gradients of several parts of a batch
    before the optimizer takes a step.
gradient clipping: Gradient clipping shortens the gradient to a largest norm.
gradient noise scale: The gradient noise scale is the variance of the gradient of one example over
    the square of the true gradient: the batch size at which noise and signal are equal.
gradient scaler: A gradient scaler multiplies the loss so that small gradients do not become 0 in
    fp16, and lowers its factor when one becomes infinite.
graph: A graph of launches is recorded once and then worked through by the GPU alone. The graph of
    autograd holds which operation made each tensor.
HBM: HBM, high-bandwidth memory, is the large memory of GPUs such as an H100, beside the chip that
    computes.
head: A head of attention looks at the tokens with queries of its own, and keys and values. The LM
    head is the last layer, which scores the vocabulary.
hidden one: The hidden one is the 1 before the point of a float, which is not stored.
hooks: Hooks are functions that PyTorch calls at certain moments, such as when autograd saves a
    tensor.
host: The host is the CPU with its memory, to which the GPU belongs.
ideal: An ideal count is a lower bound: bytes moved, if each number is moved once.
ids: The ids of a text are the places of its tokens in the vocabulary.
in flight = throughput × latency: Little's law, in flight = throughput × latency, says how much must
    be under way at once for waiting to cost nothing.
index: An index keeps for every pair of tokens the words in which it occurs.
inference: Inference is the use of a trained model, without a backward pass.
InfiniBand: InfiniBand is a network between the boxes of GPUs.
inner width: The inner width, F, is the number of features inside a feed-forward network.
Jacobian: The Jacobian is the matrix of the rates at which all results change with all inputs.
Jacobian-vector product: A Jacobian-vector product says how all results change when the inputs
    change in one direction.
kernel: A kernel is a program for a GPU: it says what one of its many threads does.
key: The key of a token is the vector that queries are compared with.
KV cache: The KV cache holds the keys and values of all earlier tokens, or latents that give them,
    so that writing the next token does not start anew.
L1: The L1 cache is the cache of one multiprocessor.
L2: The L2 cache is the cache that all multiprocessors of a chip share.
lanes: The lanes of a multiprocessor carry out the instruction of a warp, each for one thread.
latency: Latency is the time from asking to the answer, such as the time of one load.
latent: A latent is the short vector from which multi-head latent attention makes the keys and
    values of all heads.
launch: A launch asks the GPU to run a kernel; it takes microseconds.
launch latency: The launch latency of a kernel is the time from the call to its start.
layer normalization: Layer normalization subtracts from each row its mean and divides it by its
    standard deviation.
leaf: A leaf is a tensor that no recorded operation has made, such as a parameter; a leaf that
    requires a gradient keeps it.
learning rate: The learning rate is the factor with which the optimizer multiplies its direction in
    each step.
line: A cache line is the piece, often 64 bytes, in which memory hands out numbers.
linear: A linear layer multiplies its input by a matrix of weights.
little endian: Little endian means that of the bytes of a number the lowest comes first.
LM head: The LM head is the last layer of a language model: it turns D features into a score for
    each entry of the vocabulary.
logits: The logits are the scores that a model gives to the entries of the vocabulary; softmax makes
    probabilities of them.
LoRA: LoRA leaves a weight as it is and trains two narrow matrices, whose product is added to it.
loss: The loss is one number that says how wrong the results of a model are.
machine balance: The machine balance is the peak of a GPU over the bandwidth of its memory: the
    FLOPs that it can do while one byte arrives.
mantissa: The mantissa of a float is its fraction, the digits after the point.
map: To map a file is to give its bytes addresses, as if they were in memory; the operating system
    fetches them when they are used.
master: A master is a second copy of the weights in fp32, which collects updates that bf16 loses.
master copy: A master copy keeps the weights in fp32, so that small updates are not rounded away.
mean squared error: The mean squared error, MSE, is the mean of the squares of the differences.
median: The median of some readings is the one in the middle.
memory-bound: An operation is memory-bound if the bandwidth of the memory limits it: its arithmetic
    intensity is below the machine balance.
MFU: The MFU, model FLOPs utilization, is the useful FLOP/s of a run as a share of the peak.
micro-batches: Micro-batches are the parts of a batch that go through the model one after the other.
mixed precision: Mixed precision uses a format of 16 bits or fewer for the matmuls and fp32 where
    digits matter, as in sums and updates.
model FLOPs utilization: Model FLOPs utilization, MFU, is the FLOPs that the definition of the model
    asks for, with attention, over the time that passed and the peak of all devices.
momentum: Momentum is a running sum of gradients, in which old ones fade; the optimizer steps
    against it.
multi-head attention: In multi-head attention each of H heads has scores of its own, from K features
    of queries and keys; mostly, but not always, H·K is the width D.
multi-head latent attention: Multi-head latent attention, MLA, caches one short vector for each
    token and layer, and makes the keys and values of all heads from it.
multi-query attention: In multi-query attention all heads share one set of keys and values.
Muon: Muon is an optimizer that takes momentum and brings its singular values to about 1.
muP: muP, the maximal update parametrization, divides the rate of a matrix by the hidden features
    that it sums over, so that the best rate of a small model nearly holds for a large one.
nat: The nat is the unit of a loss with the natural logarithm.
normalization layer: A normalization layer brings each vector to a standard size.
normalize: To normalize a text is to choose one spelling for characters that have several.
NVLink: NVLink is NVIDIA's fast link between GPUs, here those of a box.
observed: Observed is what the meter sees while the program runs: operators, shapes, allocations.
occupancy: Occupancy is the share of a multiprocessor's places for threads that are taken.
one-hot: A one-hot vector has a 1 at one place and 0 elsewhere.
optimizer: The optimizer is the rule by which gradients change the parameters in each step.
outlier: An outlier is a number that is much larger than the others.
overfitting: Overfitting is learning the training data by heart, so that the loss on other text is
    higher.
overflow: Overflow is what happens to numbers that are too large for a format: in most
    they become infinite.
page: A page is the piece, some kilobytes, in which an operating system moves memory. A page of a KV
    cache holds what belongs to some tokens.
parameter groups: Parameter groups are the settings of an optimizer, such as the learning rate, with
    the parameters that they hold for.
PCIe: PCIe is the usual bus between CPU and GPU.
peak: The peak of a device is the FLOP/s that its data sheet promises for dense matmuls in a format.
perplexity: The perplexity is the exponential of the loss: among how many tokens a model wavers.
pickle: A pickle is a file in Python's format for objects; loading it can run a program.
pinned: Pinned memory of the CPU stays where it is, so that a GPU can copy from it by itself.
post-norm: Post-norm normalizes the sum behind each sublayer, as in the first Transformer.
pre-norm: Pre-norm normalizes in front of each sublayer, so that the sums pass unchanged.
projections: The projections of attention are its linear layers, for queries, keys, values, output.
quantization: Quantization stores numbers in few bits, such as small integers times a scale that
    they share.
quantization-aware training: Quantization-aware training rounds the weights where they are used and
    keeps a master copy of them, so that the model learns to live with the rounding.
query: The query of a token is the vector that is compared with the keys.
range: The range of a format is how large and how small its numbers can be; exponent bits decide it.
rank: A rank is one process of several that train together, or its number. Of a merge, the rank is
    its place in the list; of a tensor, its number of axes.
rated boost: The rated boost is the clock with which a data sheet computes its peak.
recomputation buffer: A recomputation buffer holds the activations that were kept, and those that
    were computed again, until they are used.
reduce-scatter: In a reduce-scatter the numbers of all ranks are added up, and each rank gets a part
    of the sums.
registers: The registers of a multiprocessor hold the numbers at hand of its threads.
replacement character: The replacement character, U+FFFD, stands where bytes are no text.
residual stream: The residual stream is the vectors to which every sublayer of a Transformer adds.
resolution: The resolution of a format is how close its numbers lie; fraction bits decide it.
ring: In a ring each rank sends to its right-hand neighbour, and the last one to the first.
roofline: A roofline is the most FLOP/s that an operation can reach, by its FLOPs per byte: a slope
    where memory decides, a flat roof where arithmetic does.
RoPE: RoPE, rotary position embedding, turns pairs of features of queries and keys by angles that
    grow with the position.
router: A router is a linear layer that chooses the experts of each token.
row-major: In row-major order the elements of a row are neighbours in storage.
scalar: A scalar is a single number, a tensor without axes.
scale: A scale is a factor that some numbers of a small format share.
scaling law: A scaling law says that the loss falls like a power of parameters, data or FLOPs, with
    or without a floor.
score: A score is the dot product of a query and a key.
seed: A seed is the number from which the first state of a generator is made.
selective: Selective checkpointing keeps the results of some operations and computes the others
    again.
self-attention: Self-attention is attention in which the queries, keys and values all come from the
    same sequence.
sharding: Sharding gives each of n ranks one part of what all of them would keep.
share of the peak: The share of the peak is the FLOP/s of an operation over those that are promised
    for this device and format.
shared memory: Shared memory is a small memory on the chip that the threads of a block share.
SiLU: SiLU is the activation function $z/(1+e^{-z})$.
softmax: Softmax makes weights that add up to 1 of a row of scores: the exponential of each, divided
    by the sum of all.
special tokens: Special tokens stand for something outside the text, such as its end.
spike: A spike is a gradient, or a loss, that is much larger than those around it.
SRAM: SRAM is memory on the chip itself: small, and faster than HBM.
state: The state of an optimizer is what it keeps for each parameter, such as Adam's two averages.
stochastic gradient descent: Stochastic gradient descent, SGD, subtracts from each parameter its
    gradient, taken over a batch, times the learning rate.
stochastic rounding: Stochastic rounding goes up or down by chance, so that it is right on average.
storage: The storage of a tensor is a row of bytes on one device that holds its numbers, and perhaps
    others.
stream: A stream is a queue of work for a GPU; each piece waits for the one before.
streaming multiprocessors: The streaming multiprocessors, SMs, are the processors of which a GPU has
    many; an H100 SXM has 132.
stride: The stride of an axis says how many elements one moves on in storage for a step along it.
sublayer: A sublayer is one of the two parts of a block, attention or the feed-forward network.
subnormals: Subnormals are the smallest numbers of a format, those without a hidden one.
surrogates: Surrogates are 2048 code points that are no characters: UTF-16 uses them in pairs for
    characters that do not fit into two bytes.
temporaries: Temporaries are results that nothing refers to once the next operation is done.
tensor parallelism: Tensor parallelism cuts the matrices of each layer among several GPUs.
thread: A thread of a GPU is one of the many that carry out a kernel, each on numbers of its own.
throughput: Throughput is how much is done in a second, such as tokens or loads.
tied: Tied models use one table as embedding and as LM head.
time per output token: The time per output token is what a service takes for each token of the
    answer after the first.
time to first token: The time to first token is what a service takes to read the prompt and write
    the first token of the answer.
tokens: Tokens are the pieces into which a tokenizer cuts a text.
Transformer: A Transformer turns tokens into vectors, to which attention and feed-forward networks
    add in each block, and turns the last vectors into scores for the next token.
underflow: Underflow is what happens to numbers that are too small for a format: they become 0.
units: The units of a layer make its result, one number each.
validation loss: The validation loss is the loss on text that was set apart from training.
value: The value of a token is the vector that attention averages.
vocabulary: The vocabulary is the list of all tokens that a model knows.
warms up: A learning rate warms up if it rises from 0 over the first steps.
warp: A warp is 32 threads that carry out the same instruction together.
warp scheduler: A warp scheduler starts at most one instruction of its warps in each tick.
wave quantization: Wave quantization is the time that is lost in the last wave, if it is not full.
waves: Waves are the rounds in which the blocks of a kernel run, as many at once as have room.
weight: A weight is a parameter: one of the numbers that training adjusts.
Xavier initialization: Xavier initialization draws weights with a standard deviation of
    $\\sqrt{2/(D+F)}$, a compromise between the forward and the backward pass.
z-loss: The z-loss adds a small share of $\\log^2 Z$ to the loss, which keeps Z near 1; Z is the
    denominator of softmax.
"""

WORDS = {
    word: re.sub(r"\s+", " ", meaning.strip())
    for word, meaning in (entry.split(": ", 1) for entry in re.split(r"\n(?=\S)", _WORDS.strip()))
}
"""What each word means, in a sentence or two that name it."""
