import type { Alone } from './thread.ts';

declare const navigator: {
  readonly locks?: {
    request(
      name: string,
      options: { ifAvailable: true },
      act: (lock: object | null) => unknown,
    ): Promise<unknown>;
  };
};

/** By the locks of the browser, which it has on pages of HTTPS and of this machine; elsewhere each tab does it. */
export const inOneTab: Alone = (name, act) => {
  const { locks } = navigator;
  const done = locks ? locks.request(name, { ifAvailable: true }, (lock) => lock && act()) : act();
  // What goes wrong is told by the chat.
  done.catch(() => {});
};
