import { isGrantWord, isServiceWord } from '../../schema/grants.ts';
import { Chip, type Tone } from '../design/Chip.tsx';
import { type Say, useTexts } from '../i18n/locale.ts';
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
const toneOf = (grant: string): Tone => {
  const [word] = partsOf(grant);
  return isGrantWord(word) && isServiceWord(word) ? 'warn' : 'none';
};

export const GrantChip = ({ grant }: { grant: string }) => {
  const t = useTexts(texts);
  return (
    <Chip tone={toneOf(grant)} title={meaningOf(grant, t)}>
      <code>{grant}</code>
    </Chip>
  );
};

const MOST_CHIPS = 3;

/** Grants in a cell of a table. The tooltip of a chip is the meaning of its grant. */
export const GrantChips = ({ grants }: { grants: readonly string[] }) => (
  <span className="row">
    {grants.slice(0, MOST_CHIPS).map((grant) => (
      <GrantChip key={grant} grant={grant} />
    ))}
    {grants.length > MOST_CHIPS && (
      <span className="quiet" title={grants.slice(MOST_CHIPS).join(', ')}>
        +{grants.length - MOST_CHIPS}
      </span>
    )}
  </span>
);

/** Grants with their meaning, one per row. */
export const GrantList = ({ grants, none }: { grants: readonly string[]; none: string }) => {
  const t = useTexts(texts);
  if (grants.length === 0) return <p className="quiet">{none}</p>;
  return (
    <ul className="stack">
      {grants.map((grant) => (
        <li key={grant} className="row">
          <GrantChip grant={grant} />
          <span className="grow">{meaningOf(grant, t)}</span>
        </li>
      ))}
    </ul>
  );
};
