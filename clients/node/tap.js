// How each program says what came out: a line for each test, "ok NAME" or "not ok NAME: why".
const assert = require('node:assert');

exports.at = { host: process.env.LONGITUDE_HOST || '127.0.0.1', port: Number(process.env.LONGITUDE_PORT), user: 'root' };
exports.equal = (got, want, what) => assert.deepStrictEqual(JSON.parse(JSON.stringify(got)), JSON.parse(JSON.stringify(want)), what);

exports.run = async (prefix, tests) => {
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok ${prefix}/${name}`);
    } catch (e) {
      console.log(`not ok ${prefix}/${name}: ${String(e.message || e).replace(/\s+/g, ' ').slice(0, 400)}`);
      if (process.env.LONGITUDE_TRACE) console.error(e);
    }
  }
  process.exit(0);
};
