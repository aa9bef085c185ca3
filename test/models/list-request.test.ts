import t from 'tap';
import { createListRequest, sendListRequest } from '../../src/models/list-request.ts';
import { describeMissingResponse } from '../../src/models/response.ts';
import { openTransport } from './transport/open.ts';

t.test('reports a missing response with a code only, without the message of the error', (t) => {
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
  for (const [error, reason] of table) t.equal(describeMissingResponse(error), reason);
  t.end();
});

t.test(
  'quotes the address without its query for a request that was aborted before it was sent',
  async (t) => {
    const url = new URL('http://127.0.0.1:9/v1/models?key=hush');
    const request = { url, headers: new Headers(), schema: 'openai' } as const;
    await t.rejects(sendListRequest(openTransport(t), request, { most: 1, signal: AbortSignal.abort() }), {
      message: 'http://127.0.0.1:9/v1/models: no connection',
    });
  },
);

t.test('accepts a base URL of any length in linear time', async (t) => {
  // Quadratic steps would take hours.
  const path = `/${'/'.repeat(50_000_000)}v1`;
  const spec = { id: 'p', adapter: 'openai', api_key: 'k', base_url: `http://127.0.0.1:9${path}//` };
  const tokens = { text: openTransport(t).text, now: Date.now };
  t.ok(createListRequest(spec, { env: {}, tokens })?.url.pathname === `${path}/models`);
});
