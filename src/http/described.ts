import { z } from 'zod';

/** Descriptions of responses, headers and errors for the OpenAPI document. */

/** The schema of a JSON body, the description of a response without a body, or a complete description. */
export type Answer = z.ZodType | string | DescribedAnswer;

export type DescribedAnswer = {
  description: string;
  /** Schemas by media type. The schema of `text/event-stream` describes the `data` of one frame. */
  content?: Readonly<Record<string, z.ZodType>>;
  /** Descriptions by header name. */
  headers?: Readonly<Record<string, string>>;
};

/** The form of the errors of one protocol. */
export type ErrorDescription = {
  schema: z.ZodType;
  /** Prefix of the names of its responses, such as `A2a` in `A2aNotFound`. */
  prefix: string;
  /** Additional media types; JSON is always one. */
  types?: readonly string[];
};

export const EVENT_STREAM = 'text/event-stream';

/**
 * Describes an event stream.
 *
 * @param frame the schema of the JSON in the `data` of one frame
 * @param about the streamed content and the condition that ends it
 * @example responses: { 200: eventStream(RunEvent, 'events of the run, until it ends') }
 */
export const eventStream = (frame: z.ZodType, about: string): DescribedAnswer => ({
  description: `Server-sent events: ${about}. The schema is that of the JSON in the \`data\` of one event.`,
  content: { [EVENT_STREAM]: frame },
});

/** Returns whether a GET route sends an event stream, which `EventSource` may open. */
export const isEventStream = ({
  method,
  spec: { responses },
}: {
  method: string;
  spec: { responses: Readonly<Record<number, Answer>> };
}): boolean => {
  const answer = responses[200];
  const isDescribed = typeof answer === 'object' && !(answer instanceof z.ZodType);
  return method === 'get' && isDescribed && EVENT_STREAM in (answer.content ?? {});
};

/** All request headers that routes may read, with their purpose. */
export const REQUEST_HEADERS = {
  'X-Request-Id': z
    .string()
    .max(128)
    .meta({ description: 'Id of the request in its response, the log and the audit log.' }),
  'Idempotency-Key': z.string().min(1).max(255).meta({
    description:
      'Repeats of an accepted request with the same key and content execute nothing and receive its response.',
  }),
  'Last-Event-ID': z
    .string()
    .meta({ description: 'Id of the last event that the client received; the stream continues after it.' }),
  'X-Service-Actor': z
    .string()
    .max(64)
    .meta({ description: 'Name of the actor for the audit log: printable ASCII.' }),
  traceparent: z.string().meta({ description: 'The trace that the run belongs to (W3C Trace Context).' }),
  tracestate: z.string().meta({ description: 'Vendor data of that trace (W3C Trace Context).' }),
  'X-Troupe-Thread-Id': z.string().meta({
    description: 'The thread of a chat completion; it is made if it does not exist.',
  }),
  Prefer: z.string().meta({ description: '`respond-async`: respond at once with 202.' }),
  'If-None-Match': z.string().meta({ description: 'The `ETag` of the response that the client has cached.' }),
  Range: z.string().meta({ description: 'One range of bytes.', examples: ['bytes=0-1023'] }),
  'A2A-Version': z.string().meta({
    description: 'A2A version of the client: `1.0`, or empty.',
    examples: ['1.0'],
  }),
  'MCP-Session-Id': z.string().meta({ description: 'The session that `initialize` opened.' }),
  'MCP-Protocol-Version': z.string().meta({ description: 'The MCP version that the session negotiated.' }),
} as const satisfies Record<string, z.ZodType>;

export type RequestHeaderName = keyof typeof REQUEST_HEADERS;

/** Headers of the routes that start a run. */
export const TRACE_HEADERS = ['traceparent', 'tracestate'] as const satisfies readonly RequestHeaderName[];

/**
 * Returns the metadata of a body with examples of valid input. zod itself omits the examples of transformed schemas.
 *
 * @example z.object({ title: z.string() }).transform(({ title }) => title).meta(examples({ title: 'Rome' }))
 */
export const examples = (...written: readonly unknown[]) => ({
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    Object.assign(jsonSchema, { examples: written });
  },
});
