"""Tensors: what numbers are made of, where they lie, and what is done with them."""

from lecture.part3_tensors import (
    m05_tensors,
    m06_floating_point,
    m07_storage,
    m08_operations,
    m09_named_axes,
)


def main() -> None:
    # ## Tensors and their bytes
    # What a model is made of, how many bytes that is, and where they are.
    #
    # Skip it if you know the bytes of any tensor without running it, and what `device="meta"`
    # is for.
    m05_tensors.everything_is_a_tensor()
    m05_tensors.rank_means_two_things()
    m05_tensors.a_tensor_is_made_from_values_or_from_a_rule()
    m05_tensors.bytes_are_elements_times_element_size()
    m05_tensors.one_gpt3_matrix_takes_gigabytes()
    m05_tensors.a_tensor_lives_on_one_device()
    m05_tensors.the_way_to_the_accelerator_is_narrow()
    m05_tensors.exercise_ids_and_activations()
    m05_tensors.exercise_one_and_nothing()

    # ## Floating-point formats
    # What the bits of a number say, what each format has no bits for, and which to use when.
    #
    # Skip it if you can say what bf16 gives up against fp16 and gains, and why $256+1=256$ in
    # it.
    m06_floating_point.a_number_is_sign_exponent_and_fraction()
    m06_floating_point.every_format_divides_its_bits_its_own_way()
    m06_floating_point.exponents_are_stored_with_a_bias()
    m06_floating_point.the_leading_one_is_not_stored()
    m06_floating_point.a_hundredth_has_no_last_digit()
    m06_floating_point.rounding_goes_to_the_nearest_and_ties_to_even()
    m06_floating_point.the_exponent_is_range_and_the_fraction_resolution()
    m06_floating_point.counting_stops_early_in_16_bits()
    m06_floating_point.fp16_ends_soon_on_both_sides()
    # @bridge The 1 is not stored, as nearly all numbers have it, and subtracting 15 makes
    # exponents of both signs. The highest is set aside, for infinity and NaN. In the lowest, for
    # 0 and the numbers next to it, the 1 is a 0 and the power of 2 that of the next exponent.
    # Fraction bits are resolution, exponent bits are range: fp32 has 23 and 8 of them, fp16 10
    # and 5, bf16 7 and 8. So fp16 ends at 65 504, and its smallest number above 0 is
    # $6\cdot 10^{-8}$.
    m06_floating_point.bf16_trades_resolution_for_range()
    m06_floating_point.tf32_is_for_computing_not_for_storing()
    m06_floating_point.fp8_comes_in_two_kinds()
    m06_floating_point.fp4_has_fifteen_values()
    m06_floating_point.a_scale_for_each_block_contains_outliers()
    m06_floating_point.small_updates_are_lost()
    m06_floating_point.each_format_has_its_job()
    m06_floating_point.exercise_a_counter_of_tokens()
    m06_floating_point.exercise_six_bits()

    # ## Storage, strides and views
    # What a tensor is underneath, and which operations are free because of it.
    #
    # Skip it if you know which of `view`, `reshape`, `transpose`, `expand` and `clone` can
    # copy.
    m07_storage.a_tensor_is_a_pointer_and_metadata()
    m07_storage.strides_find_every_element()
    m07_storage.a_slice_is_an_offset_and_a_stride()
    m07_storage.views_share_storage()
    m07_storage.writing_through_a_view_changes_the_others()
    m07_storage.contiguous_means_row_major_without_gaps()
    m07_storage.most_operations_take_any_strides()
    m07_storage.reshape_copies_only_when_it_must()
    m07_storage.some_tensors_with_gaps_can_be_viewed()
    m07_storage.expanding_repeats_without_copying()
    m07_storage.a_view_keeps_the_whole_storage_alive()
    m07_storage.exercise_a_row_of_a_transpose()
    m07_storage.exercise_more_than_there_is()

    # ## Elementwise operations and matmuls
    # What computes new numbers, how many FLOPs it costs, and what it writes.
    #
    # Skip it if you can predict shape, new bytes and FLOPs of `(x @ w).relu() + b`.
    m08_operations.an_elementwise_result_has_its_own_memory()
    m08_operations.a_chain_makes_temporaries()
    m08_operations.in_place_operations_keep_the_storage()
    m08_operations.the_backward_pass_needs_the_old_numbers()
    m08_operations.shapes_are_lined_up_from_the_right()
    m08_operations.the_upper_triangle_is_kept_by_position()
    m08_operations.masked_scores_leave_nothing_for_the_future()
    m08_operations.a_mask_can_go_wrong_in_three_ways()
    m08_operations.a_product_pairs_every_row_with_every_column()
    m08_operations.a_stack_is_multiplied_matrix_by_matrix()
    m08_operations.the_star_is_not_the_matrix_product()
    # @bridge The bytes of a tensor, its storage, can be shared: a slice or a transpose is a
    # view, another way to read the same bytes, and allocates none. Its offset says where in the
    # storage it begins, its strides how many places further each next row and column begin. One
    # small view keeps all of the storage alive; `clone` copies it out, and `contiguous` copies a
    # view whose numbers do not lie row after row. What computes new numbers allocates room for
    # them (unless in place). One such operation makes nearly all FLOPs of a Transformer.
    m08_operations.every_triple_multiplies_and_adds()
    m08_operations.the_loops_nest_in_any_order()
    m08_operations.exercise_scores_and_values()
    m08_operations.exercise_in_place()

    # ## Axes with names
    # How to say which axis is which, who checks it, and how to read a price off the names.
    #
    # Skip it if you read `einsum` and `rearrange` fluently. Some later signatures use the
    # names.
    m09_named_axes.numbered_axes_hide_their_meaning()
    m09_named_axes.an_annotation_only_describes()
    m09_named_axes.a_checker_makes_annotations_bind()
    m09_named_axes.a_checker_sees_only_signatures()
    m09_named_axes.einsum_sums_over_what_is_left_out()
    m09_named_axes.one_rule_covers_the_usual_products()
    m09_named_axes.an_ellipsis_stands_for_any_axes_in_front()
    m09_named_axes.reduce_names_what_goes()
    m09_named_axes.heads_are_split_without_moving_data()
    m09_named_axes.heads_are_blocks_of_one_matrix()
    m09_named_axes.the_order_of_products_decides_their_price()
    m09_named_axes.exercise_scores_by_name()
    m09_named_axes.exercise_four_become_one()
