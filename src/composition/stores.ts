import type { Settings } from '../settings/index.ts';
import { openStore, type Store } from '../store/index.ts';

/** Opens the data directories of a service: one for everything, and optionally a separate one for traces. */

export type Stores = { store: Store; sink: Store | undefined; close(): Promise<void> };

/** @throws the error of the store for a folder that it cannot open */
export const openStores = async (
  { storage_dir: dir, durability, secrets_key: secretsKey, trace, observability_disable, files }: Settings,
  warn: (problem: string) => void,
): Promise<Stores> => {
  const store = await openStore({
    dir,
    durability,
    warn,
    ...(secretsKey !== undefined && { secretsKey }),
    ...(files.enabled && { inlineMaxBytes: files.inline_max_bytes }),
  });
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
