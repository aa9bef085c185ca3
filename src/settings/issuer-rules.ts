import { audiencesOf, type IssuerSpec } from '../schema/issuer.ts';
import { isOnLoopback } from './kinds.ts';
import type { Settings } from './table.ts';

/** Rules that involve an issuer and other settings (identity.md 2.3). */

type Rule = { field: string; problem: string; broken(spec: IssuerSpec, settings: Settings): boolean };

const RULES: readonly Rule[] = [
  {
    field: 'audiences',
    problem: 'missing; allowed: a list of audiences, unless SERVICE_PUBLIC_URL (public_url) is set',
    broken: (spec, { public_url }) => audiencesOf(spec, public_url).length === 0,
  },
  {
    field: 'audiences',
    problem:
      'an ID token is not an access token; allowed: audiences other than sign_in.client_id, unless accept_id_tokens is true',
    broken: (spec, { public_url }) =>
      !spec.accept_id_tokens &&
      spec.sign_in !== undefined &&
      audiencesOf(spec, public_url).includes(spec.sign_in.client_id),
  },
  {
    field: 'sign_in',
    problem:
      'SERVICE_PUBLIC_URL (public_url) is missing; allowed: unset only if SERVICE_HTTP_ADDR (http_addr) is a loopback address',
    broken: ({ sign_in }, { public_url, http_addr }) =>
      sign_in !== undefined && public_url === undefined && !isOnLoopback(http_addr),
  },
];

export const issuerProblems = (settings: Settings): string[] =>
  settings.identity.issuers.flatMap((spec, index) =>
    RULES.filter(({ broken }) => broken(spec, settings)).map(
      ({ field, problem }) => `SERVICE_IDENTITY_ISSUERS (identity.issuers)[${index}].${field}: ${problem}`,
    ),
  );
