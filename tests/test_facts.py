"""What the data sheets promise, found by the name that PyTorch reports, and what cannot be true."""

import pytest

from lecture.facts import ACCELERATORS
from lecture.lib.hardware import accelerator_named, mfu

# a name that torch.cuda.get_device_name reports -> the card, its dense bf16 peak, its memory
CARDS = [
    ("NVIDIA A100-SXM4-40GB", "A100 SXM 40 GB", 312e12, 42.5e9),
    ("NVIDIA A100-SXM4-80GB", "A100 SXM", 312e12, 85.1e9),
    ("NVIDIA A100-PCIE-40GB", "A100 PCIe 40 GB", 312e12, 42.5e9),
    ("NVIDIA A100 80GB PCIe", "A100 PCIe", 312e12, 85.1e9),
    ("NVIDIA H100 80GB HBM3", "H100 SXM", 989.5e12, 85.0e9),
    ("NVIDIA H100 PCIe", "H100 PCIe", 756.5e12, 84.9e9),
    ("NVIDIA H200", "H200", 989.5e12, 150.1e9),
    ("NVIDIA B200", "B200", 2250e12, 191.5e9),
    ("NVIDIA GeForce RTX 3090", "RTX 3090", 71e12, 25.4e9),
    ("NVIDIA GeForce RTX 4090", "RTX 4090", 165.2e12, 25.2e9),
]


@pytest.mark.parametrize(("device_name", "name", "bf16_flops_per_second", "memory_bytes"), CARDS)
def test_a_card_is_found_by_the_name_that_torch_reports(
    device_name, name, bf16_flops_per_second, memory_bytes
):
    card = accelerator_named(device_name)
    assert card.name == name
    assert card.dense_flops_per_second["bf16"] == bf16_flops_per_second
    assert round(card.memory_bytes / 1e9, 1) == memory_bytes / 1e9  # a sheet rounds, a device not


def test_every_card_is_looked_up_above():
    assert list(ACCELERATORS) == [device_name for device_name, *_ in CARDS]


UNKNOWN = [
    "",
    "H100",
    "NVIDIA H100 NVL",
    "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
    "NVIDIA GeForce RTX 3090 Ti",
    "Tesla V100-SXM2-16GB",
]


@pytest.mark.parametrize("device_name", UNKNOWN)
def test_a_card_without_a_data_sheet_is_refused_by_name(device_name):
    with pytest.raises(LookupError) as refusal:
        accelerator_named(device_name)
    assert f"has no data sheet of {device_name!r}; it has those of A100 SXM 40 GB, " in str(
        refusal.value
    )


@pytest.mark.parametrize("card", ACCELERATORS.values(), ids=lambda card: card.name)
def test_sparsity_doubles_what_the_tensor_cores_promise(card):
    dense, sparse = card.dense_flops_per_second, card.sparse_flops_per_second
    assert set(sparse) == set(dense) - {"fp64", "fp32"}
    for dtype, flops_per_second in sparse.items():
        # Sheets print two to four digits, each rounded by itself.
        assert flops_per_second == pytest.approx(2 * dense[dtype], rel=0.005)


# FLOP/s counted, FLOP/s promised -> MFU
MFUS = [
    (0.0, 10.0, 0.0),
    (2.3623e13, 35.6e12, 0.6636),
    (2.93e14, 989.5e12, 0.2961),
    (10.0, 10.0, 1.0),
]


@pytest.mark.parametrize(("counted", "promised", "expected"), MFUS)
def test_the_mfu_is_a_ratio_of_rates(counted, promised, expected):
    assert round(mfu(counted, promised), 4) == expected


def test_an_mfu_far_above_one_is_refused_in_one_sentence():
    assert mfu(7.67e13, 71e12) > 1  # at more than the clock on the sheet
    with pytest.raises(ValueError) as refusal:
        mfu(7.0332e13, 35.6e12)
    assert str(refusal.value) == (
        "a share of 1.98 is impossible: 7.03e+13 FLOP/s cannot come from a peak of 3.56e+13; is it "
        "the peak of this dtype and this device?"
    )
