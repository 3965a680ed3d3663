"""What a Keras script does: on which backend, where it trains, which steps it compiles itself."""
