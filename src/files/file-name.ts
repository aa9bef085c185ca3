/** The most characters of a file name. */
export const LONGEST_FILE_NAME = 255;

/**
 * Returns the name under which a file is listed and offered for download: the last part of the path that a client sent,
 * without control characters, at most 255 characters. Bytes are stored under their hash, so a name is never a path.
 *
 * @example
 * cleanFileName('../../etc/passwd'); // 'passwd'
 */
export const cleanFileName = (given: string): string => {
  const last = given.split(/[\\/]/).at(-1) ?? '';
  const plain = last
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, '')
    .trim();
  const name = Array.from(plain).slice(0, LONGEST_FILE_NAME).join('');
  return /^\.*$/.test(name) ? UNNAMED : name;
};

const UNNAMED = 'file';
