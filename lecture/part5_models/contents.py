"""Models: from parameters at the start to the cost of a Transformer."""

from lecture.part5_models import (
    m13_initialization,
    m14_small_models,
    m15a_layers,
    m15b_model,
    m16_transformer_accounting,
)


def main() -> None:
    # ## Parameters at the start
    # What a parameter is, and which random numbers let a deep model begin.
    #
    # Skip it if you know why weights start with a standard deviation of $1/\sqrt{D}$, and
    # when that is wrong.
    m13_initialization.a_parameter_is_a_tensor_that_modules_register()
    m13_initialization.data_are_not_parameters()
    m13_initialization.equal_weights_stay_equal()
    m13_initialization.plain_random_weights_blow_up()
    m13_initialization.the_spread_grows_with_the_inputs()
    m13_initialization.dividing_by_the_root_of_the_inputs_keeps_the_scale()
    m13_initialization.depth_raises_the_scale_to_a_power()
    m13_initialization.cutting_the_tails_shrinks_the_spread()
    m13_initialization.tails_are_cut_where_the_bounds_say()
    m13_initialization.gradients_ask_for_another_scale()
    m13_initialization.xavier_looks_at_both_sides()
    m13_initialization.relu_takes_half_of_the_squares()
    m13_initialization.layers_that_add_start_smaller()
    m13_initialization.exercise_zeros_and_ones()
    m13_initialization.exercise_three_layers_in_fp16()

    # ## Small models
    # Layers, stacks of layers and what is in them, before there are Transformers.
    #
    # Skip it if you have written an `nn.Module` with layers in a list, and know what is in
    # its state dict.
    m14_small_models.a_linear_layer_is_one_product()
    m14_small_models.layers_stack_up_to_a_number()
    m14_small_models.parameters_are_counted_by_name()
    m14_small_models.a_plain_list_hides_its_layers()
    m14_small_models.a_state_dict_names_every_tensor()
    m14_small_models.moving_a_model_keeps_its_parameters()
    m14_small_models.a_deep_network_repeats_a_block()
    m14_small_models.a_mean_over_everything_meets_any_target()
    m14_small_models.linear_layers_collapse_into_one()
    m14_small_models.a_nonlinearity_bends_the_line()
    m14_small_models.two_relus_make_an_absolute_value()
    m14_small_models.exercise_parameters_with_biases()
    m14_small_models.exercise_a_bias_is_no_nonlinearity()

    # ## Parts of a Transformer
    # The model behind the word, taken apart: what each part computes and what it costs.
    #
    # Skip it if you have written a Transformer with rotary positions, grouped queries and a
    # KV cache.
    m15a_layers.the_parts_fit_together()
    m15a_layers.an_embedding_is_a_table_of_vectors()
    m15a_layers.a_row_of_the_matrix_for_each_output()
    m15a_layers.rmsnorm_divides_by_the_root_mean_square()
    m15a_layers.rmsnorm_rounds_once()
    m15a_layers.swiglu_lets_one_half_gate_the_other()
    m15a_layers.softmax_survives_large_numbers()
    m15a_layers.what_is_kept_is_a_choice()
    # @bridge What a Transformer is made of: an embedding, a table with a row of numbers for each
    # token; RMSNorm, which divides a row by its root mean square and multiplies by learnt gains;
    # a feed-forward network, which changes each token alone (SwiGLU has three matrices of DF
    # numbers); and
    # attention, where tokens look at each other. It needs the softmax, which makes shares of
    # scores: exponentials over their sum.
    m15a_layers.attention_takes_a_weighted_mean()
    m15a_layers.attention_is_two_matmuls()
    # @bridge For all tokens at once attention is two matmuls, $2T^2K$ FLOPs each: queries
    # times keys, and weights times values.
    m15a_layers.the_future_is_hidden()
    m15b_model.rotary_positions_turn_pairs()
    m15b_model.only_the_offset_matters()
    m15b_model.rotary_pairs_come_in_two_orders()
    m15b_model.a_turn_takes_six_flops()
    m15b_model.heads_share_out_the_features()
    m15b_model.groups_of_heads_share_keys_and_values()
    m15b_model.attention_needs_no_table_of_weights()
    m15b_model.a_router_chooses_experts()
    # @bridge Rotary positions tell scores how far apart two tokens are. H heads attend side
    # by side, each with K features of its own, $D=HK$. The LM head, at the end, gives every
    # token of the vocabulary a score.
    m15b_model.a_block_adds_to_what_came_in()
    m15b_model.a_model_starts_by_guessing()
    m15b_model.cross_entropy_takes_no_detour()
    m15b_model.perplexity_counts_the_choices()
    m15b_model.device_and_dtype_reach_every_part()
    m15b_model.the_next_token_is_drawn()
    m15b_model.a_cache_reads_each_token_once()
    m15b_model.exercise_attention_without_order()
    m15b_model.exercise_a_gibibyte_of_cache()

    # ## Cost of a Transformer
    # How many parameters, FLOPs and bytes it has, in which parts; and models that people use.
    #
    # Skip it if you can count the parameters of Llama 3 8B from its configuration.
    m16_transformer_accounting.a_block_is_nine_products()
    # @bridge A block is nine matmuls: four around attention (to queries, keys and values, and
    # out of the heads), two in it, three in the feed-forward network, in all
    # $2T(4D^2+3DF)+4T^2D$ FLOPs. Its sizes give the parameters, too.
    m16_transformer_accounting.parameters_are_counted_part_by_part()
    m16_transformer_accounting.the_shape_of_gpt2_xl()
    m16_transformer_accounting.one_forward_pass_of_xl()
    m16_transformer_accounting.heads_weigh_on_small_models()
    m16_transformer_accounting.most_flops_are_in_the_feed_forward_network()
    m16_transformer_accounting.attention_can_take_most_time()
    # @bridge Our XL, of GPT-2 XL's sizes, has D = 1600 and F = 4D; at T = 1024, the scores and
    # values are 7 % of its FLOPs.
    m16_transformer_accounting.long_contexts_belong_to_attention()
    m16_transformer_accounting.tokens_times_parameters_with_corrections()
    m16_transformer_accounting.the_real_gpt2_has_other_parts()
    m16_transformer_accounting.published_shapes_come_out()
    m16_transformer_accounting.only_active_parameters_cost_flops()
    m16_transformer_accounting.one_latent_serves_all_heads()
    m16_transformer_accounting.half_of_the_scores_are_masked()
    m16_transformer_accounting.exercise_deep_or_wide()
    m16_transformer_accounting.exercise_twice_the_context()
