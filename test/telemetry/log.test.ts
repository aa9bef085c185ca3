import t from 'tap';
import { createLog } from '../../src/telemetry/log.ts';

const recordedLog = (level: 'info' | 'silent' = 'info') => {
  const lines: string[] = [];
  const log = createLog({ level, destination: { write: (line: string) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
};

t.test('a line is one JSON object with level, time, fields and message', async (t) => {
  const { log, lines, last } = recordedLog();
  log.warn({ thread_id: 't1', prompt_tokens: 3, dedupe_key: 'd' }, 'a reader was cut off');
  t.equal(lines.length, 1);
  t.match(lines[0], /\n$/);
  const { time, ...rest } = last();
  t.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.strictSame(rest, {
    level: 'warn',
    thread_id: 't1',
    prompt_tokens: 3,
    dedupe_key: 'd',
    msg: 'a reader was cut off',
  });
});

t.test('a line below the level is not written', async (t) => {
  const { log, lines } = recordedLog();
  log.debug('quiet');
  t.strictSame(lines, []);
  const silent = recordedLog('silent');
  silent.log.fatal('quiet');
  t.strictSame(silent.lines, []);
});

t.test('a field named like a credential is masked wherever it lies', async (t) => {
  const { log, lines, last } = recordedLog();
  log.info(
    {
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
    },
    'request',
  );
  t.notMatch(lines.join(''), /hush/);
  t.equal(last().req.headers.authorization, '***');
  t.equal(last().providers[0].id, 'p');
});

t.test('an address is shown without its secrets, wherever it stands', async (t) => {
  const { log, lines, last } = recordedLog();
  const address = 'http://user:hush@h/x?api_key=hush&a=b';
  const error = Object.assign(new Error(`fetch of ${address} failed`), { url: address });
  log.error({ err: error, to: address, at: new URL(address), base_url: 'http://user:hush@ bad' }, address);
  log.error(new Error(`of ${address}`));
  log.child({ provider: { url: address } }).warn('bound');
  t.notMatch(lines.join(''), /hush/);
  t.match(lines[0], 'http://***@h/x?api_key=***&a=b');
  t.equal(last().provider.url, 'http://***@h/x?api_key=***&a=b');
});

t.test('the bindings of a child logger are masked', async (t) => {
  const { log, lines, last } = recordedLog();
  log.child({ bearer_token: 'hush', run_id: 'r1', deep: { cookie: 'hush' } }).info('bound');
  t.match(last(), { bearer_token: '***', run_id: 'r1' });
  t.notMatch(lines.join(''), /hush/);
});

t.test('an error keeps its stack, its cause and its fields, but no credential among them', async (t) => {
  const { log, lines, last } = recordedLog();
  const error = Object.assign(new Error('refused', { cause: new Error('no route') }), {
    code: 'E_UPSTREAM',
    requestHeaders: { authorization: 'hush' },
  });
  log.error(error, 'call failed');
  t.match(last(), {
    msg: 'call failed',
    err: { type: 'Error', code: 'E_UPSTREAM', stack: /caused by: Error: no route/ },
  });
  t.notMatch(lines.join(''), /hush/);
  log.error({ err: 'only text' }, 'thrown as text');
  t.equal(last().err, 'only text');
});

t.test('what is cyclic or very deep is cut, never printed unmasked', async (t) => {
  const { log, lines, last } = recordedLog();
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  log.info({ cyclic }, 'round');
  let deep: Record<string, unknown> = { token: 'hush' };
  for (let level = 0; level < 20; level += 1) deep = { deep };
  log.info({ deep }, 'down');
  t.equal(last().msg, 'down');
  t.equal(lines.length, 2);
  t.notMatch(lines.join(''), /hush/);
});

t.test('values that print themselves stay as they are', async (t) => {
  const { log, last } = recordedLog();
  log.info({ at: new Date(0), url: new URL('http://a/b') }, 'typed');
  t.match(last(), { at: '1970-01-01T00:00:00.000Z', url: 'http://a/b' });
});
