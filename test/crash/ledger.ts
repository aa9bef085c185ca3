/**
 * The requests of the clients and the responses to them, as the expectation. Nothing in here was read back from the
 * service.
 */

/** `unanswered`: the connection ended before a response arrived; both outcomes are valid then. */
export type Outcome = 'open' | 'acknowledged' | 'refused' | 'unanswered';

export type Input = {
  /** Undefined if the service chooses the thread and does not name it. */
  thread: string | undefined;
  /** Occurs in this message only. */
  mark: string;
  route: string;
  outcome: Outcome;
  status: number | undefined;
  run_id: string | undefined;
};

/** A stream that was read to its end, with its report about its run. */
export type StreamEnd = { run_id: string; route: string; type: string; reason: string };

export type Decision = { thread: string; run_id: string; call: string; action: string; outcome: Outcome };

/** A value with a single writing client, which makes one change after another. */
export type Kept<Value> = {
  /** The values that may be stored: the last acknowledged one, and unanswered ones since. */
  possible: (Value | undefined)[];
  acknowledged: number;
  asked: number;
};

export type Ledger = {
  inputs: Input[];
  ends: StreamEnd[];
  decisions: Decision[];
  /** By thread. */
  titles: Map<string, Kept<string>>;
  /** Acknowledged keys of `custom`, by thread. */
  customs: Map<string, Set<string>>;
  created: Set<string>;
  deleted: Set<string>;
  /** Requested deletions, whatever their outcome. */
  doomed: Set<string>;
  /** Versions of the prompt of an agent, by agent id. */
  configs: Map<string, Kept<string>>;
  /** A2A tasks with a webhook. */
  tasks: Set<string>;
  /** Accepted evaluation runs. */
  evals: Set<string>;
  /** Responses that no client may receive, such as 500. */
  oddities: string[];
  answers: Map<string, number>;
  /** Complete backups. */
  copies: number;
};

export const createLedger = (): Ledger => ({
  inputs: [],
  ends: [],
  decisions: [],
  titles: new Map(),
  customs: new Map(),
  created: new Set(),
  deleted: new Set(),
  doomed: new Set(),
  configs: new Map(),
  tasks: new Set(),
  evals: new Set(),
  oddities: [],
  answers: new Map(),
  copies: 0,
});

export const keep = <Value>(map: Map<string, Kept<Value>>, key: string): Kept<Value> => {
  const found = map.get(key) ?? { possible: [undefined], acknowledged: 0, asked: 0 };
  map.set(key, found);
  return found;
};

/** Records the outcome of one change. */
export const changed = <Value>(kept: Kept<Value>, value: Value, outcome: Outcome): void => {
  kept.asked += 1;
  if (outcome === 'unanswered') kept.possible.push(value);
  if (outcome !== 'acknowledged') return;
  kept.acknowledged += 1;
  kept.possible = [value];
};

export const acknowledgedIn = ({ inputs }: Ledger): Input[] =>
  inputs.filter(({ outcome }) => outcome === 'acknowledged');
