"""What runs inside a locked worker, next to the program itself: loading, calling, remembering, searching.

Nothing outside this folder imports from it: programs are run through `worldcoder.programs.Runner`.
"""
