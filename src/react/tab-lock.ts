import type { TabLock } from './thread.ts';

declare const navigator: {
  readonly locks?: {
    request(
      name: string,
      options: { ifAvailable: true },
      act: (lock: object | null) => unknown,
    ): Promise<unknown>;
  };
};

/** Uses browser locks, which exist on pages of HTTPS and localhost; elsewhere, every tab executes the action. */
export const withTabLock: TabLock = (name, act) => {
  const { locks } = navigator;
  const done = locks ? locks.request(name, { ifAvailable: true }, (lock) => lock && act()) : act();
  // The chat reports errors.
  done.catch(() => {});
};
