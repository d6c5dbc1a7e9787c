"""The table of contents: `main` calls every section in the order of teaching."""

import sys

if __name__ == "__main__" and not __package__:
    print("Run it from the repository root: python -m lecture.main", file=sys.stderr)
    raise SystemExit(2)

import torch

from lecture import (
    conventions,
    floating_point,
    motivation,
    named_axes,
    operations,
    plain,
    storage,
    tensors,
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
    motivation.intuition_has_no_assert()

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


if __name__ == "__main__":
    plain.run(main)
