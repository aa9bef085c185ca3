/**
 * The port to a database that has the truth, when there is one: group commits pass it before they reach the folder.
 * A folder behind a sink is a copy of what the database has.
 */

/**
 * One row as a database stores it. `key` and `value` are the JSON texts of the row's key and value; the columns hold
 * the parts of the value that lists, sweeps and look-ups of its kind need, and are null elsewhere.
 */
export type ShippedRow = {
  /** The number of its table, see `kinds.ts`. */
  kind: number;
  key: string;
  /** A signed 64-bit number; null for rows of a member. */
  lineage: bigint | null;
  scope: string | null;
  a: string | null;
  b: string | null;
  c: string | null;
  d: string | null;
  /** Milliseconds since the epoch, or another whole number by which rows of the kind are found. */
  at: number | null;
  at2: number | null;
  value: string;
};

/** The part of a row that the others follow from. */
export type RowContent = Pick<ShippedRow, 'kind' | 'key' | 'value'>;

/** The parts of a value that stand in columns; absent ones are null. */
export type Columns = Partial<Pick<ShippedRow, 'scope' | 'a' | 'b' | 'c' | 'd' | 'at' | 'at2'>>;

/**
 * What one batch changes, with each row at most once. A row that was removed and put again stands in `gone` and in
 * `rows`. Batches of one group may change the same rows; the last one counts.
 */
export type ShippedBatch = {
  /**
   * The lineage that the batch builds on: once a batch was refused, all later ones of its lineage in the group are refused
   * too. Null for rows of a member. Unlike `owners`, it is already the number of the thread while one member owns all.
   */
  lineage: bigint | null;
  /** The lineages that its rows belong to. The member must own each. */
  owners: readonly bigint[];
  /** Lineages that begin with this batch. */
  births: readonly bigint[];
  /** Lineages that are released with this batch; `due` is the time at which another member must act on it. */
  releases: readonly { lineage: bigint; due: number | null }[];
  gone: readonly { kind: number; key: string }[];
  rows: readonly ShippedRow[];
};

/** How a batch ended: it is in the database, or it is not and never will be, unless it is `abandoned`. */
export type SinkOutcome =
  | { result: 'applied' }
  | {
      result: 'refused';
      /**
       * `fenced`, `behind`: the member has lost its place, and all that follows is refused; `unwritable`: the database
       * takes no writes now; `not-owner`, `clash`, `invalid`: this batch alone is at fault; `abandoned`: the sink was
       * closed before it was known whether the batch is in the database, so that no caller may report either.
       */
      why: 'fenced' | 'behind' | 'not-owner' | 'clash' | 'invalid' | 'unwritable' | 'abandoned';
      error: Error;
    };

/**
 * Ships a group: one outcome for each batch, in their order. It resolves when the outcome of all is certain, however
 * long that takes, and never rejects. One group is under way at a time.
 */
export type Sink = { ship(group: readonly ShippedBatch[]): Promise<readonly SinkOutcome[]> };
