"""What a report says of finished runs."""
