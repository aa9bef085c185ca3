/**
 * Imports an ES module by an absolute address that only the running program knows. `load.ts` provides this function to
 * the code that it evaluates, where V8 supports no `import()`.
 */
export const importModule = (address: string): Promise<unknown> => import(address);
