import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { anything, object, text } from '../../data/guard.ts';
import { Identity, type SignIn } from '../../data/principal.ts';
import { backendUrl, send } from '../../data/request.ts';
import { saveToken, takeCookie, takeSession } from '../../data/session.ts';
import { KEYS, readOfTab, writeOfTab } from '../../data/storage.ts';

/**
 * Signing in to the console (identity.md 2.6). Over https the service keeps the session in a cookie. On loopback, where
 * every port of the host shares cookies, this tab keeps the session token, for which it has proved that it began the
 * sign-in: the verifier never leaves the tab before.
 */

export type Place = Pick<Location, 'protocol' | 'hostname' | 'origin'>;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** How this page can keep a session: in a cookie, in the tab, or not at all. */
export const waysOf = ({ protocol, hostname, origin }: Place, backend: string): 'cookie' | 'tab' | 'none' => {
  if (new URL(backend).origin !== origin) return 'none';
  if (protocol === 'https:') return 'cookie';
  return LOOPBACK.test(hostname) ? 'tab' : 'none';
};

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');

export const challengeOf = (verifier: string): string => base64url(sha256(utf8ToBytes(verifier)));

/** A path of this origin, or `/`: an address that a link has brought must lead to no other place. */
export const ownPath = (given: string | undefined, origin: string): string => {
  if (given === undefined || /[\p{Cc}\s\\]/u.test(given) || !given.startsWith('/')) return '/';
  try {
    const url = new URL(given, origin);
    return url.origin === origin ? url.pathname + url.search + url.hash : '/';
  } catch {
    return '/';
  }
};

type Begun = { verifier: string; returnTo: string };

/**
 * The address that begins the sign-in with an issuer; undefined if it is not one of the service. In a tab without
 * cookies, the tab remembers the verifier of the challenge.
 */
export const beginSignIn = (way: SignIn, how: 'cookie' | 'tab', returnTo: string): string | undefined => {
  const url = new URL(way.url ?? `/v1/session/sign-in/${encodeURIComponent(way.id ?? '')}`, backendUrl());
  if (url.origin !== new URL(backendUrl()).origin) return undefined;
  url.searchParams.set('return_to', returnTo);
  if (how === 'tab') {
    const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
    writeOfTab(KEYS.signIn, JSON.stringify({ verifier, returnTo } satisfies Begun));
    url.searchParams.set('challenge', challengeOf(verifier));
  }
  return url.href;
};

const codeIn = (hash: string): string => new URLSearchParams(hash.slice(1)).get('code') ?? '';

export const hasCode = (): boolean => codeIn(location.hash) !== '';

/** Takes the code of the callback out of the address, and the sign-in that this tab has begun out of its storage. */
export const takeCode = (): ({ code: string } & Partial<Begun>) | undefined => {
  const { hash, pathname, search } = location;
  const code = codeIn(hash);
  if (code === '') return undefined;
  history.replaceState(history.state, '', `${pathname}${search}`);
  const begun = readOfTab(KEYS.signIn);
  writeOfTab(KEYS.signIn, null);
  return { code, ...readBegun(begun) };
};

const Begun = object({ verifier: text, returnTo: text });

const readBegun = (stored: string | null): Partial<Begun> => {
  try {
    return stored === null ? {} : Begun(JSON.parse(stored), '');
  } catch {
    return {};
  }
};

/** @throws RequestError */
export const exchangeCode = async (code: string, verifier: string): Promise<void> => {
  const request = { method: 'POST', path: '/v1/session', body: { code, verifier }, quiet: true } as const;
  takeSession((await send(request, object({ token: text }))).token);
};

/**
 * Signs in with an API key or token: as a cookie, or else in the header of each request.
 * @throws RequestError if the service rejects it
 */
export const signInWith = async (credential: string, how: 'cookie' | 'tab' | 'none'): Promise<void> => {
  const request = { bearer: credential, quiet: true } as const;
  if (how === 'cookie') {
    await send({ ...request, method: 'POST', path: '/v1/session' }, anything);
    takeCookie();
    return;
  }
  await send({ ...request, path: '/v1/identity' }, Accepted);
  saveToken(credential);
};

/** Where anonymous access holds, the service ignores a bearer text that it does not know. */
const Accepted: typeof Identity = (value, at) => {
  const who = Identity(value, at);
  if (!who.authenticated) throw new NotRecognized();
  return who;
};

export class NotRecognized extends Error {}

export const ERRORS = ['denied', 'expired', 'mismatch', 'provider', 'not_allowed'] as const;

export const errorOf = (given: string | undefined): (typeof ERRORS)[number] | undefined =>
  ERRORS.find((each) => each === given);
