"""Why: how to read this lecture, and why to count at all."""

from lecture.part1_why import m00_conventions, m01_motivation


def main() -> None:
    # ## Before we start
    # How to read this page: claims, the meter, the letters and the units of all chapters.
    m00_conventions.every_claim_is_checked_on_every_run()
    m00_conventions.the_meter_knows_four_kinds_of_things()
    # @bridge Each `assert` that was reached was checked when this page was made. A matmul,
    # `@`, multiplies each row of one matrix by each column of another, number by number, and
    # adds up; a FLOP is one such multiplication or addition. `measure` is a meter: it counts
    # FLOPs, from the shapes that it sees, and bytes. On the device `meta` tensors have shapes
    # and no numbers.
    m00_conventions.letters_name_the_axes()
    m00_conventions.an_amount_is_not_a_rate()
    m00_conventions.giga_is_not_gibi()

    # ## Why count
    # How long it takes to train a large model, and how large it can be: two estimates on a napkin.
    #
    # Skip it if you can say why a model of N parameters takes $6N$ FLOPs a token and 16 bytes
    # a parameter to train.
    m01_motivation.every_chapter_pays_in_two_currencies()
    m01_motivation.training_time_is_work_over_rate()
    m01_motivation.training_costs_six_flops_per_parameter_and_token()
    m01_motivation.the_optimizer_is_not_in_the_six()
    m01_motivation.a_peak_has_conditions()
    m01_motivation.utilization_decides_the_bill()
    m01_motivation.adamw_keeps_four_numbers_per_parameter()
    m01_motivation.bytes_per_parameter_depend_on_the_recipe()
    # @bridge Recipes differ. With bf16 weights and gradients and an fp32 copy of the weights,
    # the master, it is 2 + 2 + 4 + 4 + 4 bytes, 16 again.
    m01_motivation.eight_cards_hold_forty_billion_parameters()
    m01_motivation.activations_come_on_top()
    m01_motivation.gpt3_can_be_recomputed()
    m01_motivation.a_week_on_eight_cards_is_little_beside_gpt3()
    m01_motivation.the_ruler_spans_twenty_one_powers_of_ten()
    m01_motivation.intuition_has_no_assert()
    m01_motivation.exercise_seven_billion_on_64_gpus()
    m01_motivation.exercise_six_billion_in_one_gpu()
