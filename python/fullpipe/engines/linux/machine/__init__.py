"""The virtual machine of the guest: boots it, ends it, and computes how much memory it needs."""
