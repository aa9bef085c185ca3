import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ExportTarget } from './config.ts';

/**
 * The exporters, each loaded when it is wanted: that of gRPC is larger than everything else together. It takes headers
 * from the variables of the process only.
 */

export const spanExporter = async (target: ExportTarget): Promise<SpanExporter> => {
  const { url, headers, timeoutMillis } = target;
  switch (target.protocol) {
    case 'http/protobuf': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
      return new OTLPTraceExporter({ url, headers, timeoutMillis });
    }
    case 'http/json': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
      return new OTLPTraceExporter({ url, headers, timeoutMillis });
    }
    case 'grpc': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
      return new OTLPTraceExporter({ url, timeoutMillis });
    }
  }
};

export const metricExporter = async (target: ExportTarget): Promise<PushMetricExporter> => {
  const { url, headers, timeoutMillis } = target;
  switch (target.protocol) {
    case 'http/protobuf': {
      const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
      return new OTLPMetricExporter({ url, headers, timeoutMillis });
    }
    case 'http/json': {
      const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-http');
      return new OTLPMetricExporter({ url, headers, timeoutMillis });
    }
    case 'grpc': {
      const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc');
      return new OTLPMetricExporter({ url, timeoutMillis });
    }
  }
};
