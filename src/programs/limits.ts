/**
 * What is kept of other programs. Whoever reports may flood or lie: past these bounds it is told so where the console
 * shows the program, and everybody else, the service before all, goes on as before.
 */
export const LIMITS = {
  /** That are connected at a time. */
  programs: 8,
  /**
   * Open at a time, with those that are refused or whose handshake is incomplete. They come out of the reserve of
   * descriptors that the budget of the service's own listener leaves free.
   */
  connections: 16,
  /** That have gone and are still listed, the newest. */
  gone: 4,
  /** That come in a second, and so many at once after a silence: each may bring machines to read. */
  openings: { rate: 1, burst: 24 },
  /** Of one program, that live at a time. */
  actors: 500,
  /** Of one program. */
  machines: 16,
  /** Of one message; a longer one is passed over. */
  messageBytes: 1024 * 1024,
  /** A longer one is not even read to its end: the connection is cut. */
  cutBytes: 8 * 1024 * 1024,
  definitionBytes: 256 * 1024,
  /** Of one machine. To read and to draw one of this size takes some tens of milliseconds. */
  states: 100,
  transitions: 300,
  /** Of states in states. */
  depth: 10,
  /** Characters of a name, of an id and of an event. */
  name: 200,
  /** Characters of the paths of all states that an actor is in. */
  state: 2000,
  /** What one program may send each second, and so much at once after a silence. */
  rate: { messages: 4000, bytes: 4 * 1024 * 1024 },
  burst: { messages: 8000, bytes: 16 * 1024 * 1024 },
  /** A chart that takes longer to lay out is given up. */
  layoutMs: 15_000,
} as const;
