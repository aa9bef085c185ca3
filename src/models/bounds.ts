/**
 * Limits on the data that is accepted from a provider. A provider is untrusted: it may send without end, and its data
 * goes into records, events and the log.
 */
export const BOUNDS = {
  /**
   * Bytes of one stream event. Services that repeat the completion at its end send it as one event: 128,000 tokens are
   * about 0.6 MB, or a few MB with escapes, tools and encrypted reasoning.
   */
  frameBytes: 8 * 1024 * 1024,
  /** Bytes of one stream: the events of 128,000 tokens, each in a separate chunk, are about 60 MB. */
  streamBytes: 256 * 1024 * 1024,
  /** Characters of text, reasoning and arguments of one completion: ten times the longest completions. */
  answerLength: 8 * 1024 * 1024,
  /** Characters of the arguments of one call: a tool that writes a file receives the whole file here. */
  argumentsLength: 2 * 1024 * 1024,
  /** Calls of one completion; services accept at most 128 tools. */
  calls: 512,
  /** Files and sources of one completion; research completions name a few dozen sources. */
  parts: 1024,
  /** Characters of the id of a call, or of the name of its tool; services allow 64. */
  nameLength: 1024,
  /** Bytes of an error response; the rest is not read. Its message and class are at the beginning. */
  errorBytes: 256 * 1024,
  /** Bytes of the response to a token request; a typical one has about 2 KB. */
  tokenBytes: 64 * 1024,
  /** Bytes of a list of models: the longest lists have a few hundred entries, about 1 MB. */
  listBytes: 8 * 1024 * 1024,
  /** Entries of such a list that are read. */
  listEntries: 10_000,
  /** Characters of a provider's error message. It is stored with the run and written to the log. */
  messageLength: 2000,
} as const;

const NOTE_LENGTH = 40;

/**
 * Truncates a text to at most `most` characters, including a note of the omitted length. Never splits a surrogate pair.
 */
export const excerpt = (text: string, most: number = BOUNDS.messageLength): string => {
  if (text.length <= most) return text;
  const end = most - NOTE_LENGTH;
  const last = text.charCodeAt(end - 1);
  const kept = text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end);
  return `${kept}… (${text.length - kept.length} more characters)`;
};
