import type { Clock } from '../../schema/clock.ts';
import { audiencesOf, type IssuerSpec, type SignatureAlgorithm } from '../../schema/issuer.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { digestOf } from '../credentials/key-format.ts';
import { createRecent } from '../recent.ts';
import { createClaimsReader, type ReadClaims } from './claims.ts';
import { type Claims, type CompactToken, decodeToken } from './compact-token.ts';
import { createKeyFetch, type FetchKeys } from './fetch-keys.ts';
import { createKeySource, fixedKeys, type KeySource } from './key-source.ts';
import { fits, type PublicKey, parseKeySet } from './public-keys.ts';
import { invalidToken } from './refusal.ts';
import type { VerifiedToken } from './verified-token.ts';

/**
 * Verifies access tokens of the configured identity providers (identity.md 2.3).
 *
 * Guarantees: a verified token is remembered until it expires or the keys of its issuer change, and is then answered
 * synchronously, with the same object. Nothing is fetched before the first token of an issuer.
 * Cost: a digest for a remembered token, and at most `MOST_REMEMBERED` tokens in memory. `jose` is loaded with the first
 * token.
 */
export type Issuers = {
  /** Returns a remembered token. */
  recall(token: string): VerifiedToken | undefined;
  /**
   * @throws Unauthorized with the reason
   * @throws Unavailable while the keys of the issuer cannot be fetched
   */
  verify(token: string): VerifiedToken | Promise<VerifiedToken>;
  /**
   * Verifies the ID token of a sign-in with the issuer of this id.
   *
   * @throws Unauthorized with the reason
   * @throws Unavailable while the keys of the issuer cannot be fetched
   */
  verifyIdToken(id: string, token: string): Promise<VerifiedToken>;
};

export type IssuersDeps = {
  specs: readonly IssuerSpec[];
  /** The origin of the service, for default audiences. */
  publicUrl: string | undefined;
  /** The scope of issuers that name none. */
  scopeId: string;
  staleSecs: number;
  clock: Clock;
  log: Pick<ServiceLog, 'warn'>;
  /** Called after each fetch of keys. */
  observe?: (id: string, result: 'ok' | 'failed') => void;
  createFetch?: (spec: IssuerSpec) => FetchKeys;
};

const MOST_REMEMBERED = 10_000;

type Issuer = { spec: IssuerSpec; keys: KeySource; audiences: readonly string[]; read: ReadClaims };
type Entry = { token: VerifiedToken; issuer: Issuer; keys: readonly PublicKey[] };

/**
 * @example
 * const issuers = createIssuers({ specs: settings.identity.issuers, publicUrl, scopeId, staleSecs, clock, log });
 * const { scope, user, grants } = await issuers.verify(token);
 */
export const createIssuers = (deps: IssuersDeps): Issuers => {
  const { specs, clock } = deps;
  const issuers = new Map(specs.map((spec) => [spec.issuer, createIssuer(spec, deps)]));
  const remembered = createRecent<Entry>(MOST_REMEMBERED);
  const now = (): number => clock.now() / 1000;

  const recall = (text: string): VerifiedToken | undefined => {
    const digest = digestOf(text);
    const entry = remembered.get(digest);
    if (!entry) return undefined;
    const { token, issuer, keys } = entry;
    if (issuer.keys.current() === keys && now() < endOf(token, issuer.spec)) return token;
    remembered.remove(digest);
    return undefined;
  };

  const verifyNew = async (text: string): Promise<VerifiedToken> => {
    const decoded = decodeToken(text);
    const { iss, aud } = decoded.claims;
    const issuer = typeof iss === 'string' ? issuers.get(iss) : undefined;
    if (!issuer) throw invalidToken('issuer');
    const keys = await verifySignature(decoded, issuer);
    const times = checkTimes(decoded.claims, issuer.spec, now());
    if (!isFor(issuer.audiences, aud)) throw invalidToken('audience');
    const token = issuer.read(decoded.claims, times);
    remembered.set(digestOf(text), { token, issuer, keys });
    return token;
  };

  return {
    recall,
    verify: (text) => recall(text) ?? verifyNew(text),
    async verifyIdToken(id, text) {
      const decoded = decodeToken(text);
      const { iss, aud } = decoded.claims;
      const issuer = typeof iss === 'string' ? issuers.get(iss) : undefined;
      const client = issuer?.spec.sign_in?.client_id;
      if (issuer?.spec.id !== id || client === undefined) throw invalidToken('issuer');
      await verifySignature(decoded, issuer);
      const times = checkTimes(decoded.claims, issuer.spec, now());
      if (!isFor([client], aud)) throw invalidToken('audience');
      // The OAuth scope limits access tokens only.
      const { narrowing: _, ...token } = issuer.read(decoded.claims, times);
      return token;
    },
  };
};

const createIssuer = (spec: IssuerSpec, deps: IssuersDeps): Issuer => {
  const { clock, log, staleSecs, observe, createFetch = createKeyFetch } = deps;
  const keys = spec.jwks
    ? fixedKeys(parseKeySet(spec.jwks))
    : createKeySource({
        id: spec.id,
        clock,
        fetchKeys: createFetch(spec),
        staleMs: staleSecs * 1000,
        fetched(error) {
          observe?.(spec.id, error ? 'failed' : 'ok');
          if (error) log.warn('identity.keys_unavailable', { issuer: spec.id, error: error.message });
        },
      });
  return {
    spec,
    keys,
    audiences: audiencesOf(spec, deps.publicUrl),
    read: createClaimsReader(spec, deps.scopeId),
  };
};

const isFor = (audiences: readonly string[], aud: unknown): boolean =>
  Array.isArray(aud)
    ? aud.some((each) => audiences.includes(each))
    : typeof aud === 'string' && audiences.includes(aud);

/** Returns the keys of the issuer at the time of the verification. */
const verifySignature = async (
  { text, algorithm, keyId }: CompactToken,
  { spec: { algorithms }, keys }: Issuer,
): Promise<readonly PublicKey[]> => {
  const allowed = algorithms.find((each) => each === algorithm);
  if (allowed === undefined) throw invalidToken('algorithm');
  const { matching, all } = await keys.find(keyId);
  if (matching.length === 0) throw invalidToken('signature');
  const [key, ...others] = matching.filter((each) => fits(each, allowed));
  if (!key) throw invalidToken('algorithm');
  // Several keys fit a token without a key id; trying all of them would multiply the cost of an invalid token.
  if (others.length > 0 || !(await isSigned(text, key, allowed))) throw invalidToken('signature');
  return all;
};

const isSigned = async (text: string, key: PublicKey, algorithm: SignatureAlgorithm): Promise<boolean> => {
  const { compactVerify } = await import('./signature.ts');
  try {
    await compactVerify(text, key, { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
};

/** @throws Unauthorized */
const checkTimes = (
  { exp, iat, nbf }: Claims,
  { clock_skew_secs: skew, max_age_secs }: IssuerSpec,
  now: number,
): { iat: number; exp: number } => {
  if (!isTime(exp) || !isTime(iat)) throw invalidToken('time');
  if (nbf !== undefined && !isTime(nbf)) throw invalidToken('time');
  if (now >= exp + skew) throw invalidToken('expired');
  if (iat > now + skew || (nbf !== undefined && nbf > now + skew)) throw invalidToken('time');
  if (now >= iat + max_age_secs + skew) throw invalidToken('expired');
  return { iat, exp };
};

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** The time, in seconds, from which a remembered token is checked again. */
const endOf = ({ exp }: VerifiedToken, { clock_skew_secs }: IssuerSpec): number => exp + clock_skew_secs;
