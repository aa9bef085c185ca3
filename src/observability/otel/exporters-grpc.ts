import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import type { Exporters } from './exporters.ts';

export const exporters: Exporters = {
  traces: ({ url, timeoutMillis }) => new OTLPTraceExporter({ url, timeoutMillis }),
  metrics: ({ url, timeoutMillis }) => new OTLPMetricExporter({ url, timeoutMillis }),
};
