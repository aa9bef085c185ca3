import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openStore, type Store, type StoreOptions } from '../../src/store/index.ts';

/** A store in a separate directory, closed when the test ends. */
export const storeFor = async (t: Test, options: Partial<StoreOptions> = {}): Promise<Store> => {
  const store = await openStore({ durability: 'process', ...options, dir: options.dir ?? t.testdir() });
  t.teardown(() => store.close());
  return store;
};

/** Copies of a store do not contain its key. */
export const copyKey = (from: string, to: string): void =>
  copyFileSync(join(from, 'secrets.key'), join(to, 'secrets.key'));
