import { z } from 'zod';
import { LoadError } from './error.ts';

/** Options of a load for `troupe bench` and the benchmarks. All times are milliseconds. */

const HeaderText = z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');
const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header');

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** A stream that ended with its terminal frame. */
export type Sample = {
  stream: number;
  /** From the request to the first delta; undefined if the stream had none. */
  ttft_ms: number | undefined;
  latency_ms: number;
  events: number;
};

/** `events` arrived together at `at` (`performance.now()`) on stream number `stream`. */
export type OnEvents = (stream: number, events: number, at: number) => void;

const DAY = 86_400_000;

/** Receives the body bytes of any stream. The buffer is reused: its content is valid only during the call. */
export type OnBytes = (chunk: Buffer, from: number, to: number) => void;

export const LoadOptions = z
  .strictObject({
    url: z.url({ protocol: /^http$/, error: 'must be an http:// address' }).meta({
      description: 'address of the server; without a path, POST /v1/runs',
    }),
    connections: z.int().min(1).max(50_000).default(64),
    duration_ms: z.int().min(1).max(DAY).optional().meta({ description: 'starts no stream after this time' }),
    streams: z.int().min(1).optional().meta({ description: 'starts no more streams than this' }),
    ramp_ms: z
      .int()
      .min(0)
      .max(DAY)
      .default(0)
      .meta({ description: 'time over which connections are opened' }),
    pause_ms: z.int().min(0).max(DAY).default(0).meta({ description: 'between two streams of a connection' }),
    arrivals_per_second: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .meta({
        description:
          'mean rate of random arrivals, independent of the end of earlier streams; each stream is timed from its arrival, ' +
          'and waits when no connection is free. Without it, a connection starts one when the one before has ended',
      }),
    rest_ms: z.int().min(0).max(100).default(0).meta({
      description:
        'pause between two polls of all connections: many slow streams cost less CPU time, but are read later',
    }),
    stream_timeout_ms: z.int().min(1).max(DAY).default(60_000),
    headers: z.record(HeaderName, HeaderText).default({}),
    body: z
      .custom<(stream: number) => string>(isFunction, 'must be a function')
      .default(() => createRunBody('bench')),
    first: z
      .string()
      .min(1)
      .default('"text_delta"')
      .meta({ description: 'text in the first frame that counts' }),
    terminal: z.string().min(1).default('"run_finish"').meta({ description: 'text in the last frame' }),
    onSample: z.custom<(sample: Sample) => void>(isFunction, 'must be a function').optional(),
    onEvents: z.custom<OnEvents>(isFunction, 'must be a function').optional(),
    onBytes: z.custom<OnBytes>(isFunction, 'must be a function').optional(),
  })
  .refine((load) => load.duration_ms !== undefined || load.streams !== undefined, {
    path: ['duration_ms'],
    message: 'give duration_ms, streams, or both',
  });
export type LoadOptions = z.input<typeof LoadOptions>;
export type Load = z.output<typeof LoadOptions>;

/** The body of every stream: a run of this agent on a new thread. */
export const createRunBody = (agent: string): ((stream: number) => string) => {
  const body = JSON.stringify({ agentId: agent, messages: [{ role: 'user', content: 'Go.' }] });
  return () => body;
};

/** @throws LoadError that lists every invalid option */
export const parseLoad = (options: LoadOptions): Load => {
  const parsed = LoadOptions.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new LoadError(
    parsed.error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`))
      .join('; '),
  );
};

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Converts `10s`, `500ms`, `2m` to milliseconds. @throws LoadError */
export const parseDuration = (text: string): number => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const factor = Object.entries(UNITS).find(([name]) => name === unit)?.[1];
  if (amount === undefined || factor === undefined) {
    throw new LoadError(`'${text}' is not a duration; allowed: a number and ms, s, m or h, such as 10s`);
  }
  return Math.round(Number(amount) * factor);
};
