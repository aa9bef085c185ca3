import { useSyncExternalStore } from 'react';

/** The interface of the atoms that `createAtom` of @xstate/store returns. */
type Readable<T> = { get(): T; subscribe(listener: (value: T) => void): { unsubscribe(): void } };

/** The value of an atom; renders again whenever it changes. */
export const useAtom = <T>(atom: Readable<T>): T =>
  useSyncExternalStore(
    (changed) => {
      const subscription = atom.subscribe(changed);
      return () => subscription.unsubscribe();
    },
    () => atom.get(),
  );
