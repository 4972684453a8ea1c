"""What worlds come to, counted: what each role makes of each message, how roles and actions follow, named moments."""
