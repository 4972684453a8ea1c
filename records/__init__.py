"""What is on the wire and on disk, as values; see DESIGN.md."""
