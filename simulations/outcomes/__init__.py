"""What a run leaves: its outcome, the story of its trace, and details for its page."""
