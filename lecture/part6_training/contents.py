"""Training: optimizers, memory, data and everything else that a run is made of."""

from lecture.part6_training import (
    m17_optimizers,
    m18a_training_memory,
    m18b_transformer_memory,
    m19_gradient_accumulation,
    m20_activation_checkpointing,
    m21_randomness,
    m22_data,
    m23_training_loop,
    m23b_training_today,
    m24_checkpointing,
    m25_mixed_precision,
)


def main() -> None:
    # ## Optimizers
    # We can compute gradients and say what they cost. How they become updates, what an
    # optimizer remembers for that, and what its step costs.
    #
    # Skip it if you know what AdamW keeps, what its decay multiplies, and what an update
    # costs in bytes moved.
    m17_optimizers.a_step_goes_against_the_gradient()
    m17_optimizers.an_optimizer_keeps_state_and_settings()
    m17_optimizers.a_saved_state_goes_by_number()
    m17_optimizers.clearing_gradients_frees_their_memory()
    m17_optimizers.momentum_sums_up_the_past()
    m17_optimizers.the_steepest_direction_limits_the_rate()
    m17_optimizers.adagrad_sums_up_squares()
    m17_optimizers.epsilon_decides_what_is_small()
    m17_optimizers.rmsprop_forgets()
    # @bridge A step goes against the gradient, $w\leftarrow w-\eta g$, with a learning rate
    # $\eta$. Momentum adds up past gradients, and old ones fade. AdaGrad and RMSProp divide
    # by the size of a weight's past gradients.
    m17_optimizers.adamw_averages_both()
    m17_optimizers.adamw_does_not_see_the_scale_of_the_loss()
    m17_optimizers.decay_is_no_gradient()
    m17_optimizers.an_optimizer_is_paid_for_in_memory()
    m17_optimizers.adamw_costs_33_flops_per_parameter()
    m17_optimizers.an_update_waits_for_memory()
    m17_optimizers.the_family_in_a_ravine()
    m17_optimizers.a_rate_per_weight_sees_only_the_axes()
    m17_optimizers.muon_makes_all_directions_equal()
    m17_optimizers.muon_costs_matmuls_and_one_number()
    m17_optimizers.a_learning_rate_has_an_edge()
    m17_optimizers.a_sweep_shows_the_range()
    m17_optimizers.exercise_a_sum_in_place_of_a_mean()
    m17_optimizers.exercise_state_of_two_optimizers()

    # ## Memory in training
    # We know what a tensor takes. What fills the memory while a model is trained, how much of
    # each part there is, and where it peaks.
    #
    # Skip it if you know which of parameters, gradients, optimizer state and activations
    # peaks when.
    m18a_training_memory.four_things_fill_the_memory()
    m18a_training_memory.a_small_model_takes_496_bytes()
    m18a_training_memory.the_sum_is_for_one_optimizer()
    m18a_training_memory.each_recipe_has_its_bytes_per_parameter()
    m18a_training_memory.an_optimizer_needs_room_to_work()
    m18a_training_memory.a_weight_needs_what_it_multiplied()
    m18a_training_memory.what_is_frozen_needs_no_activations()
    m18a_training_memory.inference_keeps_the_layer_at_hand()
    m18a_training_memory.stale_gradients_take_room()
    m18a_training_memory.a_formula_foretells_the_peak()
    m18a_training_memory.exercise_adagrad_on_bf16_weights()
    m18a_training_memory.exercise_train_the_last_two()

    # ## Training a Transformer
    # We can count a Transformer's parameters and FLOPs. What it keeps in memory while it is
    # trained, which batch fits, and how long it takes.
    #
    # Skip it if you can estimate the largest batch that fits before you try it.
    m18b_transformer_memory.a_block_keeps_42_vectors_of_each_token()
    m18b_transformer_memory.fused_attention_keeps_a_number_for_each_row()
    m18b_transformer_memory.the_context_decides_what_is_kept()
    m18b_transformer_memory.one_model_has_one_width()
    m18b_transformer_memory.the_sum_is_no_peak()
    m18b_transformer_memory.memory_limits_the_batch()
    m18b_transformer_memory.one_card_takes_18_years()
    # @bridge A model in the shape of GPT-2 XL, with 2.1 billion parameters, would take one
    # A100 18 years in fp32, at half its peak, for 400 000 steps of a million tokens.
    m18b_transformer_memory.tokens_go_with_parameters()
    m18b_transformer_memory.adapters_save_the_state()
    m18b_transformer_memory.training_needs_no_cache()
    m18b_transformer_memory.exercise_a_context_twice_as_long()
    m18b_transformer_memory.exercise_llama_in_one_gpu()

    # ## Gradient accumulation
    # The batch that fits may be smaller than the batch that helps. How large a batch helps, and
    # how it is trained in the memory of a small one.
    #
    # Skip it if you know what to divide by when micro-batches have different numbers of
    # tokens.
    m19_gradient_accumulation.a_larger_batch_has_a_steadier_gradient()
    m19_gradient_accumulation.a_batch_has_a_critical_size()
    m19_gradient_accumulation.the_noise_grows_as_the_loss_falls()
    m19_gradient_accumulation.activations_grow_with_the_batch()
    m19_gradient_accumulation.parts_of_a_batch_add_up_to_it()
    m19_gradient_accumulation.a_sum_of_means_is_no_mean()
    m19_gradient_accumulation.a_part_is_no_larger_than_the_whole()
    m19_gradient_accumulation.accumulation_spends_no_flops()
    m19_gradient_accumulation.unequal_parts_need_weights()
    m19_gradient_accumulation.rows_must_not_know_each_other()
    m19_gradient_accumulation.a_long_sum_needs_more_digits()
    m19_gradient_accumulation.exercise_half_the_error()
    m19_gradient_accumulation.exercise_four_steps_or_one()

    # ## Activation checkpoints
    # Smaller batches no longer help when one sequence does not fit. How we buy memory with
    # compute: keep some results, and recompute the others.
    #
    # Skip it if you know what a third more FLOPs buys, and which results are cheap to
    # recompute.
    m20_activation_checkpointing.what_is_thrown_away_is_computed_again()
    m20_activation_checkpointing.everything_is_two_tensors_for_each_layer()
    m20_activation_checkpointing.a_second_way_forward_makes_eight_of_six()
    m20_activation_checkpointing.a_segment_comes_back_whole()
    m20_activation_checkpointing.what_is_on_the_shelf_need_not_be_made_again()
    m20_activation_checkpointing.keeping_nothing_costs_a_square()
    m20_activation_checkpointing.the_root_is_the_best_of_equal_steps()
    m20_activation_checkpointing.halves_of_halves_need_a_logarithm()
    m20_activation_checkpointing.pytorch_stops_as_soon_as_it_can()
    m20_activation_checkpointing.recomputing_needs_the_same_dice()
    m20_activation_checkpointing.only_known_dice_are_replayed()
    m20_activation_checkpointing.products_are_kept_and_the_rest_is_made_again()
    m20_activation_checkpointing.attention_scores_are_cheap_to_make_again()
    m20_activation_checkpointing.the_two_trades_multiply()
    m20_activation_checkpointing.exercise_ninety_six_layers()
    m20_activation_checkpointing.exercise_what_happens_to_the_mfu()

    # ## Randomness
    # How to repeat a run, how to change one thing of it, and what no seed fixes.
    #
    # Skip it if your runs repeat, also when somebody adds a dropout.
    m21_randomness.a_seed_repeats_the_numbers()
    m21_randomness.three_generators_are_seeded_apart()
    m21_randomness.an_extra_draw_shifts_all_that_follow()
    m21_randomness.each_purpose_gets_its_own_stream()
    m21_randomness.some_draws_are_not_in_sight()
    m21_randomness.seeds_are_derived_not_added()
    m21_randomness.no_seed_fixes_the_order_of_additions()
    m21_randomness.an_order_can_be_asked_for()
    m21_randomness.exercise_a_thousand_seeds()
    m21_randomness.exercise_sixteen_at_once()

    # ## Feeding data
    # From a file of tokens to a batch on the device that computes with it.
    #
    # Skip it if your batches come from a mapped file, by a seed, while the GPU computes.
    m22_data.a_token_file_is_a_flat_array()
    m22_data.a_raw_dump_has_no_header()
    m22_data.a_mapped_file_is_read_where_it_is_touched()
    m22_data.a_mapping_writes_through_unless_told_not_to()
    m22_data.a_batch_touches_few_pages()
    m22_data.targets_are_inputs_one_token_later()
    m22_data.random_places_miss_a_third()
    m22_data.a_copy_can_hide_behind_the_computing()
    m22_data.tokens_are_light()
    m22_data.pinned_memory_stays_where_it_is()
    m22_data.made_up_data_have_a_known_loss()
    m22_data.a_batch_depends_on_its_arguments_alone()
    m22_data.exercise_how_fast_a_disk()
    m22_data.exercise_the_last_start()

    # ## The training loop
    # We have all the parts. What a step is made of, how we read its health off a log, and a run
    # on real, if small, data.
    #
    # Skip it if you can read a loss curve: warm-up, spikes, norms of gradients, a floor.

    # @bridge `backward` adds to the gradients that are there. So they are cleared; or left on
    # purpose: gradient accumulation cuts a batch into equal parts, divides each one's mean
    # loss by their number, and takes one step. It computes as much, with the activations of one.
    m23_training_loop.six_moves_make_a_step()
    m23_training_loop.a_setting_must_reach_its_use()
    m23_training_loop.a_toy_run_can_be_predicted()
    m23_training_loop.a_loss_stops_where_the_digits_end()
    m23_training_loop.a_rate_rises_and_falls()
    m23_training_loop.warm_up_tames_the_first_steps()
    m23_training_loop.one_norm_for_all_gradients()
    m23_training_loop.clipping_is_for_the_exception()
    m23_training_loop.the_gradient_norm_is_a_symptom()
    m23_training_loop.one_batch_can_be_learnt_by_heart()
    m23_training_loop.a_report_can_be_checked()
    m23_training_loop.a_small_model_learns_from_stories()
    m23_training_loop.the_source_sets_the_floor()
    m23_training_loop.the_model_tells_a_story()
    m23_training_loop.a_log_has_a_line_for_each_step()
    m23_training_loop.exercise_the_first_loss()
    m23_training_loop.exercise_the_first_half_of_a_cosine()

    # ## Training of today
    # We can train a model of one size for a time that is fixed. Schedules without an end, rates
    # that carry over to larger models, logits and scores in range, and laws that predict a loss.
    #
    # Skip it if you know what WSD, muP, z-loss and QK-norm are for, and have fitted a scaling
    # law.
    m23b_training_today.a_schedule_can_leave_its_end_open()
    m23b_training_today.a_wider_model_wants_a_smaller_rate()
    m23b_training_today.mup_carries_the_rate_over()
    m23b_training_today.z_loss_holds_the_logits()
    m23b_training_today.qk_norm_bounds_the_scores()
    m23b_training_today.five_small_runs_make_a_law()
    m23b_training_today.a_law_holds_where_it_was_measured()
    m23b_training_today.exercise_a_rate_for_a_wider_model()
    m23b_training_today.exercise_a_tenth_less_loss()

    # ## Saving and resuming
    # A run outlasts its machines. What to keep of it, so that a crash costs minutes and changes
    # nothing.
    #
    # Skip it if your runs resume to the same loss, bit by bit.
    m24_checkpointing.a_checkpoint_holds_parameters_and_state()
    m24_checkpointing.resuming_equals_never_stopping()
    m24_checkpointing.schedules_and_scalers_have_a_state()
    m24_checkpointing.a_file_gets_its_name_when_it_is_whole()
    m24_checkpointing.a_checkpoint_should_not_be_a_program()
    m24_checkpointing.saving_has_a_best_interval()
    m24_checkpointing.exercise_a_checkpoint_that_takes_eight_minutes()

    # ## Mixed precision
    # Nearly all so far was in fp32. Which number of a training step is kept in which format, and
    # why that is not one format.
    #
    # Skip it if you can say which tensors stay in fp32 under autocast, and what a loss scale
    # is for.
    m25_mixed_precision.both_ends_have_their_price()
    m25_mixed_precision.two_recipes_go_by_one_name()
    m25_mixed_precision.bf16_weights_stop_learning()
    # @bridge Matmuls take bf16, which is fast. But a weight in bf16 loses small updates:
    # there, $1+0.001=1$. So the optimizer keeps an fp32 copy, the master, and rounds the bf16
    # weight from it after each step. fp16 loses small gradients as well: there the loss is
    # multiplied by a scale before the backward pass, and the gradients divided by it after. With
    # the range of fp32, bf16 needs none.
    m25_mixed_precision.a_master_collects_small_updates()
    m25_mixed_precision.rounding_by_chance_is_right_on_average()
    m25_mixed_precision.a_scale_lifts_gradients_into_range()
    m25_mixed_precision.a_scale_is_found_by_overflowing()
    m25_mixed_precision.autocast_chooses_operation_by_operation()
    m25_mixed_precision.a_step_passes_to_bf16_and_back()
    m25_mixed_precision.eight_bits_need_scales()
    m25_mixed_precision.a_recipe_trains_in_eight_bits()
    m25_mixed_precision.models_follow_the_hardware()
    m25_mixed_precision.exercise_when_a_weight_stands_still()
    m25_mixed_precision.exercise_two_formats_of_eight_bits()
