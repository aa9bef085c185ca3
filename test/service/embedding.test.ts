import t from 'tap';
import { createIds } from '../../src/ids.ts';
import { createTroupe } from '../../src/index.ts';
import { fakeClock, startTestTroupe } from '../../src/testing/index.ts';
import { clientOf } from './troupe.ts';

/** What a program gives the service that it embeds. */

const NOW = Date.UTC(2030, 0, 1);

t.test('time, ids and the log are those of the program', async (t) => {
  const given: string[] = [];
  const lines: string[] = [];
  const real = createIds();
  await using troupe = await startTestTroupe({
    settings: { log_level: 'debug', AdminApiConfig: { bearer_token: 'secret-of-the-test' } },
    clock: fakeClock(NOW),
    ids: {
      uuid() {
        const id = real.uuid();
        given.push(id);
        return id;
      },
    },
    log: { write: (line) => lines.push(line) },
  });
  const { post } = clientOf(() => troupe.url);
  const { status, body } = await post('/v1/threads', { title: 'x' });
  t.equal(status, 201, JSON.stringify(body));
  t.ok(given.includes(String(body.id)), 'the id is one of those');
  t.match(body, { metadata: { created_at: NOW } });
  t.ok(lines.length > 0 && lines.every((line) => JSON.parse(line).time !== undefined), 'lines of JSON');
  t.notOk(lines.some((line) => line.includes('secret-of-the-test')));
});

t.test('an option that does not exist is named with those that do', async (t) => {
  const wrong = { clocks: {} } as object;
  await t.rejects(createTroupe(wrong), { message: /clocks: not an option; allowed: .*clock, ids, log/ });
});
