import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ExportTarget } from './config.ts';

export type Exporters = {
  traces(target: ExportTarget): SpanExporter;
  metrics(target: ExportTarget): PushMetricExporter;
};
