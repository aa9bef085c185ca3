import type { AnonymousAccess } from '../identity/authenticator.ts';
import { isLoopback } from '../schema/loopback.ts';
import type { Settings } from '../settings/index.ts';
import type { Embedding } from './input.ts';

/**
 * Returns where requests without a credential may invoke agents (identity.md 3.2). It depends on settings and options
 * only, never on stored data, so that creating a key does not lock out anybody.
 */
export const anonymousAccess = (
  { identity, public_url }: Pick<Settings, 'identity' | 'public_url'>,
  { authenticate, resolveScope }: Pick<Embedding, 'authenticate' | 'resolveScope'>,
): AnonymousAccess => {
  if (identity.anonymous !== undefined) return identity.anonymous;
  if (authenticate || isOutside(public_url)) return 'never';
  return resolveScope ? 'always' : 'loopback';
};

const isOutside = (publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
