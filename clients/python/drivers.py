"""What an application does by a Python driver: python drivers.py pymysql|mysqlclient|connector."""
import datetime as dt
import decimal
import json
import sys
import threading

from tap import HOST, PORT, check, run

which = sys.argv[1]
DB = "py_" + which

if which == "pymysql":
    import pymysql as driver

    def connect(**kw):
        return driver.connect(host=HOST, port=PORT, user="root", charset="utf8mb4", **kw)
elif which == "mysqlclient":
    import MySQLdb as driver

    def connect(**kw):
        return driver.connect(host=HOST, port=PORT, user="root", charset="utf8mb4", **kw)
elif which == "connector":
    import mysql.connector as driver

    def connect(**kw):
        kw.setdefault("autocommit", False)
        return driver.connect(host=HOST, port=PORT, user="root", use_pure=True, **kw)
else:
    sys.exit("which driver?")

with connect() as boot:
    c = boot.cursor()
    c.execute(f"DROP DATABASE IF EXISTS {DB}")
    c.execute(f"CREATE DATABASE {DB}")
    boot.commit()
main = connect(database=DB)


def code(e):
    return getattr(e, "errno", None) or e.args[0]


def do(q, args=None, con=None):
    cur = (con or main).cursor()
    cur.execute(q, args)
    out = list(cur.fetchall()) if cur.description else cur.rowcount
    cur.close()
    return out


def refused(want, q, args=None):
    try:
        do(q, args)
    except driver.Error as e:
        check(code(e), want, f"the error of {q}")
    else:
        raise AssertionError(f"{q} was not refused")
    finally:
        main.rollback()


def test_schema():
    do("""CREATE TABLE person (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) NOT NULL, email VARCHAR(80) UNIQUE,
          state ENUM('new','old') NOT NULL DEFAULT 'new', made TIMESTAMP DEFAULT CURRENT_TIMESTAMP)""")
    do("""CREATE TABLE book (id INT PRIMARY KEY AUTO_INCREMENT, owner INT NOT NULL, title VARCHAR(100), price DECIMAL(8,2) CHECK (price >= 0),
          KEY title (title), CONSTRAINT book_owner FOREIGN KEY (owner) REFERENCES person (id) ON DELETE CASCADE)""")
    do("ALTER TABLE person ADD COLUMN age INT NULL AFTER name")
    check([r[0] for r in do("SHOW TABLES")], ["book", "person"], "tables")


def test_crud():
    cur = main.cursor()
    cur.execute("INSERT INTO person (name, email) VALUES (%s, %s)", ("Ann", "ann@example.com"))
    check(cur.rowcount, 1, "rows inserted")
    ann = cur.lastrowid
    check(ann, do("SELECT id FROM person")[0][0], "generated key")
    cur.execute("UPDATE person SET age = %s WHERE id = %s", (30, ann))
    check(cur.rowcount, 1, "rows changed")
    main.commit()
    check(do("SELECT name, age, state FROM person WHERE id = %s", (ann,)), [("Ann", 30, "new")])
    check(do("DELETE FROM person WHERE id = %s", (ann,)), 1, "rows deleted")
    main.commit()


def test_rollback_and_savepoints():
    do("INSERT INTO person (name) VALUES ('kept')")
    main.commit()
    do("INSERT INTO person (name) VALUES ('lost')")
    main.rollback()
    do("INSERT INTO person (name) VALUES ('one')")
    do("SAVEPOINT s")
    do("INSERT INTO person (name) VALUES ('two')")
    do("ROLLBACK TO SAVEPOINT s")
    do("RELEASE SAVEPOINT s")
    main.commit()
    check(sorted(r[0] for r in do("SELECT name FROM person")), ["kept", "one"], "rows")
    with connect(database=DB) as other:
        check(do("SELECT COUNT(*) FROM person", con=other), [(2,)], "rows that another connection sees")
    main.commit()


def test_types():
    do("""CREATE TABLE kinds (id INT PRIMARY KEY, t TINYINT, u BIGINT UNSIGNED, m DECIMAL(20,5), d DOUBLE, f FLOAT, s VARCHAR(200), x TEXT, b BLOB, vb VARBINARY(20),
          dd DATE, dtm DATETIME(6), ts TIMESTAMP NULL, tm TIME(6), y YEAR, j JSON, e ENUM('a','b'), st SET('p','q'), bt BIT(8), yes BOOLEAN)""")
    row = (1, -128, 2**64 - 1, decimal.Decimal("-12345678901234.56789"), 1.5e300, 0.25, "Grüße 日本 😀 '\"\\", "x" * 5000, bytes(range(256)), b"\x00\xff",
           dt.date(2024, 2, 29), dt.datetime(1999, 12, 31, 23, 59, 59, 123456), dt.datetime(2024, 1, 2, 3, 4, 5), dt.timedelta(hours=-30, seconds=-1), 1999,
           json.dumps({"a": [1, None, "ü"]}), "b", "p,q", 0b10100101, True)
    place = ",".join(["%s"] * len(row))
    do(f"INSERT INTO kinds VALUES ({place})", row)
    do("INSERT INTO kinds (id) VALUES (2)")
    main.commit()
    got = do("SELECT * FROM kinds WHERE id = 1")[0]
    for i, (a, b) in enumerate(zip(got, row)):
        if i == 15:
            a, b = json.loads(a), json.loads(b)
        elif i == 17:
            a, b = set(a.split(",")) if isinstance(a, str) else set(a), {"p", "q"}
        elif i == 18:
            a = a if isinstance(a, int) else int.from_bytes(a, "big")
        elif isinstance(a, (bytes, bytearray)) and isinstance(b, str):
            a = a.decode()
        check(bytes(a) if isinstance(a, bytearray) else a, b, f"column {i + 1}")
    check(do("SELECT * FROM kinds WHERE id = 2")[0][1:], (None,) * (len(row) - 1), "NULLs")
    check(do("SELECT id FROM kinds WHERE dtm = %s AND dd = %s AND m = %s AND s = %s", (row[11], row[10], row[3], row[6])), [(1,)], "found by its values")
    main.commit()


def test_bulk():
    do("CREATE TABLE bulk (id INT PRIMARY KEY AUTO_INCREMENT, n INT, s VARCHAR(20))")
    cur = main.cursor()
    cur.executemany("INSERT INTO bulk (n, s) VALUES (%s, %s)", [(i, f"r{i}") for i in range(1000)])
    main.commit()
    check(do("SELECT COUNT(*), SUM(n), MIN(s), MAX(id) - MIN(id) FROM bulk"), [(1000, decimal.Decimal(499500), "r0", 999)])
    main.commit()


def test_prepared():
    if which == "connector":
        cur = main.cursor(prepared=True)
        for i in range(3):
            cur.execute("SELECT n, s, CAST(n AS DECIMAL(10,2)) / 3 FROM bulk WHERE n = %s", (7,))
            got = cur.fetchall()
            check((got[0][0], got[0][1], str(got[0][2])), (7, "r7", "2.333333"), "row")
        cur.close()
    else:
        do("PREPARE p FROM 'SELECT n + ? FROM bulk WHERE n = ?'")
        do("SET @a = 5, @b = 7")
        check([int(r[0]) for r in do("EXECUTE p USING @a, @b")], [12], "row")
        do("DEALLOCATE PREPARE p")
    main.commit()


def counters(statements, retry):
    do("CREATE TABLE IF NOT EXISTS counter (id INT PRIMARY KEY, n INT NOT NULL)")
    do("REPLACE INTO counter VALUES (1, 0)")
    main.commit()
    errors = []

    def work():
        con = connect(database=DB)
        try:
            for _ in range(80):
                while True:
                    try:
                        statements(con)
                        con.commit()
                        break
                    except driver.Error as e:
                        con.rollback()
                        if not retry or code(e) != 1213:
                            raise
        except Exception as e:
            errors.append(e)
        finally:
            con.close()

    ts = [threading.Thread(target=work) for _ in range(8)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    if errors:
        raise errors[0]
    check(do("SELECT n FROM counter"), [(640,)], "the counter after 640 increments")
    main.commit()


def test_increments_locked():
    def step(con):
        n = do("SELECT n FROM counter WHERE id = 1 FOR UPDATE", con=con)[0][0]
        do("UPDATE counter SET n = %s WHERE id = 1", (n + 1,), con)
    counters(step, True)


def test_increments_unlocked():
    def step(con):
        n = do("SELECT n FROM counter WHERE id = 1", con=con)[0][0]
        do("UPDATE counter SET n = %s WHERE id = 1", (n + 1,), con)
    counters(step, True)


def test_error_codes():
    do("INSERT INTO person (id, name, email) VALUES (100, 'x', 'x@example.com')")
    main.commit()
    refused(1062, "INSERT INTO person (name, email) VALUES ('y', 'X@example.com')")
    refused(1048, "INSERT INTO person (name) VALUES (NULL)")
    refused(1364, "INSERT INTO person (email) VALUES ('z')")
    refused(1406, "INSERT INTO person (name) VALUES (%s)", ("n" * 51,))
    refused(1264, "INSERT INTO book (owner, title, price) VALUES (100, 't', 12345678.5)")
    refused(1265, "INSERT INTO person (name, state) VALUES ('s', 'none')")
    refused(1366, "INSERT INTO person (name, age) VALUES ('s', 'old')")
    refused(1292, "INSERT INTO person (name, made) VALUES ('s', '2024-02-30 00:00:00')")
    refused(1452, "INSERT INTO book (owner, title) VALUES (999, 't')")
    refused(3819, "INSERT INTO book (owner, title, price) VALUES (100, 't', -1)")
    refused(1146, "SELECT * FROM nothing")
    refused(1054, "SELECT nothing FROM person")
    refused(1064, "SELEC 1")
    refused(1049, "USE nothing")
    refused(1050, "CREATE TABLE person (id INT)")
    refused(1051, "DROP TABLE nothing")
    refused(1091, "ALTER TABLE person DROP COLUMN nothing")
    refused(1305, "CALL nothing()")
    refused(1193, "SELECT @@nothing")
    refused(1690, "SELECT CAST(1 AS UNSIGNED) - 2")
    refused(1242, "SELECT (SELECT n FROM bulk)")


def test_explain():
    main.commit()
    rows = do("EXPLAIN SELECT * FROM person WHERE id = 1")
    check(len(rows[0]), 12, "columns of EXPLAIN")
    check(rows[0][2], "person", "table")
    rows = do("EXPLAIN SELECT p.name, COUNT(*) FROM person p JOIN book b ON b.owner = p.id WHERE b.title LIKE 'a%%' GROUP BY p.name ORDER BY 2")
    check(sorted(r[2] for r in rows), ["b", "p"], "tables")
    tree = json.loads(do("EXPLAIN FORMAT=JSON SELECT * FROM person")[0][0])
    check(tree["query_block"]["table"]["table_name"], "person", "table in JSON")
    check(do("SELECT 1"), [(1,)], "the connection afterwards")
    main.commit()


def test_metadata():
    cur = main.cursor()
    cur.execute("SELECT id, title AS t, price FROM book")
    check([d[0] for d in cur.description], ["id", "t", "price"], "names")
    cur.fetchall()
    got = do("DESCRIBE person")
    check(got[0][:4], ("id", "int", "NO", "PRI"), "DESCRIBE id")
    check([r for r in got if r[0] == "state"][0][1:5], ("enum('new','old')", "NO", "", "new"), "DESCRIBE state")
    check(got[0][5], "auto_increment", "Extra")
    check(do("SELECT COLUMN_NAME, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME IS NOT NULL", (DB,)),
          [("owner", "person")], "foreign keys")
    for table in ("TRIGGERS", "ROUTINES", "PARAMETERS", "EVENTS"):
        check(do(f"SELECT COUNT(*) FROM information_schema.{table} WHERE 1 = 0"), [(0,)], table)
    main.commit()


def test_reset_and_change_user():
    with connect(database=DB) as con:
        do("SET @left = 5", con=con)
        if which == "connector":
            con.cmd_reset_connection()
            check(do("SELECT @left", con=con), [(None,)], "a variable after the reset")
            con.cmd_change_user("root", "", DB)
            check(do("SELECT COUNT(*) FROM counter", con=con), [(1,)], "rows after the change of user")
        elif which == "mysqlclient":
            con.change_user("root", "", DB)
            check(do("SELECT @left", con=con), [(None,)], "a variable after the change of user")
        con.ping()


run("python/" + which, [test_schema, test_crud, test_rollback_and_savepoints, test_types, test_bulk, test_prepared, test_increments_locked,
                        test_increments_unlocked, test_error_codes, test_explain, test_metadata, test_reset_and_change_user])
