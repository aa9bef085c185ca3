import t from 'tap';
import { sendListRequest } from '../../src/models/list-request.ts';
import { reasonOf } from '../../src/models/response.ts';
import { openTransport } from './transport/open.ts';

t.test('why there was no answer is told by a code alone, and never with the words of the error', (t) => {
  const secret = 'https://h/?key=hush';
  const cause = (more: object): Error => Object.assign(new Error(secret), more);
  const table: [error: unknown, reason: string][] = [
    [new DOMException(secret, 'TimeoutError'), 'no answer in time'],
    [new Error(secret, { cause: cause({ code: 'ECONNREFUSED' }) }), 'no connection (ECONNREFUSED)'],
    [new Error(secret, { cause: cause({ code: 7 }) }), 'no connection'],
    [new Error(secret, { cause: cause({}) }), 'no connection'],
    [new Error(secret, { cause: { code: 'X' } }), 'no connection'],
    [new Error(secret), 'no connection'],
    [secret, 'no connection'],
    [undefined, 'no connection'],
  ];
  for (const [error, reason] of table) t.equal(reasonOf(error), reason);
  t.end();
});

t.test('a request that was given up before it was sent names its address without the query', async (t) => {
  const url = new URL('http://127.0.0.1:9/v1/models?key=hush');
  const request = { url, headers: new Headers(), schema: 'openai' } as const;
  await t.rejects(sendListRequest(openTransport(t), request, { most: 1, signal: AbortSignal.abort() }), {
    message: 'http://127.0.0.1:9/v1/models: no connection',
  });
});
