"""Facts about the IR, never mutations: pointers, masks, uses, signs.

Each analysis is a function of the IR that answers with a frozen description or with a reason why it has none. Passes
ask first and rewrite afterwards, so that what is not understood is left as it was.
"""
