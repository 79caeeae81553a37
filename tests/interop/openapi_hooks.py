"""What schemathesis need not try: coop reads parameters kindly, by design.

An empty parameter is an absent one, 1 and 0 are true and false, and of a parameter that comes twice the last one counts.
"""

import schemathesis


def strict(value):
    kindly_read = value is None or value in ("", "0", "1") or isinstance(value, (list, dict))
    return not kindly_read and (isinstance(value, bool) or value not in (0, 1))


@schemathesis.hook
def filter_query(context, query):
    return not query or all(map(strict, query.values()))
