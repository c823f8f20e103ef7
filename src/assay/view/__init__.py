"""A local web application over a store: what `assay view` serves (extra `view`).

Pages read the store and change nothing in it. Routes are in `app`; each page is a function in a module `*_page` that
makes the values of its template. Pages that will change the store (labels, notes, pins) belong in modules of their own,
with CSRF tokens: `security` refuses every method but GET and HEAD until then.
"""
