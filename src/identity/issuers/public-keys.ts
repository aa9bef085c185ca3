import { isObject } from '../../schema/endpoint.ts';
import { MOST_KEYS, type SignatureAlgorithm } from '../../schema/issuer.ts';

/** Public keys of an issuer (RFC 7517). */

/** A key without private members and certificates. `jose` caches the parsed key for the object. */
export type PublicKey = {
  readonly kty: string;
  readonly kid?: string;
  readonly use?: string;
  readonly alg?: string;
  readonly key_ops?: string[];
  readonly crv?: string;
  readonly n?: string;
  readonly e?: string;
  readonly x?: string;
  readonly y?: string;
};

/** @throws Error for a value that is not a key set, or has too many keys */
export const parseKeySet = (value: unknown): readonly PublicKey[] => {
  const keys = isObject(value) ? value.keys : undefined;
  if (!Array.isArray(keys)) throw new Error('the response is not a key set');
  if (keys.length > MOST_KEYS) throw new Error(`the key set has more than ${MOST_KEYS} keys`);
  return keys.flatMap((key: unknown) => parseKey(key) ?? []);
};

const TEXTS = ['kid', 'use', 'alg', 'crv', 'n', 'e', 'x', 'y'] as const;

/** Returns undefined for a key that verifies no signature: symmetric keys, and types that are unknown. */
const parseKey = (key: unknown): PublicKey | undefined => {
  if (!isObject(key)) return undefined;
  const { kty, key_ops } = key;
  if (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP') return undefined;
  const texts = TEXTS.flatMap((name) => {
    const value = key[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  const operations = Array.isArray(key_ops) ? key_ops.filter((each) => typeof each === 'string') : undefined;
  return { kty, ...Object.fromEntries(texts), ...(operations && { key_ops: operations }) };
};

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

/** Returns whether signatures of the algorithm can be verified with the key. */
export const fits = ({ kty, crv, use, alg, key_ops }: PublicKey, algorithm: SignatureAlgorithm): boolean => {
  if (use !== undefined && use !== 'sig') return false;
  if (alg !== undefined && alg !== algorithm) return false;
  if (key_ops && !key_ops.includes('verify')) return false;
  if (algorithm.startsWith('ES')) return kty === 'EC' && crv === CURVES[algorithm];
  if (algorithm.startsWith('Ed')) return kty === 'OKP' && crv === 'Ed25519';
  return kty === 'RSA';
};
