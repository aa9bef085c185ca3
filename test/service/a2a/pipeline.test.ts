import t from 'tap';
import { get, settle, wire } from '../../http/serve.ts';
import { ADMIN_TOKEN, type Answer, startTroupe, type Troupe } from '../troupe.ts';

/** Common behavior of all routes below /v1/a2a (a2a.md 2, 3). */

const message = (text: string) => ({
  message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }] },
});

type Envelope = {
  error: {
    code: number;
    status: string;
    message: string;
    details?: { reason?: string; fieldViolations?: { field: string; description: string }[] }[];
  };
};

// The tests assert the fields next.
const errorOf = ({ body }: Answer): Envelope['error'] => (body as Envelope).error;

let troupe: Troupe;
t.before(async () => {
  troupe = await startTroupe(t);
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  troupe.call(method, path, body, headers);

t.test('returns 404 in A2A form without details for paths outside the interface', async (t) => {
  const table = [
    ['GET', '/v1/a2a/not/a/route'],
    ['GET', '/v1/a2a/'],
    ['GET', '/v1/a2a/message:send'],
    ['POST', '/v1/a2a/default/tasks'],
    ['DELETE', '/v1/a2a/tasks/t/pushNotificationConfigs'],
    ['GET', '/v1/a2a/a/b/tasks'],
  ] as const;
  for (const [method, path] of table) {
    const answer = await call(method, path);
    t.same(
      [answer.status, answer.body],
      [404, { error: { code: 404, status: 'NOT_FOUND', message: `unsupported A2A path: ${path}` } }],
    );
  }
});

t.test('returns 404 for unknown task actions, and 400 for an action without an id', async (t) => {
  for (const segment of ['t-1:pause', 't-1', 'a:cancel:later']) {
    const answer = await call('POST', `/v1/a2a/tasks/${segment}`);
    t.equal(answer.status, 404);
    t.equal(errorOf(answer).message, `unsupported A2A task action path: ${segment}`);
  }
  for (const [method, path] of [
    ['POST', '/v1/a2a/tasks/:cancel'],
    ['POST', '/v1/a2a/default/tasks/:subscribe'],
    ['GET', '/v1/a2a/tasks/:subscribe'],
  ] as const) {
    const answer = await call(method, path);
    t.equal(answer.status, 400);
    t.match(errorOf(answer).details?.[0]?.fieldViolations, [
      { field: 'taskId', description: 'task action path must include a task id before the action suffix' },
    ]);
  }
});

t.test('splits a segment at its last colon and decodes it', async (t) => {
  for (const [path, id] of [
    ['/v1/a2a/tasks/a:b:cancel', 'a:b'],
    ['/v1/a2a/tasks/a%20b%3Acancel', 'a b'],
    ['/v1/a2a//tasks///a:cancel/', 'a'],
  ]) {
    const answer = await call('POST', path ?? '');
    t.equal(errorOf(answer).message, `task not found: ${id}`);
  }
  t.equal(errorOf(await call('GET', '/v1/a2a/tasks/a:cancel')).message, 'task not found: a:cancel');
});

t.test('returns 405 with the allowed methods for other methods', async (t) => {
  for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
    for (const [path, allow] of [
      ['tasks', 'GET, HEAD'],
      ['message:send', 'POST'],
      ['echo/message:stream', 'POST'],
      ['tasks/x:subscribe', 'GET, HEAD, POST'],
      ['tasks/x/pushNotificationConfigs', 'GET, HEAD, POST'],
      ['tasks/x/pushNotificationConfigs/y', 'DELETE, GET, HEAD'],
    ] as const) {
      const answer = await call(method, `/v1/a2a/${path}`);
      t.equal(answer.status, 405, path);
      t.equal(answer.headers.get('allow'), allow, path);
      t.equal(errorOf(answer).code, 405);
    }
    t.equal((await call(method, '/v1/a2a/not/a/route/at/all')).status, 404);
  }
  const card = await call('POST', '/.well-known/agent-card.json');
  t.same([card.status, card.headers.get('allow')], [405, 'GET, HEAD']);
});

t.test('answers a preflight before anything else', async (t) => {
  const answer = await call('OPTIONS', '/v1/a2a/message:send', undefined, {
    origin: 'http://localhost:3002',
    'access-control-request-method': 'POST',
    'a2a-version': '0.9',
  });
  t.equal(answer.status, 204);
  t.match(answer.headers.get('access-control-allow-headers'), /a2a-version/);
});

t.test('answers HEAD like GET without a body', async (t) => {
  for (const path of ['/v1/a2a/tasks', '/.well-known/agent-card.json']) {
    const answer = await fetch(troupe.url + path, { method: 'HEAD' });
    t.equal(answer.status, 200);
    t.equal(await answer.text(), '');
  }
});

t.test('rejects an unsupported version before checking the path', async (t) => {
  const table: [string, Record<string, string>][] = [
    ['/.well-known/agent-card.json', { 'a2a-version': '0.9' }],
    ['/v1/a2a/tasks?A2A-Version=0.9', {}],
    ['/v1/a2a/tasks?a2a-version=0.9', { 'A2A-Version': '1.0' }],
    ['/v1/a2a/not/a/route', { 'A2A-Version': '0.9' }],
  ];
  for (const [path, headers] of table) {
    const answer = await call('GET', path, undefined, headers);
    t.same(answer.body, {
      error: {
        code: 400,
        status: 'FAILED_PRECONDITION',
        message: "unsupported A2A-Version '0.9'",
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'VERSION_NOT_SUPPORTED',
            domain: 'a2a-protocol.org',
            metadata: { requestedVersion: '0.9', supportedVersion: '1.0' },
          },
        ],
      },
    });
  }
});

t.test('accepts 1.0 with any patch level, and a missing or blank version', async (t) => {
  for (const version of ['1.0', '1.0.1', ' ', '']) {
    t.equal((await call('GET', '/v1/a2a/tasks', undefined, { 'A2A-Version': version })).status, 200);
  }
  for (const version of ['1.1', '1', '1.0.x', '99.0']) {
    t.equal((await call('GET', '/v1/a2a/tasks', undefined, { 'A2A-Version': version })).status, 400);
  }
});

t.test('returns 415 for a body of another type, whatever its content', async (t) => {
  for (const type of ['text/plain', 'application/json-seq', 'application/vnd.x+json']) {
    const answer = await call('POST', '/v1/a2a/message:send', 'x', { 'content-type': type });
    t.equal(answer.status, 415);
    t.match(errorOf(answer), { status: 'INVALID_ARGUMENT', message: 'unsupported content type' });
    t.match(errorOf(answer).details, [
      { reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
      {
        fieldViolations: [
          {
            field: 'contentType',
            description: 'Content-Type must be application/json or application/a2a+json',
          },
        ],
      },
    ]);
  }
});

t.test('accepts both JSON types, with parameters and in any case', async (t) => {
  for (const type of ['application/a2a+json; charset=utf-8', 'Application/JSON', ' application/json ;a=b']) {
    const answer = await call('POST', '/v1/a2a/message:send', JSON.stringify(message('hello')), {
      'content-type': type,
    });
    t.equal(answer.status, 200, type);
  }
});

t.test('returns 400 for a body that is not a JSON object', async (t) => {
  const deep = `{"message":{"parts":[{"data":${'['.repeat(2000)}${']'.repeat(2000)}}]}}`;
  for (const body of ['{', '[]', '5', '', deep]) {
    const answer = await call('POST', '/v1/a2a/message:send', body, { 'content-type': 'application/json' });
    t.equal(answer.status, 400);
    t.match(errorOf(answer), { status: 'INVALID_ARGUMENT', message: 'invalid A2A request' });
    t.match(errorOf(answer).details?.[0]?.fieldViolations, [
      { field: 'body', description: /^invalid JSON body: / },
    ]);
    t.match(errorOf(answer).details?.[1], { reason: 'INVALID_PARAMS' });
  }
});

t.test('returns 400 for a body that is not UTF-8', async (t) => {
  const response = await fetch(`${troupe.url}/v1/a2a/message:send`, {
    method: 'POST',
    body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
    headers: { 'content-type': 'application/json' },
  });
  t.equal(response.status, 400);
  t.match(await response.json(), {
    error: {
      status: 'INVALID_ARGUMENT',
      details: [
        { fieldViolations: [{ field: 'body', description: /not UTF-8/ }] },
        { reason: 'INVALID_PARAMS' },
      ],
    },
  });
});

t.test('returns 413 for a body that is too large, with or without a content length', async (t) => {
  const large = JSON.stringify(message('x'.repeat(3_000_000)));
  const answer = await call('POST', '/v1/a2a/message:send', large, { 'content-type': 'text/plain' });
  t.same(
    [answer.status, answer.body],
    [413, { error: { code: 413, status: 'INVALID_ARGUMENT', message: 'request body too large' } }],
  );
});

t.test('ignores type and content of a body where none is expected', async (t) => {
  const answer = await call('POST', '/v1/a2a/tasks/nobody:cancel', '{', { 'content-type': 'text/plain' });
  t.equal(errorOf(answer).message, 'task not found: nobody');
});

t.test('uses the A2A media type if the client accepts it by name, also for errors', async (t) => {
  for (const [accept, type] of [
    ['application/a2a+json', 'application/a2a+json'],
    ['text/html, application/A2A+json;q=0.9', 'application/a2a+json'],
    ['*/*', 'application/json'],
    ['image/png', 'application/json'],
  ] as const) {
    for (const path of [
      '/v1/a2a/tasks',
      '/v1/a2a/tasks/nobody',
      '/.well-known/agent-card.json',
      '/v1/a2a/x',
    ]) {
      t.equal((await call('GET', path, undefined, { accept })).headers.get('content-type'), type, path);
    }
  }
});

t.test('returns 401 for an unresolvable scope before validating the request', async (t) => {
  const { call } = await startTroupe(t, {
    app: {
      resolveScope: async () => {
        throw new Error('nobody');
      },
    },
  });
  for (const [method, path] of [
    ['GET', '/v1/a2a/not/a/route'],
    ['PUT', '/v1/a2a/tasks'],
    ['POST', '/v1/a2a/message:send'],
  ] as const) {
    const answer = await call(method, path, method === 'GET' ? undefined : message('hello'), {
      'a2a-version': '0.9',
    });
    t.match(errorOf(answer), { code: 401, status: 'UNAUTHENTICATED' });
  }
});

t.test('reads the body of a request whose scope is resolved asynchronously', async (t) => {
  const { call } = await startTroupe(t, {
    app: {
      resolveScope: async () => {
        await settle();
        return 'later';
      },
    },
  });
  const answer = await call('POST', '/v1/a2a/message:send', message('hello'));
  t.equal(answer.status, 200);
});

t.test('counts requests by operation, without ids', async (t) => {
  await call('GET', '/v1/a2a/tasks/secret-id');
  await call('GET', '/v1/a2a/default/tasks/secret-id');
  const { body } = await call('GET', '/metrics');
  t.match(body.text, 'route="/v1/a2a/tasks/:task_id"');
  t.match(body.text, 'route="/v1/a2a/:tenant/tasks/:task_id"');
  t.notMatch(body.text, 'secret-id');
});

t.test('lists every operation in the OpenAPI document', async (t) => {
  const { body } = await call('GET', '/openapi.json');
  // A separate test validates the document.
  const { paths } = body as { paths: Record<string, object> };
  const listed = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/a2a/') || path.startsWith('/.well-known/agent-card'))
    .map(([path, methods]) => `${path} ${Object.keys(methods).sort()}`);
  const operations = [
    'message:send post',
    'message:stream post',
    'tasks get',
    'tasks/{task_id} get',
    'tasks/{task_id}:cancel post',
    'tasks/{task_id}:subscribe get,post',
    'tasks/{task_id}/pushNotificationConfigs get,post',
    'tasks/{task_id}/pushNotificationConfigs/{config_id} delete,get',
    'extendedAgentCard get',
  ];
  t.strictSame(
    listed.sort(),
    [
      '/.well-known/agent-card.json get',
      ...operations.flatMap((operation) => [`/v1/a2a/${operation}`, `/v1/a2a/{tenant}/${operation}`]),
    ].sort(),
  );
});

t.test('does not treat paths that merely start like /v1/a2a as part of the interface', async (t) => {
  t.match((await call('GET', '/v1/a2astronaut')).body, { error: 'no such path: /v1/a2astronaut' });
  const { port } = new URL(troupe.url);
  const client = wire(t, Number(port), get('/v1/a2a/tasks'));
  t.match(await client.until('"tasks"'), 'HTTP/1.1 200 OK');
});

t.test('ignores requested extensions, of which the service has none', async (t) => {
  const send = async (headers?: Record<string, string>) => {
    const answer = await call('POST', '/v1/a2a/default/message:send', message('Hello'), headers);
    const { task } = answer.body as { task: { status: { state: string }; artifacts: object[] } };
    return [answer.status, answer.headers.get('a2a-extensions'), task.status.state, task.artifacts];
  };
  t.strictSame(
    await send({ 'A2A-Extensions': 'https://example.com/one, https://example.com/two' }),
    await send(),
  );
});

t.test('accepts messages for an agent exactly while it exists', async (t) => {
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const send = () => call('POST', '/v1/a2a/a2/message:send', message('Hello'));
  t.equal((await send()).status, 404);
  const { body: other } = await call('GET', '/v1/config/agents/echo', undefined, admin);
  await call('POST', '/v1/config/agents', { id: 'a2', model_id: other.model_id }, admin);
  t.match(await send(), { status: 200, body: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
  await call('DELETE', '/v1/config/agents/a2', undefined, admin);
  const gone = await send();
  t.match([gone.status, errorOf(gone).message], [404, 'agent not found: a2']);
});
