"""The metadata image: tables, replay of records, undo of uncommitted changes, views and snapshots."""
