import { isLoopback } from '../schema/loopback.ts';
import { SettingsError } from './error.ts';
import { issuerProblems } from './issuer-rules.ts';
import { isOnLoopback } from './kinds.ts';
import type { Settings } from './table.ts';

type Rule = { broken(settings: Settings): boolean; problem(settings: Settings): string };

/** Rules that involve more than one setting. */
const crossRules: readonly Rule[] = [
  {
    broken: ({ mailbox }) => mailbox.lease_renewal_ms >= mailbox.lease_ms,
    problem: ({ mailbox }) =>
      `SERVICE_MAILBOX_LEASE_RENEWAL_MS (mailbox.lease_renewal_ms): ${mailbox.lease_renewal_ms} is not allowed; ` +
      `allowed: below SERVICE_MAILBOX_LEASE_MS (mailbox.lease_ms), which is ${mailbox.lease_ms}`,
  },
  {
    broken: ({ tls }) => (tls.cert_file === undefined) !== (tls.key_file === undefined),
    problem: ({ tls }) => {
      const [given, missing] =
        tls.cert_file === undefined ? [TLS_KEY_FILE, TLS_CERT_FILE] : [TLS_CERT_FILE, TLS_KEY_FILE];
      return `${missing}: missing; ${given} is set; allowed: both or neither`;
    },
  },
  {
    broken: ({ tls, http_addr }) => tls.cert_file !== undefined && http_addr.startsWith('unix:'),
    problem: () => `${TLS_CERT_FILE}: not allowed with a Unix socket as SERVICE_HTTP_ADDR (http_addr)`,
  },
  {
    broken: ({ database, trace }) => database.url !== undefined && trace.sink_dir !== undefined,
    problem: () =>
      `SERVICE_PERSISTENT_SINK_DIR (trace.sink_dir): not allowed with ${DATABASE_URL}: traces are in the database`,
  },
  {
    broken: ({ database, member, http_addr }) =>
      database.url !== undefined && member.url === undefined && !isOnLoopback(http_addr),
    problem: ({ http_addr }) =>
      `SERVICE_MEMBER_URL (member.url): missing; required with ${DATABASE_URL} unless SERVICE_HTTP_ADDR (http_addr) ` +
      `is a loopback address, and it is ${http_addr}`,
  },
  {
    broken: ({ member, cluster }) =>
      member.url !== undefined && !isLoopback(new URL(member.url).hostname) && cluster.secret === undefined,
    problem: () =>
      'SERVICE_CLUSTER_SECRET (cluster.secret): missing; required unless SERVICE_MEMBER_URL (member.url) is a loopback address',
  },
];

const DATABASE_URL = 'SERVICE_DATABASE_URL (database.url)';

const TLS_CERT_FILE = 'SERVICE_TLS_CERT_FILE (tls.cert_file)';
const TLS_KEY_FILE = 'SERVICE_TLS_KEY_FILE (tls.key_file)';

export const crossProblems = (settings: Settings): string[] => [
  ...crossRules.filter((rule) => rule.broken(settings)).map((rule) => rule.problem(settings)),
  ...issuerProblems(settings),
];

/**
 * The startup rule (config.md 1.2), for any listen address: without a token, none of the three groups of admin routes
 * may be exposed. Checked before the router is built; throws `SettingsError`.
 */
export const assertStartable = ({ AdminApiConfig: admin }: Settings): void => {
  const exposed = admin.expose_config_routes || admin.expose_eval_routes || admin.expose_trace_routes;
  if (!exposed || admin.bearer_token !== undefined) return;
  throw new SettingsError([
    'admin, config, trace, and eval APIs require SERVICE_ADMIN_API_BEARER_TOKEN when any admin surface is exposed',
  ]);
};

/** `troupe dev` generates a token for each data directory, and the members of a cluster need the same one. */
export const assertShared = ({ database, AdminApiConfig: admin }: Settings): void => {
  if (database.url === undefined || admin.bearer_token !== undefined) return;
  throw new SettingsError([
    `SERVICE_ADMIN_API_BEARER_TOKEN (AdminApiConfig.bearer_token): missing; required with ${DATABASE_URL}, because all members need the same one`,
  ]);
};
