import type { Environment } from '../provider-options.ts';
import type { TokenDeps } from '../token-source.ts';
import { keysOfContainer } from './container.ts';
import { keysOfInstance } from './instance.ts';
import { type AwsKeys, type Found, isAbsent, keysOfEnvironment, type Search, unusable } from './keys.ts';
import { keysOfProfile } from './profile.ts';
import { keysOfWebIdentity } from './web-identity.ts';

/**
 * The sources of keys that the AWS SDKs search, in their order.
 *
 * Guarantees: the first configured source is used, and its failure ends the search, so that requests are never signed
 * for another identity than the operator chose; an error names each source and what it lacks, and quotes no secret.
 * Cost: one search takes at most `LONGEST_MS`. `@aws-sdk/credential-provider-node` would do the same with 0.95 MB in 25
 * packages; it reads variables that the service removes from its process, and passes all others to the programs that it
 * starts.
 */

const LONGEST_MS = 30_000;

type Source = { name: string; find(search: Search): Found | Promise<Found> };

const CHAIN: readonly Source[] = [
  { name: 'variables', find: ({ env }) => keysOfEnvironment(env) },
  { name: 'web identity', find: keysOfWebIdentity },
  { name: 'profile', find: (search) => keysOfProfile(undefined, search) },
  { name: 'container', find: keysOfContainer },
  { name: 'instance metadata', find: keysOfInstance },
];

/** `profile`: searched instead of the whole chain. @throws ModelError */
export const findKeys = async (
  profile: string | undefined,
  { longestMs = LONGEST_MS, ...deps }: TokenDeps & { env: Environment; region: string; longestMs?: number },
): Promise<AwsKeys> => {
  const search = { ...deps, signal: AbortSignal.timeout(longestMs) };
  const sources =
    profile === undefined
      ? CHAIN
      : [{ name: 'profile', find: () => keysOfProfile(profile, search) } satisfies Source];
  const missing: string[] = [];
  for (const { name, find } of sources) {
    const found = await find(search);
    if (!isAbsent(found)) return found;
    missing.push(`${name} (${found.absent})`);
  }
  throw unusable(`no credentials of AWS were found; searched: ${missing.join(', ')}`);
};
