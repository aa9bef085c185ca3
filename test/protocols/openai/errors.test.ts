import t from 'tap';
import { z } from 'zod';
import { Refusal } from '../../../src/http/errors.ts';
import {
  asOpenAiError,
  errorBody,
  failedRun,
  OpenAiError,
  openAiErrors,
  parseRequest,
} from '../../../src/protocols/openai/errors.ts';
import {
  BudgetExhausted,
  Conflict,
  Forbidden,
  Gone,
  Integrity,
  Invalid,
  NotFound,
  type Outcome,
  RateLimited,
  TooLarge,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../../../src/schema/outcome.ts';

type Case = readonly [Outcome | Error, number, string, string | null, string | undefined];

const CASES: readonly Case[] = [
  [new Invalid('m'), 400, 'invalid_request_error', 'invalid_value', undefined],
  [new Unprocessable('m'), 400, 'invalid_request_error', 'invalid_value', undefined],
  [new Unauthorized('m'), 401, 'invalid_request_error', 'invalid_api_key', undefined],
  [new BudgetExhausted({ budget: 'b' }), 402, 'insufficient_quota', 'budget_exceeded', undefined],
  [new Forbidden('m'), 403, 'invalid_request_error', 'forbidden', undefined],
  [new NotFound('m'), 404, 'invalid_request_error', null, undefined],
  [new Gone('m'), 404, 'invalid_request_error', null, undefined],
  [new Conflict('m'), 409, 'invalid_request_error', 'thread_busy', 'false'],
  [new TooLarge('m'), 413, 'invalid_request_error', 'request_too_large', undefined],
  [new RateLimited('m', { retryAfterSecs: 3 }), 429, 'rate_limit_error', 'rate_limit_exceeded', undefined],
  [new Integrity('m'), 500, 'server_error', null, 'false'],
  [new TypeError('m'), 500, 'server_error', null, 'false'],
  [new Unavailable('m'), 503, 'server_error', 'storage_unavailable', 'true'],
  [new Refusal(413, 'm'), 413, 'invalid_request_error', 'request_too_large', undefined],
  [new Refusal(415, 'm'), 415, 'invalid_request_error', null, undefined],
  [new Refusal(429, 'm'), 429, 'rate_limit_error', 'rate_limit_exceeded', undefined],
  [new Refusal(503, 'm'), 503, 'server_error', 'overloaded', 'true'],
];

t.test('maps every outcome to a status, a type and a code, with all four keys (check 1)', (t) => {
  for (const [error, status, type, code, retry] of CASES) {
    const mapped = asOpenAiError(error, 'req-1');
    t.match(mapped, { status, type, code }, `${error.name} ${status}`);
    t.equal(mapped.headers['x-should-retry'], retry, error.name);
    t.strictSame(Object.keys(errorBody(mapped).error), ['message', 'type', 'param', 'code']);
  }
  t.equal(asOpenAiError(new RateLimited('m', { retryAfterSecs: 3 }), '').headers['retry-after'], '3');
  t.equal(openAiErrors(new OpenAiError(400, 'm', { param: 'x' }), '').status, 400);
  t.end();
});

t.test('hides the message of an unexpected error', (t) => {
  t.equal(asOpenAiError(new TypeError('secret'), 'req-1').message, 'internal error (request id req-1)');
  t.end();
});

t.test(
  'names the rejected parameter, and whether it is missing, of a wrong type or has a wrong value',
  (t) => {
    const shape = z.object({ messages: z.array(z.object({ content: z.string().max(3) })) });
    const rejection = (body: unknown): unknown => {
      try {
        return parseRequest(shape, body);
      } catch (error) {
        return error;
      }
    };
    t.match(rejection({}), { status: 400, param: 'messages', code: 'missing_required_parameter' });
    t.match(rejection({ messages: [{}] }), {
      param: 'messages[0].content',
      code: 'missing_required_parameter',
    });
    t.match(rejection({ messages: [{ content: 1 }] }), {
      param: 'messages[0].content',
      code: 'invalid_type',
    });
    t.match(rejection({ messages: [{ content: 'long' }] }), {
      param: 'messages[0].content',
      code: 'invalid_value',
    });
    t.match(rejection([]), { status: 400, param: null, code: 'invalid_type' });
    t.end();
  },
);

t.test('maps the failure of a run, which no client repeats', (t) => {
  const failures = [
    ['inference failed: rate limited: slow down', 429, 'rate_limit_exceeded'],
    ['inference failed: context overflow: too long', 400, 'context_length_exceeded'],
    ['inference failed: provider error: oops', 500, null],
  ] as const;
  for (const [message, status, code] of failures) {
    t.match(failedRun({ message }), { status, code, headers: { 'x-should-retry': 'false' } }, message);
  }
  t.match(failedRun({ message: 'm', code: 'budget_exceeded' }), { status: 402, type: 'insufficient_quota' });
  t.end();
});
