import { fetchText } from '../../outbound/fetch-text.ts';
import { resolveName } from '../../outbound/public-address.ts';
import { isObject } from '../../schema/endpoint.ts';
import { type IssuerSpec, isTrustedAddress } from '../../schema/issuer.ts';
import { type PublicKey, parseKeySet } from './public-keys.ts';

/**
 * Fetches the keys of an issuer, from `jwks_uri` or from the address in its metadata (OpenID Connect Discovery 1.0,
 * section 4), which is remembered.
 *
 * The operator trusts an issuer, so it may have any address, such as a private one. Redirects are not followed.
 */
export type FetchKeys = () => Promise<readonly PublicKey[]>;

/** For metadata and keys together. */
const TIMEOUT_MS = 5_000;
const LARGEST_BYTES = 256 * 1024;

export const createKeyFetch = ({ issuer, jwks_uri }: Pick<IssuerSpec, 'issuer' | 'jwks_uri'>): FetchKeys => {
  let discovered: string | undefined;
  return async () => {
    const deadline = performance.now() + TIMEOUT_MS;
    const address = jwks_uri ?? discovered ?? (await discoverKeys(issuer, deadline));
    try {
      const keys = parseKeySet(await fetchJson(address, deadline));
      discovered = address;
      return keys;
    } catch (error) {
      // The issuer may have moved its keys.
      discovered = undefined;
      throw error;
    }
  };
};

const discoverKeys = async (issuer: string, deadline: number): Promise<string> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const metadata = await fetchJson(url, deadline);
  const { issuer: named, jwks_uri } = isObject(metadata) ? metadata : {};
  if (named !== issuer) throw new Error(`${url} is the metadata of another issuer`);
  if (typeof jwks_uri !== 'string' || !isTrustedAddress(jwks_uri))
    throw new Error(`the jwks_uri of ${url} is not an https URL`);
  return jwks_uri;
};

const fetchJson = async (url: string, deadline: number): Promise<unknown> =>
  JSON.parse(
    await fetchText(new URL(url), {
      headers: {},
      timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
      largestBytes: LARGEST_BYTES,
      resolve: resolveName,
      mayConnect: () => true,
    }),
  );
