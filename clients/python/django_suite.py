"""Django's own tests, of its source distribution: python django_suite.py TESTS_DIRECTORY LABEL..."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

tests = pathlib.Path(sys.argv[1])
settings = pathlib.Path(tempfile.mkdtemp()) / "longitude_settings.py"
settings.write_text(f"""
import MySQLdb
DATABASES = {{
    alias: {{"ENGINE": "django.db.backends.mysql", "HOST": {os.environ['LONGITUDE_HOST']!r}, "PORT": {os.environ['LONGITUDE_PORT']!r}, "USER": "root", "NAME": "dj_" + alias,
            "TEST": {{"CHARSET": "utf8mb4", "NAME": "test_dj_" + alias}}}}
    for alias in ("default", "other")
}}
SECRET_KEY = "tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
""")
env = dict(os.environ, PYTHONPATH=f"{settings.parent}:{tests.parent}")
p = subprocess.Popen([sys.executable, "-u", "runtests.py", "--settings=longitude_settings", "--noinput", "--parallel=1", "-v", "2", *sys.argv[2:]],
                     cwd=tests, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
named = re.compile(r"^(\w+) \(([\w.]+?)(?:\.\1)?\)")
ended = re.compile(r"\.\.\. (ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$")
broken = re.compile(r"^(FAIL|ERROR): (\w+) \(([\w.]+?)(?:\.\2)?\)")
results, why, current, heading = {}, {}, None, None
tail = []
for line in p.stdout:
    line = line.rstrip()
    tail = (tail + [line])[-5:]
    if m := broken.match(line):
        heading = f"{m[3]}.{m[2]}"
        results[heading] = "FAIL"
        continue
    if heading and re.match(r"^[\w.]+(Error|Exception|Warning)?: ", line):
        why[heading] = line
    if m := named.match(line):
        current = f"{m[2]}.{m[1]}"
    if current and (m := ended.search(line)):
        results.setdefault(current, m[1])
        current = None
for name, result in sorted(results.items()):
    if result in ("FAIL", "ERROR", "unexpected success"):
        print(f"not ok django/{name}: {why.get(name, result)[:300]}")
    elif not result.startswith("skipped"):
        print(f"ok django/{name}")
if not results:
    sys.exit("no test ran: " + " / ".join(tail))
