/**
 * What the clients said and what they were told: the other side of the promise. Nothing in here was read back from
 * the service.
 */

/** `unanswered`: the connection ended before an answer came; both is allowed then. */
export type Outcome = 'open' | 'acknowledged' | 'refused' | 'unanswered';

export type Input = {
  /** Undefined where the service chooses the thread and does not name it. */
  thread: string | undefined;
  /** Stands in the message, and in no other one. */
  mark: string;
  route: string;
  outcome: Outcome;
  status: number | undefined;
  run_id: string | undefined;
};

/** A stream that was read to its end: what it said of its run. */
export type StreamEnd = { run_id: string; route: string; type: string; reason: string };

export type Decision = { thread: string; run_id: string; call: string; action: string; outcome: Outcome };

/** A value that one client alone changes, one change after the other. */
export type Kept<Value> = {
  /** What may stand there: what was acknowledged last, and what was not answered since. */
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
  /** Keys of `custom` that were acknowledged, by thread. */
  customs: Map<string, Set<string>>;
  created: Set<string>;
  deleted: Set<string>;
  /** Deletions that were asked for, whatever came of them. */
  doomed: Set<string>;
  /** Versions of the text of an agent, by id of the agent. */
  configs: Map<string, Kept<string>>;
  /** A2A tasks with a webhook. */
  tasks: Set<string>;
  /** Evaluation runs that were accepted. */
  evals: Set<string>;
  /** Answers that no client may get, such as 500. */
  oddities: string[];
  answers: Map<string, number>;
  sigkills: number;
  /** Backups that were complete. */
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
  sigkills: 0,
  copies: 0,
});

export const keep = <Value>(map: Map<string, Kept<Value>>, key: string): Kept<Value> => {
  const found = map.get(key) ?? { possible: [undefined], acknowledged: 0, asked: 0 };
  map.set(key, found);
  return found;
};

/** Notes what came of one change. */
export const changed = <Value>(kept: Kept<Value>, value: Value, outcome: Outcome): void => {
  kept.asked += 1;
  if (outcome === 'unanswered') kept.possible.push(value);
  if (outcome !== 'acknowledged') return;
  kept.acknowledged += 1;
  kept.possible = [value];
};

export const acknowledgedIn = ({ inputs }: Ledger): Input[] =>
  inputs.filter(({ outcome }) => outcome === 'acknowledged');
