import { z } from 'zod';

/** What routes say of their answers, their headers and their errors, for the OpenAPI document. */

/** The schema of a JSON body, the description of an answer without one, or all about it. */
export type Answer = z.ZodType | string | DescribedAnswer;

export type DescribedAnswer = {
  description: string;
  /** By media type; for `text/event-stream` it is the schema of what the `data` of one frame holds. */
  content?: Readonly<Record<string, z.ZodType>>;
  /** By name: what it says. */
  headers?: Readonly<Record<string, string>>;
};

/** How errors are said by the routes of one protocol. */
export type ErrorDescription = {
  schema: z.ZodType;
  /** Before the names of its responses, such as `A2a` for `A2aNotFound`. */
  prefix: string;
  /** JSON is always one. */
  types?: readonly string[];
};

export const EVENT_STREAM = 'text/event-stream';

/**
 * An event stream.
 *
 * @param frame of the JSON in the `data` of one frame
 * @param about what is streamed, and when it ends
 * @example responses: { 200: eventStream(RunEvent, 'events of the run, until it ends') }
 */
export const eventStream = (frame: z.ZodType, about: string): DescribedAnswer => ({
  description: `Server-sent events: ${about}. The schema is that of the JSON in the \`data\` of one event.`,
  content: { [EVENT_STREAM]: frame },
});

/** Every request header that a route may look at, and what it is for. */
export const REQUEST_HEADERS = {
  'X-Request-Id': z
    .string()
    .max(128)
    .meta({ description: 'Names the request, in its answer, in the log and in the audit log.' }),
  'Last-Event-ID': z
    .string()
    .meta({ description: 'The id of the last event that the client has: the stream goes on behind it.' }),
  'X-Service-Actor': z
    .string()
    .max(64)
    .meta({ description: 'Who acts, as a label for the audit log: printable ASCII.' }),
  traceparent: z.string().meta({ description: 'The trace that the run belongs to (W3C Trace Context).' }),
  tracestate: z.string().meta({ description: 'What vendors say of that trace (W3C Trace Context).' }),
  Prefer: z.string().meta({ description: '`respond-async`: answer at once, with 202.' }),
  'If-None-Match': z.string().meta({ description: 'The `ETag` of the answer that the client has.' }),
  'A2A-Version': z.string().meta({
    description: 'The version of A2A that the client speaks: `1.0`, or nothing.',
    examples: ['1.0'],
  }),
  'MCP-Session-Id': z.string().meta({ description: 'The session that `initialize` has opened.' }),
  'MCP-Protocol-Version': z
    .string()
    .meta({ description: 'The version of MCP that the session has agreed on.' }),
} as const satisfies Record<string, z.ZodType>;

export type RequestHeaderName = keyof typeof REQUEST_HEADERS;

/** Where a run begins. */
export const TRACE_HEADERS = ['traceparent', 'tracestate'] as const satisfies readonly RequestHeaderName[];

/**
 * Metadata of a body: what a client may write. zod itself leaves out examples of what is made into something else.
 *
 * @example z.object({ title: z.string() }).transform(({ title }) => title).meta(examples({ title: 'Rome' }))
 */
export const examples = (...written: readonly unknown[]) => ({
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    Object.assign(jsonSchema, { examples: written });
  },
});
