/**
 * Ids of users, scopes, names and email addresses that a token or a request names (identity.md 1.1). They are compared
 * byte for byte, so the same text must always have the same bytes, and two texts that look the same must not differ.
 */

export const MOST_USER_ID_BYTES = 256;
export const MOST_SCOPE_BYTES = 512;

/** Four code units compose to one character at most, so a text of more units exceeds its limit in NFC too. */
const MOST_UNITS_PER_BYTE = 4;

/** Control, format, private-use, unassigned and invisible characters, and separators of lines. */
const FORBIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Returns the id of a user in NFC, or `undefined` if it is not allowed. URL parsers remove the path segments `.` and `..`,
 * even percent-encoded ones, so no route could name such a user.
 */
export const userIdText = (text: string): string | undefined => {
  const id = identityText(text, MOST_USER_ID_BYTES);
  return id === '.' || id === '..' ? undefined : id;
};

/**
 * Returns the id of a user in NFC, for a lookup. No user has an id that is longer than allowed, so it stays as it is:
 * normalization takes quadratic time for a long run of combining characters.
 */
export const soughtUserId = (text: string): string =>
  text.length > MOST_USER_ID_BYTES * MOST_UNITS_PER_BYTE ? text : text.normalize('NFC');

/** Returns the text in NFC, or `undefined` if it is not allowed. */
export const identityText = (text: string, mostBytes: number): string | undefined => {
  if (text.length > mostBytes * MOST_UNITS_PER_BYTE) return undefined;
  const composed = text.normalize('NFC');
  const bytes = Buffer.byteLength(composed);
  const allowed =
    bytes > 0 &&
    bytes <= mostBytes &&
    composed.trim() === composed &&
    !composed.startsWith('~') &&
    !FORBIDDEN.test(composed);
  return allowed ? composed : undefined;
};
