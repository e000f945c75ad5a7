"""From structured pointers to memref: loads, stores, masks, wrap-around, gathered rows."""
