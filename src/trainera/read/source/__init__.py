"""Files of source and their syntax, without any knowledge of what values mean."""
