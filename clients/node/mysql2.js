// mysql2, the driver below most of node's ORMs.
const mysql = require('mysql2/promise');
const { at, equal, run } = require('./tap');

(async () => {
  const boot = await mysql.createConnection(at);
  await boot.query('DROP DATABASE IF EXISTS node_mysql2');
  await boot.query('CREATE DATABASE node_mysql2');
  await boot.end();
  const pool = mysql.createPool({ ...at, database: 'node_mysql2', connectionLimit: 8, multipleStatements: true });

  const refused = async (code, q) => {
    try {
      await pool.query(q);
    } catch (e) {
      return equal([e.errno, e.code], code, q);
    }
    throw new Error(`${q} was not refused`);
  };

  await run('node/mysql2', {
    async schema() {
      await pool.query(`CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT NOT NULL DEFAULT 0, s VARCHAR(50) UNIQUE, m DECIMAL(10,2), d DATETIME(3), tm TIME, j JSON, b BLOB)`);
    },
    async types() {
      const when = new Date('2024-02-29T12:34:56.789Z');
      const [r] = await pool.execute('INSERT INTO t (n, s, m, d, tm, j, b) VALUES (?, ?, ?, ?, ?, ?, ?)', [1, 'ü😀', '12.30', when, '10:11:12', JSON.stringify({ a: [1, null] }), Buffer.from([0, 1, 255])]);
      equal([r.affectedRows, r.insertId], [1, 1]);
      for (const get of ['query', 'execute']) {
        const [[row]] = await pool[get]('SELECT * FROM t WHERE id = ?', [1]);
        equal([row.n, row.s, row.m, row.d.getTime(), row.tm, row.j, [...row.b]], [1, 'ü😀', '12.30', when.getTime(), '10:11:12', { a: [1, null] }, [0, 1, 255]], get);
      }
    },
    async bulk() {
      const rows = Array.from({ length: 1000 }, (_, i) => [i, `r${i}`]);
      const [r] = await pool.query('INSERT INTO t (n, s) VALUES ?', [rows]);
      equal(r.affectedRows, 1000);
      const [page] = await pool.execute('SELECT n FROM t WHERE n >= ? ORDER BY n LIMIT ? OFFSET ?', ['10', '3', '2']);
      equal(page.map((p) => p.n), [12, 13, 14]);
    },
    async transactions() {
      const c = await pool.getConnection();
      await c.beginTransaction();
      await c.query("INSERT INTO t (s) VALUES ('gone')");
      await c.rollback();
      await c.beginTransaction();
      await c.query("INSERT INTO t (s) VALUES ('stays')");
      await c.commit();
      const [rows] = await c.query("SELECT s FROM t WHERE s IN ('gone', 'stays')");
      c.release();
      equal(rows, [{ s: 'stays' }]);
    },
    async increments() {
      await pool.query('CREATE TABLE c (id INT PRIMARY KEY, n INT)');
      await pool.query('INSERT INTO c VALUES (1, 0)');
      await Promise.all(Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 40;) {
          const c = await pool.getConnection();
          try {
            await c.beginTransaction();
            const [[{ n }]] = await c.query('SELECT n FROM c WHERE id = 1');
            await c.execute('UPDATE c SET n = ? WHERE id = 1', [n + 1]);
            await c.commit();
            i++;
          } catch (e) {
            if (e.errno !== 1213) throw e;
            await c.rollback();
          } finally {
            c.release();
          }
        }
      }));
      const [[{ n }]] = await pool.query('SELECT n FROM c');
      equal(n, 320);
    },
    async multipleStatements() {
      const [r] = await pool.query('SELECT 1 AS a; UPDATE c SET n = 5; SELECT n FROM c');
      equal([r[0], r[1].affectedRows, r[2]], [[{ a: 1 }], 1, [{ n: 5 }]]);
    },
    async errors() {
      await refused([1062, 'ER_DUP_ENTRY'], "INSERT INTO t (s) VALUES ('STAYS')");
      await refused([1146, 'ER_NO_SUCH_TABLE'], 'SELECT * FROM nothing');
      await refused([1054, 'ER_BAD_FIELD_ERROR'], 'SELECT nothing FROM t');
      await refused([1064, 'ER_PARSE_ERROR'], 'SELEC 1');
      await refused([1264, 'ER_WARN_DATA_OUT_OF_RANGE'], "INSERT INTO t (m) VALUES (123456789012)");
      await refused([3140, 'ER_INVALID_JSON_TEXT'], "INSERT INTO t (j) VALUES ('{')");
    },
    async changeUser() {
      const c = await mysql.createConnection({ ...at, database: 'node_mysql2' });
      await c.query('SET @a = 1');
      await c.changeUser({ user: 'root', database: 'node_mysql2' });
      const [[row]] = await c.query('SELECT @a AS a, DATABASE() AS d');
      equal(row, { a: null, d: 'node_mysql2' });
      await c.query('SET @a = 1');
      await c.reset?.();
      await c.end();
    },
    async explain() {
      const [rows] = await pool.execute('EXPLAIN SELECT * FROM t WHERE id = 5');
      equal([rows[0].table, rows[0].type, rows[0].key], ['t', 'const', 'PRIMARY']);
    },
  });
})();
