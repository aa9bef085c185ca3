import t from 'tap';
import { z } from 'zod';
import { reply, route } from '../../src/http/route.ts';
import {
  Conflict,
  Gone,
  Integrity,
  Invalid,
  NotFound,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../../src/schema/outcome.ts';
import { serve } from './serve.ts';

class Refined extends Conflict {}

const INTERNAL = { error: 'internal error (request id r1)' };

const failures: [unknown, number, object, 'logged' | 'expected'][] = [
  [new Invalid('bad'), 400, { error: 'bad' }, 'expected'],
  [
    new Invalid('cannot', { code: 'capability_mismatch' }),
    400,
    { error: 'cannot', code: 'capability_mismatch' },
    'expected',
  ],
  [new Unauthorized('who'), 401, { error: 'who' }, 'expected'],
  [new NotFound('thread not found: 1'), 404, { error: 'thread not found: 1' }, 'expected'],
  [new Conflict('busy'), 409, { error: 'busy' }, 'expected'],
  [new Refined('busier'), 409, { error: 'busier' }, 'expected'],
  [new Gone('expired'), 410, { error: 'expired' }, 'expected'],
  [new Unprocessable('shape'), 422, { error: 'shape' }, 'expected'],
  [new Integrity('row is missing'), 500, { ...INTERNAL, code: 'data_integrity' }, 'logged'],
  [new Unavailable('later'), 503, { error: 'later' }, 'expected'],
  [new TypeError('a bug'), 500, INTERNAL, 'logged'],
  ['a text', 500, INTERNAL, 'logged'],
  [new Error(''), 500, INTERNAL, 'logged'],
];

const base = { summary: 'fails', needs: 'nothing', responses: { 200: z.json() } } as const;

const nth = (params: Record<string, string>) => failures[Number(params.n)]?.[0];
const N = z.object({ n: z.string() });

const routes = [
  route.get('/throw/:n', {
    id: 'getThrowN',
    ...base,
    params: N,
    handle({ params }) {
      throw nth(params);
    },
  }),
  route.get('/reject/:n', {
    id: 'getRejectN',
    ...base,
    params: N,
    handle: ({ params }) => Promise.reject(nth(params)),
  }),
  route.get('/unserialisable', { id: 'getUnserialisable', ...base, handle: () => ({ big: 1n }) }),
  route.get('/unserialisable-later', {
    id: 'getUnserialisableLater',
    ...base,
    handle: async () => reply(200, 'x', { 'x-y': 'z' }) && { big: 1n },
  }),
];

t.test('maps each error to one status, thrown or rejected, and logs only bugs', async (t) => {
  const { url, errors } = await serve(t, routes);
  for (const [index, [error, status, body, kind]] of failures.entries()) {
    for (const way of ['throw', 'reject']) {
      errors.length = 0;
      const response = await fetch(`${url}/${way}/${index}`, { headers: { 'x-request-id': 'r1' } });
      t.equal(response.status, status, `${way} ${error}`);
      t.strictSame(await response.json(), body);
      t.equal(errors.length, kind === 'logged' ? 1 : 0);
      if (kind === 'logged') {
        t.match(errors[0]?.data, { err: error, method: 'GET', route: `/${way}/:n`, request_id: 'r1' });
      }
    }
  }
});

t.test('never sends a stack trace', async (t) => {
  const { url } = await serve(t, routes);
  const bug = failures.findIndex(([error]) => error instanceof TypeError);
  t.notMatch(await (await fetch(`${url}/throw/${bug}`)).text(), /at .*\.ts/);
});

t.test('fails only the request whose result is not JSON', async (t) => {
  const { url, errors, inFlight } = await serve(t, routes);
  for (const path of ['/unserialisable', '/unserialisable-later']) {
    const response = await fetch(url + path);
    t.equal(response.status, 500);
    t.match(await response.json(), { error: /^internal error \(request id [\da-f-]{36}\)$/ });
  }
  t.equal(errors.length, 2);
  t.equal(inFlight(), 0);
});
