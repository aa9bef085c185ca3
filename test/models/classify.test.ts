import t from 'tap';
import { toModelError, toRefusal } from '../../src/models/classify.ts';
import type { ModelErrorClass } from '../../src/models/errors.ts';

const refused = (status: number, body = '', headers: Record<string, string> = {}) =>
  toRefusal({ status, headers, body, message: 'why' });

const statuses: [status: number, kind: ModelErrorClass, message: string, transient: boolean][] = [
  [400, 'invalid_request', 'invalid request: why', false],
  [401, 'unauthorized', 'unauthorized: why', false],
  [403, 'unauthorized', 'unauthorized: why', false],
  [404, 'model_not_found', 'model not found: why', false],
  [408, 'timeout', 'timeout: why', true],
  [409, 'provider', 'provider error: why', true],
  [413, 'context_overflow', 'context overflow: why', false],
  [422, 'invalid_request', 'invalid request: why', false],
  [429, 'rate_limited', 'rate limited: why', true],
  [500, 'provider', 'provider error: why', true],
  [502, 'provider', 'provider error: why', true],
  [503, 'overloaded', 'provider overloaded: why', true],
  [504, 'timeout', 'timeout: why', true],
  [529, 'overloaded', 'provider overloaded: why', true],
];
for (const [status, kind, message, transient] of statuses) {
  t.test(`classifies status ${status} as ${kind}`, async (t) => {
    t.match(refused(status), { class: kind, message, transient, status });
  });
}

const overflows = [
  'prompt is too long',
  'context_length_exceeded',
  'Context length',
  'input is too long',
  'maximum context length',
  'Please reduce the length',
  'too many tokens',
  'request too large',
];
for (const words of overflows) {
  t.test(`classifies "${words}" as a context overflow with status 400 but not with 500`, async (t) => {
    t.equal(refused(400, `{"error":"${words}"}`).class, 'context_overflow');
    t.equal(refused(500, words).class, 'provider');
  });
}

t.test('classifies a 400 that names a content filter as content_filtered', async (t) => {
  t.equal(refused(400, '{"code":"content_filter"}').class, 'content_filtered');
  t.equal(refused(400, 'the content management policy').class, 'content_filtered');
});

const waits: [header: string, seconds: number | undefined][] = [
  ['7', 7],
  ['0', 0],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ['1.5', undefined],
  ['', undefined],
];
for (const [header, seconds] of waits) {
  t.test(`parses Retry-After "${header}" as ${seconds}`, async (t) => {
    t.equal(refused(429, '', { 'retry-after': header }).retryAfterSeconds, seconds);
  });
}

const texts: [error: unknown, kind: ModelErrorClass][] = [
  [new Error('blocked by content filter, overloaded'), 'content_filtered'],
  [new Error('overloaded, rate limit'), 'overloaded'],
  [new Error('Rate limit reached'), 'rate_limited'],
  [new Error('got 429'), 'rate_limited'],
  [new Error('could not generate an iteration'), 'provider'],
  [new Error('Headers Timeout Error'), 'timeout'],
  [new Error('the request timed out'), 'timeout'],
  [new Error('status 502'), 'provider'],
  ['plain text', 'provider'],
  [undefined, 'provider'],
  [
    Object.assign(new TypeError('terminated'), { cause: new Error('other side closed') }),
    'stream_interrupted',
  ],
];
for (const [error, kind] of texts) {
  t.test(`classifies ${String(error)} without a status as ${kind}`, async (t) => {
    t.equal(toModelError(error).class, kind);
  });
}

t.test('names the cause of a broken stream', async (t) => {
  t.equal(toModelError(new TypeError('terminated')).message, 'stream interrupted (connection reset)');
  t.equal(
    toModelError(Object.assign(new TypeError('terminated'), { cause: new Error('HTTP/2: "GOAWAY" frame') }))
      .message,
    'stream interrupted (goaway)',
  );
});
