import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;

/** One client's tests. Each prints a line: "ok NAME", or "not ok NAME: why". */
final class Suite {
  static final String HOST = System.getenv().getOrDefault("LONGITUDE_HOST", "127.0.0.1");
  static final String PORT = System.getenv("LONGITUDE_PORT");

  private final String prefix;

  Suite(String prefix) {
    this.prefix = prefix;
  }

  interface Test {
    void run() throws Exception;
  }

  interface Work {
    void on(Connection c) throws Exception;
  }

  void test(String name, Test test) {
    try {
      test.run();
      System.out.println("ok " + prefix + "/" + name);
    } catch (Throwable e) {
      StringBuilder why = new StringBuilder();
      for (Throwable t = e; t != null && why.length() < 600; t = t.getCause()) why.append(t).append("; ");
      System.out.println("not ok " + prefix + "/" + name + ": " + why.toString().replaceAll("\\s+", " "));
      if (System.getenv("LONGITUDE_TRACE") != null) e.printStackTrace();
    }
  }

  static void equal(Object got, Object want) {
    if (!Objects.deepEquals(got, want)) throw new AssertionError("got " + got + ", want " + want);
  }

  /** refused fails unless the work ends with this error code. */
  static void refused(int code, String state, Test work) throws Exception {
    try {
      work.run();
    } catch (SQLException e) {
      equal(e.getErrorCode() + " " + e.getSQLState(), code + " " + state);
      return;
    }
    throw new AssertionError("was not refused, want " + code);
  }

  static String url(String database, String options) {
    return "jdbc:mysql://" + HOST + ":" + PORT + "/" + database + "?" + options;
  }

  /** fresh makes a database anew. */
  static void fresh(String database) throws SQLException {
    try (Connection c = DriverManager.getConnection(url("", ""), "root", ""); Statement s = c.createStatement()) {
      s.execute("DROP DATABASE IF EXISTS " + database);
      s.execute("CREATE DATABASE " + database);
    }
  }

  public static void main(String[] args) throws Exception {
    java.util.logging.LogManager.getLogManager().reset();
    switch (args[0]) {
      case "connectorj" -> Jdbc.run("connectorj", "jdbc:mysql:", new String[] {"", "useServerPrepStmts=true&cachePrepStmts=true",
          "rewriteBatchedStatements=true", "useCursorFetch=true&useServerPrepStmts=true&defaultFetchSize=7"});
      case "mariadb-java" -> Jdbc.run("mariadb-java", "jdbc:mariadb:", new String[] {"", "useServerPrepStmts=true", "useBulkStmts=true"});
      case "hikari" -> Pool.run();
      case "hibernate" -> Orm.run();
      case "flyway" -> Migrations.flyway();
      case "liquibase" -> Migrations.liquibase();
      default -> throw new IllegalArgumentException(args[0]);
    }
    System.exit(0);
  }
}
