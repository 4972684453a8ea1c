"""Live tables: a streaming job whose micro-batches are runs of the warehouse.

Exactly once: a micro-batch counts when the manifest that names it is committed. After a crash Spark repeats the last
one with the same offsets; if the manifest has it, it is skipped, else its files are written anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipeline.tables import running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.tables.running import Say
    from pipeline.tables.warehouse import Warehouse

STREAM = "serve"


def start(session: Any, warehouse: Warehouse, options: Mapping[str, str], interval: str | None, *, say: Say) -> Any:
    """Start the job; returns the query. interval: between runs, in Spark's form; None: process the present records,
    then end.
    """
    import json

    from pipeline.source.spark import FORMAT

    manifest = warehouse.manifest()
    begin = {cluster: entry["offset"] for cluster, entry in manifest.ingested.items()}
    # Where the job begins at its first start: after the records of other runs.
    frame = session.readStream.format(FORMAT).options(**{**options, "from": json.dumps(begin)}).load()
    checkpoint = warehouse.directory / "streams" / STREAM

    def take(batch: Any, number: int) -> None:
        done = warehouse.manifest()
        if number <= done.batches.get(STREAM, -1):
            say(f"run {number} counts already")
            return
        # Other runs may have ingested some of the records meanwhile.
        new = running.behind(batch, {cluster: entry["offset"] for cluster, entry in done.ingested.items()})
        after = running.keep(warehouse, done, new, say=say)
        after = running.derive(session, warehouse, after, say=say)
        after = replace(after, batches={**after.batches, STREAM: number})
        warehouse.sweep(warehouse.commit(after))

    writer = frame.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint)).queryName(STREAM)
    writer = writer.trigger(availableNow=True) if interval is None else writer.trigger(processingTime=interval)
    return writer.start()
