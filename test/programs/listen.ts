import type { Test } from 'tap';
import type { ConnectionBudget } from '../../src/http/connection-budget.ts';
import { chooseHttpServer } from '../../src/http/uws.ts';
import { LIMITS } from '../../src/programs/limits.ts';
import { listenForPrograms } from '../../src/programs/listener.ts';
import { createPrograms, type Program, type Programs } from '../../src/programs/programs.ts';
import type { Server } from './servers.ts';

/** A listener without a service, whose programs and connections a test can inspect. */

export type Listening = {
  readonly url: string;
  readonly programs: Programs;
  /** The number of connections that the budget has counted. */
  open(): number;
  /** Resets the connection rate, as a pause does. */
  pause(): void;
  all(): Program[];
  until(holds: () => boolean, what: string): Promise<void>;
  close(): void;
};

const PATIENCE_MS = 120_000;

export const listen = async (
  t: Test,
  server: Server,
  budget?: ConnectionBudget,
  address = { host: '127.0.0.1', port: 0 },
): Promise<Listening> => {
  const clock = { at: 1000, now: () => clock.at };
  const programs = createPrograms(clock);
  let open = 0;
  const counted: ConnectionBudget = {
    opened() {
      open += 1;
      return budget?.opened() ?? true;
    },
    closed() {
      open -= 1;
      budget?.closed();
    },
  };
  const choice = chooseHttpServer(server, { info() {} });
  const listener = await listenForPrograms(choice, { programs, budget: counted }, address);
  t.teardown(() => listener.close());
  return {
    url: listener.url,
    programs,
    open: () => open,
    pause() {
      clock.at += LIMITS.openings.burst * 1000;
    },
    all: () => [...programs.all.values()],
    async until(holds, what) {
      for (const start = performance.now(); !holds(); ) {
        if (performance.now() - start > PATIENCE_MS) throw new Error(`it never held: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    close: listener.close,
  };
};
