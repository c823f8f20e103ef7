"""A local web application over a store: what `assay view` serves (extra `view`).

Pages read the store and change nothing in it. Routes are in `app`; each page is a function in `pages` that makes the
values of its template. Pages that will change the store (labels, notes, pins) belong in a module of their own beside
`pages`, with CSRF tokens: `security` refuses every method but GET and HEAD until then.
"""
