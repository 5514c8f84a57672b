"""For every test."""

# Its pytest plugin imports hypothesis at the very end of a run that did not use it, when CPython 3.11.2's parser
# may answer "AST constructor recursion depth mismatch"; imported first, it never does.
from hypothesis import Phase, settings

# Nothing generated: what counts branches must not find one taken by luck.
settings.register_profile("written", phases=(Phase.explicit,))
