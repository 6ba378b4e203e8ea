// Prisma with the driver adapter for MariaDB and MySQL, whose queries are made by WebAssembly of the npm package. Its migrations are not
// tested: they need an engine that no npm package has. The tables are those that they would make.
const { PrismaMariaDb } = require('@prisma/adapter-mariadb');
const { PrismaClient, Prisma } = require('@prisma/client');
const mariadb = require(require.resolve('mariadb', { paths: [require.resolve('@prisma/adapter-mariadb')] }));
const { at, equal, run } = require('../node/tap');

const tables = [
  `CREATE TABLE User (id INTEGER NOT NULL AUTO_INCREMENT, name VARCHAR(50) NOT NULL, mail VARCHAR(191) NULL, age INTEGER NOT NULL DEFAULT 3, big BIGINT NULL, pay DECIMAL(12, 2) NULL,
    score DOUBLE NULL, active BOOLEAN NOT NULL DEFAULT true, role ENUM('USER', 'ADMIN') NOT NULL DEFAULT 'USER', doc JSON NULL, photo LONGBLOB NULL, seen DATETIME(6) NULL,
    made DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), changed DATETIME(3) NOT NULL, UNIQUE INDEX User_mail_key(mail), INDEX User_name_age_idx(name, age), PRIMARY KEY (id)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
  'CREATE TABLE Post (id INTEGER NOT NULL AUTO_INCREMENT, title VARCHAR(191) NOT NULL, likes INTEGER NOT NULL DEFAULT 0, userId INTEGER NOT NULL, PRIMARY KEY (id)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
  'CREATE TABLE Tag (name VARCHAR(191) NOT NULL, PRIMARY KEY (name)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
  'CREATE TABLE Card (id VARCHAR(191) NOT NULL, userId INTEGER NOT NULL, UNIQUE INDEX Card_userId_key(userId), PRIMARY KEY (id)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
  'CREATE TABLE _PostToTag (A INTEGER NOT NULL, B VARCHAR(191) NOT NULL, UNIQUE INDEX _PostToTag_AB_unique(A, B), INDEX _PostToTag_B_index(B)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
  'ALTER TABLE Post ADD CONSTRAINT Post_userId_fkey FOREIGN KEY (userId) REFERENCES User(id) ON DELETE CASCADE ON UPDATE CASCADE',
  'ALTER TABLE Card ADD CONSTRAINT Card_userId_fkey FOREIGN KEY (userId) REFERENCES User(id) ON DELETE RESTRICT ON UPDATE CASCADE',
  'ALTER TABLE _PostToTag ADD CONSTRAINT _PostToTag_A_fkey FOREIGN KEY (A) REFERENCES Post(id) ON DELETE CASCADE ON UPDATE CASCADE',
  'ALTER TABLE _PostToTag ADD CONSTRAINT _PostToTag_B_fkey FOREIGN KEY (B) REFERENCES Tag(name) ON DELETE CASCADE ON UPDATE CASCADE',
];

(async () => {
  const c = await mariadb.createConnection({ host: at.host, port: at.port, user: at.user });
  await c.query('DROP DATABASE IF EXISTS node_prisma');
  await c.query('CREATE DATABASE node_prisma');
  await c.query('USE node_prisma');
  for (const t of tables) await c.query(t);
  await c.end();
  const db = new PrismaClient({ adapter: new PrismaMariaDb({ host: at.host, port: at.port, user: at.user, database: 'node_prisma', connectionLimit: 6 }) });
  const refused = (p, code) => p.then(() => { throw new Error(`was not refused, want ${code}`); }, (e) => equal(e.code, code));

  await run('node/prisma', {
    async kinds() {
      const seen = new Date('2024-02-29T12:34:56.789Z');
      const u = await db.user.create({ data: { name: 'Ann ü😀', mail: 'ann@x', big: 2n ** 62n, pay: '1234567890.12', score: 0.1, role: 'ADMIN', doc: { a: [1, null] }, photo: Buffer.from([0, 1, 255]), seen } });
      const got = await db.user.findUnique({ where: { mail: 'ANN@x' } });
      equal([got.id, got.name, got.big === 2n ** 62n, got.pay.toString(), got.score, got.active, got.role, got.doc, [...got.photo], got.seen.getTime(), got.age], [u.id, 'Ann ü😀', true, '1234567890.12', 0.1, true, 'ADMIN', { a: [1, null] }, [0, 1, 255], seen.getTime(), 3]);
    },
    async nestedWrites() {
      const u = await db.user.create({ data: { name: 'Bob', card: { create: {} }, posts: { create: [{ title: 'p1', tags: { create: [{ name: 'x' }, { name: 'y' }] } }, { title: 'p2', likes: 5, tags: { connectOrCreate: { where: { name: 'z' }, create: { name: 'z' } } } }] } },
        include: { posts: { include: { tags: { orderBy: { name: 'asc' } } }, orderBy: { title: 'desc' } }, card: true } });
      equal(u.posts.map((p) => [p.title, p.tags.map((t) => t.name)]), [['p2', ['z']], ['p1', ['x', 'y']]]);
      await db.user.update({ where: { id: u.id }, data: { posts: { updateMany: { where: { likes: { lt: 5 } }, data: { likes: { increment: 2 } } }, delete: { id: u.posts[0].id } } } });
      const back = await db.user.findFirst({ where: { posts: { some: { tags: { some: { name: 'x' } } } }, card: { isNot: null } }, include: { posts: true, _count: { select: { posts: true } } } });
      equal([back.name, back.posts[0].likes, back._count.posts], ['Bob', 2, 1]);
    },
    async queries() {
      equal((await db.user.createMany({ data: Array.from({ length: 30 }, (_, i) => ({ name: `q${String(i).padStart(2, '0')}`, age: i % 5, pay: i })) })).count, 30);
      const g = await db.user.groupBy({ by: ['age'], where: { name: { startsWith: 'q' } }, _sum: { pay: true }, _count: { _all: true }, _avg: { score: true }, having: { pay: { _sum: { gt: 80 } } }, orderBy: { _sum: { pay: 'desc' } } });
      equal(g.map((x) => [x.age, x._sum.pay.toString(), x._count._all, x._avg.score]), [[4, '99', 6, null], [3, '93', 6, null], [2, '87', 6, null], [1, '81', 6, null]]);
      const a = await db.user.aggregate({ where: { name: { contains: 'q' }, NOT: { age: 0 } }, _min: { name: true }, _max: { pay: true }, _avg: { age: true } });
      equal([a._min.name, a._max.pay.toString(), a._avg.age], ['q01', '29', 2.5]);
      const first = await db.user.findMany({ where: { name: { startsWith: 'q' } }, orderBy: [{ age: 'desc' }, { id: 'asc' }], take: 3 });
      const next = await db.user.findMany({ where: { name: { startsWith: 'q' } }, orderBy: [{ age: 'desc' }, { id: 'asc' }], take: 2, cursor: { id: first[2].id }, skip: 1, select: { name: true } });
      equal([first.map((x) => x.name), next.map((x) => x.name)], [['q04', 'q09', 'q14'], ['q19', 'q24']]);
      equal(await db.user.count({ where: { OR: [{ name: { in: ['q01', 'Q02'] } }, { AND: [{ pay: { gte: 28 } }, { name: { endsWith: '9' } }] }], posts: { none: {} } } }), 3);
      equal((await db.user.findMany({ where: { name: { startsWith: 'q2' } }, distinct: ['age'], orderBy: { name: 'asc' }, select: { name: true } })).length, 5);
      equal((await db.user.updateMany({ where: { name: { startsWith: 'q0' } }, data: { age: { multiply: 2 } } })).count, 10);
      equal((await db.user.deleteMany({ where: { name: { startsWith: 'q0' } } })).count, 10);
      equal((await db.user.findMany({ where: { doc: { path: '$.a[0]', equals: 1 } } })).map((x) => x.mail), ['ann@x']);
      equal((await db.user.findMany({ orderBy: { posts: { _count: 'desc' } }, take: 1 }))[0].name, 'Bob');
    },
    async upsert() {
      for (const name of ['one', 'two']) await db.user.upsert({ where: { mail: 'up@x' }, create: { mail: 'up@x', name }, update: { name, age: { increment: 1 } } });
      const u = await db.user.findUniqueOrThrow({ where: { mail: 'up@x' } });
      equal([u.name, u.age], ['two', 4]);
      equal((await db.user.createMany({ data: [{ mail: 'up@x', name: 'three' }, { mail: 'up2@x', name: 'four' }], skipDuplicates: true })).count, 1);
    },
    async transactions() {
      await db.$transaction(async (t) => { await t.user.create({ data: { name: 'gone' } }); throw new Error('roll back'); }).catch((e) => equal(e.message, 'roll back'));
      await refused(db.$transaction([db.user.create({ data: { name: 'gone' } }), db.user.create({ data: { name: 'x', mail: 'up@x' } })]), 'P2002');
      equal(await db.user.count({ where: { name: 'gone' } }), 0);
      const { id } = await db.user.create({ data: { name: 'counter', age: 0 } });
      await Promise.all(Array.from({ length: 5 }, async () => {
        for (let i = 0; i < 10;) {
          await db.$transaction(async (t) => {
            const u = await t.user.findUnique({ where: { id } });
            await t.user.update({ where: { id }, data: { age: u.age + 1 } });
          }, { isolationLevel: Prisma.TransactionIsolationLevel.Serializable, timeout: 20000, maxWait: 20000 }).then(() => i++, (e) => { if (e.code !== 'P2034') throw e; });
        }
      }));
      equal((await db.user.findUnique({ where: { id } })).age, 50);
    },
    async raw() {
      const rows = await db.$queryRaw`SELECT name, age FROM User WHERE mail = ${'up@x'} OR name = ${'Bob'} ORDER BY name`;
      equal(rows, [{ name: 'Bob', age: 3 }, { name: 'two', age: 4 }]);
      equal(await db.$executeRaw`UPDATE User SET age = ${9} WHERE mail = ${'up@x'}`, 1);
      equal((await db.$queryRaw`SELECT COUNT(*) AS n, SUM(age) AS s FROM User WHERE name IN (${Prisma.join(['Bob', 'two'])})`).map((r) => [Number(r.n), Number(r.s)]), [[2, 12]]);
    },
    async errors() {
      await refused(db.user.create({ data: { name: 'x', mail: 'ann@x' } }), 'P2002');
      await refused(db.post.create({ data: { title: 'x', userId: 999999 } }), 'P2003');
      await refused(db.user.create({ data: { name: 'x'.repeat(60) } }), 'P2000');
      await refused(db.user.update({ where: { id: 999999 }, data: { age: 1 } }), 'P2025');
      await refused(db.$queryRaw`SELECT nothing FROM User`, 'P2010');
      const bob = await db.user.findFirst({ where: { name: 'Bob' } });
      await refused(db.user.delete({ where: { id: bob.id } }), 'P2003');
      await db.card.deleteMany({ where: { userId: bob.id } });
      await db.user.delete({ where: { id: bob.id } });
      equal(await db.post.count({ where: { userId: bob.id } }), 0);
    },
  });
})();
