"""Numbers that come from outside, each with its unit, its source and the date of the source.

Rates of accelerators are peaks from data sheets: nobody measured them here. "Dense" is ordinary
arithmetic; "sparse" assumes matrices in which two of every four weights are zero.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Accelerator:
    """What a data sheet promises."""

    name: str
    memory_bytes: int
    memory_bytes_per_second: float
    dense_flops_per_second: dict[str, float]
    sparse_flops_per_second: dict[str, float]


# NVIDIA H100 Tensor Core GPU data sheet, 2023. For bf16 and fp8 it prints the rates with sparsity
# and notes that they are half without: the dense ones are halved here. fp32 is the rate outside the
# tensor cores. Of the memory it says "80GB"; reading that as 80e9 bytes is ours.
# https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet
H100_SXM = Accelerator(
    name="H100 SXM",
    memory_bytes=80 * 10**9,
    memory_bytes_per_second=3.35e12,
    dense_flops_per_second={"fp32": 67e12, "bf16": 1979e12 / 2, "fp8": 3958e12 / 2},
    sparse_flops_per_second={"bf16": 1979e12, "fp8": 3958e12},
)
H100_PCIE = Accelerator(
    name="H100 PCIe",
    memory_bytes=80 * 10**9,
    memory_bytes_per_second=2.0e12,
    dense_flops_per_second={"fp32": 51e12, "bf16": 1513e12 / 2, "fp8": 3026e12 / 2},
    sparse_flops_per_second={"bf16": 1513e12, "fp8": 3026e12},
)

# NVIDIA A100 Tensor Core GPU data sheet, 80 GB SXM, 2021. It prints both rates.
# https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf
A100_SXM = Accelerator(
    name="A100 SXM",
    memory_bytes=80 * 10**9,
    memory_bytes_per_second=2.039e12,
    dense_flops_per_second={"fp32": 19.5e12, "bf16": 312e12},
    sparse_flops_per_second={"bf16": 624e12},
)

# PCI Express 5.0 base specification, May 2019: transfers per second and lane, one bit each, in each
# direction, of which 128 in 130 carry data; the widest slot. https://pcisig.com/specifications
PCIE5_TRANSFERS_PER_SECOND = 32e9
PCIE_LANES = 16
PCIE5_DATA_SHARE = 128 / 130

# Brown et al., "Language Models are Few-Shot Learners", May 2020. The name of the model and table
# 2.1: 175 billion parameters, tokens per step, layers, width, context. Table D.1: the parameters in
# full, tokens and FLOPs of the whole run, FLOPs per parameter and token.
# https://arxiv.org/abs/2005.14165
GPT3_NAMED_PARAMETERS = 175 * 10**9
GPT3_PARAMETERS = 174_600 * 10**6
GPT3_TRAINING_TOKENS = 300 * 10**9
GPT3_TRAINING_FLOPS = 3.14e23
GPT3_FLOPS_PER_PARAMETER_AND_TOKEN = 6
GPT3_BATCH_TOKENS = 3_200_000
GPT3_LAYERS = 96
GPT3_WIDTH = 12_288
GPT3_FEED_FORWARD_WIDTH = 4 * GPT3_WIDTH
GPT3_CONTEXT_TOKENS = 2048

# The vocabulary GPT-3 takes over from GPT-2: Radford et al., 2019, section 2.3.
# https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
GPT2_VOCABULARY = 50_257

# Llama 3 model card, 18 April 2024: "over 15 trillion tokens"; 6.4 million hours on H100-80GB
# cards for the model called 70B, whose name is taken for its size.
# https://github.com/meta-llama/llama3/blob/main/MODEL_CARD.md
LLAMA3_70B_PARAMETERS = 70 * 10**9
LLAMA3_TRAINING_TOKENS = 15 * 10**12
LLAMA3_70B_GPU_HOURS = 6.4e6

# Reported by those who ran the training, as shares of the dense bf16 peak. Chowdhery et al.,
# "PaLM", April 2022: PaLM with 540 billion parameters, on TPU v4, https://arxiv.org/abs/2204.02311.
# "The Llama 3 Herd of Models", July 2024: the lowest and the highest of the configurations for 405
# billion parameters, on H100, https://arxiv.org/abs/2407.21783
PALM_MFU = 0.462
LLAMA3_405B_MFU = (0.38, 0.43)

# Rajbhandari et al., "ZeRO", October 2019, section 3.1: fp16 weights and gradients, and 12 bytes of
# Adam with an fp32 copy of the weights. https://arxiv.org/abs/1910.02054
ZERO_BYTES_PER_PARAMETER = 2 + 2 + 12

# An estimate by Epoch AI in its database of notable models, as of 2024. OpenAI has published no
# figure. https://epoch.ai/data/notable-ai-models
GPT4_TRAINING_FLOPS_ESTIMATE = 2.1e25

# Regulation (EU) 2024/1689, article 51(2), June 2024: a model trained with more is presumed to pose
# systemic risk. https://eur-lex.europa.eu/eli/reg/2024/1689/oj
EU_AI_ACT_THRESHOLD_FLOPS = 1e25

# Executive Order 14110, section 4.2(b), October 2023: training runs above it had to be reported.
# Revoked on 20 January 2025 by Executive Order 14148.
# https://www.federalregister.gov/documents/2023/11/01/2023-24283/safe-secure-and-trustworthy-development-and-use-of-artificial-intelligence
US_REPORTING_THRESHOLD_FLOPS = 1e26
