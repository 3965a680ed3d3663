"""Gets engines that no package index has ready: they are built for what is installed here."""
