"""What Java prescribes: the order of its hash tables, its regular expressions, its texts of numbers and addresses, its
properties.
"""
