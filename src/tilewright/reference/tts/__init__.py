"""What the ops of the tts dialect mean: structured pointers are tensors of addresses, as at the tt stage."""
