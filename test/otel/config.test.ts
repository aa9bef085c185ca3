import { buildSync } from 'esbuild';
import t from 'tap';
import { otelConfigOf } from '../../src/otel/config.ts';
import { startOtel } from '../../src/otel/index.ts';

/** When telemetry is exported, and to where: evals-and-traces.md 12. */

const BASE = 'http://127.0.0.1:4318';

t.test('nothing is configured by nothing, or when it is turned off', (t) => {
  t.equal(otelConfigOf({}), undefined);
  t.equal(otelConfigOf({ OTEL_EXPORTER_OTLP_ENDPOINT: '  ' }), undefined);
  t.equal(otelConfigOf({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_SDK_DISABLED: 'TRUE' }), undefined);
  const none = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' };
  t.equal(otelConfigOf({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, ...none }), undefined);
  t.end();
});

t.test('the base address gets a path, that of a signal is taken as it is', (t) => {
  t.match(otelConfigOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `${BASE}/x/` }), {
    traces: { url: `${BASE}/x/v1/traces`, protocol: 'http/protobuf', timeoutMillis: 10_000, headers: {} },
    metrics: { url: `${BASE}/x/v1/metrics` },
    serviceName: 'troupe',
  });
  const own = otelConfigOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${BASE}/mine` });
  t.match(own, { traces: { url: `${BASE}/mine` } });
  t.equal(own?.metrics, undefined);
  const grpc = otelConfigOf({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  t.match(grpc, { traces: { url: BASE, protocol: 'grpc' }, metrics: { url: BASE } });
  t.end();
});

t.test('what is said of one signal goes over what is said of all', (t) => {
  const config = otelConfigOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: BASE,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'carrier/pigeon',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=x%20y',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'c=3',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: 'soon',
    OTEL_SERVICE_NAME: 'desk',
    OTEL_SERVICE_VERSION: '9',
  });
  t.match(config, {
    traces: { protocol: 'http/json', headers: { a: '1', b: 'x y' }, timeoutMillis: 500 },
    metrics: { protocol: 'http/protobuf', headers: { c: '3' }, timeoutMillis: 10_000 },
    serviceName: 'desk',
    serviceVersion: '9',
  });
  t.end();
});

t.test(
  'what cannot be used is one line of the log, without what it says, and nothing is exported',
  async (t) => {
    const deps: Parameters<typeof startOtel>[1] = {
      version: '1',
      clock: { now: Date.now },
      capture: {
        content: false,
        tool_io: 'disabled',
        payload: { fields: undefined, maxBytes: 1, redact: undefined },
      },
      release_tag: undefined,
      prefix: 'p.',
      observes: () => true,
      agentOf: () => undefined,
    };
    for (const env of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:SECRET@nowhere' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://SECRET' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_EXPORTER_OTLP_HEADERS: 'SECRET' },
    ]) {
      const lines: string[] = [];
      const warn = (data: object, text: string): void => {
        lines.push(`${text} ${'err' in data ? data.err : ''}`);
      };
      t.equal(await startOtel(env, deps, { warn }), undefined);
      t.equal(lines.length, 1);
      t.notMatch(lines[0], 'SECRET');
    }
  },
);

t.test('a service loads nothing of OpenTelemetry unless it is asked to export', (t) => {
  const { metafile } = buildSync({
    entryPoints: ['src/app.ts'],
    bundle: true,
    splitting: true,
    metafile: true,
    write: false,
    platform: 'node',
    format: 'esm',
    outdir: 'dist',
    packages: 'bundle',
    external: ['elkjs', 'lmdb', 'msgpackr', 'uWebSockets.js', 'xstate'],
    logLevel: 'silent',
  });
  const loaded = new Set<string>();
  const load = (output: string): void => {
    if (loaded.has(output)) return;
    loaded.add(output);
    for (const { path, kind } of metafile.outputs[output]?.imports ?? []) {
      if (kind === 'import-statement' && metafile.outputs[path]) load(path);
    }
  };
  load('dist/app.js');
  // prom-client has the interfaces of OpenTelemetry for itself.
  const isOtel = (input: string): boolean => /@opentelemetry\/(?!api\/)|@grpc/.test(input);
  const inputsOf = (outputs: Iterable<string>): string[] =>
    [...outputs].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}));
  t.ok(inputsOf(loaded).includes('src/app.ts'));
  t.ok(inputsOf(Object.keys(metafile.outputs)).some(isOtel), 'it is there when it is wanted');
  t.strictSame(inputsOf(loaded).filter(isOtel), []);
  t.end();
});
