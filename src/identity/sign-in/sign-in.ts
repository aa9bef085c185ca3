import { randomBytes } from 'node:crypto';
import type { Clock } from '../../schema/clock.ts';
import type { IssuerSpec } from '../../schema/issuer.ts';
import { isLoopback } from '../../schema/loopback.ts';
import { Invalid, NotFound, Outcome } from '../../schema/outcome.ts';
import { nameOf, type Principal } from '../../schema/principal.ts';
import { returnPath } from '../../schema/return-to.ts';
import type { Who } from '../../schema/who.ts';
import type { Issuers } from '../issuers/index.ts';
import type { Browser, StartedSession } from '../sessions/session-writes.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Bind } from '../users/bind.ts';
import { type Attempt, challengeOf, createOnce, createSeal } from './attempts.ts';
import { createProvider, type Provider, SignInFailed } from './provider.ts';

/**
 * Sign-in with OpenID providers (identity.md 2.6).
 *
 * Guarantees: only the browser that began a sign-in can end it: over https it has the sealed cookie, and on loopback
 * the page has the verifier. An attempt and a code are accepted once. No other http origin can sign in.
 */
export type SignIn = {
  /** Returns the ways to sign in that pages of this origin have. */
  ways(origin: string): Who['sign_in'];
  /** Returns where to send the browser, and the cookie that binds the attempt to it. @throws NotFound, Invalid, SignInFailed */
  begin(issuer: string, given: Beginning): Promise<{ location: string; sealed?: string }>;
  /** @throws NotFound, SignInFailed */
  end(issuer: string, given: Ending): Promise<Ended>;
  /** Redeems the code of a sign-in on loopback. @throws Invalid */
  redeem(given: { code: string; verifier: string }): Promise<StartedSession>;
};

type Beginning = { origin: string; return_to: string | undefined; challenge: string | undefined };
type Ending = { origin: string; answer: URLSearchParams; sealed: string | undefined; browser: Browser };
type Ended = { location: string; session?: StartedSession };

type SignInDeps = {
  specs: readonly IssuerSpec[];
  issuers: Pick<Issuers, 'verifyIdToken'>;
  bind: Bind;
  sessions: Pick<Sessions, 'startOfAccount'>;
  clock: Clock;
};

const CODE_MS = 60_000;
const ATTEMPT_MS = 600_000;
const CHALLENGE = /^[\w-]{43}$/;

type Code = { principal: Principal; challenge: string; browser: Browser };

export const createSignIn = (deps: SignInDeps): SignIn => {
  const { specs, clock, sessions } = deps;
  const providers = new Map(specs.flatMap((spec) => providerOf(spec, clock)));
  const attempts = createOnce<Attempt>(clock, ATTEMPT_MS);
  const codes = createOnce<Code>(clock, CODE_MS);
  const seal = createSeal(clock);

  /** @throws NotFound */
  const providerFor = (id: string): Provider => {
    const provider = providers.get(id);
    if (!provider) throw new NotFound(`no sign-in with the issuer: ${id}`);
    return provider;
  };

  /** @throws SignInFailed */
  const attemptOf = async (id: string, { origin, answer, sealed }: Ending): Promise<Attempt> => {
    const state = answer.get('state') ?? '';
    const attempt = isHttps(origin) ? await seal.open(sealed ?? '') : attempts.take(state);
    if (!attempt) throw new SignInFailed('expired');
    if (attempt.issuer !== id || attempt.state !== state) throw new SignInFailed('mismatch');
    return attempt;
  };

  return {
    ways: (origin) => [...(canSignIn(origin) ? specs.flatMap(wayOf) : []), { kind: 'key' }],
    async begin(issuer, { origin, return_to, challenge }) {
      const provider = providerFor(issuer);
      checkOrigin(origin, challenge);
      const attempt: Attempt = {
        issuer,
        state: randomText(),
        nonce: randomText(),
        verifier: randomText(),
        return_to: returnPath(return_to, origin),
        ...(challenge !== undefined && { challenge }),
      };
      const location = await provider.authorizationUrl(attempt, callbackOf(origin, issuer));
      if (isHttps(origin)) return { location, sealed: await seal.seal(attempt) };
      attempts.put(attempt.state, attempt);
      return { location };
    },
    async end(issuer, given) {
      const provider = providerFor(issuer);
      const { origin, answer, browser } = given;
      const attempt = await attemptOf(issuer, given);
      const token = await provider.redeem(attempt, callbackOf(origin, issuer), answer);
      const principal = await principalOf(deps, issuer, token);
      if (isHttps(origin)) {
        const session = await sessions.startOfAccount(byAccount(principal), browser);
        return { location: attempt.return_to, session };
      }
      const code = randomText();
      codes.put(code, { principal, challenge: attempt.challenge ?? '', browser });
      return { location: `/sign-in#code=${code}` };
    },
    async redeem({ code, verifier }) {
      const found = codes.take(code);
      if (!found || found.challenge !== challengeOf(verifier)) {
        throw new Invalid(
          'the code is unknown, was used or has expired, or the verifier is not that of its page',
        );
      }
      return sessions.startOfAccount(byAccount(found.principal), found.browser);
    },
  };
};

const isHttps = (origin: string): boolean => origin.startsWith('https:');

/** Over http, only a page on this host can be trusted with a session token. */
const canSignIn = (origin: string): boolean => isHttps(origin) || isLoopback(new URL(origin).hostname);

/** @throws Invalid */
const checkOrigin = (origin: string, challenge: string | undefined): void => {
  if (!canSignIn(origin)) throw new Invalid('sign-in needs https, or a loopback address');
  if (isHttps(origin)) return;
  if (challenge === undefined || !CHALLENGE.test(challenge)) {
    throw new Invalid(
      'challenge is required over http: the SHA-256 of the verifier of the page, in base64url',
    );
  }
};

const wayOf = ({ id, sign_in }: IssuerSpec): Who['sign_in'] =>
  sign_in ? [{ kind: 'oidc', id, label: sign_in.label ?? id, url: `/v1/session/sign-in/${id}` }] : [];

const providerOf = (spec: IssuerSpec, clock: Clock): [string, Provider][] => {
  const { id, sign_in } = spec;
  if (!sign_in) return [];
  const { client_id, client_secret } = sign_in;
  return [[id, createProvider({ spec, client_id, client_secret }, clock)]];
};

const callbackOf = (origin: string, issuer: string): string => `${origin}/v1/session/callback/${issuer}`;

const randomText = (): string => randomBytes(32).toString('base64url');

/** @throws SignInFailed */
const principalOf = async ({ issuers, bind }: SignInDeps, id: string, token: string): Promise<Principal> => {
  const verified = await issuers.verifyIdToken(id, token).catch((error: unknown) => {
    throw new SignInFailed(error instanceof Outcome ? 'mismatch' : 'provider', { cause: error });
  });
  try {
    return await bind(verified);
  } catch (error) {
    if (error instanceof Outcome) throw new SignInFailed('not_allowed', { cause: error });
    throw error;
  }
};

const byAccount = (principal: Principal): Parameters<Sessions['startOfAccount']>[0] => {
  const user = nameOf(principal);
  const { scope, credential } = principal;
  return { principal, caller: { actor: user, request_id: null, user, scope, credential } };
};
