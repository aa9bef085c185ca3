import { buildSync } from 'esbuild';
import t from 'tap';
import { readOtelConfig } from '../../../src/observability/otel/config.ts';
import { startOtel } from '../../../src/observability/otel/index.ts';

/** When and where telemetry is exported: evals-and-traces.md 12. */

const BASE = 'http://127.0.0.1:4318';

t.test('there is no configuration without variables, or when telemetry is turned off', (t) => {
  t.equal(readOtelConfig({}), undefined);
  t.equal(readOtelConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: '  ' }), undefined);
  t.equal(readOtelConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_SDK_DISABLED: 'TRUE' }), undefined);
  const none = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' };
  t.equal(readOtelConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, ...none }), undefined);
  t.end();
});

t.test('appends a path to the base address, and uses the address of a signal unchanged', (t) => {
  t.match(readOtelConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `${BASE}/x/` }), {
    traces: { url: `${BASE}/x/v1/traces`, protocol: 'http/protobuf', timeoutMillis: 10_000, headers: {} },
    metrics: { url: `${BASE}/x/v1/metrics` },
    serviceName: 'troupe',
  });
  const own = readOtelConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${BASE}/mine` });
  t.match(own, { traces: { url: `${BASE}/mine` } });
  t.equal(own?.metrics, undefined);
  const grpc = readOtelConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  t.match(grpc, { traces: { url: BASE, protocol: 'grpc' }, metrics: { url: BASE } });
  t.end();
});

t.test('settings of one signal override those of all signals', (t) => {
  const config = readOtelConfig({
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

t.test('an unusable value is one log line without the value, and nothing is exported', async (t) => {
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
    const warn = (event: string, fields: object = {}): void => {
      lines.push(`${event} ${'err' in fields ? fields.err : ''}`);
    };
    t.equal(await startOtel(env, deps, { warn }), undefined);
    t.equal(lines.length, 1);
    t.notMatch(lines[0], 'SECRET');
  }
});

t.test('a service loads no part of OpenTelemetry unless it is configured to export', (t) => {
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
  // prom-client uses the interfaces of OpenTelemetry for itself.
  const isOtel = (input: string): boolean => /@opentelemetry\/(?!api\/)|@grpc/.test(input);
  const inputsOf = (outputs: Iterable<string>): string[] =>
    [...outputs].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}));
  t.ok(inputsOf(loaded).includes('src/app.ts'));
  t.ok(
    inputsOf(Object.keys(metafile.outputs)).some(isOtel),
    'the bundle contains it for services that use it',
  );
  t.strictSame(inputsOf(loaded).filter(isOtel), []);
  t.end();
});
