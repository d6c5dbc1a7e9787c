"""Training of today: schedules without an end, rates that carry over, stable logits, laws."""

import functools
import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from lecture import stories
from lecture.lib.batches import derived_generator, get_batch
from lecture.lib.next_byte import NextByte, story_bytes, train_next_byte
from lecture.lib.optim import SGD, AdamW
from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.transformer import RMSNorm, TransformerConfig, TransformerLM, cross_entropy
from lecture.part6_training import m23_figures as figures
from lecture.train.schedule import learning_rate, warm_up_stable_decay

B, D = 8, 16  # of the noisy toy: rows of a batch, and weights


def predicted_excess(rates: Sequence[float]) -> list[float]:  # @stepover
    """Return the expected loss above the noise after each step of the noisy toy, by formula."""
    excess = [float(D)]
    for lr in rates:
        factor = 1 - 4 * lr + 4 / B * (B + D + 1) * lr**2
        excess.append(factor * excess[-1] + 4 * D / B * lr**2)
    return excess


@shape_checked
def simulated_excess(rates: Sequence[float], runs: int) -> Float[Tensor, ""]:  # @stepover
    """Train many noisy toys at once; return how far above the noise their loss ends, on average."""
    generator = torch.Generator().manual_seed(0)
    away = torch.ones(runs, D)  # the weights, minus those that are right
    for lr in rates:
        x = torch.randn(runs, B, D, generator=generator)
        error = torch.einsum("rbd,rd->rb", x, away) - torch.randn(runs, B, generator=generator)
        away -= lr * 2 / B * torch.einsum("rb,rbd->rd", error, x)
    return away.square().sum(dim=1).mean()


def cosine_rates(steps: int, max_lr: float = 0.1) -> list[float]:  # @stepover
    """Return the rates of a cosine over so many steps."""
    ends = {"max_lr": max_lr, "min_lr": 0.0, "warm_up_steps": 0, "end_step": steps}
    return [learning_rate(step, **ends) for step in range(steps)]


def stable_rates(steps: int, max_lr: float = 0.1) -> list[float]:  # @stepover
    """Return rates that stay and fall to 0 over the last fifth of so many steps."""
    ends = {"max_lr": max_lr, "min_lr": 0.0, "warm_up_steps": 0, "end_step": steps}
    return [warm_up_stable_decay(step, decay_steps=steps // 5, **ends) for step in range(steps)]


def a_schedule_can_leave_its_end_open():  # M23.9
    r"""A schedule can leave its end open.

    A cosine has to know the last step at the first. What if nobody knows how long the run will be?
    Take the [toy run](#a_toy_run_can_be_predicted) and add noise of standard deviation 1 to its
    answers: like those of text, they can then not be predicted fully. A step multiplies the excess,
    the loss above the noise, by $1-4\eta+\frac4B(B+D+1)\eta^2$ as before and adds
    $\frac{4D}{B}\eta^2$. Guess first: what does a constant rate $\eta$ end with?
    """
    schedules = {
        "constant": [0.1] * 400,
        "cosine": cosine_rates(400),
        "warm-up, stable, decay": stable_rates(400),
    }
    excess = {name: predicted_excess(rates) for name, rates in schedules.items()}
    curves = figures.excess_of_schedules(excess)  # @inspect curves
    # The simulation agrees with the formula, at twice the rate, too. So the rest can be read off
    # the formula.
    for rates in (*schedules.values(), [0.2] * 100):
        simulated = simulated_excess(rates, runs=400)
        assert math.isclose(simulated, predicted_excess(rates)[-1], rel_tol=0.1)
    # The constant rate ends on a floor: noise comes in as fast as it is unlearned. The floor is
    # nearly proportional to the rate: a reason for schedules to come down in the end.
    floors = {lr: predicted_excess([lr] * 9000)[-1] for lr in (0.1, 0.01, 0.001)}  # @inspect floors
    assert 10 < floors[0.1] / floors[0.01] < 15
    assert math.isclose(floors[0.01] / floors[0.001], 10, rel_tol=0.1)
    ends = {name: found[-1] for name, found in excess.items()}  # @inspect ends
    assert 5 * ends["warm-up, stable, decay"] < ends["constant"]
    # *Warm-up, stable, decay* (WSD) keeps the rate up and falls at the very end. (Here it has no
    # warm-up.) From one stable
    # run we can branch off a decay whenever we want a model, after 100, 200 or 400 steps. On this
    # toy a cosine that was planned for exactly that length ends lower, by a factor below 4. But a
    # cosine for 400 steps that is stopped at 200 has 1.7 times the excess of the branch.
    branches = {}
    for steps in (100, 200, 400):
        schedules = (cosine_rates(steps), stable_rates(steps))
        branches[steps] = [predicted_excess(rates)[-1] for rates in schedules]
        assert 1 < branches[steps][1] / branches[steps][0] < 4  # @inspect branches
    assert round(excess["cosine"][200] / branches[200][1], 1) == 1.7
    # (On language models the two were found to [end
    # alike](https://arxiv.org/abs/2405.18392).) So: a cosine is for a length that is certain, a
    # stable rate also for one that is not.


BASE = 32  # the width of the model on which the learning rate is tuned
RATES = [2.0**power for power in range(-8, -2)]


def next_byte_loss(F: int, lr: float, mup: bool) -> float:  # @stepover
    """Train a model of width F for 40 steps of AdamW; return the mean loss of the last ten."""
    tokens, V = story_bytes(100_000, 1)
    model = NextByte(V, F, torch.Generator().manual_seed(0))
    shrink = BASE / F if mup else 1.0
    with torch.no_grad():
        model.head *= math.sqrt(shrink)
    groups = [
        {"params": [model.embedding, model.up], "lr": lr},
        {"params": [model.middle, model.head], "lr": lr * shrink},
    ]
    optimizer = AdamW(groups, betas=(0.9, 0.95), weight_decay=0.0)
    with without_checks():
        losses = train_next_byte(model, [optimizer], tokens, steps=40)
    return sum(losses[-10:]) / 10


@functools.cache
def losses_by_width(mup: bool) -> dict[int, dict[float, float]]:  # @stepover
    """Sweep the learning rate for a narrow and a wide model."""
    return {F: {lr: next_byte_loss(F, lr, mup) for lr in RATES} for F in (BASE, 8 * BASE)}


def a_wider_model_wants_a_smaller_rate():  # M23.10
    r"""A wider model wants a smaller rate.

    [A sweep](#a_sweep_shows_the_range) on a small model costs little. Does its best learning rate
    fit the large model, too? A small language model guesses the next byte of a story from the eight
    before; we give its hidden layers 32 features, then 256, and sweep both.
    """
    losses = losses_by_width(mup=False)
    sweep = figures.sweeps_by_width(losses, "The same rate for all parameters")  # @inspect sweep
    best = {F: min(found, key=found.get) for F, found in losses.items()}  # @inspect best
    # No. Eight times as wide, the best rate is at most half as large.
    assert best[256] <= best[32] / 2
    # If you carry the small model's rate over, you pay for it: the wide model does worse with it
    # than with its own, by more than a tenth of a nat per byte, and so loses what the width bought.
    missed = losses[256][best[32]] - losses[256][best[256]]  # @inspect missed
    assert 0.1 < missed < 1
    assert losses[256][best[32]] > losses[32][best[32]]
    # Why? One step of AdamW moves each weight by about the rate. A hidden feature is a sum over F
    # products of an input and a weight. For one example, gradients of these weights have the signs
    # of the inputs, or all the opposite, so all products change in the same direction. The change
    # of the sum grows with F; its value, a sum of F independent numbers of size $1/\sqrt F$, does
    # not.
    changes = {}
    for F in (32, 256):
        generator = torch.Generator().manual_seed(0)
        h, gradient = torch.randn(1, F, generator=generator), torch.ones(1, F)
        middle = nn.Parameter(torch.zeros(F, F))
        middle.grad = h.T @ gradient
        AdamW([middle], lr=0.01, weight_decay=0.0).step()
        changes[F] = (h @ middle.detach()).abs().mean().item()  # @inspect changes
    assert math.isclose(changes[256] / changes[32], 256 / 32, rel_tol=0.2)


def mup_carries_the_rate_over():  # M23.10
    r"""muP carries the rate over.

    Can we undo that growth? Divide the rate of a matrix by the number of hidden features it sums
    over. This is the heart of [*muP*](https://arxiv.org/abs/2203.03466), the maximal update
    parametrization. For AdamW and matrices it has three rules: matrices that sum over F hidden
    features learn at $\eta\cdot F_0/F$, where $F_0$ is the width that was tuned; inputs and
    embeddings keep $\eta$; the output matrix begins smaller by $\sqrt{F_0/F}$ on top of the usual
    $1/\sqrt F$.
    """
    losses = losses_by_width(mup=True)
    sweep = figures.sweeps_by_width(losses, "muP, tuned at width 32")  # @inspect sweep
    # At the width that was tuned nothing changes.
    assert losses[32] == losses_by_width(mup=False)[32]
    # At eight times the width the best rate is at most one notch of 2 away.
    best = {F: min(found, key=found.get) for F, found in losses.items()}  # @inspect best
    assert 1 / 2 <= best[256] / best[32] <= 2
    # The rate tuned on the small model is as good as any on the large one, nearly: within 0.1 nats
    # per byte. And there it beats the best that the wide model reached with one rate for all.
    carried = losses[256][best[32]]  # @inspect carried
    assert carried - min(losses[256].values()) < 0.1
    assert carried < min(losses_by_width(mup=False)[256].values())
    # (A Transformer whose heads get wider, too, needs a fourth rule: scores are divided by K, not
    # by its root.) The authors moved settings from 40 million parameters to 6.7 billion, and spent
    # 7 % of the large run on tuning. So: tune small, and scale the rate with the width by a rule.


def z_loss(logits: Tensor, share: float = 1e-4) -> Tensor:
    """Return what PaLM adds to its loss: a share of the mean square of log Z."""
    return share * logits.logsumexp(dim=-1).square().mean()


def z_loss_holds_the_logits():  # M23.11
    r"""z-loss holds the logits.

    Add 100 to every logit of a token. What happens to the loss? Nothing: softmax divides by
    $Z=\sum_i e^{z_i}$, and the factor cancels. So the loss does not hold the logits in place while
    a model trains for weeks. Is that a danger?
    """
    generator = torch.Generator().manual_seed(0)
    V, rows = 1000, 64
    logits = torch.randn(rows, V, generator=generator)
    targets = torch.randint(V, (rows,), generator=generator)
    errors = {}
    for shift in (0, 100, 1000):
        exact = nn.functional.cross_entropy(logits.double() + shift, targets)
        in_bf16 = (logits + shift).bfloat16().double()
        errors[shift] = abs(nn.functional.cross_entropy(in_bf16, targets) - exact).item()
    # In short formats it is: bf16 has 8 significant bits, and at 1000 its numbers are 4 apart.
    assert errors[0] < 0.01 < 0.05 < errors[1000]  # @inspect errors
    # *z-loss* adds $10^{-4}\log^2 Z$, which is smallest at Z = 1. The gradient of cross-entropy
    # adds up to 0 over the vocabulary; that of z-loss adds up to $2\cdot10^{-4}\log Z$ and
    # pulls each logit down in proportion to its probability, as long as log Z is above 0.
    for shift in (0.0, 100.0):
        shifted = (logits + shift).requires_grad_()
        (of_loss,) = torch.autograd.grad(nn.functional.cross_entropy(shifted, targets), shifted)
        (of_z,) = torch.autograd.grad(z_loss(shifted), shifted)
        assert of_loss.sum(dim=1).abs().max() < 1e-6
        pull = 2e-4 * shifted.logsumexp(dim=1) / rows
        assert torch.allclose(of_z.sum(dim=1), pull, rtol=1e-3)
    # Begin with a shift of 100 and let SGD follow the gradients. Cross-entropy leaves the shift
    # where it is; z-loss brings log Z down to where the loss is not disturbed.
    ends = {}
    for name, share in (("cross-entropy", 0.0), ("with z-loss", 1e-4)):
        shift = nn.Parameter(torch.tensor(100.0, dtype=torch.float64))
        optimizer = SGD([shift], lr=1000.0)
        for _ in range(50):
            optimizer.zero_grad()
            moved = logits.double() + shift
            (nn.functional.cross_entropy(moved, targets) + z_loss(moved, share)).backward()
            optimizer.step()
        ends[name] = moved.logsumexp(dim=1).mean().item()  # @inspect ends
    assert ends["cross-entropy"] > 100
    assert abs(ends["with z-loss"]) < 0.1
    # PaLM was trained with this term. So: add it where the head computes in few bits.


@shape_checked
def mean_entropy(weights: Float[Tensor, "heads T S"]) -> float:  # @stepover
    """Return the entropy of attention weights in nats, averaged over queries."""
    return torch.special.entr(weights).sum(dim=-1).mean().item()


def qk_norm_bounds_the_scores():  # M23.11
    r"""QK-norm bounds the scores.

    Attention divides its scores by $\sqrt K$, so that they begin with a standard deviation near 1.
    What keeps them there, when training makes the matrices for queries and keys larger? Let both
    grow by the same factor s and look at the attention weights.
    """
    H, T, K = 4, 64, 16
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, H, T, K, generator=generator)
    entropies: dict[str, dict[float, float]] = {"plain": {}, "with QK-norm": {}}
    slopes = {}
    norm = RMSNorm(K)
    for s in (1.0, 2.0, 4.0, 8.0, 16.0):
        for name, way in (("plain", nn.Identity()), ("with QK-norm", norm)):
            scores = (way(s * q) @ way(s * k).mT / math.sqrt(K)).requires_grad_()  # @stepover
            weights = scores.softmax(dim=-1)
            entropies[name][s] = mean_entropy(weights)
            # How much the output can still answer to the scores: the largest slope of a softmax.
            slopes[name, s] = (weights * (1 - weights)).amax(dim=-1).mean().item()
    drawn = figures.entropies(entropies)  # @inspect drawn
    plain, normed = entropies.values()
    # The scores grow with s². At s = 1 a query spreads its weight over many keys, nearly as evenly
    # as $\ln 64$ nats allow; at 16 it looks at one, and the softmax has become a switch: on
    # average its slope is less than a tenth of what it was.
    assert plain[1.0] > 0.8 * math.log(T)
    assert plain[16.0] < 0.1
    assert slopes["plain", 16.0] < slopes["plain", 1.0] / 10  # @inspect slopes
    # *QK-norm* sends each query and key through a norm, here RMSNorm. Their length is then
    # $\sqrt K$ whatever the matrices do, no score exceeds $\sqrt K$ times the gains, and s cancels.
    assert all(math.isclose(found, normed[1.0], rel_tol=1e-3) for found in normed.values())
    bound = (norm(q) @ norm(k).mT / math.sqrt(K)).abs().max().item()  # @stepover
    assert bound <= math.sqrt(K) + 1e-5  # @inspect bound
    # Qwen3 has it so: one RMSNorm over the K features of a query, one over those of a key. OLMo 2
    # normalizes all heads of a token together: s cancels as well, and a head is bounded less
    # tightly.


LAW_WIDTHS = (8, 12, 16, 20, 24)


@functools.cache
def story_losses() -> tuple[dict[int, float], float, dict[int, int]]:  # @stepover
    """Train five Transformers of growing width, each on 20 bytes of stories for each parameter.

    Returns the validation loss by parameters without the embedding, the entropy of the source of
    those stories, both in nats per byte, and how many bytes each model has read.
    """
    tokens, V = story_bytes(400_000, 1)
    unseen = stories.text(20_000, seed=2)
    alphabet = sorted(set(stories.text(400_000, seed=1)))
    judged = torch.tensor([alphabet.index(character) for character in unseen])
    losses, bytes_read = {}, {}
    for width in LAW_WIDTHS:
        config = TransformerConfig(
            vocabulary=V, context=64, layers=1, width=width, heads=2, feed_forward=3 * width
        )
        model = TransformerLM(config, generator=derived_generator(0, 0))
        N = sum(weight.numel() for weight in model.parameters()) - V * width
        with without_checks():
            steps = round(20 * N / (8 * 64))
            bytes_read[N] = train_on_windows(model, tokens.numpy(), steps)
            rows = judged[: (len(judged) - 1) // 64 * 64]
            targets = judged[1 : len(rows) + 1]
            with torch.no_grad():
                loss = cross_entropy(model(rows.view(-1, 64)), targets.view(-1, 64))
        losses[N] = loss.item()
    return losses, stories.bits(unseen) * math.log(2) / len(unseen), bytes_read


def train_on_windows(model: TransformerLM, tokens: np.ndarray, steps: int) -> int:  # @stepover
    """Train with AdamW on 8 windows of 64 tokens in each step, along a cosine; return how many
    tokens that were."""
    optimizer = AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.0)
    order = derived_generator(0, 1)
    ends = {"max_lr": 0.02, "min_lr": 0.001, "warm_up_steps": 10, "end_step": steps}
    read = 0
    for step in range(1, steps + 1):
        x, y = get_batch(tokens, 8, 64, order)
        read += x.numel()
        optimizer.param_groups[0]["lr"] = learning_rate(step, **ends)
        optimizer.zero_grad()
        cross_entropy(model(x), y).backward()
        optimizer.step()
    return read


def fitted_law(losses: dict[int, float]) -> tuple[float, float, float]:  # @stepover
    """Fit loss = a·N^-b on logarithmic axes; return a, b and the standard error of b."""
    x, y = np.log([*losses]), np.log([*losses.values()])
    (slope, height), covariance = np.polyfit(x, y, 1, cov=True)
    return math.exp(height), -float(slope), math.sqrt(covariance[0, 0])


def five_small_runs_make_a_law():  # M23.12
    r"""Five small runs make a law.

    Before we pay for a large run, can small ones tell what it will reach? A *scaling law* says so:
    the loss falls like a power of the parameters, $a\cdot N^{-b}$, a straight line on logarithmic
    axes. We train five Transformers on the bytes of stories, from 1300 to 9000 parameters beside
    the embedding, each on 20 bytes for each of these. (Of all parameters, the embedding
    included, it is 15 to 17; [Chinchilla's](#tokens_go_with_parameters) are 20 tokens for each.)
    """
    losses, _, bytes_read = story_losses()
    a, b, error = fitted_law(losses)  # @inspect a b error
    assert [round(min(losses), -2), round(max(losses), -2)] == [1300, 9000]
    assert [round(bytes_read[N] / N) for N in losses] == 5 * [20]
    V = story_bytes(400_000, 1)[1]
    of_all = [bytes_read[N] / (N + V * D) for N, D in zip(losses, LAW_WIDTHS, strict=True)]
    assert [round(share) for share in (of_all[0], of_all[-1])] == [15, 17]
    line = figures.law({"fit": (a, b, 0.0)}, losses)  # @inspect line
    # Larger models do better, in this order, and the line passes within 8 % of each.
    assert sorted(losses.values(), reverse=True) == [*losses.values()]
    misses = {N: loss / (a * N**-b) - 1 for N, loss in losses.items()}  # @inspect misses
    assert max(map(abs, misses.values())) < 0.08
    # Ten times the parameters, and so ten times the data and a hundred times the FLOPs, divide the
    # loss by $10^b$. The slope has an error, too: five points leave an uncertainty of b that is
    # some tenth of b.
    assert 0.12 < b < 0.35
    assert 0.05 < error / b < 0.2
    ratio = 10**b  # @inspect ratio
    # So: a law is made of runs that differ in size alone. Same data, same ratio of tokens to
    # parameters, same schedule shape; a learning rate that fits one size only could bend the line.


def a_law_holds_where_it_was_measured():  # M23.12
    r"""A law holds where it was measured.

    How far can we trust the line? Two tests. First: fit the four smallest runs, and predict the
    fifth.
    """
    losses, source, _ = story_losses()
    *small, largest = losses
    a, b, _ = fitted_law({N: losses[N] for N in small})
    predicted = a * largest**-b  # @inspect predicted
    # The prediction is some percent too high, for a model not twice as large. Why, five runs do not
    # tell.
    assert 0.02 < predicted / losses[largest] - 1 < 0.15  # @inspect losses
    # Second: go on. [Our stories have a known entropy](#the_source_sets_the_floor), here 0.26 nats
    # a byte, below which no model can come. The line does not know.
    a, b, _ = fitted_law(losses)
    crossing = (a / source) ** (1 / b)  # @inspect source crossing
    assert round(source, 2) == 0.26
    assert 1e5 < crossing < 1e10
    # From that many parameters on the law promises what is impossible, as [those of
    # 2020](https://arxiv.org/abs/2001.08361) did. [Chinchilla's](https://arxiv.org/abs/2203.15556)
    # has a floor, $E+cN^{-\alpha}+d\cdot\text{tokens}^{-\beta}$. Put our source's entropy in for E.
    # Our tokens grow with N, so we fit one power for both terms.
    a_above, b_above, _ = fitted_law({N: loss - source for N, loss in losses.items()})
    both = {"a power alone": (a, b, 0.0), "a floor and a power": (a_above, b_above, source)}
    extended = figures.law(both, losses, up_to=10**9)  # @inspect extended
    # Where the runs are, the two laws differ by less than 2 %; a hundred thousand times further,
    # one promises about half of the other. Five runs cannot tell which is right.
    inside = [law(N, *both["a power alone"]) / law(N, *both["a floor and a power"]) for N in losses]
    assert max(abs(ratio - 1) for ratio in inside) < 0.02
    far = law(10**9, *both["a power alone"]) / law(10**9, *both["a floor and a power"])
    assert 0.3 < far < 0.75  # @inspect far
    # So: use a law to choose between plans within its range, fit the floor with runs that come near
    # it, and distrust it the more, the further it is from the runs. It says nothing about other
    # data, other ratios of tokens to parameters, or what the model can do at that loss.
    #
    # What we can do now: choose a schedule by what we know of the end, carry a learning rate to a
    # wider model, keep logits and scores in range, and say how far a prediction reaches.


def law(N: float, a: float, b: float, floor: float) -> float:  # @stepover
    """Return the loss that a law promises."""
    return floor + a * N**-b


def exercise_a_rate_for_a_wider_model():  # M23.10 @exercise
    """Exercise: a rate for a wider model.

    A rate of 0.01 was tuned at width 64. Which rate do the hidden matrices of a model of width 512
    get under muP? Test it: how much does one step change a hidden feature, at either width?
    """
    changes = {}
    for F in (64, 512):
        h, middle = torch.ones(1, F), nn.Parameter(torch.zeros(F, F))
        middle.grad = h.T @ torch.ones(1, F)
        AdamW([middle], lr=0.01 * 64 / F, weight_decay=0.0).step()
        changes[F] = (h @ middle.detach()).abs().mean().item()  # @inspect changes
    # An eighth, 0.00125: eight times as many terms, each an eighth as large.
    assert math.isclose(changes[64], 64 * 0.01, rel_tol=1e-3)
    assert math.isclose(changes[512], 512 * 0.00125, rel_tol=1e-3)


def exercise_a_tenth_less_loss():  # M23.12 @exercise
    """Exercise: a tenth less loss.

    By the law that we fitted, how many times the parameters does it take to lower the loss by a
    tenth? And how many times the FLOPs, at 20 bytes for each parameter?
    """
    losses, *_ = story_losses()
    a, b, _ = fitted_law(losses)
    times = 0.9 ** (-1 / b)  # @inspect times
    assert math.isclose(law(1000 * times, a, b, 0.0), 0.9 * law(1000, a, b, 0.0))
    # Some 1.6 times the parameters. Data grow alike, so FLOPs grow with the square: 2.6 times. And
    # each further tenth costs that factor again.
    assert 1.3 < times < 2.5
    flops_times = times**2  # @inspect flops_times
    assert math.isclose(law(math.sqrt(flops_times), a, b, 0.0), 0.9 * law(1, a, b, 0.0))
