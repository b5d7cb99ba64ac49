"""Starts llama.cpp's HTTP server on a tiny model with random weights and a vision projector. Nothing is downloaded.

    python llama_cpp.py FOLDER KEY

Prints `LISTENING URL` and serves until killed. Needs xllamacpp, gguf and numpy.
"""

import sys
import time
from pathlib import Path

import gguf
import numpy as np
import xllamacpp

WIDTH, LAYERS, HEADS, HIDDEN, CONTEXT = 64, 2, 4, 128, 8192
VISION_WIDTH, IMAGE, PATCH = 32, 56, 14

random = np.random.default_rng(0)


def weights(*shape):
    return (random.standard_normal(shape) * 0.1).astype(np.float32)


def write(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def language_model(path):
    """A two-layer Llama whose tokens are bytes and printable characters."""
    kinds = gguf.TokenType
    tokens = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    tokens += [("\u2581", kinds.NORMAL)] + [(chr(code), kinds.NORMAL) for code in range(33, 127)]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([text.encode() for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(kind) for _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template(
        "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"
    )
    writer.add_tensor("token_embd.weight", weights(len(tokens), WIDTH))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    writer.add_tensor("output.weight", weights(len(tokens), WIDTH))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", weights(WIDTH, WIDTH))
        writer.add_tensor(f"blk.{layer}.ffn_gate.weight", weights(HIDDEN, WIDTH))
        writer.add_tensor(f"blk.{layer}.ffn_up.weight", weights(HIDDEN, WIDTH))
        writer.add_tensor(f"blk.{layer}.ffn_down.weight", weights(WIDTH, HIDDEN))
    write(writer)


def projector(path):
    """A two-layer vision encoder of LLaVA's shape, projected to the width of the language model."""
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_string("general.type", "mmproj")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_bool("clip.use_gelu", True)
    for name, value in {
        "image_size": IMAGE,
        "patch_size": PATCH,
        "embedding_length": VISION_WIDTH,
        "feed_forward_length": 2 * VISION_WIDTH,
        "projection_dim": WIDTH,
        "attention.head_count": 2,
        "block_count": LAYERS,
    }.items():
        writer.add_uint32(f"clip.vision.{name}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])

    def linear(name, out, inside):
        writer.add_tensor(f"{name}.weight", weights(out, inside))
        writer.add_tensor(f"{name}.bias", np.zeros(out, np.float32))

    def norm(name):
        writer.add_tensor(f"{name}.weight", np.ones(VISION_WIDTH, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(VISION_WIDTH, np.float32))

    writer.add_tensor("v.class_embd", weights(VISION_WIDTH))
    writer.add_tensor("v.patch_embd.weight", weights(VISION_WIDTH, 3, PATCH, PATCH))
    writer.add_tensor("v.position_embd.weight", weights((IMAGE // PATCH) ** 2 + 1, VISION_WIDTH))
    norm("v.pre_ln")
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            linear(f"v.blk.{layer}.{name}", VISION_WIDTH, VISION_WIDTH)
        norm(f"v.blk.{layer}.ln1")
        norm(f"v.blk.{layer}.ln2")
        linear(f"v.blk.{layer}.ffn_up", 2 * VISION_WIDTH, VISION_WIDTH)
        linear(f"v.blk.{layer}.ffn_down", VISION_WIDTH, 2 * VISION_WIDTH)
    linear("mm.0", WIDTH, VISION_WIDTH)
    linear("mm.2", WIDTH, WIDTH)
    write(writer)


def main():
    folder, key = Path(sys.argv[1]), sys.argv[2]
    model, vision = folder / "random.gguf", folder / "random-mmproj.gguf"
    language_model(model)
    projector(vision)
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.mmproj.path = str(vision)
    params.mmproj_use_gpu = False
    params.port = 0
    params.n_ctx = 4 * CONTEXT
    params.n_parallel = 4
    params.n_predict = 2048
    params.warmup = False
    params.offline = True
    params.verbosity = 0
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.api_keys = [key]
    server = xllamacpp.Server(params)
    print("LISTENING", server.listening_address, flush=True)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
