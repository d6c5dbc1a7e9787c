"""Inference: what is different when a model is only used, serving, and weights in a few bits."""

import functools
import math

import einops
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from lecture.accounting.formulas import parameters
from lecture.facts import B200, H100_SXM
from lecture.lib.intensity import Work, bf16, intensity_of, work_of, work_of_all_layers
from lecture.lib.next_byte import CONTEXT, NextByte, story_bytes, train_next_byte
from lecture.lib.presets import PRESETS
from lecture.lib.refused import refused
from lecture.lib.rounding import packed, quantized, relative_error
from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.timing import time_call
from lecture.lib.transformer import LayerCache, TransformerConfig, TransformerLM
from lecture.part7_after import m26_figures as figures
from trace.costs import measure


def layers_of_gelu(L: int) -> nn.Sequential:  # @stepover
    """Stack L linear layers of width 64, each with GELU behind it."""
    layers = [layer for _ in range(L) for layer in (nn.Linear(64, 64, False), nn.GELU())]
    return nn.Sequential(*layers)


def using_a_model_needs_no_way_back():  # M26.1
    """Inference needs no backward pass.

    We can train a model and say what it costs. Now somebody wants to use it: *inference*. What
    falls away? The backward pass, and with it gradients, the optimizer's state, and all activations
    that wait for it.
    """
    model, x = layers_of_gelu(10), torch.ones(32, 64)
    with measure() as training:
        loss = model(x).sum()
        while_training = training.live_bytes["activations"]
        loss.backward()
    with torch.inference_mode(), measure() as inference:
        model(x)
    # Of 6 FLOPs for each parameter and row, 2 are left. (Here it is a little more than a third,
    # since training had to find no gradient of x.)
    N = sum(weight.numel() for weight in model.parameters())
    assert inference.matmul_flops == 2 * 32 * N
    assert round(training.matmul_flops / inference.matmul_flops, 1) == 2.9
    # In training, two results of each layer wait for the backward pass: the matmul's and the
    # GELU's, except for the last, which a sum does not need. In inference only two tensors are
    # alive at a time beside x, one that is read and one that is written. (Three where a block holds
    # its input until it returns.)
    layer_bytes = 4 * 32 * 64
    assert while_training == (2 * 10 - 1) * layer_bytes + 4  # 4 are the loss
    assert inference.peak_bytes == 2 * layer_bytes
    # The depth does not matter.
    peaks = {}
    for L in (5, 20):
        deeper = layers_of_gelu(L)
        with torch.inference_mode(), measure() as cost:
            deeper(x)
        peaks[L] = cost.peak_bytes  # @inspect peaks
    assert peaks[5] == peaks[20] == 2 * layer_bytes
    # So: to train N parameters in fp32 with AdamW takes 16N bytes and the activations. To run them
    # takes 4N bytes, in bf16 2N, and the few tensors that are alive at a time.
    assert training.live_bytes["gradients"] == 4 * N
    assert inference.live_bytes["gradients"] == inference.live_bytes["activations"] == 0


def a_model_that_writes_remembers():  # M26.1 E117
    """A model that decodes remembers.

    Does inference keep nothing at all, then? For a single pass that is true. But a model that
    writes a text, *decoding* token by token, needs the keys and values of all earlier tokens in all
    layers. It keeps them, so that [each token passes once](#a_cache_reads_each_token_once). This
    *KV cache* grows with the text.
    """
    L, D, T = 3, 16, 8
    config = TransformerConfig(
        vocabulary=64, context=T, layers=L, width=D, heads=2, feed_forward=48
    )
    generator = torch.Generator().manual_seed(0)
    model = TransformerLM(config, generator=generator)  # @stepover
    tokens = torch.randint(64, (1, T), generator=generator)
    caches = [LayerCache() for _ in range(L)]  # @stepover
    cache_bytes = []
    for token in tokens.T:
        with torch.inference_mode(), measure() as step:
            logits = model(token[None], caches)  # @stepover
        cache_bytes.append(sum(cache.key.nbytes + cache.value.nbytes for cache in caches))
    # A key and a value of D numbers, in each layer, for each token: $2LD$ numbers a token.
    assert cache_bytes == [2 * L * D * 4 * seen for seen in range(1, T + 1)]  # @inspect cache_bytes
    # Without the cache, the last of eight tokens takes a pass over all eight: the same logits for
    # eight times the work.
    with torch.inference_mode(), measure() as again:
        logits_again = model(tokens)  # @stepover
    assert torch.allclose(logits[0, -1], logits_again[0, -1], atol=1e-5)
    assert again.matmul_flops == 8 * step.matmul_flops
    # You can watch a model decode: `python -m lecture.generate runs/lecture` prints each token as
    # it comes, from a run of `lecture.train`.


def eval_does_not_stop_the_recording():  # M26.1
    """eval does not stop the recording.

    How do you tell PyTorch that there will be no backward pass? There are two switches, and the one
    with the promising name is the wrong one.
    """
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Dropout(0.5))
    x = torch.ones(32, 64)
    # `eval` is for layers that behave differently in use. Dropout sets some numbers to zero in
    # training, and passes everything in use.
    torch.manual_seed(0)
    assert 0.4 < (model.train()(x) == 0).float().mean() < 0.6
    assert (model.eval()(x) != 0).all()
    # Autograd does not care. In `eval` it records on, and its activations stay for as long as you
    # hold the result. Here we score three batches and keep the results.
    kept_bytes = {}
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode(), measure() as cost:
            results = [model(x) for _ in range(3)]
        kept_bytes[mode.__name__] = cost.allocated_bytes - cost.freed_bytes  # @inspect kept_bytes
        assert results[2].requires_grad == (mode is torch.enable_grad)
    # With autograd on, each result also keeps the input of its GELU alive.
    result_bytes = 32 * 128 * 4
    assert list(kept_bytes.values()) == [3 * 2 * result_bytes, 3 * result_bytes, 3 * result_bytes]
    # `inference_mode` goes further than `no_grad`: autograd refuses to save its results, as the
    # gradient of a product needs. (A sum saves nothing, so there they pass.)
    w = torch.ones((), requires_grad=True)
    assert results[0].is_inference()
    with refused(RuntimeError) as error:
        (w * results[0]).sum().backward()
    assert "Inference tensors cannot be saved for backward" in error.message
    (w + results[0]).sum().backward()
    assert w.grad == results[0].numel()
    # So: to evaluate, call `model.eval()` and run under `torch.inference_mode()`.


def decode(model: TransformerLM, tokens: Tensor, cached: bool) -> Tensor:  # @stepover
    """Find the logits after each token as if it had just been decoded; return the last."""
    caches = [LayerCache() for _ in model.blocks] if cached else None
    with torch.inference_mode(), without_checks():
        for seen in range(1, tokens.shape[1] + 1):
            new = tokens[:, seen - 1 : seen] if cached else tokens[:, :seen]
            logits = model(new, caches)
    return logits[0, -1]


def a_cache_saves_time():  # M26.1
    """A cache saves time.

    Is the cache worth its memory? Without it, decoding T tokens sends 1 + 2 + ... + T of them
    through the model. With it, T.
    """
    T = 24
    config = TransformerConfig(
        vocabulary=64, context=T, layers=2, width=64, heads=2, feed_forward=172
    )
    generator = torch.Generator().manual_seed(0)
    model = TransformerLM(config, generator=generator)  # @stepover
    tokens = torch.randint(64, (1, T), generator=generator)
    with measure() as with_cache:
        last = decode(model, tokens, cached=True)
    with measure() as without:
        same_last = decode(model, tokens, cached=False)
    assert torch.allclose(last, same_last, atol=1e-4)
    # For the matmuls with weights that is (T + 1)/2 times the FLOPs; attention grows faster.
    assert without.matmul_flops > (T + 1) / 2 * with_cache.matmul_flops
    # On the clock we gain less here. With the cache there are as many passes, each with launches of
    # its own and a walk through the weights; only the arithmetic of each is less.
    seconds = {}
    for cached in (True, False):
        timing = time_call(lambda cached=cached: decode(model, tokens, cached), repeats=2)  # @timed
        seconds[cached] = timing.best_seconds  # @timed @inspect seconds
    assert seconds[False] < (T + 1) / 2 * seconds[True]  # @timed


def writing_reads_every_weight_for_a_token():  # M26.1
    """Decoding reads every weight for each token.

    What does a decoded token wait for? Its matmuls multiply a matrix by a vector, and those are
    [memory-bound](#a_matrix_times_a_vector_uses_each_weight_once). An H100 could do 295 FLOPs for
    each byte. How many do they need?
    """
    one = work_of_all_layers(tokens=1)  # bf16; a model in the shape of GPT-2 XL
    assert round(one.intensity, 2) == 1.0  # @predict
    assert round(intensity_of(H100_SXM)) == 295
    # So what counts is how many bytes the weights have. In bf16 the limit on an H100 is [818 tokens
    # a second](#a_written_token_costs_a_walk_through_all_weights). With fewer bits for each weight
    # it rises in proportion, as long as weights are nearly all that moves.
    weights = one.flops // 2
    assert round(one.moved_bytes / (2 * weights), 3) == 1.001
    per_second = {
        bits: H100_SXM.memory_bytes_per_second / (weights * bits / 8) for bits in (32, 16, 8, 4)
    }  # @inspect per_second
    assert [round(rate) for rate in per_second.values()] == [409, 818, 1637, 3274]
    # And so does the size of the largest model whose weights fit on an H100, in 85·10⁹ bytes.
    billions = [int(H100_SXM.memory_bytes / (bits / 8) / 1e9) for bits in per_second]
    assert billions == [21, 42, 85, 170]
    # Training gains little of the kind: it reads a weight once for thousands of rows.
    x, w = torch.ones(4096, 512, device="meta"), torch.ones(512, 512, device="meta")
    many = work_of(lambda: x @ w)
    assert many.moved_bytes == (8 + 1 + 8) * 4 * w.numel()  # x and y are 8 times as large as w


LLAMA = PRESETS["llama-3-8b"]
CACHE_BYTES = 2 * 2 * LLAMA.layers * LLAMA.key_value_width
"""Of a token, in bf16."""


def work_of_llama(R: int) -> Work:  # @stepover
    """Send R rows through all matrices of a model of the shape of Llama 3 8B; attention, which has
    no weights, is left out."""
    D, F, L, GK = LLAMA.width, LLAMA.feed_forward, LLAMA.layers, LLAMA.key_value_width
    matrices = {(D, D): 2 * L, (D, GK): 2 * L, (D, F): 2 * L, (F, D): L, (D, LLAMA.vocabulary): 1}
    works = [
        (count, work_of(lambda r=r, c=c: bf16(R, r) @ bf16(r, c)))
        for (r, c), count in matrices.items()
    ]
    return Work(
        sum(count * work.flops for count, work in works),
        sum(count * work.moved_bytes for count, work in works),
    )


def prefill_reads_the_prompt_at_once():  # M26.3
    """Prefill reads the prompt at once.

    You send a prompt of 2000 tokens and get an answer of 200. Which takes longer, reading the
    prompt or writing the answer? Guess before you go on.
    """
    # The tokens of the prompt are known, so they go through the model together. This is called
    # *prefill*; it fills the cache. The tokens of the answer come one by one: *decode*. The matmuls
    # of a model of the shape of Llama 3 8B:
    prefill, decoded = work_of_llama(2000), work_of_llama(1)
    assert prefill.flops == 2000 * decoded.flops
    # The prompt has two thousand times the FLOPs of one token, and loads the same weights once.
    assert round(decoded.intensity, 1) == 1
    assert prefill.intensity > 3 * intensity_of(H100_SXM)
    # So they wait for different things: prefill for arithmetic, decode for memory. On one H100, at
    # best:
    prefill_seconds = prefill.flops / H100_SXM.dense_flops_per_second["bf16"]
    step_seconds = decoded.moved_bytes / H100_SXM.memory_bytes_per_second
    milliseconds = round(1e3 * prefill_seconds), round(1e3 * 200 * step_seconds)
    assert milliseconds == (30, 896)  # @inspect milliseconds
    # (The LM head is counted for every token. It is needed for the last one only: 7 % less.)
    head_share = 2 * LLAMA.vocabulary * LLAMA.width / decoded.flops  # @inspect head_share
    assert round(head_share, 2) == 0.07
    # The answer has a tenth of the tokens and takes 30 times as long. So a service is judged by two
    # latencies: the *time to first token*, which grows with the prompt, and the *time per output
    # token*, which is one walk through the weights and the cache.
    # Left out so far are attention's scores, which [grow with the
    # square](#attention_is_two_matmuls). For this prompt they are 3 % more FLOPs, if a kernel skips
    # what is masked; at 57 000 tokens they are as many as all the matrices have.
    scores_over_matrices = {
        T: 4 * LLAMA.layers * T**2 * LLAMA.width / 2 / (T * decoded.flops) for T in (2000, 57_000)
    }  # @inspect scores_over_matrices
    assert [round(ratio, 2) for ratio in scores_over_matrices.values()] == [0.03, 1.0]
    # So, for one user: a prompt of some thousand tokens is cheap, an answer as long is not. (And
    # while one prompt is read, other users wait for their next token, so services cut long prompts
    # into pieces.)


def a_batch_shares_the_weights_until_the_cache_rules():  # M26.4 @core
    """A batch shares the weights until the cache rules.

    Can we decode for many users at once? Their tokens share the walk through the weights, so a
    small batch costs hardly more than one. Then *throughput*, the tokens per second of all, grows
    with B. What ends it?
    """
    # @note Point at the formula: one term has no B. Ask at which batch the two are even, and what
    # ends the growth after that. In the chart, walk along the points and ask who is happy there,
    # the one who serves or the one who waits.
    #
    # A step reads all weights but the embedding, of which it needs a row for each token. Counted:
    N = parameters(LLAMA)
    weight_bytes = 2 * (N - LLAMA.vocabulary * LLAMA.width)
    for B in (1, 64):
        assert round(work_of_llama(B).moved_bytes / weight_bytes, 1) == 1
    # And it reads a cache of its own for each sequence. With P parameters that are read,
    # c bytes of cache for a token and W bytes per second,
    # $$\text{seconds of a step}=\frac{2P+B\,T\,c}{W}$$
    T, bandwidth = 2000, H100_SXM.memory_bytes_per_second
    seconds = {B: (weight_bytes + B * T * CACHE_BYTES) / bandwidth for B in DOUBLINGS}
    room = (H100_SXM.memory_bytes - 2 * N) // (T * CACHE_BYTES)
    served = figures.throughput_over_latency(seconds)  # @inspect served
    throughput = {B: round(B / step) for B, step in seconds.items()}  # @inspect throughput
    # Up to a batch of 16 the latency rises by about a quarter and the throughput grows nearly 13
    # times.
    assert round(seconds[16] / seconds[1], 2) == 1.26
    assert round(throughput[16] / throughput[1], 1) == 12.7
    # At B = 2P/(Tc) the cache weighs as much as the weights. There, twice the batch is half as much
    # latency again. The further we go, the nearer to twice it gets, and the throughput goes to
    # W/(Tc) and no further.
    even = weight_bytes / (T * CACHE_BYTES)  # @inspect even
    assert round(even) == 57
    assert round(seconds[128] / seconds[64], 1) == 1.5 < round(seconds[256] / seconds[128], 1)
    limit = bandwidth / (T * CACHE_BYTES)
    assert 0.8 < throughput[256] / limit < 1
    # And the caches have to fit beside the weights, here those of 263 sequences. Even then the
    # arithmetic idles: the matmuls take 4 ms of the 25 ms that the bytes take.
    assert room == 263  # @inspect room
    matmul_seconds = work_of_llama(room).flops / H100_SXM.dense_flops_per_second["bf16"]
    memory_seconds = (weight_bytes + room * T * CACHE_BYTES) / bandwidth
    assert (round(1e3 * matmul_seconds), round(1e3 * memory_seconds)) == (4, 25)
    # So: choose B by the latency that users accept. To get further, look at the cache, not the
    # weights.


DOUBLINGS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def grouped_queries_shrink_the_cache():  # M26.4
    """Grouped queries shrink the cache.

    If the cache decides, can it be smaller? Keys and values of a head are used by that head alone.
    In *grouped-query attention* H heads of queries share G heads of keys and values, so the cache
    has $2LGK$ numbers a token and not $2LHK$.
    """
    kept_bytes = {}
    for G in (4, 2, 1):
        sizes = {"vocabulary": 64, "context": 8, "layers": 2, "width": 32, "heads": 4}
        config = TransformerConfig(**sizes, feed_forward=48, key_value_heads=G)
        model = TransformerLM(config, generator=torch.Generator().manual_seed(0))  # @stepover
        caches = [LayerCache() for _ in model.blocks]  # @stepover
        with torch.inference_mode(), without_checks():
            model(torch.zeros(1, 8, dtype=torch.int64), caches)  # @stepover
        kept_bytes[G] = sum(cache.key.nbytes + cache.value.nbytes for cache in caches)
    # Here L = 2, K = 8, in fp32, for 8 tokens:
    assert kept_bytes == {G: 8 * 2 * 2 * G * 8 * 4 for G in (4, 2, 1)}  # @inspect kept_bytes
    # Llama 3 8B has 8 heads of keys and values for 32 heads of queries. What would 32 have done,
    # with the other weights as they are? Every walk through the cache would be four times as long,
    # and memory would hold a fourth of the sequences.
    T = 2000
    N = parameters(LLAMA)
    weight_bytes = 2 * (N - LLAMA.vocabulary * LLAMA.width)
    rates, rooms, milliseconds = {}, {}, {}
    for G in (8, 32):
        c = 2 * 2 * LLAMA.layers * G * (LLAMA.width // LLAMA.heads)
        rooms[G] = (H100_SXM.memory_bytes - 2 * N) // (T * c)
        step_seconds = (weight_bytes + rooms[G] * T * c) / H100_SXM.memory_bytes_per_second
        milliseconds[G] = round(1e3 * step_seconds)
        rates[G] = rooms[G] / step_seconds
    assert rooms == {8: 263, 32: 65}  # @inspect rooms
    # With its memory full, a GPU decodes four times as many tokens a second, at the same latency:
    # at best some 10 500.
    assert round(rates[8] / rates[32]) == 4  # @inspect rates
    assert round(rates[8], -2) == 10_500
    assert milliseconds == {8: 25, 32: 25}
    # All sizes of Llama 3 share so, and so does Mixtral. DeepSeek-V3 goes further and caches [one
    # short vector](#one_latent_serves_all_heads) from which all heads make their keys and values.


PAGE = 16


class PagedCache:
    """Keys of many sequences in pages of 16 tokens, which lie wherever a page was free."""

    def __init__(self, pages: int, K: int) -> None:
        self.memory = torch.zeros(pages, PAGE, K)
        self.free = list(range(pages))
        self.tables: dict[str, list[int]] = {}
        self.lengths: dict[str, int] = {}

    def append(self, name: str, key: Tensor) -> None:
        """Write the key of the next token of a sequence; take a new page when the last is full."""
        length = self.lengths.get(name, 0)
        if length % PAGE == 0:
            self.tables.setdefault(name, []).append(self.free.pop())
        self.memory[self.tables[name][-1], length % PAGE] = key
        self.lengths[name] = length + 1

    def keys(self, name: str) -> Tensor:
        """Gather the keys of a sequence from its pages."""
        return self.memory[self.tables[name]].flatten(0, 1)[: self.lengths[name]]

    def end(self, name: str) -> None:
        """Give the pages of a finished sequence to others."""
        self.free += self.tables.pop(name)
        del self.lengths[name]


def fill_side_by_side(cache: PagedCache, keys: dict[str, Tensor]) -> None:  # @stepover
    """Decode all sequences at once: each gets a token in every turn until it ends."""
    for turn in range(max(len(rows) for rows in keys.values())):
        for name, rows in keys.items():
            if turn < len(rows):
                cache.append(name, rows[turn])


def pages_leave_little_unused():  # M26.4
    """Pages leave little unused.

    How much memory should we set aside for an answer whose length nobody knows? If it is enough for
    the longest that is allowed, most of it may never be used. An operating system has the same
    problem with programs, and the same solution fits: pages. Each sequence has a table that says in
    which pages its tokens lie.
    """
    generator = torch.Generator().manual_seed(0)
    cache, K, longest = PagedCache(pages=64, K=4), 4, 256
    lengths = {"a": 37, "b": 130, "c": 16, "d": 61, "e": 90}
    expected = {name: torch.randn(n, K, generator=generator) for name, n in lengths.items()}
    fill_side_by_side(cache, expected)
    # Their pages are mixed, and nobody notices: what is gathered is what was written.
    assert cache.tables["b"][:3] != sorted(cache.tables["b"])[:3]
    assert all(torch.equal(cache.keys(name), keys) for name, keys in expected.items())
    # Set aside for the longest, memory would be used to a quarter. Of the pages only the last of a
    # sequence may have room left.
    used = sum(cache.lengths.values())
    taken = PAGE * sum(len(table) for table in cache.tables.values())
    shares = used / (len(lengths) * longest), used / taken  # @inspect shares
    assert [round(share, 2) for share in shares] == [0.26, 0.91]
    assert taken - used < PAGE * len(lengths)
    # When an answer ends, its pages serve the next one at once.
    free = len(cache.free)
    cache.end("b")
    assert len(cache.free) == free + math.ceil(130 / PAGE)
    # So the same memory holds over three times as many sequences like these, and the batch can be
    # so much larger. This is [PagedAttention](https://arxiv.org/abs/2309.06180), the idea of vLLM.
    # Pages can even be shared: a thousand chats that begin with the same instructions keep them
    # once.


@functools.cache
def two_models() -> tuple[NextByte, NextByte, Tensor]:  # @stepover
    """Train a larger and a smaller model of the next byte; return both, and a text to go on from.

    The larger has 16 times as many weights between its hidden features.
    """
    tokens, V = story_bytes(200_000, seed=1)
    models = []
    for F, steps in ((128, 250), (32, 200)):
        model = NextByte(V, F, torch.Generator().manual_seed(0))
        with without_checks():
            train_next_byte(model, [torch.optim.Adam(model.parameters(), 0.01)], tokens, steps)
        models.append(model)
    return models[0], models[1], tokens[:CONTEXT]


@without_checks()
@torch.inference_mode()
def speculate(
    target: NextByte, draft: NextByte, text: Tensor, k: int, generator: torch.Generator
) -> tuple[list[int], list[float]]:  # @stepover
    """Let the draft propose k tokens and the target judge them in one pass. Return the tokens to
    append, and for each judged proposal how probable it was to be accepted."""
    row, proposed = text.clone(), []
    for _ in range(k):
        q = draft(row[-CONTEXT:][None])[0].softmax(dim=0)
        token = int(torch.multinomial(q, 1, generator=generator))
        proposed.append((token, q))
        row = torch.cat([row, torch.tensor([token])])
    windows = row.unfold(0, CONTEXT, 1)[-(k + 1) :]
    p = target(windows).softmax(dim=1)  # one pass for all k + 1 places
    accepted, chances = [], []
    for (token, q), wanted in zip(proposed, p, strict=False):
        chances.append(float(torch.minimum(wanted, q).sum()))
        if torch.rand((), generator=generator) < wanted[token] / q[token]:
            accepted.append(token)
            continue
        # Draw from what the draft has too little of. The sum of both ways is the target.
        missing = (wanted - q).clamp(min=0)
        return [*accepted, int(torch.multinomial(missing, 1, generator=generator))], chances
    return [*accepted, int(torch.multinomial(p[k], 1, generator=generator))], chances


def write_on(
    target: NextByte, draft: NextByte, text: Tensor, k: int, generator: torch.Generator
) -> tuple[float, list[float]]:  # @stepover
    """Go on from a text in 500 steps of `speculate`. Return how many tokens a step yields, and how
    probable each judged proposal was to be accepted."""
    row, chances, steps = text, [], 500
    for _ in range(steps):
        new, found = speculate(target, draft, row, k, generator)
        row = torch.cat([row, torch.tensor(new)])
        chances += found
    return (len(row) - len(text)) / steps, chances


def a_draft_is_judged_in_one_pass():  # M26.5
    """A draft is judged in one pass.

    Decoding waits for weights while the arithmetic idles. Could a walk through the weights yield
    several tokens? If somebody guesses the next k tokens, the model can judge all of them in one
    pass, like a prompt. In [speculative decoding](https://arxiv.org/abs/2211.17192) a small model
    guesses.
    """
    target, draft, text = two_models()
    generator = torch.Generator().manual_seed(0)
    # A proposed token is accepted with probability min(1, p/q), where q is what the small model
    # gave it and p what the large one gives. After a rejection, one token is drawn from p − q,
    # where that is positive. Does the small model then change what is written? Drawn 1000 times,
    # the first token comes as often as the large model alone would write it.
    with torch.inference_mode():
        p = target(text[None])[0].softmax(dim=0)
    drawn = [speculate(target, draft, text, 1, generator)[0][0] for _ in range(1000)]
    counts = torch.bincount(torch.tensor(drawn), minlength=len(p))
    assert ((counts / 1000 - p).abs() < 4 * (p * (1 - p) / 1000).sqrt() + 1e-3).all()
    # How many tokens does a step yield? If each proposal is accepted with probability α,
    # $$1+\alpha+\dots+\alpha^k=\frac{1-\alpha^{k+1}}{1-\alpha}$$
    per_step, expected = {}, {}
    for k in (1, 2, 4, 8):
        per_step[k], chances = write_on(target, draft, text, k, generator)
        alpha = sum(chances) / len(chances)
        expected[k] = (1 - alpha ** (k + 1)) / (1 - alpha)
    drawn = figures.tokens_per_step(per_step, expected)  # @inspect drawn
    # The formula takes proposals to be alike. They are not (one is accepted with a probability
    # below 0.2, another above 0.9), and yet it comes close.
    assert min(chances) < 0.2 < 0.9 < max(chances)
    assert all(abs(per_step[k] / expected[k] - 1) < 0.1 for k in per_step)  # @inspect per_step
    assert per_step[1] < per_step[2] < per_step[4] < per_step[8] < 9
    # So: with k = 4, a walk through the large model's weights yields two tokens, exactly
    # distributed as before. (This small model is right 6 times in 10; drafts that are better at it
    # yield three or four.) The price is k walks through the small one, and FLOPs for what is
    # rejected. Where a large batch leaves no idle FLOPs, speculation pays no more. With 2000 tokens
    # each, [the cache](#a_batch_shares_the_weights_until_the_cache_rules) left them idle even when
    # memory was full.
    # What we can do now: say how long a prompt and an answer take, how many users a GPU serves, and
    # what shared heads, pages and a draft change about it.


def exercise_texts_half_as_long():  # M26.4 @exercise
    """Exercise: texts half as long.

    Llama 3 8B on one H100 decodes for 64 users with 2000 tokens each. Now they have 1000 tokens
    each. Is a step twice as fast? Do twice as many users fit into the memory?
    """
    weight_bytes = 2 * (parameters(LLAMA) - LLAMA.vocabulary * LLAMA.width)
    free_bytes = H100_SXM.memory_bytes - 2 * parameters(LLAMA)
    moved, rooms = {}, {}
    for T in (2000, 1000):
        moved[T] = weight_bytes + 64 * T * CACHE_BYTES
        rooms[T] = free_bytes // (T * CACHE_BYTES)  # @inspect rooms
    # A step takes a quarter less time: the weights have to be read all the same. Twice as many
    # users fit, and serving them takes as long a step as before.
    milliseconds = [
        round(1e3 * found / H100_SXM.memory_bytes_per_second, 1) for found in moved.values()
    ]
    assert milliseconds == [9.5, 7.0]  # @inspect milliseconds
    assert rooms[1000] // 2 == rooms[2000] == 263


def exercise_a_better_draft_or_a_smaller_one():  # M26.5 @exercise
    """Exercise: a better draft or a smaller one.

    Two drafts are on offer. One is half as large as the model and is right 8 times in 10. The other
    has a sixteenth of its size and is right 6 times in 10. A walk through the model takes one unit
    of time, a walk through a draft its share of that. Which one makes decoding faster?
    """
    gains = {}
    generator = torch.Generator().manual_seed(0)
    for share, alpha in ((1 / 2, 0.8), (1 / 16, 0.6)):
        # What comes after the first rejection is thrown away; a step yields one token in any case.
        right = torch.rand(50_000, 9, generator=generator) < alpha
        in_a_row = right.int().cumprod(dim=1).float().mean(dim=0)
        gains[share] = max(
            (1 + in_a_row[:k].sum().item()) / (1 + k * share) for k in range(1, 10)
        )  # @inspect gains
    # The small one, by far: 1.8 times as fast against 1.2. Each guess of the large draft costs half
    # a step, whether it is right or not.
    assert [round(gain, 1) for gain in gains.values()] == [1.2, 1.8]


@shape_checked
def restored(
    integers: Int[Tensor, "rows blocks block"], scales: Float[Tensor, "rows blocks 1"]
) -> Float[Tensor, "rows columns"]:  # @stepover
    """Multiply integers by their scales."""
    return einops.rearrange(integers * scales, "rows blocks block -> rows (blocks block)")


def a_scale_makes_weights_integers():  # M26.2
    """A scale makes weights integers.

    [Decoding waits for the bytes of the weights](#writing_reads_every_weight_for_a_token), so we
    want fewer. How do we store a weight in 8 bits? As an integer from −127 to 127, times a number
    that it shares with others: the *scale*. This is *quantization*. Here it happens once, after
    training.
    """
    w = torch.tensor([[0.5, -1.27, 0.333, 0.0], [30.0, 0.2, -63.5, 1.0]])
    integers, scales = quantized(w, bits=8, block=4)  # @inspect integers scales
    # In each row the largest number becomes 127 or −127, so the scale is a 127th of its size.
    assert torch.allclose(scales.flatten(), torch.tensor([0.01, 0.5]))
    assert integers[0].tolist() == [[50, -127, 33, 0]]
    assert integers[1].tolist() == [[60, 0, -127, 2]]
    # Rounding is off by at most half a scale. In the second row that is 0.25, and 0.2 becomes 0.
    back = restored(integers, scales)  # @inspect back
    assert ((back - w).abs() <= scales[:, 0] / 2 + 1e-6).all()
    assert (back[1, 1], back[1, 3]) == (0, 1)
    # That is a quarter of fp32's bytes, and four for each row: with 256 columns, 8.125 bits a
    # weight.
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    with measure() as cost:
        integers, scales = quantized(w, bits=8, block=256)
    kept_bytes = cost.allocated_bytes - cost.freed_bytes
    assert kept_bytes == 256 * 256 + 256 * 4
    assert 8 * kept_bytes / w.numel() == 8.125  # @predict
    assert (integers.abs().amax(dim=(1, 2)) == 127).all()


def each_bit_halves_the_error():  # M26.2
    """Each bit about halves the error.

    How many bits are enough? We multiply a random matrix by random inputs, and compare what comes
    out: the norm of the error over the norm of the result.
    """
    generator = torch.Generator().manual_seed(0)
    w, x = (torch.randn(256, 256, generator=generator) for _ in range(2))
    exact = x.double() @ w.T.double()
    errors = {}
    for name, block in (("a scale per row of 256", 256), ("a scale per 32", 32)):
        errors[name] = {}
        for bits in range(2, 9):
            y = x @ restored(*quantized(w, bits, block)).T
            errors[name][bits] = relative_error(y, exact)
    error_by_bits = figures.error_by_bits(errors)  # @inspect error_by_bits
    by_row, by_block = errors.values()
    # With 2 bits there are only −1, 0 and 1, and the error is 0.8 of the result.
    found = [round(error, 2) for error in by_row.values()]
    assert found == [0.81, 0.29, 0.13, 0.06, 0.03, 0.01, 0.01]
    assert round(by_row[8], 3) == 0.007
    assert round(by_row[4], 3) == 0.126
    assert round(by_block[4], 3) == 0.097
    # One more bit about doubles the integers, 7 to 15 or 63 to 127, and about halves the error.
    assert round(by_row[5] / by_row[4], 2) == round(7 / 15, 2)
    assert round(by_row[8] / by_row[7], 2) == round(63 / 127, 2)
    # Can we predict it? Rounding is off by anything up to half a scale, and the root of the mean
    # square of that is the scale over $\sqrt{12}$. The scale is the largest number of the row over
    # 127, and among 256 normal numbers the largest is about 3.
    largest = w.abs().amax(dim=1).square().mean().sqrt().item()  # @inspect largest
    assert math.isclose(by_row[8], largest / 127 / math.sqrt(12), rel_tol=0.02)
    # Among 32 numbers the largest is smaller, and so are scale and error. But scales take bits: one
    # in fp32 for every 32 weights is a bit for each, and a fifth bit in the integers does more.
    # Small blocks pay where weights are less even than these.
    assert 0.7 < by_block[4] / by_row[4] < 0.8
    assert by_row[5] < 0.7 * by_block[4]


def an_outlier_costs_its_block():  # M26.2
    """An outlier costs its block.

    What if one weight is a hundred times as large as the others? The integers are spread evenly up
    to the largest, and few are left for the rest.
    """
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    w[0, 0] = 100.0
    others = w.abs() < w.max()
    errors, spoiled, scale_bits = {}, {}, {}
    for name, rows, block in (("whole", 1, 65_536), ("row", 256, 256), ("32", 256, 32)):
        integers, scales = quantized(w.view(rows, -1), 8, block)
        found = restored(integers, scales).view(256, 256)
        errors[name] = relative_error(found[others], w[others].double())
        spoiled[name] = int(((found - w).abs() > 0.05).sum())
        scale_bits[name] = 8 * scales.half().nbytes / w.numel()
    # With one scale for the whole matrix, all of it suffers: most weights are off by more than
    # 0.05. With a scale for each row, this happens in one row of 256. With one for every 32
    # weights, it happens in an eighth of that row.
    assert math.isclose(errors["whole"], 100 / 127 / math.sqrt(12), rel_tol=0.02)
    assert errors["32"] < 0.5 * errors["row"] < 0.01 < errors["whole"]
    assert spoiled["whole"] > 0.8 * w.numel()  # @inspect errors spoiled
    assert 0.8 * 256 < spoiled["row"] <= 256
    assert 0.8 * 32 < spoiled["32"] <= 32
    # Small blocks cost memory: blocks of 32 with scales of 16 bits, half a bit for each weight.
    assert [round(bits, 4) for bits in scale_bits.values()] == [0.0002, 0.0625, 0.5]


@shape_checked
def unpacked(pairs: UInt8[Tensor, "rows half"]) -> Int[Tensor, "rows columns"]:  # @stepover
    """Take them out again; 8 to 15 stand for −8 to −1."""
    nibbles = torch.stack([pairs & 0xF, pairs >> 4], dim=2).flatten(1).to(torch.int8)
    return torch.where(nibbles >= 8, nibbles - 16, nibbles)


def four_bits_go_in_pairs():  # M26.2
    """Four bits go in pairs.

    Memory hands out bytes, nothing smaller. Where do 4 bits go? Two weights share a byte.
    """
    integers = torch.tensor([[1, -1, 7, -8]], dtype=torch.int8)
    pairs = packed(integers)  # @inspect pairs
    # −1 is 1111 in 4 bits, −8 is 1000.
    assert [f"{pair:08b}" for pair in pairs[0].tolist()] == ["11110001", "10000111"]
    assert unpacked(pairs).tolist() == integers.tolist()
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    integers, scales = quantized(w, bits=4, block=32)
    with measure() as cost:
        kept = packed(integers.flatten(1)), scales.half()
    # Half a byte for each weight, and half a bit for its share of the scale: 4.5 bits.
    kept_bytes = sum(tensor.numel() * tensor.element_size() for tensor in kept)
    assert kept_bytes == w.numel() // 2 + 2 * w.numel() // 32
    assert 8 * kept_bytes / w.numel() == 4.5  # @predict
    assert cost.allocated_bytes - cost.freed_bytes == kept_bytes
    # A scheme for weights only, as this one, does not compute with the pairs, because the other
    # factor of the matmul is in bf16. The kernel unpacks them in registers, on their way from
    # memory to the tensor cores, and multiplies by the scale. That costs FLOPs, of which decoding
    # has plenty, and saves bytes, of which it has not.
    wide = unpacked(kept[0]).view(256, 8, 32)
    assert torch.equal(wide, integers)
    with measure() as unpacking:
        restored(wide, kept[1].float())
    assert unpacking.other_flops == w.numel()
    # If both factors are floats of 4 bits, tensor cores can multiply them as they are: those of a
    # B200 take packed fp4, at four times the rate of bf16.
    rates = B200.dense_flops_per_second
    assert rates["fp4"] / rates["bf16"] == 4


def products_of_integers_are_exact():  # M26.2
    """Matmuls of integers are exact.

    Can we multiply the integers themselves? With 8 bits, yes: quantize the inputs as well, row by
    row, and multiply by both scales at the end.
    """
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(32, 256, generator=generator) for _ in range(2))
    (x_integers, x_scales), (w_integers, w_scales) = (quantized(t, 8, 256) for t in (x, w))
    sums = x_integers[:, 0].int() @ w_integers[:, 0].int().T  # @inspect sums
    y = sums * (x_scales[:, 0] * w_scales[:, 0].T)
    # The sums are kept in 32 bits, where integers are not rounded. All of the error comes from the
    # two quantizations: $\sqrt{2}$ times that of one.
    exact = x.double() @ w.double().T
    assert torch.equal(sums.double(), x_integers[:, 0].double() @ w_integers[:, 0].double().T)
    weights_only = relative_error(x @ restored(w_integers, w_scales).T, exact)
    error = relative_error(y, exact)  # @inspect error weights_only
    assert math.isclose(error, math.sqrt(2) * weights_only, rel_tol=0.05)
    assert round(weights_only, 3) == 0.007
    # Could a sum overflow? At worst each term is $127^2$, and $2^{31}$ has room for 133 144 of
    # them.
    assert torch.iinfo(torch.int32).max // 127**2 == 133_144
    worst = torch.full((1, 133_144), 127, dtype=torch.int32)
    assert (worst @ worst.T).item() == 133_144 * 127**2 > 0
    # In 8 bits not even one term fits: 127 times 127 comes out as 1.
    most = torch.tensor(127, dtype=torch.int8)
    assert most * most == 1


@shape_checked
def errors_after_training(bits: list[int], when: str) -> Float[Tensor, " bits"]:  # @stepover
    """Learn 64 weights from noisy examples and keep them as one of 2^bits − 1 numbers that lie
    evenly between −2 and 2: from the end of the training on, after each step, or only where they
    are used. Return their relative error for each number of bits."""
    generator = torch.Generator().manual_seed(0)
    steps = torch.tensor([2 / (2 ** (count - 1) - 1) for count in bits]).unsqueeze(dim=1)
    target = torch.randn(64, generator=generator).clamp(-1.9, 1.9)
    weight = torch.zeros(len(bits), 64)
    for _ in range(800):
        x = torch.randn(16, 64, generator=generator)
        noise = 0.1 * torch.randn(16, generator=generator)
        used = (weight / steps).round() * steps if when == "where used" else weight
        residue = ((used - target)[:, None] * x).sum(dim=2) + noise
        weight = weight - 0.01 * (residue[:, :, None] * x).mean(dim=1)
        if when == "after each step":
            weight = (weight / steps).round() * steps
    if when != "never":
        weight = (weight / steps).round() * steps
    return (weight - target).norm(dim=1) / target.norm()


def afterwards_is_easier_than_during():  # M26.2
    """Afterwards is easier than during.

    If 4 to 8 bits are enough to use a weight, why not train with them? Here 64 weights learn from
    noisy examples, and we round them to a grid: at the end, or after each step.
    """
    moments = ("afterwards", "where used", "after each step", "never")
    bits = list(range(4, 17, 2))
    errors = {
        when: dict(zip(bits, errors_after_training(bits, when).tolist(), strict=True))
        for when in moments
    }
    exact = errors.pop("never")[8]
    drawn = figures.error_by_moment(errors, exact)  # @inspect drawn
    at_the_end, where_used, each_step = errors.values()
    # If we round at the end, the error is the grid's, on top of the 0.2 % that training leaves.
    assert 0.0015 < exact < 0.0025
    assert math.isclose(at_the_end[4], 2 / 7 / math.sqrt(12), rel_tol=0.1)
    assert math.isclose(at_the_end[8], math.hypot(exact, 2 / 127 / math.sqrt(12)), rel_tol=0.15)
    # If we round after each step, a weight stops as soon as its updates are less than half a step
    # of the grid. With 4 bits nothing moves at all. With 8 bits the error is 19 times that of the
    # same 8 bits afterwards.
    assert round(each_step[4], 2) == 1
    assert 17 < each_step[8] / at_the_end[8] < 21
    # Here it takes 14 bits to train in and 10 to use: training makes many small changes, use makes
    # none. (Other problems, other numbers. With scales for small blocks, and sums in fp32,
    # DeepSeek-V3 did most of its matmuls in 8 bits, and kept its weights in more.)
    assert each_step[12] > 1.2 * exact
    assert each_step[14] < 1.1 * exact
    assert at_the_end[8] > 2 * exact
    assert at_the_end[10] < 1.3 * exact
    # There is a way in between: keep the weights in fp32 and round them where they are used. This
    # is *quantization-aware training*, a master copy again. It learns with each of these numbers of
    # bits.
    assert all(where_used[count] < 2 * at_the_end[count] for count in bits)


@shape_checked
def error_when_cut(w: Float[Tensor, "rows columns"], bits: int, percent: int) -> float:  # @stepover
    """Quantize with scales for so many percent of the largest number of each row, and cut off what
    is beyond; return the relative error."""
    most = 2 ** (bits - 1) - 1
    scales = percent / 100 * w.abs().amax(dim=1, keepdim=True) / most
    found = (w / scales).round().clamp(-most, most) * scales
    return relative_error(found, w.double())


def the_largest_weight_need_not_fit():  # M26.2
    """The largest weight need not fit.

    Does the largest weight have to fit? A smaller scale cuts it off, and serves all the others
    better.
    """
    w = torch.randn(64, 256, generator=torch.Generator().manual_seed(0))
    errors = {
        bits: {percent: error_when_cut(w, bits, percent) for percent in range(50, 101, 5)}
        for bits in (3, 4, 8)
    }
    by_cut = figures.error_by_cut(errors)  # @inspect by_cut
    best = {bits: min(found, key=found.get) for bits, found in errors.items()}  # @inspect best
    # With 8 bits we gain nothing. With 4 it pays to cut at 80 % of the largest, with 3 at 65 %.
    assert best == {3: 65, 4: 80, 8: 100}
    gains = {bits: 1 - found[best[bits]] / found[100] for bits, found in errors.items()}
    assert [round(gain, 2) for gain in gains.values()] == [0.26, 0.1, 0]  # @inspect gains
    # Better methods look at what comes out, for inputs that really occur.
    # [GPTQ](https://arxiv.org/abs/2210.17323) changes the weights that are still to be rounded so
    # that they make up for the errors so far, and [AWQ](https://arxiv.org/abs/2306.00978) protects
    # those that meet large inputs.


def a_cache_fits_in_eight_bits():  # M26.2
    """A cache fits in eight bits.

    With many users [the cache has more bytes than the
    weights](#a_batch_shares_the_weights_until_the_cache_rules). Can it have fewer bits, too? Keys
    and values are made while we decode, so there is no time to look for good scales: each token's
    key gets one scale per head, when it is written.
    """
    T, K = 256, 128
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(T, K, generator=generator) for _ in range(3))
    exact = nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double())

    def mixed_with(keys: Tensor, bits: int) -> float:
        k_back, v_back = (restored(*quantized(kept, bits, block=K)) for kept in (keys, v))
        found = nn.functional.scaled_dot_product_attention(q, k_back, v_back)
        return relative_error(found, exact)

    errors = {bits: mixed_with(k, bits) for bits in (8, 4)}  # @inspect errors
    # In 8 bits what attention returns is off by 1 %, in 4 bits by 17 %. (These are normal numbers.
    # Where a few features are much larger than the others, one scale for a head costs more.)
    assert [round(error, 2) for error in errors.values()] == [0.01, 0.17]
    # A byte for each number and two for each scale: half of bf16's bytes, nearly. So twice as many
    # sequences fit, and a step over all of them takes as long as before; or as many as before, and
    # a step reads half of the cache, besides the weights.
    head_bytes = K + torch.finfo(torch.float16).bits // 8
    rooms = [
        (H100_SXM.memory_bytes - 2 * parameters(LLAMA)) // (2000 * bytes_each)
        for bytes_each in (CACHE_BYTES, CACHE_BYTES * head_bytes // (2 * K))
    ]
    assert rooms == [263, 518]  # @inspect rooms
    # So: try 8 bits for the cache first. They serve nearly twice the users.
    #
    # What we can do now: choose bits, blocks and scales for weights and cache, and say what they
    # save in bytes and cost in error. Decoding waits for bytes; so shrink them, share them, or use
    # each of them for more than one token.


def exercise_seventy_billion_in_four_bits():  # M26.2 @exercise
    """Exercise: 70 billion in four bits.

    Llama 3 70B has 4 bits for each weight and a scale of 16 bits for every 32. Does it fit on one
    H100, and how many tokens of cache fit beside it, in bf16? And with 8 bits and the same scales?
    """
    shape = PRESETS["llama-3-70b"]
    token_bytes = 2 * 2 * shape.layers * shape.key_value_width
    rooms = {}
    for bits in (4, 8):
        weight_bytes = parameters(shape) * (bits + 16 / 32) / 8
        rooms[bits] = round((H100_SXM.memory_bytes - weight_bytes) / token_bytes)  # @inspect rooms
    # 40 GB and 75 GB. Both fit, but 4 bits leave room for 138 000 tokens, and 8 bits for 31 000. It
    # is the cache that the bits of the weights make room for.
    assert [round(tokens, -3) for tokens in rooms.values()] == [138_000, 31_000]


def exercise_half_a_bit_more():  # M26.2 @exercise
    """Exercise: half a bit more.

    You have about 5 bits for each weight. Take 5 bits and a scale for each row of 256, or 4 bits
    and a scale for every 32? Which has the smaller error if the weights are normal, and which if
    each row has one weight of 100?
    """
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    errors = {}
    for largest in (None, 100.0):
        if largest:
            w[:, 0] = largest
        for bits, block in ((5, 256), (4, 32)):
            found = restored(*quantized(w, bits, block))[:, 1:]
            errors[largest, bits] = relative_error(found, w[:, 1:].double())  # @inspect errors
    # For normal weights the fifth bit; with outliers the small blocks, by far. So look at the
    # largest weight of a row before you choose.
    assert errors[None, 5] < errors[None, 4]
    assert errors[100.0, 5] > 2 * errors[100.0, 4]
