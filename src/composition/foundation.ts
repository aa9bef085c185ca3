import type { Meter } from '../budgets/meter.ts';
import { createUsageBook, type UsageBook } from '../budgets/usage-book.ts';
import type { Files } from '../files/files.ts';
import { type AccessLog, createAccessLog } from '../identity/access-log/log.ts';
import { createAccessObserver } from '../identity/auth-observer.ts';
import type { AccessObserver } from '../schema/access-event.ts';
import { createUlids } from '../schema/ulid.ts';
import type { Store } from '../store/index.ts';
import { createBudgetMeter } from './budgets.ts';
import { openFiles } from './files.ts';
import type { Process } from './process.ts';
import type { Stores } from './stores.ts';

/** The parts of a service that all others share: those of the process, and those that an open store brings. */
export type Foundation = Process & {
  readonly stores: Stores;
  readonly store: Store;
  readonly meter: Meter;
  readonly usage: UsageBook;
  readonly accessLog: AccessLog;
  /** Records sign-ins and connected accounts in the access log. */
  readonly accessObserver: AccessObserver;
  readonly files: Files;
};

export const createFoundation = (ofProcess: Process, stores: Stores): Foundation => {
  const { settings, log, clock, ids, metrics } = ofProcess;
  const { store } = stores;
  const { access_log } = settings;
  const accessLog = createAccessLog({ store, clock, log, ulid: createUlids(), settings: access_log });
  return {
    ...ofProcess,
    stores,
    store,
    meter: createBudgetMeter({ store, clock, log, metrics }),
    usage: createUsageBook({
      store,
      clock,
      onCommitFailed: (err) => log.error('budget.commit_failed', { err }),
    }),
    accessLog,
    accessObserver: createAccessObserver(accessLog),
    files: openFiles({ store, clock, ids, settings, metrics, log }),
  };
};
