import { z } from 'zod';
import { ModelError } from '../errors.ts';
import type { Environment } from '../provider-options.ts';
import type { TokenDeps } from '../token-source.ts';

/** Keys that sign requests to AWS, and the code that all their sources share. */

export type AwsKeys = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
  /** Milliseconds since 1970; absent for keys that are valid until they are deleted. */
  expiresAt?: number;
};

/** A source that is not configured. `absent`: the missing setting. */
export type Absent = { absent: string };

export type Found = AwsKeys | Absent;

/** One search for keys. */
export type Search = TokenDeps & {
  env: Environment;
  /** The region of the provider that needs the keys. */
  region: string;
  /** The deadline of the search. */
  signal: AbortSignal;
};

export const isAbsent = (found: Found): found is Absent => 'absent' in found;

/** Characters that a header may contain. The error for an invalid header would quote the key. */
const Text = z.string().regex(/^[\x21-\x7e]{1,16384}$/);

const Keys = z.object({
  AccessKeyId: Text,
  SecretAccessKey: Text,
  /** The session token in responses of metadata services. */
  Token: Text.optional(),
  /** The session token in responses of STS and of programs. */
  SessionToken: Text.optional(),
  Expiration: z
    .string()
    .refine((time) => !Number.isNaN(Date.parse(time)))
    .optional(),
});

/** @throws ModelError that names a field and quotes no content */
export const readKeys = (document: unknown, by: string): AwsKeys => {
  const { data, error } = Keys.safeParse(document);
  if (!data) {
    const field = error.issues[0]?.path.join('.');
    throw unusable(
      `${by} returned no keys of AWS: ${field ? `'${field}' is missing or malformed` : 'it is no JSON object'}`,
    );
  }
  const { AccessKeyId, SecretAccessKey, Token, SessionToken, Expiration } = data;
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: Token ?? SessionToken,
    ...(Expiration !== undefined && { expiresAt: Date.parse(Expiration) }),
  };
};

export const unusable = (problem: string): ModelError => new ModelError('unauthorized', problem);

export const keysOfEnvironment = (env: Environment): Found => {
  const AccessKeyId = env.AWS_ACCESS_KEY_ID?.trim();
  const SecretAccessKey = env.AWS_SECRET_ACCESS_KEY?.trim();
  if (!AccessKeyId || !SecretAccessKey) {
    return { absent: 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set' };
  }
  const SessionToken = env.AWS_SESSION_TOKEN?.trim() || undefined;
  return readKeys({ AccessKeyId, SecretAccessKey, SessionToken }, 'the environment');
};
