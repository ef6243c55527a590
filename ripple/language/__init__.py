"""The rules of language that writing and recall share: names, places, times."""
