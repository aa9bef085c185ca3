import {
  APICallError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  NoSuchModelError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import * as provider4 from 'ai-sdk-provider-4';
import t from 'tap';
import { toBrokenStream, toModelError, toStreamError } from '../../src/ai-sdk/errors.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';

/** Uses the real errors of the packages. */

const answered = (statusCode: number | undefined, body = '', headers: Record<string, string> = {}) => ({
  message: 'why',
  url: 'http://x',
  requestBodyValues: { secret: 'prompt' },
  ...(statusCode !== undefined && { statusCode }),
  responseHeaders: headers,
  responseBody: body,
});

const VERSIONS = { 3: APICallError, 4: provider4.APICallError };

const statuses: [status: number, body: string, kind: ModelErrorClass, message: string][] = [
  [
    400,
    '{"error":{"message":"prompt is too long"}}',
    'context_overflow',
    'context overflow: prompt is too long',
  ],
  [400, '', 'invalid_request', 'invalid request: why'],
  [400, '{"code":"content_filter"}', 'content_filtered', 'content filtered: why'],
  [401, '{"detail":"no key"}', 'unauthorized', 'unauthorized: no key'],
  [404, '', 'model_not_found', 'model not found: why'],
  [429, '', 'rate_limited', 'rate limited: why'],
  [500, '', 'provider', 'provider error: why'],
  [529, '', 'overloaded', 'provider overloaded: why'],
];
for (const [version, Failure] of Object.entries(VERSIONS)) {
  for (const [status, body, kind, message] of statuses) {
    t.test(`version ${version}: status ${status} ${body} is ${kind}`, async (t) => {
      const error = toModelError(new Failure(answered(status, body, { 'Retry-After': '7' })));
      t.match(error, { class: kind, status, message, retryAfterSeconds: 7 });
      t.equal(error.cause, undefined, 'the error does not retain the request');
    });
  }
}

const refused = new APICallError(answered(429, '{"error":"slow down"}', { 'retry-after': '7' }));

const others: [error: unknown, kind: ModelErrorClass, message: string][] = [
  [
    new UnsupportedFunctionalityError({ functionality: 'video' }),
    'invalid_request',
    'invalid request: video not supported by this provider',
  ],
  [
    new provider4.UnsupportedFunctionalityError({ functionality: 'video' }),
    'invalid_request',
    'invalid request: video not supported by this provider',
  ],
  [
    new InvalidPromptError({ prompt: {}, message: 'no text' }),
    'invalid_request',
    'invalid request: Invalid prompt: no text',
  ],
  [new LoadAPIKeyError({ message: 'no key' }), 'unauthorized', 'unauthorized: no key'],
  [new LoadSettingError({ message: 'no region' }), 'invalid_request', 'invalid request: no region'],
  [
    new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' }),
    'model_not_found',
    'model not found: No such languageModel: x',
  ],
  [
    new TypeValidationError({ value: { error: { message: 'overloaded' } }, cause: 'x' }),
    'overloaded',
    'provider overloaded: overloaded',
  ],
  [new APICallError(answered(undefined)), 'provider', 'provider error: why'],
  [
    new APICallError({ ...answered(200), cause: new TypeError('terminated') }),
    'stream_interrupted',
    'stream interrupted (connection reset)',
  ],
  [
    Object.assign(new Error('the gateway refuses'), { statusCode: 503, cause: refused }),
    'overloaded',
    'provider overloaded: slow down',
  ],
  [Object.assign(new Error('no token'), { statusCode: 401 }), 'unauthorized', 'unauthorized: no token'],
  [
    Object.assign(new Error('fetch failed'), { cause: new ModelError('timeout', 'own') }),
    'timeout',
    'timeout: own',
  ],
  [Object.assign(new Error('x'), { name: 'AI_NoSuchModelError' }), 'model_not_found', 'model not found: x'],
  [new TypeError('terminated'), 'stream_interrupted', 'stream interrupted (connection reset)'],
  [new Error('the request timed out'), 'timeout', 'timeout: the request timed out'],
  ['plain text', 'provider', 'provider error: plain text'],
  [undefined, 'provider', 'provider error: undefined'],
];
for (const [error, kind, message] of others) {
  t.test(`${String(error)} is ${kind}`, async (t) => {
    t.match(toModelError(error), { class: kind, message });
  });
}

t.test('an unreadable response in a stream is an interruption', async (t) => {
  const error = new InvalidResponseDataError({ data: {}, message: 'no id' });
  t.match(toStreamError(error, true), { class: 'stream_interrupted', message: /connection reset/ });
});

t.test('a refusal in a stream is an interruption after output, and a refusal before', async (t) => {
  for (const classify of [toStreamError, toBrokenStream]) {
    t.match(classify(refused, true), { class: 'stream_interrupted', status: 429 });
    t.match(classify(refused, false), { class: 'rate_limited', status: 429, retryAfterSeconds: 7 });
  }
});

t.test('an unreadable stream is an interruption, and its cause is no error of a package', async (t) => {
  const json = new JSONParseError({ text: '{', cause: 'x' });
  t.match(toBrokenStream(json, true), { class: 'stream_interrupted' });
  t.match(toBrokenStream(new Error('HTTP/2: "GOAWAY" frame'), false), {
    message: 'stream interrupted (goaway)',
  });
  t.match(toBrokenStream('x', false), { message: 'stream interrupted (connection reset)' });
});
