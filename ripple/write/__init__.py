"""From messages to stored units."""
