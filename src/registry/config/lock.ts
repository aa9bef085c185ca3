/** One at a time, in the order of the calls; a failure of one does not touch the next. */
export type Lock = <Result>(work: () => Promise<Result>) => Promise<Result>;

export const createLock = (): Lock => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
};
