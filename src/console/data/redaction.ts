import { isObject } from './guard.ts';
import { MASK, redactText } from './redact-text.ts';

/**
 * The second line of defense (console.md 3.11): masks everything that resembles a secret before it is shown, even where
 * the service should already have done so. Counters such as `input_tokens` and durations such as `session_duration_ms`
 * are not secrets.
 */

const WHOLE = /^(?:x?apikey|token)$/;
const ENDINGS = /(?:apikey|privatekey)$/;
const PARTS =
  /secret|password|passphrase|authorization|credential|cookie|jwt|bearer|accesskey|(?:access|refresh|id|auth|session)token/;

export const isSecretKey = (key: string): boolean => {
  const name = key.toLowerCase().replace(/[-_\s]/g, '');
  return WHOLE.test(name) || ENDINGS.test(name) || PARTS.test(name);
};

const HEADER_MAPS = new Set(['headers', 'request_headers', 'response_headers']);

const isSecretHeader = (name: string): boolean =>
  /^(authorization|proxy-authorization|cookie|set-cookie|x-auth-token)$/i.test(name) ||
  /(api-key|token)$/i.test(name);

/** Whether a member is a secret, judged by its own key and by the key that contains it. */
const isSecretAt = (key: string, parent: string | undefined): boolean =>
  (parent === 'auth' && key !== 'type') ||
  (parent !== undefined && HEADER_MAPS.has(parent.toLowerCase()) && isSecretHeader(key)) ||
  isSecretKey(key);

/** A copy of the value with every secret masked. */
export const redact = (value: unknown, parent?: string): unknown => {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((item) => redact(item, parent));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      isSecretAt(key, parent) && isHeld(member) ? MASK : redact(member, key),
    ]),
  );
};

/** True if there is a value to hide; empty values and booleans need no mask. */
const isHeld = (member: unknown): boolean =>
  member !== null && member !== undefined && member !== '' && typeof member !== 'boolean';

// ---- Editable JSON ----

const MARKER = /__TROUPE_REDACTED_SECRET_([0-9a-f]{8})__/g;

/** FNV-1a, so that a path has the same marker in every rendering. */
const hashOf = (path: string): string => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < path.length; i += 1) {
    hash = Math.imul(hash ^ path.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
};

const markerAt = (path: string): string => `__TROUPE_REDACTED_SECRET_${hashOf(path)}__`;

export type Editable = {
  value: unknown;
  /** The secret behind each marker, by its path. */
  secrets: ReadonlyMap<string, unknown>;
};

/** The value for an editor, with a marker in place of each secret. */
export const toEditable = (value: unknown): Editable => {
  const secrets = new Map<string, unknown>();
  const walk = (node: unknown, path: string, parent?: string): unknown => {
    if (Array.isArray(node)) return node.map((item, index) => walk(item, `${path}/${index}`, parent));
    if (typeof node === 'string' && redactText(node) !== node) return hide(node, path);
    if (!isObject(node)) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, member]) => {
        const at = `${path}/${key}`;
        return [key, isSecretAt(key, parent) && isHeld(member) ? hide(member, at) : walk(member, at, key)];
      }),
    );
  };
  const hide = (secret: unknown, path: string): string => {
    secrets.set(path, secret);
    return markerAt(path);
  };
  return { value: walk(value, ''), secrets };
};

/** A marker was moved or changed. `path` names its position. */
export class MovedSecret extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`the secret at ${path} was moved or changed: put its marker back, or write a new value`);
    this.name = 'MovedSecret';
    this.path = path;
  }
}

/** Replaces unchanged markers with their secrets. @throws MovedSecret */
export const fromEditable = (edited: unknown, secrets: ReadonlyMap<string, unknown>): unknown => {
  const walk = (node: unknown, path: string): unknown => {
    if (typeof node === 'string') {
      if (secrets.has(path) && node === markerAt(path)) return secrets.get(path);
      if (node.search(MARKER) >= 0 || node.includes('REDACTED_SECRET')) throw new MovedSecret(path || '/');
      return node;
    }
    if (Array.isArray(node)) return node.map((item, index) => walk(item, `${path}/${index}`));
    if (!isObject(node)) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, member]) => [key, walk(member, `${path}/${key}`)]),
    );
  };
  return walk(edited, '');
};
