import t from 'tap';
import { LONG } from '../long.ts';
import fc from '../random.ts';
import { storeFor } from '../store/open.ts';
import { play } from './play.ts';
import { steps } from './steps.ts';

/**
 * The promises of the contract hold for any sequence of actions of clients, models, tools, the disk and the end of the
 * process. `model.ts` defines the effect of a request while nothing else changes; the checks define invariants for any
 * interleaving. A sequence is executed on a real store, behind a gate for its commits, with simulated time, so that the
 * same sequence always has the same result.
 *
 * 120 sequences are executed, 10,000 with TROUPE_TEST_LONG, or as many as PROPERTY_RUNS says; PROPERTY_SEED selects
 * other sequences, and PROPERTY_PATH with it only the failed one.
 */

const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_PATH } = process.env;
const RUNS = Number(PROPERTY_RUNS ?? (LONG ? 10_000 : 120));
/** The same sequences on every host, so that a result depends on the change only. */
const SEED = Number(PROPERTY_SEED ?? 283_066_766);

// The runner needs the timeout as well; there are many sequences, and none of them waits for a clock.
t.setTimeout(300_000 + RUNS * 1000);

t.test('fulfils the contract for random sequences of client and world actions', async (t) => {
  const store = await storeFor(t);
  let played = 0;
  const property = fc.asyncProperty(steps, async (sequence) => {
    played += 1;
    await play({ store, scope: `sequence ${played}`, steps: sequence });
  });
  t.comment(`PROPERTY_SEED=${SEED}`);
  await fc.assert(property, {
    seed: SEED,
    numRuns: RUNS,
    ...(PROPERTY_PATH !== undefined && { path: PROPERTY_PATH }),
  });
  t.ok(played >= RUNS || PROPERTY_PATH !== undefined, `${played} sequences`);
});
