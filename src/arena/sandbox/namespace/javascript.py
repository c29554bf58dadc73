"""Which engine a JavaScript submission needs.

QuickJS starts in a millisecond but is not V8: it has no timers, modules, Intl or Node, an older
standard library, and other texts in its errors. Its word counts only where the two cannot differ:
the source names nothing on the list below, and every case gave a value. All else is Node's.
"""

import re

from arena.sandbox.ports import FunctionOutcome

# Names whose meaning, or last digit, differs between QuickJS and V8.
NODE_ONLY = re.compile(
    r"""
    \b(?:require|import|export|module|exports|process|Buffer|global|globalThis|Intl|Date|fetch
      |set(?:Timeout|Interval|Immediate)|queueMicrotask|structuredClone|performance|URL\w*
      |Text(?:En|De)coder|Abort\w*|Worker|WebAssembly|SharedArrayBuffer|Atomics|crypto|atob|btoa
      |eval|Function|Proxy|Reflect|WeakRef|FinalizationRegistry|Temporal|Iterator
      |localeCompare|toLocale\w*|normalize|stack|message|arguments|constructor|__proto__
      |console|random|toFixed|toPrecision|toExponential
      |sin|cos|tan|asin|acos|atan2?|sinh|cosh|tanh|asinh|acosh|atanh
      |exp|expm1|log|log10|log2|log1p|pow|cbrt|hypot)\b
    | \*\*
    | \\p\{ | \\u\{
    """,
    re.VERBOSE,
)


def suits_quickjs(source: str) -> bool:
    """Whether QuickJS may have the first try."""
    return NODE_ONLY.search(source) is None


def is_conclusive(outcome: FunctionOutcome) -> bool:
    """Whether Node would have said the same: values only, no error and no limit."""
    return all(case.error is None for case in outcome.cases)
