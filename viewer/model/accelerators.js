// Accelerators for the roofline: peaks from data sheets, dense, in FLOP/s by format, and bytes per
// second of their memory. The same numbers as in the lecture's table of facts, which a test
// compares.

/**
 * @typedef {{name: string, memory: number, rates: Record<string, number>, source: string}}
 *   Accelerator
 */

const H100_SHEET =
  "https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet";

const A100_SHEET =
  "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf";
const HOPPER = {
  fp64: 34e12,
  fp32: 67e12,
  tf32: 494.5e12,
  fp16: 989.5e12,
  bf16: 989.5e12,
  fp8: 1979e12,
};
const AMPERE = { fp64: 9.7e12, fp32: 19.5e12, tf32: 156e12, fp16: 312e12, bf16: 312e12 };

/** @type {Accelerator[]} */
export const ACCELERATORS = [
  { name: "H100 SXM", memory: 3.35e12, rates: HOPPER, source: H100_SHEET },
  {
    name: "H100 PCIe",
    memory: 2e12,
    rates: { fp32: 51e12, tf32: 378e12, fp16: 756.5e12, bf16: 756.5e12, fp8: 1513e12 },
    source: H100_SHEET,
  },
  {
    name: "H200",
    memory: 4.8e12,
    rates: HOPPER,
    source: "https://www.nvidia.com/en-us/data-center/h200/",
  },
  {
    name: "B200",
    memory: 7.67232e12,
    rates: { fp32: 75e12, tf32: 1125e12, fp16: 2250e12, bf16: 2250e12, fp8: 4500e12, fp4: 9000e12 },
    source: "https://www.nvidia.com/en-us/data-center/hgx/",
  },
  { name: "A100 SXM", memory: 2.039e12, rates: AMPERE, source: A100_SHEET },
  { name: "A100 SXM 40 GB", memory: 1.555e12, rates: AMPERE, source: A100_SHEET },
  { name: "A100 PCIe", memory: 1.935e12, rates: AMPERE, source: A100_SHEET },
  { name: "A100 PCIe 40 GB", memory: 1.555e12, rates: AMPERE, source: A100_SHEET },
  {
    name: "RTX 4090",
    memory: 1.008e12,
    rates: { fp32: 82.6e12, tf32: 82.6e12, fp16: 165.2e12, bf16: 165.2e12, fp8: 330.3e12 },
    source:
      "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
  },
  {
    name: "RTX 3090",
    memory: 0.936e12,
    rates: { fp32: 35.6e12, tf32: 35.6e12, fp16: 71e12, bf16: 71e12 },
    source:
      "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
  },
];
