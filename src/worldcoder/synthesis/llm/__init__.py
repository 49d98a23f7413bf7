"""A language model as a proposer of programs: what it is asked, how its answers are read, how it searches."""
