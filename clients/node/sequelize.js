// Sequelize: models, sync with alter, associations, JSON, upserts, transactions.
const { Sequelize, DataTypes, Op } = require('sequelize');
const { at, equal, run } = require('./tap');

(async () => {
  const options = { host: at.host, port: at.port, dialect: 'mysql', logging: false };
  const boot = new Sequelize('', 'root', '', options);
  await boot.query('DROP DATABASE IF EXISTS node_sequelize');
  await boot.query('CREATE DATABASE node_sequelize');
  await boot.close();
  const s = new Sequelize('node_sequelize', 'root', '', options);
  const User = s.define('user', {
    name: { type: DataTypes.STRING(80), allowNull: false }, email: { type: DataTypes.STRING, allowNull: false, unique: true },
    state: { type: DataTypes.ENUM('new', 'old'), defaultValue: 'new' }, pay: DataTypes.DECIMAL(10, 2), doc: DataTypes.JSON, seen: DataTypes.DATE(3),
  }, { paranoid: true, indexes: [{ fields: ['name'] }] });
  const Post = s.define('post', { title: DataTypes.STRING, body: DataTypes.TEXT });
  const Tag = s.define('tag', { name: DataTypes.STRING });
  User.hasMany(Post, { onDelete: 'CASCADE' });
  Post.belongsTo(User);
  Post.belongsToMany(Tag, { through: 'post_tags' });
  Tag.belongsToMany(Post, { through: 'post_tags' });

  await run('node/sequelize', {
    async sync() {
      await s.sync({ force: true });
      equal((await s.getQueryInterface().showAllTables()).length, 4);
    },
    async syncAlter() {
      await s.sync({ alter: true });
      await s.sync({ alter: true });
    },
    async crud() {
      const seen = new Date('2024-02-29T01:02:03.456Z');
      const u = await User.create({ name: 'Ann', email: 'a@example.com', pay: '1.10', doc: { a: [1, null] }, seen });
      await u.update({ state: 'old' });
      const got = await User.findOne({ where: { email: 'A@example.com', name: { [Op.like]: 'A%' } } });
      equal([got.id, got.state, got.pay, got.doc, got.seen.getTime()], [u.id, 'old', '1.10', { a: [1, null] }, seen.getTime()]);
    },
    async eager() {
      const u = await User.findOne();
      const posts = await Post.bulkCreate([{ title: 'x', userId: u.id }, { title: 'y', userId: u.id }, { title: 'z', userId: u.id }]);
      await posts[0].setTags(await Tag.bulkCreate([{ name: 'p' }, { name: 'q' }]));
      const found = await User.findAndCountAll({ include: [{ model: Post, include: [Tag], separate: false }], limit: 2, order: [[Post, 'title', 'DESC']], distinct: true });
      equal([found.count, found.rows[0].posts.map((p) => [p.title, p.tags.length])], [1, [['z', 0], ['y', 0], ['x', 2]]]);
    },
    async json() {
      equal(await User.count({ where: s.literal("`doc`->'$.a[0]' = 1") }), 1);
    },
    async upsertAndBulk() {
      await User.upsert({ name: 'Bob', email: 'a@example.com' });
      equal((await User.findOne({ where: { email: 'a@example.com' } })).name, 'Bob');
      await User.bulkCreate(Array.from({ length: 200 }, (_, i) => ({ name: `n${i}`, email: `e${i}` })), { updateOnDuplicate: ['name'] });
      equal(await User.count(), 201);
    },
    async transactions() {
      await s.transaction(async (t) => {
        await User.create({ name: 'gone', email: 'gone' }, { transaction: t });
        throw new Error('roll back');
      }).catch((e) => equal(e.message, 'roll back'));
      await s.transaction(async (t) => {
        const u = await User.findOne({ where: { name: 'Bob' }, lock: t.LOCK.UPDATE, transaction: t });
        await u.increment('id', { by: 0, transaction: t });
      });
      equal(await User.count({ where: { name: 'gone' } }), 0);
    },
    async unique() {
      try {
        await User.create({ name: 'x', email: 'a@example.com' });
      } catch (e) {
        return equal([e.name, Object.keys(e.fields)], ['SequelizeUniqueConstraintError', ['email']]);
      }
      throw new Error('not refused');
    },
    async paranoid() {
      await (await User.findOne({ where: { name: 'Bob' } })).destroy();
      equal([await User.count({ where: { name: 'Bob' } }), await User.count({ where: { name: 'Bob' }, paranoid: false })], [0, 1]);
    },
    async describe() {
      const d = await s.getQueryInterface().describeTable('users');
      equal([d.id.type, d.id.primaryKey, d.id.autoIncrement, d.state.type, d.state.defaultValue, d.email.allowNull], ['INT', true, true, "ENUM('new','old')", 'new', false]);
    },
  });
})();
