import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { Invalid } from '../schema/outcome.ts';
import { ModelError } from './errors.ts';
import { authorizedUserGrant, readServiceAccount, serviceAccountGrant } from './google-token.ts';
import type { Environment } from './provider-options.ts';
import {
  createBearerAuthorization,
  createTokenSource,
  exchange,
  type Granted,
  type TokenDeps,
} from './token-source.ts';

/**
 * Application Default Credentials of Google Cloud: the file that `GOOGLE_APPLICATION_CREDENTIALS` names, else the file
 * that `gcloud auth application-default login` writes, else the metadata server of the host.
 *
 * Guarantees: the file is read again for each token, so a replaced file is used without a restart; no error quotes its
 * content. Relies on: credentials are sent only to Google's token service, and the metadata server receives only token
 * requests.
 */

type Deps = TokenDeps & { env: Environment };

export const applicationDefaultTokens = (
  scopes: readonly string[],
  deps: Deps,
): ReturnType<typeof createBearerAuthorization> => {
  const project = deps.env.GOOGLE_CLOUD_QUOTA_PROJECT?.trim();
  return createBearerAuthorization(
    createTokenSource(() => grant(scopes, deps), deps),
    project ? { 'x-goog-user-project': project } : {},
  );
};

const grant = async (scopes: readonly string[], deps: Deps): Promise<Granted> => {
  const named = deps.env.GOOGLE_APPLICATION_CREDENTIALS?.trim();
  const path = named || wellKnownPath(deps.env);
  const content = await contentOf(path, named ? 'required' : 'optional');
  return content === undefined ? fromMetadata(scopes, deps) : fromFile(path, content, { scopes, deps });
};

/** The path at which gcloud stores the credentials of its user. */
const wellKnownPath = (env: Environment): string => {
  const file = 'application_default_credentials.json';
  const given = env.CLOUDSDK_CONFIG?.trim();
  if (given) return join(given, file);
  const base = process.platform === 'win32' ? env.APPDATA : join(env.HOME ?? homedir(), '.config');
  return join(base ?? homedir(), 'gcloud', file);
};

const contentOf = async (path: string, need: 'required' | 'optional'): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    if (need === 'optional' && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw broken(`the credentials file ${path} cannot be read (${code})`);
  }
};

const broken = (problem: string): ModelError => new ModelError('unauthorized', problem);

const Kind = z.object({ type: z.string() });
const User = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  refresh_token: z.string().min(1),
});

const fromFile = (
  path: string,
  content: string,
  { scopes, deps }: { scopes: readonly string[]; deps: Deps },
): Promise<Granted> => {
  const json = jsonOrUndefined(content);
  const kind = Kind.safeParse(json).data?.type;
  if (kind === 'service_account') return serviceAccountGrant(accountIn(path, json), scopes, deps)();
  if (kind === 'authorized_user') {
    const user = User.safeParse(json);
    if (user.success) return authorizedUserGrant(user.data, deps)();
    const field = user.error.issues[0]?.path.join('.');
    throw broken(`the credentials file ${path} has no text in '${field}'`);
  }
  const found = kind === undefined ? 'is no JSON object with a type' : `has the type '${kind.slice(0, 40)}'`;
  throw broken(`the credentials file ${path} ${found}; supported types: service_account, authorized_user`);
};

const accountIn = (path: string, json: unknown): ReturnType<typeof readServiceAccount> => {
  try {
    return readServiceAccount(json, `the credentials file ${path}`);
  } catch (error) {
    // The error is not `Invalid`: a malformed file may be replaced before the next call.
    throw error instanceof Invalid ? broken(error.message) : error;
  }
};

const METADATA = 'metadata.google.internal';

/** All hosts of Google Cloud share one metadata host name; emulators set another one. */
const fromMetadata = (scopes: readonly string[], deps: Deps): Promise<Granted> => {
  const host = deps.env.GCE_METADATA_HOST?.trim() || METADATA;
  const query = new URLSearchParams({ scopes: scopes.join(',') });
  return exchange(
    {
      url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token?${query}`,
      by: 'no credentials of Google Cloud: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has no default login, and the metadata server was not reached',
      refused: 'the metadata server granted no token',
      headers: { 'metadata-flavor': 'Google' },
    },
    deps,
  );
};
