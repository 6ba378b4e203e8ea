import jakarta.persistence.*;
import java.math.BigDecimal;
import java.time.*;
import java.util.*;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;
import org.hibernate.annotations.BatchSize;
import org.hibernate.boot.MetadataSources;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;

/** Hibernate: schema, entities, associations, inheritance, batches, locks, queries. */
final class Orm {
  enum Kind { SMALL, LARGE }

  @Embeddable
  static class Address {
    String street;
    @Column(length = 10) String zip;
  }

  @MappedSuperclass
  static class Base {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
    @Version int version;
  }

  @Entity(name = "Person")
  @Table(name = "person", uniqueConstraints = @UniqueConstraint(name = "one_mail", columnNames = "mail"), indexes = @Index(name = "by_name", columnList = "name, born"))
  static class Person extends Base {
    @Column(nullable = false, length = 50) String name;
    String mail;
    LocalDate born;
    LocalDateTime seen;
    Instant made;
    boolean active;
    @Column(precision = 12, scale = 2) BigDecimal pay;
    @Enumerated(EnumType.STRING) Kind kind;
    @Lob String story;
    byte[] photo;
    UUID token;
    @Embedded Address address;
    @ElementCollection @OrderColumn List<String> nicks = new ArrayList<>();
    @OneToMany(mappedBy = "owner", cascade = CascadeType.ALL, orphanRemoval = true) @BatchSize(size = 10) List<Pet> pets = new ArrayList<>();
    @ManyToMany Set<Club> clubs = new HashSet<>();
    @ManyToOne(fetch = FetchType.LAZY) Person boss;
    @OneToOne(mappedBy = "person", cascade = CascadeType.ALL) Card card;
  }

  @Entity(name = "Pet")
  @Inheritance(strategy = InheritanceType.JOINED)
  static class Pet extends Base {
    String name;
    int weight;
    @ManyToOne(optional = false, fetch = FetchType.LAZY) Person owner;
  }

  @Entity(name = "Dog")
  static class Dog extends Pet {
    int bite;
  }

  @Entity(name = "Club")
  static class Club extends Base {
    String name;
    @ManyToMany(mappedBy = "clubs") Set<Person> members = new HashSet<>();
  }

  @Entity(name = "Card")
  static class Card extends Base {
    String number;
    @OneToOne @JoinColumn(unique = true) Person person;
  }

  /** Numbered has ids of a table, as Hibernate's sequences are on MySQL. */
  @Entity(name = "Numbered")
  static class Numbered {
    @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) @SequenceGenerator(name = "numbers", allocationSize = 20) Long id;
    String text;
  }

  private static SessionFactory factory(String ddl) {
    var registry = new StandardServiceRegistryBuilder().applySettings(Map.of("hibernate.connection.url", Suite.url("java_hibernate", "rewriteBatchedStatements=true"), "hibernate.connection.username", "root",
        "hibernate.connection.password", "", "hibernate.hbm2ddl.auto", ddl, "hibernate.jdbc.batch_size", "50", "hibernate.order_inserts", "true", "hibernate.hbm2ddl.halt_on_error", "true")).build();
    var sources = new MetadataSources(registry);
    for (Class<?> k : List.of(Person.class, Pet.class, Dog.class, Club.class, Card.class, Numbered.class)) sources.addAnnotatedClass(k);
    return sources.buildMetadata().buildSessionFactory();
  }

  interface Work {
    void with(Session s) throws Exception;
  }

  private static void within(SessionFactory f, Work work) throws Exception {
    try (Session s = f.openSession()) {
      Transaction t = s.beginTransaction();
      try {
        work.with(s);
        t.commit();
      } catch (Throwable e) {
        if (t.isActive()) t.rollback();
        throw e;
      }
    }
  }

  private static Person person(String name) {
    Person p = new Person();
    p.name = name;
    return p;
  }

  static void run() throws Exception {
    Suite.fresh("java_hibernate");
    Suite s = new Suite("hibernate");
    s.test("schema", () -> factory("update").close());
    s.test("updateAndValidate", () -> {
      factory("update").close();
      factory("validate").close();
    });
    SessionFactory f = factory("none");
    LocalDateTime seen = LocalDateTime.of(2024, 2, 29, 12, 34, 56, 789012000);
    UUID token = UUID.randomUUID();
    long[] id = new long[1];
    s.test("persistAndFind", () -> {
      within(f, x -> {
        Person p = person("Ann ü😀");
        p.mail = "ann@x";
        p.born = LocalDate.of(1990, 12, 31);
        p.seen = seen;
        p.made = Instant.ofEpochSecond(1700000000, 123456000);
        p.active = true;
        p.pay = new BigDecimal("1234567890.12");
        p.kind = Kind.LARGE;
        p.story = "x".repeat(100000);
        p.photo = new byte[] {0, 1, -1};
        p.token = token;
        p.address = new Address();
        p.address.zip = "0123";
        p.nicks.addAll(List.of("a", "b", "c"));
        x.persist(p);
        id[0] = p.id;
      });
      within(f, x -> {
        Person p = x.find(Person.class, id[0]);
        Suite.equal(List.of(p.name, p.born, p.seen, p.made, p.active, p.pay, p.kind, p.story.length(), Arrays.toString(p.photo), p.token, p.address.zip, p.nicks.size(), p.version),
            List.of("Ann ü😀", LocalDate.of(1990, 12, 31), seen, Instant.ofEpochSecond(1700000000, 123456000), true, new BigDecimal("1234567890.12"), Kind.LARGE, 100000, "[0, 1, -1]", token, "0123", 3, 0));
        p.nicks.remove(0);
        p.nicks.add("d");
      });
      within(f, x -> Suite.equal(List.copyOf(x.find(Person.class, id[0]).nicks), List.of("b", "c", "d")));
    });
    s.test("associations", () -> {
      within(f, x -> {
        Person ann = x.find(Person.class, id[0]), bob = person("Bob");
        bob.boss = ann;
        Club chess = new Club(), golf = new Club();
        chess.name = "chess";
        golf.name = "golf";
        x.persist(chess);
        x.persist(golf);
        bob.clubs.addAll(List.of(chess, golf));
        ann.clubs.add(chess);
        for (String n : List.of("Rex", "Tom")) {
          Pet p = n.equals("Rex") ? new Dog() : new Pet();
          p.name = n;
          p.weight = n.length() + 7;
          p.owner = bob;
          bob.pets.add(p);
        }
        bob.card = new Card();
        bob.card.number = "4711";
        bob.card.person = bob;
        x.persist(bob);
      });
      within(f, x -> {
        Person bob = x.createQuery("from Person p join fetch p.pets left join fetch p.boss where p.name = 'Bob'", Person.class).getSingleResult();
        Suite.equal(bob.pets.size() + " " + bob.clubs.size() + " " + bob.boss.name + " " + bob.card.number, "2 2 Ann ü😀 4711");
        Suite.equal(x.createQuery("select count(d) from Dog d where d.owner.name = 'Bob'", Long.class).getSingleResult(), 1L);
        bob.pets.remove(0);
        bob.clubs.removeIf(c -> c.name.equals("golf"));
      });
      within(f, x -> {
        Suite.equal(x.createQuery("select count(p) from Pet p", Long.class).getSingleResult(), 1L);
        Suite.equal(x.createQuery("select c.name, count(m), min(m.name) from Club c left join c.members m group by c.name order by c.name", Object[].class).getResultList().stream().map(Arrays::toString).toList(),
            List.of("[chess, 2, Ann ü😀]", "[golf, 0, null]"));
      });
    });
    s.test("batch", () -> {
      within(f, x -> {
        for (int i = 0; i < 300; i++) {
          Numbered n = new Numbered();
          n.text = "n" + i;
          x.persist(n);
          if (i % 50 == 49) {
            x.flush();
            x.clear();
          }
        }
      });
      within(f, x -> {
        Suite.equal(x.createQuery("select count(distinct id) from Numbered", Long.class).getSingleResult(), 300L);
        Suite.equal(x.createMutationQuery("update Numbered set text = concat(text, '!') where mod(id, 2) = 0").executeUpdate(), 150);
        Suite.equal(x.createMutationQuery("delete from Numbered where text like '%!'").executeUpdate(), 150);
        Suite.equal(x.createQuery("from Numbered order by id", Numbered.class).setFirstResult(10).setMaxResults(5).getResultList().size(), 5);
      });
    });
    s.test("queries", () -> {
      within(f, x -> {
        for (int i = 0; i < 20; i++) {
          Person p = person("q" + i);
          p.pay = new BigDecimal(i);
          p.born = LocalDate.of(2000, 1 + i % 4, 1);
          x.persist(p);
        }
      });
      within(f, x -> {
        Suite.equal(x.createQuery("select month(p.born), sum(p.pay), avg(p.pay) from Person p where p.name like 'q%' group by month(p.born) having sum(p.pay) > 40 order by 1", Object[].class).getResultList()
            .stream().map(Arrays::toString).toList(), List.of("[2, 45.00, 9.0]", "[3, 50.00, 10.0]", "[4, 55.00, 11.0]"));
        Suite.equal(x.createQuery("select p.name from Person p where p.pay > (select avg(o.pay) from Person o where o.name like 'q%') and p.name like 'q%' order by p.pay desc", String.class).setMaxResults(2).getResultList(), List.of("q19", "q18"));
        Suite.equal(x.createQuery("select p.name from Person p where not exists (select 1 from Person o where o.pay > p.pay and o.name like 'q%') and p.name like 'q%'", String.class).getResultList(), List.of("q19"));
        Suite.equal(x.createQuery("select p.name, rank() over (order by p.pay desc) from Person p where p.name like 'q%' order by 2", Object[].class).setMaxResults(1).getSingleResult()[0], "q19");
        Suite.equal(x.createQuery("with m as (select max(p.pay) as most from Person p where p.name like 'q%') select p.name from m m join Person p on p.pay = m.most", String.class).getResultList(), List.of("q19"));
        Suite.equal(x.createQuery("select p.name from Person p where p.name = 'q1' union select c.name from Club c where c.name = 'golf'", String.class).getResultList().stream().sorted().toList(), List.of("golf", "q1"));
        Suite.equal(x.createNativeQuery("SELECT name FROM person WHERE name IN (:n) ORDER BY name", String.class).setParameterList("n", List.of("q1", "q2", "Q3")).getResultList(), List.of("q1", "q2", "q3"));
      });
    });
    s.test("optimisticLock", () -> {
      try (Session a = f.openSession(); Session b = f.openSession()) {
        Person in = a.find(Person.class, id[0]), other = b.find(Person.class, id[0]);
        Transaction t = b.beginTransaction();
        other.mail = "changed@x";
        t.commit();
        t = a.beginTransaction();
        in.mail = "lost@x";
        try {
          t.commit();
          throw new AssertionError("a change was overwritten");
        } catch (OptimisticLockException e) {
          if (t.isActive()) t.rollback();
        }
      }
    });
    s.test("pessimisticLocks", () -> {
      within(f, x -> {
        x.find(Person.class, id[0], LockModeType.PESSIMISTIC_WRITE);
        x.find(Person.class, id[0], LockModeType.PESSIMISTIC_READ);
        x.createQuery("from Person p where p.name = 'Bob'", Person.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).setHint("jakarta.persistence.lock.timeout", -2).getResultList();
        try (Session o = f.openSession()) {
          Transaction t = o.beginTransaction();
          try {
            o.find(Person.class, id[0], LockModeType.PESSIMISTIC_WRITE, Map.of("jakarta.persistence.lock.timeout", 0));
            throw new AssertionError("a locked row was locked again");
          } catch (PessimisticLockException | LockTimeoutException e) {
            t.rollback();
          }
        }
      });
    });
    s.test("constraints", () -> {
      try {
        within(f, x -> {
          for (int i = 0; i < 2; i++) {
            Person p = person("same");
            p.mail = "same@x";
            x.persist(p);
          }
        });
        throw new AssertionError("a second e-mail address was taken");
      } catch (PersistenceException e) {
        Suite.equal(((org.hibernate.exception.ConstraintViolationException) e).getConstraintName(), "person.one_mail");
      }
      try {
        within(f, x -> x.createNativeMutationQuery("delete from Club").executeUpdate());
        throw new AssertionError("clubs with members were deleted");
      } catch (PersistenceException e) {
        if (!(e instanceof org.hibernate.exception.ConstraintViolationException)) throw e;
      }
    });
    f.close();
    s.test("createDrop", () -> factory("create-drop").close());
  }
}
