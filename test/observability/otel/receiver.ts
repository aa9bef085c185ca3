import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import type { Test } from 'tap';
import { z } from 'zod';
import { when } from '../../http/serve.ts';

/**
 * A collector: OTLP over HTTP, as protobuf and as JSON, and over gRPC. The messages are those of opentelemetry-proto
 * 1.x, with the fields that the tests check. A field with another number or type is not decoded.
 */

const PROTO = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3;
  double double_value = 4; ArrayValue array_value = 5; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Status { string message = 2; int32 code = 3; }
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Span { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
  string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15; fixed32 flags = 16; }
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
message Point { repeated KeyValue attributes = 9; fixed64 count = 4; double sum = 5;
  repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; }
message Histogram { repeated Point data_points = 1; int32 aggregation_temporality = 2; }
message Metric { string name = 1; string description = 2; string unit = 3; Histogram histogram = 9; }
message ScopeMetrics { repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Metrics { repeated ResourceMetrics resource_metrics = 1; }
`;

const types = protobuf.parse(PROTO).root;

const decoded = (type: 'Traces' | 'Metrics', body: Buffer): unknown =>
  types.lookupType(type).toObject(types.lookupType(type).decode(body), { longs: String, bytes: Buffer });

type Value = string | number | boolean | Value[];

const AnyValue: z.ZodType<Value> = z.lazy(() =>
  z
    .object({
      stringValue: z.string().optional(),
      boolValue: z.boolean().optional(),
      intValue: z.union([z.string(), z.number()]).optional(),
      doubleValue: z.number().optional(),
      arrayValue: z.object({ values: z.array(AnyValue).default([]) }).optional(),
    })
    .transform(
      (each): Value =>
        each.stringValue ??
        each.boolValue ??
        (each.intValue === undefined ? undefined : Number(each.intValue)) ??
        each.doubleValue ??
        each.arrayValue?.values ??
        '',
    ),
);

const Attributes = z
  .array(z.object({ key: z.string(), value: AnyValue }))
  .default([])
  .transform((all): Record<string, Value> => Object.fromEntries(all.map(({ key, value }) => [key, value])));

/** JSON has ids as hexadecimal text, protobuf as bytes. */
const Id = z
  .union([z.string(), z.instanceof(Buffer).transform((bytes) => bytes.toString('hex'))])
  .default('');

const Span = z.object({
  traceId: Id,
  spanId: Id,
  parentSpanId: Id,
  traceState: z.string().default(''),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: Attributes,
  events: z.array(z.object({ name: z.string(), attributes: Attributes })).default([]),
  status: z.object({ code: z.number().default(0), message: z.string().default('') }).prefault({}),
});
export type ReceivedSpan = z.infer<typeof Span>;

const Resource = z.object({ attributes: Attributes }).prefault({});

const Traces = z.object({
  resourceSpans: z.array(
    z.object({ resource: Resource, scopeSpans: z.array(z.object({ spans: z.array(Span) })) }),
  ),
});

const Metric = z.object({
  name: z.string(),
  unit: z.string(),
  histogram: z.object({
    dataPoints: z.array(
      z.object({
        attributes: Attributes,
        count: z.coerce.number(),
        sum: z.number(),
        explicitBounds: z.array(z.number()),
      }),
    ),
  }),
});
export type ReceivedMetric = z.infer<typeof Metric>;

const Metrics = z.object({
  resourceMetrics: z.array(z.object({ scopeMetrics: z.array(z.object({ metrics: z.array(Metric) })) })),
});

export type Receiver = {
  url: string;
  spans: ReceivedSpan[];
  metrics: ReceivedMetric[];
  resources: Record<string, Value>[];
  requests: { path: string; headers: IncomingMessage['headers'] }[];
};

const take = (receiver: Receiver, path: string, body: unknown): void => {
  if (path.endsWith('metrics') || path.includes('MetricsService')) {
    const { resourceMetrics } = Metrics.parse(body);
    for (const { scopeMetrics } of resourceMetrics)
      receiver.metrics.push(...scopeMetrics.flatMap(({ metrics }) => metrics));
    return;
  }
  for (const { resource, scopeSpans } of Traces.parse(body).resourceSpans) {
    receiver.resources.push(resource.attributes);
    receiver.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
  }
};

const bodyOf = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
};

const empty = (): Omit<Receiver, 'url'> => ({ spans: [], metrics: [], resources: [], requests: [] });

/** Stops a service and waits for its data: on a busy host an export may take longer than a stop waits for it. */
export const stopExporter = async (
  app: { stop(): Promise<void> },
  receiver: Receiver,
  expected: readonly ('spans' | 'metrics')[] = ['spans'],
): Promise<void> => {
  await app.stop();
  await when(() => expected.every((kind) => receiver[kind].length > 0));
};

/** With `answer`, that function responds instead of recording the request. */
export const startReceiver = async (
  t: Test,
  answer?: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Receiver> => {
  const receiver: Receiver = { url: '', ...empty() };
  const server = createServer((request, response) => {
    receiver.requests.push({ path: request.url ?? '', headers: request.headers });
    if (answer) return answer(request, response);
    bodyOf(request).then((body) => {
      const path = request.url ?? '';
      const isJson = request.headers['content-type'] === 'application/json';
      const type = path.endsWith('metrics') ? 'Metrics' : 'Traces';
      take(receiver, path, isJson ? JSON.parse(body.toString()) : decoded(type, body));
      response.writeHead(200, { 'content-type': request.headers['content-type'] }).end(isJson ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
};

/** A gRPC message starts with five bytes: the compression flag and the length. */
const FRAME = 5;

export const startGrpcReceiver = async (t: Test): Promise<Receiver> => {
  const receiver: Receiver = { url: '', ...empty() };
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    const path = String(headers[':path']);
    receiver.requests.push({ path, headers });
    bodyOf(stream).then((body) => {
      take(receiver, path, decoded(path.includes('Metrics') ? 'Metrics' : 'Traces', body.subarray(FRAME)));
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(FRAME));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
};
