"""Writes a model with random weights in the GGUF format: make_model.py OUT.gguf

The smallest that llama.cpp serves: two layers, a vocabulary of bytes. It answers noise, in the real wire format; held to
a JSON schema, the noise is JSON of that schema.
"""

import sys

import gguf
import numpy as np

EMBEDDING, HEADS, LAYERS, FORWARD, CONTEXT = 64, 4, 2, 128, 65536
TEMPLATE = (
    "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' }}{%- if m.content %}{{- m.content }}{%- endif %}"
    "{%- if m.tool_calls %}{%- for c in m.tool_calls %}"
    "{{- '\\n<tool_call>\\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' }}"
    "{{- c.function.arguments | tojson }}{{- '}\\n</tool_call>' }}{%- endfor %}{%- endif %}"
    "{{- '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)

# Each kind of token has its number in the format: unknown 2, control 3, byte 6, normal 1.
special = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
each_byte = [f"<0x{byte:02X}>" for byte in range(256)]
words = [chr(c) for c in range(33, 127)] + ["▁", "▁the", "▁a", "\n"]
tokens = special + each_byte + words
kinds = [2, 3, 3, 3, 3] + [6] * len(each_byte) + [1] * len(words)
scores = [0.0] * (len(special) + len(each_byte)) + [-float(i) for i in range(len(words))]

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny-random")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(EMBEDDING)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(FORWARD)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_rope_dimension_count(EMBEDDING // HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_vocab_size(len(tokens))
writer.add_file_type(0)
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores(scores)
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(4)
writer.add_unk_token_id(0)
writer.add_add_bos_token(True)
# Without this, and the control tokens above, a grammar cannot be followed.
writer.add_add_space_prefix(False)
writer.add_chat_template(TEMPLATE)

random = np.random.default_rng(0)


def tensor(name, *shape, scale=0.05):
    writer.add_tensor(name, (random.standard_normal(shape) * scale).astype(np.float32))


def ones(name):
    writer.add_tensor(name, np.ones(EMBEDDING, np.float32))


tensor("token_embd.weight", len(tokens), EMBEDDING, scale=0.5)
ones("output_norm.weight")
tensor("output.weight", len(tokens), EMBEDDING, scale=0.5)
for layer in range(LAYERS):
    ones(f"blk.{layer}.attn_norm.weight")
    ones(f"blk.{layer}.ffn_norm.weight")
    for part in ("q", "k", "v", "output"):
        tensor(f"blk.{layer}.attn_{part}.weight", EMBEDDING, EMBEDDING)
    tensor(f"blk.{layer}.ffn_gate.weight", FORWARD, EMBEDDING)
    tensor(f"blk.{layer}.ffn_up.weight", FORWARD, EMBEDDING)
    tensor(f"blk.{layer}.ffn_down.weight", EMBEDDING, FORWARD)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
