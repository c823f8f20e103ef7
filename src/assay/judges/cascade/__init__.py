"""A cheap judge first, a better one for what that is not sure of, and how surely the two agree."""
