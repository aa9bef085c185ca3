import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { socketIn } from './pgbouncer.ts';
import { giveTo, startPostgres } from './postgres.ts';
import { faketimeLibrary, NO_FAKETIME, serverUser } from './programs.ts';
import { startProxy } from './proxy.ts';
import { createServing, until, untilState } from './serving.ts';

/** Members of a database whose clock jumps (cluster.md 19.3, check 25). */

const TTL_MS = 3000;
const HOUR_S = 3600;

t.setTimeout(240_000);

t.test(
  'the clock of the database ends no membership, and hides no death',
  { skip: NO_FAKETIME },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-clock-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    giveTo(serverUser(), folder);
    const offset = join(folder, 'offset');
    writeFileSync(offset, '+0');
    const postgres = await startPostgres(t, {
      env: {
        LD_PRELOAD: faketimeLibrary ?? '',
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: '1',
        // The server times its waits by the monotonic clock.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    });
    const database = postgres.createDatabase();
    const start = async (name: string) => {
      const proxy = await startProxy(t, { to: { path: socketIn(postgres.folder, postgres.port) } });
      const serving = createServing({ name, url: postgres.url(database, proxy.port), ttlMs: TTL_MS });
      t.teardown(async () => {
        proxy.all('pass');
        await serving.member.leave();
      });
      await serving.member.start();
      return { serving, proxy };
    };
    const { serving: a, proxy } = await start('a');
    await untilState(a, 'active');
    const { serving: b } = await start('b');
    await b.member.whenStanding();
    const ids = [a, b].map(({ member }) => member.self()?.id);

    for (const hours of [1, -1]) {
      writeFileSync(offset, `${hours < 0 ? '' : '+'}${hours * HOUR_S}`);
      const now = Number(postgres.sql(database, 'SELECT extract(epoch FROM clock_timestamp())'));
      t.equal(Math.round((now - Date.now() / 1000) / HOUR_S), hours, 'the clock of the database has jumped');
      t.equal(await a.service().say(`after ${hours}`), 'applied');
      // An observer needs a whole lease to end a membership.
      await pause(TTL_MS * 2);
      t.strictSame(
        [a, b].map(({ member }) => member.self()?.id),
        ids,
        'no membership has ended',
      );
      t.strictSame([a.member.state(), b.member.state()], ['active', 'standby']);
    }
    t.notOk(a.events().includes('cluster.isolated'));

    proxy.all('cut');
    await untilState(b, 'active');
    t.strictSame(b.service().texts.toSorted(), ['after -1', 'after 1']);
    await until(() => a.member.state() === 'isolated', 'the end of the lease');
  },
);
