"""The grammar of what people write when they train a network."""
