"""After: using a model, many devices, and the whole lecture on one page."""

from lecture.part7_after import (
    m26_inference,
    m27a_many_devices,
    m27b_split_models,
    m28_recap,
)


def main() -> None:
    # ## Serving a model
    # What is different when a model is only used, by one or by many, and what they wait for.
    #
    # Skip it if you can predict tokens per second from a bandwidth, a batch and a context.
    m26_inference.using_a_model_needs_no_way_back()
    m26_inference.a_model_that_writes_remembers()
    m26_inference.eval_does_not_stop_the_recording()
    m26_inference.a_cache_saves_time()
    m26_inference.writing_reads_every_weight_for_a_token()
    m26_inference.prefill_reads_the_prompt_at_once()
    # @bridge A served model keeps no gradients and no optimizer state. It makes a token at a
    # time, and each looks back at the keys and values of all before it. They are kept, the *KV
    # cache*: 2·layers·heads·K numbers a token, where only the heads that have keys of their own
    # count. Llama 3 8B has 32 layers and 8 such heads with K = 128, in bf16 128 KiB. (Training
    # has all tokens at once and needs no cache.) *Prefill* takes the whole prompt in one pass; if
    # that is long, it waits for arithmetic. *Decoding* reads every weight to make one token, 2
    # FLOPs for 2 bytes, and waits for memory.
    m26_inference.a_batch_shares_the_weights_until_the_cache_rules()
    m26_inference.grouped_queries_shrink_the_cache()
    m26_inference.pages_leave_little_unused()
    m26_inference.a_draft_is_judged_in_one_pass()
    m26_inference.exercise_texts_half_as_long()
    m26_inference.exercise_a_better_draft_or_a_smaller_one()

    # ## Quantization
    # How few bits a weight needs, when training is over, and a key or a value.
    #
    # Skip it if you know what a scale for each block costs in bits, and what an outlier does
    # to it.
    m26_inference.a_scale_makes_weights_integers()
    m26_inference.each_bit_halves_the_error()
    m26_inference.an_outlier_costs_its_block()
    m26_inference.four_bits_go_in_pairs()
    m26_inference.products_of_integers_are_exact()
    m26_inference.afterwards_is_easier_than_during()
    m26_inference.the_largest_weight_need_not_fit()
    m26_inference.a_cache_fits_in_eight_bits()
    m26_inference.exercise_seventy_billion_in_four_bits()
    m26_inference.exercise_half_a_bit_more()

    # ## More than one device
    # What ranks have to tell each other, and how the memory of many becomes one.
    #
    # Skip it if you know what an all-reduce sends, and what each stage of ZeRO divides.
    m27a_many_devices.ranks_share_nothing_but_messages()
    m27a_many_devices.four_collectives_move_everything()
    # @bridge Several processes, called ranks, share nothing but messages. After an all-reduce
    # each has the sum of the tensors of all. It is a reduce-scatter, after which each has one
    # part of the sum, and an all-gather, which hands the parts to all.
    m27a_many_devices.an_all_reduce_moves_twice_the_tensor()
    m27a_many_devices.equal_copies_make_equal_steps()
    m27a_many_devices.gradients_travel_while_others_are_computed()
    # @bridge Data parallelism uses it: equal copies of a model, each with a share of the
    # batch, add up their gradients and make equal steps. Each copy keeps everything.
    m27a_many_devices.zero_divides_what_every_rank_keeps()
    m27a_many_devices.each_stage_of_zero_keeps_what_it_promises()
    m27a_many_devices.fsdp_gathers_one_block_at_a_time()
    m27a_many_devices.a_checkpoint_can_change_its_ranks()
    m27a_many_devices.exercise_when_to_meet()
    m27a_many_devices.exercise_one_slow_link()

    # ## Splitting a model
    # Matrices, layers and experts on different devices, and which link carries which message.
    #
    # Skip it if you can lay out a model on a cluster, and say which axis goes over which
    # link.
    m27b_split_models.columns_first_rows_second()
    m27b_split_models.a_block_meets_twice_each_way()
    m27b_split_models.a_pipeline_waits_at_both_ends()
    m27b_split_models.backward_early_keeps_less()
    m27b_split_models.experts_make_tokens_travel()
    m27b_split_models.a_link_has_a_roofline()
    m27b_split_models.the_most_talkative_axis_stays_inside()
    m27b_split_models.llama3_lays_out_16384_gpus()
    m27b_split_models.deepseek_v3_splits_its_experts()
    m27b_split_models.exercise_twice_the_stages()
    m27b_split_models.exercise_seventy_billion_on_eighty_gigabytes()

    # ## The sheet
    # A sheet to calculate with: formulas, checked once more, and where each is explained.
    m28_recap.everything_is_a_product_and_a_little_more()
    m28_recap.memory_has_four_parts()
    m28_recap.the_peak_is_the_largest_of_a_few_moments()
    m28_recap.decoding_pays_for_each_token()
    m28_recap.bytes_loaded_want_to_be_used_often()
    m28_recap.training_is_paid_in_days_and_writing_in_bandwidth()
    m28_recap.many_devices_divide_and_send()
    m28_recap.every_word_has_its_sentence()
