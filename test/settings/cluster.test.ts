import t from 'tap';
import { assertShared, loadSettings, settingsFrom } from '../../src/settings/index.ts';
import { problemsOf } from './problems.ts';

/** The settings of a cluster (cluster.md 1.1). */

const URL_OF_TESTS = 'postgresql://troupe:geheim@db.example/troupe';
const SECRET = 'x'.repeat(32);

const problemsWith = (env: Record<string, string>): Promise<readonly string[]> =>
  problemsOf(() => loadSettings({ flags: {}, env, readFile: () => '' }));

t.test('a setting of a cluster without a database is rejected', async (t) => {
  const variables = {
    SERVICE_DATABASE_SCHEMA: 'other',
    SERVICE_DATABASE_POOLED: 'true',
    SERVICE_DATABASE_POOL_SIZE: '9',
    SERVICE_MEMBER_NAME: 'a',
    SERVICE_MEMBER_URL: 'http://127.0.0.1:1',
    SERVICE_CLUSTER_SECRET: SECRET,
    SERVICE_LEASE_TTL_MS: '5000',
    SERVICE_COPY_DIR: './copy',
  };
  for (const [name, value] of Object.entries(variables)) {
    t.strictSame(await problemsWith({ [name]: value }), [
      `${name}: has no effect without SERVICE_DATABASE_URL (database.url); allowed: both or neither`,
    ]);
  }
  t.strictSame(await problemsWith({ ...variables, SERVICE_DATABASE_URL: URL_OF_TESTS }), []);
});

t.test('no message contains a part of a URL or secret that is not allowed', async (t) => {
  t.strictSame(await problemsWith({ SERVICE_DATABASE_URL: 'mysql://u:geheim@db/x' }), [
    'SERVICE_DATABASE_URL: the value is not allowed; allowed: a URL that begins with postgresql://',
  ]);
  t.strictSame(await problemsWith({ SERVICE_DATABASE_URL: URL_OF_TESTS, SERVICE_CLUSTER_SECRET: 'short' }), [
    'SERVICE_CLUSTER_SECRET: the value is not allowed; allowed: a string of at least 32 characters',
  ]);
});

t.test('a schema is a name without quotes', async (t) => {
  for (const schema of ['troupe', '_a1', 'x'.repeat(63)])
    t.equal(settingsFrom({ database: { url: URL_OF_TESTS, schema } }).database.schema, schema);
  for (const schema of ['Troupe', '1a', 'a-b', 'a"b', 'pg_x', 'x'.repeat(64)])
    t.throws(() => settingsFrom({ database: { url: URL_OF_TESTS, schema } }), /database\.schema/, schema);
});

t.test('other members must be able to reach a member, with a secret', async (t) => {
  const database = { url: URL_OF_TESTS };
  t.doesNotThrow(() => settingsFrom({ database }));
  t.throws(() => settingsFrom({ database, http_addr: '0.0.0.0:80' }), {
    message: /^SERVICE_MEMBER_URL \(member\.url\): missing; .* and it is 0\.0\.0\.0:80$/,
  });
  t.throws(() => settingsFrom({ database, http_addr: 'unix:/run/s' }), { message: /^SERVICE_MEMBER_URL/ });
  const member = { url: 'http://10.0.0.1:80' };
  t.throws(() => settingsFrom({ database, member }), { message: /^SERVICE_CLUSTER_SECRET .*missing/ });
  t.doesNotThrow(() => settingsFrom({ database, member, cluster: { secret: SECRET } }));
  t.doesNotThrow(() => settingsFrom({ database, member: { url: 'http://[::1]:80' } }));
});

t.test('traces cannot have a separate directory', async (t) => {
  t.throws(() => settingsFrom({ database: { url: URL_OF_TESTS }, trace: { sink_dir: './t' } }), {
    message: /^SERVICE_PERSISTENT_SINK_DIR \(trace\.sink_dir\): not allowed with SERVICE_DATABASE_URL/,
  });
});

t.test('a generated admin token is rejected with a database', async (t) => {
  const bearer_token = 'given';
  t.doesNotThrow(() => assertShared(settingsFrom({})));
  t.doesNotThrow(() =>
    assertShared(settingsFrom({ database: { url: URL_OF_TESTS }, AdminApiConfig: { bearer_token } })),
  );
  t.throws(() => assertShared(settingsFrom({ database: { url: URL_OF_TESTS } })), {
    message: /^SERVICE_ADMIN_API_BEARER_TOKEN .*all members need the same one$/,
  });
});
