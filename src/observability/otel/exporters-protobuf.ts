import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { Exporters } from './exporters.ts';

export const exporters: Exporters = {
  traces: ({ url, headers, timeoutMillis }) => new OTLPTraceExporter({ url, headers, timeoutMillis }),
  metrics: ({ url, headers, timeoutMillis }) => new OTLPMetricExporter({ url, headers, timeoutMillis }),
};
