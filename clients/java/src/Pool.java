import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

/** HikariCP over Connector/J: what a web server does, with conflicts. */
final class Pool {
  static void run() throws Exception {
    Suite.fresh("java_hikari");
    Suite s = new Suite("hikari");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(Suite.url("java_hikari", "cachePrepStmts=true&useServerPrepStmts=true&useLocalSessionState=true&rewriteBatchedStatements=true&cacheServerConfiguration=true"));
    config.setUsername("root");
    config.setPassword("");
    config.setMaximumPoolSize(8);
    config.setAutoCommit(false);
    config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Connection c = pool.getConnection()) {
        c.createStatement().execute("CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL)");
        c.createStatement().execute("INSERT INTO counter VALUES (1, 0), (2, 0)");
        c.commit();
      }
      s.test("readModifyWrite", () -> increments(pool, 1, "SELECT n FROM counter WHERE id = ?"));
      s.test("forUpdate", () -> increments(pool, 2, "SELECT n FROM counter WHERE id = ? FOR UPDATE"));
      s.test("returnedConnectionsAreClean", () -> {
        try (Connection c = pool.getConnection()) {
          c.createStatement().execute("UPDATE counter SET n = -1");
          c.setReadOnly(false);
        } // not committed: Hikari rolls back
        try (Connection c = pool.getConnection(); ResultSet r = c.createStatement().executeQuery("SELECT MIN(n) FROM counter")) {
          r.next();
          if (r.getInt(1) < 0) throw new AssertionError("what was not committed is there");
          c.rollback();
        }
      });
      s.test("lostConnectionIsReplaced", () -> {
        long id;
        try (Connection c = pool.getConnection(); ResultSet r = c.createStatement().executeQuery("SELECT CONNECTION_ID()")) {
          r.next();
          id = r.getLong(1);
          c.rollback();
        }
        try (Connection k = DriverManager.getConnection(Suite.url("", ""), "root", "")) {
          k.createStatement().execute("KILL " + id);
        }
        for (int i = 0; i < 16; i++) {
          try (Connection c = pool.getConnection(); ResultSet r = c.createStatement().executeQuery("SELECT 1")) {
            r.next();
            c.rollback();
          } catch (SQLException e) { // at most the one that was killed, if it had just been looked at
            if (i > 0 || !e.getSQLState().startsWith("08")) throw e;
          }
        }
      });
    }
  }

  private static void increments(HikariDataSource pool, int row, String select) throws Exception {
    AtomicInteger done = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(8);
    CompletionService<Void> all = new ExecutorCompletionService<>(threads);
    for (int t = 0; t < 8; t++) {
      all.submit(() -> {
        for (int i = 0; i < 20;) {
          try (Connection c = pool.getConnection()) {
            try (PreparedStatement q = c.prepareStatement(select); PreparedStatement u = c.prepareStatement("UPDATE counter SET n = ? WHERE id = ?")) {
              q.setInt(1, row);
              int n;
              try (ResultSet r = q.executeQuery()) {
                r.next();
                n = r.getInt(1);
              }
              u.setInt(1, n + 1);
              u.setInt(2, row);
              u.executeUpdate();
              c.commit();
              i++;
              done.incrementAndGet();
            } catch (SQLException e) {
              c.rollback();
              if (e.getErrorCode() != 1213 || !"40001".equals(e.getSQLState())) throw e;
            }
          }
        }
        return null;
      });
    }
    for (int t = 0; t < 8; t++) all.take().get();
    threads.shutdown();
    try (Connection c = pool.getConnection(); ResultSet r = c.createStatement().executeQuery("SELECT n FROM counter WHERE id = " + row)) {
      r.next();
      // Without a lock the plain read-modify-write loses updates on MySQL; here it must not.
      Suite.equal(r.getInt(1), 160);
      c.rollback();
    }
  }
}
