"""A language model with random weights, as small as one can be: what it writes is noise, and all else is real.

    pip install gguf
    python benchmarks/tiny_model.py tiny.gguf

For checks of the way from a server to a run's record where no model file is at hand (`live_model.py --tiny`). The
file has 150 kB: two layers of Llama's architecture, 32 wide, and a vocabulary of the 256 bytes and three marks.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

WIDTH, INNER, HEADS, LAYERS = 32, 64, 2, 2
CONTEXT = 65_536
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


def write(path: Path, seed: int = 0) -> None:
    """Write a model file in GGUF format. Needs the package gguf."""
    gguf, numpy = importlib.import_module("gguf"), importlib.import_module("numpy")
    random = numpy.random.default_rng(seed)

    def weights(*shape: int) -> object:
        return (0.5 * random.standard_normal(shape)).astype(numpy.float32)

    def ones() -> object:
        return numpy.ones(WIDTH, numpy.float32)

    kinds = gguf.TokenType
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, *[kinds.BYTE] * 256]
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_name("tiny")
    file.add_context_length(CONTEXT)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(INNER)
    file.add_block_count(LAYERS)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_token_list(tokens)
    file.add_token_scores([0.0] * len(tokens))
    file.add_token_types([int(kind) for kind in types])
    file.add_unk_token_id(0)
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_chat_template(TEMPLATE)
    file.add_tensor("token_embd.weight", weights(len(tokens), WIDTH))
    file.add_tensor("output_norm.weight", ones())
    file.add_tensor("output.weight", weights(len(tokens), WIDTH))
    for layer in range(LAYERS):
        shapes = {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
        shapes |= dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), (WIDTH, WIDTH))
        for name, shape in shapes.items():
            file.add_tensor(f"blk.{layer}.{name}.weight", weights(*shape))
        for name in ("attn_norm", "ffn_norm"):
            file.add_tensor(f"blk.{layer}.{name}.weight", ones())
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    write(arguments.path, arguments.seed)
    print(f"{arguments.path}: {arguments.path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
