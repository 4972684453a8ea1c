"""What clients asked and were told, and whether it could all have happened one after the other."""
