/**
 * Limits on input from MCP servers. A server is untrusted: whatever it sends, it costs this process no more than this.
 */
export const BOUNDS = {
  /** One message: a line, an event or a body. The limit admits results with images. */
  messageBytes: 4 * 2 ** 20,
  /** Characters of server texts and progress messages that are displayed. */
  shownChars: 2000,
  excerptChars: 500,
  /** Bytes of the body of an error response. */
  refusalBytes: 16 * 2 ** 10,
  pages: 100,
  /** Entries of a list, and bytes of the whole list. */
  entries: 1000,
  listBytes: 8 * 2 ** 20,
  /** Bytes of the definition of one tool. */
  toolBytes: 256 * 2 ** 10,
  /** Characters of a line that a child writes to stderr. */
  stderrChars: 8000,
  /** Characters of stderr that are read per second, and those of each chunk that are processed. */
  stderrRate: 16 * 2 ** 20,
  stderrLook: 8000,
  /** Lines of stdout per second that are not messages. */
  nonsenseRate: 1000,
  /** Log lines per second about one server, by level. */
  logRate: { debug: 20, warn: 1 },
  /** Concurrent requests of a server over HTTP, and its requests to the model during one call. */
  questions: 64,
  samplings: 16,
  /** Bytes that a child has not read yet. */
  unreadBytes: 16 * 2 ** 20,
  /** Progress notifications of one call that are read per second. */
  progressRate: 50,
} as const;

/** Returns the beginning of a text that may be long. */
export const excerpt = (text: string, most: number = BOUNDS.excerptChars): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`;
