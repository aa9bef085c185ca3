import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { homePath, type Settings } from './files.ts';
import { type AwsKeys, readKeys, type Search, unusable } from './keys.ts';
import { awsHost, REGION } from './region.ts';
import { ask, refusal } from './request.ts';

/**
 * Keys of a role for the user whom `aws sso login` signed in (IAM Identity Center). The tool stores the user's token in
 * a file, which is read for each request.
 *
 * Guarantees: an expired token is refreshed if the file has a refresh token, and is stored in the same file, because
 * the service may replace the refresh token as well.
 */

export type SignOn = {
  profile: string;
  settings: Settings;
  /** The settings of the session that `sso_session` names. */
  session: Settings | undefined;
};

const Token = z.looseObject({
  accessToken: z.string().regex(/^[\x21-\x7e]+$/),
  expiresAt: z.string(),
  refreshToken: z.string().optional(),
  clientId: z.string().optional(),
  clientSecret: z.string().optional(),
});
type Token = z.infer<typeof Token>;

/** A token that expires within this time is refreshed. */
const MARGIN_MS = 60_000;

export const keysOfSignOn = async (signOn: SignOn, search: Search): Promise<AwsKeys> => {
  const { profile, settings, session } = signOn;
  const name = settings.get('sso_session');
  if (name !== undefined && !session) throw broken(profile, `[sso-session ${name}] is missing`);
  const need = (key: string): string => {
    const value = session?.get(key) ?? settings.get(key);
    if (value === undefined) throw broken(profile, `${key} is missing`);
    return value;
  };
  const region = need('sso_region');
  if (!REGION.test(region)) throw broken(profile, 'sso_region must be a region of AWS such as us-east-1');
  const account = need('sso_account_id');
  const role = need('sso_role_name');
  const start = need('sso_start_url');
  const file = `${createHash('sha1')
    .update(name ?? start)
    .digest('hex')}.json`;
  const path = homePath(search.env, 'sso', 'cache', file);
  const token = await tokenIn(path, { profile, region }, search);
  const by = `AWS single sign-on (role ${role} of account ${account})`;
  const query = new URLSearchParams({ account_id: account, role_name: role });
  const url = `${endpoint(search, 'AWS_ENDPOINT_URL_SSO', awsHost('portal.sso', region))}federation/credentials?${query}`;
  const headers = { 'x-amz-sso_bearer_token': token };
  const { status, body } = await ask(search, { method: 'GET', url, headers }, by);
  if (status === 401) throw expired(profile);
  if (status !== 200) throw refusal(by, status, undefined);
  return readKeys(Keys.safeParse(jsonOrUndefined(body)).data, by);
};

/** Renames the fields of the response to those of the other sources. */
const Keys = z
  .object({
    roleCredentials: z.object({
      accessKeyId: z.string(),
      secretAccessKey: z.string(),
      sessionToken: z.string(),
      expiration: z.number().max(8.64e15),
    }),
  })
  .transform(({ roleCredentials: { accessKeyId, secretAccessKey, sessionToken, expiration } }) => ({
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    SessionToken: sessionToken,
    Expiration: new Date(expiration).toISOString(),
  }));

const endpoint = ({ env }: Search, variable: string, host: string): string => {
  const given = env[variable]?.trim() || `https://${host}/`;
  return given.endsWith('/') ? given : `${given}/`;
};

const broken = (profile: string, problem: string) =>
  unusable(`single sign-on of profile '${profile}': ${problem}`);

const expired = (profile: string) =>
  broken(profile, `the user is not signed in; run aws sso login --profile ${profile}`);

const tokenIn = async (
  path: string,
  { profile, region }: { profile: string; region: string },
  search: Search,
): Promise<string> => {
  const { data: token } = Token.safeParse(jsonOrUndefined(await readFile(path, 'utf8').catch(() => '')));
  if (!token) throw expired(profile);
  if (search.now() < Date.parse(token.expiresAt) - MARGIN_MS) return token.accessToken;
  const renewed = await refreshed(token, region, search);
  if (!renewed) throw expired(profile);
  await replace(path, renewed);
  return renewed.accessToken;
};

const Refreshed = z.object({
  accessToken: z.string().regex(/^[\x21-\x7e]+$/),
  expiresIn: z.number().positive(),
  refreshToken: z.string().optional(),
});

const refreshed = async (token: Token, region: string, search: Search): Promise<Token | undefined> => {
  const { clientId, clientSecret, refreshToken } = token;
  if (!clientId || !clientSecret || !refreshToken) return undefined;
  const by = 'AWS single sign-on';
  const request = {
    method: 'POST',
    url: `${endpoint(search, 'AWS_ENDPOINT_URL_SSO_OIDC', awsHost('oidc', region))}token`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, clientSecret, grantType: 'refresh_token', refreshToken }),
  } as const;
  const { status, body } = await ask(search, request, by);
  if (status >= 500 || status === 429) throw refusal(by, status, undefined);
  const { data } = Refreshed.safeParse(jsonOrUndefined(body));
  if (status !== 200 || !data) return undefined;
  const { expiresIn, ...tokens } = data;
  return { ...token, ...tokens, expiresAt: new Date(search.now() + expiresIn * 1000).toISOString() };
};

/** Replaces the file atomically. In a read-only folder the old token stays and is refreshed again. */
const replace = async (path: string, token: Token): Promise<void> => {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, JSON.stringify(token), { mode: 0o600 });
    await rename(draft, path);
  } catch {
    await rm(draft, { force: true });
  }
};
