import { randomFillSync } from 'node:crypto';
import { monotonicFactory, type ULIDFactory } from 'ulid';

/** Creates ULIDs that are strictly increasing, with random values of the operating system. */
export const createUlids = (): ULIDFactory => {
  const value = new Uint32Array(1);
  // The default of the package loads Web Crypto: 10 ms of a start.
  return monotonicFactory(() => (randomFillSync(value)[0] ?? 0) / 2 ** 32);
};
