"""`python -m worldcoder` is `worldcoder`."""

import sys

from worldcoder.cli import main

sys.exit(main())
