import type { Test } from 'tap';
import { socketIn } from './pgbouncer.ts';
import type { Postgres } from './postgres.ts';
import { type PostgresProxy, startProxy } from './proxy.ts';
import { createServing, type Serving, type ServingOptions, untilState } from './serving.ts';

/** A statement may take half of it, also on a busy host. */
export const TTL_MS = 3000;

type Given = Partial<ServingOptions> & { name: string };

/** Members of one database, each behind a proxy. */
export const createProxied = (t: Test, postgres: Postgres) => {
  const database = postgres.createDatabase();
  const create = async ({ name, ...given }: Given): Promise<{ serving: Serving; proxy: PostgresProxy }> => {
    const proxy = await startProxy(t, { to: { path: socketIn(postgres.folder, postgres.port) } });
    const url = postgres.url(database, proxy.port);
    const serving = createServing({ name, url, ttlMs: TTL_MS, ...given });
    t.teardown(async () => {
      proxy.all('pass');
      await serving.member.leave();
    });
    return { serving, proxy };
  };
  const start = async (given: Given) => {
    const created = await create(given);
    await created.serving.member.start();
    return created;
  };
  const startPair = async () => {
    const a = await start({ name: 'a' });
    await untilState(a.serving, 'active');
    const b = await start({ name: 'b' });
    await b.serving.member.whenStanding();
    return { a: a.serving, b: b.serving, proxyOfA: a.proxy, proxyOfB: b.proxy };
  };
  return { database, create, start, startPair, sql: (text: string) => postgres.sql(database, text) };
};
