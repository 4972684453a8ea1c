"""The properties that must always hold, a module for each subject; ids S01 to S22 are those of the list in DESIGN.md.

A property is called only for the events that it needs. It has methods `on_started`, `on_recovered`, `became` (another
role after a step), `on_stepped` (after each) and `on_noted`, and tables of methods: `hears` by class of an input,
`performs` by class of an effect, `asked`, `took` and `leaves` by name of a message, before and after it is handled,
and when it is sent.
"""
