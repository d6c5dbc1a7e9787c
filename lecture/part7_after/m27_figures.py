"""Tables for the last page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lecture.syllabus import PARTS

CHAPTERS = {title: chapter for part in PARTS.values() for chapter, title in part.items()}


@dataclass(frozen=True)
class Sheet:
    """A table of results, by what they are of, each with a link to the section that explains it."""

    title: str
    results: Mapping[str, tuple[str, str]]

    def _repr_markdown_(self) -> str:
        rows = [
            f"| [{name}](#{section}) | {result} |"
            for name, (result, section) in self.results.items()
        ]
        return "\n".join((f"| {self.title} | |", "| :-- | :-- |", *rows))


@dataclass(frozen=True)
class Wording:
    """How the figures of a chapter read, and the section that explains them."""

    in_bytes: str
    in_flops: str
    section: str


WORDINGS = {
    "M1": Wording(
        "{} per parameter in training",
        "{} per parameter and token",
        "training_costs_six_flops_per_parameter_and_token",
    ),
    "M2": Wording(
        "{} to {} per character", "not on tensors", "bytes_are_an_alphabet_for_every_text"
    ),
    "M3": Wording("{} count per different word", "not on tensors", "the_ladder_so_far"),
    "M4": Wording("{} per token on disk", "not on tensors", "two_bytes_are_enough_for_65536_ids"),
    "M5": Wording("{} per element in fp32", "{}", "bytes_are_elements_times_element_size"),
    "M6": Wording(
        "{}, {} or {} per number", "{} per triple in fp32, {} in bf16", "each_format_has_its_job"
    ),
    "M7": Wording("{} for a view", "{}", "views_share_storage"),
    "M8": Wording(
        "{} per result", "{} per triple of a product", "every_triple_multiplies_and_adds"
    ),
    "M9": Wording(
        "{} for splitting heads",
        "{}n² for A(Bv), {}(n³ + n²) for (AB)v",
        "the_order_of_products_decides_their_price",
    ),
    "M10": Wording(
        "{} per result",
        "{} per parameter and token",
        "forward_is_two_flops_per_parameter_and_token",
    ),
    "M11": Wording(
        "{}n² moved for a square product in bf16",
        "{}n³ for that product",
        "the_roofline_bounds_every_operation",
    ),
    "M12": Wording(
        "{} per parameter, for its gradient",
        "{} per parameter and token",
        "backward_costs_twice_forward",
    ),
    "M13": Wording(
        "{} per parameter in fp32",
        "{} per parameter, once",
        "a_parameter_is_a_tensor_that_modules_register",
    ),
    "M14": Wording(
        "{} per parameter in fp32", "{} per parameter and row", "parameters_are_counted_by_name"
    ),
    "M15": Wording(
        "{} per head and pair of tokens",
        "{} per feature and pair of tokens",
        "heads_share_out_the_features",
    ),
    "M16": Wording(
        "{}e9 for weights in GPT-2 XL's shape",
        "{}e12 for a text of 1024 tokens",
        "one_forward_pass_of_xl",
    ),
    "M17": Wording(
        "{} per parameter for AdamW", "{} per parameter", "adamw_costs_33_flops_per_parameter"
    ),
    "M18": Wording(
        "{} kept per feature, row and layer",
        "{}D to make them",
        "a_weight_needs_what_it_multiplied",
    ),
    "M19": Wording(
        "{}/n of the activations, with n parts",
        "{} times those of the whole batch",
        "accumulation_spends_no_flops",
    ),
    "M20": Wording(
        "{} tensor kept per segment of √L layers",
        "{} per parameter and row",
        "a_second_way_forward_makes_eight_of_six",
    ),
    "M21": Wording("{} for a generator", "not counted", "each_purpose_gets_its_own_stream"),
    "M22": Wording("{} per token of a window", "{}", "a_batch_touches_few_pages"),
    "M23": Wording(
        "{} more after each step", "{} per parameter and token, each step", "six_moves_make_a_step"
    ),
    "M24": Wording(
        "{} per parameter on disk", "not on tensors", "a_checkpoint_holds_parameters_and_state"
    ),
    "M25": Wording(
        "{} per parameter, or {}",
        "{} and {} per parameter and token, at a higher rate",
        "two_recipes_go_by_one_name",
    ),
    "M26": Wording(
        "{}, {} or {} per weight",
        "{} per parameter and token",
        "writing_reads_every_weight_for_a_token",
    ),
    "M27": Wording(
        "{} per parameter, and the activations",
        "{} per parameter and token",
        "memory_has_four_parts",
    ),
}


@dataclass(frozen=True)
class TwoAnswers:
    """A table of what was found in each chapter: its bytes and its FLOPs."""

    found: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    """By the title of a chapter."""

    def _repr_markdown_(self) -> str:
        rows = [row_of(title, *figures) for title, figures in self.found.items()]
        return "\n".join(("| Chapter | bytes | FLOPs |", "| :-- | :-- | :-- |", *rows))


def row_of(title: str, sizes: Sequence[float], flops: Sequence[float]) -> str:
    """Put the figures of a chapter into words, with a link to where they are explained."""
    wording = WORDINGS[CHAPTERS[title]]
    in_bytes = wording.in_bytes.format(*map(worded, sizes))
    in_flops = wording.in_flops.format(*map(worded, flops))
    return f"| [{title}](#{wording.section}) | {in_bytes} | {in_flops} |"


def worded(figure: float) -> str:
    """Write a number as it is read."""
    return f"{figure:g}" if figure else "none"
