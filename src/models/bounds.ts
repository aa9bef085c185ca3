/**
 * How much of what a provider sends is taken. A provider is a stranger: it may send without an end, and what it says
 * goes into records, events and the log.
 */
export const BOUNDS = {
  /**
   * Bytes of one event of a stream. A whole answer comes as one where a service repeats it at its end: 128,000
   * tokens are about 0.6 MB, with escapes, the tools and encrypted reasoning a few MB.
   */
  frameBytes: 8 * 1024 * 1024,
  /** Bytes of one streamed answer: the events of 128,000 tokens, each in a chunk of its own, are about 60 MB. */
  streamBytes: 256 * 1024 * 1024,
  /** Characters of text, reasoning and arguments of one answer: ten times what the longest answers have. */
  answerLength: 8 * 1024 * 1024,
  /** Characters of the arguments of one call: a tool that writes a file gets all of it here. */
  argumentsLength: 2 * 1024 * 1024,
  /** Calls of one answer; services take at most 128 tools. */
  calls: 512,
  /** Files and sources of one answer: research answers name some tens of sources. */
  parts: 1024,
  /** Characters of the id of a call, or of the name of its tool; services allow 64. */
  nameLength: 1024,
  /** Bytes of a refusal; the rest is not read. Its words and class come at its beginning. */
  errorBytes: 256 * 1024,
  /** Bytes of the answer to a request for a token; one has about 2 KB. */
  tokenBytes: 64 * 1024,
  /** Bytes of a list of models: the longest lists have a few hundred entries, about 1 MB. */
  listBytes: 8 * 1024 * 1024,
  /** Entries of such a list that are looked at. */
  listEntries: 10_000,
  /** Characters of what a provider says of a failure. It is kept with the run, and written to the log. */
  wordsLength: 2000,
} as const;

const NOTE_LENGTH = 40;

/** The beginning of a text and how much is missing, in at most so many characters; none is cut in two. */
export const excerpt = (text: string, most: number = BOUNDS.wordsLength): string => {
  if (text.length <= most) return text;
  const end = most - NOTE_LENGTH;
  const last = text.charCodeAt(end - 1);
  const kept = text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end);
  return `${kept}… (${text.length - kept.length} more characters)`;
};
