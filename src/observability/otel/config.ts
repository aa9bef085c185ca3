import { withoutTrailingSlashes } from '../../schema/trailing-slashes.ts';

/**
 * Determines whether and how telemetry is exported (evals-and-traces.md 12). The variables are those of OpenTelemetry,
 * which is not loaded for reading them. The SDK itself reads all variables that are not listed here (samplers, batches,
 * limits, resource attributes, intervals).
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables whose values may contain credentials. */
export const HEADER_VARIABLES = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
] as const;

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export type ExportTarget = {
  url: string;
  protocol: Protocol;
  headers: Record<string, string>;
  timeoutMillis: number;
};

export type OtelConfig = {
  traces: ExportTarget | undefined;
  metrics: ExportTarget | undefined;
  serviceName: string;
  serviceVersion: string | undefined;
  metricIntervalMillis: number;
};

type Signal = 'TRACES' | 'METRICS';

/**
 * Returns undefined when nothing is exported.
 *
 * @throws Error for an unusable URL or header
 */
export const readOtelConfig = (env: Environment): OtelConfig | undefined => {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const traces = read('OTEL_TRACES_EXPORTER') === 'none' ? undefined : targetOf(read, 'TRACES');
  const metrics = read('OTEL_METRICS_EXPORTER') === 'none' ? undefined : targetOf(read, 'METRICS');
  if (!traces && !metrics) return undefined;
  return {
    traces,
    metrics,
    serviceName: read('OTEL_SERVICE_NAME') ?? 'troupe',
    serviceVersion: read('OTEL_SERVICE_VERSION'),
    metricIntervalMillis: whole(read('OTEL_METRIC_EXPORT_INTERVAL')) ?? 60_000,
  };
};

const targetOf = (read: (name: string) => string | undefined, signal: Signal): ExportTarget | undefined => {
  const own = (name: string): string | undefined =>
    read(`OTEL_EXPORTER_OTLP_${signal}_${name}`) ?? read(`OTEL_EXPORTER_OTLP_${name}`);
  const verbatim = read(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
  const endpoint = verbatim ?? read('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === undefined) return undefined;
  const named = own('PROTOCOL');
  const protocol = PROTOCOLS.find((each) => each === named) ?? 'http/protobuf';
  const isWhole = verbatim !== undefined || protocol === 'grpc';
  return {
    url: isWhole
      ? checked(endpoint)
      : `${withoutTrailingSlashes(checked(endpoint))}/v1/${signal.toLowerCase()}`,
    protocol,
    headers: headersOf(own('HEADERS') ?? ''),
    timeoutMillis: whole(own('TIMEOUT')) ?? 10_000,
  };
};

/** The error does not quote the URL, which may contain a key. */
const checked = (endpoint: string): string => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error('the OTLP endpoint must be an address with http or https');
  return endpoint;
};

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** `k=v,k2=v2`, percent-encoded. */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => {
        const at = pair.indexOf('=');
        const name = pair.slice(0, Math.max(0, at)).trim();
        if (!HEADER_NAME.test(name)) throw new Error('a header of the OTLP exporter must be name=value');
        return [name, decoded(pair.slice(at + 1).trim())];
      }),
  );

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

const whole = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
