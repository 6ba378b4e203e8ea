"""How each test program says what came out: one line for each test, which the runner reads.

    ok NAME
    not ok NAME: why
"""
import os
import sys
import traceback

HOST = os.environ.get("LONGITUDE_HOST", "127.0.0.1")
PORT = int(os.environ["LONGITUDE_PORT"])
failed = 0


def check(got, want, what="value"):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


def run(prefix, tests):
    """Runs functions one after the other, each under the name that it has without `test_`."""
    global failed
    for f in tests:
        name = f"{prefix}/{f.__name__.removeprefix('test_')}"
        try:
            f()
        except BaseException as e:  # the driver's exceptions are not all of one kind
            failed += 1
            text = " ".join(str(e).split()) or type(e).__name__
            print(f"not ok {name}: {type(e).__name__}: {text[:300]}", flush=True)
            if os.environ.get("LONGITUDE_TRACE"):
                traceback.print_exc(file=sys.stderr)
        else:
            print(f"ok {name}", flush=True)
