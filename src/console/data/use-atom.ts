import { useSyncExternalStore } from 'react';

/** As `createAtom` of @xstate/store makes them. */
type Readable<T> = {
  get(): T;
  subscribe(listener: (value: T) => void): { unsubscribe(): void };
};

/** The value of an atom, and a new rendering whenever it changes. */
export const useAtom = <T>(atom: Readable<T>): T =>
  useSyncExternalStore(
    (changed) => {
      const subscription = atom.subscribe(changed);
      return () => subscription.unsubscribe();
    },
    () => atom.get(),
  );
