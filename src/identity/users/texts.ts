import {
  identityText,
  MOST_SCOPE_BYTES,
  MOST_USER_ID_BYTES,
  userIdText,
} from '../../schema/identity-text.ts';
import { Invalid } from '../../schema/outcome.ts';

/** Checks the texts that name users and scopes (identity.md 1.1). */

/** @throws Invalid */
export const checkedUserId = (field: string, text: string): string => {
  const id = checked(field, text, MOST_USER_ID_BYTES);
  if (userIdText(id) !== undefined) return id;
  throw new Invalid(`${field} must not be '.' or '..', which the path of a URL cannot contain`);
};

/** @throws Invalid */
export const checkedScope = (field: string, text: string): string => checked(field, text, MOST_SCOPE_BYTES);

/** @throws Invalid */
export const checkedName = (field: string, text: string): string => checked(field, text, MOST_USER_ID_BYTES);

/** @throws Invalid */
export const checkedEmail = (field: string, text: string): string => checkedName(field, text).toLowerCase();

const checked = (field: string, text: string, mostBytes: number): string => {
  const found = identityText(text, mostBytes);
  if (found !== undefined) return found;
  throw new Invalid(
    `${field} must have 1 to ${mostBytes} bytes, no blanks at its ends, no leading '~', and no control, invisible, private-use or unassigned characters (got ${shown(text)})`,
  );
};

const SHOWN = 80;

/** JSON escapes control characters; other invisible ones are escaped here. */
const shown = (text: string): string =>
  JSON.stringify(text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`).replace(
    /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`,
  );

/**
 * Returns the form that look-alikes share: ids that differ only in case or in compatibility characters (`ﬁ`, `Ａ`).
 * Upper case comes first because the lower case alone keeps apart what folds together (`ß`, `ss`; `ς`, `σ`).
 */
export const foldedId = (id: string): string => fold(fold(id));

const fold = (text: string): string => text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
