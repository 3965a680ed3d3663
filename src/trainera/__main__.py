"""``python -m trainera`` is ``trainera``."""

import sys

from trainera.cli.main import main

sys.exit(main())
