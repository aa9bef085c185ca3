/**
 * Listeners of something that changes often. All changes until the notification are reported together.
 *
 * @param schedule calls its argument later, for example in the next rendered frame
 * @param publish called before the listeners
 */
export const createListeners = (schedule: (notify: () => void) => void, publish: () => void) => {
  const listeners = new Set<() => void>();
  let isDue = false;
  const notify = (): void => {
    isDue = false;
    publish();
    for (const listener of listeners) listener();
  };
  return {
    changed(): void {
      if (isDue) return;
      isDue = true;
      schedule(notify);
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
