import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ModelError } from './errors.ts';
import type { Environment } from './provider-options.ts';

export type AwsKeys = { accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined };

/**
 * Keys of a profile in the credentials file of AWS, which tools that sign in replace when keys expire.
 *
 * Guarantees: the file is read at the first request and again after AWS has refused its keys as expired; no error quotes
 * its content. Profiles that name another source of keys (a role, single sign-on, a process) are refused.
 */
export const createProfileKeys = (
  named: string | undefined,
  env: Environment,
): { keys(): Promise<AwsKeys>; renew(): boolean } => {
  const profile = named ?? (env.AWS_PROFILE?.trim() || 'default');
  const path =
    env.AWS_SHARED_CREDENTIALS_FILE?.trim() ||
    join(env.HOME ?? env.USERPROFILE ?? homedir(), '.aws', 'credentials');
  let current: Promise<AwsKeys> | undefined;
  return {
    keys() {
      current ??= readProfile(path, profile).catch((error: unknown) => {
        current = undefined;
        throw error;
      });
      return current;
    },
    renew() {
      current = undefined;
      return true;
    },
  };
};

const readProfile = async (path: string, profile: string): Promise<AwsKeys> => {
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw broken(`the credentials file ${path} cannot be read (${code})`);
  });
  const section = sectionOf(content, profile);
  if (!section) throw broken(`the credentials file ${path} has no profile '${profile}'`);
  const accessKeyId = section.get('aws_access_key_id');
  const secretAccessKey = section.get('aws_secret_access_key');
  if (!accessKeyId || !secretAccessKey) {
    throw broken(
      `profile '${profile}' in ${path} needs aws_access_key_id and aws_secret_access_key; other sources of keys are not supported`,
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: section.get('aws_session_token') || undefined };
};

const broken = (problem: string): ModelError => new ModelError('unauthorized', problem);

/** `[name]`, then `key = value` on each line; `#` and `;` begin a comment. */
const sectionOf = (content: string, name: string): Map<string, string> | undefined => {
  let section: Map<string, string> | undefined;
  let isOpen = false;
  for (const line of content.split(/\r?\n/)) {
    const text = line.trim();
    if (text === '' || /^[#;]/.test(text)) continue;
    const header = /^\[\s*(?<name>[^\]]+?)\s*\]/.exec(text)?.groups?.name;
    if (header !== undefined) {
      isOpen = header === name;
      if (isOpen) section ??= new Map();
      continue;
    }
    const at = text.indexOf('=');
    if (isOpen && at > 0) section?.set(text.slice(0, at).trim(), text.slice(at + 1).trim());
  }
  return section;
};
