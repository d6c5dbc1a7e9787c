"""The table of contents: `main` calls every section in the order of teaching."""

import sys

if __name__ == "__main__" and not __package__:
    print("Run it from the repository root: python -m lecture.main", file=sys.stderr)
    raise SystemExit(2)

import torch

from lecture import (
    activation_checkpointing,
    checkpointing,
    compute,
    conventions,
    data,
    encoding,
    floating_point,
    gradient_accumulation,
    gradients,
    inference,
    initialization,
    intensity,
    learning_merges,
    mixed_precision,
    motivation,
    named_axes,
    operations,
    optimizers,
    plain,
    randomness,
    recap,
    small_models,
    storage,
    tensors,
    text,
    training_loop,
    training_memory,
    transformer_accounting,
    transformer_memory,
    transformer_parts,
)


def main() -> None:
    """What language models cost.

    A language model is made of a few kinds of operations on arrays of numbers. This lecture takes
    them one at a time and asks of each the same two questions: how many bytes of memory does it
    take up, and how many additions and multiplications does it cost? With the answers, the bill of
    a training run can be written down before the run and checked after it.

    The lecture is a Python program, and this page is one run of it. Where a number matters, the
    line that checks it stands below.
    """
    # For the same numbers on every run: a fixed number of threads, and operations that add up in a
    # fixed order.
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)

    # ## Before we start
    # How to read this page, and the letters and units that all chapters use.
    conventions.every_claim_is_checked_on_every_run()
    conventions.letters_name_the_axes()
    conventions.an_amount_is_not_a_rate()
    conventions.giga_is_not_gibi()

    # ## Why count
    # Two estimates that fit on a napkin, and what it takes to believe them.
    motivation.every_chapter_pays_in_two_currencies()
    motivation.training_time_is_work_over_rate()
    motivation.training_costs_six_flops_per_parameter_and_token()
    motivation.the_optimizer_is_not_in_the_six()
    motivation.a_peak_has_conditions()
    motivation.utilization_decides_the_bill()
    motivation.adamw_keeps_four_numbers_per_parameter()
    motivation.bytes_per_parameter_depend_on_the_recipe()
    motivation.eight_cards_hold_forty_billion_parameters()
    motivation.activations_come_on_top()
    motivation.gpt3_can_be_recomputed()
    motivation.a_week_on_eight_cards_is_little_beside_gpt3()
    motivation.the_ruler_spans_twenty_one_powers_of_ten()
    motivation.intuition_has_no_assert()

    # ## From text to bytes
    # What a tokenizer is for, and the alphabet from which it starts.
    text.a_tokenizer_turns_text_into_integers()
    text.a_character_can_be_there_and_not_be_seen()
    text.utf8_is_not_always_the_smallest()
    text.one_letter_can_have_two_spellings()
    text.bytes_are_an_alphabet_for_every_text()
    text.bytes_cannot_be_decoded_one_by_one()
    text.most_pairs_of_bytes_are_no_text()

    # ## Learning a vocabulary
    # Which pieces of text become tokens, and how they are found fast.
    learning_merges.text_is_cut_before_merging()
    learning_merges.letters_need_their_own_pattern()
    learning_merges.numbers_are_cut_by_three()
    learning_merges.the_most_frequent_pair_is_merged()
    learning_merges.ties_need_a_rule()
    learning_merges.a_vocabulary_is_bytes_merges_and_special_tokens()
    learning_merges.measure_before_making_it_faster()
    learning_merges.only_words_with_the_pair_change()
    learning_merges.an_index_knows_the_words()
    learning_merges.a_heap_keeps_the_best_on_top()
    learning_merges.a_heap_forgets_lazily()
    learning_merges.the_ladder_so_far()
    learning_merges.counting_can_be_shared_out()
    learning_merges.the_part_not_improved_sets_the_limit()
    learning_merges.timers_inside_timers_count_twice()
    learning_merges.later_merges_touch_fewer_words()
    learning_merges.late_tokens_are_whole_words()

    # ## Encoding and decoding
    # From text to ids and back, how fast, and what the ids cost.
    encoding.decoding_joins_before_it_decodes()
    encoding.encoding_replays_the_training()
    encoding.most_merges_are_absent()
    encoding.the_smallest_rank_comes_first()
    encoding.a_heap_pays_for_long_words()
    encoding.the_same_sample_for_every_rung()
    encoding.bytes_per_token_has_two_conventions()
    encoding.a_tokenizer_from_another_domain_costs_tokens()
    encoding.two_bytes_are_enough_for_65536_ids()
    encoding.a_larger_vocabulary_costs_parameters()
    encoding.a_larger_vocabulary_saves_tokens()
    encoding.special_tokens_are_cut_out_first()
    encoding.a_stream_gets_the_ids_of_the_whole_text()
    encoding.a_corpus_takes_days_to_encode()

    # ## Tensors and their bytes
    # Everything a model is made of, and how much room it takes.
    tensors.everything_is_a_tensor()
    tensors.rank_means_two_things()
    tensors.a_tensor_is_made_from_values_or_from_a_rule()
    tensors.cutting_the_tails_shrinks_the_spread()
    tensors.bytes_are_elements_times_element_size()
    tensors.one_gpt3_matrix_takes_gigabytes()
    tensors.a_tensor_lives_on_one_device()
    tensors.the_way_to_the_accelerator_is_narrow()

    # ## Floating-point formats
    # What the bits of a number mean, and what each format has no bits for.
    floating_point.a_number_is_sign_exponent_and_fraction()
    floating_point.every_format_divides_its_bits_its_own_way()
    floating_point.exponents_are_stored_with_a_bias()
    floating_point.two_exponent_fields_are_reserved()
    floating_point.the_leading_one_is_not_stored()
    floating_point.subnormals_reach_down_to_zero()
    floating_point.reading_by_hand_agrees_on_every_pattern()
    floating_point.a_hundredth_has_no_last_digit()
    floating_point.rounding_goes_to_the_nearest_and_ties_to_even()
    floating_point.the_exponent_is_range_and_the_fraction_resolution()
    floating_point.fp32_counts_to_sixteen_million()
    floating_point.fp16_ends_soon_on_both_sides()
    floating_point.bf16_is_the_upper_half_of_fp32()
    floating_point.bf16_trades_resolution_for_range()
    floating_point.tf32_is_for_computing_not_for_storing()
    floating_point.fp8_comes_in_two_kinds()
    floating_point.e4m3_gives_up_infinity()
    floating_point.fp4_has_fifteen_values()
    floating_point.a_scale_for_each_block_contains_outliers()
    floating_point.block_scales_cost_a_fraction_of_a_bit()
    floating_point.counting_stops_early_in_16_bits()
    floating_point.small_updates_are_lost()
    floating_point.each_format_fails_in_its_own_way()
    floating_point.each_format_has_its_job()

    # ## Storage, strides and views
    # What a tensor is underneath, and which operations are free because of it.
    storage.a_tensor_is_a_pointer_and_metadata()
    storage.strides_find_every_element()
    storage.a_slice_is_an_offset_and_a_stride()
    storage.views_share_storage()
    storage.writing_through_a_view_changes_the_others()
    storage.contiguous_means_row_major_without_gaps()
    storage.most_operations_take_any_strides()
    storage.reshape_copies_only_when_it_must()
    storage.some_tensors_with_gaps_can_be_viewed()
    storage.expanding_repeats_without_copying()
    storage.a_view_keeps_the_whole_storage_alive()

    # ## Elementwise operations and matrix products
    # What computes new numbers, how many FLOPs that takes, and what it writes.
    operations.an_elementwise_result_has_its_own_memory()
    operations.a_chain_makes_temporaries()
    operations.in_place_operations_keep_the_storage()
    operations.the_backward_pass_needs_the_old_numbers()
    operations.shapes_are_lined_up_from_the_right()
    operations.the_upper_triangle_is_kept_by_position()
    operations.masked_scores_leave_nothing_for_the_future()
    operations.a_mask_can_go_wrong_in_three_ways()
    operations.a_product_pairs_every_row_with_every_column()
    operations.a_stack_is_multiplied_matrix_by_matrix()
    operations.the_star_is_not_the_matrix_product()
    operations.every_triple_multiplies_and_adds()
    operations.the_loops_nest_in_any_order()

    # ## Axes with names
    # How to say which axis is which, who checks it, and what an operation costs by its names.
    named_axes.numbered_axes_hide_their_meaning()
    named_axes.an_annotation_only_describes()
    named_axes.a_checker_makes_annotations_bind()
    named_axes.a_checker_sees_only_signatures()
    named_axes.einsum_sums_over_what_is_left_out()
    named_axes.one_rule_covers_the_usual_products()
    named_axes.an_ellipsis_stands_for_any_axes_in_front()
    named_axes.reduce_names_what_goes()
    named_axes.heads_are_split_without_moving_data()
    named_axes.heads_are_blocks_of_one_matrix()
    named_axes.the_order_of_products_decides_their_price()
    named_axes.an_order_is_found_once_from_the_sizes()

    # ## Counting FLOPs
    # What work is, how long it takes when it is timed properly, and which share of a peak arrives.
    compute.one_amount_is_done_at_many_rates()
    compute.a_product_costs_two_flops_per_triple()
    compute.the_last_addition_is_not_made()
    compute.forward_is_two_flops_per_parameter_and_token()
    compute.attention_grows_with_the_context()
    compute.everything_else_is_linear()
    compute.a_count_is_an_agreement()
    compute.a_stopwatch_needs_a_warm_up_and_a_median()
    compute.an_accelerator_answers_before_it_is_done()
    compute.a_data_sheet_has_a_rate_for_each_format()
    compute.a_peak_is_units_times_clock()
    compute.two_of_every_four_weights_are_zero()
    compute.zeros_save_work_only_if_they_are_skipped()
    compute.utilization_is_useful_over_promised()
    compute.more_than_the_peak_is_a_mistake()
    compute.a_faster_format_may_use_less_of_its_peak()
    compute.small_products_are_slow_in_every_format()
    compute.recomputed_flops_are_not_useful()
    compute.tensor_cores_multiply_tiles()
    compute.fp32_gets_tensor_cores_on_request()
    compute.the_best_observed_rate_is_a_peak_for_any_machine()

    # ## Bytes against FLOPs
    # Why most operations wait for memory, and what matrix products do better.
    intensity.every_operation_loads_computes_and_stores()
    intensity.an_accelerator_has_an_intensity()
    intensity.two_tests_find_the_same_bottleneck()
    intensity.relu_waits_for_memory()
    intensity.gelu_moves_the_bytes_of_a_relu()
    intensity.two_functions_are_called_gelu()
    intensity.written_out_gelu_moves_nine_times_the_bytes()
    intensity.a_dot_product_does_one_flop_per_two_bytes()
    intensity.a_matrix_times_a_vector_uses_each_weight_once()
    intensity.a_matrix_product_uses_each_number_often()
    intensity.a_small_cache_reads_numbers_again()
    intensity.compute_takes_over_at_three_times_the_intensity()
    intensity.the_roofline_bounds_every_operation()
    intensity.this_machine_has_a_roofline()
    intensity.a_batch_shares_the_weights()
    intensity.training_and_inference_differ_in_their_rows()
    intensity.a_written_token_costs_a_walk_through_all_weights()
    intensity.fusion_saves_the_way_through_memory()
    intensity.fused_attention_does_not_store_its_scores()

    # ## Gradients and their price
    # Where the way back comes from, and why it costs twice the way forward.
    gradients.a_gradient_says_how_the_loss_answers()
    gradients.differences_check_a_gradient()
    gradients.a_difference_needs_a_middling_step()
    gradients.one_way_back_serves_all_parameters()
    gradients.autograd_records_where_numbers_come_from()
    gradients.autograd_keeps_what_the_way_back_needs()
    gradients.gradients_add_up()
    gradients.two_layers_cost_two_products()
    gradients.the_gradient_of_a_weight_sums_over_the_batch()
    gradients.the_gradient_of_an_input_goes_back_through_the_weight()
    gradients.the_rule_repeats_layer_by_layer()
    gradients.a_gradient_has_the_shape_of_its_tensor()
    gradients.a_layer_works_once_forward_and_twice_backward()
    gradients.backward_costs_twice_forward()
    gradients.two_plus_four_is_six()
    gradients.frozen_weights_still_pass_gradients_on()
    gradients.small_updates_save_memory_and_a_third_of_the_work()
    gradients.shared_weights_are_paid_for_at_every_use()
    gradients.looked_up_parameters_cost_no_products()
    gradients.long_contexts_add_work_without_parameters()

    # ## Parameters at the start
    # What a parameter is, and which random numbers let a deep model begin.
    initialization.a_parameter_is_a_tensor_that_modules_register()
    initialization.data_are_not_parameters()
    initialization.equal_weights_stay_equal()
    initialization.plain_random_weights_blow_up()
    initialization.the_spread_grows_with_the_inputs()
    initialization.dividing_by_the_root_of_the_inputs_keeps_the_scale()
    initialization.depth_raises_the_scale_to_a_power()
    initialization.tails_are_cut_where_the_bounds_say()
    initialization.gradients_ask_for_another_scale()
    initialization.xavier_looks_at_both_sides()
    initialization.relu_takes_half_of_the_squares()
    initialization.layers_that_add_start_smaller()

    # ## Small models
    # Layers, stacks of layers and what is in them, before there are Transformers.
    small_models.a_linear_layer_is_one_product()
    small_models.layers_stack_up_to_a_number()
    small_models.parameters_are_counted_by_name()
    small_models.a_plain_list_hides_its_layers()
    small_models.a_state_dict_names_every_tensor()
    small_models.moving_a_model_keeps_its_parameters()
    small_models.a_deep_network_repeats_a_block()
    small_models.a_mean_over_everything_meets_any_target()
    small_models.linear_layers_collapse_into_one()
    small_models.a_nonlinearity_bends_the_line()
    small_models.two_relus_make_an_absolute_value()

    # ## Parts of a Transformer
    # The model behind the word, taken apart: what each part computes and what it costs.
    transformer_parts.the_parts_fit_together()
    transformer_parts.an_embedding_is_a_table_of_vectors()
    transformer_parts.a_row_of_the_matrix_for_each_output()
    transformer_parts.rmsnorm_divides_by_the_root_mean_square()
    transformer_parts.rmsnorm_adds_up_in_fp32()
    transformer_parts.swiglu_lets_one_half_gate_the_other()
    transformer_parts.softmax_survives_large_numbers()
    transformer_parts.what_is_kept_is_a_choice()
    transformer_parts.attention_takes_a_weighted_mean()
    transformer_parts.the_future_is_hidden()
    transformer_parts.rotary_positions_turn_pairs()
    transformer_parts.only_the_distance_matters()
    transformer_parts.a_turn_takes_six_flops()
    transformer_parts.heads_share_out_the_features()
    transformer_parts.a_block_adds_to_what_came_in()
    transformer_parts.a_model_starts_by_guessing()
    transformer_parts.cross_entropy_takes_no_detour()
    transformer_parts.perplexity_counts_the_choices()
    transformer_parts.device_and_dtype_reach_every_part()
    transformer_parts.the_next_token_is_drawn()
    transformer_parts.a_cache_reads_each_token_once()

    # ## Bill of a Transformer
    # How many parameters and FLOPs it has, to the last one, and in which parts.
    transformer_accounting.a_block_is_nine_products()
    transformer_accounting.parameters_are_counted_part_by_part()
    transformer_accounting.the_shape_of_gpt2_xl()
    transformer_accounting.one_forward_pass_of_xl()
    transformer_accounting.heads_weigh_on_small_models()
    transformer_accounting.the_feed_forward_network_dominates()
    transformer_accounting.long_contexts_belong_to_attention()
    transformer_accounting.tokens_times_parameters_with_corrections()
    transformer_accounting.the_real_gpt2_has_other_parts()
    transformer_accounting.half_of_the_scores_are_masked()

    # ## Optimizers
    # How gradients become updates, what is remembered for that, and what it costs.
    optimizers.a_step_goes_against_the_gradient()
    optimizers.an_optimizer_keeps_state_and_settings()
    optimizers.a_saved_state_goes_by_number()
    optimizers.clearing_gradients_frees_their_memory()
    optimizers.momentum_sums_up_the_past()
    optimizers.nesterov_looks_ahead()
    optimizers.the_steepest_direction_limits_the_rate()
    optimizers.adagrad_sums_up_squares()
    optimizers.epsilon_decides_what_is_small()
    optimizers.rmsprop_forgets()
    optimizers.adamw_averages_both()
    optimizers.adamw_does_not_see_the_scale_of_the_loss()
    optimizers.decay_is_no_gradient()
    optimizers.an_optimizer_is_paid_for_in_memory()
    optimizers.adamw_costs_33_flops_per_parameter()
    optimizers.an_update_waits_for_memory()
    optimizers.the_family_in_a_ravine()
    optimizers.a_rate_per_weight_sees_only_the_axes()
    optimizers.a_learning_rate_has_an_edge()
    optimizers.a_sweep_shows_the_range()

    # ## Memory in training
    # What fills the memory while a model is trained, and how much of each part there is.
    training_memory.four_things_fill_the_memory()
    training_memory.a_small_model_takes_496_bytes()
    training_memory.the_sum_is_for_one_optimizer()
    training_memory.each_recipe_has_its_bytes_per_parameter()
    training_memory.an_optimizer_needs_room_to_work()
    training_memory.a_weight_needs_what_it_multiplied()
    training_memory.what_is_frozen_needs_no_activations()
    training_memory.inference_keeps_the_layer_at_hand()
    training_memory.stale_gradients_take_room()
    training_memory.a_formula_foretells_the_peak()

    # ## Training a Transformer
    # What the bill means for the memory of a card, the size of a batch, and the days it takes.
    transformer_memory.a_block_keeps_42_vectors_of_each_token()
    transformer_memory.the_context_decides_what_is_kept()
    transformer_memory.one_model_has_one_width()
    transformer_memory.memory_limits_the_batch()
    transformer_memory.the_sum_is_no_peak()
    transformer_memory.one_card_takes_18_years()
    transformer_memory.tokens_go_with_parameters()
    transformer_memory.training_needs_no_cache()

    # ## Gradient accumulation
    # How a large batch is trained in the memory of a small one.
    gradient_accumulation.a_larger_batch_has_a_steadier_gradient()
    gradient_accumulation.activations_grow_with_the_batch()
    gradient_accumulation.parts_of_a_batch_add_up_to_it()
    gradient_accumulation.a_sum_of_means_is_no_mean()
    gradient_accumulation.a_part_is_no_larger_than_the_whole()
    gradient_accumulation.accumulation_spends_no_flops()
    gradient_accumulation.unequal_parts_need_weights()
    gradient_accumulation.rows_must_not_know_each_other()
    gradient_accumulation.a_long_sum_needs_more_digits()

    # ## Activation checkpoints
    # How memory is bought with compute: keep some results, and make the others again.
    activation_checkpointing.what_is_thrown_away_is_computed_again()
    activation_checkpointing.everything_is_two_tensors_for_each_layer()
    activation_checkpointing.a_second_way_forward_makes_eight_of_six()
    activation_checkpointing.a_segment_comes_back_whole()
    activation_checkpointing.what_is_on_the_shelf_need_not_be_made_again()
    activation_checkpointing.keeping_nothing_costs_a_square()
    activation_checkpointing.the_root_is_the_best_of_equal_steps()
    activation_checkpointing.halves_of_halves_need_a_logarithm()
    activation_checkpointing.pytorch_stops_as_soon_as_it_can()
    activation_checkpointing.recomputing_needs_the_same_dice()
    activation_checkpointing.only_known_dice_are_replayed()
    activation_checkpointing.products_are_kept_and_the_rest_is_made_again()
    activation_checkpointing.attention_scores_are_cheap_to_make_again()
    activation_checkpointing.the_two_trades_multiply()

    # ## Randomness
    # How chance is made, how to get the same chance again, and what no seed fixes.
    randomness.a_seed_repeats_the_numbers()
    randomness.three_generators_are_seeded_apart()
    randomness.an_extra_draw_shifts_all_that_follow()
    randomness.each_purpose_gets_its_own_stream()
    randomness.some_draws_are_not_in_sight()
    randomness.seeds_are_derived_not_added()
    randomness.a_seed_does_not_fix_everything()
    randomness.no_seed_fixes_the_order_of_additions()
    randomness.an_order_can_be_asked_for()

    # ## Feeding data
    # From a file of tokens to a batch on the device that computes with it.
    data.a_token_file_is_a_flat_array()
    data.a_raw_dump_has_no_header()
    data.a_mapped_file_is_read_where_it_is_touched()
    data.a_mapping_writes_through_unless_told_not_to()
    data.a_batch_touches_few_pages()
    data.targets_are_inputs_one_token_later()
    data.random_places_miss_a_third()
    data.a_copy_can_hide_behind_the_computing()
    data.tokens_are_light()
    data.pinned_memory_stays_where_it_is()
    data.made_up_data_have_a_known_loss()
    data.a_batch_depends_on_its_arguments_alone()

    # ## The training loop
    # What a step is made of, how its health is read off a log, and a run on real, if small, data.
    training_loop.six_moves_make_a_step()
    training_loop.a_setting_must_reach_its_use()
    training_loop.a_toy_run_can_be_predicted()
    training_loop.a_loss_stops_where_the_digits_end()
    training_loop.a_rate_rises_and_falls()
    training_loop.warm_up_tames_the_first_steps()
    training_loop.one_norm_for_all_gradients()
    training_loop.clipping_is_for_the_exception()
    training_loop.the_gradient_norm_is_a_symptom()
    training_loop.one_batch_can_be_learnt_by_heart()
    training_loop.a_report_can_be_checked()
    training_loop.a_small_model_learns_from_stories()
    training_loop.the_source_sets_the_floor()
    training_loop.the_model_tells_a_story()
    training_loop.a_log_has_a_line_for_each_step()

    # ## Saving and resuming
    # What to keep of a run, so that a crash costs minutes and changes nothing.
    checkpointing.a_checkpoint_holds_parameters_and_state()
    checkpointing.resuming_equals_never_stopping()
    checkpointing.schedules_and_scalers_have_a_state()
    checkpointing.a_file_gets_its_name_when_it_is_whole()
    checkpointing.a_checkpoint_should_not_be_a_program()
    checkpointing.saving_has_a_best_interval()

    # ## Mixed precision
    # Which number of a training step is kept in which format, and why that is not one format.
    mixed_precision.both_ends_have_their_price()
    mixed_precision.two_recipes_go_by_one_name()
    mixed_precision.bf16_weights_stop_learning()
    mixed_precision.a_master_collects_small_updates()
    mixed_precision.rounding_by_chance_is_right_on_average()
    mixed_precision.a_scale_lifts_gradients_into_range()
    mixed_precision.a_scale_is_found_by_overflowing()
    mixed_precision.autocast_chooses_operation_by_operation()
    mixed_precision.a_step_passes_to_bf16_and_back()
    mixed_precision.eight_bits_need_scales()
    mixed_precision.models_follow_the_hardware()

    # ## Inference and quantization
    # What is different when a model is only used, and how few bits its weights need then.
    inference.using_a_model_needs_no_way_back()
    inference.a_model_that_writes_remembers()
    inference.eval_does_not_stop_the_recording()
    inference.writing_reads_every_weight_for_a_token()
    inference.a_scale_makes_weights_integers()
    inference.each_bit_halves_the_error()
    inference.an_outlier_costs_its_block()
    inference.four_bits_go_in_pairs()
    inference.products_of_integers_are_exact()
    inference.afterwards_is_easier_than_during()
    inference.the_largest_weight_need_not_fit()

    # ## The whole on one page
    # The headline numbers, measured once more, and where each is explained.
    recap.everything_is_a_product_and_a_little_more()
    recap.memory_has_four_parts()
    recap.bytes_loaded_want_to_be_used_often()
    recap.training_is_paid_in_days_and_writing_in_bandwidth()
    recap.text_and_tensors_have_two_answers()
    recap.models_have_two_answers()
    recap.training_has_two_answers()


if __name__ == "__main__":
    plain.run(main)
