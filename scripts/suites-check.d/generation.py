#!/usr/bin/env python3
"""Text from two models with random weights, made from configurations of transformers: generation.py. Prints a line for each model: its name,
seconds since the process began, and a digest of the tokens, of greedy and of sampled generation.
"""
import hashlib
import time

START = time.monotonic()
import torch
import transformers


def main():
    models = {
        "gpt2": transformers.GPT2Config(),
        "llama": transformers.LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16,
                                          num_key_value_heads=4, vocab_size=32000),
    }
    for name, config in models.items():
        torch.manual_seed(1)
        model = transformers.AutoModelForCausalLM.from_config(config).half().cuda().eval()
        ids = torch.arange(5, 37, device="cuda").unsqueeze(0).repeat(2, 1)
        found = []
        for sampled in (False, True):
            torch.manual_seed(2)
            with torch.no_grad():
                found.append(model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=64, min_new_tokens=64,
                                            do_sample=sampled, pad_token_id=0).tolist())
        print(name, round(time.monotonic() - START, 2), hashlib.sha256(repr(found).encode()).hexdigest()[:16], flush=True)


if __name__ == "__main__":
    main()
