import { createHostCheck, type HostCheck } from '../http/hosts.ts';
import type { HttpDeps } from '../http/service.ts';
import { createGuesses } from '../identity/guesses.ts';
import { ABOUT } from '../routes/about.ts';
import type { Settings } from '../settings/index.ts';
import type { Process } from './process.ts';
import { version } from './version.ts';

type HttpOptions = Pick<
  HttpDeps,
  | 'settings'
  | 'member'
  | 'acceptsHost'
  | 'publicHost'
  | 'publicUrl'
  | 'isLocalListener'
  | 'observe'
  | 'log'
  | 'openApi'
>;

/** Returns the options of an HTTP service that depend on the process only. */
export const httpOptionsOf = ({
  settings,
  log,
  metrics,
  membership,
  server: {
    boundary: { host, tls, isLocalListener, isOpen },
  },
}: Process): HttpOptions => ({
  settings: {
    ...settings,
    tls,
    cors_allowed_origins: settings.AdminApiConfig.cors_allowed_origins,
    cors_request_headers: [...settings.openai.chat_id_headers, ...settings.openai.user_headers],
  },
  acceptsHost: hostCheckOf(settings, host),
  publicHost: settings.a2a_public_base_url && new URL(settings.a2a_public_base_url).host,
  publicUrl: settings.public_url,
  isLocalListener,
  member: membership?.name,
  observe: metrics.http,
  log,
  openApi: { ...ABOUT, version, isOpen },
});

/** Returns the check of the host that a request names. @param listening the host of the listener */
export const hostCheckOf = (settings: Settings, listening: string): HostCheck | undefined =>
  createHostCheck({
    listening,
    names: settings.allowed_hosts ?? [],
    publicUrls: [settings.a2a_public_base_url, settings.public_url],
  });

/** Returns the options of authentication that depend on the process only. */
export const authenticatorOptionsOf = ({ input, settings, log, metrics, server: { boundary } }: Process) => ({
  adminToken: settings.AdminApiConfig.bearer_token,
  scope_id: settings.scope_id,
  resolveScope: input.resolveScope,
  authenticate: input.authenticate,
  anonymous: boundary.anonymous,
  guesses: createGuesses({
    token: settings.AdminApiConfig.bearer_token,
    observe: metrics.http.adminRefused,
    log,
  }),
});
