"""Compute: FLOPs, the chip that does them, the bytes they wait for, and the price of gradients."""

from lecture.part4_compute import (
    m10a_counting_flops,
    m10b_rates,
    m10c_gpu,
    m11_intensity,
    m12a_gradients,
    m12b_price_of_gradients,
)


def main() -> None:
    # ## Counting FLOPs
    # How much work it is, how you time it properly, and which share of a peak arrives.
    #
    # Skip it if you have timed a GPU with care, and know what an MFU leaves out.
    m10a_counting_flops.one_amount_is_done_at_many_rates()
    m10a_counting_flops.a_product_costs_two_flops_per_triple()
    m10a_counting_flops.the_last_addition_is_not_made()
    # @bridge So a matmul of an R×D and a D×F matrix costs $2RDF$ FLOPs.
    m10a_counting_flops.forward_is_two_flops_per_parameter_and_token()
    m10a_counting_flops.attention_grows_with_the_context()
    m10a_counting_flops.everything_else_is_linear()
    m10a_counting_flops.a_count_is_an_agreement()
    m10a_counting_flops.a_stopwatch_needs_a_warm_up_and_a_median()
    m10a_counting_flops.an_accelerator_answers_before_it_is_done()
    m10b_rates.a_data_sheet_has_a_rate_for_each_format()
    m10b_rates.a_peak_is_units_times_clock()
    m10b_rates.two_of_every_four_weights_are_zero()
    m10b_rates.zeros_save_work_only_if_they_are_skipped()
    # @bridge One part, attention, grows with the context. Now the clock. A GPU answers before
    # it is done: who does not wait for it times the launch alone. What it promises stands on
    # its data sheet, by format, often for matrices of half zeros (sparse); for dense ones it
    # is mostly half of that.
    m10b_rates.utilization_is_useful_over_promised()
    m10b_rates.far_above_the_peak_is_a_mistake()
    m10b_rates.a_cold_call_hides_in_a_mean()
    m10b_rates.small_products_are_slow_in_every_format()
    m10b_rates.recomputed_flops_are_not_useful()
    m10b_rates.tensor_cores_multiply_tiles()
    m10b_rates.fp32_gets_tensor_cores_on_request()
    m10b_rates.the_best_observed_rate_is_a_peak_for_any_machine()
    m10b_rates.exercise_a_prompt_on_a_desk()
    m10b_rates.exercise_twice_the_width()

    # ## What is in a GPU
    # Who computes, who waits for whom, and what an operation takes at the least.
    #
    # Skip it if you have written a kernel.
    m10c_gpu.a_gpu_is_many_multiprocessors()
    m10c_gpu.threads_work_in_warps()
    m10c_gpu.near_memory_is_small()
    m10c_gpu.the_cache_shows_on_the_clock()
    m10c_gpu.waiting_warps_hide_latency()
    m10c_gpu.a_block_needs_room()
    m10c_gpu.neighbours_load_together()
    m10c_gpu.blocks_come_in_waves()
    m10c_gpu.a_larger_matmul_can_take_less_time()
    m10c_gpu.a_tensor_core_lives_on_reuse()
    m10c_gpu.a_clock_follows_the_power()
    m10c_gpu.a_launch_takes_microseconds()
    m10c_gpu.streams_let_copies_run_beside_kernels()
    # @bridge A GPU is many small processors. A small matmul gets little of the peak.
    # Why? The program of an operation, a kernel, has to be launched; a graph of launches,
    # recorded once, makes that cheaper. It loads its numbers from the GPU's memory, HBM, and
    # computes: matmuls on tensor cores. (ReLU sets negative numbers to 0.)
    m10c_gpu.three_floors_hold_up_every_operation()
    m10c_gpu.a_small_matmul_waits_for_its_launch()
    m10c_gpu.a_cpu_waits_less_and_does_less()
    m10c_gpu.links_are_narrower_than_memory()
    m10c_gpu.exercise_a_row_and_a_column()
    m10c_gpu.exercise_three_percent_larger()

    # ## Bytes against FLOPs
    # Why most operations wait for memory, and what matmuls do better.
    #
    # Skip it if you can draw a roofline, and place a ReLU, a matmul and a decoded token in
    # it.
    m11_intensity.every_operation_loads_computes_and_stores()
    # @bridge Every operation loads, computes and stores. With too few FLOPs for its bytes it
    # is memory-bound: it waits for bytes. With enough, it is compute-bound.
    m11_intensity.an_accelerator_has_an_intensity()
    m11_intensity.two_tests_find_the_same_bottleneck()
    m11_intensity.relu_waits_for_memory()
    m11_intensity.gelu_moves_the_bytes_of_a_relu()
    m11_intensity.two_functions_are_called_gelu()
    m11_intensity.written_out_gelu_moves_nine_times_the_bytes()
    m11_intensity.a_dot_product_does_one_flop_per_two_bytes()
    m11_intensity.a_matrix_times_a_vector_uses_each_weight_once()
    m11_intensity.a_matrix_product_uses_each_number_often()
    m11_intensity.a_small_cache_reads_numbers_again()
    m11_intensity.caches_load_numbers_again()
    m11_intensity.compute_takes_over_at_three_times_the_intensity()
    m11_intensity.the_roofline_bounds_every_operation()
    m11_intensity.this_machine_has_a_roofline()
    m11_intensity.recorded_machines_have_rooflines()
    m11_intensity.a_batch_shares_the_weights()
    m11_intensity.training_and_inference_differ_in_their_rows()
    m11_intensity.a_written_token_costs_a_walk_through_all_weights()
    m11_intensity.long_sequences_spoil_a_batch()
    m11_intensity.fusion_saves_the_way_through_memory()
    m11_intensity.a_compiler_fuses_what_is_written_out()
    m11_intensity.fused_attention_does_not_store_its_scores()
    m11_intensity.fused_attention_takes_less_time()
    m11_intensity.exercise_a_softmax()
    m11_intensity.exercise_rows_for_an_rtx_4090()

    # ## Gradients and their price
    # What the backward pass computes, and why it costs twice the forward pass.
    #
    # Skip it if you can write both gradients of a linear layer, and say why its backward pass
    # costs 4 of the 6.
    m12a_gradients.a_gradient_says_how_the_loss_answers()
    m12a_gradients.differences_check_a_gradient()
    m12a_gradients.a_difference_needs_a_middling_step()
    m12a_gradients.one_way_back_serves_all_parameters()
    m12a_gradients.autograd_records_where_numbers_come_from()
    m12a_gradients.autograd_keeps_what_the_way_back_needs()
    m12a_gradients.gradients_add_up()
    m12b_price_of_gradients.two_layers_cost_two_products()
    m12b_price_of_gradients.the_gradient_of_a_weight_sums_over_the_batch()
    m12b_price_of_gradients.the_gradient_of_an_input_goes_back_through_the_weight()
    m12b_price_of_gradients.the_rule_repeats_layer_by_layer()
    m12b_price_of_gradients.a_gradient_has_the_shape_of_its_tensor()
    m12b_price_of_gradients.a_layer_works_once_forward_and_twice_backward()
    # @bridge One backward pass serves all parameters. For a layer
    # $y=xw$ and the gradient g of y it needs two matmuls: $x^\top g$, the gradient of the
    # weight, summed over the rows, and $g\,w^\top$, that of the input, for the layer below.
    m12b_price_of_gradients.backward_costs_twice_forward()
    m12b_price_of_gradients.two_plus_four_is_six()
    m12b_price_of_gradients.frozen_weights_still_pass_gradients_on()
    m12b_price_of_gradients.small_updates_save_memory_and_a_third_of_the_work()
    m12b_price_of_gradients.shared_weights_are_paid_for_at_every_use()
    m12b_price_of_gradients.looked_up_parameters_cost_no_products()
    m12b_price_of_gradients.long_contexts_add_work_without_parameters()
    m12b_price_of_gradients.exercise_every_other_layer()
    m12b_price_of_gradients.exercise_two_of_eight_experts()
