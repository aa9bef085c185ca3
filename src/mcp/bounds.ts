/**
 * How much of a stranger is taken in. A server is somebody else's program: whatever it sends, on purpose or not, costs
 * this process no more than this.
 */
export const BOUNDS = {
  /** One message: a line, an event, a body. A result with a picture fits. */
  messageBytes: 4 * 2 ** 20,
  /** Of what a server says, where it is shown; and of what it says of its progress. */
  shownChars: 2000,
  excerptChars: 500,
  /** Of a body that refuses something. */
  refusalBytes: 16 * 2 ** 10,
  /** Pages of a list. */
  pages: 100,
  /** Entries of a list, and bytes of all of them. */
  entries: 1000,
  listBytes: 8 * 2 ** 20,
  /** The definition of one tool. */
  toolBytes: 256 * 2 ** 10,
  /** Of a line that a child writes to stderr. */
  stderrChars: 8000,
  /** Characters of its stderr that are read, a second, and of a chunk of it those that are looked at. */
  stderrRate: 16 * 2 ** 20,
  stderrLook: 8000,
  /** Lines of its stdout that are no message, a second. */
  nonsenseRate: 1000,
  /** Lines of the log about one server, a second, by level. */
  logRate: { debug: 20, warn: 1 },
  /** What a server asks at once, over HTTP; and of the model, during one call. */
  questions: 64,
  samplings: 16,
  /** What a child has not read yet. */
  unreadBytes: 16 * 2 ** 20,
  /** Progress of one call that is read, a second. */
  progressRate: 50,
} as const;

/** The beginning of a text that may be long. */
export const excerpt = (text: string, most: number = BOUNDS.excerptChars): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`;
