import t from 'tap';
import { toModelError } from '../../src/models/classify.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import { refusalIn } from '../../src/models/reason.ts';
import { createProvider } from './create-provider.ts';
import { inferenceFailure, requestOf } from './infer.ts';
import { startSseServer } from './sse-server.ts';

/** The message of an error response reaches the error of the inference, regardless of the shape of its body. */

const bodies: [body: string, reason: string][] = [
  ['{"error":"why"}', 'why'],
  ['{"error":{"message":"why","type":"t","code":"c"}}', 'why'],
  ['{"type":"error","error":{"type":"t","message":"why"}}', 'why'],
  ['{"detail":"why"}', 'why'],
  ['{"detail":[{"loc":["body","x"],"msg":"why","type":"missing"}]}', 'why'],
  ['{"object":"error","message":"why","code":40303}', 'why'],
  ['{"message":"outer","error":{"message":"why"}}', 'why'],
  ['[{"error":{"code":400,"message":"why","status":"INVALID_ARGUMENT"}}]', 'why'],
  ['{"errors":["why","other"]}', 'why'],
  ['{"error_message":"why","choices":null}', 'why'],
  ['{"error":{"error":{"message":"why"}}}', 'why'],
  ['data: {"error":{"message":"why"}}\n\n', 'why'],
  ['event: error\ndata: {"error":"why"}\n\n', 'why'],
  ['"why"', 'why'],
  ['  why\n  in two lines ', 'why in two lines'],
  ['\uFEFF{"error":"why"}', 'why'],
  [
    '<!doctype html><html><head><title>502 Bad\nGateway</title></head><body>x</body>',
    'an HTML page: 502 Bad Gateway',
  ],
  ['<html><body>x</body></html>', 'an HTML page'],
  ['{"error":{"message":""},"detail":"why"}', 'why'],
  ['{}', ''],
  ['null', 'null'],
  ['', ''],
  ['{"error":{"a":{"b":{"c":{"d":{"e":{"message":"deep"}}}}}}}', ''],
  ['{"error":"cut off', '{"error":"cut off'],
];
for (const [body, reason] of bodies) {
  t.test(`extracts the reason from ${JSON.stringify(body).slice(0, 80)}`, async (t) => {
    t.equal(refusalIn(body).reason, reason);
  });
}

type Row = {
  status: number;
  type: string;
  body: string;
  kind: ModelErrorClass;
  message: RegExp;
  /** Adapters whose protocol the body belongs to; default: both. */
  adapters?: string[];
};

const responses: Record<string, Row> = {
  'a status with text in `error`': {
    status: 404,
    type: 'application/json',
    body: '{"error":"REALCAUSE"}',
    kind: 'model_not_found',
    message: /^model not found: REALCAUSE$/,
  },
  'a status with `detail`': {
    status: 422,
    type: 'application/json',
    body: '{"detail":"REALCAUSE"}',
    kind: 'invalid_request',
    message: /^invalid request: REALCAUSE$/,
  },
  'a status with a page': {
    status: 502,
    type: 'text/html',
    body: '<html><head><title>REALCAUSE</title></head></html>',
    kind: 'provider',
    message: /^provider error: an HTML page: REALCAUSE$/,
  },
  'an error with status 200': {
    status: 200,
    type: 'application/json',
    body: '{"error":{"message":"REALCAUSE","type":"server_error"}}',
    kind: 'provider',
    message: /^provider error: REALCAUSE$/,
  },
  'an error with status 200 that names its own': {
    status: 200,
    type: 'application/json',
    body: '{"error":{"message":"REALCAUSE","code":401}}',
    kind: 'unauthorized',
    message: /^unauthorized: REALCAUSE$/,
  },
  'an error with status 200 that names its kind': {
    status: 200,
    type: 'application/json',
    body: '{"error":{"message":"REALCAUSE","type":"rate_limit_error"}}',
    kind: 'rate_limited',
    message: /^rate limited: REALCAUSE$/,
  },
  'an error in an event stream that is no event': {
    status: 200,
    type: 'text/event-stream',
    body: '{"error":{"code":400,"message":"REALCAUSE"}}\n\n',
    kind: 'invalid_request',
    message: /^invalid request: REALCAUSE$/,
  },
  'an error behind events that is no event': {
    status: 200,
    type: 'text/event-stream',
    body: ': comment\n\n{"error":{"code":400,"message":"REALCAUSE"}}',
    kind: 'invalid_request',
    message: /^invalid request: REALCAUSE$/,
  },
  'a page with status 200': {
    status: 200,
    type: 'text/html',
    body: '<html><head><title>REALCAUSE</title></head></html>',
    kind: 'provider',
    message: /^provider error: the response is not an event stream but an HTML page: REALCAUSE$/,
  },
  'JSON of another kind in place of a stream': {
    status: 200,
    type: 'application/json',
    body: '{"object":"list","data":[]}',
    kind: 'provider',
    message: /^provider error: the response is not an event stream but JSON that is no error$/,
  },
  'a chunk that is an error': {
    status: 200,
    type: 'text/event-stream',
    body: 'data: {"choices":null,"error_message":"REALCAUSE"}\n\n',
    adapters: ['openai'],
    kind: 'provider',
    message: /^provider error: REALCAUSE$/,
  },
};

for (const [name, row] of Object.entries(responses)) {
  const { status, type, body, kind, message, adapters = ['openai', 'anthropic'] } = row;
  for (const adapter of adapters) {
    t.test(`${adapter}: ${name}`, async (t) => {
      const { url } = await startSseServer(t, (response) => {
        response.writeHead(status, { 'content-type': type });
        response.end(body);
      });
      const model = createProvider({ id: 'p', adapter, api_key: 'the-key-of-p', base_url: url }, {}).model({
        id: 'm',
        provider_id: 'p',
        upstream_model: 'm',
      });
      const { error } = await inferenceFailure(model, requestOf('Hello'));
      t.match(error, { class: kind, message });
    });
  }
}

t.test('masks and truncates the message of a provider', async (t) => {
  const error = toModelError(new Error(`key sk-canary-0123456789abcdef ${'x'.repeat(100_000)}`));
  t.ok(error.message.length < 2100);
  t.notMatch(error.message, 'canary');
  t.match(new ModelError('provider', 'Bearer a1B2c3D4e5F6').message, 'provider error: Bearer ***');
});

/** With texts of this length, quadratic steps would take hours. */
const LONG = 50_000_000;

t.test('reads a body of any length in linear time', async (t) => {
  for (const mark of [' ', 'event:', 'data:', '<title ', `a${' '.repeat(999)}`]) {
    const body = mark.repeat(LONG / mark.length);
    t.type(refusalIn(body).reason, 'string', JSON.stringify(mark));
  }
});
