"""What logs say of a line: its rate, its round-trip time and its buffer, each way."""
