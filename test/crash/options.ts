import { LONG } from '../long.ts';
import { SEED } from '../random.ts';

/**
 * How hard the service is attacked. `npm test` plays a short form, and the long one with TROUPE_TEST_LONG. The same for
 * these tests alone, and harder:
 *
 *     npm run build:js && TROUPE_CRASH_KILLS=300 npx tsx test/crash/crash.test.ts
 *     TROUPE_CRASH_LONG=1 npx tsx test/crash/busy.test.ts (restarts.test.ts, recovery.test.ts)
 *
 * A failure names its seed; TROUPE_CRASH_SEED, or TROUPE_TEST_SEED, plays the same plan again, though never with the
 * same timing.
 */

const numberFrom = (name: string, otherwise: number): number => {
  const text = process.env[`TROUPE_CRASH_${name}`]?.trim();
  if (text === undefined || text === '') return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`TROUPE_CRASH_${name}: '${text}' is no count`);
  return value;
};

const SHORT_ENDS = 3;
const LONG_ENDS = 300;

const kills = numberFrom('KILLS', LONG ? LONG_ENDS : SHORT_ENDS);

const long = kills > SHORT_ENDS || numberFrom('LONG', Number(LONG)) > 0;

export const options = {
  long,
  /** How often the service ends: most ends are kills. */
  kills,
  seed: numberFrom('SEED', SEED),
  /** Threads that are in use at once. More than 32 are needed for what a full map of actors does wrong. */
  threads: numberFrom('THREADS', long ? 100 : 40),
  clients: numberFrom('CLIENTS', long ? 60 : 40),
  /** Ends between two whole checks. Each whole check lets the service come to rest, then uses new threads. */
  endsAnEpoch: numberFrom('EPOCH', long ? 10 : SHORT_ENDS),
  /** A process ends after at most so many acknowledged inputs, the earliest after none. */
  life: numberFrom('LIFE', long ? 250 : 50),
  busyThreads: numberFrom('BUSY', long ? 500 : 36),
  restarts: numberFrom('RESTARTS', long ? 20 : 2),
  executing: numberFrom('RUNS', long ? 20_000 : 150),
};
