"""The table of contents: `main` calls every section in the order of teaching."""

import sys

if __name__ == "__main__" and not __package__:
    print("Run it from the repository root: python -m lecture.main", file=sys.stderr)
    raise SystemExit(2)

import torch

from lecture import conventions, motivation, plain, storage, tensors


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


if __name__ == "__main__":
    plain.run(main)
