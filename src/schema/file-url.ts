/** References to files in fields that hold a URL (openai.md 9.3). Pages load this module without schemas. */

const FILE_URL = 'troupe-file:';

/** Returns the id of the file that a URL refers to. */
export const fileIdIn = (url: string): string | undefined =>
  url.startsWith(FILE_URL) ? url.slice(FILE_URL.length) : undefined;

export const fileUrl = (id: string): string => `${FILE_URL}${id}`;

/** The text in place of a deleted file. */
export const deletedFileText = (name: string | undefined): string =>
  name === undefined ? '[a file was deleted]' : `[file '${name}' was deleted]`;
