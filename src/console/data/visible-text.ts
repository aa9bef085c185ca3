/**
 * Characters that cannot be seen, that reorder what is around them, or that look like ASCII and are not: controls,
 * format and bidirectional marks, blanks other than the ordinary one, full-width forms, halves of surrogate pairs.
 */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\uff01-\uff5e]/gu;

/**
 * The text with every such character as an escape of JSON, for a person who decides on exactly this text.
 *
 * @example visibleText('rm\u200b -rf') // 'rm\\u200b -rf'
 */
export const visibleText = (text: string): string => text.replace(HIDDEN, escapeUnits);

const escapeUnits = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
