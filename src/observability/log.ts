import { type DestinationStream, destination as fileDestination, pino } from 'pino';
import { isObject, REDACTED } from '../schema/endpoint.ts';
import { LOG_EVENTS, type LogEvent, type LogLevel, type ServiceLog } from '../schema/log-events.ts';
import { redactArgs } from '../schema/redaction/args.ts';
import { maskCredentials } from '../schema/redaction/credentials.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import { holdsSecrets } from '../schema/redaction/names.ts';
import { classifyValue } from '../schema/redaction/redact.ts';
import { redactUrl, redactUrlsIn } from '../schema/redaction/url.ts';

/**
 * The log: one JSON object per line, on stderr, so that stdout stays free for the output of commands.
 *
 * Guarantees: secrets of the one list (config.md 4.2) are masked at any depth of a line: fields with the name of a
 * secret, values of headers and environments, arguments of commands, and credentials in URLs, also inside of texts.
 * Other secrets in texts are not recognized: messages are constants of the table of events.
 * Cost: about 2 µs and a synchronous write per line, so nothing on the path of a token may log. pino's own wildcard
 * paths do the same masking at 4 µs per level of depth, and only to a fixed depth.
 */
export type LogOptions = { level: LogLevel | 'trace' | 'fatal' | 'silent'; destination?: DestinationStream };
export type Log = ServiceLog & { isLevelEnabled(level: string): boolean };

const stderr = 2;

/** Deeper values are not printed; this also ends cycles. */
const deepest = 6;

const isPlain = (value: object): value is Record<string, unknown> => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const maskFields = (fields: object, depth = 0, within = false): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, maskField(name, value, { depth, within })]),
  );

type MaskState = { depth: number; within: boolean };

const maskField = (name: string, value: unknown, { depth, within }: MaskState): unknown => {
  const place = classifyValue(name, value, within);
  if (place === 'secret') return REDACTED;
  if (place === 'url') return redactUrl(String(value));
  if (place === 'args' && Array.isArray(value)) return redactArgs(value);
  return mask(value, { depth, within: holdsSecrets(name) });
};

const mask = (value: unknown, { depth, within }: MaskState): unknown => {
  if (typeof value === 'string') return maskCredentials(redactUrlsIn(value));
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof URL) return redactUrl(value.href);
  if (depth > deepest) return '[…]';
  if (Array.isArray(value)) {
    return value.map((item) => maskField('', item, { depth: depth + 1, within }));
  }
  return isPlain(value) ? maskFields(value, depth + 1, within) : value;
};

/** An error may contain text of a peer, however deeply wrapped: its message, its stack and its causes are masked. */
const serializeError = (error: unknown): unknown =>
  error instanceof Error ? maskTexts(maskFields(pino.stdSerializers.err(error))) : error;

const maskTexts = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskForeign(value) : isObject(value) ? maskTexts(value) : value,
    ]),
  );

export const createLog = ({ level, destination = fileDestination(stderr) }: LogOptions): Log => {
  const logger = pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => maskFields(fields),
      },
      serializers: { err: serializeError },
    },
    destination,
  );
  const write =
    (level: LogLevel) =>
    (event: LogEvent, fields?: object): void =>
      logger[level]({ event, ...fields }, LOG_EVENTS[event].message);
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    isLevelEnabled: (level) => logger.isLevelEnabled(level),
  };
};
