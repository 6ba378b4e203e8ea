// TypeORM: synchronization, repositories, relations, query builder, transactions, locks, migrations.
const { DataSource, EntitySchema, OptimisticLockVersionMismatchError } = require('typeorm');
const { at, equal, run } = require('./tap');

const User = new EntitySchema({
  name: 'User',
  columns: {
    id: { type: Number, primary: true, generated: true },
    name: { type: String, length: 50 },
    mail: { type: String, unique: true, nullable: true },
    age: { type: 'int', unsigned: true, default: 3 },
    active: { type: Boolean, default: true },
    role: { type: 'enum', enum: ['user', 'admin'], default: 'user' },
    pay: { type: 'decimal', precision: 10, scale: 2, nullable: true },
    doc: { type: 'json', nullable: true },
    tags: { type: 'simple-array', nullable: true },
    born: { type: 'date', nullable: true },
    photo: { type: 'blob', nullable: true },
    made: { type: 'datetime', precision: 6, createDate: true },
    changed: { type: 'datetime', precision: 6, updateDate: true },
    gone: { type: 'datetime', precision: 6, deleteDate: true, nullable: true },
    version: { type: Number, version: true },
  },
  indices: [{ name: 'by_name', columns: ['name', 'age'] }],
  relations: {
    pets: { type: 'one-to-many', target: 'Pet', inverseSide: 'owner', cascade: true },
    groups: { type: 'many-to-many', target: 'Group', joinTable: true, cascade: true },
    card: { type: 'one-to-one', target: 'Card', inverseSide: 'user', cascade: true },
  },
});
const Pet = new EntitySchema({
  name: 'Pet',
  columns: { id: { type: 'bigint', primary: true, generated: true }, name: { type: String }, weight: { type: 'double' } },
  relations: { owner: { type: 'many-to-one', target: 'User', onDelete: 'CASCADE' } },
});
const Group = new EntitySchema({ name: 'Group', columns: { id: { type: 'uuid', primary: true, generated: 'uuid' }, name: { type: String, unique: true } } });
const Card = new EntitySchema({
  name: 'Card',
  columns: { id: { type: Number, primary: true, generated: true }, number: { type: String } },
  relations: { user: { type: 'one-to-one', target: 'User', joinColumn: true } },
});
const Node = new EntitySchema({
  name: 'Node',
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String } },
  relations: { parent: { type: 'many-to-one', target: 'Node', treeParent: true }, children: { type: 'one-to-many', target: 'Node', inverseSide: 'parent', treeChildren: true } },
  trees: [{ type: 'closure-table' }],
});

class First1700000000001 {
  async up(q) {
    await q.query('CREATE TABLE extra (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL)');
  }
  async down(q) { await q.dropTable('extra'); }
}
class Second1700000000002 {
  async up(q) {
    const { TableColumn, TableForeignKey, TableIndex } = require('typeorm');
    await q.addColumn('extra', new TableColumn({ name: 'user_id', type: 'int', isNullable: true }));
    await q.createForeignKey('extra', new TableForeignKey({ name: 'extra_user', columnNames: ['user_id'], referencedTableName: 'user', referencedColumnNames: ['id'], onDelete: 'SET NULL' }));
    await q.renameColumn('extra', 'name', 'title');
    await q.changeColumn('extra', 'title', new TableColumn({ name: 'title', type: 'varchar', length: '40', isNullable: false }));
    await q.query("INSERT INTO extra (title) VALUES ('a'), ('b')");
    await q.createIndex('extra', new TableIndex({ name: 'extra_title', columnNames: ['title'], isUnique: true }));
  }
  async down(q) {
    await q.query('DELETE FROM extra');
    await q.dropIndex('extra', 'extra_title');
    await q.renameColumn('extra', 'title', 'name');
    await q.dropForeignKey('extra', 'extra_user');
    await q.dropColumn('extra', 'user_id');
  }
}

(async () => {
  const source = (more) => new DataSource({ type: 'mysql', ...at, username: 'root', database: 'node_typeorm', entities: [User, Pet, Group, Card, Node], ...more });
  const boot = new DataSource({ type: 'mysql', ...at, username: 'root' });
  await boot.initialize();
  await boot.query('DROP DATABASE IF EXISTS node_typeorm');
  await boot.query('CREATE DATABASE node_typeorm');
  await boot.destroy();
  const db = await source({ migrations: [First1700000000001, Second1700000000002] }).initialize();
  const users = db.getRepository(User);

  await run('node/typeorm', {
    async synchronize() { await db.synchronize(); },
    async synchronizeAgain() {
      equal((await db.driver.createSchemaBuilder().log()).upQueries.map((q) => q.query), []);
    },
    async crud() {
      const when = new Date('2024-02-29T00:00:00Z');
      const u = await users.save({ name: 'Ann ü😀', mail: 'ann@x', pay: '1.50', doc: { a: [1, null] }, tags: ['x', 'y'], born: '2024-02-29', photo: Buffer.from([0, 1, 255]) });
      const got = await users.findOneByOrFail({ id: u.id });
      equal([got.name, got.age, got.active, got.role, got.pay, got.doc, got.tags, got.born, [...got.photo], got.version, got.made > when], ['Ann ü😀', 3, true, 'user', '1.50', { a: [1, null] }, ['x', 'y'], '2024-02-29', [0, 1, 255], 1, true]);
      got.age = 40;
      await users.save(got);
      equal((await users.findOneBy({ mail: 'ANN@x' })).version, 2);
      equal((await users.update({ name: 'nobody' }, { age: 1 })).affected, 0);
    },
    async relations() {
      const g = db.getRepository(Group);
      const [a, b] = await g.save([{ name: 'g1' }, { name: 'g2' }]);
      const u = await users.save({ name: 'Bob', pets: [{ name: 'Rex', weight: 1.5 }, { name: 'Tom', weight: 4.25 }], groups: [a, b], card: { number: '4711' } });
      const got = await users.findOne({ where: { id: u.id }, relations: { pets: true, groups: true, card: true }, order: { pets: { name: 'DESC' }, groups: { name: 'ASC' } } });
      equal([got.pets.map((p) => [p.name, p.weight]), got.groups.map((x) => x.name), got.card.number], [[['Tom', 4.25], ['Rex', 1.5]], ['g1', 'g2'], '4711']);
      got.groups = [b];
      got.pets = got.pets.slice(1);
      await users.save(got);
      const page = await users.find({ relations: { pets: true }, where: { pets: { name: 'Rex' } }, take: 1, skip: 0, order: { id: 'ASC' } });
      equal(page.map((x) => x.name), ['Bob']);
      equal((await users.findOne({ where: { id: u.id }, relations: { groups: true } })).groups.length, 1);
    },
    async queryBuilder() {
      await users.insert(Array.from({ length: 30 }, (_, i) => ({ name: `q${String(i).padStart(2, '0')}`, age: i % 5, pay: String(i) })));
      const q = users.createQueryBuilder('u').where('u.name LIKE :p', { p: 'q%' });
      equal(await q.clone().select('u.age', 'age').addSelect('SUM(u.pay)', 'sum').addSelect('COUNT(*)', 'n').groupBy('u.age').having('SUM(u.pay) > 80').orderBy('sum', 'DESC').getRawMany(),
        [{ age: 4, sum: '99.00', n: '6' }, { age: 3, sum: '93.00', n: '6' }, { age: 2, sum: '87.00', n: '6' }, { age: 1, sum: '81.00', n: '6' }]);
      const [rows, count] = await q.clone().orderBy('u.pay', 'DESC').skip(2).take(3).getManyAndCount();
      equal([rows.map((r) => r.name), count], [['q27', 'q26', 'q25'], 30]);
      equal(await q.clone().andWhere((s) => `u.pay > ${s.subQuery().select('AVG(o.pay)').from('User', 'o').where("o.name LIKE 'q%'").getQuery()}`).getCount(), 15);
      equal((await q.clone().andWhere((s) => `NOT EXISTS ${s.subQuery().select('1').from('User', 'o').where("o.name LIKE 'q%' AND o.pay > u.pay").getQuery()}`).getMany()).map((r) => r.name), ['q29']);
      const joined = await users.createQueryBuilder('u').leftJoinAndSelect('u.pets', 'p').leftJoin('u.card', 'c').addSelect('c.number').where('u.name IN (:...n)', { n: ['Bob', 'q01'] }).orderBy('u.name').take(5).getMany();
      equal(joined.map((r) => [r.name, r.pets.length]), [['Bob', 1], ['q01', 0]]);
      equal(await users.createQueryBuilder('u').select('u.name', 'name').addSelect('ROW_NUMBER() OVER (PARTITION BY u.age ORDER BY u.pay DESC)', 'r').where("u.name LIKE 'q2%'").orderBy('r').addOrderBy('u.name').limit(2).getRawMany(), [{ name: 'q25', r: '1' }, { name: 'q26', r: '1' }]);
      equal((await users.createQueryBuilder().update().set({ age: () => 'age + 10' }).where("name LIKE 'q0%'").execute()).affected, 10);
      equal((await users.createQueryBuilder().delete().where("name LIKE 'q0%'").execute()).affected, 10);
    },
    async upsert() {
      await users.upsert([{ mail: 'up@x', name: 'one' }, { mail: 'ann@x', name: 'Ann 2' }], { conflictPaths: ['mail'], skipUpdateIfNoValuesChanged: false });
      await users.createQueryBuilder().insert().values({ mail: 'up@x', name: 'ignored' }).orIgnore().updateEntity(false).execute();
      const r = await users.createQueryBuilder().insert().values({ mail: 'up@x', name: 'two', age: 8 }).orUpdate(['name', 'age'], ['mail']).updateEntity(false).execute();
      const u = await users.findOneBy({ mail: 'up@x' });
      equal([u.name, u.age, r.raw.insertId], ['two', 8, u.id]);
      equal((await users.findOneBy({ mail: 'ann@x' })).name, 'Ann 2');
    },
    async softDelete() {
      const u = await users.save({ name: 'soft' });
      await users.softDelete(u.id);
      equal([await users.countBy({ id: u.id }), await users.count({ where: { id: u.id }, withDeleted: true })], [0, 1]);
      await users.restore(u.id);
      equal(await users.countBy({ id: u.id }), 1);
    },
    async transactions() {
      await db.transaction(async (m) => { await m.save('User', { name: 'gone' }); throw new Error('roll back'); }).catch((e) => equal(e.message, 'roll back'));
      equal(await users.countBy({ name: 'gone' }), 0);
      await db.transaction('SERIALIZABLE', async (m) => {
        await m.save('User', { name: 'outer' });
        await m.transaction(async (n) => { await n.save('User', { name: 'inner' }); throw new Error('inner'); }).catch(() => {});
      });
      equal([await users.countBy({ name: 'outer' }), await users.countBy({ name: 'inner' })], [1, 0]);
    },
    async locks() {
      const { id } = await users.save({ name: 'locked', age: 0 });
      await Promise.all(Array.from({ length: 6 }, async () => {
        for (let i = 0; i < 15;) {
          await db.transaction(async (m) => {
            const u = await m.findOne('User', { where: { id }, lock: { mode: 'pessimistic_write' } });
            await m.update('User', id, { age: u.age + 1 });
          }).then(() => i++, (e) => { if (e.errno !== 1213) throw e; });
        }
      }));
      const u = await users.findOneBy({ id });
      equal(u.age, 90);
      await users.findOne({ where: { id }, lock: { mode: 'optimistic', version: 1 } }).then(() => { throw new Error('an old version was taken'); }, (e) => { if (!(e instanceof OptimisticLockVersionMismatchError)) throw e; });
    },
    async trees() {
      const t = db.getTreeRepository(Node);
      const root = await t.save({ name: 'root' });
      const a = await t.save({ name: 'a', parent: root });
      await t.save({ name: 'b', parent: a });
      equal(await t.countDescendants(root), 3);
      equal((await t.findTrees())[0].children[0].children[0].name, 'b');
      equal((await t.findAncestors(a)).length, 2);
    },
    async migrations() {
      equal((await db.runMigrations()).length, 2);
      equal(await db.query('SELECT title FROM extra ORDER BY id'), [{ title: 'a' }, { title: 'b' }]);
      await db.undoLastMigration();
      equal((await db.createQueryRunner().getTable('extra')).columns.map((c) => c.name), ['id', 'name']);
      equal((await db.runMigrations()).length, 1);
      equal((await db.runMigrations()).length, 0);
    },
    async errors() {
      const refused = (p, errno, code) => p.then(() => { throw new Error('was not refused'); }, (e) => equal([e.errno, e.code], [errno, code]));
      await refused(users.insert({ name: 'x', mail: 'ann@x' }), 1062, 'ER_DUP_ENTRY');
      await refused(db.getRepository(Pet).insert({ name: 'x', weight: 1, owner: { id: 999999 } }), 1452, 'ER_NO_REFERENCED_ROW_2');
      await refused(users.insert({ name: 'x'.repeat(51) }), 1406, 'ER_DATA_TOO_LONG');
      await refused(db.query('SELECT nothing FROM user'), 1054, 'ER_BAD_FIELD_ERROR');
    },
  });
})();
