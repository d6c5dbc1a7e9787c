"""After: using a model, and the whole lecture on one page."""

from lecture.part7_after import m26_inference, m27_recap


def main() -> None:
    # ## Inference and quantization
    # What is different when a model is only used, and how few bits its weights need then.
    m26_inference.using_a_model_needs_no_way_back()
    m26_inference.a_model_that_writes_remembers()
    m26_inference.eval_does_not_stop_the_recording()
    m26_inference.a_cache_saves_time()
    m26_inference.writing_reads_every_weight_for_a_token()
    m26_inference.a_scale_makes_weights_integers()
    m26_inference.each_bit_halves_the_error()
    m26_inference.an_outlier_costs_its_block()
    m26_inference.four_bits_go_in_pairs()
    m26_inference.products_of_integers_are_exact()
    m26_inference.afterwards_is_easier_than_during()
    m26_inference.the_largest_weight_need_not_fit()

    # ## The whole on one page
    # The headline numbers, measured once more, and where each is explained.
    m27_recap.everything_is_a_product_and_a_little_more()
    m27_recap.memory_has_four_parts()
    m27_recap.bytes_loaded_want_to_be_used_often()
    m27_recap.training_is_paid_in_days_and_writing_in_bandwidth()
    m27_recap.text_and_tensors_have_two_answers()
    m27_recap.models_have_two_answers()
    m27_recap.training_has_two_answers()
