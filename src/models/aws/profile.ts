import { keysOfContainer } from './container.ts';
import { type Files, readFiles, type Settings } from './files.ts';
import { keysOfInstance } from './instance.ts';
import {
  type AwsKeys,
  type Found,
  isAbsent,
  keysOfEnvironment,
  readKeys,
  type Search,
  unusable,
} from './keys.ts';
import { keysOfProcess } from './process.ts';
import { REGION } from './region.ts';
import { keysOfSignOn } from './single-sign-on.ts';
import { assumeRole } from './sts.ts';
import { keysOfTokenFile } from './web-identity.ts';

/**
 * Keys of a profile: from its files, from a role, from a program or from single sign-on. A role is assumed with the
 * keys of another profile or of this host.
 */

/**
 * `named`: the profile in a provider's options. If no profile is named, `default` may be missing or have no source of
 * keys.
 */
export const keysOfProfile = async (named: string | undefined, search: Search): Promise<Found> => {
  const given = named ?? search.env.AWS_PROFILE?.trim();
  const profile = given || 'default';
  const found = await resolve(profile, { files: await readFiles(search.env), search, above: [] });
  if (given && isAbsent(found)) throw unusable(found.absent);
  return found;
};

type Resolving = {
  files: Files;
  search: Search;
  /** Profiles that led to this one as their source. */
  above: readonly string[];
};

const resolve = async (profile: string, resolving: Resolving): Promise<Found> => {
  const { files, search, above } = resolving;
  const settings = files.profiles.get(profile);
  if (!settings) return { absent: `profile '${profile}' is not in ${files.paths}` };
  const arn = settings.get('role_arn');
  const own = ownKeys(profile, settings);
  // A source profile provides the keys that it contains; a profile may name itself as its source.
  if (own && (arn === undefined || above.length > 0)) return own;
  if (above.includes(profile)) {
    throw unusable(`the profiles ${[...above, profile].join(' -> ')} name each other as source_profile`);
  }
  if (arn !== undefined) return keysOfRole(profile, { arn, settings }, resolving);
  const command = settings.get('credential_process');
  if (command !== undefined) return keysOfProcess(command, profile, search);
  const session = settings.get('sso_session');
  if (session !== undefined || settings.has('sso_start_url')) {
    return keysOfSignOn({ profile, settings, session: files.sessions.get(session ?? '') }, search);
  }
  return {
    absent: `profile '${profile}' in ${files.paths} has none of aws_access_key_id with aws_secret_access_key, role_arn, credential_process, sso_session`,
  };
};

const ownKeys = (profile: string, settings: Settings): AwsKeys | undefined => {
  const AccessKeyId = settings.get('aws_access_key_id');
  const SecretAccessKey = settings.get('aws_secret_access_key');
  if (AccessKeyId === undefined && SecretAccessKey === undefined) return undefined;
  if (AccessKeyId === undefined || SecretAccessKey === undefined) {
    throw unusable(
      `profile '${profile}' needs aws_access_key_id and aws_secret_access_key, and has one of them`,
    );
  }
  const SessionToken = settings.get('aws_session_token');
  return readKeys({ AccessKeyId, SecretAccessKey, SessionToken }, `profile '${profile}'`);
};

const keysOfRole = async (
  profile: string,
  { arn, settings }: { arn: string; settings: Settings },
  resolving: Resolving,
): Promise<AwsKeys> => {
  const { search } = resolving;
  const region = settings.get('region') ?? search.region;
  if (!REGION.test(region)) throw unusable(`region of profile '${profile}' must be a region of AWS`);
  const role = { arn, sessionName: settings.get('role_session_name'), region };
  const file = settings.get('web_identity_token_file');
  if (file !== undefined) return keysOfTokenFile({ ...role, file }, search);
  if (settings.has('mfa_serial')) {
    throw unusable(
      `profile '${profile}' has mfa_serial: a service cannot enter a code; use a role without it, or credential_process`,
    );
  }
  const source = await sourceKeys(profile, settings, resolving);
  const [externalId, seconds] = [settings.get('external_id'), settings.get('duration_seconds')];
  const more = { ...(externalId !== undefined && { externalId }), ...(seconds !== undefined && { seconds }) };
  return assumeRole({ ...role, ...more }, source, search);
};

const HOST_SOURCES: Readonly<Record<string, (search: Search) => Found | Promise<Found>>> = {
  Environment: ({ env }) => keysOfEnvironment(env),
  EcsContainer: keysOfContainer,
  Ec2InstanceMetadata: keysOfInstance,
};

/** The keys for assuming a role. */
const sourceKeys = async (
  profile: string,
  settings: Settings,
  { files, search, above }: Resolving,
): Promise<AwsKeys> => {
  const [source, host] = [settings.get('source_profile'), settings.get('credential_source')];
  if ((source === undefined) === (host === undefined)) {
    throw unusable(
      `profile '${profile}' has role_arn and needs one of source_profile, credential_source, web_identity_token_file`,
    );
  }
  const find = host === undefined ? undefined : HOST_SOURCES[host];
  if (host !== undefined && !find) {
    throw unusable(
      `credential_source of profile '${profile}' must be one of ${Object.keys(HOST_SOURCES).join(', ')}`,
    );
  }
  const found = find
    ? await find(search)
    : await resolve(source ?? '', { files, search, above: [...above, profile] });
  if (isAbsent(found)) throw unusable(`the source of profile '${profile}': ${found.absent}`);
  return found;
};
