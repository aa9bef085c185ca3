import { Forbidden } from '../schema/outcome.ts';
import { hostname } from './hosts.ts';

/**
 * Detects requests that a page of another site makes a browser send. Such a page cannot read the response, but the
 * browser still sends a POST without a body or with a text body; so requests that change state are rejected before they
 * are executed.
 *
 * Browsers send the source of a request in `Origin` and `Sec-Fetch-Site`. Other clients send neither header and are not
 * affected.
 */
export type Sender = {
  method: string;
  /** Empty when the request has none. */
  origin: string;
  /** `Sec-Fetch-Site`; empty when the request has none. */
  site: string;
  /** Hosts under which the client may have reached this service. */
  hosts: readonly (string | undefined)[];
};

/** @param isAdmitted whether CORS admits the origin */
export const isCrossSite = ({ method, origin, site, hosts }: Sender, isAdmitted: boolean): boolean => {
  if (SAFE.has(method) || (origin === '' && site === '')) return false;
  if (site === 'same-origin' || site === 'none' || (origin !== '' && isAdmitted)) return false;
  if (site === 'cross-site' || origin === '') return site === 'cross-site';
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  return host === '' || !hosts.some((own) => own !== undefined && sameForm(protocol, own) === host);
};

/**
 * Detects requests with a session cookie that a page of this origin did not send (identity.md 2.5). Unlike other
 * requests, they must prove where they come from: the browser attaches the cookie to those of any page of the same site.
 */
export const isForeignToCookie = ({ method, origin, site, hosts }: Sender): boolean => {
  if (SAFE.has(method)) return false;
  if (site !== '') return site !== 'same-origin';
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  return protocol !== 'https:' || !hosts.some((own) => own !== undefined && sameForm(protocol, own) === host);
};

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Normalizes a host as browsers do, without the default port of its scheme. */
const sameForm = (protocol: string, host: string): string | undefined =>
  hostname(host) === undefined || !URL.canParse(`${protocol}//${host}`)
    ? undefined
    : new URL(`${protocol}//${host}`).host;

export const crossSite = (origin: string): Forbidden =>
  new Forbidden(
    `requests that pages of ${origin === '' ? 'other sites' : `'${origin}'`} send are rejected; if it is an ` +
      'origin of yours, add it to AdminApiConfig.cors_allowed_origins (SERVICE_ADMIN_CORS_ALLOWED_ORIGINS)',
    { code: 'cross_site' },
  );
