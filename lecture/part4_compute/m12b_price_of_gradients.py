"""The price of gradients: twice the forward pass, and what changes that."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lecture.facts import GPT3_CONTEXT_TOKENS, GPT3_WIDTH
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part4_compute import m12_figures as figures
from trace.costs import measure


def two_layers_cost_two_products():  # M12.2 E49
    """Two layers cost two matmuls.

    What is the smallest model in which a gradient has to pass through a layer? Two linear layers: x
    has R rows of D features, h1 as many, and h2 has F features. The loss is the mean of the squares
    of h2.
    """
    R, D, F = 1024, 256, 64
    x, w1, w2 = torch.ones(R, D), torch.ones(D, D), torch.ones(D, F)
    with measure() as forward:
        h1 = x @ w1
        h2 = h1 @ w2
        loss = h2.square().mean()
    # Forward it costs $2RD^2+2RDF$ FLOPs of matmuls.
    assert forward.matmul_flops == 2 * R * D * D + 2 * R * D * F
    # The loss is elementwise: a square and an addition for each number of h2. That is less than a
    # thousandth.
    assert 1000 * forward.other_flops < forward.matmul_flops  # @inspect forward.other_flops
    # (Such a loss is often called MSE, *mean squared error*. It is one, with a target of 0.)
    assert loss == torch.nn.functional.mse_loss(h2, torch.zeros(R, F))
    # At the sizes of a large model it would cost 44e12 FLOPs.
    R, D, F = 16_384, 32_768, 8192
    with torch.device("meta"), measure() as forward:
        torch.empty(R, D) @ torch.empty(D, D) @ torch.empty(D, F)
    assert round(forward.matmul_flops / 1e12) == 44
    # The next sections ask what the backward pass adds. Guess: as much again, twice, or more?


@shape_checked
def weight_gradient_by_loops(
    x: Float[Tensor, "R D"], g: Float[Tensor, "R F"]
) -> Float[Tensor, "D F"]:  # @stepover
    """Add up, for each weight, what it multiplied times what became of the product."""
    R, D = x.shape
    F = g.shape[1]
    gradient = torch.zeros(D, F)
    for i in range(R):
        for j in range(D):
            for k in range(F):
                gradient[j, k] += x[i, j] * g[i, k]
    return gradient


def the_gradient_of_a_weight_sums_over_the_batch():  # M12.3 E47
    """The gradient of a weight sums over the rows.

    Let g be the gradient of the loss with respect to $y=xw$. What is the gradient of w? Weight
    $w_{jk}$ multiplies $x_{ij}$ in every row i and goes into $y_{ik}$. By the chain rule its
    gradient is $\\sum_i x_{ij}g_{ik}$.
    """
    R, D, F = 4, 3, 2
    x = torch.arange(12.0).view(R, D)
    w = torch.arange(6.0).view(D, F).requires_grad_()
    y = x @ w
    y.retain_grad()
    y.square().mean().backward()
    # The loss is the mean of R·F squares, so its gradient with respect to y is 2y/RF.
    g = y.grad  # @inspect g
    assert torch.equal(g, 2 * y / (R * F))
    by_loops = weight_gradient_by_loops(x, g)  # @inspect by_loops
    assert torch.equal(by_loops, w.grad)
    # A sum of products over one index is a matmul. For $\sum_i$ to be the inner one, x has to be
    # transposed: $x^Tg$, D×R by R×F. That is $2RDF$ FLOPs, as many as the forward pass.
    with measure() as forward:
        x @ w.detach()
    with measure() as backward:
        by_matmul = x.T @ g
    assert torch.equal(by_matmul, w.grad)
    assert backward.matmul_flops == forward.matmul_flops
    # A common mistake is to write it as `g * x`, element by element. Rows of F and of D numbers do
    # not meet, so PyTorch refuses. Where F is D or 1 they do meet, and the result has the shape of
    # x. (Where D is 1, that of g.)
    with refused(RuntimeError) as error:
        g * x
    assert "must match" in error.message
    square = torch.ones(D, D)
    assert (x * (x @ square)).shape == (x * g[:, :1]).shape == x.shape != square.shape


def the_gradient_of_an_input_goes_back_through_the_weight():  # M12.3 E47
    """The gradient of an input goes back through the weight.

    And the gradient of x? $x_{ij}$ is multiplied with a whole row of w and goes into every $y_{ik}$
    of its own row: $\\sum_k g_{ik}w_{jk}$. Now k is the inner index: $g w^T$.
    """
    R, D, F = 4, 3, 2
    x = torch.arange(12.0).view(R, D).requires_grad_()
    w = torch.arange(1.0, 7).view(D, F)
    y = x @ w
    y.retain_grad()
    (y - 1).square().mean().backward()
    g = y.grad
    by_index = torch.einsum("r f, d f -> r d", g, w)  # @inspect by_index
    assert torch.equal(by_index, x.grad)
    with measure() as cost:
        by_matmul = g @ w.T
    assert torch.equal(by_matmul, x.grad)
    # It costs $2RDF$ once more.
    assert cost.matmul_flops == 2 * R * D * F
    # No sum over the rows this time: what a row gets back depends on that row alone.
    assert torch.equal(g[2] @ w.T, x.grad[2])
    # If you send the *value* y back through w, in place of its gradient, the shape is right, and
    # the numbers are not.
    slip = y.detach() @ w.T
    assert slip.shape == x.grad.shape
    assert not torch.equal(slip, x.grad)
    # With the mean of squares of y itself as loss, the slip is only too large, by RF/2, as then $g
    # = 2y/(RF)$. Training may even seem to work. So: test gradients with a loss that is not so
    # kind.
    (accidental,) = torch.autograd.grad((x @ w).square().mean(), x)
    assert torch.allclose(slip, R * F / 2 * accidental)


def the_rule_repeats_layer_by_layer():  # M12.3 E46
    """The rule repeats layer by layer.

    How does a gradient pass two layers? What a layer returns as the gradient of its input, the
    layer below takes for its g. Here is the whole backward pass by hand, metered line by line.
    """
    R, D, F = 4, 3, 2
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator, requires_grad=True)
    w1 = torch.randn(D, D, generator=generator, requires_grad=True)
    w2 = torch.randn(D, F, generator=generator, requires_grad=True)
    h1 = x @ w1
    h2 = h1 @ w2
    h1.retain_grad()
    h2.retain_grad()
    h2.square().mean().backward()
    flops = {}
    with torch.no_grad():
        with measure() as cost:
            h2_gradient = 2 * h2 / (R * F)
        flops["h2"] = cost.matmul_flops
        with measure() as cost:
            w2_gradient = h1.T @ h2_gradient
        flops["w2"] = cost.matmul_flops
        with measure() as cost:
            h1_gradient = h2_gradient @ w2.T
        flops["h1"] = cost.matmul_flops
        with measure() as cost:
            w1_gradient = x.T @ h1_gradient
        flops["w1"] = cost.matmul_flops
        with measure() as cost:
            x_gradient = h1_gradient @ w1.T
        flops["x"] = cost.matmul_flops  # @inspect flops
    by_hand = (h2_gradient, w2_gradient, h1_gradient, w1_gradient, x_gradient)
    for tensor, gradient in zip((h2, w2, h1, w1, x), by_hand, strict=True):
        assert torch.allclose(tensor.grad, gradient, atol=1e-6)
    # Two matmuls for each layer. The gradient of h2 comes straight from the loss and needs none.
    second, first = 2 * R * D * F, 2 * R * D * D
    assert flops == {"h2": 0, "w2": second, "h1": second, "w1": first, "x": first}


def a_gradient_has_the_shape_of_its_tensor():  # M12.3 E45
    """A gradient has the shape of its tensor.

    How do you remember which factor is transposed, and which comes first? You need not. A gradient
    has one number for each number of its tensor. If R, D and F differ, only one way to multiply
    gives that shape.
    """
    R, D, F = 1024, 256, 128
    with torch.device("meta"):
        x, g, w = torch.empty(R, D), torch.empty(R, F), torch.empty(D, F)
    assert (x.T @ g).shape == w.shape != (g.T @ x).shape
    # A common mistake is to write the gradient first and transpose the input. That does not fit:
    with refused(RuntimeError) as error:
        g @ x.T
    assert "[1024, 128] X [256, 1024]" in error.message
    # For a square layer, with F = D, it does. It is a wrong matmul, with a number for each pair
    # of rows, and costs four times as much here.
    square_g = torch.empty(R, D, device="meta")
    with measure() as right_cost:
        assert (x.T @ square_g).shape == (D, D)
    with measure() as wrong_cost:
        assert (square_g @ x.T).shape == (R, R)
    assert wrong_cost.matmul_flops / right_cost.matmul_flops == R / D
    # And two products have the shape, $x^Tg$ and its transpose $g^Tx$. With as many rows as
    # features all three have it, and nothing warns you. Here both are 2:
    x = torch.tensor([[1.0, 2], [3, 4]])
    w1 = torch.eye(2, requires_grad=True)
    h1 = x @ w1
    h1.retain_grad()
    h1[0, 1].backward()
    assert torch.equal(x.T @ h1.grad, w1.grad)  # @inspect w1.grad
    assert torch.equal(h1.grad.T @ x, w1.grad.T)
    for wrong in (h1.grad.T @ x, h1.grad @ x.T):
        assert wrong.shape == w1.grad.shape
        assert not torch.equal(wrong, w1.grad)
    # So: test with R, D and F all different.


def a_layer_works_once_forward_and_twice_backward():  # M12.3 M12.7
    """A layer works once forward and twice backward.

    What does one layer do in a step of training? Follow the picture: a row of it is filled in when
    its matmul has run.
    """
    R, D, F = 6, 4, 3
    x, w, g = torch.ones(R, D), torch.ones(D, F), torch.ones(R, F)
    layer = figures.one_layer(R, D, F, [])  # @inspect layer
    # Forward, x meets w. Then x has to wait, since it will be used again.
    with measure() as forward:
        y = x @ w
    layer = figures.one_layer(R, D, F, [forward.matmul_flops])  # @inspect layer
    # Now nothing happens here, until g comes back from the layers above. It is used twice: with
    # what came in, for the weights,
    with measure() as for_weight:
        weight_gradient = x.T @ g
    done = [forward.matmul_flops, for_weight.matmul_flops]
    layer = figures.one_layer(R, D, F, done)  # @inspect layer
    # and with the weights, for the layer below.
    with measure() as for_input:
        input_gradient = g @ w.T
    done = [*done, for_input.matmul_flops]
    layer = figures.one_layer(R, D, F, done)  # @inspect layer
    # Three matmuls of the same three sizes: in each, one of R, D and F is the inner one. (With
    # matrices of ones, each result is its inner size.) So they cost the same.
    assert (y[0, 0], weight_gradient[0, 0], input_gradient[0, 0]) == (D, R, F)
    assert done == [2 * R * D * F] * 3
    # The two of the backward pass do not wait for each other. Only the gradient of the input is
    # urgent, since the layer below waits for it. Schedules for several devices use that the [other
    # can be put off](https://arxiv.org/abs/2401.10241).


@shape_checked
def edge_flops(y: Float[Tensor, "..."], x: Float[Tensor, "..."]) -> int:  # @stepover
    """Measure what it takes to get from the gradient of y to the gradient of x alone."""
    with measure() as cost:
        torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    return cost.matmul_flops


def backward_costs_twice_forward():  # M12.4 E48 E50 @core
    """Backward costs twice forward.

    By hand, a layer takes $2RDF$ forward and $4RDF$ backward. Is this what autograd does?
    """
    # @note Point at one layer of the picture and count what leads back from it: one product towards
    # the weights, one towards the input. Before the last claims, ask which of the four can go if x
    # is plain data.
    R, D, F = 1024, 256, 64
    w1 = torch.ones(D, D, requires_grad=True)
    w2 = torch.ones(D, F, requires_grad=True)
    backward_flops = {}
    for x_has_gradient in (True, False):
        x = torch.ones(R, D, requires_grad=x_has_gradient)
        with measure() as first:
            h1 = x @ w1
        with measure() as second:
            h2 = h1 @ w2
        with measure() as backward:
            h2.square().mean().backward(retain_graph=x_has_gradient)
        backward_flops[x_has_gradient] = backward.matmul_flops
        if x_has_gradient:
            edges = {"x": edge_flops(h1, x), "w1": edge_flops(h1, w1)}
            edges |= {"h1": edge_flops(h2, h1), "w2": edge_flops(h2, w2)}
    forward = {"h1": first.matmul_flops, "h2": second.matmul_flops}
    graph = figures.flops_per_edge((R, D, F), forward, edges)  # @inspect graph
    # It is: $4RD^2+4RDF$, twice the forward pass, in four matmuls.
    assert backward_flops[True] == 4 * R * D * D + 4 * R * D * F == 2 * sum(forward.values())
    assert sum(edges.values()) == backward_flops[True]
    # In a language model the first layer follows an *embedding*, a table of features that is
    # trained. So x needs a gradient, and the ratio is 2. If x is plain data, nobody needs its
    # gradient, and the first layer saves one matmul. In so small a model that is two fifths of the
    # backward pass.
    assert backward_flops[True] - backward_flops[False] == edges["x"]
    assert edges["x"] / backward_flops[True] == 0.4
    assert backward_flops[False] / sum(forward.values()) == 1.2
    # So: backward is twice forward, less one matmul if the input is data.


def two_plus_four_is_six():  # M12.5 E51 @core
    """Two plus four is six.

    Where does the rule of 6 come from? A linear layer has $DF$ parameters. Each row costs $2DF$
    forward and $4DF$ backward.
    """
    # @note Have it said aloud: two forward, two for the weights, two for the input. When somebody
    # says "twice the parameters", ask: for how many rows? The loop over depths at the end can be
    # left for reading.
    R, D, F = 5, 8, 2
    parameters = D * D + D * F
    flops = {}
    for x_has_gradient in (True, False):
        x = torch.ones(R, D, requires_grad=x_has_gradient)
        w1, w2 = (torch.ones(D, size, requires_grad=True) for size in (D, F))
        with measure() as forward:
            loss = (x @ w1 @ w2).square().mean()
        with measure() as backward:
            loss.backward()
        flops[x_has_gradient] = forward.matmul_flops + backward.matmul_flops
    # The sizes of the layers cancel: 6 FLOPs for each parameter and row. In a language model a row
    # is a token, so training N parameters of linear layers costs $6N$ per token.
    assert flops[True] / (R * parameters) == 6
    # A common mistake is to leave out the rows ("forward costs twice the parameters"). Each row
    # costs that.
    assert forward.matmul_flops / parameters == 2 * R
    # Where x needs no gradient it is less than 6: 4.4 in this model. And with more layers? Of the
    # 3L matmuls of L equal layers, one is saved: $6-2/L$.
    assert flops[False] / (R * parameters) == 4.4
    per_parameter = {}
    for L in (1, 2, 4, 8, 16):
        weights = [torch.eye(D, requires_grad=True) for _ in range(L)]
        with measure() as step:
            h = torch.ones(R, D)
            for w in weights:
                h = h @ w
            h.square().mean().backward()
        per_parameter[L] = step.matmul_flops / (R * L * D * D)  # @inspect per_parameter
        assert per_parameter[L] == 6 - 2 / L
    # So: $6NBT$ FLOPs for a training step of B sequences of T tokens.


def frozen_weights_still_pass_gradients_on():  # M12.5
    """Frozen weights still pass gradients on.

    *Fine-tuning* adapts a trained model to a new task, often by training only some layers. The
    others are *frozen*. What does that save? Guess: if of three layers only the first is trained,
    is it a third of the work?
    """
    R, D = 4, 8
    per_parameter = {}
    for trained in ((0, 1, 2), (2,), (0,), ()):
        weights = [torch.eye(D, requires_grad=layer in trained) for layer in range(3)]
        with measure() as step:
            h = torch.ones(R, D)
            for w in weights:
                h = h @ w
            loss = h.square().mean()
            if trained:
                loss.backward()
        per_parameter[trained] = step.matmul_flops / (R * D * D)  # @inspect per_parameter
    # The forward pass is always there: 2 for each of three layers. Training all of them adds three
    # weight gradients and two input gradients of 2 each.
    assert per_parameter[()] == 3 * 2  # @predict
    assert per_parameter[(0, 1, 2)] == 6 + 3 * 2 + 2 * 2
    # To train the last layer adds one weight gradient. The backward pass ends there.
    assert per_parameter[(2,)] == 6 + 2  # @predict
    # To train only the first adds as much for its weight, and 2 for each frozen layer that the
    # gradient has to pass: 12 of 16.
    assert per_parameter[(0,)] == 6 + 2 + 2 * 2  # @predict
    # So: a frozen layer above a trained one still costs 4 of its 6 FLOPs, the forward pass and the
    # gradient that passes through it. Freeze from below.
    # ([Memory](#what_is_frozen_needs_no_activations) has a rule of its own.)


def small_updates_save_memory_and_a_third_of_the_work():  # M12.5
    """Small updates save memory, and about a third of the FLOPs.

    Can you fine-tune a large model with few new parameters? [LoRA](https://arxiv.org/abs/2106.09685)
    freezes the matrices and adds to each, or to some, the product of two narrow ones, D×r and r×D,
    which it trains. What does that save?
    """
    R, D, r = 4, 64, 2
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator, requires_grad=True)
    costs = {}
    for way in ("all", "LoRA"):
        w = torch.eye(D, requires_grad=way == "all")
        down = torch.full((D, r), 0.25, requires_grad=way == "LoRA")
        up = torch.zeros(r, D, requires_grad=way == "LoRA")
        x.grad = None
        with measure() as step:
            y = x @ w + (x @ down) @ up if way == "LoRA" else x @ w
            y.sum().backward()
        costs[way] = step
    # With zeros in `up` nothing is added at the start, and yet the zeros get a gradient.
    assert torch.equal(y, x)
    assert up.grad.count_nonzero() == up.numel()
    # Memory: gradients, and what an optimizer remembers for each, are needed for $2Dr$ parameters
    # instead of $D^2$. We measure the gradients that are alive after the step, without that of x.
    gradient_bytes = {
        way: step.live_bytes["gradients"] - x.nbytes for way, step in costs.items()
    }  # @inspect gradient_bytes
    assert gradient_bytes["LoRA"] / gradient_bytes["all"] == 2 * D * r / D**2 == 1 / 16
    # FLOPs: 4 for each frozen parameter and row stay, beside 6 for each trained one. So at most a
    # third is saved where gradients pass, here 0.27. (Below the first layer with LoRA none has to.)
    per_row = costs["LoRA"].matmul_flops / R
    assert per_row == 4 * D**2 + 6 * 2 * D * r
    saved_share = 1 - costs["LoRA"].matmul_flops / costs["all"].matmul_flops
    assert round(saved_share, 2) == 0.27  # @inspect saved_share
    # So: take LoRA for the memory. A third of the FLOPs need not be a third of the time: the narrow
    # matmuls [do little with each number](#a_matrix_product_uses_each_number_often).


def shared_weights_are_paid_for_at_every_use():  # M12.6
    """Shared weights are paid for at every use.

    When does the rule of 6 fail? When parameters and multiplications do not go together. First
    case: a layer that is used k times, as in [models that share
    weights](https://arxiv.org/abs/1909.11942) between layers. Does sharing save FLOPs?
    """
    R, D = 4, 8
    w = torch.eye(D).requires_grad_()
    per_parameter = {}
    for k in (1, 2, 5):
        w.grad = None
        h = torch.ones(R, D, requires_grad=True)
        with measure() as step:
            for _ in range(k):
                h = h @ w
            h.sum().backward()
        per_parameter[k] = step.matmul_flops / (R * w.numel())  # @inspect per_parameter
        # It does not: 6 for each use, and $6k$ for each parameter.
        assert per_parameter[k] == 6 * k
        # What it saves is the memory of parameters, gradients and optimizer. There is one gradient,
        # the sum over the uses.
        assert torch.equal(w.grad, torch.full((D, D), 1.0 * R * k))
    # So: for the rule of 6, count a matrix as often as it is used.


@shape_checked
def scores_of_next_tokens(
    tokens: Int[Tensor, " T"],
    table: Float[Tensor, "V D"],
    w: Float[Tensor, "D D"],
    head: Float[Tensor, "V D"],
) -> Float[Tensor, "T V"]:
    """Look up features, send them through one layer, and score every entry of the vocabulary."""
    return table[tokens] @ w @ head.T


def looked_up_parameters_cost_no_products():  # M12.6
    """Looked-up parameters cost no matmuls.

    Second case: parameters without FLOPs. A language model begins with an *embedding*, a table with
    a row of D features for each of the V entries of the vocabulary. What does a look-up cost?
    """
    V, T, D = 20, 6, 4
    tokens = torch.tensor([3, 1, 4, 1, 5, 9])
    table = torch.randn(V, D, generator=torch.Generator().manual_seed(0)).requires_grad_()
    with measure() as look_up:
        features = table[tokens]
        features.sum().backward()
    assert look_up.matmul_flops == 0
    # No matmul. It gives what a matmul with ones and zeros would give for $2TVD$ FLOPs.
    one_hot = torch.nn.functional.one_hot(tokens, V).float()
    with measure() as product:
        assert torch.equal(one_hot @ table, features)
    assert product.matmul_flops == 2 * T * V * D
    # Its gradient is as large as the table. Token 1 was used twice, most tokens never.
    assert table.grad.shape == table.shape
    assert torch.equal(table.grad[:, 0], tokens.bincount(minlength=V).float())
    # At the other end of the model another table of that size, the *head*, scores each entry of the
    # vocabulary. That is a matmul. So the rule of 6 counts the head and not the embedding.
    w = torch.eye(D).requires_grad_()
    head = torch.ones(V, D, requires_grad=True)
    flops = []
    for head_table in (head, table):
        with measure() as step:
            scores = scores_of_next_tokens(tokens, table, w, head_table)
            scores.square().mean().backward()
        flops.append(step.matmul_flops)
    assert flops[0] == 6 * T * (w.numel() + head.numel())
    # Models that are *tied* use one table for both. They have parameters for one and FLOPs for one,
    # and the rule holds to the digit.
    assert flops[1] == 6 * T * (table.numel() + w.numel())
    # So: leave the embedding out of N, unless it is the head as well.


def long_contexts_add_work_without_parameters():  # M12.6
    """Long contexts add work without parameters.

    Third case: attention. Here it has four matmuls with weights, of D×D each. And it compares every
    token with every other and mixes all of them, two matmuls of $2T^2D$ FLOPs without any weights.
    """
    D = 16
    w_q, w_k, w_v, w_o = weights = [torch.eye(D).requires_grad_() for _ in range(4)]
    parameters = sum(w.numel() for w in weights)
    per_parameter = {}
    for T in (4, 8, 16, 32, 64, 128):
        x = torch.ones(T, D, requires_grad=True)
        with measure() as step:
            scores = (x @ w_q) @ (x @ w_k).T
            y = scores.softmax(dim=1) @ (x @ w_v) @ w_o
            y.square().mean().backward()
        per_parameter[T] = step.matmul_flops / (T * parameters)
    # Forward and backward that is $12TD$ more for each token. Beside the 6 for each of $4D^2$
    # parameters it makes $6+3T/D$.
    by_context = figures.flops_by_context(per_parameter, D)  # @inspect by_context
    assert all(found == 6 + 3 * T / D for T, found in per_parameter.items())
    # With L layers it adds up to $6N+12LDT$ for each token, the formula in [appendix B of the PaLM
    # paper](https://arxiv.org/abs/2204.02311) where the heads together are D wide. A whole layer of
    # a Transformer has about $12D^2$ parameters, for which attention adds $T/D$ to the 6. In a
    # dense model of GPT-3's shape that is 2.8 %, [as in the forward
    # pass](#attention_grows_with_the_context). At 131 072 tokens the same model would spend 10.7 on
    # pairs of tokens for each 6 on parameters.
    assert round(100 * GPT3_CONTEXT_TOKENS / GPT3_WIDTH / 6, 1) == 2.8
    assert round(2**17 / GPT3_WIDTH, 1) == 10.7
    # (Where no token looks ahead, almost half of the pairs have no use. The formula [counts them
    # all](#half_of_the_scores_are_masked).)
    #
    # What we can do now: price a training step before it runs. $6N$ for each token, 4 of them for
    # the backward pass; $12LDT$ for attention; k times for a matrix that is used k times; 4 for a
    # frozen layer that passes gradients on; no matmul for a look-up. What we do not know yet is
    # from which numbers to start training.


def exercise_every_other_layer():  # M12.5 @exercise
    """Exercise: every other layer.

    Of four equal layers you train the first and the third, and the input is plain data. How many
    FLOPs per parameter of one layer and row does a step take? All four trained would be 22.
    """
    R, D = 4, 8
    weights = [torch.eye(D, requires_grad=layer in (0, 2)) for layer in range(4)]
    with measure() as step:
        h = torch.ones(R, D)
        for w in weights:
            h = h @ w
        h.sum().backward()
    # 18: four forward, two weight gradients, and three gradients on the way down from the fourth
    # layer to the first. Half of the layers frozen saves less than a fifth.
    assert step.matmul_flops / (R * D * D) == 2 * (4 + 2 + 3)


def exercise_two_of_eight_experts():  # M12.6 @exercise
    """Exercise: two of eight experts.

    A layer has eight matrices, its *experts*, and each row goes through two of them. How many FLOPs
    does training take per parameter and row?
    """
    R, D = 16, 4
    experts = [torch.eye(D).requires_grad_() for _ in range(8)]
    x = torch.ones(R, D, requires_grad=True)
    rows = torch.arange(R)
    with measure() as step:
        results = [
            x[(rows % 8 == e) | (rows % 8 == (e + 1) % 8)] @ w for e, w in enumerate(experts)
        ]
        torch.cat(results).sum().backward()
    # Each matrix sees a quarter of the rows: 6/4 = 1.5. So the rule of 6 needs the parameters that
    # are *active* for a token.
    parameters = sum(w.numel() for w in experts)
    assert step.matmul_flops / (R * parameters) == 6 * 2 / 8
