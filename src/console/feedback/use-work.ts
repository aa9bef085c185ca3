import { useState } from 'react';
import { toastError } from './toasts.ts';

/** Does some work, reports its failure, and knows whether it is under way. */
export const useWork = (): [isBusy: boolean, run: (work: () => Promise<unknown>) => void] => {
  const [isBusy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>): void => {
    setBusy(true);
    void work()
      .catch(toastError)
      .finally(() => setBusy(false));
  };
  return [isBusy, run];
};
