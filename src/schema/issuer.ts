import { z } from 'zod';
import { compileGlob } from './glob.ts';
import { firstServiceGrant, parseGrants, parseTokenGrants } from './grants.ts';
import { isLoopback } from './loopback.ts';

/**
 * An issuer of access tokens: an identity provider that the operator trusts (identity.md 2.3).
 *
 * The schemas are built when the setting is given: building all of them takes a noticeable part of a start.
 */

/** Asymmetric algorithms. With a symmetric one, the public key of the issuer would be its secret. */
export const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Names of nested claims, from the outside inward. */
export type ClaimPath = string[];

export type IssuerSpec = z.output<ReturnType<typeof issuerSpec>>;
export type IssuerInput = z.input<ReturnType<typeof issuerSpec>>;

/** The values of the roles claim, and the grants that each gives. */
export type RoleMap = Readonly<Record<string, readonly string[]>>;

export const MOST_KEYS = 100;

export const issuerSpecs = () =>
  z
    .array(issuerSpec())
    .max(20)
    .superRefine((specs, context) => {
      for (const field of ['id', 'issuer'] as const) {
        for (const [index, spec] of specs.entries()) {
          if (specs.findIndex((other) => other[field] === spec[field]) < index) {
            context.addIssue({
              code: 'custom',
              path: [index, field],
              message: 'is that of an earlier issuer',
            });
          }
        }
      }
    });

const issuerSpec = () =>
  z
    .strictObject({
      id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must have 1 to 64 letters, digits, _ and -'),
      issuer: trustedUrl(),
      audiences: z.array(z.string().min(1)).min(1).optional(),
      jwks_uri: z
        .string()
        .refine(isTrustedAddress, 'must be an https URL, or http on a loopback host')
        .optional(),
      jwks: z.looseObject({ keys: z.array(publicKey()).min(1).max(MOST_KEYS) }).optional(),
      algorithms: z
        .array(z.enum(SIGNATURE_ALGORITHMS))
        .min(1)
        .default([...DEFAULT_ALGORITHMS]),
      scope: z.string().min(1).max(512).optional(),
      scopes: z.array(pattern()).min(1).optional(),
      claims: claimPaths().prefault({}),
      map: z.union([roleMap(), z.record(pattern(), roleMap())]).default({}),
      default_grants: grantTexts().default([]),
      scope_grants: z.boolean().default(false),
      service_grants: z.boolean().default(false),
      provision: z.enum(['auto', 'known']).default('auto'),
      clock_skew_secs: z.int().min(0).max(600).default(60),
      max_age_secs: z.int().min(1).max(31_536_000).default(86_400),
      accept_id_tokens: z.boolean().default(false),
      sign_in: z
        .strictObject({
          client_id: z.string().min(1),
          client_secret: z.string().min(1).optional(),
          label: z.string().min(1).max(128).optional(),
        })
        .optional(),
    })
    .superRefine((spec, context) => {
      for (const { path, message, broken } of RULES) {
        if (broken(spec)) context.addIssue({ code: 'custom', path: [...path], message });
      }
    });

type Parsed = Pick<
  IssuerSpec,
  'jwks' | 'jwks_uri' | 'scope' | 'scopes' | 'claims' | 'map' | 'service_grants' | 'default_grants'
>;

/** Rules that involve more than one field. */
const RULES: readonly { path: readonly string[]; message: string; broken(spec: Parsed): boolean }[] = [
  {
    path: ['jwks_uri'],
    message: 'is not allowed together with jwks',
    broken: ({ jwks, jwks_uri }) => jwks !== undefined && jwks_uri !== undefined,
  },
  {
    path: ['scope'],
    message: 'is not allowed together with claims.scope',
    broken: ({ scope, claims }) => scope !== undefined && claims.scope !== undefined,
  },
  {
    path: ['scopes'],
    message: 'is missing; claims.scope needs the patterns of the scopes that the issuer may name',
    broken: ({ scopes, claims }) => claims.scope !== undefined && scopes === undefined,
  },
  {
    path: ['scopes'],
    message: 'is not allowed without claims.scope',
    broken: ({ scopes, claims }) => claims.scope === undefined && scopes !== undefined,
  },
  {
    path: ['service_grants'],
    message: 'must be false with claims.scope, because service grants are not divided by scope',
    broken: ({ service_grants, claims }) => service_grants && claims.scope !== undefined,
  },
  {
    path: ['map'],
    message: 'must map roles to lists of grants, or with claims.scope patterns of scopes to such maps',
    broken: ({ map, claims }) =>
      Object.values(map).some((value) => Array.isArray(value) === (claims.scope !== undefined)),
  },
  {
    path: ['map'],
    message: 'is not allowed without claims.roles, the claim whose values it maps',
    broken: ({ map, claims }) => Object.keys(map).length > 0 && claims.roles === undefined,
  },
  {
    path: ['default_grants'],
    message: 'must not have service grants, such as observe, configure or admin',
    broken: ({ default_grants }) => firstServiceGrant(parseTokenGrants(default_grants)) !== undefined,
  },
];

/** An address with `https`, or with `http` on the loopback interface. Kept as written. */
const trustedUrl = () =>
  z
    .string()
    .refine(isTrustedUrl, 'must be an https URL, or http on a loopback host, without a query or user');

const isTrustedUrl = (text: string): boolean => isTrustedAddress(text) && !text.includes('?');

/** Returns whether an address may serve the keys of an issuer. */
export const isTrustedAddress = (text: string): boolean => {
  if (!URL.canParse(text) || /[\s#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  return (
    username === '' &&
    password === '' &&
    (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
  );
};

/** Private members would make the setting a signing key. */
const publicKey = () =>
  z
    .looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']), kid: z.string().optional() })
    .refine((key) => key.d === undefined, 'must be a public key, without its private members');

const claimPath = () =>
  z.union([
    z
      .string()
      .regex(/^[^.]+(\.[^.]+)*$/, 'must be names of claims, separated by dots')
      .transform((path): ClaimPath => path.split('.')),
    z.array(z.string().min(1)).min(1),
  ]);

const claimPaths = () =>
  z.strictObject({
    user: claimPath().prefault('sub'),
    name: claimPath().optional(),
    email: claimPath().optional(),
    roles: claimPath().optional(),
    scope: claimPath().optional(),
  });

const pattern = () => z.string().refine(isGlob, 'must be a pattern, in which * matches any characters');

const isGlob = (text: string): boolean => {
  try {
    compileGlob(text);
    return true;
  } catch {
    return false;
  }
};

const roleMap = () => z.record(z.string().min(1), grantTexts());

const grantTexts = () =>
  z.array(
    z.string().superRefine((text, context) => {
      try {
        parseGrants([text]);
      } catch (error) {
        const message = error instanceof Error ? error.message.replace(/^grants\[0\] /, '') : String(error);
        context.addIssue({ code: 'custom', message });
      }
    }),
  );

/** Returns the accepted audiences: those of the issuer, or the addresses of the service. */
export const audiencesOf = (
  { audiences }: Pick<IssuerSpec, 'audiences'>,
  publicUrl: string | undefined,
): readonly string[] => {
  if (audiences) return audiences;
  const origin = publicUrl?.replace(/\/$/, '');
  return origin === undefined ? [] : [origin, `${origin}/v1/mcp`];
};
