import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ExportTarget, OtelConfig, Protocol } from './config.ts';
import type { Exporters } from './exporters.ts';
import { createGenAiMetrics } from './gen-ai-metrics.ts';
import type { Otel, OtelDeps } from './otel.ts';
import { createReplaySpans, createRunSpans } from './run-spans.ts';

/**
 * Adapter for the SDK of OpenTelemetry. Batches and their limits are those of the SDK: at most 2048 spans are queued
 * for an unavailable collector, and further ones are dropped.
 */

const GRPC_PACKAGES = '@opentelemetry/exporter-trace-otlp-grpc and @opentelemetry/exporter-metrics-otlp-grpc';

/**
 * The packages of gRPC are larger than all other dependencies together, so they are not part of Troupe. They read
 * headers from the variables of the process only.
 */
const loadGrpc = (): Promise<{ exporters: Exporters }> =>
  import('./exporters-grpc.ts').catch((cause: unknown) => {
    throw new Error(
      `OTLP over grpc needs the packages ${GRPC_PACKAGES}, which are not installed; http/protobuf and http/json need none`,
      { cause },
    );
  });

/** Each protocol is loaded only if it is configured. */
const LOAD: Record<Protocol, () => Promise<{ exporters: Exporters }>> = {
  'http/protobuf': () => import('./exporters-protobuf.ts'),
  'http/json': () => import('./exporters-json.ts'),
  grpc: loadGrpc,
};

const STOP_MS = 3000;
const SCOPE = 'troupe';

const load = async ({ protocol }: ExportTarget): Promise<Exporters> => (await LOAD[protocol]()).exporters;

export const startSdk = async (config: OtelConfig, deps: OtelDeps): Promise<Otel> => {
  const { version, ...about } = deps;
  const resource = detectResources({ detectors: [envDetector] }).merge(
    resourceFromAttributes({
      'service.name': config.serviceName,
      'service.version': config.serviceVersion ?? version,
    }),
  );
  const ids = { traceId: '', spanId: '' };
  const spans = config.traces && new BatchSpanProcessor((await load(config.traces)).traces(config.traces));
  const tracers =
    spans &&
    new BasicTracerProvider({
      resource,
      spanProcessors: [spans],
      idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    });
  const meters =
    config.metrics &&
    new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: (await load(config.metrics)).metrics(config.metrics),
          exportIntervalMillis: config.metricIntervalMillis,
          exportTimeoutMillis: Math.min(config.metricIntervalMillis, config.metrics.timeoutMillis),
        }),
      ],
    });
  const spanDeps = tracers && { ...about, ids, tracer: tracers.getTracer(SCOPE, version) };
  return {
    runs: spanDeps && createRunSpans(spanDeps),
    replay: spanDeps && (() => createReplaySpans(spanDeps)),
    metrics: meters && createGenAiMetrics(meters.getMeter(SCOPE, version)),
    async stop() {
      // A hanging collector must not prevent the stop.
      const inTime = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
      const done = Promise.allSettled([tracers?.shutdown(), meters?.shutdown()]);
      await Promise.race([done, inTime]);
    },
  };
};
