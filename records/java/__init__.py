"""What Java prescribes: the order of its hash tables, its base64 of ids, its properties files."""
