"""The script of the guest: lines in the language of `guest/main.c`."""
