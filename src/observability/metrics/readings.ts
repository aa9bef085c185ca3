import { MCP_STATES, type McpState } from '../../schema/mcp-status.ts';
import { createReading, type Families } from './families.ts';

/** Size of the store, as reported by it. */
type StoreSize = { file_bytes: number; used_bytes: number; rows: Readonly<Record<string, number>> };

const breakerStates = ['closed', 'open', 'half_open'] as const;

type BreakerState = { model: string; state: (typeof breakerStates)[number] };

/** Values read at each rendering of the metrics. A reading costs nothing in between, and must not throw. */
export type Readings = {
  store(): StoreSize;
  breakers(): readonly BreakerState[];
  work(): { waiting: number };
  /** Number of open sessions of MCP clients. */
  sessions(): number;
  /** Number of sessions of users. */
  signedIn(): number;
  /** The largest share of each budget that one of its counters has spent. */
  budgets(): Iterable<readonly [share: number, budget: string]>;
  /** Numbers of files, and their bytes. */
  files(): { files: number; bytes: number };
  mcpServers(): readonly { server: string; state: McpState }[];
};

/**
 * Returns a function that begins to read such values, and returns one that ends it. A later call replaces the values of
 * an earlier one: the families exist once.
 */
export const createReadings = (families: Families): ((readings: Readings) => () => void) => {
  let current = NOTHING;
  register(families, () => current);
  return (readings) => {
    current = readings;
    return () => {
      if (current === readings) current = NOTHING;
    };
  };
};

/** While no service is running. */
const NOTHING: Readings = {
  store: () => ({ file_bytes: 0, used_bytes: 0, rows: {} }),
  breakers: () => [],
  work: () => ({ waiting: 0 }),
  sessions: () => 0,
  signedIn: () => 0,
  budgets: () => [],
  files: () => ({ files: 0, bytes: 0 }),
  mcpServers: () => [],
};

const register = (families: Families, now: () => Readings): void => {
  createReading(families, [], { suffix: 'store_file_bytes', help: 'Size of the data file' }, () => [
    [now().store().file_bytes],
  ]);
  createReading(families, [], { suffix: 'store_used_bytes', help: 'Used bytes of the data file' }, () => [
    [now().store().used_bytes],
  ]);
  createReading(families, ['table'], { suffix: 'store_rows', help: 'Rows of the store' }, () =>
    Object.entries(now().store().rows).map(([table, rows]) => [rows, table]),
  );
  createReading(
    families,
    [],
    {
      suffix: 'threads_waiting',
      help: 'Threads whose next run waits for a concurrency slot',
    },
    () => [[now().work().waiting]],
  );
  createReading(families, [], { suffix: 'mcp_sessions', help: 'Open sessions of MCP clients' }, () => [
    [now().sessions()],
  ]);
  createReading(
    families,
    [],
    { suffix: 'sessions', help: 'Sessions of users that have neither been ended nor expired' },
    () => [[now().signedIn()]],
  );
  createReading(
    families,
    ['budget'],
    { suffix: 'budget_spent_ratio', help: 'Largest share of a limit of the budget that a counter has spent' },
    () => now().budgets(),
  );
  createReading(families, [], { suffix: 'files', help: 'Files of clients, tools and threads' }, () => [
    [now().files().files],
  ]);
  createReading(
    families,
    [],
    { suffix: 'files_bytes', help: 'Sum of the bytes of all files; equal contents take space once' },
    () => [[now().files().bytes]],
  );
  createStates(
    families,
    { label: 'model', states: breakerStates },
    {
      suffix: 'circuit_breaker_state',
      help: '1 for the state of the circuit breaker of a model',
    },
    () =>
      now()
        .breakers()
        .map(({ model, state }) => [model, state]),
  );
  createStates(
    families,
    { label: 'server', states: MCP_STATES },
    {
      suffix: 'mcp_connection_state',
      help: '1 for the state of the connection to an MCP server',
    },
    () =>
      now()
        .mcpServers()
        .map(({ server, state }) => [server, state]),
  );
};

/** Creates one series per subject and possible state; the value of the current state is 1. */
const createStates = <const State extends string>(
  families: Families,
  { label, states }: { label: string; states: readonly State[] },
  { suffix, help }: { suffix: string; help: string },
  read: () => readonly (readonly [of: string, state: State])[],
): void => {
  createReading(families, [label, 'state'], { suffix, help: `${help}: ${states.join(', ')}` }, () =>
    read().flatMap(([of, state]) => states.map((each) => [each === state ? 1 : 0, of, each] as const)),
  );
};
