import hooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/**
 * tap follows every promise to know which test something thrown belongs to, which takes a quarter of the processor time
 * of tests that wait much. In a worker one file runs at a time, so that is known without (`worker.ts`). Loaded before tap.
 */
const none: hooks.AsyncHook = { enable: () => none, disable: () => none };

hooks.createHook = () => none;
syncBuiltinESMExports();
