import type { Test } from 'tap';
import type { Troupe } from '../../src/index.ts';
import { startKitAgent, type Wait } from './agent.ts';

/** The agent as a service with its own folder. Without a `wait`, no time passes. */
export const startKit = async (t: Test, wait: Wait = async () => {}): Promise<Troupe> => {
  const troupe = await startKitAgent({
    wait,
    settings: {
      storage_dir: t.testdir(),
      durability: 'process',
      shutdown_timeout_ms: 0,
      AdminApiConfig: { bearer_token: 'token-of-the-tests' },
    },
  });
  t.teardown(troupe.stop);
  return troupe;
};
