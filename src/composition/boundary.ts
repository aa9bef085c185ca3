import type { AnonymousAccess } from '../identity/authenticator.ts';
import { SHORT_TOKEN } from '../identity/guesses.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { isLoopback } from '../schema/loopback.ts';
import { type Settings, SettingsError } from '../settings/index.ts';
import type { Embedding } from './input.ts';

/** The requests that are accepted without a credential, and warnings about them at the start (identity.md 3.2). */

/**
 * Returns where requests without a credential may invoke agents. It depends on settings and options only, never on
 * stored data, so that a new key locks out no client.
 */
export const anonymousAccess = (
  { identity, public_url }: Pick<Settings, 'identity' | 'public_url'>,
  { authenticate, resolveScope }: Pick<Embedding, 'authenticate' | 'resolveScope'>,
): AnonymousAccess => {
  if (identity.anonymous !== undefined) return identity.anonymous;
  if (authenticate || identity.issuers.length > 0 || isOutside(public_url)) return 'never';
  return resolveScope ? 'always' : 'loopback';
};

/** Returns whether requests without a credential are accepted from anywhere. */
export const isOpen = (anonymous: AnonymousAccess, isLocalListener: boolean): boolean =>
  anonymous === 'always' || (anonymous === 'loopback' && isLocalListener);

/**
 * Rejects a start after which no request could be authenticated, and none would be accepted without a credential.
 *
 * @throws SettingsError with the settings that open the service
 */
export const assertReachable = (
  { AdminApiConfig, identity }: Pick<Settings, 'AdminApiConfig' | 'identity'>,
  {
    authenticate,
    isOpen: isOpenToSome,
    hasActiveKey,
  }: Pick<Embedding, 'authenticate'> & { isOpen: boolean; hasActiveKey(): boolean },
): void => {
  const hasCredentials =
    AdminApiConfig.bearer_token !== undefined || identity.issuers.length > 0 || authenticate !== undefined;
  if (hasCredentials || isOpenToSome || hasActiveKey()) return;
  throw new SettingsError([
    'no request could be authenticated: set SERVICE_ADMIN_API_BEARER_TOKEN (AdminApiConfig.bearer_token), ' +
      'SERVICE_IDENTITY_ISSUERS (identity.issuers) or SERVICE_ANONYMOUS_ACCESS=always (identity.anonymous), or create ' +
      'an API key with troupe keys create --offline',
  ]);
};

const isOutside = (publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);

/** Logs what the operator of a listener beyond loopback should know. */
export const reportBoundary = (
  settings: Pick<
    Settings,
    'AdminApiConfig' | 'tls' | 'trust_forwarded_headers' | 'trusted_proxies' | 'http_addr'
  >,
  anonymous: AnonymousAccess,
  log: Pick<ServiceLog, 'warn'>,
): void => {
  const { bearer_token: token } = settings.AdminApiConfig;
  const address = settings.http_addr;
  if (anonymous === 'always') log.warn('http.open_to_all', { address });
  if (settings.tls.cert_file === undefined && !hasProxy(settings))
    log.warn('http.not_encrypted', { address });
  if (token !== undefined && token.length < SHORT_TOKEN) log.warn('http.short_admin_token');
};

/** The default trusts this host only, on which no proxy forwards requests of other hosts to an outside address. */
const hasProxy = ({
  trust_forwarded_headers,
  trusted_proxies,
}: Pick<Settings, 'trust_forwarded_headers' | 'trusted_proxies'>): boolean =>
  trust_forwarded_headers && trusted_proxies.some((proxy) => proxy !== 'loopback');
