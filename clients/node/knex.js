// Knex: migrations, queries, upserts, transactions.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { at, equal, run } = require('./tap');

(async () => {
  const boot = require('knex')({ client: 'mysql2', connection: at });
  await boot.raw('DROP DATABASE IF EXISTS node_knex');
  await boot.raw('CREATE DATABASE node_knex');
  await boot.destroy();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'knex-'));
  fs.writeFileSync(path.join(dir, '1_users.js'), `exports.up = (k) => k.schema.createTable('users', (t) => { t.increments(); t.string('name', 50).notNullable().unique(); t.integer('age').defaultTo(3); t.json('doc'); t.timestamps(true, true); });
exports.down = (k) => k.schema.dropTable('users');`);
  fs.writeFileSync(path.join(dir, '2_posts.js'), `exports.up = async (k) => { await k.schema.createTable('posts', (t) => { t.bigIncrements(); t.integer('user_id').unsigned().references('users.id').onDelete('CASCADE'); t.text('body'); t.index(['user_id']); });
await k.schema.alterTable('users', (t) => { t.decimal('pay', 10, 2).nullable(); t.renameColumn('age', 'years'); t.index(['years'], 'years_ix'); }); };
exports.down = async (k) => { await k.schema.alterTable('users', (t) => { t.dropIndex(['years'], 'years_ix'); t.renameColumn('years', 'age'); t.dropColumn('pay'); }); await k.schema.dropTable('posts'); };`);
  const k = require('knex')({ client: 'mysql2', connection: { ...at, database: 'node_knex' }, migrations: { directory: dir } });

  await run('node/knex', {
    async migrate() {
      await k.migrate.latest();
      await k.migrate.rollback();
      equal(await k.schema.hasTable('posts'), false);
      await k.migrate.latest();
      equal(Object.keys(await k('users').columnInfo()), ['id', 'name', 'years', 'doc', 'created_at', 'updated_at', 'pay']);
    },
    async columnInfo() {
      const c = await k('users').columnInfo('years');
      equal(c, { defaultValue: '3', type: 'int', maxLength: null, nullable: true });
    },
    async crud() {
      const [id] = await k('users').insert({ name: 'Ann', pay: '1.50', doc: JSON.stringify({ a: 1 }) });
      equal(await k('users').where({ id }).update({ years: 4 }), 1);
      const u = await k('users').where('name', 'like', 'A%').first();
      equal([u.id, u.years, u.pay, u.doc], [id, 4, '1.50', { a: 1 }]);
      await k('posts').insert([{ user_id: id, body: 'x' }, { user_id: id, body: null }]);
      const n = await k('users').join('posts', 'posts.user_id', 'users.id').groupBy('users.name').select('users.name').count({ n: 'posts.id' });
      equal(n, [{ name: 'Ann', n: 2 }]);
    },
    async upsert() {
      await k('users').insert({ name: 'Ann', years: 9 }).onConflict('name').merge(['years']);
      await k('users').insert({ name: 'Ann', years: 1 }).onConflict('name').ignore();
      equal((await k('users').where({ name: 'ann' }).first()).years, 9);
      await k.batchInsert('users', Array.from({ length: 300 }, (_, i) => ({ name: `n${i}` })), 50);
      equal((await k('users').count({ n: '*' }))[0].n, 301);
    },
    async transactions() {
      await k.transaction(async (t) => {
        await t('users').insert({ name: 'gone' });
        throw new Error('roll back');
      }).catch((e) => equal(e.message, 'roll back'));
      await k.transaction(async (t) => {
        await t('users').where({ name: 'Ann' }).forUpdate();
        await t.transaction(async (s) => { await s('users').insert({ name: 'nested' }); throw new Error('inner'); }).catch(() => {});
        await t('users').insert({ name: 'stays' });
      });
      equal((await k('users').whereIn('name', ['gone', 'nested', 'stays']).pluck('name')), ['stays']);
    },
    async cascade() {
      await k('users').where({ name: 'Ann' }).del();
      equal((await k('posts').count({ n: '*' }))[0].n, 0);
    },
  });
})();
