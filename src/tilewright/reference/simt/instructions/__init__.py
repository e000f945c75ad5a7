"""Instruction families: importing each registers its decoders."""
