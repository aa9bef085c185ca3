import { type DestinationStream, destination as fileDestination, type Level, type Logger, pino } from 'pino';

/**
 * The log: one JSON object a line, on stderr, so that stdout stays free for what a command prints.
 *
 * Guarantees that a field named like a credential is masked, however deep it lies in a line (in the bindings of
 * a child logger: at their top, which is where ids go). It cannot see into strings: no message may quote a
 * header or a setting.
 * Costs about 2 µs and a synchronous write a line, so nothing on the path of a token may log. pino's own
 * wildcard paths do the same masking at 4 µs a level of depth, and only to a fixed depth.
 */
export type LogOptions = { level: Level | 'silent'; destination?: DestinationStream };
export type Log = Logger;

const stderr = 2;
const masked = '***';

/** `authorization`, `x-api-key`, `apiKey`, `bearer_token`, `SERVICE_SECRETS_KEY`, but not `prompt_tokens` or `dedupe_key`. */
const credential =
  /(?:^|[_-]|access|bearer|refresh|client)(?:authorization|cookie|token|secret|secrets[_-]?key|api[_-]?key|password)$/i;

const bindingPaths = ['authorization', 'cookie', 'token', 'bearer_token', 'api_key', 'secret', 'password'];

/** What lies deeper is not printed; it also ends cycles. */
const deepest = 6;

const isPlain = (value: object): value is Record<string, unknown> => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const maskFields = (fields: object, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      credential.test(name) ? masked : mask(value, depth),
    ]),
  );

const mask = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepest) return '[…]';
  if (Array.isArray(value)) return value.map((item) => mask(item, depth + 1));
  return isPlain(value) ? maskFields(value, depth + 1) : value;
};

const serializeError = (error: unknown): unknown =>
  error instanceof Error ? maskFields(pino.stdSerializers.err(error), 0) : error;

export const createLog = ({ level, destination = fileDestination(stderr) }: LogOptions): Log =>
  pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => maskFields(fields, 0),
      },
      serializers: { err: serializeError },
      redact: { paths: bindingPaths, censor: masked },
    },
    destination,
  );
