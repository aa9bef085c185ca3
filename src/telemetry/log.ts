import { type DestinationStream, destination as fileDestination, type Level, type Logger, pino } from 'pino';
import { isObject, REDACTED } from '../schema/endpoint.ts';
import { redactArgs } from '../schema/redaction/args.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import { holdsSecrets } from '../schema/redaction/names.ts';
import { placeOf } from '../schema/redaction/redact.ts';
import { redactUrl, redactUrlsIn } from '../schema/redaction/url.ts';

/**
 * The log: one JSON object a line, on stderr, so that stdout stays free for what a command prints.
 *
 * Guarantees that what the one list of secrets knows (config.md 4.2) is masked, however deep it lies in a line: fields
 * named like a secret, values of headers and environments, arguments of commands, and what addresses hold, also those
 * in the middle of a text. It knows no other secret in a text: no message may quote a header or a setting.
 * Costs about 2 µs and a synchronous write a line, so nothing on the path of a token may log. pino's own
 * wildcard paths do the same masking at 4 µs a level of depth, and only to a fixed depth.
 */
export type LogOptions = { level: Level | 'silent'; destination?: DestinationStream };
export type Log = Logger;

const stderr = 2;

/** What lies deeper is not printed; it also ends cycles. */
const deepest = 6;

const isPlain = (value: object): value is Record<string, unknown> => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const maskFields = (fields: object, depth = 0, within = false): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, maskField(name, value, { depth, within })]),
  );

type Around = { depth: number; within: boolean };

const maskField = (name: string, value: unknown, { depth, within }: Around): unknown => {
  const place = placeOf(name, value, within);
  if (place === 'secret') return REDACTED;
  if (place === 'url') return redactUrl(String(value));
  if (place === 'args' && Array.isArray(value)) return redactArgs(value);
  return mask(value, { depth, within: holdsSecrets(name) });
};

const mask = (value: unknown, { depth, within }: Around): unknown => {
  if (typeof value === 'string') return redactUrlsIn(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof URL) return redactUrl(value.href);
  if (depth > deepest) return '[…]';
  if (Array.isArray(value)) {
    return value.map((item) => maskField('', item, { depth: depth + 1, within }));
  }
  return isPlain(value) ? maskFields(value, depth + 1, within) : value;
};

/** An error may come from a peer, whatever it passed through: its words, its stack and its causes are masked. */
const serializeError = (error: unknown): unknown =>
  error instanceof Error ? maskTexts(maskFields(pino.stdSerializers.err(error))) : error;

const maskTexts = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskForeign(value) : isObject(value) ? maskTexts(value) : value,
    ]),
  );

const redactedText = (given: unknown): unknown => (typeof given === 'string' ? redactUrlsIn(given) : given);

export const createLog = ({ level, destination = fileDestination(stderr) }: LogOptions): Log => {
  const log: Log = pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => maskFields(fields),
      },
      serializers: { err: serializeError },
      hooks: {
        logMethod(given, write) {
          const [first, ...others]: unknown[] = given;
          // An error alone would be its own text. Fields come to the formatter.
          const texts = first instanceof Error && others.length === 0 ? [first.message] : others;
          write.apply(this, [redactedText(first), ...texts.map(redactedText)] as typeof given);
        },
      },
    },
    destination,
  );
  // Bindings meet no formatter. Descendants inherit this, each with the bindings of its own.
  const { child } = log;
  log.child = function bound(this: Log, ...[bindings, options]: Parameters<typeof child>) {
    return child.call(this, maskFields(bindings), options);
  } as typeof child;
  return log;
};
