import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Exporters } from './exporters.ts';

export const exporters: Exporters = {
  traces: ({ url, headers, timeoutMillis }) => new OTLPTraceExporter({ url, headers, timeoutMillis }),
  metrics: ({ url, headers, timeoutMillis }) => new OTLPMetricExporter({ url, headers, timeoutMillis }),
};
