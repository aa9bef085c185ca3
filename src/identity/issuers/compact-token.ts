import { isObject } from '../../schema/endpoint.ts';
import { invalidToken } from './refusal.ts';

/** Decodes a JWT without verifying it. */

/** Claims of a token, or a part of them. */
export type Claims = Readonly<Record<string, unknown>>;

export type CompactToken = {
  text: string;
  algorithm: unknown;
  keyId: string | undefined;
  claims: Claims;
};

const MOST_BYTES = 8192;
const PARTS = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Access tokens of RFC 9068, and tokens without a type of their issuer. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/** Returns whether a credential has the form of a JWT. */
export const isCompactToken = (credential: string): boolean => credential.split('.', 4).length === 3;

/** @throws Unauthorized */
export const decodeToken = (text: string): CompactToken => {
  if (text.length > MOST_BYTES || !PARTS.test(text)) throw invalidToken('form');
  const [first = '', second = ''] = text.split('.');
  const header = decodePart(first);
  const { typ, alg, kid } = header;
  if (!TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) throw invalidToken('type');
  // An extension that must be understood; none is.
  if (Object.hasOwn(header, 'crit')) throw invalidToken('crit');
  if (kid !== undefined && typeof kid !== 'string') throw invalidToken('form');
  return { text, algorithm: alg, keyId: kid, claims: decodePart(second) };
};

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const decodePart = (part: string): Claims => {
  try {
    const value: unknown = JSON.parse(UTF8.decode(Buffer.from(part, 'base64url')));
    if (isObject(value)) return value;
  } catch {
    // Reported below; the error would quote the token.
  }
  throw invalidToken('form');
};
