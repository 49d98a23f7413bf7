"""`python -m worldcoder.cli` is `worldcoder`."""

import sys

from worldcoder.cli.entry import main

sys.exit(main())
