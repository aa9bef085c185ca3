import { existsSync } from 'node:fs';
import t from 'tap';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';

/** The server of the tests (cluster.md 19.1). */

t.test('starts a server whose committed rows survive a crash', { skip: NO_POSTGRES }, async (t) => {
  const ends: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => ends.pop()?.();
  t.teardown(end);
  const postgres = await startPostgres({ teardown: (ending) => void ends.push(ending) });

  const name = postgres.createDatabase();
  postgres.sql(name, 'CREATE TABLE x (n int); INSERT INTO x VALUES (1)');
  const saved = await postgres.saveData();
  postgres.sql(name, 'INSERT INTO x VALUES (2)');
  const before = postgres.pid();
  await postgres.restart();
  t.not(postgres.pid(), before, 'a restart starts another process');
  t.equal(postgres.sql(name, 'SELECT n FROM x ORDER BY n'), '1\n2', 'the rows are kept');

  const copy = postgres.createDatabase(name);
  t.equal(postgres.sql(copy, 'SELECT count(*) FROM x'), '2', 'a template is copied');
  await postgres.putBack(saved);
  t.equal(postgres.sql(name, 'SELECT n FROM x'), '1', 'the older data folder is back');
  t.ok(postgres.cpuMs() > 0, 'the CPU time of the server is measured');

  const { folder } = postgres;
  const pid = postgres.pid();
  await end();
  t.notOk(existsSync(folder), 'the folder of the server is removed');
  t.throws(() => process.kill(pid, 0), 'the process of the server has ended');
});
