// The runner runs a post step only if main has run.
