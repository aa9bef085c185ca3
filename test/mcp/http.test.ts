import t from 'tap';
import { freePort } from '../ports.ts';
import { startPeer } from './http-peer.ts';
import { EAGER, http, manage } from './manage.ts';

/** Streamable HTTP against a scripted server: mcp.md B4, B5, checks 50 to 54, 62, 63, 65, 66, 69. */

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

t.test('performs the handshake first, and sends its results with every request', async (t) => {
  const peer = await startPeer(t);
  const { start, manager } = manage(t);
  const headers = { 'X-Api-Key': 'key-of-the-peer' };
  await start(http('p', peer.url, { config: { headers } }));
  t.strictSame(
    peer.names().filter((name) => name !== 'GET'),
    ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'],
  );
  const [, first, second, third] = peer.asked;
  t.match(first, {
    http: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-api-key': 'key-of-the-peer',
    },
    message: {
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'troupe', version: '1.2.3' },
      },
    },
  });
  t.notOk(first?.headers['mcp-session-id'] ?? first?.headers['mcp-protocol-version']);
  t.notOk(first?.message.params && 'config' in first.message.params);
  for (const later of [second, third]) {
    t.match(later?.headers, {
      'mcp-session-id': 'session-1',
      'mcp-protocol-version': '2025-11-25',
      'x-api-key': 'key-of-the-peer',
    });
  }
  t.match(manager.status('p'), { connected: true, session_generation: 1, tools: [{ name: 'echo' }] });
});

t.test('sends no session id, and ends no session, if the server assigns none', async (t) => {
  const peer = await startPeer(t, {
    initialize: ({ result }) =>
      result({ protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'p', version: '1' } }),
    'notifications/initialized': ({ status }) => status(200),
  });
  const { start, manager } = manage(t);
  await start(http('p', peer.url));
  t.ok(peer.asked.every(({ headers }) => headers['mcp-session-id'] === undefined));
  t.equal(peer.of('tools/list')[0]?.headers['mcp-protocol-version'], '2025-03-26');
  await manager.close();
  t.strictSame(peer.of('DELETE'), []);
});

t.test('ends the session if the server selects an unknown version', async (t) => {
  const peer = await startPeer(t, {
    initialize({ response, result }) {
      response.setHeader('mcp-session-id', 'odd');
      result({ protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'p', version: '1' } });
    },
  });
  const { connect } = manage(t);
  await t.rejects(connect(http('p', peer.url)), { message: /1999-01-01/ });
  t.strictSame(peer.names(), ['server/discover', 'initialize', 'DELETE']);
  t.equal(peer.of('DELETE')[0]?.headers['mcp-session-id'], 'odd');
});

t.test('resumes a stream that ends early at its position after the retry delay', async (t) => {
  const peer = await startPeer(t);
  let closedAt = 0;
  peer.on['tools/call'] = ({ stream, response, message }) => {
    stream('id: e1\nretry: 200\ndata: \n\n');
    closedAt = performance.now();
    response.end();
    peer.on.GET = ({ headers, stream: resume, status }) => {
      if (headers['last-event-id'] === undefined) return status(405);
      t.equal(headers['last-event-id'], 'e1');
      t.ok(performance.now() - closedAt >= 195, 'the reconnection waits for the retry delay of the server');
      resume()({ id: message.id, result: text('late') }, 'e2');
    };
  };
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  t.match(await call('p', 'echo'), { status: 'success', data: 'late' });
  t.equal(peer.of('tools/call').length, 1);
});

t.test('fails a call whose stream ends without a resumable position', async (t) => {
  const peer = await startPeer(t, {
    'tools/call': ({ stream, response }) => {
      stream();
      response.end();
    },
  });
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  t.match(await call('p', 'echo'), {
    status: 'error',
    message: 'Execution failed: mcp transport error: the stream ended without its response',
  });
  t.match(manager.status('p'), { consecutive_failures: 1, connected: true, last_error: /stream ended/ });
});

t.test('opens a new session when the server has dropped it, and sends the call again', async (t) => {
  const peer = await startPeer(t);
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  const echo = peer.on['tools/call'];
  peer.on['tools/call'] = ({ status }) => {
    if (echo) peer.on['tools/call'] = echo;
    else delete peer.on['tools/call'];
    status(404);
  };
  t.match(await call('p', 'echo', { a: 1 }), { status: 'success', data: '{"a":1}' });
  const [first, second, ...others] = peer.of('tools/call');
  t.strictSame(others, []);
  t.not(first?.message.id, second?.message.id);
  t.equal(second?.headers['mcp-session-id'], 'session-2');
  t.match(manager.status('p'), {
    session_generation: 3,
    transport_reconnect_count: 0,
    consecutive_failures: 0,
  });
});

t.test('opens one session for many calls that lose theirs together', async (t) => {
  const peer = await startPeer(t);
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  const valid = 'session-2';
  peer.on['tools/call'] = ({ headers, status, result }) =>
    headers['mcp-session-id'] === valid ? result(text('ok')) : status(404);
  const results = await Promise.all(Array.from({ length: 20 }, () => call('p', 'echo')));
  t.ok(results.every(({ data }) => data === 'ok'));
  t.equal(peer.of('initialize').length, 2);
  t.equal(manager.status('p').session_generation, 3);
});

t.test('never sends a call again that the server has accepted', async (t) => {
  const peer = await startPeer(t);
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  peer.on['tools/call'] = ({ stream, response }) => {
    stream('id: e1\nretry: 10\ndata: \n\n');
    response.end();
  };
  peer.on.GET = ({ status }) => status(404);
  t.match(await call('p', 'echo'), {
    status: 'error',
    message: 'Execution failed: MCP session expired after request was accepted',
  });
  t.equal(peer.of('tools/call').length, 1);
});

t.test('reads a long line as one response, and reports one that is too long', async (t) => {
  const peer = await startPeer(t);
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  for (const [bytes, expected] of [
    [500_000, { status: 'success', data: 'x'.repeat(500_000) }],
    [5_000_000, { status: 'error', message: /more than 4194304 bytes/ }],
  ] as const) {
    peer.on['tools/call'] = ({ stream, message, response }) => {
      stream()({ id: message.id, result: text('x'.repeat(bytes)) });
      response.end();
    };
    t.match(await call('p', 'echo'), expected);
    peer.on['tools/call'] = ({ result }) => result(text('x'.repeat(bytes)));
    t.match(await call('p', 'echo'), expected);
  }
  t.equal(
    manager.status('p').consecutive_failures,
    0,
    'a line that is too long is no failure of the connection',
  );
});

t.test('allows a response of any duration, but limits each pause in it', async (t) => {
  const peer = await startPeer(t);
  const { start, call, calls } = manage(t);
  await start(http('p', peer.url, { timeout_secs: 3 }));
  peer.on['tools/call'] = ({ stream, message }) => {
    const write = stream();
    let times = 0;
    const timer = setInterval(() => {
      times += 1;
      if (times < 8)
        return write({ method: 'notifications/message', params: { level: 'info', data: times } });
      clearInterval(timer);
      write({ id: message.id, result: text('done') });
    }, 500);
  };
  t.match(await call('p', 'echo'), { status: 'success', data: 'done' });
  peer.on['tools/call'] = ({ stream }) => void stream();
  t.match(await call('p', 'echo'), { status: 'error', message: /^Timeout: /, metadata: { timed_out: true } });
  peer.on['tools/call'] = () => {};
  t.match(await call('p', 'echo'), { status: 'error', message: /^Timeout: / });
  t.strictSame(calls, ['p ok', 'p timeout', 'p timeout']);
  while (peer.of('notifications/cancelled').length < 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const cancelled = peer.of('notifications/cancelled').map(({ message }) => message.params?.requestId);
  t.strictSame(
    cancelled,
    peer
      .of('tools/call')
      .slice(1)
      .map(({ message }) => message.id),
  );
});

t.test('notifies the server of a cancelled run, and closes the stream', async (t) => {
  const peer = await startPeer(t);
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  const run = new AbortController();
  const gone = new Promise<void>((resolve) => {
    peer.on['tools/call'] = ({ stream, response }) => {
      stream();
      response.once('close', resolve);
      run.abort();
    };
  });
  t.match(await call('p', 'echo', {}, { signal: run.signal }), { status: 'error', message: /^Cancelled: / });
  await gone;
  t.match(peer.of('notifications/cancelled')[0]?.message.params, {
    requestId: peer.of('tools/call')[0]?.message.id,
    reason: 'client run cancelled',
  });
  t.equal(manager.status('p').consecutive_failures, 0);
});

t.test('answers requests on the stream of a call with the model of its agent', async (t) => {
  const peer = await startPeer(t);
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  const answers: unknown[] = [];
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      peer.on['tools/call'] = ({ stream, message }) => {
        const write = stream();
        write({ id: 'q', method, params });
        peer.on.response = ({ message: answer, status }) => {
          status(202);
          resolve(answer);
          write({ id: message.id, result: text('asked') });
        };
      };
    });
  const askModel = async (question: unknown) => {
    answers.push(question);
    return { text: 'forty-two', model: 'upstream', stop: 'EndTurn' as const };
  };
  const sampling = {
    systemPrompt: 'Be short.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
    ],
    maxTokens: 10,
  };
  const asked = async (method: string, params: object): Promise<unknown> => {
    const answer = ask(method, params);
    t.match(await call('p', 'echo', {}, { askModel }), { data: 'asked' });
    return answer;
  };
  t.match(await asked('sampling/createMessage', sampling), {
    result: {
      role: 'assistant',
      content: { type: 'text', text: 'forty-two' },
      model: 'upstream',
      stopReason: 'endTurn',
    },
  });
  t.strictSame(answers, [
    {
      system: 'Be short.',
      messages: [{ role: 'user', text: 'one\n\ntwo' }],
      temperature: undefined,
      max_tokens: 10,
    },
  ]);
  t.match(await asked('sampling/createMessage', { ...sampling, stopSequences: ['x'] }), {
    error: { code: -32_000 },
  });
  t.match(await asked('sampling/createMessage', { messages: 1 }), {
    error: { code: -32_602, message: 'Invalid sampling/createMessage params' },
  });
  t.match(await asked('ping', {}), { result: {} });
  t.match(await asked('roots/list', {}), { error: { code: -32_601, message: /^roots\/list not supported/ } });
  t.match(
    await asked('elicitation/create', { message: 'x', requestedSchema: { type: 'object', properties: {} } }),
    {
      error: { code: -32_601 },
    },
  );
});

t.test('reads the pages of a list up to a limit', async (t) => {
  const peer = await startPeer(t, {
    'tools/list': ({ message, result }) => {
      const page = Number(message.params?.cursor ?? 0);
      const tools = [{ name: `tool-${page}`, inputSchema: { type: 'object' } }];
      result(page < 4 ? { tools, nextCursor: String(page + 1) } : { tools });
    },
  });
  const { start, until, manager } = manage(t);
  t.strictSame(
    (await start(http('p', peer.url))).tools.map(({ name }) => name),
    ['tool-0', 'tool-1', 'tool-2', 'tool-3', 'tool-4'],
  );
  peer.on['tools/list'] = ({ message, result }) => {
    const page = Number(message.params?.cursor ?? 0);
    result({
      tools: [{ name: `more-${page}`, inputSchema: { type: 'object' } }],
      nextCursor: String(page + 1),
    });
  };
  manager.restart('p');
  t.equal((await until('p', ({ tools }) => tools[0]?.name === 'more-0')).tools.length, 100);
});

t.test('omits tools that models cannot use, with the reason in the status', async (t) => {
  const tools = [
    { name: 'legal', inputSchema: { type: 'object' } },
    { name: 'bare' },
    { name: 'text', inputSchema: { type: 'string' } },
    { name: 'task', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
    { name: 'either', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } },
    { name: 'lost', inputSchema: { $ref: '#/$defs/nowhere' } },
    { inputSchema: {} },
  ];
  const peer = await startPeer(t, { 'tools/list': ({ result }) => result({ tools }) });
  const { start, manager } = manage(t);
  const status = await start(http('p', peer.url));
  t.strictSame(
    status.tools.map(({ name }) => name),
    ['bare', 'either', 'legal'],
  );
  t.match(status.left_out, [
    { name: '', reason: /^the definition is not legal: .*name/s },
    { name: 'text', reason: /type string and not of type object/ },
    { name: 'task', reason: /as a task only/ },
    { name: 'lost', reason: /'#\/\$defs\/nowhere', which leads nowhere/ },
  ]);
  t.strictSame(manager.tools().get('p')?.length, 3);
});

t.test('rejects a request with an inexact integer on the stream of a call', async (t) => {
  const peer = await startPeer(t);
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  const answer = new Promise<unknown>((resolve) => {
    peer.on['tools/call'] = ({ stream, message, response }) => {
      const write = stream();
      const params = '{"messages":[{"at":-9007199254740993}]}';
      response.write(
        `data: {"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":${params}}\n\n`,
      );
      peer.on.response = ({ message: given, status }) => {
        status(202);
        resolve(given);
        write({ id: message.id, result: text('asked') });
      };
    };
  });
  t.match(await call('p', 'echo'), { data: 'asked' });
  t.match(await answer, {
    id: 'q',
    error: { code: -32_602, message: /^params\.messages\[0\]\.at: the integer -9007199254740993 cannot/ },
  });
});

t.test('receives tool changes on a listening stream, and reopens it when it breaks', async (t) => {
  const peer = await startPeer(t);
  let listening: ((message: object) => void) | undefined;
  let opened = 0;
  peer.on.GET = ({ stream, response }) => {
    opened += 1;
    if (opened === 1) {
      stream('retry: 10\n\n');
      response.end();
    } else listening = stream(': open\n\n');
  };
  const { start, until, changes } = manage(t);
  await start(http('p', peer.url));
  while (!listening) await new Promise((resolve) => setTimeout(resolve, 5));
  peer.offer('echo', 'new');
  for (let times = 0; times < 1000; times += 1) listening({ method: 'notifications/tools/list_changed' });
  await until('p', ({ tools }) => tools.length === 2);
  t.ok(peer.of('tools/list').length <= 4, `${peer.of('tools/list').length} lists`);
  t.ok(changes.length <= 2);
});

t.test('abandons an unreachable server after its attempts, and reconnects on a restart', async (t) => {
  const peer = await startPeer(t, {}, await freePort());
  const { start, call, until, manager } = manage(t);
  await start(http('p', peer.url, { restart_policy: { enabled: true, max_attempts: 2, delay_ms: 10 } }));
  await peer.close();
  for (let times = 0; times < 3; times += 1) t.match(await call('p', 'echo'), { status: 'error' });
  t.match(await call('p', 'echo'), { message: 'Execution failed: mcp transport error: connection closed' });
  t.equal(manager.status('p').tools.length, 1, 'the last valid tools are kept');
  const echo = manager.tools().get('p')?.[0];
  const failed = await until('p', ({ permanently_failed }) => permanently_failed);
  t.match(failed, { connected: false, tools: [], last_error: /ECONNREFUSED/, consecutive_failures: 3 });
  t.notOk(manager.tools().has('p'));
  await t.rejects(async () => echo?.execute({}, { signal: new AbortController().signal } as never), {
    message: `server 'p' is permanently failed`,
  });
  await peer.open();
  manager.restart('p');
  const back = await until('p', ({ connected }) => connected);
  t.match(back, {
    permanently_failed: false,
    transport_reconnect_count: 1,
    consecutive_failures: 0,
    last_error: null,
  });
});

t.test('connects to a server that is down at first', async (t) => {
  const peer = await startPeer(t, {}, await freePort());
  await peer.close();
  const { apply, until, manager } = manage(t);
  apply(http('p', peer.url, EAGER));
  t.match(await until('p', ({ last_error }) => last_error !== null), {
    connected: false,
    permanently_failed: false,
  });
  await peer.open();
  t.match(await until('p', ({ connected }) => connected), {
    transport_reconnect_count: 0,
    session_generation: 1,
  });
  await manager.close();
  t.equal(peer.of('DELETE')[0]?.headers['mcp-session-id'], 'session-1');
});

t.test('keeps the last valid list until reading fails too often', async (t) => {
  const peer = await startPeer(t);
  const { start, until, manager } = manage(t, { refreshMs: 20 });
  await start(http('p', peer.url, EAGER));
  const answers: number[] = [];
  const plan = [500, 500, 200, 500, 500, 500];
  peer.on['tools/list'] = ({ status, result }) => {
    const next = plan.shift() ?? 200;
    answers.push(next);
    if (next === 500) status(500, 'no list today');
    else result({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  };
  const failing = await until('p', ({ consecutive_failures }) => consecutive_failures === 2);
  t.match(failing, {
    connected: true,
    last_error: /HTTP error: 500 - no list today/,
    tools: [{ name: 'echo' }],
  });
  const well = await until('p', ({ consecutive_failures }) => consecutive_failures === 0);
  t.match(well, { connected: true, last_error: null, transport_reconnect_count: 0 });
  const again = await until('p', ({ transport_reconnect_count }) => transport_reconnect_count === 1);
  t.match(again, { connected: true, consecutive_failures: 0, tools: [{ name: 'echo' }] });
  t.strictSame(answers.slice(0, 6), [500, 500, 200, 500, 500, 500]);
  t.equal(manager.status('p').session_generation, 2, 'a reconnect reads the list again');
});

t.test('isolates a hanging reconnect from other servers, and drops it on a restart', async (t) => {
  const peer = await startPeer(t);
  const other = await startPeer(t);
  const { apply, until, call, manager } = manage(t);
  apply(http('stuck', peer.url), http('well', other.url));
  for (const id of ['stuck', 'well']) await until(id, ({ connected }) => connected);
  peer.on.initialize = () => {};
  manager.restart('stuck');
  await until('stuck', ({ reconnecting }) => reconnecting);
  t.match(await call('well', 'echo', { a: 1 }), { data: '{"a":1}' });
  t.match(await call('stuck', 'echo'), {
    message: 'Execution failed: mcp transport error: connection closed',
  });
  t.equal(manager.status('stuck').tools.length, 1);
  delete peer.on.initialize;
  manager.restart('stuck');
  t.match(await until('stuck', ({ connected }) => connected), { transport_reconnect_count: 1 });
});

t.test('ends the session of a removed entry', async (t) => {
  const peer = await startPeer(t);
  const { start, apply } = manage(t);
  await start(http('p', peer.url));
  apply();
  while (peer.of('DELETE').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.match(peer.of('DELETE')[0]?.headers, {
    'mcp-session-id': 'session-1',
    'mcp-protocol-version': '2025-11-25',
  });
});

t.test('limits the responses to a server that sends endless requests', async (t) => {
  const peer = await startPeer(t);
  const { start, call, told } = manage(t);
  await start(http('p', peer.url));
  let open = 0;
  let most = 0;
  let finish = (): void => {};
  peer.on.response = ({ status }) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      status(202);
      finish();
    }, 20);
  };
  peer.on['tools/call'] = ({ stream, message }) => {
    const write = stream();
    for (let id = 0; id < 2000; id += 1) write({ id: `q${id}`, method: 'ping' });
    finish = () => write({ id: message.id, result: text('done') });
  };
  t.match(await call('p', 'echo'), { data: 'done' });
  t.ok(most > 0 && most <= 64, `${most} at once`);
  t.match(told.join(), /asks more than can be answered/);
});

t.test('limits the use of the model by a server per call', async (t) => {
  const peer = await startPeer(t);
  const { start, call } = manage(t);
  await start(http('p', peer.url));
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 1 };
  const answers: unknown[] = [];
  peer.on['tools/call'] = ({ stream, message }) => {
    const write = stream();
    const ask = (): void => write({ id: `q${answers.length}`, method: 'sampling/createMessage', params });
    peer.on.response = ({ message: answer, status }) => {
      status(202);
      answers.push(answer);
      if (answers.length < 20) ask();
      else write({ id: message.id, result: text('done') });
    };
    ask();
  };
  let asked = 0;
  const askModel = async () => {
    asked += 1;
    return { text: 'yes', model: 'm', stop: 'EndTurn' as const };
  };
  t.match(await call('p', 'echo', {}, { askModel }), { data: 'done' });
  t.equal(asked, 16);
  t.match(answers.at(-1), { error: { code: -32_000, message: /limit of 16 sampling requests/ } });
});

t.test('reports an invalid response as a failure', async (t) => {
  const peer = await startPeer(t);
  const { start, call, manager } = manage(t);
  await start(http('p', peer.url));
  const cases: [(response: import('node:http').ServerResponse) => void, RegExp][] = [
    [
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /Unsupported HTTP content type: text\/html/,
    ],
    [
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
      /no response to the request/,
    ],
    [
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
      /no response to the request/,
    ],
    [(response) => response.writeHead(503).end('busy'), /HTTP error: 503 - busy/],
    [
      (response) => response.writeHead(302, { location: 'http://elsewhere.example/' }).end(),
      /redirect to another origin/,
    ],
    [(response) => response.destroy(), /socket hang up|ECONNRESET/],
    [
      (response) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"jsonrpc":"2.0","id":"other","result":{}}\n\n'),
      /a response to another request/,
    ],
    [
      (response) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('id: 1\nretry: 60000\ndata:\n\n'),
      /retry of 60000 ms is too long/,
    ],
    [
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(4_000_000)),
      /nests deeper|has more than/,
    ],
  ];
  for (const [answer, message] of cases) {
    peer.on['tools/call'] = ({ response }) => answer(response);
    t.match(await call('p', 'echo'), { status: 'error', message });
    if (manager.status('p').consecutive_failures === 2) {
      delete peer.on['tools/call'];
      t.match(await call('p', 'echo'), { status: 'success' });
    }
  }
  t.match(manager.status('p'), { connected: true, transport_reconnect_count: 0 });
});

t.test('abandons a handshake that never completes', async (t) => {
  const peer = await startPeer(t);
  peer.on.initialize = ({ stream, response }) => {
    stream();
    const timer = setInterval(() => response.write(': not yet\n\n'), 200);
    response.once('close', () => clearInterval(timer));
  };
  const { apply, until } = manage(t);
  apply(http('p', peer.url, { timeout_secs: 1 }));
  t.match(await until('p', ({ last_error }) => last_error !== null), {
    connected: false,
    last_error: /no answer/,
  });
});

t.test('masks an echoed secret completely wherever the text is cut', async (t) => {
  const peer = await startPeer(t);
  const { start, call, manager } = manage(t);
  const secret = 'hush-'.repeat(20);
  await start(http('p', peer.url, { config: { headers: { 'x-key': secret } } }));
  for (const before of [380, 480, 1950, 1999]) {
    peer.on['tools/call'] = ({ status, headers }) => status(500, `${'x'.repeat(before)}${headers['x-key']}`);
    t.notMatch(await call('p', 'echo'), { message: /hush/ });
    t.notMatch(manager.status('p').last_error, /hush/);
    delete peer.on['tools/call'];
    await call('p', 'echo');
  }
});
