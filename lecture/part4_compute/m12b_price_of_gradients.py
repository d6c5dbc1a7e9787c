"""The price of gradients: twice the way forward, and what changes that."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lecture.facts import GPT3_CONTEXT_TOKENS, GPT3_WIDTH
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part4_compute import m12_figures as figures
from trace.costs import measure


def two_layers_cost_two_products():  # M12.2 E49
    """Two layers cost two products.

    What is the smallest model in which a gradient has to pass through a layer? Two linear layers: x
    has B rows of D features, h1 as many, h2 has K. The loss is the mean of the squares of h2.
    """
    B, D, K = 1024, 256, 64
    x, w1, w2 = torch.ones(B, D), torch.ones(D, D), torch.ones(D, K)
    with measure() as forward:
        h1 = x @ w1
        h2 = h1 @ w2
        loss = h2.square().mean()
    assert forward.matmul_flops == 2 * B * D * D + 2 * B * D * K == 167_772_160
    # The loss is elementwise: a square and an addition for each number of h2. Together it is less
    # than a thousandth.
    assert forward.other_flops == (1 + 1) * B * K
    assert forward.other_flops < forward.matmul_flops / 1000
    # Such a mean is often called MSE, *mean squared error*. It is one, with a target of 0.
    assert loss == torch.nn.functional.mse_loss(h2, torch.zeros(B, K)) == 256**4
    # In sizes of a large model it is the same formula. On the device `meta` shapes are multiplied
    # and numbers are not, so the count of 44e12 FLOPs takes no time.
    B, D, K = 16_384, 32_768, 8192
    with torch.device("meta"), measure() as forward:
        torch.empty(B, D) @ torch.empty(D, D) @ torch.empty(D, K)
    assert forward.matmul_flops == 43_980_465_111_040


@shape_checked
def weight_gradient_by_loops(
    x: Float[Tensor, "B D"], g: Float[Tensor, "B K"]
) -> Float[Tensor, "D K"]:  # @stepover
    """Add up, for each weight, what it multiplied times what became of the product."""
    B, D = x.shape
    K = g.shape[1]
    gradient = torch.zeros(D, K)
    for i in range(B):
        for j in range(D):
            for k in range(K):
                gradient[j, k] += x[i, j] * g[i, k]
    return gradient


def the_gradient_of_a_weight_sums_over_the_batch():  # M12.3 E47
    """The gradient of a weight sums over the batch.

    Let g be the gradient of the loss with respect to $y=xw$. What is the gradient of w? Weight
    $w_{jk}$ multiplies $x_{ij}$ in every row i and goes into $y_{ik}$. By the chain rule its
    gradient is $\\sum_i x_{ij}g_{ik}$.
    """
    B, D, K = 4, 3, 2
    x = torch.arange(12.0).view(B, D)
    w = torch.arange(6.0).view(D, K).requires_grad_()
    y = x @ w
    y.retain_grad()
    y.square().mean().backward()
    # The loss is the mean of 8 squares, so its gradient with respect to y is 2y/8.
    g = y.grad  # @inspect g
    assert torch.equal(g, 2 * y / (4 * 2))
    by_loops = weight_gradient_by_loops(x, g)  # @inspect by_loops
    assert torch.equal(by_loops, w.grad)
    # A sum of products over one index is a matrix product. For $\sum_i$ to be the inner one, x has
    # to be transposed: D×B times B×K.
    with measure() as cost:
        by_product = x.T @ g
    assert torch.equal(by_product, w.grad)
    # It takes the same BDK triples as the way forward.
    assert cost.matmul_flops == 2 * B * D * K == 48
    # A common mistake is to write it as `g * x`, element by element. Rows of K and of D numbers do
    # not meet; where K = D they do, and the result has the shape of x.
    with refused(RuntimeError) as error:
        g * x
    assert error.message
    square = torch.ones(D, D)
    assert (x * (x @ square)).shape == x.shape != square.shape


def the_gradient_of_an_input_goes_back_through_the_weight():  # M12.3 E47
    """The gradient of an input goes back through the weight.

    And the gradient of x? $x_{ij}$ is multiplied with a whole row of w and goes into every
    $y_{ik}$ of its own row: $\\sum_k g_{ik}w_{jk}$. Now k is the inner index: $g w^T$.
    """
    B, D, K = 4, 3, 2
    x = torch.arange(12.0).view(B, D).requires_grad_()
    w = torch.arange(1.0, 7).view(D, K)
    y = x @ w
    y.retain_grad()
    (y - 1).square().mean().backward()
    g = y.grad
    assert torch.equal(g, 2 * (y - 1) / (4 * 2))
    by_index = torch.einsum("b k, d k -> b d", g, w)  # @inspect by_index
    assert torch.equal(by_index, x.grad)
    with measure() as cost:
        by_product = g @ w.T
    assert torch.equal(by_product, x.grad)
    assert cost.matmul_flops == 2 * B * D * K == 48
    # No sum over the batch this time: what a row gets back depends on that row alone.
    assert torch.equal(g[2] @ w.T, x.grad[2])
    # A common mistake is to send the *value* y back through w, in place of its gradient. The shape
    # is right.
    slip = y.detach() @ w.T
    assert slip.shape == x.grad.shape == (4, 3)
    assert not torch.equal(slip, x.grad)
    # For the mean of squares of y itself, the slip would only be too large by $BK/2$, as then
    # $g=2y/(BK)$. The direction is right by accident, and training may even seem to work.
    (accidental,) = torch.autograd.grad((x @ w).square().mean(), x)
    assert torch.allclose(slip, B * K / 2 * accidental)


def the_rule_repeats_layer_by_layer():  # M12.3 E46
    """The rule repeats layer by layer.

    How do two layers go back? The gradient of the input of a layer is what the layer below takes
    for g. Here is the whole way, by hand and metered line by line.
    """
    B, D, K = 4, 3, 2
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(B, D, generator=generator, requires_grad=True)
    w1 = torch.randn(D, D, generator=generator, requires_grad=True)
    w2 = torch.randn(D, K, generator=generator, requires_grad=True)
    h1 = x @ w1
    h2 = h1 @ w2
    h1.retain_grad()
    h2.retain_grad()
    h2.square().mean().backward()
    flops = {}
    with torch.no_grad():
        with measure() as cost:
            h2_gradient = 2 * h2 / (B * K)
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
    # A common mistake is to expect the same work for the first and the last of them. The gradient
    # of h2 comes straight from the loss and multiplies no matrices; that of x is like that of h1.
    assert flops == {"h2": 0, "w2": 48, "h1": 48, "w1": 72, "x": 72}


def a_gradient_has_the_shape_of_its_tensor():  # M12.3 E45
    """A gradient has the shape of its tensor.

    How does one remember which factor is transposed, and which comes first? Not at all: there is
    one number for each number of the tensor, and only one order of factors gives that shape.
    """
    B, D = 1024, 256
    with torch.device("meta"):
        x, h1_gradient = torch.empty(B, D), torch.empty(B, D)
    with measure() as right_cost:
        right = x.T @ h1_gradient
    assert right.shape == (D, D) == (256, 256)
    # A common mistake is to write the factors the other way round, with the gradient first. That is
    # a product, too. It has one number for each pair of rows of the batch, and costs more.
    with measure() as wrong_cost:
        wrong = h1_gradient @ x.T
    assert wrong.shape == (B, B) == (1024, 1024)
    assert wrong_cost.matmul_flops == 4 * right_cost.matmul_flops == 4 * 2 * 1024 * 256**2
    # With as many rows as features the shape gives no warning. Sizes that differ do: a reason to
    # test with B, D and K all different.
    x = torch.tensor([[1.0, 2], [3, 4]])
    w1 = torch.eye(2, requires_grad=True)
    h1 = x @ w1
    h1.retain_grad()
    h1[0, 1].backward()
    assert (x.T @ h1.grad).tolist() == w1.grad.tolist() == [[0, 1], [0, 2]]
    assert (h1.grad @ x.T).tolist() == [[2, 4], [0, 0]]


def a_layer_works_once_forward_and_twice_backward():  # M12.3 M12.7
    """A layer works once forward and twice backward.

    What does one layer do in a step of training? Follow the picture: a row of it is filled in when
    its product has run.
    """
    B, D, K = 6, 4, 3
    x, w, g = torch.ones(B, D), torch.ones(D, K), torch.ones(B, K)
    layer = figures.one_layer(B, D, K, [])  # @inspect layer
    # Forward, x is used with w. It also has to wait, since it will be used again.
    with measure() as forward:
        y = x @ w
    layer = figures.one_layer(B, D, K, [forward.matmul_flops])  # @inspect layer
    # Then nothing happens here, until g comes back from the layers above. It is used twice, once
    # with what came in, and once with the weights.
    with measure() as for_weight:
        weight_gradient = x.T @ g
    done = [forward.matmul_flops, for_weight.matmul_flops]
    layer = figures.one_layer(B, D, K, done)  # @inspect layer
    with measure() as for_input:
        input_gradient = g @ w.T
    done = [*done, for_input.matmul_flops]
    layer = figures.one_layer(B, D, K, done)  # @inspect layer
    # Three products of the same three sizes: in each, one of B, D and K is the inner one.
    assert (y[0, 0], weight_gradient[0, 0], input_gradient[0, 0]) == (D, B, K)
    # So they cost the same. The two on the way back do not wait for each other. Only the gradient
    # of the input is urgent, since the layer below waits for it; schedules that spread the layers
    # over several machines use that the [other one can be put
    # off](https://arxiv.org/abs/2401.10241).
    assert done == [2 * B * D * K] * 3 == [144, 144, 144]


@shape_checked
def edge_flops(y: Float[Tensor, "..."], x: Float[Tensor, "..."]) -> int:  # @stepover
    """Measure what it takes to get from the gradient of y to the gradient of x alone."""
    with measure() as cost:
        torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    return cost.matmul_flops


def backward_costs_twice_forward():  # M12.4 E48 E50
    """Backward costs twice forward.

    Two products on the way back for one on the way forward: $4BDK$ against $2BDK$ in a layer. Is
    this what autograd does?
    """
    B, D, K = 1024, 256, 64
    w1 = torch.ones(D, D, requires_grad=True)
    w2 = torch.ones(D, K, requires_grad=True)
    backward_flops = {}
    for x_has_gradient in (True, False):
        x = torch.ones(B, D, requires_grad=x_has_gradient)
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
    # The sum of $4BDK$ over the layers, $4BDD+4BDK$: a common slip is to take the formula of one
    # layer for the model.
    assert backward_flops[True] == 4 * B * D * D + 4 * B * D * K == 335_544_320
    assert backward_flops[True] / sum(forward.values()) == 2
    assert sum(edges.values()) == backward_flops[True]
    graph = figures.flops_per_edge((B, D, K), forward, edges)  # @inspect graph
    # In a language model the first layer follows an *embedding*, a table of features that is
    # trained: x needs a gradient, and the ratio is 2. If x is plain data, nobody needs its
    # gradient, and the first layer computes one product less. A common mistake is to say so and to
    # count it all the same. Here it is two fifths of the way back.
    assert edges["x"] / backward_flops[True] == 0.4
    assert backward_flops[False] == backward_flops[True] - edges["x"] == 201_326_592
    assert backward_flops[False] / sum(forward.values()) == 1.2


def two_plus_four_is_six():  # M12.5 E51
    """Two plus four is six.

    Where does the rule of 6 come from? A weight matrix of a linear layer has $DK$ parameters, and
    the layer takes $2BDK$ FLOPs forward and $4BDK$ backward.
    """
    B, D, K = 5, 8, 2
    parameters = D * D + D * K
    flops = {}
    for x_has_gradient in (True, False):
        x = torch.ones(B, D, requires_grad=x_has_gradient)
        w1, w2 = (torch.ones(D, size, requires_grad=True) for size in (D, K))
        with measure() as forward:
            loss = (x @ w1 @ w2).square().mean()
        with measure() as backward:
            loss.backward()
        flops[x_has_gradient] = forward.matmul_flops + backward.matmul_flops
    # So the sizes of the layers cancel. It is 2 for each parameter and row, plus 4; for a language
    # model, a row is a token.
    assert forward.matmul_flops / (B * parameters) == 2
    assert flops[True] / (B * parameters) == 6
    # A common mistake is to leave out the rows ("forward costs twice the parameters"). This holds
    # for one row, and each other one costs as much again.
    assert forward.matmul_flops / parameters == 2 * 5
    # The gradient that nobody needs lowers the 6, in this model to 4.4, and less with every layer
    # that follows: of L equal layers one product in 3L is saved.
    assert flops[False] / (B * parameters) == 4.4
    per_parameter = {}
    for L in (1, 2, 4, 8, 16):
        weights = [torch.eye(D, requires_grad=True) for _ in range(L)]
        with measure() as step:
            h = torch.ones(B, D)
            for w in weights:
                h = h @ w
            h.square().mean().backward()
        per_parameter[L] = step.matmul_flops / (B * L * D * D)  # @inspect per_parameter
    assert per_parameter == {1: 4, 2: 5, 4: 5.5, 8: 5.75, 16: 5.875}


def frozen_weights_still_pass_gradients_on():  # M12.5
    """Frozen weights still pass gradients on.

    What is saved when only some layers are trained and the others are *frozen*? Each of the three
    products of a layer has its own reason to be there.
    """
    B, D = 4, 8
    per_parameter = {}
    for trained in ((0, 1, 2), (2,), (0,), ()):
        weights = [torch.eye(D, requires_grad=layer in trained) for layer in range(3)]
        with measure() as step:
            h = torch.ones(B, D)
            for w in weights:
                h = h @ w
            loss = h.square().mean()
            if trained:
                loss.backward()
        per_parameter[trained] = step.matmul_flops / (B * D * D)  # @inspect per_parameter
    # Forward is always there: 2 for each of the three matrices. Training everything adds three
    # weight gradients and two input gradients.
    assert per_parameter[()] == 2 + 2 + 2
    assert step.matmul_flops == 3 * 2 * 4 * 8 * 8
    assert per_parameter[(0, 1, 2)] == 6 + 3 * 2 + 2 * 2 == 16
    # To train the last layer adds one weight gradient. The way back ends there.
    assert per_parameter[(2,)] == 6 + 2
    # To train only the first adds as much for its weight, and 2 for each frozen matrix that the
    # gradient has to pass. So a frozen matrix above a trained one costs 4 of 6.
    # ([Memory](#what_is_frozen_needs_no_activations) has a rule of its own.)
    assert per_parameter[(0,)] == 6 + 2 + 2 * 2 == 4 + 4 + 4


def small_updates_save_memory_and_a_third_of_the_work():  # M12.5
    """Small updates save memory, and a third of the work.

    What does it cost to adapt a large model with few new parameters?
    [LoRA](https://arxiv.org/abs/2106.09685) freezes each matrix and adds the product of two narrow
    ones, which are trained.
    """
    B, D, r = 4, 64, 2
    frozen = torch.eye(D)
    down = torch.full((D, r), 0.25, requires_grad=True)
    up = torch.zeros(r, D, requires_grad=True)
    # With zeros in one of the two nothing is added at the start, and yet the zeros get a gradient.
    x = torch.ones(B, D, requires_grad=True)
    with measure() as step:
        y = x @ frozen + (x @ down) @ up
        y.sum().backward()
    assert torch.equal(y, x)
    assert up.grad.unique() == B * D * 0.25
    # Gradients and what an optimizer remembers are needed for a 16th of the parameters here, and
    # for far fewer in a wide layer: $2Dr$ beside $D^2$.
    assert down.numel() + up.numel() == 2 * D * r == frozen.numel() / 16
    # Of the work, 4 FLOPs for each frozen parameter and token stay, beside 6 for each trained one.
    assert step.matmul_flops == B * (4 * frozen.numel() + 6 * (down.numel() + up.numel()))
    # So of a full step a third is saved at most, here 0.27.
    saved_share = 1 - step.matmul_flops / (6 * B * frozen.numel())  # @inspect saved_share
    assert round(saved_share, 2) == 0.27


def shared_weights_are_paid_for_at_every_use():  # M12.6
    """Shared weights are paid for at every use.

    When does the rule of 6 fail? When the number of parameters is not the number of
    multiplications for a token. First case: a layer that is used k times, as in [models that share
    weights](https://arxiv.org/abs/1909.11942) between layers.
    """
    B, D = 4, 8
    w = torch.eye(D).requires_grad_()
    per_parameter = {}
    for x_has_gradient in (True, False):
        for k in (1, 2, 5):
            w.grad = None
            h = torch.ones(B, D, requires_grad=x_has_gradient)
            with measure() as step:
                for _ in range(k):
                    h = h @ w
                h.sum().backward()
            per_parameter[x_has_gradient, k] = step.matmul_flops / (B * w.numel())
    # FLOPs without parameters: 6 for each use. The number of parameters stays 64.
    assert [per_parameter[True, k] for k in (1, 2, 5)] == [6, 12, 30]
    assert w.numel() == 64
    # Without a gradient for x it is 2 less, once.
    assert [per_parameter[False, k] for k in (1, 2, 5)] == [4, 10, 28]
    # Memory for parameters, gradients and optimizer is saved, FLOPs are not. For the rule, count a
    # matrix as often as it is used. There is one gradient, the sum over the uses: for every weight,
    # B rows times 5 uses.
    assert torch.equal(w.grad, torch.full((D, D), 4.0 * 5))


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
    """Looked-up parameters cost no products.

    Second case: parameters without FLOPs. A language model begins with an *embedding*, a table
    with a row of D features for each of the V entries of the vocabulary.
    """
    V, T, D = 20, 6, 4
    tokens = torch.tensor([3, 1, 4, 1, 5, 9])
    table = torch.randn(V, D, generator=torch.Generator().manual_seed(0)).requires_grad_()
    with measure() as look_up:
        features = table[tokens]
        features.sum().backward()
    assert look_up.matmul_flops == 0
    # It gives what a matrix product with ones and zeros would give, for 960 FLOPs.
    one_hot = torch.nn.functional.one_hot(tokens, V).float()
    with measure() as product:
        assert torch.equal(one_hot @ table, features)
    assert product.matmul_flops == 2 * T * V * D == 960
    # The gradient is as large as the table. Token 1 was used twice, most never.
    assert table.grad.shape == table.shape == (20, 4)
    assert table.grad[:, 0].tolist() == [0, 2, 0, 1, 1, 1, 0, 0, 0, 1] + [0] * 10
    # At the other end of the model a table of the same size, the *head*, scores each entry of the
    # vocabulary. That is a product. So the rule counts the head and not the embedding.
    w = torch.eye(D).requires_grad_()
    head = torch.ones(V, D, requires_grad=True)
    flops = []
    for head_table in (head, table):
        with measure() as step:
            scores = scores_of_next_tokens(tokens, table, w, head_table)
            scores.square().mean().backward()
        flops.append(step.matmul_flops)
    assert flops[0] == 6 * T * (w.numel() + head.numel()) == 3456
    assert round(flops[0] / (T * (table.numel() + w.numel() + head.numel())), 2) == 3.27
    # Models that are *tied* use one table for both. They have parameters for one, FLOPs for one,
    # and the rule holds to the digit.
    assert flops[1] / (T * (table.numel() + w.numel())) == 6


def long_contexts_add_work_without_parameters():  # M12.6
    """Long contexts add work without parameters.

    Third case: attention. Besides four products with weights (D×D each), every token is multiplied
    with every other, twice: for the scores, and with the weights they become. Each of the two
    products takes $2T^2D$ FLOPs.
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
    # parameters, it makes $6+3T/D$.
    assert per_parameter == {4: 6.75, 8: 7.5, 16: 9, 32: 12, 64: 18, 128: 30}
    assert all(found == 6 + 3 * T / D for T, found in per_parameter.items())
    assert (per_parameter[128] - 6) * parameters == 12 * 128 * D
    by_context = figures.flops_by_context(per_parameter, D)  # @inspect by_context
    # With L layers it adds up to $6N+12LDT$ for each token, the formula in [appendix B of the PaLM
    # paper](https://arxiv.org/abs/2204.02311). A whole layer of a Transformer such as GPT-3 has
    # about $12D^2$ parameters, for which attention adds $T/D$ to the 6. In GPT-3 that is 2.8 %, [as
    # on the way forward](#attention_grows_with_the_context).
    gpt3_excess_percent = 100 * GPT3_CONTEXT_TOKENS / GPT3_WIDTH / 6  # @inspect gpt3_excess_percent
    assert round(gpt3_excess_percent, 2) == 2.78
    # At 128 Ki tokens the same model would spend 10.7 on pairs of tokens for each 6 on parameters.
    assert round(2**17 / GPT3_WIDTH, 1) == 10.7
    # A token that may not look ahead has use for half of the pairs. The formula [counts them
    # all](#half_of_the_scores_are_masked).
    useful_share = torch.ones(128, 128).tril().mean()  # @inspect useful_share
    assert useful_share == 0.5 + 1 / 256
    # This chapter in short: for each product on the way forward there are two on the way back, and
    # what they multiply has to be kept until then. So training takes 6 FLOPs for each parameter and
    # token, where each parameter multiplies once and nothing multiplies without parameters.
