/**
 * Characters that are invisible, reorder the text around them, or imitate ASCII: control, format and bidirectional
 * characters, all blanks except the space, full-width forms, and unpaired surrogates.
 */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\uff01-\uff5e]/gu;

/**
 * The text with every such character as a JSON escape, for a person who decides on exactly this text.
 *
 * @example visibleText('rm\u200b -rf') // 'rm\\u200b -rf'
 */
export const visibleText = (text: string): string => text.replace(HIDDEN, escapeUnits);

const escapeUnits = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
