"""What the lecture teaches: its parts, their groups of topics, and the topics of each group."""

PARTS: dict[str, dict[str, str]] = {
    "Why": {"M1": "Why count"},
    "Text": {
        "M2": "From text to bytes",
        "M3": "Learning a vocabulary",
        "M4": "Encoding and decoding",
    },
    "Tensors": {
        "M5": "Tensors and their bytes",
        "M6": "Floating-point formats",
        "M7": "Storage, strides, views",
        "M8": "Elementwise and matmul",
        "M9": "Axes with names",
    },
    "Compute": {
        "M10": "Counting FLOPs",
        "M11": "Bytes against FLOPs",
        "M12": "Gradients and their price",
    },
    "Models": {
        "M13": "Parameters at the start",
        "M14": "Small models",
        "M15": "Parts of a Transformer",
        "M16": "Bill of a Transformer",
    },
    "Training": {
        "M17": "Optimizers",
        "M18": "Memory in training",
        "M19": "Gradient accumulation",
        "M20": "Activation checkpoints",
        "M21": "Randomness",
        "M22": "Feeding data",
        "M23": "The training loop",
        "M24": "Saving and resuming",
        "M25": "Mixed precision",
    },
    "After": {
        "M26": "Inference, quantization",
        "M27": "The whole on one page",
    },
}

TOPICS: dict[str, str] = {
    "M1.1": "Every chapter pays in two currencies",
    "M1.2": "Days to train 70 billion parameters",
    "M1.3": "Where the factor 6 comes from",
    "M1.4": "The largest model for eight cards",
    "M1.5": "What that estimate leaves out",
    "M1.6": "Landmarks of scale",
    "M1.7": "Three kinds of knowledge",
    "M5.1": "Everything is a tensor",
    "M5.2": "Ways to make a tensor",
    "M5.3": "Bytes are elements times element size",
    "M5.4": "One matrix of GPT-3",
    "M5.5": "The device a tensor lives on",
    "M5.6": "Host and accelerator",
    "M7.1": "A pointer and its metadata",
    "M7.2": "The address formula",
    "M7.3": "Strided slices",
    "M7.4": "Views move no data",
    "M7.5": "Writing through a view",
    "M7.6": "What contiguous means",
    "M7.7": "view, reshape and contiguous",
    "M7.8": "Logical and held memory",
}
