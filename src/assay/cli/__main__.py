"""`python -m assay.cli`."""

from assay.cli.main import main

main()
