import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { SignatureAlgorithm } from '../../schema/issuer.ts';
import type { PublicKey } from './public-keys.ts';

/**
 * Verifies signatures of JWTs (RFC 7518, 8037).
 *
 * Relies on the caller for the choice of the algorithm: it is one of the issuer's, and `fits` the key.
 * Cost: a verification on the calling thread, which is shorter than handing it to another one. A key is parsed once.
 */
export const isSigned = (text: string, key: PublicKey, algorithm: SignatureAlgorithm): boolean => {
  const parsed = parse(key);
  if (!parsed) return false;
  const end = text.lastIndexOf('.');
  const signature = Buffer.from(text.slice(end + 1), 'base64url');
  const { digest, ...options } = ALGORITHMS[algorithm];
  return verify(digest, Buffer.from(text.slice(0, end), 'latin1'), { key: parsed, ...options }, signature);
};

type Verification = {
  /** Null: the algorithm includes it. */
  digest: string | null;
  dsaEncoding?: 'ieee-p1363';
  padding?: number;
  saltLength?: number;
};

const rsa = (digest: string): Verification => ({ digest, padding: constants.RSA_PKCS1_PADDING });

const rsaPss = (digest: string): Verification => ({
  digest,
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
});

/** The signature is both numbers, each of fixed length. */
const ecdsa = (digest: string): Verification => ({ digest, dsaEncoding: 'ieee-p1363' });

const ALGORITHMS: Readonly<Record<SignatureAlgorithm, Verification>> = {
  RS256: rsa('sha256'),
  RS384: rsa('sha384'),
  RS512: rsa('sha512'),
  PS256: rsaPss('sha256'),
  PS384: rsaPss('sha384'),
  PS512: rsaPss('sha512'),
  ES256: ecdsa('sha256'),
  ES384: ecdsa('sha384'),
  ES512: ecdsa('sha512'),
  EdDSA: { digest: null },
  Ed25519: { digest: null },
};

/** Shorter keys verify nothing (RFC 7518, 3.3). */
const LEAST_RSA_BITS = 2048;

const known = new WeakMap<PublicKey, KeyObject | 'unusable'>();

const parse = (key: PublicKey): KeyObject | undefined => {
  let parsed = known.get(key);
  if (parsed === undefined) {
    parsed = publicKeyOf(key) ?? 'unusable';
    known.set(key, parsed);
  }
  return parsed === 'unusable' ? undefined : parsed;
};

const publicKeyOf = (key: PublicKey): KeyObject | undefined => {
  try {
    const parsed = createPublicKey({ key, format: 'jwk' });
    const bits = parsed.asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < LEAST_RSA_BITS ? undefined : parsed;
  } catch {
    return undefined;
  }
};
