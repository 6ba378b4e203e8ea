import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;

/** A JDBC driver by itself, once for each set of its options. */
final class Jdbc {
  private final String prefix, base;

  private Jdbc(String prefix, String base) {
    this.prefix = prefix;
    this.base = base;
  }

  static void run(String name, String scheme, String[] options) throws Exception {
    for (int i = 0; i < options.length; i++) {
      String db = "java_" + name.replace('-', '_') + i;
      Suite.fresh(db);
      String key = options[i].isEmpty() ? "plain" : options[i].replaceAll("=.*", "");
      new Jdbc(name + "/" + key, scheme + "//" + Suite.HOST + ":" + Suite.PORT + "/" + db + "?" + options[i]).tests(db);
    }
  }

  private Connection open() throws SQLException {
    return DriverManager.getConnection(base, "root", "");
  }

  private void tests(String db) throws Exception {
    Suite s = new Suite(prefix);
    Connection c = open();
    Statement st = c.createStatement();
    s.test("schema", () -> {
      st.execute("CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, b TINYINT(1), i INT, u BIGINT UNSIGNED, m DECIMAL(20,4), f FLOAT, d DOUBLE,"
          + " s VARCHAR(100), x TEXT, bin VARBINARY(20), bl BLOB, da DATE, ti TIME(6), dt DATETIME(6), ts TIMESTAMP(3) NULL, y YEAR, j JSON,"
          + " e ENUM('a','b'), se SET('x','y'), bits BIT(8), UNIQUE KEY s (s))");
    });
    s.test("types", () -> types(c));
    s.test("nulls", () -> {
      try (PreparedStatement p = c.prepareStatement("INSERT INTO t (i, s, m, dt) VALUES (?, ?, ?, ?)")) {
        p.setNull(1, Types.INTEGER);
        p.setNull(2, Types.VARCHAR);
        p.setBigDecimal(3, null);
        p.setObject(4, null);
        Suite.equal(p.executeUpdate(), 1);
      }
      try (PreparedStatement p = c.prepareStatement("SELECT i, s, m FROM t WHERE i IS NULL AND s IS NULL"); ResultSet r = p.executeQuery()) {
        r.next();
        Suite.equal(r.getInt(1) + " " + r.wasNull() + " " + r.getString(2) + " " + r.getBigDecimal(3), "0 true null null");
      }
    });
    s.test("generatedKeys", () -> {
      try (PreparedStatement p = c.prepareStatement("INSERT INTO t (s) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          p.setString(1, "key" + i);
          p.executeUpdate();
          try (ResultSet k = p.getGeneratedKeys()) {
            k.next();
            ids.add(k.getLong(1));
          }
        }
        try (ResultSet r = st.executeQuery("SELECT id FROM t WHERE s LIKE 'key%' ORDER BY s")) {
          for (long id : ids) {
            r.next();
            Suite.equal(r.getLong(1), id);
          }
        }
      }
      st.executeUpdate("INSERT INTO t (s) VALUES ('many1'), ('many2'), ('many3')", Statement.RETURN_GENERATED_KEYS);
      try (ResultSet k = st.getGeneratedKeys(); ResultSet r = c.createStatement().executeQuery("SELECT id FROM t WHERE s LIKE 'many%' ORDER BY s")) {
        int n = 0;
        for (; k.next(); n++) {
          r.next();
          Suite.equal(k.getLong(1), r.getLong(1));
        }
        if (n == 0) throw new AssertionError("no keys");
      }
    });
    s.test("batch", () -> batch(c));
    s.test("batchWithDuplicate", () -> {
      try (PreparedStatement p = c.prepareStatement("INSERT INTO t (s) VALUES (?)")) {
        for (String v : new String[] {"dup1", "dup2", "DUP1", "dup3"}) {
          p.setString(1, v);
          p.addBatch();
        }
        p.executeBatch();
        throw new AssertionError("a duplicate was taken");
      } catch (BatchUpdateException e) {
        Suite.equal(e.getErrorCode() + " " + e.getSQLState(), "1062 23000");
      }
    });
    s.test("rollbackAndSavepoints", () -> {
      c.setAutoCommit(false);
      try {
        st.executeUpdate("INSERT INTO t (s) VALUES ('sp1')");
        Savepoint a = c.setSavepoint("a");
        st.executeUpdate("INSERT INTO t (s) VALUES ('sp2')");
        c.rollback(a);
        st.executeUpdate("INSERT INTO t (s) VALUES ('sp3')");
        c.commit();
        st.executeUpdate("INSERT INTO t (s) VALUES ('sp4')");
        c.rollback();
      } finally {
        c.setAutoCommit(true);
      }
      Suite.equal(column("SELECT s FROM t WHERE s LIKE 'sp%' ORDER BY s"), List.of("sp1", "sp3"));
    });
    s.test("isolationAndReadOnly", () -> {
      try (Connection o = open()) {
        for (int level : new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) o.setTransactionIsolation(level);
        o.createStatement().execute("SET SESSION TRANSACTION READ ONLY"); // setReadOnly would have the driver look, before it sends anything
        o.setAutoCommit(false);
        Suite.refused(1792, "25006", () -> o.createStatement().executeUpdate("DELETE FROM t"));
        o.rollback();
        o.createStatement().execute("SET SESSION TRANSACTION READ WRITE");
        o.setReadOnly(true);
        try (ResultSet r = o.createStatement().executeQuery("SELECT COUNT(*) FROM t")) {
          r.next();
        }
        o.commit();
        o.setReadOnly(false);
        o.createStatement().executeUpdate("DELETE FROM t WHERE s = 'nothing'");
        o.commit();
      }
    });
    s.test("upsert", () -> {
      Suite.equal(st.executeUpdate("INSERT INTO t (s, i) VALUES ('up', 1) ON DUPLICATE KEY UPDATE i = i + 1"), 1);
      try (PreparedStatement p = c.prepareStatement("INSERT INTO t (s, i) VALUES (?, ?) ON DUPLICATE KEY UPDATE i = i + VALUES(i)")) {
        p.setString(1, "UP");
        p.setInt(2, 10);
        Suite.equal(p.executeUpdate(), 2);
      }
      Suite.equal(column("SELECT i FROM t WHERE s = 'up'"), List.of("11"));
    });
    s.test("streaming", () -> {
      try (Connection o = open(); Statement q = o.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
        q.setFetchSize(prefix.startsWith("connectorj") && !prefix.contains("Cursor") ? Integer.MIN_VALUE : 10);
        int n = 0;
        try (ResultSet r = q.executeQuery("SELECT a.i, b.s FROM t a JOIN t b ON b.s LIKE 'batch%' WHERE a.s LIKE 'batch%' AND a.i < 20")) {
          while (r.next()) n++;
        }
        Suite.equal(n, 20 * 500);
        try (ResultSet r = q.executeQuery("SELECT 1")) {
          r.next();
        }
      }
    });
    s.test("updatableRows", () -> {
      try (Statement q = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
          ResultSet r = q.executeQuery("SELECT id, s, i FROM t WHERE s = 'up'")) {
        r.next();
        r.updateInt("i", 77);
        r.updateRow();
      }
      Suite.equal(column("SELECT i FROM t WHERE s = 'up'"), List.of("77"));
    });
    s.test("metadata", () -> metadata(c, db));
    s.test("callable", () -> {
      st.execute("CREATE PROCEDURE twice(IN a INT, OUT b INT) SET b = a * 2");
      try (CallableStatement call = c.prepareCall("{CALL twice(?, ?)}")) {
        call.setInt(1, 21);
        call.registerOutParameter(2, Types.INTEGER);
        call.execute();
        Suite.equal(call.getInt(2), 42);
      }
    });
    s.test("errors", () -> {
      Suite.refused(1062, "23000", () -> st.executeUpdate("INSERT INTO t (s) VALUES ('up')"));
      Suite.refused(1146, "42S02", () -> st.executeQuery("SELECT * FROM nothing"));
      Suite.refused(1054, "42S22", () -> st.executeQuery("SELECT nothing FROM t"));
      Suite.refused(1064, "42000", () -> st.execute("SELEC 1"));
      Suite.refused(1406, "22001", () -> st.executeUpdate("INSERT INTO t (s) VALUES (REPEAT('x', 101))"));
      Suite.refused(1264, prefix.startsWith("connectorj") ? "22001" : "22003", () -> st.executeUpdate("INSERT INTO t (i) VALUES (99999999999)"));
      Suite.refused(1048, "23000", () -> st.executeUpdate("UPDATE t SET id = NULL WHERE s = 'up'"));
    });
    s.test("timeout", () -> {
      try (Statement q = c.createStatement()) {
        q.setQueryTimeout(1);
        long began = System.nanoTime();
        try {
          q.executeQuery("SELECT SLEEP(20)");
        } catch (SQLException e) { // of the driver, or 1317 of the server
        }
        if (System.nanoTime() - began > 10e9) throw new AssertionError("the statement went on");
      }
      column("SELECT 1");
    });
    c.close();
  }

  private List<String> column(String query) throws SQLException {
    try (Connection o = open(); Statement q = o.createStatement(); ResultSet r = q.executeQuery(query)) {
      List<String> out = new ArrayList<>();
      while (r.next()) out.add(r.getString(1));
      return out;
    }
  }

  private void types(Connection c) throws SQLException {
    LocalDateTime dt = LocalDateTime.of(2024, 2, 29, 12, 34, 56, 789012000);
    Timestamp ts = Timestamp.valueOf("2024-02-29 12:34:56.789");
    try (PreparedStatement p = c.prepareStatement("INSERT INTO t (b, i, u, m, f, d, s, x, bin, bl, da, ti, dt, ts, y, j, e, se, bits)"
        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
      Object[] v = {true, -5, "18446744073709551615", new BigDecimal("-1234567890123456.7890"), 1.5f, 0.1, "ü😀", "text", new byte[] {0, 1, -1}, new byte[] {-1, 0},
          LocalDate.of(2024, 2, 29), LocalTime.of(10, 11, 12, 131415000), dt, ts, 2024, "{\"a\": [1, null]}", "b", "x,y", new byte[] {5}};
      for (int i = 0; i < v.length; i++) p.setObject(i + 1, v[i]);
      Suite.equal(p.executeUpdate(), 1);
    }
    for (int round = 0; round < 3; round++) {
      try (PreparedStatement p = c.prepareStatement("SELECT * FROM t WHERE s = ?")) {
        p.setString(1, "ü😀");
        try (ResultSet r = p.executeQuery()) {
          r.next();
          Suite.equal(List.of(r.getBoolean("b"), r.getInt("i"), r.getBigDecimal("u").toString(), r.getBigDecimal("m").toString(), r.getFloat("f"), r.getDouble("d"), r.getString("x"),
              r.getObject("da", LocalDate.class), r.getTime("ti").toLocalTime(), r.getObject("dt", LocalDateTime.class), r.getTimestamp("ts"), r.getInt("y"),
              r.getString("j"), r.getString("e"), r.getString("se"), Arrays.toString(r.getBytes("bin")), Arrays.toString(r.getBytes("bl")), Arrays.toString(r.getBytes("bits"))),
              List.of(true, -5, "18446744073709551615", "-1234567890123456.7890", 1.5f, 0.1, "text", LocalDate.of(2024, 2, 29), LocalTime.of(10, 11, 12), dt, ts, 2024,
                  "{\"a\": [1, null]}", "b", "x,y", "[0, 1, -1]", "[-1, 0]", "[5]"));
        }
      }
    }
    try (Statement q = c.createStatement(); ResultSet r = q.executeQuery("SELECT * FROM t")) {
      ResultSetMetaData m = r.getMetaData();
      StringBuilder names = new StringBuilder();
      for (int i = 1; i <= m.getColumnCount(); i++) names.append(m.getColumnName(i)).append(' ').append(m.getColumnTypeName(i)).append(' ').append(m.getPrecision(i)).append(' ').append(m.getScale(i)).append(", ");
      if (prefix.startsWith("connectorj")) {
        Suite.equal(names.toString(), "id BIGINT 19 0, b BIT 1 0, i INT 10 0, u BIGINT UNSIGNED 20 0, m DECIMAL 20 4, f FLOAT 12 0, d DOUBLE 22 0, s VARCHAR 100 0, x TEXT 16383 0, bin VARBINARY 20 0, "
            + "bl BLOB 65535 0, da DATE 10 0, ti TIME 17 0, dt DATETIME 26 0, ts TIMESTAMP 23 0, y YEAR 4 0, j JSON 2147483647 0, e CHAR 1 0, se CHAR 3 0, bits BIT 8 0, ");
      }
    }
  }

  private void batch(Connection c) throws SQLException {
    try (PreparedStatement p = c.prepareStatement("INSERT INTO t (i, s) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
      for (int i = 0; i < 500; i++) {
        p.setInt(1, i);
        p.setString(2, "batch" + i);
        p.addBatch();
      }
      Suite.equal(p.executeBatch().length, 500);
    }
    try (PreparedStatement p = c.prepareStatement("UPDATE t SET i = ? WHERE s = ?")) {
      for (int i = 0; i < 50; i++) {
        p.setInt(1, i);
        p.setString(2, "batch" + i);
        p.addBatch();
      }
      p.executeBatch();
    }
    Suite.equal(column("SELECT CONCAT(COUNT(*), ' ', SUM(i)) FROM t WHERE s LIKE 'batch%'"), List.of("500 124750"));
  }

  private void metadata(Connection c, String db) throws SQLException {
    try (Statement q = c.createStatement()) {
      q.execute("CREATE TABLE child (id INT PRIMARY KEY AUTO_INCREMENT, t_id BIGINT NOT NULL, n VARCHAR(10) DEFAULT 'x', CONSTRAINT fk_" + db + " FOREIGN KEY (t_id) REFERENCES t (id) ON DELETE CASCADE)");
      q.execute("CREATE VIEW v AS SELECT id FROM t");
    }
    DatabaseMetaData m = c.getMetaData();
    Suite.equal(rows(m.getTables(db, null, "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"), List.of("child TABLE", "t TABLE", "v VIEW"));
    Suite.equal(rows(m.getColumns(db, null, "child", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "IS_NULLABLE", "COLUMN_DEF", "IS_AUTOINCREMENT"),
        List.of("id INT 10 NO null YES", "t_id BIGINT 19 NO null NO", "n VARCHAR 10 YES x NO"));
    Suite.equal(rows(m.getPrimaryKeys(db, null, "child"), "COLUMN_NAME", "KEY_SEQ"), List.of("id 1"));
    Suite.equal(rows(m.getImportedKeys(db, null, "child"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME", "FK_NAME", "DELETE_RULE"), List.of("t id t_id fk_" + db + " 0"));
    Suite.equal(Set.copyOf(rows(m.getExportedKeys(db, null, "t"), "FKTABLE_NAME", "FKCOLUMN_NAME")), Set.of("child t_id")); // twice, of MySQL too
    Suite.equal(rows(m.getIndexInfo(db, null, "t", true, false), "INDEX_NAME", "COLUMN_NAME"), List.of("PRIMARY id", "s s"));
    rows(m.getProcedures(db, null, "%"), "PROCEDURE_NAME");
    rows(m.getProcedureColumns(db, null, "%", "%"), "COLUMN_NAME");
    rows(m.getFunctions(db, null, "%"), "FUNCTION_NAME");
    rows(m.getBestRowIdentifier(db, null, "t", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME");
    rows(m.getTypeInfo(), "TYPE_NAME");
    rows(m.getCatalogs(), "TABLE_CAT");
    Suite.equal(m.supportsTransactions() && m.supportsSavepoints(), true);
  }

  private static List<String> rows(ResultSet r, String... columns) throws SQLException {
    try (r) {
      List<String> out = new ArrayList<>();
      while (r.next()) {
        StringJoiner row = new StringJoiner(" ");
        for (String col : columns) row.add(String.valueOf(r.getString(col)));
        out.add(row.toString());
      }
      return out;
    }
  }
}
