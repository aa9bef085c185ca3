import { isObject, type Json, type JsonObject, REDACTED } from '../schema/endpoint.ts';
import { redact } from '../schema/redaction/redact.ts';

/**
 * What of a tool's arguments and results a trace shows (evals-and-traces.md 9.7): the fields that are allowed, without
 * secrets, up to a size. Hides what the redaction of the service hides, and more: in a payload of a stranger a name
 * that has `token` or `session` in it anywhere is taken for that of a secret.
 */

export type PayloadPolicy = {
  /** Undefined allows all. */
  fields: readonly string[] | undefined;
  maxBytes: number;
  redact?: Redact | undefined;
};

/**
 * A program's own redaction, before that of the service: of arguments and results of tools, and of what models are
 * told and answer (`content`: lists of blocks, of calls or of messages). Gets a value that it may change, and tells
 * what is shown; in place of one that it fails on there is `***`.
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

/** Also what secret parts addresses and command lines have. */
export const withoutSecrets = (value: Json): Json => redact({ [VALUE]: hidden(value) })[VALUE] ?? null;

export const shownPayload = (value: Json, kind: 'arguments' | 'result', policy: PayloadPolicy): Json => {
  const { fields, maxBytes } = policy;
  const shown = withoutSecrets(redacted(fields ? allowed(value, fields) : value, kind, policy));
  const size = Buffer.byteLength(JSON.stringify(shown));
  if (size <= maxBytes) return shown;
  return { __payload_truncated: true, original_size_bytes: size, max_payload_bytes: maxBytes };
};
