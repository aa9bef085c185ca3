import type { Settings } from './settings.ts';
import { openStore, type Store } from './store/index.ts';

/** The folders of a service: one for everything, and, where that is set, one for the traces alone. */

export type Stores = { store: Store; sink: Store | undefined; close(): Promise<void> };

/** @throws what the store says of a folder */
export const openStores = async (
  { storage_dir: dir, durability, secrets_key: secretsKey, trace, observability_disable }: Settings,
  warn: (problem: string) => void,
): Promise<Stores> => {
  const store = await openStore({ dir, durability, warn, ...(secretsKey !== undefined && { secretsKey }) });
  try {
    const { sink_dir } = trace;
    const hasSink = sink_dir !== undefined && !observability_disable;
    const sink = hasSink
      ? await openStore({ dir: sink_dir, durability: 'process', holdsSecrets: false, warn })
      : undefined;
    return {
      store,
      sink,
      async close() {
        await store.close();
        await sink?.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
};
