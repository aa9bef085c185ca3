import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../provider-options.ts';
import { unusable } from './keys.ts';

/**
 * The configuration and credentials files that AWS tools and SDKs share.
 *
 * Guarantees: no error quotes the content of a file.
 */

export type Settings = ReadonlyMap<string, string>;

export type Files = {
  profiles: ReadonlyMap<string, Settings>;
  /** Single sign-on sessions by name. */
  sessions: ReadonlyMap<string, Settings>;
  /** The files that were read, for errors. */
  paths: string;
};

/** A path in the `.aws` folder of the user's home directory. */
export const homePath = (env: Environment, ...parts: string[]): string =>
  join(env.HOME ?? env.USERPROFILE ?? homedir(), '.aws', ...parts);

/** A missing file counts as empty; if both files contain a setting, the credentials file wins. */
export const readFiles = async (env: Environment): Promise<Files> => {
  const config = env.AWS_CONFIG_FILE?.trim() || homePath(env, 'config');
  const credentials = env.AWS_SHARED_CREDENTIALS_FILE?.trim() || homePath(env, 'credentials');
  const [configured, secrets] = await Promise.all([sectionsIn(config), sectionsIn(credentials)]);
  const profiles = new Map<string, Settings>();
  const sessions = new Map<string, Settings>();
  for (const [title, settings] of configured) {
    const [, kind, name = ''] = /^(profile|sso-session)\s+["']?([^"']+)/.exec(title) ?? [];
    if (title === 'default' || kind === 'profile') profiles.set(name.trim() || title, settings);
    else if (kind === 'sso-session') sessions.set(name.trim(), settings);
  }
  for (const [name, settings] of secrets)
    profiles.set(name, new Map([...(profiles.get(name) ?? []), ...settings]));
  return { profiles, sessions, paths: `${config} and ${credentials}` };
};

const sectionsIn = async (path: string): Promise<Map<string, Settings>> => {
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    throw unusable(`the file ${path} cannot be read (${code})`);
  });
  return parse(content);
};

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';

/**
 * Parses `[title]` lines followed by `key = value` lines. `#` and `;` begin a comment at the start of a line or after a
 * space. Indented lines below a key without a value are settings of a tool and are ignored.
 */
const parse = (content: string): Map<string, Settings> => {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  let isNested = false;
  for (const line of content.split(/\r?\n/)) {
    const text = line.replace(/(?:^|\s)[#;].*/s, '').trim();
    if (text === '') continue;
    if (text.startsWith('[')) {
      const title = text.slice(1, text.endsWith(']') ? -1 : undefined).trim();
      section = sections.get(title) ?? new Map();
      sections.set(title, section);
      isNested = false;
      continue;
    }
    if (isNested && /^\s/.test(line)) continue;
    const at = text.indexOf('=');
    const value = text.slice(at + 1).trim();
    isNested = value === '';
    if (at > 0 && !isNested) section?.set(text.slice(0, at).trim(), value);
  }
  return sections;
};
