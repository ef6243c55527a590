"""From a question to its evidence."""
