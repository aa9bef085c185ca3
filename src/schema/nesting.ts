/**
 * How deep values from outside may nest. What is stored and shown is walked by recursion in many places, ours and
 * those of libraries, and a stack ends somewhere else in each process: so what nests deeper is refused where it
 * comes in, and nothing behind has to think of it.
 */
export const DEEPEST = 128;

/** Also true for what contains itself. Costs a visit of each value, without recursion. */
export const isTooDeep = (value: unknown): boolean => {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > DEEPEST) return true;
    for (const inner of Object.values(next.value)) {
      if (typeof inner === 'object') open.push({ value: inner, depth });
    }
  }
  return false;
};
