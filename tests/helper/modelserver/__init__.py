"""A model that does what the prompt tells it, for tests of programs that talk to models."""
