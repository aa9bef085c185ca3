/** The id itself, or the first of `id-2`, `id-3`, … that no entry has. */
export const freeId = (id: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(id)) return id;
  let count = 2;
  while (taken.has(`${id}-${count}`)) count += 1;
  return `${id}-${count}`;
};
