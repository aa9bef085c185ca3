import { isObject, type Json, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
import { redact } from '../../schema/redaction/redact.ts';

/**
 * Reduces the arguments and results of a tool for a trace (evals-and-traces.md 9.7): to the allowed fields, without
 * secrets, up to a size. Masks more than the redaction of the service: in payloads of unknown shape every name that
 * contains, for example, `token` or `session` counts as the name of a secret.
 */

export type PayloadPolicy = {
  /** Undefined allows all fields. */
  fields: readonly string[] | undefined;
  maxBytes: number;
  redact?: Redact | undefined;
};

/**
 * A redaction function of the embedding program, applied before that of the service: to arguments and results of tools,
 * and to the input and output of models (`content`: lists of blocks, of calls or of messages). It receives a mutable
 * copy and returns the value to show; if it throws, the value is replaced by `***`.
 */
export type Redact = (value: Json, kind: 'arguments' | 'result' | 'content') => Json;

export const redacted = (value: Json, kind: Parameters<Redact>[1], { redact: own }: PayloadPolicy): Json => {
  if (!own) return value;
  try {
    return own(structuredClone(value), kind);
  } catch {
    return REDACTED;
  }
};

const TELLING = [
  'secret',
  'token',
  'password',
  'api_key',
  'apikey',
  'authorization',
  'auth',
  'credential',
  'bearer',
  'private_key',
  'access_key',
  'cookie',
  'session',
  'jwt',
];

const isTelling = (key: string): boolean => {
  const name = key.toLowerCase().replaceAll('-', '_');
  return TELLING.some((part) => name.includes(part));
};

const hidden = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(hidden);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, isTelling(key) ? REDACTED : hidden(member)]),
  );
};

const isJsonObject = (value: Json): value is JsonObject => isObject(value);

const allowed = (value: Json, fields: readonly string[]): Json => {
  if (Array.isArray(value)) return value.map((item) => allowed(item, fields));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      fields.includes(key) ? [[key, allowed(member, fields)]] : [],
    ),
  );
};

const VALUE = 'value';

/** Also removes secrets in URLs and command lines. */
export const withoutSecrets = (value: Json): Json => redact({ [VALUE]: hidden(value) })[VALUE] ?? null;

export const shownPayload = (value: Json, kind: 'arguments' | 'result', policy: PayloadPolicy): Json => {
  const { fields, maxBytes } = policy;
  const shown = withoutSecrets(redacted(fields ? allowed(value, fields) : value, kind, policy));
  const size = Buffer.byteLength(JSON.stringify(shown));
  if (size <= maxBytes) return shown;
  return { __payload_truncated: true, original_size_bytes: size, max_payload_bytes: maxBytes };
};
