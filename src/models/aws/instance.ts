import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { describeMissingResponse } from '../response.ts';
import { type Found, readKeys, type Search, unusable } from './keys.ts';
import { checkLocal } from './local-address.ts';
import { ask, refusal } from './request.ts';

/**
 * Keys of an EC2 instance's role, from its metadata service (version 2: each request has a token, which a forged
 * request could not obtain).
 */

const BY = 'the EC2 instance metadata service';
const ENDPOINT = 'AWS_EC2_METADATA_SERVICE_ENDPOINT';
const ROLES = 'latest/meta-data/iam/security-credentials/';

/** Timeout of the first request, which every other host drops; the service itself responds within milliseconds. */
const FIRST_MS = 5000;

const TOKEN_SECONDS = '60';

export const keysOfInstance = async (search: Search): Promise<Found> => {
  const { env } = search;
  if (env.AWS_EC2_METADATA_DISABLED?.trim().toLowerCase() === 'true') {
    return { absent: 'AWS_EC2_METADATA_DISABLED is true' };
  }
  const base = endpointIn(search);
  const token = await tokenOf(base, search);
  if (typeof token !== 'string') return token;
  const headers = { 'x-aws-ec2-metadata-token': token };
  const get = (path: string) => ask(search, { method: 'GET', url: new URL(path, base).href, headers }, BY);
  const roles = await get(ROLES);
  if (roles.status === 404) return { absent: 'the instance has no role' };
  if (roles.status !== 200) throw refusal(BY, roles.status, undefined);
  const role = roles.body.trim().split(/\s/, 1)[0] ?? '';
  if (!/^[\w+=,.@-]{1,64}$/.test(role)) throw unusable(`${BY} returned no name of a role`);
  const { status, body } = await get(`${ROLES}${role}`);
  if (status !== 200) throw refusal(BY, status, undefined);
  return readKeys(jsonOrUndefined(body), BY);
};

const endpointIn = ({ env }: Search): URL => {
  const given = env[ENDPOINT]?.trim();
  if (given) return checkLocal(given, ENDPOINT);
  const isIPv6 = env.AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE?.trim().toLowerCase() === 'ipv6';
  return new URL(isIPv6 ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254');
};

/** A missing response is not an error, because most hosts have no such service. */
const tokenOf = async (base: URL, { text, signal }: Search): Promise<string | { absent: string }> => {
  const request = {
    method: 'PUT',
    url: new URL('latest/api/token', base).href,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': TOKEN_SECONDS },
    most: 1024,
    signal: AbortSignal.any([signal, AbortSignal.timeout(FIRST_MS)]),
  } as const;
  try {
    const { status, body } = await text(request);
    if (status === 200 && /^[\x21-\x7e]+$/.test(body)) return body;
    return { absent: `it granted no token, status ${status}` };
  } catch (error) {
    return { absent: describeMissingResponse(error) };
  }
};
