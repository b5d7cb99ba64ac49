"""A llama with random weights and a token for every byte, as a GGUF file: it babbles, and obeys grammars."""

import gguf
import numpy

LAYERS, WIDTH, HEADS, HIDDEN, CONTEXT = 2, 64, 4, 128, 8192
CHAT = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}[assistant]"


def vocabulary():
    """Texts and types of the tokens: three special ones, every byte, every printable character."""
    kinds = gguf.TokenType
    special = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    octets = [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    characters = [(chr(code), kinds.NORMAL) for code in (0x2581, *range(33, 127))]
    return special + octets + characters


def write(path, seed=0):
    """Writes the model."""
    random = numpy.random.default_rng(seed)
    tokens = vocabulary()
    writer = gguf.GGUFWriter(str(path), "llama")
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
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_chat_template(CHAT)

    def matrix(rows, columns):
        return (0.2 * random.standard_normal((rows, columns))).astype(numpy.float32)

    def ones(size):
        return numpy.ones(size, numpy.float32)

    writer.add_tensor("token_embd.weight", matrix(len(tokens), WIDTH))
    writer.add_tensor("output_norm.weight", ones(WIDTH))
    writer.add_tensor("output.weight", matrix(len(tokens), WIDTH))
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", ones(WIDTH))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", matrix(WIDTH, WIDTH))
        for name, shape in (("gate", (HIDDEN, WIDTH)), ("up", (HIDDEN, WIDTH)), ("down", (WIDTH, HIDDEN))):
            writer.add_tensor(f"blk.{layer}.ffn_{name}.weight", matrix(*shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
