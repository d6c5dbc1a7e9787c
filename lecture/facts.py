"""Numbers that come from outside, each with its unit, its source and, for most, a date.

Rates of accelerators are peaks from data sheets: nobody measured them here. "Dense" is ordinary
arithmetic; "sparse" assumes matrices in which two of every four weights are zero.
"""

from dataclasses import dataclass, replace

SECONDS_PER_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Accelerator:
    """What a data sheet promises, by format, and the memory that the device reports.

    A format that is missing is not listed here, whether or not the device has it.
    """

    name: str
    memory_bytes: int
    cache_bytes: int
    memory_bytes_per_second: float
    dense_flops_per_second: dict[str, float]
    sparse_flops_per_second: dict[str, float]


# For all cards: fp64 and fp32 are the rates outside the tensor cores; fp16 and bf16 are the rates
# of the tensor cores, with sums kept in fp32. Memory is what `torch.cuda.get_device_properties`
# reports as `total_memory`, in dumps and error messages that users published from 2023 to 2026: a
# sheet's "80GB" are 81 089 MiB. (nvidia-smi reports up to about 2 % more, and drivers differ, too.)
# The cache is the L2 that all multiprocessors share, as devices report it and
# https://github.com/markdewing/AI_kernels does.
MIB = 2**20

# NVIDIA H100 Tensor Core GPU data sheet, 2023. For tf32, fp16, bf16 and fp8 it prints the rates
# with sparsity and notes that they are half without: the dense ones are halved here.
# https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet
H100_SXM = Accelerator(
    name="H100 SXM",
    memory_bytes=81_089 * MIB,
    cache_bytes=50 * MIB,
    memory_bytes_per_second=3.35e12,
    dense_flops_per_second={
        "fp64": 34e12,
        "fp32": 67e12,
        "tf32": 989e12 / 2,
        "fp16": 1979e12 / 2,
        "bf16": 1979e12 / 2,
        "fp8": 3958e12 / 2,
    },
    sparse_flops_per_second={"tf32": 989e12, "fp16": 1979e12, "bf16": 1979e12, "fp8": 3958e12},
)

# NVIDIA H100 Tensor Core GPU Architecture, white paper, V1.04, 2023, table 1: the card for the
# slot. Later editions of the sheet have another card, the H100 NVL, in its column.
# https://resources.nvidia.com/en-us-tensor-core
H100_PCIE = Accelerator(
    name="H100 PCIe",
    memory_bytes=81_008 * MIB,
    cache_bytes=50 * MIB,
    memory_bytes_per_second=2.0e12,
    dense_flops_per_second={
        "fp32": 51e12,
        "tf32": 756e12 / 2,
        "fp16": 1513e12 / 2,
        "bf16": 1513e12 / 2,
        "fp8": 3026e12 / 2,
    },
    sparse_flops_per_second={"tf32": 756e12, "fp16": 1513e12, "bf16": 1513e12, "fp8": 3026e12},
)

# NVIDIA H200 Tensor Core GPU data sheet, SXM, 2023: the rates of the H100 SXM, with more and faster
# memory and a larger cache. https://www.nvidia.com/en-us/data-center/h200/
H200 = replace(
    H100_SXM,
    name="H200",
    memory_bytes=143_156 * MIB,
    cache_bytes=60 * MIB,
    memory_bytes_per_second=4.8e12,
)

# NVIDIA A100 Tensor Core GPU data sheet, 2021. It prints both rates. The four cards differ in their
# memory.
# https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf
A100_SXM = Accelerator(
    name="A100 SXM",
    memory_bytes=81_152 * MIB,
    cache_bytes=40 * MIB,
    memory_bytes_per_second=2.039e12,
    dense_flops_per_second={
        "fp64": 9.7e12,
        "fp32": 19.5e12,
        "tf32": 156e12,
        "fp16": 312e12,
        "bf16": 312e12,
    },
    sparse_flops_per_second={"tf32": 312e12, "fp16": 624e12, "bf16": 624e12},
)
A100_SXM_40GB = replace(
    A100_SXM,
    name="A100 SXM 40 GB",
    memory_bytes=40_536 * MIB,
    memory_bytes_per_second=1.555e12,
)
A100_PCIE = replace(A100_SXM, name="A100 PCIe", memory_bytes_per_second=1.935e12)
A100_PCIE_40GB = replace(A100_SXM_40GB, name="A100 PCIe 40 GB")

# NVIDIA DGX B200 data sheet, 2024, for eight cards: with sparsity 72e15 FLOP/s in fp8 and 144e15 in
# fp4. NVIDIA HGX B200, 2024, adds 36e15 in bf16 and fp16, 18e15 in tf32, 600e12 in fp32, and that
# dense is half. Neither prints one card alone: these are eighths. For the bandwidth they round to
# 64 TB/s; the device reports a bus of 7680 bits at 3.996 GHz, twice a tick
# (https://github.com/pytorch/ao/pull/4002, 2026).
# https://www.nvidia.com/en-us/data-center/dgx-b200/
# https://www.nvidia.com/en-us/data-center/hgx/
B200 = Accelerator(
    name="B200",
    memory_bytes=182_642 * MIB,
    cache_bytes=253 * MIB // 2,
    memory_bytes_per_second=7680 / 8 * 2 * 3.996e9,
    dense_flops_per_second={
        "fp32": 600e12 / 8,
        "tf32": 18e15 / 8 / 2,
        "fp16": 36e15 / 8 / 2,
        "bf16": 36e15 / 8 / 2,
        "fp8": 72e15 / 8 / 2,
        "fp4": 144e15 / 8 / 2,
    },
    sparse_flops_per_second={
        "tf32": 18e15 / 8,
        "fp16": 36e15 / 8,
        "bf16": 36e15 / 8,
        "fp8": 72e15 / 8,
        "fp4": 144e15 / 8,
    },
)

# NVIDIA Ampere GA102 GPU Architecture, white paper V2, 2020, appendix A.
# https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf
RTX_3090 = Accelerator(
    name="RTX 3090",
    memory_bytes=24_268 * MIB,
    cache_bytes=6 * MIB,
    memory_bytes_per_second=936e9,
    dense_flops_per_second={"fp32": 35.6e12, "tf32": 35.6e12, "fp16": 71e12, "bf16": 71e12},
    sparse_flops_per_second={"tf32": 71e12, "fp16": 142e12, "bf16": 142e12},
)

# NVIDIA Ada GPU Architecture, white paper, 2022, appendix A; fp8, too, with sums kept in fp32.
# https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf
RTX_4090 = Accelerator(
    name="RTX 4090",
    memory_bytes=24_064 * MIB,
    cache_bytes=72 * MIB,
    memory_bytes_per_second=1008e9,
    dense_flops_per_second={
        "fp32": 82.6e12,
        "tf32": 82.6e12,
        "fp16": 165.2e12,
        "bf16": 165.2e12,
        "fp8": 330.3e12,
    },
    sparse_flops_per_second={
        "tf32": 165.2e12,
        "fp16": 330.4e12,
        "bf16": 330.4e12,
        "fp8": 660.6e12,
    },
)

# What `torch.cuda.get_device_name` says of each. Cards that only sound alike, such as the RTX 3090
# Ti, are other cards.
ACCELERATORS = {
    "NVIDIA A100-SXM4-40GB": A100_SXM_40GB,
    "NVIDIA A100-SXM4-80GB": A100_SXM,
    "NVIDIA A100-PCIE-40GB": A100_PCIE_40GB,
    "NVIDIA A100 80GB PCIe": A100_PCIE,
    "NVIDIA H100 80GB HBM3": H100_SXM,
    "NVIDIA H100 PCIe": H100_PCIE,
    "NVIDIA H200": H200,
    "NVIDIA B200": B200,
    "NVIDIA GeForce RTX 3090": RTX_3090,
    "NVIDIA GeForce RTX 4090": RTX_4090,
}

# PCI Express 5.0 base specification, May 2019: transfers per second and lane, one bit each, in each
# direction, of which 128 in 130 carry data; the widest slot. https://pcisig.com/specifications
PCIE5_TRANSFERS_PER_SECOND = 32e9
PCIE_LANES = 16
PCIE5_DATA_SHARE = 128 / 130

# Brown et al., "Language Models are Few-Shot Learners", May 2020. The name of the model and table
# 2.1: 175 billion parameters, tokens per step, layers, width, context. Table D.1: the parameters in
# millions, tokens and FLOPs of the whole run, FLOPs per parameter and token.
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

# "The Llama 3 Herd of Models", July 2024, table 3: layers and width of the model called 70B. The
# context it was trained with: the model card above. https://arxiv.org/abs/2407.21783
LLAMA3_70B_LAYERS = 80
LLAMA3_70B_WIDTH = 8192
LLAMA3_CONTEXT_TOKENS = 8192

# Reported by those who ran the training, as shares of the dense bf16 peak. Chowdhery et al.,
# "PaLM", April 2022: PaLM with 540 billion parameters, on TPU v4, https://arxiv.org/abs/2204.02311.
# "The Llama 3 Herd of Models", July 2024: the lowest and the highest of the configurations for 405
# billion parameters, on H100, https://arxiv.org/abs/2407.21783
PALM_MFU = 0.462
LLAMA3_405B_MFU = (0.38, 0.43)

# Rajbhandari et al., "ZeRO", October 2019, section 3.1: fp16 weights and gradients, and 12 bytes of
# Adam with an fp32 copy of the weights. https://arxiv.org/abs/1910.02054
ZERO_BYTES_PER_PARAMETER = 2 + 2 + 12

# The same, figure 1: GB on each of 64 GPUs for 7.5 billion parameters, by stage.
ZERO_EXAMPLE_PARAMETERS = 7.5e9
ZERO_EXAMPLE_RANKS = 64
ZERO_GIGABYTES_BY_STAGE = (120.0, 31.4, 16.6, 1.9)

# An estimate by Epoch AI in its database of notable models, as of 2024. OpenAI has published no
# figure. https://epoch.ai/data/notable-ai-models
GPT4_TRAINING_FLOPS_ESTIMATE = 2.1e25

# Regulation (EU) 2024/1689, article 51(2), June 2024: a model trained with more is presumed to pose
# systemic risk. https://eur-lex.europa.eu/eli/reg/2024/1689/oj
EU_AI_ACT_THRESHOLD_FLOPS = 1e25

# Executive Order 14110, section 4.2(b), October 2023: training runs above it had to be reported.
# Revoked on 20 January 2025 by Executive Order 14148. California's SB 53 and New York's RAISE act,
# both of 2025, define a frontier model by the same 1e26.
# https://www.federalregister.gov/documents/2023/11/01/2023-24283/safe-secure-and-trustworthy-development-and-use-of-artificial-intelligence
US_REPORTING_THRESHOLD_FLOPS = 1e26

# Open Compute Project, "OCP Microscaling Formats (MX) Specification", version 1.0, September 2023:
# so many values share a scale, which is a power of two in eight bits.
# https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf
MXFP4_BLOCK_VALUES = 32

# NVIDIA, "Introducing NVFP4 for Efficient and Accurate Low-Precision Inference", June 2025: so many
# values share a scale in fp8 E4M3, and a tensor has one more in fp32.
# https://developer.nvidia.com/blog/introducing-nvfp4-for-efficient-and-accurate-low-precision-inference/
NVFP4_BLOCK_VALUES = 16

# DeepSeek-AI, "DeepSeek-V3 Technical Report", December 2024, section 3.3.2: so many activations in
# fp8 share a scale in fp32. https://arxiv.org/abs/2412.19437
FP8_BLOCK_VALUES = 128


@dataclass(frozen=True)
class Chip:
    """Units that multiply and add, what each does in one tick of the clock, and the clocks."""

    fp32_units: int
    fp32_hertz: float
    tensor_cores: int
    tensor_core_multiply_adds: int
    tensor_core_hertz: float


# The white papers of the architectures: "NVIDIA A100 Tensor Core GPU Architecture", 2020; "NVIDIA
# H100 Tensor Core GPU Architecture", V1.04, 2023, for the SXM card; "NVIDIA Ampere GA102", 2020,
# appendix A. Boost clocks; multiply-adds of one tensor core per tick in bf16, with sums in fp32.
# https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf
# https://resources.nvidia.com/en-us-tensor-core
# https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf
A100_CHIP = Chip(6912, 1.41e9, 432, 256, 1.41e9)
H100_SXM_CHIP = Chip(16_896, 1.98e9, 528, 512, 1.83e9)
RTX_3090_CHIP = Chip(10_496, 1.695e9, 328, 64, 1.695e9)


@dataclass(frozen=True)
class Gpu:
    """What is in a GPU: its multiprocessors, what each keeps near, and how far the rest is away.

    Ticks are those of a load that waits for the load before it.
    """

    multiprocessors: int
    fp32_lanes: int  # in each multiprocessor: threads that multiply and add in one tick
    highest_hertz: float  # that the driver allows, which may be above the clock of the sheet
    near_bytes: int  # L1 cache and shared memory of one multiprocessor, one piece of SRAM
    near_ticks: int
    cache_ticks: int  # L2, the nearer half
    memory_ticks: int


# Counts: jax-ml/scaling-book, gpus.md, 2025; lanes of the B200 as in the H100. Clocks: the devices
# themselves, as stas00/ml-engineering reports, 2026. Ticks: markdewing/AI_kernels,
# latency/README.md, January 2026, measured by following pointers.
# https://jax-ml.github.io/scaling-book/gpus/
# https://github.com/stas00/ml-engineering
# https://github.com/markdewing/AI_kernels
A100_GPU = Gpu(108, 64, 1.41e9, 192 * 2**10, 39, 210, 550)
H100_GPU = Gpu(132, 128, 1.98e9, 256 * 2**10, 40, 291, 700)
B200_GPU = Gpu(148, 128, 1.965e9, 256 * 2**10, 40, 295, 860)

# What a multiprocessor of each of the three has, and how many may be there at a time: NVIDIA/cccl,
# arch_traits.cuh, 2025, for compute capabilities 8.0 and 9.0 (blocks of the B200: taken to be the
# same, not looked up). Registers have 32 bits. A tensor core belongs to each quarter.
# https://github.com/NVIDIA/cccl
WARP_THREADS = 32
MULTIPROCESSOR_QUARTERS = 4
MULTIPROCESSOR_REGISTERS = 65_536
REGISTER_BYTES = 4
MULTIPROCESSOR_THREADS = 2048
MULTIPROCESSOR_BLOCKS = 32
BLOCK_THREADS = 1024
THREAD_REGISTERS = 255

# NVIDIA Hopper Tuning Guide, 2022: the shared memory of one multiprocessor, of which each block
# takes 1 KiB more than it asks for. https://docs.nvidia.com/cuda/hopper-tuning-guide/index.html
H100_SHARED_MEMORY_BYTES = 228 * 2**10

# Bytes that a multiprocessor loads from its L1 or shared memory in a tick, at most: RRZE-HPC/
# gpu-benches, README, 2025. Bytes per second from L2: the same, gpu-l2-cache/a100_80.txt, and for
# the H100 jax-ml/scaling-book, gpus.md, 2025 (gpu-l2-cache/h100_pcie.txt has 7.0e12).
# https://github.com/RRZE-HPC/gpu-benches
NEAR_BYTES_PER_TICK = 128
A100_CACHE_BYTES_PER_SECOND = 5.4e12
H100_CACHE_BYTES_PER_SECOND = 5.5e12

# Links between devices, bytes per second in each direction; sheets often print both directions
# added up. NVLink 3, 4 and 5: links of a GPU times the rate of one (jax-ml/scaling-book, gpus.md;
# stas00/ml-engineering, network/README.md, 2025). InfiniBand NDR: a port of 400 Gbit/s for each
# GPU.
A100_NVLINK_BYTES_PER_SECOND = 12 * 25e9
H100_NVLINK_BYTES_PER_SECOND = 18 * 25e9
B200_NVLINK_BYTES_PER_SECOND = 18 * 50e9
INFINIBAND_NDR_BYTES_PER_SECOND = 400e9 / 8

# Readings of a stopwatch, warm: square matmuls of random numbers, sides from 1024 to 10 240, ten
# calls to warm up and thirty timed, FLOP/s at the best size. One H100 80GB HBM3, 18 October 2025,
# and the best of several RTX 3090. https://github.com/zzc0721/torch-performance-test-data/issues/79
# https://github.com/zzc0721/torch-performance-test-data/blob/main/database.md
H100_WARM_FLOPS_PER_SECOND = {
    "fp32": 51.88e12,
    "tf32": 402.15e12,
    "fp16": 760.04e12,
    "bf16": 797.51e12,
}
RTX_3090_WARM_FLOPS_PER_SECOND = {"fp32": 24.8e12, "fp16": 75.9e12, "bf16": 76.7e12}

# Stanford CS336, spring 2025, lecture 2, as recorded on an H100 on 5 April 2025: the mean of five
# calls of 16 384×32 768 times 32 768×8192, all of the first matrix ones. In fp32 the line before
# had run the same matmul; in bf16 the first of the five calls is the first of all.
# https://github.com/stanford-cs336/spring2025-lectures
H100_MEAN_OF_FIVE_SECONDS = {"fp32": 0.16265, "bf16": 0.03081}

# Dao et al., "FlashAttention", May 2022, figure 2 in the arXiv edition (the one of NeurIPS prints
# others): bytes read from and written to HBM by attention written out and fused, forward and
# backward, for GPT-2 medium with 1024 tokens on an A100. https://arxiv.org/abs/2205.14135
FLASH_ATTENTION_MOVED_BYTES = (40.3e9, 4.4e9)

# Chowdhery et al., "PaLM", April 2022, section 4.1: hardware FLOPs utilization, with the FLOPs
# that were computed a second time, beside the MFU above. https://arxiv.org/abs/2204.02311
PALM_HFU = 0.578

# Touvron et al., "LLaMA", February 2023, section 2.1: tokens in the data set of the larger two
# models. Its tokenizer has 32 000 entries. https://arxiv.org/abs/2302.13971
LLAMA_TRAINING_TOKENS = 1_400 * 10**9
LLAMA_VOCABULARY = 32_000

# Chowdhery et al., "PaLM", as above, section 2: the vocabulary, made for many languages; layers and
# width of the largest model, in table 1. Its input and output embeddings are one matrix.
PALM_VOCABULARY = 256_000
PALM_LAYERS, PALM_WIDTH = 118, 18_432

# "The Llama 3 Herd of Models", July 2024: parameters, tokens and FLOPs of the largest model; the
# vocabulary as in the configuration published with the weights. https://arxiv.org/abs/2407.21783
LLAMA3_405B_PARAMETERS = 405 * 10**9
LLAMA3_405B_TRAINING_TOKENS = 15_600 * 10**9
LLAMA3_405B_TRAINING_FLOPS = 3.8e25
LLAMA3_VOCABULARY = 128_256

# The same, table 3: layers, width, heads, heads of keys and values. The widths of the feed-forward
# networks as published with the weights (early copies of the table print others, from which the
# parameters do not come out).
LLAMA3_SIZES = {
    "8b": (32, 4096, 32, 8, 14_336),
    "70b": (80, 8192, 64, 8, 28_672),
    "405b": (126, 16_384, 128, 8, 53_248),
}
LLAMA3_ROTATION_BASE = 500_000.0

# Jiang et al., "Mixtral of Experts", January 2024, table 1: layers, width, heads, heads of keys and
# values, feed-forward width; and in the text, "47B parameters" of which a token uses "13B".
# https://arxiv.org/abs/2401.04088
MIXTRAL_SIZES = (32, 4096, 32, 8, 14_336)
MIXTRAL_CONTEXT_TOKENS = 32_768
MIXTRAL_EXPERTS, MIXTRAL_ACTIVE_EXPERTS = 8, 2
MIXTRAL_NAMED_PARAMETERS = {"all": 47 * 10**9, "active": 13 * 10**9}
MIXTRAL_ROTATION_BASE = 1e6  # config.json beside the weights


@dataclass(frozen=True)
class DeepSeekV3:
    """The sizes of DeepSeek-V3 by their names in its configuration."""

    vocabulary: int = 129_280
    width: int = 7168
    layers: int = 61
    dense_layers: int = 3
    dense_feed_forward: int = 18_432
    expert_feed_forward: int = 2048
    routed_experts: int = 256
    shared_experts: int = 1
    active_experts: int = 8
    heads: int = 128
    query_rank: int = 1536
    key_value_rank: int = 512
    plain_features: int = 128  # of a head's queries and keys, not turned
    rotary_features: int = 64  # and turned
    value_features: int = 128


# DeepSeek-AI, DeepSeek-V3, December 2024: inference/configs/config_671B.json. The report says "671B
# total parameters with 37B activated for each token".
# https://github.com/deepseek-ai/DeepSeek-V3 https://arxiv.org/abs/2412.19437
DEEPSEEK_V3 = DeepSeekV3()
DEEPSEEK_V3_NAMED_PARAMETERS = {"all": 671 * 10**9, "active": 37 * 10**9}

# Zhao et al., "Insights into DeepSeek-V3", May 2025, table 1: bytes of the cache for each token, in
# kB with two bytes a number. https://arxiv.org/abs/2505.09343
CACHE_BYTES_PER_TOKEN = {"DeepSeek-V3": 70_272, "Llama 3.1 405B": 516_096}

# Vaswani et al., "Attention Is All You Need", June 2017, table 2: the larger of two Transformers
# for translation. Time multiplied by what eight cards were taken to sustain, not the FLOPs of the
# model. https://arxiv.org/abs/1706.03762
TRANSFORMER_BIG_TRAINING_FLOPS = 2.3e19

# Brown et al. as above, table D.1: the smallest of the eight GPT-3 models.
GPT3_SMALL_PARAMETERS = 125 * 10**6
GPT3_SMALL_TRAINING_FLOPS = 2.25e20

# An estimate by Epoch AI in its database of notable models, as of 2025; the largest there. xAI has
# published no figure. https://epoch.ai/data/notable-ai-models
GROK4_TRAINING_FLOPS_ESTIMATE = 5e26

# International Astronomical Union: the distance that light travels in 365.25 days.
# https://www.iau.org/public/themes/measuring/
LIGHT_YEAR_METRES = 9_460_730_472_580_800

# GPT-4's vocabulary, called cl100k_base: the largest id is 100 276. OpenAI's tiktoken, `n_vocab` of
# that encoding, 2023. https://github.com/openai/tiktoken/blob/0.7.0/tiktoken_ext/openai_public.py
GPT4_VOCABULARY = 100_277

# Gao et al., "The Pile: An 800GB Dataset of Diverse Text for Language Modeling", December 2020,
# abstract: 825 GiB. https://arxiv.org/abs/2101.00027
PILE_BYTES = 825 * 2**30

# "The Llama 3 Herd of Models", July 2024, section 3.3.4: interruptions that were not planned, in a
# period of so many days, while training on 16 384 GPUs. https://arxiv.org/abs/2407.21783
LLAMA3_INTERRUPTIONS = 419
LLAMA3_INTERRUPTIONS_DAYS = 54

# Radford et al., "Language Models are Unsupervised Multitask Learners", February 2019, table 2 and
# section 2.3: layers and width of four models, and the context. Their heads as published with the
# weights, in the file hparams.json of each. https://github.com/openai/gpt-2
# https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
GPT2_SIZES = {
    "small": (12, 768, 12),
    "medium": (24, 1024, 16),
    "large": (36, 1280, 20),
    "xl": (48, 1600, 25),
}
GPT2_CONTEXT_TOKENS = 1024

# The same table: parameters in millions. The README beside the weights says that they "were wrong
# due to an error". https://github.com/openai/gpt-2/blob/master/README.md
GPT2_PAPER_PARAMETERS = {
    "small": 117 * 10**6,
    "medium": 345 * 10**6,
    "large": 762 * 10**6,
    "xl": 1542 * 10**6,
}

# Hoffmann et al., "Training Compute-Optimal Large Language Models", March 2022: their model
# Chinchilla has 70 billion parameters and was trained on 1.4 trillion tokens, the ratio that came
# to be used as a rule. https://arxiv.org/abs/2203.15556
COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER = 1_400 // 70

# The H800, an H100 with, among other things, slower links: 400 GB/s in both directions together.
# https://github.com/deepseek-ai/DeepSeek-V3/issues/28
H800_NVLINK_BYTES_PER_SECOND = 400e9 / 2


@dataclass(frozen=True)
class Layout:
    """How a published run divides a model and its batch among GPUs, and what each GPU reached."""

    gpus: int
    tensor: int
    context: int
    pipeline: int
    data: int
    sequence_tokens: int
    flops_per_second: float
    mfu: float


# "The Llama 3 Herd of Models", July 2024, table 4: 16 million tokens in a batch. Section
# 3.3.2: the order of the axes, from the inside.
# https://arxiv.org/abs/2407.21783
LLAMA3_LAYOUTS = (
    Layout(8192, 8, 1, 16, 64, 8192, 430e12, 0.43),
    Layout(16_384, 8, 1, 16, 128, 8192, 400e12, 0.41),
    Layout(16_384, 8, 16, 16, 8, 131_072, 380e12, 0.38),
)
LLAMA3_BATCH_TOKENS = 16 * 2**20

# Llama 3.1 model card, July 2024: hours of H100 for the largest model, all of them.
# https://github.com/meta-llama/llama-models/blob/main/models/llama3_1/MODEL_CARD.md
LLAMA3_405B_GPU_HOURS = 30.84e6

# DeepSeek-AI, DeepSeek-V3, as above: tokens, hours of H800 for pre-training and for 10^12 tokens of
# it, and the days that the report makes of these; section 3.2: the layout.
DEEPSEEK_V3_TRAINING_TOKENS = 14_800 * 10**9
DEEPSEEK_V3_GPU_HOURS = 2664e3
DEEPSEEK_V3_GPU_HOURS_PER_TRILLION = 180e3
DEEPSEEK_V3_DAYS_PER_TRILLION = 3.7
DEEPSEEK_V3_GPUS = 2048
DEEPSEEK_V3_PIPELINE = 16
DEEPSEEK_V3_EXPERT_RANKS = 64
