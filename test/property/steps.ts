import fc from '../random.ts';
import { plan } from './plan.ts';
import { AGENTS } from './service.ts';

/** Possible actions in any order. Targets are numbers modulo the number of existing targets. */

const which = fc.oneof(fc.constant(0), fc.nat({ max: 9 }));
/** Most actions use the same thread. */
const thread = fc.oneof(
  { weight: 4, arbitrary: fc.constant('t0' as const) },
  { weight: 1, arbitrary: fc.constant('t1' as const) },
);
const agent = fc.option(fc.constantFrom(...AGENTS), { nil: undefined });
const target = fc.constantFrom('run' as const, 'dispatch' as const, 'thread' as const);
const MODES = ['queue', 'live_then_queue', 'interrupt_then_queue', 'resume_open_run'] as const;

const weighted = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary });

const run = fc.record({
  do: fc.constant('run' as const),
  thread,
  agent: fc.constantFrom(...AGENTS, 'a'),
  plan,
});
const push = fc.record({ do: fc.constant('push' as const), thread, plan });

const act = fc.oneof(
  weighted(6, run),
  weighted(
    9,
    fc.record({
      do: fc.constant('message' as const),
      thread,
      agent,
      mode: fc.constantFrom(...MODES, 'queue', 'live_then_queue'),
      plan,
    }),
  ),
  weighted(3, push),
  weighted(3, fc.record({ do: fc.constant('input' as const), which, mode: fc.constantFrom(...MODES), plan })),
  weighted(
    12,
    fc.record({
      do: fc.constant('decide' as const),
      which,
      target,
      by: fc.constantFrom('call' as const, 'ticket' as const, 'nothing' as const, 'call', 'ticket', 'call'),
      answer: fc.constantFrom('approve', 'refuse', 'cancel', 'again', 'approve', 'approve'),
    }),
  ),
  weighted(4, fc.record({ do: fc.constant('cancel' as const), which, target })),
  weighted(2, fc.record({ do: fc.constant('interrupt' as const), thread })),
  weighted(1, fc.record({ do: fc.constant('remove' as const), thread })),
  weighted(8, fc.record({ do: fc.constant('model' as const), which })),
  weighted(6, fc.record({ do: fc.constant('tool' as const), which, well: fc.boolean() })),
  weighted(4, fc.record({ do: fc.constant('write' as const), count: fc.integer({ min: 1, max: 3 }) })),
  weighted(2, fc.record({ do: fc.constant('flush' as const) })),
  weighted(
    3,
    fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(1, 300, 1000, 5000, 31_000) }),
  ),
  weighted(2, fc.record({ do: fc.constant('crash' as const), written: fc.nat({ max: 3 }) })),
  weighted(1, fc.record({ do: fc.constant('stop' as const), patient: fc.boolean() })),
  weighted(1, fc.record({ do: fc.constant('refuse' as const) })),
  weighted(2, fc.record({ do: fc.constant('stall' as const), thread })),
  weighted(2, fc.record({ do: fc.constant('drain' as const), thread })),
  weighted(1, fc.record({ do: fc.constant('leave' as const), which })),
);

/**
 * The activity before the next step: none, this many microtask ticks, all internal work of the process, or in addition
 * all writes and flushes of the store.
 */
const gap = fc.oneof(
  weighted(2, fc.constant(0)),
  weighted(2, fc.integer({ min: 1, max: 12 })),
  weighted(3, fc.constant('turn' as const)),
  weighted(7, fc.constant('quiet' as const)),
);

const step = fc.record({ act, gap });

/** A thread exists from the start. */
export const steps = fc
  .tuple(fc.record({ act: fc.oneof(run, push), gap }), fc.array(step, { maxLength: 30, size: 'max' }))
  .map(([first, rest]) => [first, ...rest]);

export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
export type Act = Step['act'];
export type Gap = Step['gap'];
