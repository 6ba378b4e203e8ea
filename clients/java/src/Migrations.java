import java.sql.*;
import java.util.Map;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.ClassLoaderResourceAccessor;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/** Flyway and Liquibase: into an empty schema, again, further, and what they refuse. */
final class Migrations {
  private static int one(String database, String query) throws SQLException {
    try (Connection c = DriverManager.getConnection(Suite.url(database, ""), "root", ""); ResultSet r = c.createStatement().executeQuery(query)) {
      r.next();
      return r.getInt(1);
    }
  }

  private static Flyway flyway(String folder) {
    return Flyway.configure().dataSource(Suite.url("java_flyway", ""), "root", "").locations("classpath:" + folder).placeholders(Map.of("name", "placed"))
        .cleanDisabled(false).load();
  }

  static void flyway() throws Exception {
    Suite.fresh("java_flyway");
    Suite s = new Suite("flyway");
    s.test("migrate", () -> {
      Suite.equal(flyway("flyway/first").migrate().migrationsExecuted, 3);
      Suite.equal(one("java_flyway", "SELECT COUNT(*) FROM city"), 3);
    });
    s.test("again", () -> {
      Suite.equal(flyway("flyway/first").migrate().migrationsExecuted, 0);
      flyway("flyway/first").validate();
      Suite.equal(flyway("flyway/first").info().current().getVersion().toString(), "2");
    });
    s.test("further", () -> {
      Suite.equal(Flyway.configure().dataSource(Suite.url("java_flyway", ""), "root", "").locations("classpath:flyway/first", "classpath:flyway/second")
          .placeholders(Map.of("name", "placed")).load().migrate().migrationsExecuted, 1);
      Suite.equal(one("java_flyway", "SELECT population FROM city WHERE name = 'placed'"), 7);
    });
    s.test("failure", () -> {
      try {
        Flyway.configure().dataSource(Suite.url("java_flyway", ""), "root", "").locations("classpath:flyway/first", "classpath:flyway/second", "classpath:flyway/broken")
            .placeholders(Map.of("name", "placed")).load().migrate();
        throw new AssertionError("a broken migration went through");
      } catch (FlywayException e) {
        Suite.equal(one("java_flyway", "SELECT COUNT(*) FROM flyway_schema_history WHERE success = 0"), 1);
      }
      Flyway.configure().dataSource(Suite.url("java_flyway", ""), "root", "").locations("classpath:flyway/first", "classpath:flyway/second").load().repair();
    });
    s.test("clean", () -> {
      flyway("flyway/first").clean();
      Suite.equal(one("information_schema", "SELECT COUNT(*) FROM tables WHERE table_schema = 'java_flyway'"), 0);
      Suite.equal(flyway("flyway/first").migrate().migrationsExecuted, 3);
    });
    s.test("twoAtOnce", () -> {
      flyway("flyway/first").clean();
      Thread[] all = new Thread[3];
      Throwable[] failed = new Throwable[1];
      for (int i = 0; i < all.length; i++) {
        all[i] = new Thread(() -> {
          try {
            flyway("flyway/first").migrate();
          } catch (Throwable e) {
            failed[0] = e;
          }
        });
        all[i].start();
      }
      for (Thread t : all) t.join();
      if (failed[0] != null) throw new AssertionError(failed[0]);
      Suite.equal(one("java_flyway", "SELECT COUNT(*) FROM city"), 3);
    });
  }

  static void liquibase() throws Exception {
    Suite.fresh("java_liquibase");
    Suite s = new Suite("liquibase");
    try (Connection c = DriverManager.getConnection(Suite.url("java_liquibase", ""), "root", "")) {
      Liquibase l = new Liquibase("liquibase/changes.xml", new ClassLoaderResourceAccessor(), DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(c)));
      s.test("update", () -> {
        l.update(new Contexts());
        Suite.equal(one("java_liquibase", "SELECT COUNT(*) FROM person WHERE city_id IS NOT NULL"), 2);
        Suite.equal(one("information_schema", "SELECT COUNT(*) FROM referential_constraints WHERE constraint_schema = 'java_liquibase'"), 1);
      });
      s.test("again", () -> {
        Suite.equal(l.listUnrunChangeSets(new Contexts(), null).size(), 0);
        l.update(new Contexts());
        l.validate();
      });
      s.test("rollback", () -> {
        l.rollback(2, "");
        Suite.equal(l.listUnrunChangeSets(new Contexts(), null).size(), 2);
        Suite.equal(one("information_schema", "SELECT COUNT(*) FROM columns WHERE table_schema = 'java_liquibase' AND table_name = 'person' AND column_name = 'nick'"), 0);
        l.update(new Contexts());
      });
      s.test("snapshot", () -> {
        var snapshot = liquibase.snapshot.SnapshotGeneratorFactory.getInstance().createSnapshot(l.getDatabase().getDefaultSchema(), l.getDatabase(), new liquibase.snapshot.SnapshotControl(l.getDatabase()));
        Suite.equal(snapshot.get(liquibase.structure.core.Table.class).size(), 5);
        Suite.equal(snapshot.get(liquibase.structure.core.ForeignKey.class).size(), 1);
      });
      s.test("dropAll", () -> {
        l.dropAll();
        Suite.equal(one("information_schema", "SELECT COUNT(*) FROM tables WHERE table_schema = 'java_liquibase' AND table_name NOT LIKE 'DATABASECHANGELOG%'"), 0);
      });
    }
  }
}
