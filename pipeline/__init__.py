"""The metadata logs of one or many clusters as tables, on PySpark (see DESIGN.md)."""
