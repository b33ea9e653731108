"""Catalogues for kernels that are not as they are released: with Google's BBRv3, with TCP Prague."""
