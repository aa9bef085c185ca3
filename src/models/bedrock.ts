import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import { type AwsKeys, createProfileKeys } from './aws-profile.ts';
import { onceLoaded } from './once-loaded.ts';
import {
  type AdapterOption,
  type Environment,
  mayUseEnvironment,
  sendableKey,
  textOptionOf,
} from './provider-options.ts';
import type { SignedRequest } from './wire-model.ts';

/**
 * Amazon Bedrock: the protocol ConverseStream, with requests that are signed with keys of AWS (SigV4), or with an API
 * key of Bedrock. A secret key is never sent.
 */

export const BEDROCK_OPTIONS: readonly AdapterOption[] = [
  { name: 'region' },
  { name: 'access_key_id', isSecret: true },
  { name: 'secret_access_key', isSecret: true },
  { name: 'session_token', isSecret: true },
  { name: 'profile' },
];

/** Part of a host name: nothing that could lead to another host may get in. */
const REGION = /^[a-z]{2}(-[a-z]+)+-\d{1,2}$/;

export const bedrockHome = (spec: ProviderSpec, env: Environment): string | undefined => {
  const region = regionIn(spec, env);
  if (region === undefined) return undefined;
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
};

const regionIn = (spec: ProviderSpec, env: Environment): string | undefined => {
  const region = textOptionOf(spec, 'region') ?? (env.AWS_REGION?.trim() || env.AWS_DEFAULT_REGION?.trim());
  if (!region) return undefined;
  if (!REGION.test(region)) {
    throw new Invalid(`adapter_options.region must be a region of AWS such as us-east-1, got '${region}'`);
  }
  return region;
};

/** Models are listed by another host than the one that infers. */
export const bedrockListUrl = (baseURL: string): string =>
  `${baseURL.replace('//bedrock-runtime.', '//bedrock.')}foundation-models`;

export const hasAwsKeys = (spec: ProviderSpec): boolean =>
  KEY_OPTIONS.some((key) => textOptionOf(spec, key) !== undefined);

const KEY_OPTIONS = ['access_key_id', 'secret_access_key', 'session_token'] as const;

export const checkBedrock = (spec: ProviderSpec): void => {
  regionIn(spec, {});
  keysOf(spec);
};

const keysOf = (spec: ProviderSpec): AwsKeys | undefined => {
  if (!hasAwsKeys(spec)) return undefined;
  const [accessKeyId, secretAccessKey, sessionToken] = KEY_OPTIONS.map((key) => {
    const value = textOptionOf(spec, key);
    return value === undefined ? undefined : sendableKey(value, `adapter_options.${key}`);
  });
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Invalid(
      'adapter_options.access_key_id and adapter_options.secret_access_key must be given together',
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken };
};

export const connectBedrock = (
  connection: Connection,
  spec: ProviderSpec,
): ReturnType<AdapterRow['connect']> => {
  const { apiKey, headers, tokens } = connection;
  const wire = onceLoaded(async () => (await import('./wire/bedrock.ts')).bedrockWire());
  if (apiKey !== '') return { wire, headers: () => ({ authorization: `Bearer ${apiKey}`, ...headers }) };
  const region = signedRegion(connection, spec);
  const { keys, renew } = keySource(connection, spec);
  return {
    wire,
    headers: async (request) => {
      const signed = await signatureOf(request, { keys: await keys(), region, now: tokens.now() });
      return { ...headers, ...signed };
    },
    ...(renew && { renew }),
  };
};

type KeySource = { keys(): Promise<AwsKeys>; renew?(): boolean };

const keySource = ({ env }: Connection, spec: ProviderSpec): KeySource => {
  const given =
    keysOf(spec) ?? (textOptionOf(spec, 'profile') === undefined ? environmentKeys(env) : undefined);
  if (given) return { keys: async () => given };
  if (!mayUseEnvironment(spec)) {
    throw new Invalid(
      `provider '${spec.id}' has no credentials: give api_key, or access_key_id and secret_access_key in adapter_options, or allow AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a profile with allow_env_credentials`,
    );
  }
  return createProfileKeys(textOptionOf(spec, 'profile'), env);
};

const environmentKeys = (env: Environment): AwsKeys | undefined => {
  const accessKeyId = env.AWS_ACCESS_KEY_ID?.trim();
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY?.trim();
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN?.trim() || undefined };
};

const HOST = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./;

/** A signature names the region, which the host of AWS does as well. */
const signedRegion = ({ baseURL, env }: Connection, spec: ProviderSpec): string => {
  const region = regionIn(spec, env) ?? HOST.exec(new URL(baseURL).hostname)?.[1];
  if (region !== undefined) return region;
  throw new Invalid(`provider '${spec.id}' needs adapter_options.region, which its requests are signed for`);
};

const signatureOf = async (
  { method, url, body }: SignedRequest,
  { keys, region, now }: { keys: AwsKeys; region: string; now: number },
): Promise<Record<string, string>> => {
  // Loaded when the first request is signed.
  const { AwsV4Signer } = await import('aws4fetch');
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new AwsV4Signer({
    method,
    url,
    ...(body !== undefined && { body }),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 'bedrock',
    region,
    datetime: new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return Object.fromEntries([...signed.headers].filter(([name]) => name !== 'host'));
};
