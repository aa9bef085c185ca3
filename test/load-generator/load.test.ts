import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import t, { type Test } from 'tap';
import { createArrivals } from '../../src/load-generator/arrivals.ts';
import {
  createRunBody,
  formatReport,
  LoadError,
  type LoadOptions,
  type LoadReport,
  parseDuration,
  runLoad,
  type Sample,
} from '../../src/load-generator/index.ts';
import { turn } from '../http/serve.ts';

const FRAMES = ['run_start', 'text_delta', 'text_delta', 'run_finish'].map(
  (type) => `data: {"event_type":"${type}"}\n\n`,
);

const serve = async (t: Test, listener: RequestListener) => {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: urlOf(server.address()), connections: () => connections };
};

// A server that listens on TCP has an AddressInfo as its address.
const urlOf = (address: unknown): string => `http://127.0.0.1:${(address as AddressInfo).port}`;

const stream: RequestListener = (request, response) => {
  request.resume().on('end', () => {
    for (const frame of FRAMES) response.write(frame);
    response.end();
  });
};

t.test('each connection reads one stream after the other, and every stream counts once', async (t) => {
  const bodies: string[] = [];
  const { url, connections } = await serve(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url} ${request.headers['x-test']} ${body}`);
    });
    stream(request, response);
  });
  const samples: Sample[] = [];
  const seen = new Map<number, number>();
  const report = await runLoad({
    url,
    connections: 3,
    streams: 10,
    headers: { 'x-test': 'yes' },
    body: (number) => `{"n":${number}}`,
    onSample: (sample) => samples.push(sample),
    onEvents: (number, events) => seen.set(number, (seen.get(number) ?? 0) + events),
  });
  t.match(report, { streams: 10, events: 40, connections: 3, errors: {} });
  t.equal(connections(), 4, 'three connections are kept, and one tested the server');
  t.strictSame(
    bodies.sort(),
    Array.from({ length: 10 }, (_, number) => `POST /v1/runs yes {"n":${number}}`).sort(),
  );
  t.strictSame([...samples].map(({ stream }) => stream).sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const { events, ttft_ms = -1, latency_ms } of samples) {
    t.equal(events, 4);
    t.ok(ttft_ms >= 0 && ttft_ms <= latency_ms, 'the time starts with the request');
  }
  t.strictSame(
    [...seen.values()],
    Array.from({ length: 10 }, () => 4),
  );
  t.equal(report.latency_ms.count, 10);
  t.equal(report.ttft_ms.count, 10);
});

t.test('requests the path of the address', async (t) => {
  const paths = new Set<string | undefined>();
  const { url } = await serve(t, (request, response) => {
    paths.add(request.url);
    stream(request, response);
  });
  await runLoad({ url: `${url}/v1/chat?x=1`, connections: 1, streams: 1 });
  t.strictSame([...paths], ['/v1/chat?x=1']);
});

t.test('a connection pauses between two streams', async (t) => {
  const { url } = await serve(t, stream);
  const report = await runLoad({ url, connections: 1, streams: 3, pause_ms: 20 });
  t.ok(report.seconds >= 0.035, 'the report includes both pauses');
});

t.test(
  'a load that rests between two reads receives the same, and does not rest after its end',
  async (t) => {
    const { url } = await serve(t, stream);
    const report = await runLoad({ url, connections: 3, streams: 6, rest_ms: 2 });
    t.match(report, { streams: 6, events: 24, errors: {} });
    await turn();
    await turn();
    t.notOk(process.getActiveResourcesInfo().includes('Immediate'));
  },
);

t.test('a load ends at its time, after the current streams', async (t) => {
  const { url } = await serve(t, stream);
  const report = await runLoad({ url, connections: 2, duration_ms: 500 });
  t.ok(report.streams > 0);
  t.strictSame(report.errors, {});
  t.equal(report.events, report.streams * 4);
});

t.test('opens connections over the ramp, and uses all of them', async (t) => {
  const { url, connections } = await serve(t, stream);
  const report = await runLoad({ url, connections: 5, duration_ms: 1000, ramp_ms: 50 });
  t.equal(connections(), 6);
  t.strictSame(report.errors, {});
});

const failing: Record<string, [RequestListener, Partial<LoadOptions>]> = {
  'status 503: busy': [(_, response) => response.writeHead(503).end('{"error":"busy"}'), {}],
  'status 500: it broke': [
    (_, response) => response.writeHead(500).end('{"error":{"message":"it\\n broke"}}'),
    {},
  ],
  'status 502': [(_, response) => response.writeHead(502).end('<html>bad gateway</html>'), {}],
  'no terminal frame': [(_, response) => response.end(FRAMES[0]), {}],
  'connection lost': [
    (_, response) => {
      response.write(FRAMES[0]);
      setImmediate(() => response.destroy());
    },
    {},
  ],
  timeout: [(_, response) => response.write(FRAMES[0]), { stream_timeout_ms: 1 }],
  'malformed response': [(request) => request.socket.end('hello\r\n\r\n'), {}],
};

for (const [kind, [listener, options]] of Object.entries(failing)) {
  t.test(`a failed stream is counted as '${kind}' and not as a stream`, async (t) => {
    const { url } = await serve(t, listener);
    const report = await runLoad({ url, connections: 1, streams: 2, ...options });
    t.match(report, { streams: 0, events: 0, errors: { [kind]: 2 } });
    t.match(formatReport(report), new RegExp(`${kind} +2`));
  });
}

t.test('a load whose connections are all rejected ends before its time', async (t) => {
  let asked = 0;
  const { url } = await serve(t, (_, response) => {
    asked += 1;
    response.writeHead(400).end('{"error":"agent not found: bench"}');
  });
  const report = await runLoad({ url, connections: 3, duration_ms: 600_000 });
  t.strictSame(report.errors, { 'status 400: agent not found: bench': asked });
  t.ok(asked < 10);
});

t.test('a load continues after responses that ask it to wait', async (t) => {
  let asked = 0;
  const { url } = await serve(t, (request, response) => {
    asked += 1;
    if (asked < 4) response.writeHead(429).end('{}');
    else stream(request, response);
  });
  const report = await runLoad({ url, connections: 1, streams: 5 });
  t.match(report, { streams: 2, errors: { 'status 429': 3 } });
});

t.test('errors with ever-changing reasons are counted by their status', async (t) => {
  let asked = 0;
  const { url } = await serve(t, (_, response) => {
    asked += 1;
    response.writeHead(500).end(JSON.stringify({ error: `${asked} ${'x'.repeat(9999)}` }));
  });
  const { errors } = await runLoad({ url, connections: 1, streams: 25 });
  t.equal(Object.keys(errors).length, 21);
  t.equal(errors['status 500'], 5);
  t.ok(Object.keys(errors).every((kind) => kind.length < 250));
});

t.test('opens a new connection after a server closes one at the end of a stream', async (t) => {
  const { url, connections } = await serve(t, (request, response) => {
    response.setHeader('connection', 'close');
    stream(request, response);
  });
  const report = await runLoad({ url, connections: 1, streams: 3 });
  t.match(report, { streams: 3, errors: {} });
  t.equal(connections(), 4);
});

t.test('a load ends when the server stops', async (t) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      server.close();
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const report = await runLoad({ url: urlOf(server.address()), connections: 1, duration_ms: 600_000 });
  t.match(report, { streams: 0, errors: { 'connection lost': 1, 'connection failed': 3 } });
});

t.test('a load without a listening server reports that', async (t) => {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = urlOf(server.address());
  await new Promise((resolve) => server.close(resolve));
  await t.rejects(runLoad({ url, streams: 1 }), new LoadError(`no server at ${url}: ECONNREFUSED`));
});

t.test('names every wrong option', async (t) => {
  const wrong = {
    url: 'ftp://x',
    connections: 0,
    duration_ms: -1,
    headers: { a: 'b\r\nc: d' },
    colour: 'red',
  };
  const failure = await runLoad(wrong as LoadOptions).catch((error: unknown) => error);
  if (!(failure instanceof LoadError)) throw new Error('it was accepted');
  for (const part of [
    'url: must be an http',
    'connections: ',
    'duration_ms: ',
    'headers.a: must be',
    'colour',
  ]) {
    t.match(failure.message, part);
  }
  t.notMatch(failure.message, /(?:^|; ): /, 'an error of several options has no option name');
  await t.rejects(runLoad({ url: 'http://127.0.0.1:1' }), { message: /duration_ms, streams, or both/ });
});

t.test('durations consist of a number and a unit', (t) => {
  t.strictSame(['250ms', '10s', '1.5m', '2h'].map(parseDuration), [250, 10_000, 90_000, 7_200_000]);
  for (const text of ['', '10', '-1s', '10 days', 's']) t.throws(() => parseDuration(text), LoadError);
  t.end();
});

t.test('a body names the agent', (t) => {
  t.match(JSON.parse(createRunBody('bench')(0)), { agentId: 'bench', messages: [{ role: 'user' }] });
  t.end();
});

t.test('a report shows rates, quantiles and the histogram', (t) => {
  const report: LoadReport = {
    url: 'http://127.0.0.1:1',
    connections: 2,
    seconds: 2,
    streams: 3000,
    events: 6000,
    bytes: 4_000_000,
    streams_per_second: 1500,
    events_per_second: 3000,
    bytes_per_second: 2_000_000,
    ttft_ms: { count: 0, p50: 0, p90: 0, p99: 0, max: 0 },
    latency_ms: { count: 3000, p50: 1, p90: 2.5, p99: 12, max: 1234.5 },
    latency_buckets: [
      { from_ms: 1.024, to_ms: 2.048, count: 2000 },
      { from_ms: 2.048, to_ms: 4.096, count: 1000 },
    ],
    errors: {},
  };
  t.matchOnly(formatReport(report).split('\n'), [
    'http://127.0.0.1:1, 2 connections, 2.0 s',
    '',
    '         total  per second',
    'streams  3,000       1,500',
    'events   6,000       3,000',
    'MB         4.0         2.0',
    '',
    'ms             p50   p90   p99    max',
    'first token      -     -     -      -',
    'whole stream  1.00  2.50  12.0  1,235',
    '',
    '1.02 to 2.05  2,000  ########################################',
    '2.05 to 4.10  1,000  ####################',
    '',
    'no errors',
    '',
  ]);
  t.end();
});

t.test('streams at a fixed arrival rate do not wait for earlier ones', async (t) => {
  const waiting = new Set<() => void>();
  const { url, connections } = await serve(t, (_, response) => {
    waiting.add(() => stream(_, response));
    if (waiting.size === 3) for (const answer of waiting) answer();
  });
  const report = await runLoad({ url, connections: 3, streams: 3, arrivals_per_second: 100 });
  t.match(report, { streams: 3, errors: {} }, 'all streams are open at the same time');
  t.equal(connections(), 4);
});

t.test('a stream without a free connection is timed from its arrival', async (t) => {
  const { url } = await serve(t, (request, response) => {
    setTimeout(() => stream(request, response), 100);
  });
  const samples: Sample[] = [];
  const load = { url, connections: 1, streams: 2, arrivals_per_second: 1000 };
  const report = await runLoad({ ...load, onSample: (sample) => samples.push(sample) });
  t.match(report, { streams: 2, errors: {} });
  t.ok((samples[1]?.latency_ms ?? 0) > 150, 'the latency includes the wait for the earlier stream');
});

t.test('a load with an arrival rate ends at its time', async (t) => {
  const { url } = await serve(t, stream);
  const report = await runLoad({ url, connections: 4, duration_ms: 300, arrivals_per_second: 50 });
  t.ok(report.streams > 0);
  t.strictSame(report.errors, {});
});

t.test('streams arrive at random at the given rate, at the same times in every load', (t) => {
  const arrivals = createArrivals(100, 0).until(100_000);
  t.ok(Math.abs(arrivals.length - 10_000) < 300);
  const gaps = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? 0));
  const late = gaps.filter((gap) => gap > 20).length / gaps.length;
  t.ok(Math.abs(late - Math.exp(-2)) < 0.02, 'the gaps are exponentially distributed');
  const again = createArrivals(100, 0);
  t.strictSame(
    [...again.until(40), ...again.until(1000)],
    arrivals.filter((at) => at <= 1000),
  );
  t.end();
});
