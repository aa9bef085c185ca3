import { isGrantWord, isServiceWord } from '../../schema/grants.ts';
import type { Tone } from '../design/Chip.tsx';
import type { Say } from '../i18n/locale.ts';
import { isKey } from '../i18n/texts.ts';
import texts from './texts.json' with { type: 'json' };

/** The meaning of grants (identity.md 1.2). */

/** Grants and sets of grants that inputs suggest, the narrow ones first. */
export const SUGGESTED = [
  ...['member', 'viewer', 'approver', 'operator'],
  ...['invoke', 'read:own', 'read:all', 'write:all', 'decide', 'keys', 'act', 'operate', 'manage'],
  ...['observe', 'evaluate', 'configure', 'configure:mcp-servers', 'admin'],
] as const;

/** Words with a pattern, and the pattern that is the default. */
const PATTERNS = { invoke: '*', decide: '*/*', configure: '*' } as const;

const isPatternWord = (word: string): word is keyof typeof PATTERNS => Object.hasOwn(PATTERNS, word);

const partsOf = (grant: string): [word: string, pattern: string | undefined] => {
  const colon = grant.indexOf(':');
  return colon < 0 ? [grant, undefined] : [grant.slice(0, colon), grant.slice(colon + 1)];
};

/** Returns what a user with the grant may do. */
export const meaningOf = (grant: string, t: Say<keyof typeof texts>): string => {
  const key = `meaning.${grant}`;
  if (isKey(texts, key)) return t(key);
  const [word, pattern] = partsOf(grant);
  if (!isPatternWord(word)) return t('unknown');
  return pattern === undefined || pattern === PATTERNS[word]
    ? t(`all.${word}`)
    : t(`matching.${word}`, { pattern });
};

/** Service grants are not divided by scope, so they stand out. */
export const toneOf = (grant: string): Tone => {
  const [word] = partsOf(grant);
  return isGrantWord(word) && isServiceWord(word) ? 'warn' : 'none';
};
