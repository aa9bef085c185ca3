import t from 'tap';
import { createBreakers } from '../../src/models/breakers.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import type { Model } from '../../src/models/model.ts';
import { createPool } from '../../src/models/pool.ts';
import { DEFAULT_RETRY } from '../../src/models/retry.ts';
import type { PoolSpec } from '../../src/schema/model.ts';
import fc from '../random.ts';
import { recordingSink, requestOf } from './infer.ts';

/** Random pools, failures and sessions: invariants of every request to a member. */

const KINDS: ModelErrorClass[] = [
  'rate_limited',
  'overloaded',
  'timeout',
  'provider',
  'unauthorized',
  'model_not_found',
  'invalid_request',
];
const IDS = ['a', 'b', 'c', 'd'];

const rules = fc.record({
  members: fc
    .array(
      fc.record({
        weight: fc.integer({ min: 1, max: 9 }),
        role: fc.constantFrom('member' as const, 'failover_only' as const),
      }),
      { minLength: 1, maxLength: IDS.length },
    )
    .filter((members) => members.some(({ role }) => role === 'member'))
    .map((members) => members.map((member, index) => ({ ...member, model_id: IDS[index] ?? '' }))),
  routing: fc.record({
    home: fc.constantFrom('deterministic' as const, 'round_robin' as const, 'first_healthy' as const),
    sticky_scope: fc.constantFrom('thread' as const, 'run' as const),
  }),
  switch: fc.record({
    on_circuit_open: fc.boolean(),
    on_quota: fc.boolean(),
    on_permanent: fc.boolean(),
    max_switches_per_session: fc.option(fc.nat(3), { nil: undefined }),
  }),
});

/**
 * One inference: its session, the time since the last one, and the outcome of each request (undefined: a completion).
 */
const inference = fc.record({
  thread: fc.nat(2),
  run: fc.nat(7),
  passed: fc.constantFrom(0, 1000, 31_000),
  outcomes: fc.array(fc.option(fc.constantFrom(...KINDS), { nil: undefined, freq: 4 }), {
    minLength: 1,
    maxLength: 12,
  }),
});

type World = { spec: PoolSpec; inferences: (typeof inference extends fc.Arbitrary<infer I> ? I : never)[] };

const play = async ({ spec, inferences }: World): Promise<void> => {
  const clock = { time: 0, now: () => clock.time };
  const breakers = createBreakers(clock, { burstMs: 0 });
  const state = new Map(IDS.map((id) => [id, { row: new Set<string>(), openUntil: -1, out: false }]));
  let asked: string[] = [];
  let caller = '';
  let outcomes: (ModelErrorClass | undefined)[] = [];
  const model = (id: string): Model => ({
    id,
    provider: 'p',
    upstream: id,
    async stream() {
      const member = state.get(id);
      if (!member) throw new Error(`no member ${id}`);
      if (clock.time < member.openUntil) throw new Error(`${id} was called although its breaker is open`);
      if (member.out) throw new Error(`${id} was called although it is quarantined`);
      asked.push(id);
      const kind = outcomes.shift();
      note(member, kind);
      if (!kind) return { stop: 'EndTurn' };
      throw new ModelError(kind, 'why');
    },
  });
  const note = (
    member: { row: Set<string>; openUntil: number; out: boolean },
    kind: ModelErrorClass | undefined,
  ) => {
    // A rate limit does not count as a failure of the model.
    if (kind === 'rate_limited') return;
    const lasting = kind === 'unauthorized' || kind === 'model_not_found';
    if (lasting) member.out = spec.switch.on_permanent;
    const wasOpen = member.openUntil >= 0;
    if (kind === undefined || kind === 'invalid_request')
      Object.assign(member, { row: new Set(), openUntil: -1 });
    else if (!lasting) {
      member.row.add(caller);
      const opens = wasOpen || member.row.size >= 5;
      if (opens) Object.assign(member, { row: new Set(), openUntil: clock.time + 30_000 });
    }
  };
  const pool = createPool({
    spec,
    models: new Map(IDS.map((id) => [id, model(id)])),
    breakers,
    pause: async () => {},
    random: () => 0,
    maxRetryAfterMs: 60_000,
  }).model(DEFAULT_RETRY);

  const sessions = new Map<string, { member: string; switches: number }>();
  for (const { thread, run, passed, outcomes: planned } of inferences) {
    clock.time += passed;
    asked = [];
    caller = `r${run}`;
    outcomes = [...planned];
    const key = spec.routing.sticky_scope === 'run' ? `r${run}` : `t${thread}`;
    const session = { thread_id: `t${thread}`, run_id: `r${run}` };
    let ended: unknown;
    try {
      ended = await pool.stream(requestOf('x', { session }), recordingSink([]), new AbortController().signal);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      ended = error;
    }
    check(spec, key, { asked, ended, sessions, isOut: (id) => state.get(id)?.out ?? false });
  }
};

type Seen = {
  asked: readonly string[];
  ended: unknown;
  sessions: Map<string, { member: string; switches: number }>;
  isOut(id: string): boolean;
};

const check = (spec: PoolSpec, key: string, { asked, ended, sessions, isOut }: Seen): void => {
  const visited = asked.filter((id, index) => id !== asked[index - 1]);
  if (new Set(visited).size !== visited.length) throw new Error(`a member was called again: ${asked}`);
  if (asked.length > visited.length * (1 + DEFAULT_RETRY.max_retries))
    throw new Error(`too many attempts: ${asked}`);
  const before = sessions.get(key);
  const [first] = visited;
  const last = visited.at(-1);
  if (first === undefined || last === undefined) return;
  // A session that leaves a quarantined member gets a new home; any other move is a switch.
  const moved = before && before.member !== first && !isOut(before.member) ? 1 : 0;
  const switches = (before?.switches ?? 0) + visited.length - 1 + moved;
  const most = spec.switch.max_switches_per_session ?? Number.POSITIVE_INFINITY;
  if (switches > most) throw new Error(`${switches} switches, ${most} allowed`);
  sessions.set(key, { member: last, switches: ended instanceof ModelError ? switches : 0 });
};

t.test(
  'calls no open or quarantined member, no member twice, and limits switches under any failures',
  async () => {
    await fc.assert(
      fc.asyncProperty(rules, fc.array(inference, { maxLength: 25 }), (spec, inferences) =>
        play({ spec: { id: 'pool', ...spec }, inferences }),
      ),
      { numRuns: 300 },
    );
  },
);

t.test('serves a session with the same member while nothing fails', async () => {
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 30 }),
      async (spec, visits) => {
        const breakers = createBreakers({ now: () => 0 });
        const models = IDS.map((id): [string, Model] => [
          id,
          { id, provider: 'p', upstream: id, stream: async () => ({ stop: 'EndTurn' }) },
        ]);
        const deps = {
          spec: { id: 'pool', ...spec },
          models: new Map(models),
          breakers,
          pause: async () => {},
          random: () => 0,
          maxRetryAfterMs: 60_000,
        };
        const pool = createPool(deps).model(DEFAULT_RETRY);
        const homes = new Map<string, string | undefined>();
        for (const [thread, run] of visits) {
          const key = spec.routing.sticky_scope === 'run' ? `r${run}` : `t${thread}`;
          const session = { thread_id: `t${thread}`, run_id: `r${run}` };
          const { by } = await pool.stream(
            requestOf('x', { session }),
            recordingSink([]),
            new AbortController().signal,
          );
          if (homes.has(key) && homes.get(key) !== by?.id) return false;
          homes.set(key, by?.id);
          if (spec.members.find(({ model_id }) => model_id === by?.id)?.role !== 'member') return false;
        }
        return true;
      },
    ),
  );
});
