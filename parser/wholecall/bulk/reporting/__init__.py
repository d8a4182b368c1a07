"""Count the tables of recordings and calls: drop rates, quirks, tools and times, by group."""
