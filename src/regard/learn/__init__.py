"""Learn: what a step minimises, and the loop of steps."""
