"""What trainera makes of many scripts, saved by one version and compared with another.

For changes of the analyser that must change no plan and no converted byte:

python -m tests.tools.snapshot save before
python -m tests.tools.snapshot save after --like before
python -m tests.tools.snapshot compare before after
"""
