"""A judge checked metamorphically: texts are changed by rule, and its verdicts must change with them, or must not."""
