import { readFile } from 'node:fs/promises';
import { codeOf } from './files.ts';
import { type AwsKeys, type Found, type Search, unusable } from './keys.ts';
import { assumeRoleWithToken } from './sts.ts';

/** Keys of a role for a token in a file, which Kubernetes replaces before it expires. */

export const keysOfWebIdentity = async (search: Search): Promise<Found> => {
  const { env, region } = search;
  const file = env.AWS_WEB_IDENTITY_TOKEN_FILE?.trim();
  if (!file) return { absent: 'AWS_WEB_IDENTITY_TOKEN_FILE is not set' };
  const arn = env.AWS_ROLE_ARN?.trim();
  if (!arn) throw unusable('AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not');
  return keysOfTokenFile(
    { file, arn, sessionName: env.AWS_ROLE_SESSION_NAME?.trim() || undefined, region },
    search,
  );
};

export const keysOfTokenFile = async (
  { file, ...role }: { file: string; arn: string; sessionName: string | undefined; region: string },
  search: Search,
): Promise<AwsKeys> => {
  const token = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unusable(`the token file ${file} cannot be read (${codeOf(error)})`);
  });
  return assumeRoleWithToken(role, token.trim(), search);
};
