"""Text: from characters to the ids that a model reads."""

from lecture.part2_text import m02_text, m03_learning_merges, m04_encoding


def main() -> None:
    # ## From text to bytes
    # What a tokenizer is for, and the alphabet from which it starts.
    #
    # Skip it if you know what UTF-8 does with é, and why a single byte may be no character.
    m02_text.a_tokenizer_turns_text_into_integers()
    m02_text.a_character_can_be_there_and_not_be_seen()
    m02_text.utf8_is_not_always_the_smallest()
    m02_text.one_letter_can_have_two_spellings()
    m02_text.bytes_are_an_alphabet_for_every_text()
    m02_text.bytes_cannot_be_decoded_one_by_one()
    m02_text.most_pairs_of_bytes_are_no_text()
    m02_text.exercise_bytes_of_a_flag()
    m02_text.exercise_cut_within_bounds()

    # ## Learning a vocabulary
    # Which pieces of text become tokens, and how they are found fast.
    #
    # Skip it if you have written a trainer for byte pair encoding that does not count all
    # pairs again after each merge.
    m03_learning_merges.the_most_frequent_pair_is_merged()
    m03_learning_merges.ties_need_a_rule()
    # @bridge Of two pairs that are equally frequent, the larger is merged.
    m03_learning_merges.a_vocabulary_is_bytes_merges_and_special_tokens()
    m03_learning_merges.text_is_cut_before_merging()
    m03_learning_merges.letters_need_their_own_pattern()
    m03_learning_merges.numbers_are_cut_by_three()
    m03_learning_merges.measure_before_making_it_faster()
    m03_learning_merges.only_words_with_the_pair_change()
    m03_learning_merges.an_index_knows_the_words()
    m03_learning_merges.a_heap_keeps_the_best_on_top()
    m03_learning_merges.a_heap_forgets_lazily()
    m03_learning_merges.the_ladder_so_far()
    m03_learning_merges.counting_can_be_shared_out()
    m03_learning_merges.the_part_not_improved_sets_the_limit()
    m03_learning_merges.timers_inside_timers_count_twice()
    m03_learning_merges.later_merges_touch_fewer_words()
    m03_learning_merges.late_tokens_are_longer()
    m03_learning_merges.exercise_banana()
    m03_learning_merges.exercise_seven_or_eight()

    # ## Encoding and decoding
    # From text to ids and back, how fast, and what the ids cost.
    #
    # Skip it if you know what a token costs: bytes per token, bytes per id, and parameters
    # per entry of the vocabulary.
    m04_encoding.decoding_joins_before_it_decodes()
    m04_encoding.encoding_replays_the_training()
    m04_encoding.most_merges_are_absent()
    m04_encoding.the_smallest_rank_comes_first()
    m04_encoding.a_heap_pays_for_long_words()
    m04_encoding.the_same_sample_for_every_rung()
    m04_encoding.bytes_per_token_has_two_conventions()
    m04_encoding.a_tokenizer_from_another_domain_costs_tokens()
    m04_encoding.two_bytes_are_enough_for_65536_ids()
    m04_encoding.a_larger_vocabulary_costs_parameters()
    m04_encoding.a_larger_vocabulary_saves_tokens()
    m04_encoding.special_tokens_are_cut_out_first()
    m04_encoding.a_stream_gets_the_ids_of_the_whole_text()
    m04_encoding.a_corpus_takes_days_to_encode()
    m04_encoding.exercise_a_space_at_the_end()
    m04_encoding.exercise_how_much_fits_into_a_context()
