import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import type { AwsKeys } from './aws/keys.ts';
import { awsHost, REGION } from './aws/region.ts';
import { onceLoaded } from './once-loaded.ts';
import {
  type AdapterOption,
  type Environment,
  mayUseEnvironment,
  readTextOption,
  sendableKey,
} from './provider-options.ts';
import { createSource, orAborted, type Source } from './token-source.ts';

/**
 * Amazon Bedrock: the ConverseStream protocol. Requests are signed with AWS keys (SigV4) or carry a Bedrock API key. A
 * secret key is never sent.
 */

export const BEDROCK_OPTIONS: readonly AdapterOption[] = [
  { name: 'region' },
  { name: 'access_key_id', isSecret: true },
  { name: 'secret_access_key', isSecret: true },
  { name: 'session_token', isSecret: true },
  { name: 'profile' },
];

export const bedrockHome = (spec: ProviderSpec, env: Environment): string | undefined => {
  const region = regionIn(spec, env);
  if (region === undefined) return undefined;
  return `https://${awsHost('bedrock-runtime', region)}/`;
};

const regionIn = (spec: ProviderSpec, env: Environment): string | undefined => {
  const region = readTextOption(spec, 'region') ?? (env.AWS_REGION?.trim() || env.AWS_DEFAULT_REGION?.trim());
  if (!region) return undefined;
  if (!REGION.test(region)) {
    throw new Invalid(`adapter_options.region must be a region of AWS such as us-east-1, got '${region}'`);
  }
  return region;
};

/** A different host than the one for inference lists the models. */
export const bedrockListUrl = (baseURL: string): string =>
  `${baseURL.replace('//bedrock-runtime.', '//bedrock.')}foundation-models`;

export const hasAwsKeys = (spec: ProviderSpec): boolean =>
  KEY_OPTIONS.some((key) => readTextOption(spec, key) !== undefined);

const KEY_OPTIONS = ['access_key_id', 'secret_access_key', 'session_token'] as const;

export const checkBedrock = (spec: ProviderSpec): void => {
  regionIn(spec, {});
  keysOf(spec);
};

const keysOf = (spec: ProviderSpec): AwsKeys | undefined => {
  if (!hasAwsKeys(spec)) return undefined;
  const [accessKeyId, secretAccessKey, sessionToken] = KEY_OPTIONS.map((key) => {
    const value = readTextOption(spec, key);
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
  const source = keysFor(connection, spec, region);
  return {
    wire,
    headers: async (request, signal) => {
      const { signRequest } = await import('./aws/request.ts');
      const keys = await orAborted(source.get(), signal);
      const signed = await signRequest(request, { keys, region, service: 'bedrock', now: tokens.now() });
      return { ...headers, ...signed };
    },
    ...(source.drop && { renew: (refused) => hasDropped(source, refused) }),
  };
};

/** Drops the keys that signed a rejected request. The profile or the host may provide others. */
const hasDropped = (source: Keys, { authorization = '' }: Readonly<Record<string, string>>): boolean => {
  source.drop?.(({ accessKeyId }) => authorization.includes(`Credential=${accessKeyId}/`));
  return true;
};

type Keys = Pick<Source<AwsKeys>, 'get'> & Partial<Pick<Source<AwsKeys>, 'drop'>>;

const keysFor = ({ env, tokens }: Connection, spec: ProviderSpec, region: string): Keys => {
  const given = keysOf(spec);
  if (given) return { get: async () => given };
  if (!mayUseEnvironment(spec)) {
    throw new Invalid(
      `provider '${spec.id}' has no credentials: give api_key, or access_key_id and secret_access_key in adapter_options, or allow those of the environment (AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, a role of this host) with allow_env_credentials`,
    );
  }
  const profile = readTextOption(spec, 'profile');
  return createSource(async () => {
    // The module is loaded when the first request is signed.
    const { findKeys } = await import('./aws/chain.ts');
    const value = await findKeys(profile, { ...tokens, env, region });
    return { value, until: value.expiresAt };
  }, tokens);
};

const HOST = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./;

/** The region that the signature names: from the options or the environment, else from the AWS host name. */
const signedRegion = ({ baseURL, env }: Connection, spec: ProviderSpec): string => {
  const region = regionIn(spec, env) ?? HOST.exec(new URL(baseURL).hostname)?.[1];
  if (region !== undefined) return region;
  throw new Invalid(`provider '${spec.id}' needs adapter_options.region, which its requests are signed for`);
};
