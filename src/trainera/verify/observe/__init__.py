"""What runs inside an observed process: hooks around the framework's own calls.

Nothing of the script is edited. Everything seen goes into a trace, one line of JSON an event.
"""
