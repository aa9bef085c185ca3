/** Executes tasks one at a time in call order; a failure does not affect later tasks. */
export type Lock = <Result>(work: () => Promise<Result>) => Promise<Result>;

export const createLock = (): Lock => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
};
