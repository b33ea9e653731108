"""A scenario laid out in the guest: namespaces, devices, qdiscs, addresses and routes."""
