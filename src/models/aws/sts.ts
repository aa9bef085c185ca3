import { type AwsKeys, readKeys, type Search } from './keys.ts';
import { awsHost } from './region.ts';
import { ask, refusal, signRequest } from './request.ts';

/** Keys of a role, which STS issues for the keys of another identity or for the token of an identity provider. */

type Role = {
  arn: string;
  sessionName: string | undefined;
  /** The region whose STS is called. */
  region: string;
};

const STS = 'AWS STS';

export const assumeRole = (
  { arn, sessionName, region, externalId, seconds }: Role & { externalId?: string; seconds?: string },
  keys: AwsKeys,
  search: Search,
): Promise<AwsKeys> => {
  const form = {
    Action: 'AssumeRole',
    RoleArn: arn,
    RoleSessionName: sessionName ?? nameAt(search.now()),
    DurationSeconds: seconds ?? '3600',
    ...(externalId !== undefined && { ExternalId: externalId }),
  };
  return issued(form, { region, keys }, search);
};

/** The token authorizes the request, so it is not signed. */
export const assumeRoleWithToken = (
  { arn, sessionName, region }: Role,
  token: string,
  search: Search,
): Promise<AwsKeys> => {
  const form = {
    Action: 'AssumeRoleWithWebIdentity',
    RoleArn: arn,
    RoleSessionName: sessionName ?? nameAt(search.now()),
    WebIdentityToken: token,
  };
  return issued(form, { region }, search);
};

const nameAt = (now: number): string => `troupe-${now}`;

const issued = async (
  form: Readonly<Record<string, string>>,
  { region, keys }: { region: string; keys?: AwsKeys },
  search: Search,
): Promise<AwsKeys> => {
  const request = {
    method: 'POST',
    url: search.env.AWS_ENDPOINT_URL_STS?.trim() || `https://${awsHost('sts', region)}/`,
    body: new URLSearchParams({ ...form, Version: '2011-06-15' }).toString(),
  } as const;
  const signed = { ...request, body: Buffer.from(request.body) };
  const signature = keys && (await signRequest(signed, { keys, region, service: 'sts', now: search.now() }));
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signature };
  const { status, body } = await ask(search, { ...request, headers }, STS);
  const by = `${STS} (${form.Action} of ${form.RoleArn})`;
  if (status !== 200) throw refusal(by, status, elementOf(body, 'Code'));
  const names = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'];
  return readKeys(Object.fromEntries(names.map((name) => [name, elementOf(body, name)])), by);
};

/** The content of the first element with this name. Keys and codes contain no characters that XML escapes. */
const elementOf = (xml: string, name: string): string | undefined => {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  return start === -1 || end === -1 ? undefined : xml.slice(start + name.length + 2, end).trim();
};
