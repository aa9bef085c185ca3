import t from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { LOG_EVENTS } from '../../src/schema/log-events.ts';

const recordedLog = (level: 'info' | 'silent' = 'info') => {
  const lines: string[] = [];
  const log = createLog({ level, destination: { write: (line: string) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
};

t.test('a line is one JSON object with level, time, fields and message', async (t) => {
  const { log, lines, last } = recordedLog();
  log.warn('store.notice', { thread_id: 't1', prompt_tokens: 3, dedupe_key: 'd' });
  t.equal(lines.length, 1);
  t.match(lines[0], /\n$/);
  const { time, ...rest } = last();
  t.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.strictSame(rest, {
    level: 'warn',
    event: 'store.notice',
    thread_id: 't1',
    prompt_tokens: 3,
    dedupe_key: 'd',
    msg: 'storage needs attention',
  });
});

t.test('a line below the level is not written', async (t) => {
  const { log, lines } = recordedLog();
  log.debug('http.request_ended');
  t.strictSame(lines, []);
  const silent = recordedLog('silent');
  silent.log.error('recovery.failed');
  t.strictSame(silent.lines, []);
});

t.test('masks a field named like a credential at any depth', async (t) => {
  const { log, lines, last } = recordedLog();
  log.info('run.phase', {
    token: 'hush',
    Authorization: 'hush',
    SERVICE_ADMIN_API_BEARER_TOKEN: 'hush',
    secrets_key: 'hush',
    req: { headers: { authorization: 'hush', 'x-api-key': 'hush', 'set-cookie': ['hush'], any: 'hush' } },
    providers: [{ id: 'p', api_key: 'hush', options: { deep: { apiKey: 'hush', client_secret: 'hush' } } }],
    credential: 'hush',
    private_key: 'hush',
    passphrase: 'hush',
    dsn: 'hush',
    env: { ANY: 'hush' },
    args: ['--token', 'hush', '--password=hush'],
  });
  t.notMatch(lines.join(''), /hush/);
  t.equal(last().req.headers.authorization, '***');
  t.equal(last().providers[0].id, 'p');
});

t.test('shows an address without its secrets, wherever it appears', async (t) => {
  const { log, lines, last } = recordedLog();
  const address = 'http://user:hush@h/x?api_key=hush&a=b';
  const error = Object.assign(new Error(`fetch of ${address} failed`), { url: address });
  log.error('run.step_failed', {
    err: error,
    to: address,
    at: new URL(address),
    base_url: 'http://user:hush@ bad',
  });
  log.warn('store.notice', { problem: `of ${address}`, provider: { url: address } });
  t.notMatch(lines.join(''), /hush/);
  t.match(lines[0], 'http://***@h/x?api_key=***&a=b');
  t.match(lines[1], 'of http://***@h/x?api_key=***&a=b');
  t.equal(last().provider.url, 'http://***@h/x?api_key=***&a=b');
});

t.test('an error keeps its stack, its cause and its fields, except credentials', async (t) => {
  const { log, lines, last } = recordedLog();
  const error = Object.assign(new Error('refused', { cause: new Error('no route') }), {
    code: 'E_UPSTREAM',
    requestHeaders: { authorization: 'hush' },
  });
  log.error('http.request_failed', { err: error });
  t.match(last(), {
    event: 'http.request_failed',
    err: { type: 'Error', code: 'E_UPSTREAM', stack: /caused by: Error: no route/ },
  });
  t.notMatch(lines.join(''), /hush/);
  log.error('http.request_failed', { err: 'only text' });
  t.equal(last().err, 'only text');
});

t.test('truncates cyclic or very deep values, and never prints them unmasked', async (t) => {
  const { log, lines, last } = recordedLog();
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  log.info('run.phase', { cyclic });
  let deep: Record<string, unknown> = { token: 'hush' };
  for (let level = 0; level < 20; level += 1) deep = { deep };
  log.info('run.ended', { deep });
  t.equal(last().event, 'run.ended');
  t.equal(lines.length, 2);
  t.notMatch(lines.join(''), /hush/);
});

t.test('values with their own text form stay unchanged', async (t) => {
  const { log, last } = recordedLog();
  log.info('run.phase', { at: new Date(0), url: new URL('http://a/b') });
  t.match(last(), { at: '1970-01-01T00:00:00.000Z', url: 'http://a/b' });
});

t.test('a call names an event of its level', (t) => {
  const { log } = recordedLog('silent');
  // @ts-expect-error a text is no event
  t.throws(() => log.warn('something happened'));
  // @ts-expect-error the event has another level
  log.error('run.ended');
  // @ts-expect-error the event is missing
  t.throws(() => log.warn({ thread_id: 't1' }));
  t.end();
});

t.test('names of events have the documented form', (t) => {
  for (const event of Object.keys(LOG_EVENTS))
    t.match(event, /^[a-z0-9]+(_[a-z0-9]+)*\.[a-z0-9]+(_[a-z0-9]+)*$/);
  t.end();
});
