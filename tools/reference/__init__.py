"""The pages of docs/ that are made from tables of the code: `make docs`."""
