"""Queue disciplines, classes and filters of Linux, with their options as the kernel reads them."""
