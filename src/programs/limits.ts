/**
 * Limits for data of other programs, which may flood the listener or send false reports. Exceeding a limit is reported
 * where the console lists the program, and does not affect the service or other clients.
 */
export const LIMITS = {
  /** Concurrently connected programs. */
  programs: 8,
  /**
   * Open connections, including rejected ones and incomplete handshakes. They use the reserve of descriptors that the
   * connection budget of the main listener leaves free.
   */
  connections: 16,
  /** Disconnected programs that stay listed; the latest ones are kept. */
  gone: 4,
  /** New programs per second, and as a burst after an idle time: each may send machines to parse. */
  openings: { rate: 1, burst: 24 },
  /** Concurrent actors of one program. */
  actors: 500,
  /** Machines of one program. */
  machines: 16,
  /** Size of one message; longer ones are ignored. */
  messageBytes: 1024 * 1024,
  /** A longer message is not read to its end: the connection is closed. */
  cutBytes: 8 * 1024 * 1024,
  definitionBytes: 256 * 1024,
  /** States of one machine. Parsing and drawing a machine of this size takes some tens of milliseconds. */
  states: 100,
  transitions: 300,
  /** Nesting depth of states. */
  depth: 10,
  /** Characters of a name, of an id and of an event. */
  name: 200,
  /** Characters of the paths of all active states of an actor. */
  state: 2000,
  /** Messages and bytes of one program per second, and as a burst after an idle time. */
  rate: { messages: 4000, bytes: 4 * 1024 * 1024 },
  burst: { messages: 8000, bytes: 16 * 1024 * 1024 },
  /** Timeout of the layout of a chart. */
  layoutMs: 15_000,
} as const;
