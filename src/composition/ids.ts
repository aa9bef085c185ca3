import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import type { Ids } from '../schema/clock.ts';

/**
 * UUIDv7 of this process, strictly increasing. Random values are read from the operating system in pools: a system call
 * per id would cost more than the rest of its generation.
 */
export const createIds = (): Ids => {
  const pool = new Uint32Array(1024);
  let next = pool.length;
  const generator = new V7Generator({
    nextUint32() {
      if (next === pool.length) {
        randomFillSync(pool);
        next = 0;
      }
      const value = pool[next] ?? 0;
      pool[next] = 0;
      next += 1;
      return value;
    },
  });
  return { uuid: () => generator.generate().toString() };
};
